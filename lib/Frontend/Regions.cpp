//===- Regions.cpp - the open regions of a trace ---------------------------------------------===//

#include "tilewright/Frontend/Regions.h"
#include "tilewright/Tile/Tile.h"

using namespace mlir;

namespace tilewright::frontend {

void Regions::open(StringRef kind, Operation *op, Block *body) {
  OpBuilder::InsertPoint after = builder.saveInsertionPoint();
  regions.push_back({kind, op, after, std::nullopt});
  if (body->mightHaveTerminator())
    builder.setInsertionPoint(body->getTerminator());
  else
    builder.setInsertionPointToEnd(body);
}

OpenRegion Regions::close() {
  OpenRegion region = regions.back();
  regions.pop_back();
  builder.restoreInsertionPoint(region.after);
  return region;
}

void Regions::end() {
  if (regions.empty())
    emitter.fail("a region is closed that was not opened");
  emitter.verifyOrThrow(close().op, /*recursively=*/false);
}

StringRef Regions::getKind() const {
  return regions.empty() ? StringRef("function") : regions.back().kind;
}

Operation *Regions::findKernel() const {
  for (const OpenRegion &region : regions)
    if (isa<tile::KernelOp>(region.op))
      return region.op;
  return nullptr;
}

void Regions::requireKernel(StringRef what) const {
  if (!findKernel())
    emitter.fail(what + " stands inside 'with T.Kernel(...)'");
}

} // namespace tilewright::frontend
