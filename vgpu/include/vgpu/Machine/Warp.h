//===- Warp.h - 32 lanes, their registers, and where each of them is --------------------===//
//
// Lanes that are at the same point form a *split*. A warp starts as one split; a divergent branch
// makes two, which meet again at the branch's immediate post-dominator. The meeting is a `Meeting`:
// it knows which lanes are still to come. Nothing forces lanes to meet (PTX does not promise it,
// and since Volta lanes progress independently): when the lanes that have arrived would otherwise
// starve, the runner lets them go on alone. Instructions that name their participants (shfl.sync,
// bar.warp.sync) gather splits by themselves, so correctness never depends on meetings.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_WARP_H
#define VGPU_MACHINE_WARP_H

#include "vgpu/Machine/Program.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace vgpu {

struct Block;
struct LaunchState;

/// A point where the lanes of a divergent branch meet again.
struct Meeting {
  uint32_t pc;
  uint32_t pending;                     ///< lanes that may still come
  uint32_t arrived;                     ///< lanes that wait
  llvm::SmallVector<uint32_t, 4> outer; ///< meetings the lanes return to afterwards
};

struct Split {
  enum class State : uint8_t { Ready, Gathering, Parked, Retry };
  uint32_t pc = 0;
  uint32_t mask = 0;
  State state = State::Ready;
  uint32_t members = 0;                    ///< Gathering: lanes the instruction waits for
  uint32_t executeMask = 0;                ///< Gathering: lanes whose guard holds
  uint64_t seenVersion = 0;                ///< Retry: the block's version when it was tried
  llvm::SmallVector<uint32_t, 4> meetings; ///< innermost last; indices into Warp::meetings
};

struct Warp {
  Block *block = nullptr;
  LaunchState *launch = nullptr;
  uint32_t index = 0;       ///< in the block
  uint32_t presentMask = 0; ///< lanes that exist (the last warp may be partial)
  uint32_t exitedMask = 0;
  std::array<uint8_t *, numPlanes> planes = {};
  bool isShadowPass = false; ///< memory handlers move shadow bytes instead of data
  uint32_t timedOut = 0;     ///< lanes whose wait (mbarrier.try_wait) gives up when tried again

  std::vector<Split> splits;
  std::vector<Meeting> meetings;
  uint64_t executedInstructions = 0;
  bool isTurnOver = false;      ///< it jumped backwards while the block is watched (SpinWatch.h)
  uint32_t fullQuanta = 0;      ///< turns in a row that used up the quantum
  uint32_t lastBackEdge = noPc; ///< pc of the last branch taken backwards: names an endless loop

  std::unique_ptr<uint8_t[]> registers, shadow;

  uint32_t liveMask() const { return presentMask & ~exitedMask; }
  bool isDone() const { return splits.empty(); }

  template <class T> T *row(const Slot &slot) {
    return reinterpret_cast<T *>(planes[static_cast<unsigned>(slot.plane)] + slot.offset);
  }
  /// The lanes in which a predicate operand holds.
  uint32_t predicate(const Slot &slot) {
    uint32_t mask = *row<uint32_t>(slot);
    return slot.isNegated ? ~mask : mask;
  }
  void setPredicate(const Slot &slot, uint32_t value, uint32_t mask) {
    if (slot.isSink)
      return;
    uint32_t &bits = *row<uint32_t>(slot);
    bits = (bits & ~mask) | (value & mask);
  }
  /// One lane of a row of any width, zero-extended.
  uint64_t lane(const Slot &slot, unsigned lane) {
    const uint8_t *base = planes[static_cast<unsigned>(slot.plane)] + slot.offset;
    switch (slot.bytes) {
    case 0:
      return predicate(slot) >> lane & 1;
    case 1:
      return base[lane];
    case 2:
      return reinterpret_cast<const uint16_t *>(base)[lane];
    case 4:
      return reinterpret_cast<const uint32_t *>(base)[lane];
    default:
      return reinterpret_cast<const uint64_t *>(base)[lane];
    }
  }
  void setLane(const Slot &slot, unsigned lane, uint64_t value) {
    if (slot.isSink)
      return;
    uint8_t *base = planes[static_cast<unsigned>(slot.plane)] + slot.offset;
    switch (slot.bytes) {
    case 0:
      return setPredicate(slot, static_cast<uint32_t>(value & 1) << lane, 1u << lane);
    case 1:
      base[lane] = static_cast<uint8_t>(value);
      return;
    case 2:
      reinterpret_cast<uint16_t *>(base)[lane] = static_cast<uint16_t>(value);
      return;
    case 4:
      reinterpret_cast<uint32_t *>(base)[lane] = static_cast<uint32_t>(value);
      return;
    default:
      reinterpret_cast<uint64_t *>(base)[lane] = value;
    }
  }
};

/// Calls `body(lane)` for each set bit, in order.
template <class Body> inline void forEachLane(uint32_t mask, Body body) {
  for (; mask; mask &= mask - 1)
    body(static_cast<unsigned>(__builtin_ctz(mask)));
}

} // namespace vgpu

#endif // VGPU_MACHINE_WARP_H
