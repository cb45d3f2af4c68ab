//===- WarpgroupCheck.cpp - the four warps of a warpgroup act as one --------------------------===//
#include "vgpu/Checks/WarpgroupCheck.h"
#include "vgpu/Machine/Report.h"
#include "llvm/Support/FormatVariadic.h"

namespace vgpu {

void WarpgroupCheck::onWarpgroupInst(Warp &warp, const Inst &inst, uint64_t descriptorA,
                                     uint64_t descriptorB) {
  unsigned position = warp.index % groupWarps;
  Warpgroup &group = groups[{warp.block->linearIndex, warp.index / groupWarps}];
  size_t number = group.executed[position]++ - group.ended;
  if (number == group.products.size())
    group.products.push_back({&inst, descriptorA, descriptorB});
  Product &product = group.products[number];
  product.warps |= 1u << position;
  if (!group.isReported && product.inst != &inst) {
    group.isReported = true;
    report(warp, inst, 0, FindingKind::DivergentCollective,
           llvm::formatv("the warps of a warpgroup must execute the same '{0}': number {1} of warp "
                         "{2} is this one, that of another is at ptx:{3}",
                         inst.source->opcode, group.executed[position] - 1, warp.index,
                         product.inst->line));
  } else if (!group.isReported &&
             (product.descriptorA != descriptorA || product.descriptorB != descriptorB)) {
    group.isReported = true;
    bool isA = product.descriptorA != descriptorA;
    report(
        warp, inst, 0, FindingKind::DivergentCollective,
        llvm::formatv("the warps of a warpgroup must give '{0}' the same descriptors: that of {1} "
                      "is {2:x} in warp {3}, {4:x} in another",
                      inst.source->opcode, isA ? "A" : "B", isA ? descriptorA : descriptorB,
                      warp.index, isA ? product.descriptorA : product.descriptorB));
  }
  while (!group.products.empty() && group.products.front().warps == (1u << groupWarps) - 1) {
    group.products.pop_front();
    ++group.ended;
  }
}

void WarpgroupCheck::onBlockEnd(Block &block) {
  for (uint32_t index = 0; index < (block.warps.size() + groupWarps - 1) / groupWarps; ++index) {
    auto it = groups.find({block.linearIndex, index});
    if (it == groups.end())
      continue;
    if (!it->second.products.empty() && !it->second.isReported) {
      const Product &product = it->second.products.front();
      unsigned first = static_cast<unsigned>(__builtin_ctz(product.warps));
      report(block.warps[index * groupWarps + first], *product.inst, 0,
             FindingKind::DivergentCollective,
             llvm::formatv("only {0} of the four warps of a warpgroup execute '{1}'",
                           __builtin_popcount(product.warps), product.inst->source->opcode));
    }
    groups.erase(it);
  }
}

} // namespace vgpu
