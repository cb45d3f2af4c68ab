//===- Matrices.cpp - how a warp reads the operands of its products --------------------------===//

#include "tilewright/Access/Matrices.h"
#include "tilewright/Layout/Enumerate.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::access {

/// The elements of a row of an 8 x 8 matrix.
static constexpr int64_t kRow = 8;

MatrixLoads getMatrixLoads(GemmOp gemm, GemmOperand operand, ArrayRef<int64_t> warps) {
  auto [m, n, k] = gemm.getExtents();
  IndexExpr thread = IndexExpr::dim(0), warp = floorDiv(thread, kWarpSize),
            lane = thread % kWarpSize;
  IndexExpr inMatrix = lane % kRow, matrix = floorDiv(lane, kRow);
  MatrixLoads result;
  result.depthSteps = k / 16;
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
      IndexExpr outer = base + start, depth = IndexExpr(16 * step) + depthMatrix * kRow;
      if (!isHalf)
        outer = outer + outerMatrix * kRow;
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
  std::optional<Memory> memory = getMemory(root, context.kernel, context.assumptions);
  auto type = cast<MemRefType>(buffer.getType());
  if (!warps || !memory || memory->isGlobal || memory->elementBytes != 2 ||
      type.getElementType() != cast<MemRefType>(root.getType()).getElementType() ||
      !type.hasStaticShape())
    return std::nullopt;
  std::optional<AccessCoordinates> coordinates = getMatrixCoordinates(gemm, buffer);
  if (!coordinates)
    return std::nullopt;
  ArrayRef<int64_t> shape = type.getShape().take_back(2);
  MatrixLoads loads = getMatrixLoads(gemm, operand, warps.asArrayRef());
  int64_t threads = context.threads;
  analysis::LoopDistribution rows;
  rows.extents = {shape[0], shape[1]};
  rows.table.threads = threads;
  rows.table.slots = loads.loads.size() * kRow;
  rows.table.element.resize(threads * rows.table.slots);
  rows.table.replica.resize(threads * rows.table.slots);
  for (auto [index, load] : llvm::enumerate(loads.loads)) {
    std::optional<ValueColumns> places = enumerateValues({load.row, load.column}, threads);
    if (!places)
      return std::nullopt;
    for (int64_t thread = 0; thread < threads; ++thread)
      for (int64_t e = 0; e < kRow; ++e)
        rows.table.element[thread * rows.table.slots + index * kRow + e] =
            (*places)[0][thread] * shape[1] + (*places)[1][thread] + e;
  }
  Request request;
  request.loop = &rows;
  request.memory = std::move(*memory);
  request.name = getName(root).str();
  request.coordinates = std::move(coordinates->coordinates);
  request.symbols = std::move(coordinates->symbols);
  request.isRead = true;
  request.maxWidth = kRow;
  Plan plan = planAccess(request);
  if (plan.getNumGroups() != int64_t(loads.loads.size())) // two loads of the same rows
    plan.width = 1;
  return plan;
}

} // namespace tilewright::access
