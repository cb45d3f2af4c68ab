//===- Program.cpp - questions about a decoded kernel ---------------------------------------===//
#include "vgpu/Machine/Program.h"
#include "vgpu/Memory/Ordering.h"
#include "llvm/ADT/STLExtras.h"

namespace vgpu {

static bool touchesOnlyOwnBlock(ptx::Space space) {
  return space != ptx::Space::Global && space != ptx::Space::Generic;
}

bool Program::canBlocksMeet() const {
  // Bulk copies write and reduce global memory by ways of their own; an address tells who called
  // malloc before.
  if (usesAsyncProxy || usesHeap)
    return true;
  return llvm::any_of(code, [](const Inst &inst) {
    switch (inst.instClass) {
    case InstClass::Atomic:
      return !touchesOnlyOwnBlock(inst.space);
    case InstClass::GlobalLoad:
    case InstClass::GlobalStore:
      return inst.order != static_cast<uint8_t>(MemoryOrder::Weak);
    default:
      return false;
    }
  });
}

} // namespace vgpu
