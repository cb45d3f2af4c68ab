//===- MmaFragments.cpp - what mma and ldmatrix expect in which register --------------------===//

#include "tilewright/Layout/MmaFragments.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace tilewright;
using llvm::Expected;
using llvm::Twine;

static const int64_t kLanes = 32;

/// Elements in a register.
static int64_t packed(const MmaShape &shape) {
  return std::max<int64_t>(1, 32 / shape.operandBits);
}

bool MmaShape::isValid() const {
  bool bits = operandBits == 4 || operandBits == 8 || operandBits == 16 || operandBits == 32 ||
              operandBits == 64;
  return bits && (m == 8 || m == 16) && n == 8 && k > 0 && k % (4 * packed(*this)) == 0;
}

Fragment tilewright::mmaOperandA(const MmaShape &shape) {
  assert(shape.isValid() && "no such instruction");
  IndexExpr row = IndexExpr::dim(0), column = IndexExpr::dim(1);
  int64_t v = packed(shape), halves = shape.m / 8;
  return Fragment::get({shape.m, shape.k}, 4 * (row % 8) + floorDiv(column, v) % 4,
                       halves * v * floorDiv(column, 4 * v) + v * floorDiv(row, 8) + column % v);
}

Fragment tilewright::mmaOperandB(const MmaShape &shape) {
  assert(shape.isValid() && "no such instruction");
  IndexExpr row = IndexExpr::dim(0), column = IndexExpr::dim(1);
  int64_t v = packed(shape);
  return Fragment::get({shape.k, shape.n}, 4 * column + floorDiv(row, v) % 4,
                       v * floorDiv(row, 4 * v) + row % v);
}

Fragment tilewright::mmaAccumulator(const MmaShape &shape) {
  assert(shape.isValid() && "no such instruction");
  IndexExpr row = IndexExpr::dim(0), column = IndexExpr::dim(1);
  return Fragment::get({shape.m, shape.n}, 4 * (row % 8) + floorDiv(column, 2),
                       2 * floorDiv(row, 8) + column % 2);
}

Fragment tilewright::ldmatrixTile(bool transposed) {
  IndexExpr row = IndexExpr::dim(transposed ? 1 : 0), column = IndexExpr::dim(transposed ? 0 : 1);
  return Fragment::get({8, 8}, 4 * row + floorDiv(column, 2), column % 2);
}

//===----------------------------------------------------------------------------------------===//
// Whole tiles
//===----------------------------------------------------------------------------------------===//

/// Refuses an extent that the warps and the instruction do not divide.
static llvm::Error verifyExtent(char name, int64_t extent, int64_t warps, int64_t instruction) {
  if (extent > 0 && warps > 0 && extent % (warps * instruction) == 0)
    return llvm::Error::success();
  return llvm::createStringError("gemm: expected " + Twine(name) + " to be a multiple of " +
                                 Twine(warps * instruction) + " (" + Twine(warps) + " warps x " +
                                 Twine(instruction) + "), got " + Twine(extent));
}

namespace {
/// One dimension of a tile, cut into what a warp holds and that into instructions.
struct Partition {
  Partition(unsigned dim, int64_t extent, int64_t warps, int64_t instruction)
      : tiles(extent / warps / instruction) {
    IndexExpr index = IndexExpr::dim(dim);
    inTile = warps * tiles == 1 ? index : index % instruction;
    tile = floorDiv(warps == 1 ? index : index % (extent / warps), instruction);
    warp = warps == 1 ? IndexExpr(0) : floorDiv(index, extent / warps);
  }

  int64_t tiles;    ///< Of one warp.
  IndexExpr inTile; ///< The index in the instruction's tile.
  IndexExpr tile;   ///< Which of the warp's tiles.
  IndexExpr warp;   ///< Which warp.
};

/// Places an instruction's fragment in every tile; `warp` says who has it.
Fragment tileBlock(const Fragment &instruction, llvm::ArrayRef<int64_t> shape,
                   const Partition &rows, const Partition &columns, const IndexExpr &warp,
                   int64_t replicas) {
  IndexExpr thread = instruction.getThread().substitute({rows.inTile, columns.inTile});
  IndexExpr slot = instruction.getSlot().substitute({rows.inTile, columns.inTile});
  IndexExpr tile = rows.tile * columns.tiles + columns.tile;
  return Fragment::get(shape, kLanes * warp + thread, instruction.getSlotsPerThread() * tile + slot,
                       replicas);
}
} // namespace

Expected<Fragment> tilewright::blockOperandA(int64_t m, int64_t k, const MmaShape &shape,
                                             WarpGrid warps) {
  if (llvm::Error error = verifyExtent('M', m, warps.warpsM, shape.m))
    return error;
  if (llvm::Error error = verifyExtent('K', k, 1, shape.k))
    return error;
  Partition rows(0, m, warps.warpsM, shape.m), columns(1, k, 1, shape.k);
  IndexExpr sharer = warps.warpsN == 1 ? IndexExpr(0) : IndexExpr::dim(2);
  return tileBlock(mmaOperandA(shape), {m, k}, rows, columns, warps.warpsM * sharer + rows.warp,
                   warps.warpsN);
}

Expected<Fragment> tilewright::blockOperandB(int64_t k, int64_t n, const MmaShape &shape,
                                             WarpGrid warps) {
  if (llvm::Error error = verifyExtent('K', k, 1, shape.k))
    return error;
  if (llvm::Error error = verifyExtent('N', n, warps.warpsN, shape.n))
    return error;
  Partition rows(0, k, 1, shape.k), columns(1, n, warps.warpsN, shape.n);
  IndexExpr sharer = warps.warpsM == 1 ? IndexExpr(0) : IndexExpr::dim(2);
  return tileBlock(mmaOperandB(shape), {k, n}, rows, columns, warps.warpsM * columns.warp + sharer,
                   warps.warpsM);
}

Expected<Fragment> tilewright::blockAccumulator(int64_t m, int64_t n, const MmaShape &shape,
                                                WarpGrid warps) {
  if (llvm::Error error = verifyExtent('M', m, warps.warpsM, shape.m))
    return error;
  if (llvm::Error error = verifyExtent('N', n, warps.warpsN, shape.n))
    return error;
  Partition rows(0, m, warps.warpsM, shape.m), columns(1, n, warps.warpsN, shape.n);
  return tileBlock(mmaAccumulator(shape), {m, n}, rows, columns,
                   warps.warpsM * columns.warp + rows.warp, /*replicas=*/1);
}
