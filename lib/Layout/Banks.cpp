//===- Banks.cpp - how memory serves the addresses of a warp --------------------------------===//

#include "tilewright/Layout/Banks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include <algorithm>
#include <array>

using namespace tilewright;
using llvm::ArrayRef;

/// Calls `serve` with the lanes of each part that is served at once.
template <typename FnT>
static void forEachPart(ArrayRef<int64_t> addresses, int64_t bytesPerLane, FnT serve) {
  size_t lanes = std::max<int64_t>(1, kBanks * kBankBytes / std::max(bytesPerLane, kBankBytes));
  for (; !addresses.empty(); addresses = addresses.drop_front(std::min(lanes, addresses.size())))
    serve(addresses.take_front(lanes));
}

int64_t tilewright::countBankPasses(ArrayRef<int64_t> addresses, int64_t bytesPerLane) {
  int64_t passes = 0;
  forEachPart(addresses, bytesPerLane, [&](ArrayRef<int64_t> part) {
    std::array<llvm::SmallSet<int64_t, 4>, kBanks> words;
    for (int64_t address : part) {
      if (address == kInactiveLane)
        continue;
      for (int64_t word = address / kBankBytes; word * kBankBytes < address + bytesPerLane; ++word)
        words[word % kBanks].insert(word);
    }
    int64_t busiest = 0;
    for (const auto &bank : words)
      busiest = std::max<int64_t>(busiest, bank.size());
    passes += busiest;
  });
  return passes;
}

int64_t tilewright::countIdealPasses(ArrayRef<int64_t> addresses, int64_t bytesPerLane) {
  int64_t passes = 0;
  forEachPart(addresses, bytesPerLane, [&](ArrayRef<int64_t> part) {
    passes += llvm::any_of(part, [](int64_t address) { return address != kInactiveLane; });
  });
  return passes;
}

int64_t tilewright::countSectors(ArrayRef<int64_t> addresses, int64_t bytesPerLane,
                                 int64_t unitBytes) {
  llvm::SmallSet<int64_t, 32> sectors;
  for (int64_t address : addresses) {
    if (address == kInactiveLane)
      continue;
    for (int64_t unit = address / unitBytes; unit * unitBytes < address + bytesPerLane; ++unit)
      sectors.insert(unit);
  }
  return sectors.size();
}
