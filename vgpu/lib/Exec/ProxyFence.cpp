//===- ProxyFence.cpp - fence.proxy and fence.mbarrier_init -----------------------------------===//
//
// Between the generic proxy (ordinary loads and stores) and the asynchronous one (TMA, wgmma) a
// fence is needed; the ProxyFence check is the only one that cares.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Machine/Launch.h"
#include "vgpu/Machine/Report.h"

using namespace vgpu::ptx;

namespace vgpu {

static void proxyFence(Warp &w, const Inst &in, uint32_t mask) {
  for (Observer *observer : w.launch->observers)
    observer->onProxyFence(w, in, mask, in.space);
}
/// Fences that matter to nothing a block can see: mbarrier_init publishes to the other blocks of a
/// cluster, alias and tensormap are about other proxies.
static void nothing(Warp &, const Inst &, uint32_t) {}

bool decodeProxyFence(InstBuilder &b) {
  bool isAsync = false;
  if (b.accept("mbarrier_init")) {
    if (!b.accept("release") || !b.accept("cluster"))
      return b.fail("expected '.release.cluster'");
  } else {
    b.accept("proxy");
    static constexpr llvm::StringRef words[] = {"async", "async::generic", "alias",
                                                "tensormap::generic"};
    int kind = b.acceptOneOf(words);
    if (kind < 0)
      return b.fail("unknown proxy '." + b.peek() + "'");
    isAsync = kind <= 1;
    b.inst.space = b.acceptSpace();
    if (!b.acceptOrdering())
      return false;
    for (llvm::StringRef word : {"sync_restrict::shared::cta", "sync_restrict::shared::cluster"})
      if (b.accept(word))
        b.inst.space = Space::Shared;
    if (!b.acceptOrdering()) // the scope may follow
      return false;
  }
  b.inst.execute = isAsync ? proxyFence : nothing;
  b.inst.instClass = InstClass::Fence;
  b.inst.poison = PoisonRule::Defined;
  return b.expectOperands(0, 2) && emitInst(b);
}

} // namespace vgpu
