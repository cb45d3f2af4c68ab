//===- AccessJournal.cpp - accesses to shared memory that need no look at its cells ----------===//
#include "vgpu/Checks/AccessJournal.h"
#include <algorithm>

namespace vgpu {

template <class Visit> static void forEachPage(const AccessJournal::Pages &pages, Visit visit) {
  for (unsigned word = 0; word < pages.size(); ++word)
    for (uint64_t rest = pages[word]; rest; rest &= rest - 1)
      visit(word * 64 + static_cast<unsigned>(__builtin_ctzll(rest)));
}

AccessJournal::Pages AccessJournal::pagesOf(const uint64_t *address, uint32_t mask,
                                            unsigned bytes) {
  Pages pages = {};
  uint64_t low = ~uint64_t(0), high = 0;
  forEachLane(mask, [&](unsigned lane) {
    low = std::min(low, address[lane]);
    high = std::max(high, address[lane]);
  });
  if (low / pageBytes == (high + bytes - 1) / pageBytes) {
    pages[low / pageBytes / 64] = uint64_t(1) << low / pageBytes % 64;
    return pages;
  }
  forEachLane(mask, [&](unsigned lane) {
    uint64_t last = (address[lane] + bytes - 1) / pageBytes;
    for (uint64_t page = address[lane] / pageBytes; page <= last; ++page)
      pages[page / 64] |= uint64_t(1) << page % 64;
  });
  return pages;
}

bool AccessJournal::isOrdered(const Pages &touched, llvm::ArrayRef<uint32_t> known,
                              bool isWrite) const {
  bool isOrdered = true;
  forEachPage(touched, [&](unsigned number) {
    const Page &page = pages[number];
    for (size_t warp = 0; warp < known.size(); ++warp) {
      isOrdered &= page.writes[warp] <= known[warp];
      isOrdered &= !isWrite || page.reads[warp] <= known[warp];
    }
  });
  return isOrdered;
}

void AccessJournal::touch(const Pages &touched, uint32_t warp, uint32_t clock, bool isWrite) {
  forEachPage(touched, [&](unsigned number) {
    (isWrite ? pages[number].writes : pages[number].reads)[warp] = clock;
  });
}

void AccessJournal::reset() {
  clear();
  std::fill(pages.begin(), pages.end(), Page());
}

bool areDisjoint(const uint64_t *address, uint32_t mask, unsigned bytes) {
  uint64_t low = ~uint64_t(0), high = 0, previous = 0, alignment = 0;
  bool isAscending = true;
  forEachLane(mask, [&](unsigned lane) {
    isAscending &= address[lane] >= previous;
    previous = address[lane] + bytes;
    low = std::min(low, address[lane]);
    high = std::max(high, address[lane]);
    alignment |= address[lane];
  });
  if (isAscending)
    return true;
  // A bit for each position of an access, if positions do not overlap and are near to each other.
  constexpr uint64_t numPositions = 4096;
  if (alignment % bytes != 0 || (high - low) / bytes >= numPositions)
    return false;
  std::array<uint64_t, numPositions / 64> taken;
  std::fill_n(taken.begin(), (high - low) / bytes / 64 + 1, 0);
  bool isDisjoint = true;
  forEachLane(mask, [&](unsigned lane) {
    uint64_t position = (address[lane] - low) / bytes, bit = uint64_t(1) << position % 64;
    isDisjoint &= !(taken[position / 64] & bit);
    taken[position / 64] |= bit;
  });
  return isDisjoint;
}

} // namespace vgpu
