//===- Program.h - a kernel decoded for execution ---------------------------------------===//
//
// PTX is decoded once into an array of `Inst`. Registers become *rows*: the values of one register
// in the 32 lanes of a warp, side by side, so that an instruction is one loop over rows that the
// compiler turns into SIMD. A predicate register is one 32-bit mask. Immediates are rows too,
// shared by all warps. What a handler sees of an operand is a `Slot`: which plane, which offset.
//
// Planes. Besides the registers and the constants there is a *shadow* of the register file, bit for
// bit the same shape, which holds ones where a bit is poison (DESIGN §1). An instruction that only
// moves bits is executed a second time on the shadow with its data operands redirected there; see
// Checks/Poison.h.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_PROGRAM_H
#define VGPU_MACHINE_PROGRAM_H

#include "vgpu/Machine/BulkOperation.h"
#include "vgpu/Ptx/Module.h"
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace vgpu {

struct Warp;
struct Inst;

constexpr unsigned warpSize = 32;
constexpr uint32_t fullMask = 0xffffffffu;
constexpr uint32_t noPc = 0xffffffffu;

enum class Plane : uint8_t { Register, Constant, Shadow, Zero };
constexpr unsigned numPlanes = 4;

/// Where the row of an operand lies.
struct Slot {
  uint32_t offset = 0;           ///< bytes from the plane's start
  Plane plane = Plane::Constant; //
  uint8_t bytes = 0;             ///< of one lane: 1, 2, 4, 8; 0 for predicates (a 4-byte mask);
                                 ///< 16 only of registers, see wordsOf
  bool isNegated = false;        ///< predicate operand written `!p`
  bool isSink = false;           ///< destination `_`: nothing is written
};

/// A 128-bit register is two rows of 64 bits, the low words first; instructions have these.
inline std::array<Slot, 2> wordsOf(Slot wide) {
  wide.bytes = 8;
  Slot high = wide;
  high.offset += 8 * warpSize;
  return {wide, high};
}

/// What the warp does after an instruction; everything but Plain is handled by the runner.
enum class Flow : uint8_t {
  Plain,      ///< execute, go on
  Collective, ///< as Plain once the member lanes have gathered (shfl, mma, bar.warp.sync)
  Blocking,   ///< `executeBlocking` decides (bar.sync, mbarrier waits)
  Branch,     ///< to `target`, perhaps divergent
  IndexedBranch,
  Exit,
  Reconverge, ///< pseudo-instruction: divergent lanes meet here
  Trap,       ///< ends the launch; `execute`, if there is one, says why
};

/// How definedness goes through an instruction (Checks/Poison.h).
enum class PoisonRule : uint8_t {
  AnySource, ///< any poison bit in a lane's sources poisons its results
  SameMove,  ///< moves bits only: run the handler on the shadow
  Defined,   ///< results are defined whatever the sources (special registers, activemask)
  And,
  Or,     ///< bitwise; a defined 0 (or 1) decides the bit
  Xor,    ///< bitwise: the union of the sources' poison bits
  Carry,  ///< sums and low products: a bit depends on no bit above it in the sources
  Lop3,   ///< bitwise by truth table
  Select, ///< selp: the chosen operand, or all if the predicate is poison
  Warp,   ///< poison in any lane's sources poisons all lanes (vote, redux, match)
  Atomic, ///< the values must be defined; the result is as the location was
  Custom, ///< `shadowExecute` does it (mma: along rows and columns; cp.async: defines memory)
};

/// Groups under which executed instructions are counted (Counters/Counters.h).
enum class InstClass : uint8_t {
  Integer,
  Float32,
  Float64,
  Half,
  Convert,
  Move,
  Compare,
  Special,
  Control,
  GlobalLoad,
  GlobalStore,
  SharedLoad,
  SharedStore,
  LocalMemory,
  ConstantLoad,
  Atomic,
  AsyncCopy,
  Matrix,
  MatrixLoad,
  Barrier,
  WarpLevel,
  Fence,
  Other,
};
constexpr unsigned numInstClasses = static_cast<unsigned>(InstClass::Other) + 1;
llvm::StringRef instClassName(InstClass instClass);

/// The result of trying a blocking instruction.
enum class Outcome : uint8_t {
  Continue, ///< done, go to the next instruction
  Park,     ///< arrived; whoever completes the barrier advances this split
  Retry, ///< not yet; try again when the block's state has changed, or to give up (Warp::timedOut)
};

using Handler = void (*)(Warp &, const Inst &, uint32_t mask);
using BlockingHandler = Outcome (*)(Warp &, const Inst &, uint32_t mask);

/// One decoded instruction. `slots` holds the destinations first, then the sources.
struct Inst {
  Handler execute = nullptr;
  BlockingHandler executeBlocking = nullptr; ///< Flow::Blocking only
  const Slot *slots = nullptr;
  const Slot *shadowSlots = nullptr; ///< SameMove: the same operands, data redirected to the shadow
  Handler shadowExecute = nullptr;   ///< Custom: computes the shadow of the results
  uint16_t numDst = 0;
  uint16_t numSrc = 0;
  Flow flow = Flow::Plain;
  PoisonRule poison = PoisonRule::AnySource;
  InstClass instClass = InstClass::Other;
  bool isGuarded = false;
  bool isGuardNegated = false;
  bool mayBeRemote = false; ///< its shared memory may be another block's of the cluster
  bool isAligned = false;   ///< `.aligned`: all lanes of the warp must execute it together
  int8_t memberSlot = -1;   ///< Collective: the slot with the member mask, or -1 for all lanes
  // Meanings below belong to the family that decoded the instruction.
  ptx::Space space = ptx::Space::Generic;
  uint8_t width = 0;             ///< memory: bytes of one element
  uint8_t count = 0;             ///< memory: elements of a vector; matrix: number of 8x8 tiles
  uint8_t variant = 0;           ///< an enumerator private to the family
  uint8_t scope = 0;             ///< MemoryScope of atomics and fences
  uint8_t order = 0;             ///< MemoryOrder of atomics and fences
  uint8_t flags = 0;             ///< private to the family
  uint8_t addressSlot = 0xff;    ///< index in `slots` of the address operand; 0xff: none
  uint32_t tensorOperations = 0; ///< of one execution by a warp
  uint32_t guardOffset = 0;
  uint32_t target = noPc;     ///< Branch: where to
  uint32_t reconverge = noPc; ///< Branch: immediate post-dominator; noPc: only at exit
  int64_t secondOffset = 0;   ///< of a second address (cp.async)
  int64_t immediate = 0;      ///< address offset, lookup table, ...
  uint32_t line = 0;          ///< in the PTX
  uint32_t pc = 0;
  ptx::SourceLoc loc;
  const ptx::Instruction *source = nullptr;

  const Slot &dst(unsigned i) const { return slots[i]; }
  const Slot &src(unsigned i) const { return slots[numDst + i]; }
};

/// Rows the executor fills when a warp starts: %tid.x and so on.
struct SpecialRow {
  std::string name;
  Slot slot;
};

/// A byte range of the kernel's parameters.
struct ParamInfo {
  std::string name;
  uint32_t offsetBytes;
  uint32_t sizeBytes;
  uint32_t alignBytes;
};

/// A recursive call: what of the caller must survive it, and what goes from one to the other.
/// Addresses are of local memory.
struct RecursiveCall {
  struct Bytes {
    uint64_t from, to;
    uint32_t count;
  };
  uint32_t function = 0;        ///< the inlined function that calls itself: index of its table
  uint32_t site = 0;            ///< where it goes on: entry of that branch table
  std::vector<Slot> registers;  ///< saved and restored
  std::vector<Bytes> memory;    ///< the same (`to` unused)
  std::vector<Bytes> arguments; ///< copied before the call
  std::vector<Bytes> results;   ///< copied after it
};

/// A call of a function that the system provides (Exec/HostCalls.cpp). Addresses are of local
/// memory.
struct HostCall {
  std::vector<uint32_t> arguments;
  int32_t result = -1; ///< -1: there is none
};

/// A kernel ready to run. Independent of launch sizes; immutable while it runs.
struct Program {
  std::string name;
  const ptx::Module *module = nullptr;
  const ptx::Function *entry = nullptr;
  std::vector<Inst> code;
  std::deque<std::vector<Slot>> slotLists;         ///< owns what `Inst::slots` point at
  std::vector<uint8_t> constants;                  ///< the Constant plane
  std::vector<std::vector<uint32_t>> branchTables; ///< IndexedBranch: `immediate` picks one
  std::vector<SpecialRow> specialRows;
  std::vector<BulkOperation> bulkOperations;
  std::vector<RecursiveCall> recursiveCalls;
  std::vector<HostCall> hostCalls;
  uint32_t registerBytes = 0; ///< of one warp
  uint32_t numRegisters = 0;
  std::vector<ParamInfo> params;
  uint32_t paramBytes = 0;
  uint32_t localBytes = 0;        ///< of one thread
  uint32_t staticSharedBytes = 0; ///< dynamic shared memory begins after it
  uint32_t dynamicSharedAlign = 16;
  bool usesAsyncProxy = false; ///< has mbarriers, bulk copies or wgmma
  bool usesHeap = false;       ///< calls malloc or free: blocks change the list of allocations
  /// By pc: the handlers of instructions that touch registers of wgmma, which are watched
  /// (Exec/Wgmma.h); null for all others, empty without wgmma.
  std::vector<Handler> watched;

  /// Whether a block could learn what another one did, so that the order in which blocks run may
  /// show: false if nothing but weak loads and stores touches global memory.
  bool canBlocksMeet() const;
};

} // namespace vgpu

#endif // VGPU_MACHINE_PROGRAM_H
