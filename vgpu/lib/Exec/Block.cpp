//===- Block.cpp - preparing a thread block -----------------------------------------------===//
#include "vgpu/Exec/Runner.h"
#include "vgpu/Machine/Launch.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace vgpu {

std::array<uint32_t, 3> Block::threadCoords(uint32_t linearThread) const {
  const Dim3 &extent = launch->config.block;
  return {linearThread % extent.x, linearThread / extent.x % extent.y,
          linearThread / (extent.x * extent.y)};
}

/// Writes the row of a special register. Those that are the same in all lanes are looked up once.
static void fillSpecial(const Block &block, Warp &warp, const SpecialRow &special) {
  const LaunchConfig &config = block.launch->config;
  auto fill = [&](auto valueOf) {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      warp.setLane(special.slot, lane, valueOf(lane));
  };
  llvm::StringRef name = special.name;
  if (name.starts_with("%tid.")) {
    unsigned axis = name.back() == 'x' ? 0 : name.back() == 'y' ? 1 : 2;
    if (name.back() == 'w')
      return fill([](unsigned) { return 0; });
    return fill([&](unsigned lane) {
      return block.threadCoords(std::min(warp.index * warpSize + lane, block.numThreads - 1))[axis];
    });
  }
  if (name == "%laneid")
    return fill([](unsigned lane) { return lane; });
  if (name.starts_with("%lanemask_")) {
    llvm::StringRef relation = name.substr(strlen("%lanemask_"));
    return fill([&](unsigned lane) -> uint32_t {
      uint32_t own = 1u << lane, below = own - 1;
      return llvm::StringSwitch<uint32_t>(relation)
          .Case("eq", own)
          .Case("lt", below)
          .Case("le", own | below)
          .Case("gt", ~(own | below))
          .Case("ge", ~below)
          .Default(0);
    });
  }
  const auto &[x, y, z] = block.coords;
  const Dim3 &cluster = block.launch->cluster;
  const Dim3 clusters = block.launch->clusterGrid();
  uint64_t value = llvm::StringSwitch<uint64_t>(name)
                       .Case("%ntid.x", config.block.x)
                       .Case("%ntid.y", config.block.y)
                       .Case("%ntid.z", config.block.z)
                       .Case("%ctaid.x", x)
                       .Case("%ctaid.y", y)
                       .Case("%ctaid.z", z)
                       .Case("%nctaid.x", config.grid.x)
                       .Case("%nctaid.y", config.grid.y)
                       .Case("%nctaid.z", config.grid.z)
                       .Case("%clusterid.x", x / cluster.x)
                       .Case("%clusterid.y", y / cluster.y)
                       .Case("%clusterid.z", z / cluster.z)
                       .Case("%nclusterid.x", clusters.x)
                       .Case("%nclusterid.y", clusters.y)
                       .Case("%nclusterid.z", clusters.z)
                       .Case("%cluster_ctaid.x", x % cluster.x)
                       .Case("%cluster_ctaid.y", y % cluster.y)
                       .Case("%cluster_ctaid.z", z % cluster.z)
                       .Case("%cluster_nctaid.x", cluster.x)
                       .Case("%cluster_nctaid.y", cluster.y)
                       .Case("%cluster_nctaid.z", cluster.z)
                       .Case("%cluster_ctarank", block.rank)
                       .Case("%cluster_nctarank", cluster.count())
                       .Case("%is_explicit_cluster", cluster.count() > 1)
                       .Case("%warpid", warp.index)
                       .Case("%nwarpid", block.warps.size())
                       .Case("%nsmid", 1)
                       .Case("%gridid", 1)
                       .Case("%dynamic_smem_size", config.dynamicSharedBytes)
                       .Cases({"%total_smem_size", "%aggr_smem_size"}, block.launch->sharedBytes)
                       .Default(0); // %smid and the like
  fill([&](unsigned) { return value; });
}

/// `bytes` bytes of `value`, from 64 bytes' alignment on; the memory is kept if there is some.
static uint8_t *fillRows(std::unique_ptr<uint8_t[]> &memory, size_t bytes, uint8_t value) {
  if (!memory)
    memory = std::make_unique_for_overwrite<uint8_t[]>(bytes + 64);
  auto *rows =
      reinterpret_cast<uint8_t *>(llvm::alignTo(reinterpret_cast<uintptr_t>(memory.get()), 64));
  std::memset(rows, value, bytes);
  return rows;
}

static std::unique_ptr<Block> makeBlock(LaunchState &launch, Cluster &cluster, uint32_t rank,
                                        uint64_t linearIndex, std::unique_ptr<Block> ended) {
  const Program &program = *launch.program;
  auto block = std::make_unique<Block>();
  if (ended) {
    block->shared = std::move(ended->shared);
    block->sharedShadow = std::move(ended->sharedShadow);
    block->local = std::move(ended->local);
    block->localShadow = std::move(ended->localShadow);
  }
  block->launch = &launch;
  block->cluster = &cluster;
  block->rank = rank;
  block->linearIndex = linearIndex;
  const Dim3 &grid = launch.config.grid;
  block->coords = {static_cast<uint32_t>(linearIndex % grid.x),
                   static_cast<uint32_t>(linearIndex / grid.x % grid.y),
                   static_cast<uint32_t>(linearIndex / grid.x / grid.y)};
  block->numThreads = static_cast<uint32_t>(launch.config.block.count());
  bool isTracked = launch.poison != nullptr;
  block->shared.assign(launch.sharedBytes, 0);
  block->local.assign(size_t(program.localBytes) * block->numThreads, 0);
  if (isTracked) {
    block->sharedShadow.assign(block->shared.size(), 0xff);
    block->localShadow.assign(block->local.size(), 0xff);
  }
  static uint8_t zeroRow[warpSize * 8] = {};
  size_t rowBytes = llvm::alignTo(std::max(program.registerBytes, 64u), 64);
  block->warps.resize((block->numThreads + warpSize - 1) / warpSize);
  for (uint32_t i = 0; i < block->warps.size(); ++i) {
    Warp &warp = block->warps[i];
    warp.block = block.get();
    warp.launch = &launch;
    warp.index = i;
    uint32_t rest = block->numThreads - i * warpSize;
    warp.presentMask = rest >= warpSize ? fullMask : (1u << rest) - 1;
    if (ended) {
      warp.registers = std::move(ended->warps[i].registers);
      warp.shadow = std::move(ended->warps[i].shadow);
    }
    warp.planes[unsigned(Plane::Register)] = fillRows(warp.registers, rowBytes, 0);
    warp.planes[unsigned(Plane::Constant)] = const_cast<uint8_t *>(program.constants.data());
    warp.planes[unsigned(Plane::Zero)] = zeroRow;
    if (isTracked) {
      // After the rows: a flag for each 64 bytes of them, see Checks/Poison.cpp.
      size_t shadowBytes = rowBytes + rowBytes / 64 + 1;
      warp.planes[unsigned(Plane::Shadow)] = fillRows(warp.shadow, shadowBytes, 0xff);
    }
    for (const SpecialRow &special : program.specialRows) {
      fillSpecial(*block, warp, special);
      if (isTracked)
        std::memset(warp.planes[unsigned(Plane::Shadow)] + special.slot.offset, 0,
                    size_t(special.slot.bytes) * warpSize);
    }
    Split start;
    start.mask = warp.presentMask;
    warp.splits.push_back(std::move(start));
  }
  return block;
}

std::unique_ptr<Cluster> makeCluster(LaunchState &launch, uint64_t index,
                                     std::unique_ptr<Cluster> ended) {
  auto cluster = std::make_unique<Cluster>();
  cluster->launch = &launch;
  cluster->watch = std::make_shared<SpinWatch>();
  const Dim3 &extent = launch.cluster, &grid = launch.config.grid;
  const Dim3 clusters = launch.clusterGrid();
  uint64_t x = index % clusters.x * extent.x, y = index / clusters.x % clusters.y * extent.y,
           z = index / clusters.x / clusters.y * extent.z;
  for (uint32_t rank = 0; rank < extent.count(); ++rank) {
    uint64_t linear = x + rank % extent.x +
                      grid.x * (y + rank / extent.x % extent.y +
                                uint64_t(grid.y) * (z + rank / extent.x / extent.y));
    cluster->blocks.push_back(makeBlock(launch, *cluster, rank, linear,
                                        ended ? std::move(ended->blocks[rank]) : nullptr));
  }
  return cluster;
}

} // namespace vgpu
