//===- Finding.h - what the virtual GPU reports ------------------------------------------===//
//
// A finding is a defect of the program that was run: one block of text, one JSON object. The kinds
// are few and fixed (DESIGN §3). A *note* (`isNote`) is worth telling but is no defect: two threads
// that store the same bits; an integer division by zero, whose result PTX leaves unspecified but
// which a compiler may have moved in front of the test for it. Shifts by more than the width are
// neither: PTX clamps the amount, and compilers count on it.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_EVENTS_FINDING_H
#define VGPU_EVENTS_FINDING_H

#include "llvm/Support/JSON.h"
#include <array>
#include <cstdint>
#include <string>

namespace vgpu {

enum class FindingKind : uint8_t {
  Race,
  SameValue, ///< a note: unordered stores of the same bits
  Misaligned,
  OutOfBounds,
  UseAfterFree,
  Uninitialized,
  BarrierDivergence,
  Deadlock,
  StepLimit,
  AsyncNotWaited,
  AsyncOverwrite, ///< a tile written while an asynchronous operation still uses it
  ProxyFence,
  DivergentCollective, ///< mma, ldmatrix, ... in divergent flow
  WgmmaRegister,
  WarpgroupRelease, ///< a note: a tile is given back when one warp of four has waited for a product
  RegisterPool,     ///< setmaxnreg in the wrong direction; a note: without effect
  DivisionByZero,   ///< a note: PTX leaves the result unspecified
  InvalidAccess,    ///< a store to constant memory, an atomic on local memory, ...
  NoSuchTarget,     ///< an indexed branch to no entry of its table, a barrier that does not exist
  Trap,
  Assertion, ///< a device assert failed
};
llvm::StringRef findingKindName(FindingKind kind);

/// One of the accesses a finding is about.
struct AccessSite {
  uint32_t ptxLine = 0;
  std::string source; ///< "file.py:12", empty if unknown
  std::array<uint32_t, 3> block = {0, 0, 0};
  std::array<uint32_t, 3> thread = {0, 0, 0};
  uint32_t linearThread = 0;
  bool isKnown = false;

  llvm::json::Object toJson() const;
};

/// The memory that a finding is about, as data.
struct TouchedMemory {
  std::string space;       ///< "global", "shared", …; empty if the finding is about none.
  std::string name;        ///< Of the argument or variable in global memory.
  uint64_t offset = 0;     ///< In bytes, from its start or that of the space.
  uint32_t bytes = 0;      ///< How many are touched.
  std::string access;      ///< "read", "written", "updated atomically".
  std::string otherAccess; ///< The same of the other access.

  llvm::json::Object toJson() const;
};

/// What a value that was never written decides.
enum class Decided : uint8_t { Value, Condition, Address, Choice };

struct Finding {
  FindingKind kind = FindingKind::Race;
  bool isNote = false;
  std::string message; ///< without the position; may have several lines
  AccessSite site;
  AccessSite other; ///< races: the earlier access
  TouchedMemory memory;
  Decided decided = Decided::Value; ///< of Uninitialized
  uint64_t occurrences = 1;         ///< how often the same kind arose at the same instructions

  /// `source: kind: message (ptx:line), block (x,y,z), thread (x,y,z)`
  std::string text() const;
  llvm::json::Value toJson() const;
};

} // namespace vgpu

#endif // VGPU_EVENTS_FINDING_H
