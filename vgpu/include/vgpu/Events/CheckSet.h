//===- CheckSet.h - which checks run -----------------------------------------------------===//
#ifndef VGPU_EVENTS_CHECKSET_H
#define VGPU_EVENTS_CHECKSET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace vgpu {

/// What ends a launch (a deadlock, a trap, the step limit, a branch or a barrier that does not
/// exist) is always reported; everything else can be switched off. Without a check the kernel does
/// the same: loads that fault give 0, stores that fault do nothing, barriers in divergent flow go
/// on with the lanes that have come.
enum class Check : uint8_t {
  SharedRace,
  GlobalRace,
  Uninitialized,
  BarrierDivergence, ///< barrier_divergence, divergent_collective
  Async,             ///< async_not_waited, async_overwrite, wgmma registers
  ProxyFence,
  MemoryFault, ///< out_of_bounds, misaligned, use_after_free, invalid_access
  Arithmetic,  ///< notes: division_by_zero
};
constexpr unsigned numChecks = static_cast<unsigned>(Check::Arithmetic) + 1;

enum class FindingKind : uint8_t;
/// The check that a kind of finding belongs to; false if the kind is always reported.
bool checkOf(FindingKind kind, Check &check);

class CheckSet {
public:
  static CheckSet none() { return CheckSet(0); }
  static CheckSet all() { return CheckSet((1u << numChecks) - 1); }
  /// "all", "none", or names separated by commas ("shared_race,uninitialized"; "race" is both).
  static llvm::Expected<CheckSet> parse(llvm::StringRef text);

  CheckSet() : bits((1u << numChecks) - 1) {}
  bool has(Check check) const { return bits >> static_cast<unsigned>(check) & 1; }
  bool any() const { return bits != 0; }
  /// Whether findings of this kind are wanted.
  bool wants(FindingKind kind) const {
    Check check;
    return !checkOf(kind, check) || has(check);
  }
  CheckSet &set(Check check, bool isOn = true) {
    uint32_t bit = 1u << static_cast<unsigned>(check);
    bits = isOn ? bits | bit : bits & ~bit;
    return *this;
  }

private:
  explicit CheckSet(uint32_t bits) : bits(bits) {}
  uint32_t bits;
};

} // namespace vgpu

#endif // VGPU_EVENTS_CHECKSET_H
