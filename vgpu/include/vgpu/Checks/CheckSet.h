//===- CheckSet.h - which checks run -----------------------------------------------------===//
#ifndef VGPU_CHECKS_CHECKSET_H
#define VGPU_CHECKS_CHECKSET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace vgpu {

/// Faults that would stop a GPU (out of bounds, misaligned, deadlock, traps, the step limit) are
/// always reported; these checks find what hardware hides.
enum class Check : uint8_t {
  SharedRace,
  GlobalRace,
  Uninitialized,
  BarrierDivergence,
  Async, ///< async_not_waited, async_overwrite, wgmma registers
  ProxyFence,
};
constexpr unsigned numChecks = static_cast<unsigned>(Check::ProxyFence) + 1;

class CheckSet {
public:
  static CheckSet none() { return CheckSet(0); }
  static CheckSet all() { return CheckSet((1u << numChecks) - 1); }
  /// "all", "none", or names separated by commas ("shared_race,uninitialized"; "race" is both).
  static llvm::Expected<CheckSet> parse(llvm::StringRef text);

  CheckSet() : bits((1u << numChecks) - 1) {}
  bool has(Check check) const { return bits >> static_cast<unsigned>(check) & 1; }
  bool any() const { return bits != 0; }
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

#endif // VGPU_CHECKS_CHECKSET_H
