//===- LocalMemory.h - the local memory of one lane ------------------------------------------===//
#ifndef VGPU_LIB_EXEC_LOCALMEMORY_H
#define VGPU_LIB_EXEC_LOCALMEMORY_H

#include "vgpu/Machine/Block.h"
#include "vgpu/Machine/Launch.h"
#include <cstring>

namespace vgpu {

/// Local memory of a lane and its shadow, if there is one.
struct LocalMemory {
  LocalMemory(Warp &w, unsigned lane) {
    size_t size = w.launch->program->localBytes, begin = size * (w.index * warpSize + lane);
    data = w.block->local.data() + begin;
    shadow = w.launch->poison ? w.block->localShadow.data() + begin : nullptr;
  }
  void copy(uint64_t from, uint64_t to, uint32_t count) {
    for (uint8_t *memory : {data, shadow})
      if (memory)
        std::memmove(memory + to, memory + from, count);
  }
  uint8_t *data, *shadow;
};

} // namespace vgpu

#endif // VGPU_LIB_EXEC_LOCALMEMORY_H
