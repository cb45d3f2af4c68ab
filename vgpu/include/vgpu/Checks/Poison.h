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

#include "vgpu/Events/Definedness.h"
#include "vgpu/Machine/Launch.h"
#include "vgpu/Machine/Warp.h"

namespace vgpu {

class PoisonTracker : public DefinednessTracker {
public:
  explicit PoisonTracker(const Program &program);
  void check(Warp &warp, const Inst &inst, uint32_t mask, uint32_t active) override;
  void step(Warp &warp, const Inst &inst, uint32_t mask, uint32_t active) override;

private:
  /// Lanes of a row with a poison bit in the first `bytes` bytes.
  uint32_t poisonedLanes(Warp &warp, const Slot &slot, unsigned bytes = 8);
  void setShadow(Warp &warp, const Slot &slot, uint32_t mask, uint32_t poisoned);
  void runOnShadow(Warp &warp, const Inst &inst, uint32_t mask);
  /// The same; results under a predicate that is poison are poison.
  void moveShadow(Warp &warp, const Inst &inst, uint32_t mask, uint32_t guardPoison);

  std::vector<Inst> onShadow; ///< the program's code with operands redirected to the shadow
};

} // namespace vgpu

#endif // VGPU_CHECKS_POISON_H
