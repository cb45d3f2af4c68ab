//===- CoarsenLoops.cpp - products take several steps along k at once -------------------------===//
//
// A program for GPUs walks along k in steps of 32 or 64, which is what shared memory holds. A core
// that adds 64 products a cycle spends a quarter of such a step on reading and writing the sums,
// which are too many for its first cache, and so short a part of an operand is not worth packing.
// So a loop that does nothing but copy neighbouring parts of tensors and multiply them takes as many
// steps at once as leave its tiles in half of the second cache:
//
//   tile.pipelined %k = 0 to 32 {                 tile.pipelined %n = 0 to 1 {
//                                                   %k = 32 * %n
//     %s = tile.slice %A[0, 32 * %k] [128, 32]      %s = tile.slice %A[0, 32 * %k] [128, 1024]
//     tile.copy %s, %a   // 128 x 32          ──▶   tile.copy %s, %a   // 128 x 1024
//     …                                             …
//     tile.gemm %a, %b, %c                          tile.gemm %a, %b, %c
//   }                                             }
//
// Each sum is formed from the same terms in the same order, and is rounded as before: tiles of C
// hold what a product sums up in. The tensors are not written by the kernel, so it does not matter
// that their parts are read earlier. What lies outside of a tensor is what it was, element by
// element.
//
// Expects: tile IR that passed its verifier.   Leaves: the same program, with larger tiles.
//===----------------------------------------------------------------------------------------===//

#include "StaticView.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Analysis/ValueFacts.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Statements.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright {
#define GEN_PASS_DEF_COARSENLOOPS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// Iterations of longer loops are not looked at one by one.
constexpr int64_t kMaxIterations = 4096;

/// A loop with constant bounds.
struct Iterations {
  PipelinedOp loop;
  int64_t first, count;

  static std::optional<Iterations> get(PipelinedOp loop);
};

std::optional<Iterations> Iterations::get(PipelinedOp loop) {
  IndexFacts lower = analysis::getFacts(loop.getLower()),
             upper = analysis::getFacts(loop.getUpper());
  bool areConstant =
      lower.isBounded() && upper.isBounded() && lower.low == lower.high && upper.low == upper.high;
  if (!areConstant || upper.low <= lower.low || upper.low - lower.low > kMaxIterations)
    return std::nullopt;
  return Iterations{loop, lower.low, upper.low - lower.low};
}

/// A copy of the next part of a tensor in each iteration: the parts lie one after the other.
struct Walk {
  CopyOp copy;
  SliceOp part;
  unsigned partDim; ///< Of the slice's source: where the parts follow each other.
  unsigned tileDim; ///< The same of the tile.

  static std::optional<Walk> find(CopyOp copy, const Iterations &iterations);
  AllocOp getTile() const {
    CopyOp op = copy;
    return op.getDest().getDefiningOp<AllocOp>();
  }
  MemRefType getType() const { return getTile().getBuffer().getType(); }
};

/// Whether an offset grows by `step` with each iteration; nothing if it is not known what it is.
std::optional<bool> growsBy(Value offset, int64_t step, const Iterations &iterations) {
  analysis::IndexTranslator translator(iterations.loop);
  PipelinedOp loop = iterations.loop;
  translator.addDim(loop.getInductionVar());
  std::optional<IndexExpr> expr = translator.translate(offset);
  std::optional<analysis::SeparatedExpr> parts =
      expr ? analysis::separate(*expr) : std::optional<analysis::SeparatedExpr>();
  if (!parts)
    return std::nullopt;
  if (!parts->dims.dependsOnDim(0))
    return false;
  std::optional<int64_t> start = parts->dims.evaluate({iterations.first});
  for (int64_t number = 1; number < iterations.count; ++number) {
    std::optional<int64_t> now = parts->dims.evaluate({iterations.first + number});
    if (!start || !now || *now - *start != number * step)
      return std::nullopt;
  }
  return true;
}

std::optional<Walk> Walk::find(CopyOp copy, const Iterations &iterations) {
  auto tile = copy.getDest().getDefiningOp<AllocOp>();
  auto part = copy.getSource().getDefiningOp<SliceOp>();
  Value tensor = getRoot(copy.getSource());
  auto kernel = copy->getParentOfType<KernelOp>();
  if (!tile || !part || part->getBlock() != copy->getBlock() || !part->hasOneUse() ||
      tile.getReducer() || getSpace(copy.getDest()) == Space::Global ||
      getSpace(tensor) != Space::Global || !isOwnBuffer(tensor) || mayWrite(kernel, tensor))
    return std::nullopt;
  MemRefType type = tile.getBuffer().getType(), partType = part.getResult().getType();
  if (type.getRank() != 2 || !type.hasStaticShape() || !partType.hasStaticShape())
    return std::nullopt;
  std::optional<unsigned> growing;
  SmallVector<OpFoldResult> offsets = part.getMixedOffsets(), sizes = part.getMixedSizes(),
                            steps = part.getMixedSteps();
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    auto value = dyn_cast<Value>(offset);
    std::optional<bool> grows =
        value ? growsBy(value, getConstantIntValue(sizes[dim]).value_or(0), iterations) : false;
    if (!grows || (*grows && growing))
      return std::nullopt;
    if (*grows)
      growing = dim;
  }
  if (!growing || llvm::is_contained(part.getDropped(), int64_t(*growing)) ||
      getConstantIntValue(steps[*growing]) != 1)
    return std::nullopt;
  unsigned resultDim = *growing - llvm::count_if(part.getDropped(), [&](int64_t dim) {
    return dim < int64_t(*growing);
  });
  PairedDims pairs = pairDimensions(partType.getShape(), type.getShape());
  for (auto [from, to] : llvm::zip_equal(pairs.lhs, pairs.rhs))
    if (from == resultDim)
      return Walk{copy, part, *growing, to};
  return std::nullopt;
}

/// What a loop consists of, beside arithmetic.
struct Body {
  llvm::MapVector<Value, Walk> walks; ///< By tile.
  SmallVector<GemmOp> gemms;

  static std::optional<Body> find(const Iterations &iterations);

private:
  bool isSummedInOrder(GemmOp gemm) const;
  bool isReadAlongK(const Walk &walk) const;
};

/// Whether the product adds to a tile of sums, which nothing else in the loop touches.
bool Body::isSummedInOrder(GemmOp gemm) const {
  Value sums = gemm.getC();
  Type element = gemm.getC().getType().getElementType();
  bool isOnce = llvm::count_if(gemms, [&](GemmOp other) { return other.getC() == sums; }) == 1;
  return isOnce && sums.getDefiningOp<AllocOp>() && getSpace(sums) != Space::Global &&
         !walks.contains(sums) && !gemm.getClear() && hasStaticShapes(gemm) &&
         getSumType(gemm.getA().getType().getElementType(), element) == element;
}

/// Whether only products of the loop read the tile, and all of them along its growing dimension.
bool Body::isReadAlongK(const Walk &walk) const {
  AllocOp tile = walk.getTile();
  CopyOp copy = walk.copy;
  return llvm::all_of(tile.getBuffer().getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    auto gemm = dyn_cast<GemmOp>(user);
    if (!gemm)
      return user == copy || isa<AnnotateLayoutOp>(user);
    bool isRight = &use == &gemm.getBMutable();
    unsigned depth = isRight ? (gemm.getTransposeB() ? 1 : 0) : (gemm.getTransposeA() ? 0 : 1);
    return gemm->getBlock() == copy->getBlock() && copy->isBeforeInBlock(gemm) &&
           &use != &gemm.getCMutable() && depth == walk.tileDim;
  });
}

std::optional<Body> Body::find(const Iterations &iterations) {
  Body body;
  PipelinedOp loop = iterations.loop;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    if (auto copy = dyn_cast<CopyOp>(op)) {
      std::optional<Walk> walk = Walk::find(copy, iterations);
      if (!walk || !body.walks.insert({copy.getDest(), *walk}).second)
        return std::nullopt;
    } else if (auto gemm = dyn_cast<GemmOp>(op)) {
      body.gemms.push_back(gemm);
    } else if (!isPure(&op) || op.getNumRegions() != 0) {
      return std::nullopt;
    }
  }
  for (GemmOp gemm : body.gemms)
    if (!body.walks.contains(gemm.getA()) || !body.walks.contains(gemm.getB()) ||
        !body.isSummedInOrder(gemm))
      return std::nullopt;
  auto isRead = [&](auto &entry) { return body.isReadAlongK(entry.second); };
  bool isWhole = !body.gemms.empty() && llvm::all_of(body.walks, isRead);
  return isWhole ? std::optional(std::move(body)) : std::nullopt;
}

/// The shape with one extent so many times as large.
SmallVector<int64_t> grow(ArrayRef<int64_t> shape, unsigned dim, int64_t factor) {
  SmallVector<int64_t> grown(shape);
  grown[dim] *= factor;
  return grown;
}

/// Lets a copy take the parts of `factor` iterations.
void takeMore(const Walk &walk, int64_t factor) {
  AllocOp tile = walk.getTile();
  CopyOp copy = walk.copy;
  SliceOp part = walk.part;
  MemRefType type = walk.getType();
  for (Operation *user : llvm::make_early_inc_range(tile.getBuffer().getUsers()))
    if (isa<AnnotateLayoutOp>(user)) // of tiles, it means nothing here
      user->erase();
  copy.removeLoopLayoutAttr();
  tile.getBuffer().setType(makeBufferType(grow(type.getShape(), walk.tileDim, factor),
                                          type.getElementType(), getSpace(type)));
  OpBuilder b(part);
  SmallVector<OpFoldResult> sizes = part.getMixedSizes();
  sizes[walk.partDim] = b.getIndexAttr(*getConstantIntValue(sizes[walk.partDim]) * factor);
  auto larger = SliceOp::create(b, part.getLoc(), part.getSource(), part.getMixedOffsets(), sizes,
                                part.getMixedSteps(), part.getDropped());
  part.replaceAllUsesWith(larger.getResult());
  part.erase();
}

/// Lets an iteration of the loop do what `factor` iterations did.
void coarsen(const Iterations &iterations, const Body &body, int64_t factor) {
  PipelinedOp loop = iterations.loop;
  BlockArgument variable = loop.getInductionVar();
  ImplicitLocOpBuilder b(loop.getLoc(), loop.getContext());
  b.setInsertionPointToStart(variable.getOwner());
  Value scaled = arith::MulIOp::create(b, variable, arith::ConstantIndexOp::create(b, factor));
  Value first =
      arith::AddIOp::create(b, scaled, arith::ConstantIndexOp::create(b, iterations.first));
  variable.replaceUsesWithIf(
      first, [&](OpOperand &use) { return use.getOwner() != scaled.getDefiningOp(); });
  b.setInsertionPoint(loop);
  loop.getLowerMutable().assign(arith::ConstantIndexOp::create(b, 0));
  loop.getUpperMutable().assign(arith::ConstantIndexOp::create(b, iterations.count / factor));
  for (auto &entry : body.walks)
    takeMore(entry.second, factor);
  GemmOp gemm = body.gemms.front();
  InFlightDiagnostic remark = gemm.emitRemark("takes ")
                              << factor << " steps of the loop at once: " << gemm.getExtents().k
                              << " elements along k";
  describeRemark(remark, "coarsen", getName(gemm.getC()), {{"steps", factor}});
}

struct CoarsenLoopsPass : tilewright::impl::CoarsenLoopsBase<CoarsenLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<PipelinedOp> loops;
    getOperation()->walk([&](PipelinedOp loop) {
      if (loop->getParentOfType<KernelOp>())
        loops.push_back(loop);
    });
    for (PipelinedOp loop : loops) {
      std::optional<Iterations> iterations = Iterations::get(loop);
      std::optional<Body> body = iterations ? Body::find(*iterations) : std::optional<Body>();
      if (!body)
        continue;
      int64_t bytes = 0;
      for (auto &entry : body->walks)
        bytes += getStorageBytes(entry.second.getType()).value_or(maxBytes + 1);
      int64_t factor = std::min(iterations->count, maxBytes / bytes);
      while (factor > 1 && iterations->count % factor != 0)
        --factor;
      if (factor > 1)
        coarsen(*iterations, *body, factor);
    }
  }
};

} // namespace
