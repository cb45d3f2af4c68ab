//===- MemoryCounter.cpp - bank conflicts and sectors -----------------------------------------===//
#include "vgpu/Counters/MemoryCounter.h"
#include "vgpu/Machine/Report.h"
#include <algorithm>

namespace vgpu {

/// Wavefronts of one phase: as many as different units are wanted from one bank. A unit is what a
/// lane wants at once, 4, 8 or 16 bytes; it takes 1, 2 or 4 neighbouring banks.
static unsigned countPhase(const uint64_t *address, uint32_t mask, unsigned unitShift) {
  constexpr unsigned bankBytes = 128;
  uint64_t units[32][warpSize]; // by bank
  uint8_t counts[32] = {};
  unsigned numBanks = bankBytes >> unitShift, most = 0;
  uint64_t low = ~uint64_t(0), high = 0;
  forEachLane(mask, [&](unsigned lane) {
    low = std::min(low, address[lane]);
    high = std::max(high, address[lane]);
  });
  if ((high >> unitShift) - (low >> unitShift) < numBanks)
    return 1; // different units, different banks
  forEachLane(mask, [&](unsigned lane) {
    uint64_t unit = address[lane] >> unitShift;
    unsigned bank = unit % numBanks, count = counts[bank];
    for (unsigned i = 0; i < count; ++i)
      if (units[bank][i] == unit)
        return;
    units[bank][count] = unit;
    counts[bank] = static_cast<uint8_t>(count + 1);
    most = std::max(most, count + 1);
  });
  return most;
}

Wavefronts countWavefronts(const uint64_t *address, uint32_t mask, unsigned bytes) {
  Wavefronts result;
  unsigned unitShift = bytes <= 4 ? 2 : bytes == 8 ? 3 : 4;
  unsigned lanesPerPhase = std::min(warpSize, 128u >> unitShift);
  for (unsigned first = 0; first < warpSize; first += lanesPerPhase) {
    uint32_t phase = lanesPerPhase == warpSize ? mask : mask & ((1u << lanesPerPhase) - 1) << first;
    if (phase == 0)
      continue;
    // Vectors of 32 bytes are two passes of 16.
    for (unsigned offset = 0; offset < std::max(bytes, 1u); offset += 1u << unitShift) {
      uint64_t shifted[warpSize];
      for (unsigned lane = first; lane < first + lanesPerPhase; ++lane)
        shifted[lane] = address[lane] + offset;
      result.actual += countPhase(shifted, phase, unitShift);
      result.ideal += 1;
    }
  }
  return result;
}

/// Different sectors and different bytes of accesses at ascending addresses.
static Sectors countAscending(const uint64_t *starts, unsigned count, unsigned bytes) {
  Sectors result;
  uint64_t nextSector = 0, end = 0, wanted = 0;
  for (unsigned i = 0; i < count; ++i) {
    uint64_t first = std::max(starts[i] / 32, nextSector), last = (starts[i] + bytes - 1) / 32 + 1;
    if (last > first) {
      result.actual += static_cast<unsigned>(last - first);
      nextSector = last;
    }
    uint64_t begin = std::max(starts[i], end), stop = starts[i] + bytes;
    if (stop > begin) {
      wanted += stop - begin;
      end = stop;
    }
  }
  result.ideal = static_cast<unsigned>((wanted + 31) / 32);
  return result;
}

Sectors countSectors(const uint64_t *address, uint32_t mask, unsigned bytes) {
  uint64_t starts[warpSize];
  unsigned count = 0;
  bool isAscending = true;
  forEachLane(mask, [&](unsigned lane) {
    isAscending &= count == 0 || address[lane] >= starts[count - 1];
    starts[count++] = address[lane];
  });
  if (!isAscending)
    std::sort(starts, starts + count);
  return countAscending(starts, count, bytes);
}

/// Pieces of a bulk copy or of an operand of wgmma: no conflicts, whole sectors.
void MemoryCounter::countBulk(Traffic &traffic, const MemoryAccess &access, bool reads,
                              bool writes) {
  if (access.space == ptx::Space::Shared) {
    uint64_t bytes =
        uint64_t(access.bytes) * static_cast<unsigned>(__builtin_popcount(access.mask));
    traffic.wavefronts += (bytes + 127) / 128;
    traffic.wavefrontsIdeal += (bytes + 127) / 128;
    traffic.sharedRead += reads ? bytes : 0;
    traffic.sharedWritten += writes ? bytes : 0;
    return;
  }
  forEachLane(access.mask, [&](unsigned lane) {
    uint64_t begin = access.address[lane], bytes = access.bytes;
    traffic.requests += 1;
    traffic.sectors += (begin + bytes + 31) / 32 - begin / 32;
    traffic.sectorsIdeal += (bytes + 31) / 32;
    traffic.globalRead += reads ? bytes : 0;
    traffic.globalWritten += writes ? bytes : 0;
  });
}

void MemoryCounter::onAccess(const MemoryAccess &access) {
  if (access.isRepeated)
    return;
  Traffic &traffic = byPc[access.inst.pc];
  uint64_t bytes = uint64_t(access.bytes) * static_cast<unsigned>(__builtin_popcount(access.mask));
  bool reads = access.kind != AccessKind::Write && access.kind != AccessKind::AsyncWrite;
  bool writes = access.kind != AccessKind::Read && access.kind != AccessKind::AsyncRead;
  if (access.by == AccessBy::AsyncProxy)
    return countBulk(traffic, access, reads, writes);
  if (access.space == ptx::Space::Shared) {
    Wavefronts wavefronts = countWavefronts(access.address, access.mask, access.bytes);
    traffic.wavefronts += wavefronts.actual;
    traffic.wavefrontsIdeal += wavefronts.ideal;
    traffic.sharedRead += reads ? bytes : 0;
    traffic.sharedWritten += writes ? bytes : 0;
  } else if (access.space == ptx::Space::Global) {
    Sectors sectors = countSectors(access.address, access.mask, access.bytes);
    traffic.requests += 1;
    traffic.sectors += sectors.actual;
    traffic.sectorsIdeal += sectors.ideal;
    traffic.globalRead += reads ? bytes : 0;
    traffic.globalWritten += writes ? bytes : 0;
  }
}

void MemoryCounter::absorb(const MemoryCounter &other) {
  for (size_t pc = 0; pc < byPc.size(); ++pc) {
    Traffic &sum = byPc[pc];
    const Traffic &more = other.byPc[pc];
    sum.wavefronts += more.wavefronts;
    sum.wavefrontsIdeal += more.wavefrontsIdeal;
    sum.requests += more.requests;
    sum.sectors += more.sectors;
    sum.sectorsIdeal += more.sectorsIdeal;
    sum.sharedRead += more.sharedRead;
    sum.sharedWritten += more.sharedWritten;
    sum.globalRead += more.globalRead;
    sum.globalWritten += more.globalWritten;
  }
}

void MemoryCounter::addTo(Counters &counters, SourceLineTable &sourceLines,
                          llvm::ArrayRef<uint64_t> executed) const {
  counters.hasMemory = true;
  for (const Inst &inst : program.code) {
    const Traffic &traffic = byPc[inst.pc];
    counters.sharedWavefronts += traffic.wavefronts;
    counters.sharedWavefrontsIdeal += traffic.wavefrontsIdeal;
    counters.globalRequests += traffic.requests;
    counters.globalSectors += traffic.sectors;
    counters.globalSectorsIdeal += traffic.sectorsIdeal;
    counters.sharedBytesRead += traffic.sharedRead;
    counters.sharedBytesWritten += traffic.sharedWritten;
    counters.globalBytesRead += traffic.globalRead;
    counters.globalBytesWritten += traffic.globalWritten;
    if (traffic.wavefronts == 0 && traffic.requests == 0)
      continue;
    LineCounters line;
    line.ptxLine = inst.line;
    line.source = sourceOf(program, inst);
    line.opcode = inst.source ? inst.source->opcode : "";
    line.executions = executed[inst.pc];
    line.sharedWavefronts = traffic.wavefronts;
    line.sharedWavefrontsIdeal = traffic.wavefrontsIdeal;
    line.globalRequests = traffic.requests;
    line.globalSectors = traffic.sectors;
    line.globalSectorsIdeal = traffic.sectorsIdeal;
    line.bytes =
        traffic.sharedRead + traffic.sharedWritten + traffic.globalRead + traffic.globalWritten;
    SourceLineCounters &source = sourceLines[inst];
    source.sharedWavefronts += traffic.wavefronts;
    source.sharedWavefrontsIdeal += traffic.wavefrontsIdeal;
    source.globalRequests += traffic.requests;
    source.globalSectors += traffic.sectors;
    source.globalSectorsIdeal += traffic.sectorsIdeal;
    source.bytes += line.bytes;
    counters.lines.push_back(std::move(line));
  }
}

} // namespace vgpu
