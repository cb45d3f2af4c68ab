//===- Limits.h - what an architecture allows in a launch -------------------------------------===//
#ifndef VGPU_EXEC_LIMITS_H
#define VGPU_EXEC_LIMITS_H

#include "vgpu/Machine/Launch.h"

namespace vgpu {

struct ArchLimits {
  uint32_t version;             ///< 80 for sm_80
  uint32_t sharedBytesPerBlock; ///< with the opt-in attribute
};
/// The limits of "sm_80" and the like, or null if the name is not known.
const ArchLimits *findLimits(llvm::StringRef arch);

/// The blocks of a cluster: what the launch says, or the kernel requires, or one.
Dim3 clusterOf(const Program &program, const LaunchConfig &config);

/// What the blocks of a cluster take of the host's memory while they run: registers, shared and
/// local memory, and their shadows.
uint64_t hostBytesOfCluster(const Program &program, const LaunchConfig &config);

/// How many clusters of a launch are under way at most: they have at most so many bytes of the host
/// and so many threads as a GPU has room for. One always is.
size_t countResidentClusters(const Program &program, const LaunchConfig &config);

/// Refuses launches that a GPU would refuse, with the numbers that do not fit.
llvm::Error checkLimits(const Program &program, const LaunchConfig &config);

} // namespace vgpu

#endif // VGPU_EXEC_LIMITS_H
