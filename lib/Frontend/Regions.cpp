//===- Regions.cpp - kernels, loops, branches and variables of a trace -----------------------===//

#include "TraceImpl.h"
#include "tilewright/Frontend/DTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright::frontend {

void Trace::openFrame(StringRef kind, Operation *op, Block *body) {
  OpBuilder::InsertPoint after = builder.saveInsertionPoint();
  frames.push_back({kind, op, after, std::nullopt, std::nullopt});
  if (body->mightHaveTerminator())
    builder.setInsertionPoint(body->getTerminator());
  else
    builder.setInsertionPointToEnd(body);
}

StringRef Trace::getRegionKind() const {
  return frames.empty() ? StringRef("function") : frames.back().kind;
}

static std::vector<Scalar> toScalars(Block::BlockArgListType arguments, uint64_t id) {
  std::vector<Scalar> scalars;
  for (BlockArgument argument : arguments)
    scalars.push_back({argument, argument.getType(), id});
  return scalars;
}

//===----------------------------------------------------------------------------------------===//
// Kernels and loops
//===----------------------------------------------------------------------------------------===//

std::vector<Scalar> Trace::kernelBegin(ArrayRef<Operand> grid, ArrayRef<int64_t> threads) {
  if (!frames.empty() && llvm::any_of(frames, [](const Frame &f) { return f.kind == "kernel"; }))
    fail("a kernel inside a kernel: close the first 'with T.Kernel' before");
  SmallVector<Value> extents;
  for (const Operand &extent : grid)
    extents.push_back(toIndex(extent, "grid extent"));
  if (extents.empty()) // T.Kernel() is a single block
    extents.push_back(indexConstant(1));
  auto kernel = verified(create<tile::KernelOp>(extents, threads));
  openFrame("kernel", kernel, &kernel.getBody().front());
  return toScalars(kernel.getBlockIds(), id);
}

std::vector<Scalar> Trace::parallelBegin(ArrayRef<Operand> extents,
                                         std::optional<int64_t> coalescedWidth,
                                         const Fragment *loopLayout) {
  requireKernel("'T.Parallel'");
  constexpr int64_t kMostIterations = int64_t(1) << 48;
  SmallVector<OpFoldResult> mixed;
  int64_t iterations = 1;
  for (const Operand &extent : extents) {
    mixed.push_back(toIndexOrConstant(extent, "'T.Parallel' extent"));
    std::optional<int64_t> constant = getConstantIntValue(mixed.back());
    if (constant && *constant < 0)
      fail("'T.Parallel' extent " + Twine(*constant) + " is negative");
    if (constant && *constant > 0 &&
        (llvm::MulOverflow(iterations, *constant, iterations) || iterations > kMostIterations))
      fail("'T.Parallel' has more than 2^48 iterations");
  }
  auto loop = create<tile::ParallelOp>(mixed);
  if (coalescedWidth)
    loop.setCoalescedWidth(*coalescedWidth);
  if (loopLayout)
    loop.setLoopLayoutAttr(tile::FragmentAttr::get(context.get(), *loopLayout));
  verified(loop);
  openFrame("parallel", loop, &loop.getBody().front());
  return toScalars(loop.getIterators(), id);
}

Scalar Trace::pipelinedBegin(const Operand &start, const Operand &stop, int64_t numStages,
                             std::optional<ArrayRef<int64_t>> order,
                             std::optional<ArrayRef<int64_t>> stage) {
  requireKernel("'T.Pipelined'");
  auto loop = create<tile::PipelinedOp>(toIndex(start, "start of 'T.Pipelined'"),
                                        toIndex(stop, "stop of 'T.Pipelined'"), numStages);
  verified(loop);
  if (order)
    loop.setOrder(*order);
  if (stage)
    loop.setStage(*stage);
  openFrame("pipelined", loop, &loop.getBody().front());
  return wrap(loop.getInductionVar(), builder.getIndexType());
}

Scalar Trace::forBegin(const Operand &start, const Operand &stop, int64_t step, LoopKind kind) {
  if (step == 0)
    fail("the step of a loop is 0");
  Value lower = toIndex(start, "start of a loop"), upper = toIndex(stop, "stop of a loop");
  auto label = [&](scf::ForOp loop) {
    if (kind == LoopKind::Unroll)
      loop->setAttr("tile.unroll", builder.getUnitAttr());
    if (kind == LoopKind::Vectorized)
      loop->setAttr("tile.vectorized", builder.getUnitAttr());
    return loop;
  };
  Type index = builder.getIndexType();
  if (step > 0) {
    auto loop = label(create<scf::ForOp>(lower, upper, indexConstant(step)));
    openFrame("for", loop, loop.getBody());
    return wrap(loop.getInductionVar(), index);
  }
  // A falling loop counts its iterations upwards: ceil((start - stop) / -step) of them.
  Scalar distance = binary(BinaryKind::Sub, wrap(lower, index), wrap(upper, index));
  Scalar rounded = binary(BinaryKind::Add, distance, Literal::ofInt(-step - 1));
  Scalar trips = binary(BinaryKind::FloorDiv, rounded, Literal::ofInt(-step));
  auto loop = label(create<scf::ForOp>(indexConstant(0), trips.value, indexConstant(1)));
  openFrame("for", loop, loop.getBody());
  Scalar offset =
      binary(BinaryKind::Mul, wrap(loop.getInductionVar(), index), Literal::ofInt(step));
  return binary(BinaryKind::Add, wrap(lower, index), offset);
}

std::vector<Scalar> Trace::persistentBegin(ArrayRef<Operand> domain, const Operand &waveSize,
                                           const Operand &index) {
  requireKernel("'T.Persistent'");
  if (domain.empty())
    fail("'T.Persistent' needs a domain of at least one extent");
  Type type = builder.getIndexType();
  SmallVector<Scalar> extents;
  Scalar total = constant(Literal::ofInt(1), type);
  for (const Operand &extent : domain) {
    extents.push_back(wrap(toIndex(extent, "extent of 'T.Persistent'"), type));
    total = binary(BinaryKind::Mul, total, extents.back());
  }
  Value wave = toIndex(waveSize, "wave_size of 'T.Persistent'");
  Value first = toIndex(index, "index of 'T.Persistent'");
  // Tiles first, first + wave, first + 2 * wave, … of the row-major domain: each tile once over all
  // values of `index` below `wave`.
  auto loop = create<scf::ForOp>(first, total.value, wave);
  openFrame("for", loop, loop.getBody());
  Scalar rest = wrap(loop.getInductionVar(), type);
  std::vector<Scalar> tile(extents.size());
  for (unsigned dim = extents.size(); dim-- > 0;) {
    tile[dim] = dim == 0 ? rest : binary(BinaryKind::FloorMod, rest, extents[dim]);
    rest = binary(BinaryKind::FloorDiv, rest, extents[dim]);
  }
  return tile;
}

//===----------------------------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------------------------===//

void Trace::ifBegin(const Operand &condition) {
  auto branch = create<scf::IfOp>(TypeRange(), toCondition(condition), /*withElse=*/false);
  openFrame("if", branch, &branch.getThenRegion().front());
}

void Trace::elseBegin() {
  if (getRegionKind() != "if")
    fail("'else' without 'if'");
  auto branch = cast<scf::IfOp>(frames.back().op);
  Block *block = builder.createBlock(&branch.getElseRegion());
  scf::YieldOp::create(builder, location());
  builder.setInsertionPointToStart(block);
  frames.back().kind = "else";
}

std::vector<Variable> Trace::ifMerge(ArrayRef<MergedName> names) {
  if (getRegionKind() != "else")
    fail("values are merged at the end of an 'else'");
  auto branch = cast<scf::IfOp>(frames.back().op);
  Operation *thenEnd = branch.getThenRegion().front().getTerminator();
  std::vector<Variable> merged;
  for (const MergedName &name : names) {
    // Elements and variables are read at the end of their own side.
    auto evaluate = [&](const Operand &operand) -> Operand {
      if (std::holds_alternative<Literal>(operand))
        return operand;
      return materialize(operand);
    };
    Operand elseValue = evaluate(name.elseValue);
    OpBuilder::InsertPoint here = builder.saveInsertionPoint();
    builder.setInsertionPoint(thenEnd);
    Operand thenValue = evaluate(name.thenValue);
    builder.restoreInsertionPoint(here);
    Type dtype = commonType(thenValue, elseValue);
    Variable variable = allocVarOutside(frames.size() - 1, name.name, dtype, std::nullopt);
    assign(variable, elseValue);
    here = builder.saveInsertionPoint();
    builder.setInsertionPoint(thenEnd);
    assign(variable, thenValue);
    builder.restoreInsertionPoint(here);
    merged.push_back(variable);
  }
  return merged;
}

void Trace::whileBegin() {
  auto loop = create<scf::WhileOp>(TypeRange(), ValueRange());
  Block *before = builder.createBlock(&loop.getBefore());
  builder.setInsertionPointAfter(loop);
  openFrame("while", loop, before);
}

void Trace::whileBody(const Operand &condition) {
  auto loop = cast<scf::WhileOp>(frames.back().op);
  create<scf::ConditionOp>(toCondition(condition), ValueRange());
  Block *after = builder.createBlock(&loop.getAfter());
  create<scf::YieldOp>();
  builder.setInsertionPointToStart(after);
}

void Trace::whileCancel(bool keep) {
  if (getRegionKind() != "while")
    fail("no condition of a 'while' is open");
  Frame frame = frames.back();
  frames.pop_back();
  auto loop = cast<scf::WhileOp>(frame.op);
  if (keep) {
    Block &before = loop.getBefore().front();
    loop->getBlock()->getOperations().splice(Block::iterator(loop), before.getOperations());
  }
  builder.restoreInsertionPoint(frame.after);
  loop.erase();
}

void Trace::end() {
  if (frames.empty())
    fail("a region is closed that was not opened");
  Frame frame = frames.back();
  frames.pop_back();
  builder.restoreInsertionPoint(frame.after);
  verifyOrThrow(frame.op, /*recursively=*/false);
}

//===----------------------------------------------------------------------------------------===//
// Values of which one side is evaluated
//===----------------------------------------------------------------------------------------===//

void Trace::selectBegin(const Operand &condition) {
  auto branch = create<scf::IfOp>(TypeRange(), toCondition(condition), /*withElse=*/true);
  openFrame("select", branch, &branch.getThenRegion().front());
}

void Trace::selectElse(const Operand &value) {
  if (getRegionKind() != "select")
    fail("a region inside an expression is still open");
  // A literal stays one until the other side's dtype is known; anything else is read here, on its
  // own side.
  if (!std::holds_alternative<Literal>(value))
    frames.back().selectValue = materialize(value);
  else
    frames.back().selectLiteral = std::get<Literal>(value);
  auto branch = cast<scf::IfOp>(frames.back().op);
  builder.setInsertionPoint(branch.getElseRegion().front().getTerminator());
}

static bool isSpeculatable(Block &block) {
  return llvm::all_of(block.without_terminator(), [](Operation &op) {
    return isMemoryEffectFree(&op) && mlir::isSpeculatable(&op);
  });
}

Scalar Trace::selectEnd(const Operand &value) {
  Frame frame = frames.back();
  auto branch = cast<scf::IfOp>(frame.op);
  Block *thenBlock = &branch.getThenRegion().front(), *elseBlock = &branch.getElseRegion().front();

  // Both sides meet in one dtype; each conversion is built on its own side.
  Operand thenOperand =
      frame.selectValue ? Operand(*frame.selectValue) : Operand(*frame.selectLiteral);
  Operand elseOperand = value;
  if (!std::holds_alternative<Literal>(value))
    elseOperand = materialize(value);
  Type dtype = commonType(thenOperand, elseOperand);
  Scalar elseValue = convert(elseOperand, dtype);
  builder.setInsertionPoint(thenBlock->getTerminator());
  Scalar thenValue = convert(thenOperand, dtype);

  frames.pop_back();
  builder.restoreInsertionPoint(frame.after);
  builder.setInsertionPointAfter(branch);
  Value result;
  if (frontend::isSpeculatable(*thenBlock) && frontend::isSpeculatable(*elseBlock)) {
    for (Block *block : {thenBlock, elseBlock}) {
      block->getTerminator()->erase();
      branch->getBlock()->getOperations().splice(Block::iterator(branch), block->getOperations());
    }
    result = builder.createOrFold<arith::SelectOp>(branch.getLoc(), branch.getCondition(),
                                                   thenValue.value, elseValue.value);
  } else {
    auto typed = scf::IfOp::create(builder, branch.getLoc(), TypeRange(thenValue.value.getType()),
                                   branch.getCondition(), /*withElse=*/true);
    auto move = [&](Block *from, Region &to, Value yielded) {
      Block *block = &to.front();
      if (!block->empty())
        block->clear();
      from->getTerminator()->erase();
      block->getOperations().splice(block->end(), from->getOperations());
      OpBuilder atEnd = OpBuilder::atBlockEnd(block);
      scf::YieldOp::create(atEnd, branch.getLoc(), yielded);
    };
    move(thenBlock, typed.getThenRegion(), thenValue.value);
    move(elseBlock, typed.getElseRegion(), elseValue.value);
    result = typed.getResult(0);
  }
  branch.erase();
  builder.restoreInsertionPoint(frame.after);
  return wrap(result, dtype);
}

/// The operations of this block that only `value` needs, in order, if evaluating them later is the
/// same: pure ones, and reads with nothing written since. Empty if there is no read among them.
static SmallVector<Operation *> collectDeferrable(Value value, Block *block, Block::iterator end) {
  llvm::SmallSetVector<Operation *, 8> slice;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != block || op->getNumRegions() != 0)
      continue;
    if (!isMemoryEffectFree(op) && !isa<tile::LoadOp>(op))
      continue;
    if (slice.insert(op))
      llvm::append_range(work, op->getOperands());
    if (slice.size() > 256) // a helper that builds this much in one expression keeps it as it is
      return {};
  }
  // Everything between the first read and here must leave memory alone.
  bool writes = false, reads = false;
  for (Block::iterator it = end; it != block->begin();) {
    Operation *op = &*--it;
    if (auto load = dyn_cast<tile::LoadOp>(op); load && slice.contains(op)) {
      if (writes)
        slice.remove(op);
      else
        reads = true;
    }
    writes |= !isMemoryEffectFree(op) && !isa<tile::LoadOp>(op);
  }
  if (!reads)
    return {};
  SmallVector<Operation *> ordered = llvm::to_vector(slice);
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

Scalar Trace::ifThenElse(const Operand &condition, const Operand &thenOperand,
                         const Operand &elseOperand) {
  // Python has evaluated both sides already. What a side reads is read again inside the branch, and
  // the first read is dead unless something else uses it.
  Block *block = builder.getInsertionBlock();
  Block::iterator end = builder.getInsertionPoint();
  auto deferred = [&](const Operand &operand) {
    SmallVector<Operation *> ops;
    if (auto *scalar = std::get_if<Scalar>(&operand))
      ops = collectDeferrable(scalar->value, block, end);
    return ops;
  };
  SmallVector<Operation *> thenOps = deferred(thenOperand), elseOps = deferred(elseOperand);
  auto replay = [&](const Operand &operand, ArrayRef<Operation *> ops) -> Operand {
    if (ops.empty())
      return operand;
    IRMapping mapping;
    for (Operation *op : ops)
      builder.clone(*op, mapping);
    Scalar scalar = std::get<Scalar>(operand);
    return wrap(mapping.lookup(scalar.value), scalar.dtype);
  };
  selectBegin(condition);
  selectElse(replay(thenOperand, thenOps));
  return selectEnd(replay(elseOperand, elseOps));
}

//===----------------------------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------------------------===//

Variable Trace::allocVar(StringRef name, Type dtype, std::optional<Operand> init) {
  auto type = tile::makeBufferType({}, dtype, tile::Space::Local);
  auto op = verified(create<tile::AllocOp>(type, builder.getStringAttr(name), ValueRange(),
                                           tile::ReduceKindAttr()));
  Variable variable{{op.getBuffer(), dtype, {}, false, id}};
  if (init)
    assign(variable, *init);
  return variable;
}

Variable Trace::allocVarOutside(unsigned depth, StringRef name, Type dtype,
                                std::optional<Operand> init) {
  if (depth >= frames.size())
    return allocVar(name, dtype, init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(frames[depth].op);
  return allocVar(name, dtype, init);
}

void Trace::assign(const Variable &variable, const Operand &value) {
  checkOwn(variable.cell.traceId);
  Scalar converted = convert(value, variable.cell.dtype);
  verified(create<tile::StoreOp>(converted.value, variable.cell.value, ValueRange()));
}

} // namespace tilewright::frontend
