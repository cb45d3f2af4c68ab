//===- LowerControl.cpp - loops and branches --------------------------------------------------===//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------------------------===//
// Loop nests
//===----------------------------------------------------------------------------------------===//

void Lowering::loopNest(ArrayRef<Value> extents, bool isParallel, NestBody body) {
  SmallVector<Value> lowers(extents.size(), index(0));
  loopNest(lowers, extents, isParallel, body);
}

/// Tells LLVM that no two iterations depend on each other. A loop of a few vectors must not be
/// unrolled before it is vectorised: LLVM would then turn to the loop around it and gather columns.
/// Afterwards it may be.
void Lowering::markParallel(scf::ForOp loop, LLVM::AccessGroupAttr group) {
  MLIRContext *context = b.getContext();
  LLVM::LoopVectorizeAttr vectorize;
  LLVM::LoopUnrollAttr unroll;
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound()),
                         past = getConstantIntValue(loop.getUpperBound());
  if (!first || !past || *past - *first >= options.vectorWidth) {
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

/// Keeps LLVM from unrolling the loops around rows of several vectors. It turns rows that are
/// filled or copied into calls, counts them as one instruction each, and writes out all rows:
/// thousands of stores in one block, on which the scheduler spends seconds.
static void keepRolled(ArrayRef<scf::ForOp> nest, int64_t vectorWidth) {
  scf::ForOp row = nest.back();
  std::optional<int64_t> first = getConstantIntValue(row.getLowerBound()),
                         past = getConstantIntValue(row.getUpperBound());
  if (!first || !past || *past - *first < 4 * vectorWidth)
    return;
  MLIRContext *context = row.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, /*disable=*/BoolAttr::get(context, true), {}, {},
                                          {}, {}, {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {},
                                                  {}, {}, {}, {}, {}, {});
  for (scf::ForOp loop : nest.drop_back())
    loop->setAttr("llvm.loop_annotation", annotation);
}

void Lowering::loopNest(ArrayRef<Value> lowers, ArrayRef<Value> uppers, bool isParallel,
                        NestBody body, int64_t bodyTurns) {
  std::optional<int64_t> interval = getPollInterval(lowers, uppers, bodyTurns);
  if (!interval)
    return loopNestWithoutPolls(lowers, uppers, isParallel, body);
  // The outermost loop in pieces, between which a launch can be stopped.
  OpBuilder::InsertionGuard guard(b);
  auto pieces = scf::ForOp::create(b, lowers[0], uppers[0], index(*interval));
  b.setInsertionPointToStart(pieces.getBody());
  callPoll();
  Value first = pieces.getInductionVar();
  ranges.set(first, {ranges.get(lowers[0]).least,
                     (ranges.get(uppers[0]) - Interval::exactly(1)).greatest});
  SmallVector<Value> pieceLowers(lowers), pieceUppers(uppers);
  pieceLowers[0] = first;
  pieceUppers[0] = b.createOrFold<arith::MinSIOp>(add(first, index(*interval)), uppers[0]);
  loopNestWithoutPolls(pieceLowers, pieceUppers, isParallel, body);
}

void Lowering::loopNestWithoutPolls(ArrayRef<Value> lowers, ArrayRef<Value> uppers, bool isParallel,
                                    NestBody body) {
  OpBuilder::InsertionGuard guard(b);
  LLVM::AccessGroupAttr outerGroup = parallelGroup;
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
  parallelGroup = {};
  if (!nest.empty())
    keepRolled(nest, options.vectorWidth);
  if (isParallel && !nest.empty()) {
    parallelGroup = LLVM::AccessGroupAttr::get(b.getContext());
    markParallel(nest.back(), parallelGroup);
  }
  body(variables);
  parallelGroup = outerGroup;
}

SmallVector<Value> Lowering::loopCarrying(Value lower, Value upper, Value step, ValueRange initial,
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

void Lowering::ifTrue(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

//===----------------------------------------------------------------------------------------===//
// T.Pipelined
//===----------------------------------------------------------------------------------------===//

/// Whether a loop is known to have one turn, so that its variable has one value.
bool Lowering::hasOneTurn(Operation *op) {
  auto loop = dyn_cast<tile::PipelinedOp>(op);
  if (!loop)
    return false;
  Interval turns = ranges.get(lookup(loop.getUpper())) - ranges.get(lookup(loop.getLower()));
  return turns.isWithin(1, 1);
}

void Lowering::lowerPipelined(tile::PipelinedOp op) {
  bool isPolled = hasStatement(op);
  auto turn = [&](ArrayRef<Value> variables) {
    if (isPolled)
      callPoll();
    define(op.getInductionVar(), variables[0]);
    Value past = lookup(op.getUpper());
    Value next = b.createOrFold<arith::MinSIOp>(add(variables[0], index(1)), sub(past, index(1)));
    if (!getConstantIntValue(next))
      ranges.set(next, ranges.get(variables[0]));
    std::optional<NextTurn> outer = std::move(nextTurn);
    nextTurn.reset();
    if (!hasOneTurn(op))
      nextTurn = NextTurn{&op.getBody(), {{op.getInductionVar(), next}}};
    lowerRegion(op.getBody());
    nextTurn = std::move(outer);
  };
  loopNest({lookup(op.getLower())}, {lookup(op.getUpper())}, /*isParallel=*/false, turn,
           isPolled ? 1 : countTurns(op.getBody()));
}

//===----------------------------------------------------------------------------------------===//
// Sequential control flow with values
//===----------------------------------------------------------------------------------------===//

void Lowering::lowerFor(scf::ForOp op) {
  Value lower = lookup(op.getLowerBound()), upper = lookup(op.getUpperBound()),
        step = lookup(op.getStep());
  if (!ranges.get(step).isWithin(1, std::numeric_limits<int64_t>::max())) {
    // A loop's step must be positive; one that is not would never end.
    Value isBad = compare(arith::CmpIPredicate::slt, step, numbers.integer(step.getType(), 1));
    ifTrue(isBad, [&] { callFail("a loop's step must be positive"); });
    step = b.createOrFold<arith::MaxSIOp>(step, numbers.integer(step.getType(), 1));
  }
  SmallVector<Value> results =
      loopWithPolls(op, lower, upper, step, [&](Value variable, ValueRange carried) {
        define(op.getInductionVar(), variable);
        for (auto [old, now] : llvm::zip_equal(op.getRegionIterArgs(), carried))
          define(old, now);
        lowerRegion(op.getRegion());
        return lookupAll(op.getYieldedValues());
      });
  for (auto [old, now] : llvm::zip_equal(op.getResults(), results))
    define(old, now);
}

void Lowering::lowerIf(scf::IfOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(getCarrierType(type));
  bool hasElse = !op.getElseRegion().empty();
  auto branch = scf::IfOp::create(b, types, lookup(op.getCondition()), hasElse);
  OpBuilder::InsertionGuard guard(b);
  auto fill = [&](Region &region, Block *block) {
    b.setInsertionPointToStart(block);
    lowerRegion(region);
    if (types.empty())
      return;
    auto yield = cast<scf::YieldOp>(region.front().getTerminator());
    scf::YieldOp::create(b, lookupAll(yield.getOperands()));
  };
  fill(op.getThenRegion(), branch.thenBlock());
  if (hasElse)
    fill(op.getElseRegion(), branch.elseBlock());
  for (auto [old, now] : llvm::zip_equal(op.getResults(), branch.getResults()))
    define(old, now);
}

void Lowering::lowerWhile(scf::WhileOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(getCarrierType(type));
  SmallVector<Value> initial = lookupAll(op.getInits());
  auto loop = scf::WhileOp::create(b, types, initial);
  OpBuilder::InsertionGuard guard(b);
  auto enter = [&](Region &from, Region &to, TypeRange argumentTypes) {
    SmallVector<Location> locations(argumentTypes.size(), b.getLoc());
    Block *block = b.createBlock(&to, to.end(), argumentTypes, locations);
    for (auto [old, now] : llvm::zip_equal(from.getArguments(), block->getArguments()))
      define(old, now);
    lowerRegion(from);
  };
  enter(op.getBefore(), loop.getBefore(), ValueRange(initial).getTypes());
  if (canPoll())
    callPoll();
  scf::ConditionOp::create(b, lookup(op.getConditionOp().getCondition()),
                           lookupAll(op.getConditionOp().getArgs()));
  enter(op.getAfter(), loop.getAfter(), types);
  scf::YieldOp::create(b, lookupAll(op.getYieldOp().getOperands()));
  for (auto [old, now] : llvm::zip_equal(op.getResults(), loop.getResults()))
    define(old, now);
}

//===----------------------------------------------------------------------------------------===//
// One op at a time
//===----------------------------------------------------------------------------------------===//

void Lowering::lowerRegion(Region &region) {
  for (Operation &op : region.front()) {
    if (op.hasTrait<OpTrait::IsTerminator>() || hasFailed)
      return;
    b.setLoc(op.getLoc());
    lowerOp(op);
  }
}

void Lowering::lowerLoad(tile::LoadOp op) {
  View view = getView(op.getBuffer());
  llvm::SaveAndRestore again(readsAgain, rowAccesses && isReadAgain(op));
  Value stored = loadStored(view, lookupAll(op.getIndices()));
  scope->stored[op] = stored;
  define(op.getValue(), numbers.unpack(stored, view.elementType));
}

/// An element that is stored as it was loaded keeps its bits: a NaN its payload, a bool its byte.
void Lowering::lowerStore(tile::StoreOp op) {
  View view = getView(op.getBuffer());
  SmallVector<Value> place = lookupAll(op.getIndices());
  auto source = op.getValue().getDefiningOp<tile::LoadOp>();
  bool isSameType = source && source.getBuffer().getType().getElementType() == view.elementType;
  auto stored = isSameType ? scope->stored.find(source) : scope->stored.end();
  if (stored != scope->stored.end())
    storeStored(view, place, stored->second);
  else
    store(view, place, lookup(op.getValue()));
}

void Lowering::lowerOp(Operation &op) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](tile::KernelOp kernel) { lowerKernel(kernel); })
      .Case([&](tile::ParallelOp parallel) { lowerParallel(parallel); })
      .Case([&](tile::PipelinedOp loop) { lowerPipelined(loop); })
      .Case([&](scf::ForOp loop) { lowerFor(loop); })
      .Case([&](scf::IfOp branch) { lowerIf(branch); })
      .Case([&](scf::WhileOp loop) { lowerWhile(loop); })
      .Case([&](tile::AllocOp alloc) { lowerAlloc(alloc); })
      .Case([&](tile::SliceOp slice) { scope->views[slice.getResult()] = makeSlice(slice); })
      .Case([&](tile::ViewOp view) { scope->views[view.getResult()] = makeView(view); })
      .Case([&](tile::LoadOp load) { lowerLoad(load); })
      .Case([&](tile::StoreOp store) { lowerStore(store); })
      .Case([&](tile::CopyOp copy) { lowerCopyAndPrefetch(copy); })
      .Case([&](tile::FinalizeReducerOp done) { lowerCopy(done.getReducer(), done.getDest()); })
      .Case([&](tile::FillOp fill) { lowerFill(fill); })
      .Case([&](tile::GemmOp gemm) { lowerGemm(gemm); })
      .Case([&](tile::ReduceOp reduce) { lowerReduce(reduce); })
      .Case([&](tile::CumsumOp sum) { lowerCumsum(sum); })
      .Case([&](tile::Im2colOp gather) { lowerIm2col(gather); })
      .Case([&](tile::AtomicOp atomic) { lowerAtomic(atomic); })
      .Case([&](tile::AtomicElementOp atomic) { lowerAtomicElement(atomic); })
      .Case([&](tile::ReducerUpdateOp update) { lowerReducerUpdate(update); })
      .Case([&](tile::PrintOp print) { lowerPrint(print); })
      .Case([&](tile::AssertOp assertion) {
        Value fails = b.createOrFold<arith::XOrIOp>(lookup(assertion.getCondition()),
                                                    numbers.integer(b.getI1Type(), 1));
        ifTrue(fails, [&] { callFail(("assertion failed: " + assertion.getMessage()).str()); });
      })
      .Case<tile::AnnotateLayoutOp, tile::AnnotateSafeValueOp, tile::UseSwizzleOp, tile::HintOp,
            tile::AssumeOp>([](auto) {}) // bound with the kernel, or without effect on values
      .Default([&](Operation *other) {
        if (!lowerScalar(*other))
          refuse(other, "'" + other->getName().getStringRef() + "' has no lowering for the CPU");
      });
}

void Lowering::refuse(Operation *op, const Twine &why) {
  op->emitError() << why.str();
  hasFailed = true;
}
