//===- MemoryCounter.h - bank conflicts and sectors -------------------------------------------===//
//
// An observer that counts traffic per instruction. Shared memory has 32 banks of 4 bytes: lanes are
// served in phases of 128 bytes (all lanes for 4-byte accesses, 16 for 8 bytes, 8 for 16 bytes),
// and a phase takes as many wavefronts as the most wanted bank has different words. The ideal is
// one wavefront a phase. Global memory is moved in sectors of 32 bytes; the ideal is the number of
// different bytes wanted, in sectors.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_COUNTERS_MEMORYCOUNTER_H
#define VGPU_COUNTERS_MEMORYCOUNTER_H

#include "vgpu/Counters/Counters.h"
#include "vgpu/Events/Observer.h"

namespace vgpu {

/// Wavefronts of one warp access to shared memory.
struct Wavefronts {
  unsigned actual = 0, ideal = 0;
};
Wavefronts countWavefronts(const uint64_t *address, uint32_t mask, unsigned bytes);

struct Sectors {
  unsigned actual = 0, ideal = 0;
};
Sectors countSectors(const uint64_t *address, uint32_t mask, unsigned bytes);

class MemoryCounter : public Observer {
public:
  explicit MemoryCounter(const Program &program) : program(program), byPc(program.code.size()) {}
  void onAccess(const MemoryAccess &access) override;
  /// Adds what another counter of the same program saw.
  void absorb(const MemoryCounter &other);
  /// Adds what was seen to the counters of the launch, and to those of its source lines.
  void addTo(Counters &counters, SourceLineTable &sourceLines,
             llvm::ArrayRef<uint64_t> executed) const;

private:
  struct Traffic {
    uint64_t wavefronts = 0, wavefrontsIdeal = 0;
    uint64_t requests = 0, sectors = 0, sectorsIdeal = 0;
    uint64_t sharedRead = 0, sharedWritten = 0, globalRead = 0, globalWritten = 0;
  };
  static void countBulk(Traffic &traffic, const MemoryAccess &access, bool reads, bool writes);
  const Program &program;
  std::vector<Traffic> byPc;
};

} // namespace vgpu

#endif // VGPU_COUNTERS_MEMORYCOUNTER_H
