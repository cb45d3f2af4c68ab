//===- Matrices.cpp - how a warp reads the operands of its products --------------------------===//

#include "tilewright/Access/Matrices.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Tile/Statements.h"
#include "tilewright/Tile/Teams.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::access {

/// The rows of a matrix, and the bytes of one.
static constexpr int64_t kRows = 8, kRowBytes = 16;

std::optional<MmaShape> getMmaShape(GemmOp gemm, const Arch &arch) {
  Type a = gemm.getA().getType().getElementType(), b = gemm.getB().getType().getElementType(),
       c = gemm.getC().getType().getElementType();
  if (a == b && a.isF16() && (c.isF32() || c.isF16()))
    return MmaShape{16, 8, 16, 16};
  if (a == b && a.isBF16() && c.isF32())
    return MmaShape{16, 8, 16, 16};
  if (a == b && isa<FloatTF32Type>(a) && c.isF32())
    return MmaShape{16, 8, 8, 32};
  if (a.isInteger(8) && b.isInteger(8) && c.isInteger(32))
    return MmaShape{16, 8, 32, 8};
  if (isa<Float8E4M3FNType, Float8E5M2Type>(a) && isa<Float8E4M3FNType, Float8E5M2Type>(b) &&
      c.isF32() && arch.hasFp8)
    return MmaShape{16, 8, 32, 8};
  if (a == b && a.isF64() && c.isF64())
    return MmaShape{8, 8, 4, 64};
  return std::nullopt;
}

MatrixLoads getMatrixLoads(GemmOp gemm, GemmOperand operand, const MmaShape &shape,
                           ArrayRef<int64_t> warps) {
  auto [m, n, k] = gemm.getExtents();
  IndexExpr thread = IndexExpr::dim(0), warp = floorDiv(thread, kWarpSize),
            lane = thread % kWarpSize;
  IndexExpr inMatrix = lane % kRows, matrix = floorDiv(lane, kRows);
  int64_t rowElements = 8 * kRowBytes / shape.operandBits;
  MatrixLoads result;
  result.depthSteps = k / shape.k;
  bool isA = operand == GemmOperand::A;
  // `outer` runs along M or N, `depth` along K.
  bool depthIsContiguous = isA ? !gemm.getTransposeA() : gemm.getTransposeB();
  result.isTransposed = !depthIsContiguous;
  int64_t extent = isA ? m / warps[0] : n / warps[1];
  IndexExpr base = (isA ? warp % warps[0] : floorDiv(warp, warps[0])) * extent;
  // Matrices 0 and 1 of A lie along M, of B along K; 2 and 3 are the other way.
  IndexExpr outerMatrix = isA ? matrix % 2 : floorDiv(matrix, 2);
  IndexExpr depthMatrix = isA ? floorDiv(matrix, 2) : matrix % 2;
  for (int64_t start = 0; start < extent; start += 16) {
    bool isHalf = start + 16 > extent; // the last of an odd number of tiles of n
    for (int64_t step = 0; step < result.depthSteps; ++step) {
      IndexExpr outer = base + start, depth = IndexExpr(shape.k * step) + depthMatrix * rowElements;
      if (!isHalf)
        outer = outer + outerMatrix * kRows;
      (depthIsContiguous ? outer : depth) = (depthIsContiguous ? outer : depth) + inMatrix;
      MatrixLoad load;
      bool outerFirst = isA ? !gemm.getTransposeA() : gemm.getTransposeB();
      load.row = outerFirst ? outer : depth;
      load.column = outerFirst ? depth : outer;
      load.count = isHalf ? 2 : 4;
      result.loads.push_back(load);
    }
  }
  return result;
}

std::optional<Plan> planMatrixLoads(GemmOp gemm, GemmOperand operand, const Context &context) {
  auto warps = gemm->getAttrOfType<DenseI64ArrayAttr>(kWarpsAttr);
  Value buffer = operand == GemmOperand::A ? Value(gemm.getA()) : Value(gemm.getB());
  Value root = getRoot(buffer);
  std::optional<Memory> memory = getMemory(root, context);
  std::optional<MmaShape> instruction = getMmaShape(gemm, context.arch);
  auto type = cast<MemRefType>(buffer.getType());
  if (!warps || !memory || memory->isGlobal || !instruction || instruction->m != 16 ||
      changesElement(buffer) || !type.hasStaticShape())
    return std::nullopt;
  MatrixLoads loads = getMatrixLoads(gemm, operand, *instruction, warps.asArrayRef());
  if (loads.isTransposed && instruction->operandBits != 16)
    return std::nullopt; // only 16-bit elements are transposed
  std::optional<AccessCoordinates> coordinates = getMatrixCoordinates(gemm, buffer);
  if (!coordinates)
    return std::nullopt;
  int64_t rowElements = kRowBytes / memory->elementBytes;
  ArrayRef<int64_t> shape = type.getShape().take_back(2);
  int64_t threads = getNumThreads(gemm);
  analysis::LoopDistribution rows;
  rows.extents = {shape[0], shape[1]};
  rows.table.threads = threads;
  rows.table.slots = loads.loads.size() * rowElements;
  rows.table.element.resize(threads * rows.table.slots);
  rows.table.replica.resize(threads * rows.table.slots);
  for (auto [index, load] : llvm::enumerate(loads.loads)) {
    std::optional<ValueColumns> values = enumerateValues({load.row, load.column}, threads);
    if (!values)
      return std::nullopt;
    for (int64_t thread = 0; thread < threads; ++thread)
      for (int64_t e = 0; e < rowElements; ++e)
        rows.table.element[thread * rows.table.slots + index * rowElements + e] =
            (*values)[0][thread] * shape[1] + (*values)[1][thread] + e;
  }
  Request request;
  request.loop = &rows;
  request.memory = std::move(*memory);
  request.name = getName(root).str();
  request.coordinates = std::move(coordinates->coordinates);
  request.symbols = std::move(coordinates->symbols);
  request.isRead = true;
  request.maxWidth = rowElements;
  Plan plan = planAccess(request);
  if (plan.getNumGroups() != int64_t(loads.loads.size())) // two loads of the same rows
    plan.width = 1;
  return plan;
}

} // namespace tilewright::access
