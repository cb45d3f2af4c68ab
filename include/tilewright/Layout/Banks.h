//===- Banks.h - how memory serves the addresses of a warp ------------------------*- C++ -*-===//
//
// Shared memory has 32 banks of 4-byte words; byte address a is in bank a / 4 % 32. In one pass
// every bank delivers one word, to any number of lanes. A warp's access of 4 bytes or less a lane
// is served as a whole, one of 8 bytes in two halves, one of 16 bytes in four quarters, and each
// part takes as many passes as the busiest bank has different words. (CUDA C++ Programming Guide,
// "Shared Memory"; ldmatrix reads eight rows of 16 bytes a matrix: the same as a quarter with 16
// bytes a lane.)
//
// Global memory is served in sectors of 32 bytes, four to a cache line of 128 bytes.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_BANKS_H
#define TILEWRIGHT_LAYOUT_BANKS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace tilewright {

inline constexpr int64_t kBanks = 32;
inline constexpr int64_t kBankBytes = 4;
inline constexpr int64_t kSectorBytes = 32;
inline constexpr int64_t kLineBytes = 128;

/// The address of a lane that takes no part.
inline constexpr int64_t kInactiveLane = -1;

inline int64_t bankOf(int64_t address) { return address / kBankBytes % kBanks; }

/// The passes that shared memory needs for a warp's access, one address a lane.
int64_t countBankPasses(llvm::ArrayRef<int64_t> addresses, int64_t bytesPerLane);

/// The passes of an access of the same lanes without conflicts: one for each part with an active
/// lane.
int64_t countIdealPasses(llvm::ArrayRef<int64_t> addresses, int64_t bytesPerLane);

/// The different sectors (or lines, with unit kLineBytes) that a warp's access touches.
int64_t countSectors(llvm::ArrayRef<int64_t> addresses, int64_t bytesPerLane,
                     int64_t unitBytes = kSectorBytes);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_BANKS_H
