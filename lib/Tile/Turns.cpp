//===- Turns.cpp - the op of warpgroups that take turns -----------------------------------------===//

#include "tilewright/Tile/Turns.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

#include "tilewright/Tile/TurnEnums.cpp.inc"
#define GET_OP_CLASSES
#include "tilewright/Tile/TurnOps.cpp.inc"

/// It orders no memory and touches none.
void TurnOp::getTileEffects(SmallVectorImpl<Effect> &) {}

/// A block has 16 barriers by number.
static constexpr int64_t kNumberedBarriers = 16, kWarpgroup = 128;

LogicalResult TurnOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  int64_t groups = getGroups(), number = getNumber();
  if (!kernel || groups < 2 || kernel.getNumThreads() != groups * kWarpgroup)
    return emitOpError() << "of " << groups
                         << " warpgroups: expected those of a kernel, two at least";
  if (number < 1 || number + groups > int64_t(kNumberedBarriers))
    return emitOpError() << "needs " << groups << " barriers from " << number << " on; there are "
                         << kNumberedBarriers;
  return success();
}
