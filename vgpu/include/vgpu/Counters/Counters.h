//===- Counters.h - what a launch did ---------------------------------------------------------===//
//
// Figures of one launch: executed warp instructions by class; shared-memory wavefronts against the
// ideal and global sectors per request, each per line; bytes; tensor-core operations; barrier
// waits. A *wavefront* is one pass of the 32 banks; a *sector* is 32 bytes of global memory.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_COUNTERS_COUNTERS_H
#define VGPU_COUNTERS_COUNTERS_H

#include "vgpu/Machine/Program.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <map>
#include <string>
#include <vector>

namespace vgpu {

/// Memory traffic of one PTX instruction.
struct LineCounters {
  uint32_t ptxLine = 0;
  std::string source; ///< "file.py:12", empty if unknown
  std::string opcode;
  uint64_t executions = 0; ///< warp instructions
  uint64_t sharedWavefronts = 0;
  uint64_t sharedWavefrontsIdeal = 0;
  uint64_t globalRequests = 0;
  uint64_t globalSectors = 0;
  uint64_t globalSectorsIdeal = 0;
  uint64_t bytes = 0;
};

/// What the instructions of one source line did; of one PTX line, where there is no source.
struct SourceLineCounters {
  std::string source; ///< "file.py:12" or "ptx:34"
  uint64_t warpInstructions = 0;
  uint64_t tensorOperations = 0;
  uint64_t sharedWavefronts = 0, sharedWavefrontsIdeal = 0;
  uint64_t globalRequests = 0, globalSectors = 0, globalSectorsIdeal = 0;
  uint64_t bytes = 0;
};

struct Counters {
  std::array<uint64_t, numInstClasses> warpInstructions = {};
  uint64_t totalWarpInstructions = 0;
  uint64_t tensorOperations = 0; ///< multiply-adds, counted as two operations each
  uint64_t barrierWaits = 0;
  uint64_t globalBytesRead = 0, globalBytesWritten = 0;
  uint64_t sharedBytesRead = 0, sharedBytesWritten = 0;
  uint64_t sharedWavefronts = 0, sharedWavefrontsIdeal = 0;
  uint64_t globalRequests = 0, globalSectors = 0, globalSectorsIdeal = 0;
  bool hasMemory = false;                      ///< false: only instruction counts were collected
  std::vector<LineCounters> lines;             ///< instructions that touch shared or global memory
  std::vector<SourceLineCounters> sourceLines; ///< all that executed something, in order

  std::string text() const;
  llvm::json::Value toJson() const;
};

/// Sums up instructions by their source line.
class SourceLineTable {
public:
  explicit SourceLineTable(const Program &program) : program(program) {}
  SourceLineCounters &operator[](const Inst &inst);
  /// By file, then by line.
  std::vector<SourceLineCounters> take();

private:
  const Program &program;
  std::map<std::pair<uint32_t, uint32_t>, SourceLineCounters> lines; ///< by `.loc`; file 0: PTX
};

} // namespace vgpu

#endif // VGPU_COUNTERS_COUNTERS_H
