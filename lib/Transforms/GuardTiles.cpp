//===- GuardTiles.cpp - accesses that may leave their tile are tested -------------------------===//
//
// An element outside an on-chip tile is an error, and GPU code would read or write what lies next
// to the tile. Where the indices prove that an access stays inside, as in nearly all programs,
// nothing is done. Elsewhere, an assertion tests each dimension without a proof.
//
//   %k = tile.cast %v from i32 to index        %k = tile.cast %v from i32 to index
//   %x = tile.load %s[%i, %k]           ──▶    tile.assert %k < 16 (unsigned), "an index of 's' …"
//                                              %x = tile.load %s[%i, %k]
//
// Expects: no thread index.   Leaves: the same, and assertions.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/TileBounds.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {
#define GEN_PASS_DEF_GUARDTILES
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using analysis::TileAccess;
using analysis::TouchedDim;

namespace {

class DimTest {
public:
  DimTest(ImplicitLocOpBuilder &b, const TouchedDim &dim, int64_t extent)
      : b(b), dim(dim), extent(index(extent)) {}

  /// Whether first and last coordinate are inside, or there are none.
  Value build() {
    Value first = value(dim.first);
    Value holds = isInside(first);
    if (getConstantIntValue(dim.count) == 1)
      return holds;
    Value count = value(dim.count);
    Value last = sub(add(first, count), index(1));
    holds = arith::AndIOp::create(b, holds, isInside(last));
    Value isEmpty = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, count, index(0));
    return arith::OrIOp::create(b, isEmpty, holds);
  }

private:
  Value index(int64_t constant) { return arith::ConstantIndexOp::create(b, constant); }
  Value value(OpFoldResult result) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), result);
  }
  Value add(Value lhs, Value rhs) { return b.createOrFold<arith::AddIOp>(lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return b.createOrFold<arith::SubIOp>(lhs, rhs); }

  Value isInside(Value coordinate) {
    for (const TouchedDim::Slice &slice : dim.slices)
      coordinate =
          add(value(slice.offset), b.createOrFold<arith::MulIOp>(value(slice.step), coordinate));
    // Unsigned, so that negative ones are large.
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, coordinate, extent);
  }

  ImplicitLocOpBuilder &b;
  const TouchedDim &dim;
  Value extent;
};

void guard(const TileAccess &access) {
  ImplicitLocOpBuilder b(access.op->getLoc(), access.op);
  for (auto [number, dim] : llvm::enumerate(access.dims)) {
    if (analysis::staysInside(access, number))
      continue;
    int64_t extent = access.getExtent(number);
    AssertOp::create(b, DimTest(b, dim, extent).build(),
                     ("an index of '" + getName(access.surface) +
                      "' is out of bounds for dimension " + Twine(number) + ", which has " +
                      Twine(extent) + (extent == 1 ? " element" : " elements"))
                         .str());
  }
}

struct GuardTilesPass : tilewright::impl::GuardTilesBase<GuardTilesPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      for (const TileAccess &access : analysis::getTileAccesses(op))
        guard(access);
  }
};

} // namespace
