//===- MatrixRows.cpp - which rows a thread names in ldmatrix and stmatrix -------------------===//
//
// Read off the PTX ISA ("Warp-level matrix load instruction: ldmatrix", "Matrix Fragments for
// mma.m16n8k…"), not off the planner. ldmatrix moves matrices of eight rows of 16 bytes. Lane
// 8 q + i names row i of matrix q, and register q of lane 4 g + t receives the t-th quarter of row
// g of matrix q; with .trans, the elements 2 t and 2 t + 1 of column g.
//
// mma wants, in register r of lane 4 g + t, with h the elements of 16 bytes along K:
//
//   A of 16 rows        row g + 8 (r % 2),  the t-th quarter of columns h (r / 2) to h (r / 2) + h
//   B of two n8 tiles   column g + 8 (r / 2), the t-th quarter of rows h (r % 2) to h (r % 2) + h
//
// So matrix q starts at the row or column 8 (q % 2) of A, 8 (q / 2) of B, and at h times the other
// of these two along K. Its rows in memory lie along K; with .trans they are the values of K, and
// memory runs along M or N.
//
// stmatrix is the reverse: register q of lane 4 g + t goes to the t-th quarter of row g of matrix q,
// whose address lane 8 q + g names. A store does this with its slots in order: two elements of 16 bits in
// each of four registers.
//
//===----------------------------------------------------------------------------------------===//

#include "Subject.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using namespace tilewright::plancheck;

static constexpr int64_t kLanes = 32, kRowBytes = 16;

llvm::Expected<IterationOwners> plancheck::getMatrixOwners(GemmOp gemm, bool isA,
                                                           int64_t numThreads) {
  auto grid = gemm->getAttrOfType<DenseI64ArrayAttr>(kWarpsAttr);
  auto type = isA ? gemm.getA().getType() : gemm.getB().getType();
  if (!grid || grid.size() != 2 || grid[0] * grid[1] * kLanes != numThreads)
    return llvm::createStringError("the gemm has no grid of all warps");
  if (!type.hasStaticShape())
    return llvm::createStringError("the operand has run-time extents");
  int64_t elementBytes = getStorageBytes(type.getElementType());
  int64_t rowElements = kRowBytes / elementBytes, stepDepth = 2 * rowElements;
  bool isDepthContiguous = isA ? !gemm.getTransposeA() : gemm.getTransposeB();
  if (!isDepthContiguous && elementBytes != 2)
    return llvm::createStringError("only 16-bit elements are transposed by ldmatrix");
  auto [m, n, depth] = gemm.getExtents();
  int64_t outerOfWarp = isA ? m / grid[0] : n / grid[1];
  int64_t steps = depth / stepDepth, tiles = (outerOfWarp + 15) / 16;

  IterationOwners owners;
  ArrayRef<int64_t> shape = type.getShape().take_back(2);
  owners.extents.assign(shape.begin(), shape.end());
  owners.numIterations = shape[0] * shape[1];
  owners.numThreads = numThreads;
  owners.numSlots = tiles * steps * rowElements;
  owners.iterations.assign(numThreads * owners.numSlots, -1);
  owners.owned.assign(numThreads * owners.numSlots, true);
  for (int64_t thread = 0; thread < numThreads; ++thread) {
    int64_t warp = thread / kLanes, matrix = thread % kLanes / 8, line = thread % 8;
    int64_t warpStart = (isA ? warp % grid[0] : warp / grid[0]) * outerOfWarp;
    int64_t outerHalf = isA ? matrix % 2 : matrix / 2, depthHalf = isA ? matrix / 2 : matrix % 2;
    for (int64_t tile = 0; tile < tiles; ++tile)
      for (int64_t step = 0; step < steps; ++step) {
        int64_t outer = 16 * tile + 8 * outerHalf;
        if (outer >= outerOfWarp)
          continue; // the second half of an odd tile: the instruction has two matrices
        int64_t along = step * stepDepth + rowElements * depthHalf; // K
        (isDepthContiguous ? outer : along) += line;
        for (int64_t e = 0; e < rowElements; ++e) {
          int64_t o = warpStart + outer + (isDepthContiguous ? 0 : e);
          int64_t k = along + (isDepthContiguous ? e : 0);
          int64_t row = isDepthContiguous ? o : k, column = isDepthContiguous ? k : o;
          owners.iterations[thread * owners.numSlots + (tile * steps + step) * rowElements + e] =
              row * shape[1] + column;
        }
      }
  }
  return owners;
}

llvm::Expected<IterationOwners> plancheck::getStoredRows(const IterationOwners &owners,
                                                         int64_t elementBytes) {
  int64_t rowElements = kRowBytes / elementBytes, perRegister = 4 / elementBytes,
          perInstruction = 4 * perRegister;
  if (elementBytes != 2)
    return llvm::createStringError("stmatrix writes elements of 16 bits");
  if (owners.numSlots % perInstruction || owners.numThreads % kLanes)
    return llvm::createStringError("slots or threads are left over");
  IterationOwners rows = owners;
  for (int64_t thread = 0; thread < owners.numThreads; ++thread)
    for (int64_t slot = 0; slot < owners.numSlots; ++slot) {
      if (!owners.ownsAt(thread, slot))
        return llvm::createStringError("slot " + Twine(slot) + " of thread " + Twine(thread) +
                                       " has no element of its own");
      // This thread brings an element of row `line` of matrix `matrix`; which thread names it?
      int64_t instruction = slot / perInstruction, matrix = slot % perInstruction / perRegister;
      int64_t lane = thread % kLanes, line = lane / 4;
      int64_t inRow = lane % 4 * perRegister + slot % perRegister;
      int64_t naming = thread - lane + 8 * matrix + line;
      rows.iterations[naming * owners.numSlots + instruction * rowElements + inRow] =
          owners.iterationAt(thread, slot);
    }
  return rows;
}
