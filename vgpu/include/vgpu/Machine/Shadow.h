//===- Shadow.h - which rows of a warp may hold poison ------------------------------------===//
#ifndef VGPU_MACHINE_SHADOW_H
#define VGPU_MACHINE_SHADOW_H

#include "vgpu/Machine/Launch.h"
#include "vgpu/Machine/Warp.h"

namespace vgpu {

/// Set if a row may hold poison; rows of one flag are all zero otherwise. Most registers are
/// defined most of the time, and this spares looking at their rows. (Predicates share their 64
/// bytes and are looked at directly.)
inline uint8_t &mayBePoison(Warp &warp, const Slot &slot) {
  size_t rows = (size_t(warp.launch->program->registerBytes) + 63) / 64 * 64;
  return warp.planes[unsigned(Plane::Shadow)][rows + slot.offset / 64];
}

/// To be called by who writes the shadow of a register and is not the tracker.
inline void markMayBePoison(Warp &warp, const Slot &slot) {
  if (slot.bytes != 0)
    mayBePoison(warp, slot) = 1;
}

} // namespace vgpu

#endif // VGPU_MACHINE_SHADOW_H
