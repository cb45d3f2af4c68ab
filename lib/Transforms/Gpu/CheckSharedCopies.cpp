//===- CheckSharedCopies.cpp - blocks of a cluster copy for each other -----------------------===//

#include "CheckSharedCopies.h"

#include "tilewright/Access/Bulk.h"
#include "tilewright/Analysis/BlockDependence.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Tile/Schedule.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::schedule {

static ArrayRef<int64_t> getSharedDims(Operation *op) {
  auto dims = op->getAttrOfType<DenseI64ArrayAttr>(kMulticastAttr);
  return dims ? dims.asArrayRef() : ArrayRef<int64_t>();
}

/// Blocks that one copy reaches need the same.
static LogicalResult checkSharedCopy(KernelOp kernel, ParallelOp copy) {
  ArrayRef<int64_t> dims = getSharedDims(copy);
  auto mask = copy->getAttrOfType<IntegerAttr>(kClusterMaskAttr);
  auto cluster = kernel->getAttrOfType<DenseI64ArrayAttr>(kClusterAttr);
  if (dims.empty())
    return success();
  bool isSame = cluster && mask &&
                analysis::isSameInBlocks(kernel, copy, cluster.asArrayRef(), mask.getInt());
  if (!mask) {
    analysis::BlockDims own = analysis::findBlockDims(kernel, copy);
    isSame = cluster && llvm::none_of(dims, [&](int64_t dim) { return own.test(dim); });
  }
  return isSame ? success()
                : fail(copy, "a block copies for another one that needs something else");
}

FailureOr<int64_t> countSharingBlocks(KernelOp kernel, const ChannelUse &use) {
  AsyncGroupOp fill = use.fill;
  ArrayRef<int64_t> dims = getSharedDims(use.acquire);
  for (Operation *release : use.releaseOps)
    if (getSharedDims(release) != dims)
      return fail(release, "other blocks release a version than those that wait");
  auto cluster = kernel->getAttrOfType<DenseI64ArrayAttr>(kClusterAttr);
  bool isNumbered = kernel.getBody().front().getOps<UseSwizzleOp>().empty();
  int64_t blocks = 1;
  for (int64_t dim : dims) {
    if (!cluster || !isNumbered || dim < 0 || dim >= cluster.size())
      return fail(use.acquire, "there is no cluster whose blocks arrive");
    blocks *= cluster[dim];
  }
  analysis::BlockDims around;
  for (Operation *op = fill; op != kernel; op = op->getParentOp())
    around |= analysis::findOperandBlockDims(kernel, op);
  for (int64_t dim : dims)
    if (around.test(dim))
      return fail(fill, "blocks copy for each other, but not in the same iterations");
  for (ParallelOp copy : fill.getBody().getOps<ParallelOp>()) {
    for (int64_t dim : getSharedDims(copy))
      if (!llvm::is_contained(dims, dim))
        return fail(copy, "a block copies for another one that it does not wait for");
    if (failed(checkSharedCopy(kernel, copy)))
      return failure();
  }
  return blocks;
}

LogicalResult checkSharedOnce(KernelOp kernel) {
  LogicalResult result = success();
  kernel.walk([&](AsyncGroupOp fill) {
    if (!fill.getFull() || fill->getParentOfType<RoleOp>())
      return; // a channel's
    for (ParallelOp copy : fill.getBody().getOps<ParallelOp>()) {
      if (getSharedDims(copy).empty())
        continue;
      Value tile = getRoot(access::CopyLoop::get(copy)->getTileAccess().buffer);
      bool isFirst = analysis::isFirstUse(fill, tile) &&
                     kernel.getBody().front().getOps<UseSwizzleOp>().empty();
      analysis::BlockDims around = analysis::findOperandBlockDims(kernel, fill);
      bool isAlways =
          llvm::none_of(getSharedDims(copy), [&](int64_t dim) { return around.test(dim); });
      if (!isFirst)
        result = fail(copy, "another block may overwrite what this one still uses");
      else if (!isAlways)
        result = fail(copy, "blocks copy for each other, but not in the same iterations");
      else if (failed(checkSharedCopy(kernel, copy)))
        result = failure();
    }
  });
  return result;
}

} // namespace tilewright::schedule
