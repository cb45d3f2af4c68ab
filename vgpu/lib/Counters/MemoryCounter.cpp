//===- MemoryCounter.cpp - bank conflicts and sectors
//--------------------------------------------------------------------------===//
#include "vgpu/Counters/MemoryCounter.h"
#include "vgpu/Checks/FindingSink.h"
#include <algorithm>

namespace vgpu {

/// Sorts and removes duplicates; returns how many are left.
static unsigned unique(uint64_t *values, unsigned count) {
  std::sort(values, values + count);
  return static_cast<unsigned>(std::unique(values, values + count) - values);
}

Wavefronts countWavefronts(const uint64_t *address, uint32_t mask, unsigned bytes) {
  Wavefronts result;
  unsigned lanesPerPhase = bytes <= 4 ? 32 : std::max(1u, 128 / bytes);
  for (unsigned first = 0; first < warpSize; first += lanesPerPhase) {
    uint64_t words[warpSize * 2];
    unsigned count = 0;
    for (unsigned lane = first; lane < first + lanesPerPhase; ++lane)
      if (mask >> lane & 1)
        for (uint64_t word = address[lane] / 4; word * 4 < address[lane] + bytes; ++word)
          words[count++] = word;
    if (count == 0)
      continue;
    count = unique(words, count);
    unsigned perBank[32] = {}, most = 0;
    for (unsigned i = 0; i < count; ++i)
      most = std::max(most, ++perBank[words[i] % 32]);
    result.actual += most;
    result.ideal += 1;
  }
  return result;
}

Sectors countSectors(const uint64_t *address, uint32_t mask, unsigned bytes) {
  uint64_t starts[warpSize], sectors[warpSize * 2];
  unsigned lanes = 0, count = 0;
  forEachLane(mask, [&](unsigned lane) {
    starts[lanes++] = address[lane];
    sectors[count++] = address[lane] / 32;
    sectors[count++] = (address[lane] + bytes - 1) / 32;
  });
  Sectors result;
  result.actual = unique(sectors, count);
  // Different bytes: runs may overlap.
  lanes = unique(starts, lanes);
  uint64_t wanted = 0, end = 0;
  for (unsigned i = 0; i < lanes; ++i) {
    uint64_t begin = std::max(starts[i], end);
    wanted += std::max(starts[i] + bytes, begin) - begin;
    end = std::max(end, starts[i] + bytes);
  }
  result.ideal = static_cast<unsigned>((wanted + 31) / 32);
  return result;
}

void MemoryCounter::onAccess(const MemoryAccess &access) {
  Traffic &traffic = byPc[access.inst.pc];
  uint64_t bytes = uint64_t(access.bytes) * static_cast<unsigned>(__builtin_popcount(access.mask));
  bool reads = access.kind != AccessKind::Write && access.kind != AccessKind::AsyncWrite;
  bool writes = access.kind != AccessKind::Read && access.kind != AccessKind::AsyncRead;
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

void MemoryCounter::addTo(Counters &counters, llvm::ArrayRef<uint64_t> executed) const {
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
    counters.lines.push_back(std::move(line));
  }
}

} // namespace vgpu
