//===- AddressMap.h - generic addresses and their windows -------------------------------===//
//
// A generic address is 64 bits. Shared, local, constant and parameter memory appear in it as
// windows that no global allocation overlaps; `cvta` adds or subtracts a window's base. Inside a
// space, addresses start at 0, as 32-bit shared pointers expect.
//
//   0x0000'0010'0000'0000 ...  global allocations, each with a guard gap after it
//   0x0100'0000'0000'0000 ...  shared      0x0200...  local
//   0x0300'0000'0000'0000 ...  constant    0x0400...  kernel parameters
//
// Shared memory of the block of rank r of a cluster is 2^24 * (r + 1) + offset in the window of
// shared memory (`mapa`); an offset alone means the own block's.
//
//   0x0500'0000'0000'0000 + i  "address" of function i of the module (for calls through a register)
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_MEMORY_ADDRESSMAP_H
#define VGPU_MEMORY_ADDRESSMAP_H

#include "vgpu/Ptx/Types.h"
#include <cstdint>

namespace vgpu {

constexpr uint64_t globalBase = 0x0000001000000000ull;
constexpr unsigned windowShift = 56;
constexpr uint64_t functionBase = 5ull << windowShift;

constexpr unsigned clusterRankShift = 24;
/// The address of shared memory of the block of this rank.
constexpr uint64_t inBlockOfRank(uint64_t address, uint64_t rank) {
  return ((rank + 1) << clusterRankShift) | (address & ((1u << clusterRankShift) - 1));
}
/// 1 + the rank that an address of shared memory names, or 0.
constexpr uint64_t rankField(uint64_t address) { return address >> clusterRankShift & 0xff; }
constexpr uint64_t withoutRank(uint64_t address) {
  return address & ~(uint64_t(0xff) << clusterRankShift);
}

constexpr uint64_t windowBase(ptx::Space space) {
  switch (space) {
  case ptx::Space::Shared:
    return 1ull << windowShift;
  case ptx::Space::Local:
    return 2ull << windowShift;
  case ptx::Space::Const:
    return 3ull << windowShift;
  case ptx::Space::Param:
    return 4ull << windowShift;
  default:
    return 0;
  }
}

/// The space a generic address points into; unknown windows count as global and fault there.
constexpr ptx::Space spaceOfGeneric(uint64_t address) {
  switch (address >> windowShift) {
  case 1:
    return ptx::Space::Shared;
  case 2:
    return ptx::Space::Local;
  case 3:
    return ptx::Space::Const;
  case 4:
    return ptx::Space::Param;
  default:
    return ptx::Space::Global;
  }
}

} // namespace vgpu

#endif // VGPU_MEMORY_ADDRESSMAP_H
