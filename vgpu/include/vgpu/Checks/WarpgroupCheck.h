//===- WarpgroupCheck.h - the four warps of a warpgroup act as one ----------------------------===//
//
// wgmma.mma_async and setmaxnreg are instructions of four warps: all of them must execute the same
// ones in the same order, with the same descriptors. The executor lets each warp do its own part
// when it comes by; this check compares what they did, one by one.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_WARPGROUPCHECK_H
#define VGPU_CHECKS_WARPGROUPCHECK_H

#include "vgpu/Events/Observer.h"
#include <deque>
#include <map>

namespace vgpu {

class WarpgroupCheck : public Observer {
public:
  void onWarpgroupInst(Warp &warp, const Inst &inst, uint64_t descriptorA,
                       uint64_t descriptorB) override;
  void onBlockEnd(Block &block) override;

private:
  static constexpr unsigned groupWarps = 4;

  /// A product as the first warp executed it.
  struct Product {
    const Inst *inst;
    uint64_t descriptorA, descriptorB;
    uint32_t warps = 0; ///< those that have executed it, by their position in the warpgroup
  };
  struct Warpgroup {
    std::deque<Product> products; ///< not yet executed by all four
    uint64_t ended = 0;           ///< how many were before them
    std::array<uint64_t, groupWarps> executed = {};
    bool isReported = false; ///< what follows a difference says nothing more
  };
  std::map<std::pair<uint64_t, uint32_t>, Warpgroup> groups; ///< by block and warpgroup
};

} // namespace vgpu

#endif // VGPU_CHECKS_WARPGROUPCHECK_H
