//===- Poison.h - which bits have been written --------------------------------------------===//
//
// Unwritten registers, shared and local memory are *poison* (DESIGN §1). Poison may be copied and
// computed with; a finding arises only where it decides a branch, an address, or a value stored or
// atomically added to global memory. The shadow of a register file or of a memory has its shape,
// with ones where a bit is poison, so instructions that only move bits are executed once more on
// the shadow; all others follow the PoisonRule their family gave them.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_POISON_H
#define VGPU_CHECKS_POISON_H

#include "vgpu/Exec/Warp.h"

namespace vgpu {

class PoisonTracker {
public:
  explicit PoisonTracker(const Program &program);
  /// Called when lanes reach an instruction, which those of `mask` (those of `active` whose guard
  /// holds) will execute: reports poison in guards of branches and memory operations and in
  /// addresses.
  void check(Warp &warp, const Inst &inst, uint32_t mask, uint32_t active);
  /// Called just before the instruction is executed, when all lanes are there that take part in it:
  /// computes the shadow of the results, and reports poison that reaches global memory.
  void step(Warp &warp, const Inst &inst, uint32_t mask, uint32_t active);

private:
  /// Lanes of a row with a poison bit in the first `bytes` bytes.
  uint32_t poisonedLanes(Warp &warp, const Slot &slot, unsigned bytes = 8);
  void setShadow(Warp &warp, const Slot &slot, uint32_t mask, uint32_t poisoned);
  void runOnShadow(Warp &warp, const Inst &inst, uint32_t mask);
  /// The same; results under a predicate that is poison are poison.
  void moveShadow(Warp &warp, const Inst &inst, uint32_t mask, uint32_t guardPoison);

  std::vector<Inst> onShadow; ///< the program's code with operands redirected to the shadow
};

/// To be called by who writes the shadow of a register behind the tracker's back.
void markMayBePoison(Warp &warp, const Slot &slot);

} // namespace vgpu

#endif // VGPU_CHECKS_POISON_H
