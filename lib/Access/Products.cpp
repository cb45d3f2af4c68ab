//===- Products.cpp - how warpgroups read the operands of their products ----------------------===//

#include "tilewright/Access/Products.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Tile/Statements.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::access {

/// The most columns of one instruction.
static constexpr int64_t kMaxColumns = 256;

/// Partial sums of 8-bit floats cover so much of K.
static constexpr int64_t kPromotedDepth = 128;

bool ProductShape::allowsColumns(int64_t n) const {
  if (n < 8 || n > kMaxColumns || n % 8)
    return false;
  return !isInteger || n == 8 || n == 24 || n % 16 == 0; // PTX ISA, "wgmma.mma_async", .s8
}

std::optional<int64_t> ProductShape::getColumns(int64_t columns, int64_t step, int64_t most) const {
  for (int64_t n = std::min({columns, most, kMaxColumns}); n >= 8; --n)
    if (columns % n == 0 && (n == columns || n % step == 0) && allowsColumns(n))
      return n;
  return std::nullopt;
}

std::optional<ProductShape> getProductShape(GemmOp gemm, const Arch &arch) {
  Type a = gemm.getA().getType().getElementType(), b = gemm.getB().getType().getElementType(),
       c = gemm.getC().getType().getElementType();
  if (!arch.hasWgmma)
    return std::nullopt;
  if (a == b && ((a.isF16() && (c.isF32() || c.isF16())) || (a.isBF16() && c.isF32())))
    return ProductShape{16, 16, false, 0};
  if (a == b && isa<FloatTF32Type>(a) && c.isF32())
    return ProductShape{8, 32, false, 0};
  if (a.isInteger(8) && b.isInteger(8) && c.isInteger(32))
    return ProductShape{32, 8, true, 0};
  auto isFp8 = [](Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); };
  if (isFp8(a) && isFp8(b) && c.isF32()) {
    auto function = gemm->getParentOfType<FunctionOpInterface>();
    bool isFast = function && function->hasAttr("tile.fast_math");
    return ProductShape{32, 8, false, isFast ? 0 : kPromotedDepth / 32};
  }
  return std::nullopt;
}

ProductRoles ProductRoles::get(GemmOp gemm, bool isSwapped) {
  auto [m, n, k] = gemm.getExtents();
  if (isSwapped)
    return {true, GemmOperand::B, GemmOperand::A, n, m, k};
  return {false, GemmOperand::A, GemmOperand::B, m, n, k};
}

ProductRoles ProductRoles::get(GemmOp gemm) { return get(gemm, gemm->hasAttr(kSwappedAttr)); }

Value getOperand(GemmOp gemm, GemmOperand operand) {
  return operand == GemmOperand::A ? gemm.getA() : gemm.getB();
}

OperandAttr getOperandPlan(GemmOp gemm, GemmOperand operand) {
  return gemm->getAttrOfType<OperandAttr>(operand == GemmOperand::A ? kOperandAAttr
                                                                    : kOperandBAttr);
}

ProductDivision ProductDivision::get(GemmOp gemm, const ProductShape &shape) {
  ProductRoles roles = ProductRoles::get(gemm);
  auto groups = gemm->getAttrOfType<DenseI64ArrayAttr>(kGroupsAttr);
  int64_t groupColumns = roles.n / groups[1];
  ProductOperand right = readOperand(getOperandPlan(gemm, roles.right), shape);
  int64_t products = roles.m / groups[0] / kProductRows;
  std::optional<int64_t> columns = shape.getColumns(groupColumns, right.getStep());
  // Partial sums need registers beside the sums.
  while (shape.promotedSteps && products * groupColumns / 2 + *columns / 2 > kMaxProductSlots) {
    std::optional<int64_t> fewer = shape.getColumns(groupColumns, right.getStep(), *columns - 1);
    if (!fewer)
      break;
    columns = fewer;
  }
  return {products, groupColumns, *columns, roles.k / shape.k};
}

OperandAttr makeAttr(MLIRContext *context, const ProductOperand &operand) {
  return OperandAttr::get(context, static_cast<int64_t>(operand.swizzle), operand.isKMajor,
                          operand.leadingBytes, operand.strideBytes, operand.panelBytes);
}

ProductOperand readOperand(OperandAttr attr, const ProductShape &shape) {
  return {static_cast<BankSwizzle>(attr.getSwizzle()),
          attr.getKMajor(),
          shape.operandBits / 8,
          attr.getLeading(),
          attr.getStride(),
          attr.getPanel()};
}

/// Whether moving along the dims in `lead` moves all other elements alike, by a multiple of
/// `alignment` elements: then the start of a view may be a run-time index of them.
static bool isRepeatedOver(const Layout &offset, const llvm::SmallBitVector &lead,
                           int64_t alignment) {
  SmallVector<IndexExpr> alone, rest;
  for (unsigned dim = 0; dim < offset.getRank(); ++dim) {
    alone.push_back(lead[dim] ? IndexExpr::dim(dim) : IndexExpr(0));
    rest.push_back(lead[dim] ? IndexExpr(0) : IndexExpr::dim(dim));
  }
  IndexExpr whole = offset.getOutputs()[0], start = whole.substitute(alone);
  ArrayRef<int64_t> shape = offset.getShape();
  return isEqual(offset, Layout::get(shape, {start + whole.substitute(rest)})).isYes() &&
         isEqual(Layout::get(shape, {start % alignment}), Layout::get(shape, {IndexExpr(0)}))
             .isYes();
}

llvm::Expected<ProductOperand> planProductOperand(GemmOp gemm, GemmOperand operand,
                                                  const Layout &layout) {
  bool isA = operand == GemmOperand::A;
  Value buffer = isA ? Value(gemm.getA()) : Value(gemm.getB());
  auto type = cast<MemRefType>(buffer.getType());
  if (changesElement(buffer) || !type.hasStaticShape())
    return llvm::createStringError("it is a view of another element type or run-time extents");
  std::optional<AccessCoordinates> found = getMatrixCoordinates(gemm, buffer);
  std::optional<IndexExpr> rootOffset = layout.getOffset();
  if (!found || !rootOffset)
    return llvm::createStringError("where it lies is not known");
  // Run-time coordinates may only choose among equal parts of the tile.
  llvm::SmallBitVector lead(layout.getRank());
  SmallVector<IndexExpr> coordinates;
  for (auto [dim, coordinate] : llvm::enumerate(found->coordinates)) {
    lead[dim] = coordinate.getNumSymbols() > 0;
    if (lead[dim] && coordinate.getNumDims() > 0)
      return llvm::createStringError("it starts inside the tile at a run-time row or column");
    coordinates.push_back(lead[dim] ? IndexExpr(0) : coordinate);
  }
  auto [m, n, k] = gemm.getExtents();
  // The operand's rows (as stored) are those of M or N, or of K where it is stored the other way.
  bool isMnFirst = isA ? !gemm.getTransposeA() : gemm.getTransposeB();
  IndexExpr mn = IndexExpr::dim(0), depth = IndexExpr::dim(1);
  IndexExpr offset = rootOffset->substitute(coordinates)
                         .substitute({isMnFirst ? mn : depth, isMnFirst ? depth : mn});
  std::optional<int64_t> start = offset.evaluate({0, 0});
  if (!start)
    return llvm::createStringError("where it lies is not known");
  int64_t bits = getStorageBits(type.getElementType());
  llvm::Expected<ProductOperand> plan =
      matchProductOperand(Layout::get({isA ? m : n, k}, {offset - *start}), bits);
  if (!plan)
    return plan;
  int64_t alignment = plan->getAlignment() * 8 / bits; // in elements
  if (*start % alignment)
    return llvm::createStringError("it starts inside the tile, at element " + Twine(*start));
  if (lead.any() && !isRepeatedOver(Layout::get(layout.getShape(), {*rootOffset}), lead, alignment))
    return llvm::createStringError("the parts of the tile do not start on multiples of " +
                                   Twine(plan->getAlignment()) + " bytes");
  return plan;
}

} // namespace tilewright::access
