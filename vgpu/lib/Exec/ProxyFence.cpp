//===- ProxyFence.cpp - fence.proxy and fence.mbarrier_init -----------------------------------===//
//
// Between the generic proxy (ordinary loads and stores) and the asynchronous one (TMA, wgmma) a
// fence is needed; the ProxyFence check is the only one that cares.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Checks/Observer.h"
#include "vgpu/Exec/Launch.h"

using namespace vgpu::ptx;

namespace vgpu {

static void proxyFence(Warp &w, const Inst &in, uint32_t mask) {
  for (Observer *observer : w.launch->observers)
    observer->onProxyFence(w, in, mask, in.space);
}

bool decodeProxyFence(InstBuilder &b) {
  if (b.accept("mbarrier_init")) {
    if (!b.acceptOrdering()) // .release.cluster
      return false;
    b.inst.space = Space::Shared;
  } else {
    b.accept("proxy");
    int kind = b.acceptOneOf({"async", "alias", "async::generic", "tensormap::generic"});
    if (kind < 0)
      return b.fail("unknown proxy '." + b.peek() + "'");
    b.inst.space = b.acceptSpace();
    if (!b.acceptOrdering())
      return false;
    b.accept("sync_restrict::shared::cta");
  }
  b.inst.execute = proxyFence;
  b.inst.instClass = InstClass::Fence;
  b.inst.poison = PoisonRule::Defined;
  return b.expectOperands(0, 2) && emitInst(b);
}

} // namespace vgpu
