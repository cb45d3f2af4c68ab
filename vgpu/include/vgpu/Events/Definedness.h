//===- Definedness.h - who follows which bits have been written ---------------------------===//
#ifndef VGPU_EVENTS_DEFINEDNESS_H
#define VGPU_EVENTS_DEFINEDNESS_H

#include <cstdint>

namespace vgpu {

struct Inst;
struct Warp;

/// Told of every instruction, unlike an Observer (Checks/Poison.h).
class DefinednessTracker {
public:
  virtual ~DefinednessTracker() = default;
  /// Called when lanes reach an instruction, which those of `mask` (those of `active` whose guard
  /// holds) will execute: reports poison in guards of branches and memory operations and in
  /// addresses.
  virtual void check(Warp &warp, const Inst &inst, uint32_t mask, uint32_t active) = 0;
  /// Called just before the instruction is executed, when all lanes are there that take part in it:
  /// computes the shadow of the results, and reports poison that reaches global memory.
  virtual void step(Warp &warp, const Inst &inst, uint32_t mask, uint32_t active) = 0;
};

} // namespace vgpu

#endif // VGPU_EVENTS_DEFINEDNESS_H
