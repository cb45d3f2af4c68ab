//===- Gemm.cpp - matrix products, and their plain form --------------------------------------===//

#include "Lowerings.h"
#include "tilewright/Layout/Algebra.h"
#include "tilewright/Tile/InternalError.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

Value loadMatrix(Thread &t, Value buffer, Value row, Value column, bool transposed) {
  SmallVector<Value> coordinates{row, column};
  if (transposed)
    std::swap(coordinates[0], coordinates[1]);
  auto type = cast<MemRefType>(buffer.getType());
  while (int64_t(coordinates.size()) < type.getRank())
    coordinates.insert(coordinates.begin(), t.index(0));
  return loadElement(t, buffer, coordinates);
}

/// Each thread forms the sums of the elements of C that it holds, or takes in turn where C lies in
/// memory. Narrow floats are summed in float32 and rounded once.
static LogicalResult lowerPlainGemm(Thread &t, GemmOp op) {
  ImplicitLocOpBuilder &b = t.b;
  auto [m, n, k] = op.getExtents();
  Type element = op.getA().getType().getElementType(),
       elementB = op.getB().getType().getElementType(),
       result = op.getC().getType().getElementType();
  bool isWide = element.isF64() || result.isF64();
  Type sumType = !isa<FloatType>(result) ? result
                 : isWide                ? Type(b.getF64Type())
                                         : Type(b.getF32Type());
  const Storage &c = t.storageOf(getRoot(op.getC()));
  for (Value operand : {Value(op.getA()), Value(op.getB())})
    if (t.storageOf(getRoot(operand)).kind != Storage::Kind::Memory)
      return emitInternalError(op) << "an operand of a plain gemm lives in registers";
  Value clear = op.getClear() ? t.mapped(op.getClear()) : Value();
  auto accumulate = [&](Value row, Value column, Value old) -> Value {
    Value start = convertScalar(t, old, result, sumType, Rounding::NearestEven, false);
    if (clear) {
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(getScalarType(sumType)));
      start = b.createOrFold<arith::SelectOp>(clear, zero, start);
    }
    auto loop = scf::ForOp::create(b, t.index(0), t.index(k), t.index(1), start);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value depth = loop.getInductionVar(), sum = loop.getRegionIterArg(0);
      Value x = convertScalar(t, loadMatrix(t, op.getA(), row, depth, op.getTransposeA()), element,
                              sumType, Rounding::NearestEven, false);
      Value y = convertScalar(t, loadMatrix(t, op.getB(), depth, column, op.getTransposeB()),
                              elementB, sumType, Rounding::NearestEven, false);
      Value next = isa<FloatType>(sumType)
                       ? math::FmaOp::create(b, x, y, sum).getResult()
                       : arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y)).getResult();
      scf::YieldOp::create(b, next);
    }
    return convertScalar(t, loop.getResult(0), sumType, result, Rounding::NearestEven, false);
  };
  if (c.kind == Storage::Kind::Registers) {
    auto placement =
        getRoot(op.getC()).getDefiningOp<AllocOp>()->getAttrOfType<FragmentAttr>(kPlacementAttr);
    llvm::Expected<Layout> inverse = invert(placement.getFragment());
    if (!inverse)
      return emitInternalError(op) << llvm::toString(inverse.takeError());
    for (int64_t slot = 0; slot < c.owners.slots; ++slot) {
      SmallVector<Value> owner{t.threadId, t.index(slot)}, coordinates;
      for (const IndexExpr &output : inverse->getOutputs())
        coordinates.push_back(t.evaluate(output, owner));
      coordinates.pop_back(); // every copy computes its own
      // Slots without an element compute a value that nothing reads, from clamped coordinates.
      Value row = arith::MinUIOp::create(b, coordinates[coordinates.size() - 2], t.index(m - 1));
      Value column = arith::MinUIOp::create(b, coordinates.back(), t.index(n - 1));
      t.storeRegister(c, slot, accumulate(row, column, t.loadRegister(c, slot)));
    }
    return success();
  }
  auto loop = scf::ForOp::create(b, t.threadId, t.index(m * n), t.index(t.getNumThreads()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  IndexExpr number = IndexExpr::dim(0);
  Value row = t.evaluate(floorDiv(number, n), loop.getInductionVar());
  Value column = t.evaluate(number % n, loop.getInductionVar());
  Value old = loadMatrix(t, op.getC(), row, column, false);
  Value sum = accumulate(row, column, old);
  SmallVector<Value> coordinates{row, column};
  while (int64_t(coordinates.size()) < op.getC().getType().getRank())
    coordinates.insert(coordinates.begin(), t.index(0));
  storeElement(t, op.getC(), coordinates, sum);
  return success();
}

LogicalResult lowerGemm(Thread &t, GemmOp op) {
  if (failed(checkViews(t, op)))
    return failure();
  if (auto warps = op->getAttrOfType<DenseI64ArrayAttr>(kWarpsAttr))
    return lowerMma(t, op, warps.asArrayRef());
  if (op->hasAttr(kGroupsAttr))
    return lowerProduct(t, op);
  return lowerPlainGemm(t, op);
}

} // namespace tilewright::nvptx
