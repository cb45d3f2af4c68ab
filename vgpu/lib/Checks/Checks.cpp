//===- Checks.cpp - the observers of a launch
//-----------------------------------------------------------===//
#include "vgpu/Checks/Checks.h"
#include "vgpu/Checks/Observer.h"
#include "vgpu/Checks/Poison.h"

namespace vgpu {

CheckPipeline::CheckPipeline(LaunchState &state) : state(state) {
  const CheckSet &checks = state.config.checks;
  if (checks.has(Check::Uninitialized)) {
    poison = std::make_unique<PoisonTracker>();
    state.poison = poison.get();
  }
  for (const auto &observer : owned)
    state.observers.push_back(observer.get());
}

CheckPipeline::~CheckPipeline() = default;

Counters CheckPipeline::counters(llvm::ArrayRef<uint64_t> executed) const {
  Counters result;
  for (const Inst &inst : state.program->code) {
    if (inst.flow == Flow::Reconverge)
      continue;
    uint64_t count = executed[inst.pc];
    result.warpInstructions[static_cast<unsigned>(inst.instClass)] += count;
    result.totalWarpInstructions += count;
  }
  return result;
}

} // namespace vgpu
