//===- WriteWatch.cpp - who wrote some bytes last -------------------------------------------===//
#include "vgpu/Checks/WriteWatch.h"
#include "vgpu/Machine/Report.h"

namespace vgpu {

void WriteWatch::onAccess(const MemoryAccess &access) {
  bool isRead = access.kind == AccessKind::Read || access.kind == AccessKind::AsyncRead;
  if (access.space != ptx::Space::Global || isRead)
    return;
  forEachLane(access.mask, [&](unsigned lane) {
    uint64_t address = access.address[lane];
    if (address < end && begin < address + access.bytes)
      last = siteOf(access.warp, access.inst, lane);
  });
}

} // namespace vgpu
