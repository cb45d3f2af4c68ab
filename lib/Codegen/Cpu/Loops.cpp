//===- Loops.cpp - loops of host code ---------------------------------------------------------===//

#include "Emitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

void Emitter::loopNest(ArrayRef<Value> extents, bool isParallel, NestBody body) {
  SmallVector<Value> lowers(extents.size(), index(0));
  loopNest(lowers, extents, isParallel, body);
}

/// Tells LLVM that no two iterations depend on each other. A loop of a few vectors must not be
/// unrolled before it is vectorised: LLVM would then turn to the loop around it and gather columns.
/// Afterwards it may be.
static void markParallel(scf::ForOp loop, LLVM::AccessGroupAttr group, int64_t vectorWidth) {
  Builder b(loop.getContext());
  MLIRContext *context = b.getContext();
  LLVM::LoopVectorizeAttr vectorize;
  LLVM::LoopUnrollAttr unroll;
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound()),
                         past = getConstantIntValue(loop.getUpperBound());
  if (!first || !past || *past - *first >= vectorWidth) {
    auto afterwards =
        LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                      /*isVectorized=*/b.getBoolAttr(true), {}, {}, {});
    vectorize = LLVM::LoopVectorizeAttr::get(context, {}, {}, {}, {}, afterwards, {}, {});
    unroll =
        LLVM::LoopUnrollAttr::get(context, /*disable=*/b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  }
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, unroll, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}, {}, {group}));
}

Emitter::ParallelLoop::ParallelLoop(Emitter &e, scf::ForOp loop)
    : e(e), outer(std::exchange(e.parallelGroup, {})) {
  if (!loop)
    return;
  e.parallelGroup = LLVM::AccessGroupAttr::get(e.b.getContext());
  markParallel(loop, e.parallelGroup, e.options.vectorWidth);
}

void tilewright::cpu::keepRolled(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, /*disable=*/BoolAttr::get(context, true), {}, {},
                                          {}, {}, {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {},
                                                  {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation", annotation);
}

/// Keeps LLVM from unrolling the loops around rows of several vectors. It turns rows that are
/// filled or copied into calls, counts them as one instruction each, and writes out all rows:
/// thousands of stores in one block, on which the scheduler spends seconds.
static void keepNestRolled(ArrayRef<scf::ForOp> nest, int64_t vectorWidth) {
  scf::ForOp row = nest.back();
  std::optional<int64_t> first = getConstantIntValue(row.getLowerBound()),
                         past = getConstantIntValue(row.getUpperBound());
  if (!first || !past || *past - *first < 4 * vectorWidth)
    return;
  for (scf::ForOp loop : nest.drop_back())
    keepRolled(loop);
}

void Emitter::loopNest(ArrayRef<Value> lowers, ArrayRef<Value> uppers, bool isParallel,
                       NestBody body, int64_t bodyCount) {
  std::optional<int64_t> interval = getPollInterval(lowers, uppers, bodyCount);
  if (!interval)
    return loopNestWithoutPolls(lowers, uppers, isParallel, body);
  // The outermost loop in pieces, between which a launch can be stopped.
  OpBuilder::InsertionGuard guard(b);
  auto pieces = scf::ForOp::create(b, lowers[0], uppers[0], index(*interval));
  b.setInsertionPointToStart(pieces.getBody());
  services.poll();
  Value first = pieces.getInductionVar();
  ranges.set(first, {ranges.get(lowers[0]).least,
                     (ranges.get(uppers[0]) - Interval::exactly(1)).greatest});
  SmallVector<Value> pieceLowers(lowers), pieceUppers(uppers);
  pieceLowers[0] = first;
  pieceUppers[0] = b.createOrFold<arith::MinSIOp>(add(first, index(*interval)), uppers[0]);
  loopNestWithoutPolls(pieceLowers, pieceUppers, isParallel, body);
}

void Emitter::loopNestWithoutPolls(ArrayRef<Value> lowers, ArrayRef<Value> uppers, bool isParallel,
                                   NestBody body) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> variables;
  SmallVector<scf::ForOp> nest;
  for (auto [lower, upper] : llvm::zip_equal(lowers, uppers)) {
    std::optional<int64_t> first = getConstantIntValue(lower), past = getConstantIntValue(upper);
    if (first && past && *past == *first + 1) {
      variables.push_back(lower);
      continue;
    }
    nest.push_back(scf::ForOp::create(b, lower, upper, index(1)));
    b.setInsertionPointToStart(nest.back().getBody());
    Value variable = nest.back().getInductionVar();
    Interval end = ranges.get(upper);
    ranges.set(variable, {ranges.get(lower).least, (end - Interval::exactly(1)).greatest});
    variables.push_back(variable);
  }
  if (!nest.empty())
    keepNestRolled(nest, options.vectorWidth);
  ParallelLoop marked(*this, isParallel && !nest.empty() ? nest.back() : scf::ForOp());
  body(variables);
}

SmallVector<Value> Emitter::loopCarrying(Value lower, Value upper, Value step, ValueRange initial,
                                         CarryingBody body) {
  auto loop = scf::ForOp::create(b, lower, upper, step, initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Interval end = ranges.get(upper);
  ranges.set(loop.getInductionVar(),
             {ranges.get(lower).least, (end - Interval::exactly(1)).greatest});
  SmallVector<Value> results = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty())
    scf::YieldOp::create(b, results);
  return llvm::to_vector(ValueRange(loop.getResults()));
}
