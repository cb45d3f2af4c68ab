//===- LowerSums.cpp - tiles that products sum up in ------------------------------------------===//
//
// Most products end as a part of a tensor, which a loop sums up in a tile:
//
//   tile.fill %c, 0                     row of zeros
//   tile.pipelined … {                  for … {
//     tile.gemm %a, %b, %c       ──▶      (last turn ? C : c) = (first turn ? zeros : c) + a * b
//   }                                   }
//   tile.copy %c -> %C
//
// A microkernel reads sums from one matrix and writes them to another, so that the tile need not be
// filled (one row is, which all rows of the first turn read), nor be copied: the last turn writes
// to the tensor, whose lines it asks for beforehand. A loop of one turn does not touch the tile at
// all. Values are what they were: each sum is formed from the same terms in the same order.
//
// Both follow from the uses of the tile. The second one moves writes of the tensor from the copy to
// the last turn, which nothing may notice: neither the loop nor what stands between it and the copy
// touches the tensor, and no block tells another one by an atomic update what it has done.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// The life of a tile from the fill in its block on.
struct Lowering::SumTile {
  tile::FillOp fill;
  tile::GemmOp gemm;
  Operation *turns;  ///< The loop whose every turn is one product, or the product itself.
  tile::CopyOp copy; ///< The only reader behind it, if it is a copy in the same block.
};

/// Nothing unless one product sums up what the fill begins, and all others read only the result.
std::optional<Lowering::SumTile> Lowering::findSumTile(Value buffer) {
  SumTile found{};
  SmallVector<Operation *> others;
  for (OpOperand &use : buffer.getUses()) {
    Operation *user = use.getOwner();
    auto fill = dyn_cast<tile::FillOp>(user);
    auto gemm = dyn_cast<tile::GemmOp>(user);
    if (fill && !found.fill)
      found.fill = fill;
    else if (gemm && &use == &gemm.getCMutable() && !found.gemm)
      found.gemm = gemm;
    else if (!isa<tile::AnnotateLayoutOp>(user))
      others.push_back(user);
  }
  if (!buffer.getDefiningOp<tile::AllocOp>() || !found.fill || !found.gemm)
    return std::nullopt;
  Block *block = found.fill->getBlock();
  found.turns = block->findAncestorOpInBlock(*found.gemm);
  if (!found.turns || !found.fill->isBeforeInBlock(found.turns))
    return std::nullopt;
  auto loop = dyn_cast<scf::ForOp>(found.turns);
  bool isLoop =
      isa<tile::PipelinedOp>(found.turns) || (loop && loop.getInductionVar().getType().isIndex());
  if (found.turns != found.gemm && !(isLoop && found.gemm->getParentOp() == found.turns))
    return std::nullopt;
  for (Operation *other : others) {
    Operation *ancestor = block->findAncestorOpInBlock(*other);
    if (!ancestor || ancestor == found.turns || ancestor->isBeforeInBlock(found.turns))
      return std::nullopt;
  }
  auto copy = others.size() == 1 ? dyn_cast<tile::CopyOp>(others[0]) : tile::CopyOp();
  if (copy && copy->getBlock() == block && copy.getSource() == buffer)
    found.copy = copy;
  return found;
}

/// Whether all turns are skipped: null if never, nothing if the bounds are not known yet.
std::optional<Value> Lowering::hasNoTurn(SumTile sums) {
  auto loop = dyn_cast<LoopLikeOpInterface>(sums.turns);
  if (!loop)
    return Value();
  SmallVector<Value> bounds;
  for (OpFoldResult bound : {*loop.getSingleLowerBound(), *loop.getSingleUpperBound()}) {
    auto value = dyn_cast<Value>(bound);
    if (value && !getConstantIntValue(value) && !lookup(value))
      return std::nullopt;
    bounds.push_back(asIndex(bound));
  }
  if ((ranges.get(bounds[1]) - ranges.get(bounds[0])).least > 0)
    return Value();
  return compare(arith::CmpIPredicate::sge, bounds[0], bounds[1]);
}

/// Leaves the fill of a tile to the product that follows: writes only one row, which the product
/// reads again and again. False if the whole tile must be filled.
bool Lowering::startSums(tile::FillOp fill) {
  std::optional<SumTile> sums = scope->arena ? findSumTile(fill.getDest()) : std::nullopt;
  if (!sums || sums->gemm.getClear() || fill.getDest().getType().getRank() != 2)
    return false;
  tile::GemmOp gemm = sums->gemm;
  bool isStatic =
      llvm::all_of(ArrayRef<Value>{gemm.getA(), gemm.getB(), gemm.getC()},
                   [](Value value) { return cast<MemRefType>(value.getType()).hasStaticShape(); });
  View dest = getView(fill.getDest());
  Type sumType = getSumType(b, gemm.getA().getType().getElementType(), dest.elementType);
  if (!isStatic || !getMatrix(dest, sumType))
    return false;
  std::optional<Value> isSkipped = hasNoTurn(*sums);
  if (!isSkipped)
    return false;
  View row = makeScratch({1, fill.getDest().getType().getDimSize(1)}, dest.elementType);
  fillView(row, lookup(fill.getValue()));
  if (*isSkipped)
    ifTrue(*isSkipped, [&] { fillView(dest, lookup(fill.getValue())); });
  scope->starts[gemm] = {row, *isSkipped};
  return true;
}

/// Whether nobody notices if the tensor is written in the last turn of the loop, not by the copy.
bool Lowering::canWriteEarly(SumTile sums) {
  Value tensor = tile::getRoot(sums.copy.getDest());
  if (!options.calls.disjointArguments || scope->hasAtomics)
    return false;
  for (Operation *op = sums.turns; op != sums.copy; op = op->getNextNode()) {
    std::optional<SmallVector<tile::Effect>> effects = tile::getEffects(op);
    if (!effects ||
        llvm::any_of(*effects, [&](const tile::Effect &effect) { return effect.root == tensor; }))
      return false;
  }
  return true;
}

/// Where a value is computed behind `place`, in the same block, computes it already here. False if
/// that takes more than arithmetic.
bool Lowering::lowerAhead(Value value, Operation *place) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != place->getBlock() || op->isBeforeInBlock(place))
    return true;
  if (!isPure(op) || op->getNumRegions() != 0 ||
      !llvm::all_of(op->getOperands(), [&](Value operand) { return lowerAhead(operand, place); }))
    return false;
  lowerOp(*op);
  return true;
}

/// The part of a tensor that the copy fills, if the product can write it: all of it exists, in
/// rows, and nothing is converted.
std::optional<Lowering::Matrix> Lowering::findTarget(SumTile sums, Type sumType) {
  if (!sums.copy || !canWriteEarly(sums) || !lowerAhead(sums.copy.getDest(), sums.turns))
    return std::nullopt;
  std::optional<View> dest = getDirectMatrix(sums.copy.getDest(), sums.copy.getSource());
  return dest && !dest->root->isOnChip() ? getMatrix(*dest, sumType) : std::nullopt;
}

/// One matrix or the other. What is known of accesses holds for both.
Lowering::Matrix Lowering::chooseMatrix(Value condition, const Matrix &yes, const Matrix &no) {
  if (std::optional<int64_t> constant = getConstantIntValue(condition))
    return *constant ? yes : no;
  auto choose = [&](Value first, Value second) {
    return b.createOrFold<arith::SelectOp>(condition, first, second);
  };
  auto either = std::make_unique<Root>(*no.root);
  either->ownScope = either->otherScopes = {};
  if (yes.root->ownScope && no.root->ownScope) {
    SmallVector<Attribute> own(no.root->ownScope.begin(), no.root->ownScope.end()), others;
    llvm::append_range(own, yes.root->ownScope);
    for (Attribute other : no.root->otherScopes)
      if (!llvm::is_contained(own, other))
        others.push_back(other);
    either->ownScope = b.getArrayAttr(own);
    either->otherScopes = b.getArrayAttr(others);
  }
  scope->scratch.push_back(std::move(either));
  return {scope->scratch.back().get(), choose(yes.pointer, no.pointer),
          choose(yes.rowStride, no.rowStride), choose(yes.columnStride, no.columnStride)};
}

/// Where the product finds and leaves its sums, if not in the tile.
void Lowering::redirectSums(tile::GemmOp op, Product &product) {
  auto start = scope->starts.find(op);
  if (start == scope->starts.end())
    return;
  SumTile sums = *findSumTile(op.getC());
  Value isFirst = numbers.integer(b.getI1Type(), 1), isLast = isFirst;
  if (auto loop = dyn_cast<LoopLikeOpInterface>(sums.turns)) {
    Value turn = lookup(*loop.getSingleInductionVar());
    Value next = add(turn, asIndex(*loop.getSingleStep()));
    isFirst = compare(arith::CmpIPredicate::eq, turn, asIndex(*loop.getSingleLowerBound()));
    isLast = compare(arith::CmpIPredicate::sge, next, asIndex(*loop.getSingleUpperBound()));
  }
  Matrix row = *getMatrix(start->second.row, product.sumType);
  row.rowStride = index(0);
  product.source = chooseMatrix(isFirst, row, product.c);
  std::optional<Matrix> target = findTarget(sums, product.sumType);
  if (!target)
    return;
  product.c = chooseMatrix(isLast, *target, product.c);
  product.isFarAway = true;
  scope->written[sums.copy] = start->second.isSkipped;
}
