//===- Mbarrier.h - barriers in shared memory ----------------------------------------------===//
//
// PTX ISA, "mbarrier". A phase completes when no arrival and no byte of an asynchronous copy is
// missing; the next phase expects as many arrivals again. The 64 bits in shared memory are opaque
// to programs, so the state is kept beside it, per block and address.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_MBARRIER_H
#define VGPU_MACHINE_MBARRIER_H

#include "vgpu/Machine/Block.h"
#include <map>

namespace vgpu {

struct Mbarrier {
  uint32_t expected = 0; ///< arrivals of a phase
  uint32_t pending = 0;  ///< arrivals still missing in this phase
  int64_t txCount = 0;   ///< bytes still missing; negative: they came before they were expected
  uint32_t phase = 0;    ///< phases completed at this address so far, in all its lives
  uint32_t first = 0;    ///< what it was when the barrier was initialised; even
};

/// The initialised mbarriers of a block, by address.
using MbarrierTable = std::map<uint64_t, Mbarrier>;
MbarrierTable &mbarriersOf(Block &block);

/// Limits of the counts, from the PTX ISA.
constexpr uint32_t maxMbarrierCount = (1u << 20) - 1;

} // namespace vgpu

#endif // VGPU_MACHINE_MBARRIER_H
