//===- Limits.cpp - what an architecture allows in a launch -----------------------------------===//
//
// CUDA programming guide, "Technical specifications per compute capability".
//
//===-----------------------------------------------------------------------------------===//
#include "vgpu/Exec/Limits.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace vgpu {

const ArchLimits *findLimits(llvm::StringRef arch) {
  static constexpr ArchLimits table[] = {
      {70, 98304},  {75, 65536},   {80, 166912},  {86, 101376},  {87, 166912},  {89, 101376},
      {90, 232448}, {100, 232448}, {103, 232448}, {110, 232448}, {120, 101376}, {121, 101376}};
  llvm::StringRef digits = arch;
  if (!digits.consume_front("sm_"))
    return nullptr;
  digits = digits.rtrim("af");
  uint32_t version;
  if (digits.getAsInteger(10, version))
    return nullptr;
  for (const ArchLimits &limits : table)
    if (limits.version == version)
      return &limits;
  return nullptr;
}

/// Whether a device runs PTX for a target: sm_80 is for all later ones, sm_90a for just 9.0, sm_100f
/// for the later ones of its family.
static bool runsOn(llvm::StringRef name, const ArchLimits &target, const ArchLimits &device) {
  if (name.ends_with("a"))
    return target.version == device.version;
  bool isFamily = name.ends_with("f");
  return target.version <= device.version &&
         (!isFamily || target.version / 10 == device.version / 10);
}

/// Of the host, for the blocks of one cluster.
static constexpr uint64_t maxClusterBytes = uint64_t(4) << 30;

static llvm::Error refuse(const Program &program, const std::string &message) {
  return llvm::createStringError("cannot launch '" + program.name + "': " + message);
}

static std::string describeCluster(const Dim3 &cluster) {
  uint64_t count = cluster.count();
  return count == 1 ? "a block" : "the " + std::to_string(count) + " blocks of a cluster";
}

Dim3 clusterOf(const Program &program, const LaunchConfig &config) {
  const auto &required = program.entry->requiredCluster;
  return config.cluster ? *config.cluster
         : required[0]  ? Dim3{required[0], required[1], required[2]}
                        : Dim3{};
}

uint64_t hostBytesOfCluster(const Program &program, const LaunchConfig &config) {
  uint64_t threads = config.block.count();
  uint64_t shared = program.staticSharedBytes + config.dynamicSharedBytes;
  uint64_t bytes = 2 * (llvm::divideCeil(threads, uint64_t(32)) * program.registerBytes + shared +
                        threads * program.localBytes) +
                   4096;
  return bytes * clusterOf(program, config).count();
}

size_t countResidentClusters(const Program &program, const LaunchConfig &config) {
  constexpr uint64_t maxBytes = uint64_t(2) << 30, maxThreads = 1 << 18;
  uint64_t threads = llvm::alignTo(config.block.count(), warpSize) *
                     std::max<uint64_t>(1, clusterOf(program, config).count());
  return std::max<uint64_t>(
      1, std::min(maxThreads / threads, maxBytes / hostBytesOfCluster(program, config)));
}

static llvm::Error checkCluster(const Program &program, const LaunchConfig &config,
                                const ArchLimits &limits) {
  constexpr uint64_t mostBlocks = 16; // more than 8 must be allowed by an attribute of the kernel
  const auto &required = program.entry->requiredCluster;
  Dim3 cluster = clusterOf(program, config);
  const Dim3 &grid = config.grid;
  if (required[0] &&
      (cluster.x != required[0] || cluster.y != required[1] || cluster.z != required[2]))
    return refuse(program, llvm::formatv("it requires clusters of {0}x{1}x{2} blocks "
                                         "(.reqnctapercluster), got {3}x{4}x{5}",
                                         required[0], required[1], required[2], cluster.x,
                                         cluster.y, cluster.z));
  if (program.entry->needsCluster && !config.cluster && !required[0])
    return refuse(program, "it must be launched with clusters (.explicitcluster); give their size");
  if (cluster.count() == 1)
    return llvm::Error::success();
  uint64_t most = program.entry->maxClusterRank ? program.entry->maxClusterRank : mostBlocks;
  if (cluster.count() == 0 || cluster.count() > std::min(most, mostBlocks))
    return refuse(program,
                  llvm::formatv("a cluster of {0}x{1}x{2} blocks; 1 to {3} are possible", cluster.x,
                                cluster.y, cluster.z, std::min(most, mostBlocks)));
  if (limits.version < 90)
    return refuse(program, "clusters need sm_90 or later, the device is " + config.arch);
  if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return refuse(program, llvm::formatv("a grid of {0}x{1}x{2} blocks is not a multiple of the "
                                         "cluster's {3}x{4}x{5}",
                                         grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z));
  return llvm::Error::success();
}

llvm::Error checkLimits(const Program &program, const LaunchConfig &config) {
  const ArchLimits *limits = findLimits(config.arch);
  if (!limits)
    return refuse(program, "unknown architecture '" + config.arch + "'");
  const ArchLimits *target = findLimits(program.module->target);
  if (target && !runsOn(program.module->target, *target, *limits))
    return refuse(program,
                  "the PTX is for " + program.module->target + ", the device is " + config.arch);
  const Dim3 &block = config.block, &grid = config.grid;
  if (block.count() == 0 || grid.count() == 0)
    return refuse(program,
                  llvm::formatv("block {0}x{1}x{2}, grid {3}x{4}x{5}: every extent must be "
                                "at least 1",
                                block.x, block.y, block.z, grid.x, grid.y, grid.z));
  if (block.count() > 1024 || block.z > 64)
    return refuse(program, llvm::formatv("a block of {0}x{1}x{2} threads; at most 1024, 64 in z",
                                         block.x, block.y, block.z));
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return refuse(program, llvm::formatv("a grid of {0}x{1}x{2} blocks; at most 2147483647 x 65535 "
                                         "x 65535",
                                         grid.x, grid.y, grid.z));
  const auto &required = program.entry->requiredThreads;
  if (required[0] && (required[0] != block.x || required[1] != block.y || required[2] != block.z))
    return refuse(program,
                  llvm::formatv("it requires {0}x{1}x{2} threads (.reqntid), got "
                                "{3}x{4}x{5}",
                                required[0], required[1], required[2], block.x, block.y, block.z));
  const auto &most = program.entry->maxThreads;
  uint64_t mostThreads = uint64_t(most[0]) * most[1] * most[2];
  if (mostThreads && block.count() > mostThreads)
    return refuse(program, llvm::formatv("it allows {0} threads (.maxntid), got {1}", mostThreads,
                                         block.count()));
  if (llvm::Error error = checkCluster(program, config, *limits))
    return error;
  uint64_t shared = program.staticSharedBytes;
  if (config.dynamicSharedBytes)
    shared = llvm::alignTo(shared, program.dynamicSharedAlign) + config.dynamicSharedBytes;
  if (shared > limits->sharedBytesPerBlock)
    return refuse(program,
                  llvm::formatv("{0} bytes of shared memory ({1} static, {2} dynamic); {3} "
                                "allows {4}",
                                shared, program.staticSharedBytes, config.dynamicSharedBytes,
                                config.arch, limits->sharedBytesPerBlock));
  if (uint64_t bytes = hostBytesOfCluster(program, config); bytes > maxClusterBytes)
    return refuse(program, llvm::formatv("{0} of {1} threads {2} {3} MiB of the host's memory for "
                                         "registers and local memory; at most {4} are used",
                                         describeCluster(clusterOf(program, config)), block.count(),
                                         clusterOf(program, config).count() > 1 ? "need" : "needs",
                                         bytes >> 20, maxClusterBytes >> 20));
  return llvm::Error::success();
}

} // namespace vgpu
