//===- TransposeTiles.cpp - scores are kept with queries along their rows ---------------------===//
//
// A product reads its right operand by rows along n. One that is given as n x k is transposed for
// it, each time it changes. Attention does so in every iteration of its loop: the keys change, the
// queries, on the left, stay. The transposed product needs no such work in the loop, since it is
// the queries that it reads transposed:
//
//   tile.gemm %q, %k, %s transpose_b          tile.gemm %k, %q, %s' transpose_b
//   tile.reduce max %s, %m dim 1              tile.reduce max %s', %m dim 0
//   tile.parallel (%i, %j) {           ──▶    tile.parallel (%j, %i) {
//     %s[i, j] = exp2(%s[i, j] - %m[i])         %s'[j, i] = exp2(%s'[j, i] - %m[i])
//   }                                         }
//   tile.gemm %s, %v, %o                      tile.gemm %s', %v, %o transpose_a
//
// The rest gains too: reductions go down columns, and what belongs to a query is a vector. The left
// operand of a product, which is read by single elements, may lie either way.
//
// Tiles that a loop or a copy touches together are transposed together, or none of them. All values
// stay what they are: iterations of T.Parallel have no order, and neither has a sum.
//
// Expects: tile IR that passed tile-check-parallel.   Leaves: the same program.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/LoopAccesses.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright {
#define GEN_PASS_DEF_TRANSPOSETILES
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using analysis::LoopAccess;

namespace {

/// Rows of the transposed tile are vectors: of this many elements at least, and of multiples of this.
constexpr int64_t kMinRow = 32, kRowMultiple = 16;

/// The tile that a value is, if the value is all of one with two constant extents.
AllocOp getTile(Value buffer) {
  auto alloc = buffer.getDefiningOp<AllocOp>();
  bool isTile = alloc && !alloc.getReducer() && getSpace(buffer) != Space::Global &&
                alloc.getBuffer().getType().getRank() == 2 &&
                alloc.getBuffer().getType().hasStaticShape();
  return isTile ? alloc : AllocOp();
}

/// Whether one copy outside the loop fills the buffer, and nothing else writes it: it is brought
/// into the form that a product reads once, after the copy.
bool isPreparedOutside(Value buffer, Operation *loop) {
  AllocOp tile = getTile(buffer);
  if (!tile)
    return false;
  unsigned numWriters = 0;
  for (Operation *user : tile.getBuffer().getUsers()) {
    if (isa<AnnotateLayoutOp>(user) || !mayWrite(user, tile.getBuffer()))
      continue;
    ++numWriters;
    if (!isa<CopyOp>(user) || loop->isProperAncestor(user))
      return false;
  }
  return numWriters == 1;
}

/// Whether a product transposes its right operand in each iteration of a loop, and would read the
/// left one transposed once.
bool wantsTranspose(GemmOp gemm) {
  Operation *loop = gemm->getParentOp();
  AllocOp left = getTile(gemm.getA()), right = getTile(gemm.getB()), sums = getTile(gemm.getC());
  if (!isa<PipelinedOp, scf::ForOp>(loop) || !left || !right || !sums || !gemm.getTransposeB() ||
      gemm.getTransposeA())
    return false;
  int64_t row = gemm.getExtents().m;
  return row >= kMinRow && row % kRowMultiple == 0 && mayWrite(loop, right.getBuffer()) &&
         isPreparedOutside(gemm.getA(), loop);
}

/// Tiles that are transposed together, and the loops that go over them.
class TransposedTiles {
public:
  /// All tiles that must be transposed with this one; failure if one cannot be, or would be read the
  /// worse for it.
  LogicalResult collect(AllocOp first);
  void transpose();

private:
  LogicalResult visit(Operation *user, Value tile);
  LogicalResult visitGemm(GemmOp gemm, Value tile);
  LogicalResult visitLoop(ParallelOp loop);
  void interchange(ParallelOp loop);

  llvm::SetVector<AllocOp> tiles;
  llvm::SetVector<Operation *> users;
};

LogicalResult TransposedTiles::collect(AllocOp first) {
  tiles.insert(first);
  for (size_t next = 0; next < tiles.size(); ++next) { // grows meanwhile
    AllocOp tile = tiles[next];
    for (Operation *user : tile.getBuffer().getUsers()) {
      auto loop = user->getParentOfType<ParallelOp>();
      if (failed(visit(loop ? loop.getOperation() : user, tile.getBuffer())))
        return failure();
    }
  }
  return success();
}

LogicalResult TransposedTiles::visit(Operation *user, Value tile) {
  users.insert(user);
  if (isa<FillOp, AnnotateLayoutOp>(user))
    return success();
  if (auto loop = dyn_cast<ParallelOp>(user))
    return visitLoop(loop);
  if (auto gemm = dyn_cast<GemmOp>(user))
    return visitGemm(gemm, tile);
  if (auto reduce = dyn_cast<ReduceOp>(user))
    return success(reduce.getSource() == tile && reduce.getDest().getType().getRank() == 1);
  if (auto copy = dyn_cast<CopyOp>(user)) {
    AllocOp source = getTile(copy.getSource()), dest = getTile(copy.getDest());
    if (!source || !dest ||
        source.getBuffer().getType().getShape() != dest.getBuffer().getType().getShape())
      return failure();
    tiles.insert(source);
    tiles.insert(dest);
    return success();
  }
  return failure();
}

/// A product may have a transposed tile on the left, and write one if it gains by it.
LogicalResult TransposedTiles::visitGemm(GemmOp gemm, Value tile) {
  if (gemm.getB() == tile || (gemm.getA() == tile && gemm.getC() == tile))
    return failure();
  return success(gemm.getA() == tile || wantsTranspose(gemm));
}

/// A loop over two dimensions may touch transposed tiles by its iterators, and all else that it touches
/// must not grow apart when the first iterator becomes the innermost.
LogicalResult TransposedTiles::visitLoop(ParallelOp loop) {
  auto accesses = analysis::getPlainAccesses(loop);
  if (!accesses || loop.getIterators().size() != 2 ||
      llvm::any_of(loop.getStaticExtents(), ShapedType::isDynamic))
    return failure();
  Value row = loop.getIterators()[0], column = loop.getIterators()[1];
  auto isIterator = [](const IndexSum &sum, Value iterator) {
    return sum.constant == 0 && sum.terms.size() == 1 && sum.terms[0].first == iterator &&
           sum.terms[0].second == 1;
  };
  for (const LoopAccess &access : *accesses) {
    if (!access.element || isa<ReducerUpdateOp>(access.op))
      return failure();
    bool isByBoth = access.element->size() == 2 && isIterator((*access.element)[0], row) &&
                    isIterator((*access.element)[1], column);
    AllocOp tile = getTile(access.root);
    Value buffer = access.op->getOperand(isa<StoreOp>(access.op));
    if (isByBoth && tile && buffer == access.root)
      tiles.insert(tile);
    else if ((tile && tiles.contains(tile)) || !analysis::isAlongRow(*access.element, row))
      return failure();
  }
  return success();
}

/// The first iterator becomes the innermost, and the first index of transposed tiles the last.
void TransposedTiles::interchange(ParallelOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<int64_t> extents = llvm::to_vector(llvm::reverse(loop.getStaticExtents()));
  auto inner = ParallelOp::create(b, getAsIndexOpFoldResult(b.getContext(), extents));
  IRMapping mapping;
  mapping.map(loop.getIterators()[0], inner.getIterators()[1]);
  mapping.map(loop.getIterators()[1], inner.getIterators()[0]);
  b.setInsertionPointToStart(&inner.getBody().front());
  for (Operation &op : loop.getBody().front().without_terminator()) {
    Operation *now = b.clone(op, mapping);
    unsigned buffer = isa<StoreOp>(now);
    if (!isa<LoadOp, StoreOp>(now) || !tiles.contains(getTile(now->getOperand(buffer))))
      continue;
    Value first = now->getOperand(buffer + 1), second = now->getOperand(buffer + 2);
    now->setOperand(buffer + 1, second);
    now->setOperand(buffer + 2, first);
  }
  loop.erase();
}

void TransposedTiles::transpose() {
  for (AllocOp tile : tiles) {
    MemRefType type = tile.getBuffer().getType();
    SmallVector<int64_t> shape = {type.getDimSize(1), type.getDimSize(0)};
    tile.getBuffer().setType(makeBufferType(shape, type.getElementType(), getSpace(type)));
  }
  for (Operation *user : users) {
    if (auto loop = dyn_cast<ParallelOp>(user)) {
      interchange(loop);
    } else if (auto reduce = dyn_cast<ReduceOp>(user)) {
      reduce.setDim(1 - reduce.getDim());
    } else if (auto gemm = dyn_cast<GemmOp>(user)) {
      AllocOp left = getTile(gemm.getA()), sums = getTile(gemm.getC());
      if (left && tiles.contains(left))
        gemm.setTransposeA(!gemm.getTransposeA());
      if (!sums || !tiles.contains(sums))
        continue;
      // (A B)^T = B^T A^T
      Value a = gemm.getA(), b = gemm.getB();
      bool isTransposedA = gemm.getTransposeA(), isTransposedB = gemm.getTransposeB();
      gemm.getAMutable().assign(b);
      gemm.getBMutable().assign(a);
      gemm.setTransposeA(!isTransposedB);
      gemm.setTransposeB(!isTransposedA);
    } else if (isa<AnnotateLayoutOp>(user)) {
      user->erase(); // places, and changes no value
    }
  }
}

void remarkTransposed(GemmOp gemm) {
  auto remark = gemm.emitRemark("'")
                << getName(gemm.getC()) << "' is kept transposed, so that '" << getName(gemm.getB())
                << "' need not be transposed in every iteration of the loop";
  describeRemark(remark, "transposed", getName(gemm.getC()));
}

struct TransposeTilesPass : tilewright::impl::TransposeTilesBase<TransposeTilesPass> {
  void runOnOperation() override {
    SmallVector<GemmOp> gemms;
    getOperation()->walk([&](GemmOp gemm) { gemms.push_back(gemm); });
    for (GemmOp gemm : gemms) {
      TransposedTiles found;
      if (!wantsTranspose(gemm) || failed(found.collect(getTile(gemm.getC()))))
        continue;
      remarkTransposed(gemm);
      found.transpose();
    }
  }
};

} // namespace
