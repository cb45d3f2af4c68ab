//===- Block.cpp - preparing a thread block -----------------------------------------------===//
#include "vgpu/Exec/Block.h"
#include "vgpu/Exec/Launch.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace vgpu {

std::array<uint32_t, 3> Block::threadCoords(uint32_t linearThread) const {
  const Dim3 &extent = launch->config.block;
  return {linearThread % extent.x, linearThread / extent.x % extent.y,
          linearThread / (extent.x * extent.y)};
}

/// The value of a special register in one lane.
static uint64_t specialValue(const Block &block, const Warp &warp, llvm::StringRef name,
                             unsigned lane) {
  const LaunchConfig &config = block.launch->config;
  std::array<uint32_t, 3> thread =
      block.threadCoords(std::min(warp.index * warpSize + lane, block.numThreads - 1));
  uint32_t laneBit = 1u << lane;
  uint32_t numWarps = static_cast<uint32_t>(block.warps.size());
  const auto &[x, y, z] = block.coords;
  // Clusters are of one block, so cluster coordinates are grid coordinates.
  return llvm::StringSwitch<uint64_t>(name)
      .Case("%tid.x", thread[0])
      .Case("%tid.y", thread[1])
      .Case("%tid.z", thread[2])
      .Case("%ntid.x", config.block.x)
      .Case("%ntid.y", config.block.y)
      .Case("%ntid.z", config.block.z)
      .Cases({"%ctaid.x", "%clusterid.x"}, x)
      .Cases({"%ctaid.y", "%clusterid.y"}, y)
      .Cases({"%ctaid.z", "%clusterid.z"}, z)
      .Cases({"%nctaid.x", "%nclusterid.x"}, config.grid.x)
      .Cases({"%nctaid.y", "%nclusterid.y"}, config.grid.y)
      .Cases({"%nctaid.z", "%nclusterid.z"}, config.grid.z)
      .Cases({"%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z"}, 1)
      .Case("%cluster_nctarank", 1)
      .Case("%laneid", lane)
      .Case("%warpid", warp.index)
      .Case("%nwarpid", numWarps)
      .Case("%nsmid", 1)
      .Case("%gridid", 1)
      .Case("%lanemask_eq", laneBit)
      .Case("%lanemask_lt", laneBit - 1)
      .Case("%lanemask_le", laneBit | (laneBit - 1))
      .Case("%lanemask_gt", ~(laneBit | (laneBit - 1)))
      .Case("%lanemask_ge", ~(laneBit - 1))
      .Case("%dynamic_smem_size", config.dynamicSharedBytes)
      .Cases({"%total_smem_size", "%aggr_smem_size"}, block.launch->sharedBytes)
      .Default(0); // %smid, %cluster_ctarank, %tid.w and the like
}

std::unique_ptr<Block> makeBlock(LaunchState &launch, uint64_t linearIndex) {
  const Program &program = *launch.program;
  auto block = std::make_unique<Block>();
  block->launch = &launch;
  block->linearIndex = linearIndex;
  const Dim3 &grid = launch.config.grid;
  block->coords = {static_cast<uint32_t>(linearIndex % grid.x),
                   static_cast<uint32_t>(linearIndex / grid.x % grid.y),
                   static_cast<uint32_t>(linearIndex / grid.x / grid.y)};
  block->numThreads = static_cast<uint32_t>(launch.config.block.count());
  bool isTracked = launch.poison != nullptr;
  block->shared.resize(launch.sharedBytes);
  block->local.resize(size_t(program.localBytes) * block->numThreads);
  if (isTracked) {
    block->sharedShadow.assign(block->shared.size(), 0xff);
    block->localShadow.assign(block->local.size(), 0xff);
  }
  static uint8_t zeroRow[warpSize * 8] = {};
  size_t rowBytes = llvm::alignTo(std::max(program.registerBytes, 64u), 64) + 64;
  block->warps.resize((block->numThreads + warpSize - 1) / warpSize);
  for (uint32_t i = 0; i < block->warps.size(); ++i) {
    Warp &warp = block->warps[i];
    warp.block = block.get();
    warp.launch = &launch;
    warp.index = i;
    uint32_t rest = block->numThreads - i * warpSize;
    warp.presentMask = rest >= warpSize ? fullMask : (1u << rest) - 1;
    auto aligned = [](std::unique_ptr<uint8_t[]> &memory) {
      return reinterpret_cast<uint8_t *>(
          llvm::alignTo(reinterpret_cast<uintptr_t>(memory.get()), 64));
    };
    warp.registers = std::make_unique<uint8_t[]>(rowBytes);
    warp.planes[unsigned(Plane::Register)] = aligned(warp.registers);
    warp.planes[unsigned(Plane::Constant)] = const_cast<uint8_t *>(program.constants.data());
    warp.planes[unsigned(Plane::Zero)] = zeroRow;
    if (isTracked) {
      // Behind the rows: a flag for each 64 bytes of them, see Checks/Poison.cpp.
      size_t shadowBytes = rowBytes + rowBytes / 64 + 64;
      warp.shadow = std::make_unique<uint8_t[]>(shadowBytes);
      std::memset(warp.shadow.get(), 0xff, shadowBytes);
      warp.planes[unsigned(Plane::Shadow)] = aligned(warp.shadow);
    }
    for (const SpecialRow &special : program.specialRows) {
      for (unsigned lane = 0; lane < warpSize; ++lane)
        warp.setLane(special.slot, lane, specialValue(*block, warp, special.name, lane));
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

} // namespace vgpu
