//===- ControlFlow.cpp - kernels, loops and branches of a trace ------------------------------===//

#include "tilewright/Frontend/ControlFlow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------------------------===//
// Kernels and loops
//===----------------------------------------------------------------------------------------===//

static std::vector<Scalar> toScalars(Block::BlockArgListType arguments, uint64_t id) {
  std::vector<Scalar> scalars;
  for (BlockArgument argument : arguments)
    scalars.push_back({argument, argument.getType(), id});
  return scalars;
}

std::vector<Scalar> ControlFlow::kernelBegin(ArrayRef<Operand> grid, ArrayRef<int64_t> threads) {
  if (regions.findKernel())
    emitter.fail("a kernel inside a kernel: close the first 'with T.Kernel' before");
  SmallVector<Value> extents;
  for (const Operand &extent : grid)
    extents.push_back(scalars.toIndex(extent, "grid extent"));
  if (extents.empty()) // T.Kernel() is a single block
    extents.push_back(scalars.indexConstant(1));
  auto kernel = emitter.createVerified<tile::KernelOp>(extents, threads);
  regions.open("kernel", kernel, &kernel.getBody().front());
  return toScalars(kernel.getBlockIds(), emitter.getId());
}

std::vector<Scalar> ControlFlow::parallelBegin(ArrayRef<Operand> extents,
                                               std::optional<int64_t> coalescedWidth,
                                               const Fragment *loopLayout) {
  regions.requireKernel("'T.Parallel'");
  constexpr int64_t kMostIterations = int64_t(1) << 48;
  SmallVector<OpFoldResult> mixed;
  int64_t iterations = 1;
  for (const Operand &extent : extents) {
    mixed.push_back(scalars.toIndexOrConstant(extent, "'T.Parallel' extent"));
    std::optional<int64_t> constant = getConstantIntValue(mixed.back());
    if (constant && *constant < 0)
      emitter.fail("'T.Parallel' extent " + Twine(*constant) + " is negative");
    if (constant && *constant > 0 &&
        (llvm::MulOverflow(iterations, *constant, iterations) || iterations > kMostIterations))
      emitter.fail("'T.Parallel' has more than 2^48 iterations");
  }
  auto loop = emitter.create<tile::ParallelOp>(mixed);
  if (coalescedWidth)
    loop.setCoalescedWidth(*coalescedWidth);
  if (loopLayout)
    loop.setLoopLayoutAttr(tile::FragmentAttr::get(emitter.getContext(), *loopLayout));
  emitter.verified(loop);
  regions.open("parallel", loop, &loop.getBody().front());
  return toScalars(loop.getIterators(), emitter.getId());
}

Scalar ControlFlow::pipelinedBegin(const Operand &start, const Operand &stop, int64_t numStages,
                                   std::optional<ArrayRef<int64_t>> order,
                                   std::optional<ArrayRef<int64_t>> stage) {
  regions.requireKernel("'T.Pipelined'");
  auto loop =
      emitter.create<tile::PipelinedOp>(scalars.toIndex(start, "start of 'T.Pipelined'"),
                                        scalars.toIndex(stop, "stop of 'T.Pipelined'"), numStages);
  emitter.verified(loop);
  if (order)
    loop.setOrder(*order);
  if (stage)
    loop.setStage(*stage);
  regions.open("pipelined", loop, &loop.getBody().front());
  return emitter.wrap(loop.getInductionVar(), builder.getIndexType());
}

Scalar ControlFlow::forBegin(const Operand &start, const Operand &stop, int64_t step,
                             LoopKind kind) {
  if (step == 0)
    emitter.fail("the step of a loop is 0");
  Value lower = scalars.toIndex(start, "start of a loop"),
        upper = scalars.toIndex(stop, "stop of a loop");
  auto label = [&](scf::ForOp loop) {
    if (kind == LoopKind::Unroll)
      loop->setAttr("tile.unroll", builder.getUnitAttr());
    if (kind == LoopKind::Vectorized)
      loop->setAttr("tile.vectorized", builder.getUnitAttr());
    return loop;
  };
  Type index = builder.getIndexType();
  if (step > 0) {
    auto loop = label(emitter.create<scf::ForOp>(lower, upper, scalars.indexConstant(step)));
    regions.open("for", loop, loop.getBody());
    return emitter.wrap(loop.getInductionVar(), index);
  }
  // A falling loop counts its iterations upwards: ceil((start - stop) / -step) of them.
  Scalar distance =
      arithmetic.binary(BinaryKind::Sub, emitter.wrap(lower, index), emitter.wrap(upper, index));
  Scalar rounded = arithmetic.binary(BinaryKind::Add, distance, Literal::ofInt(-step - 1));
  Scalar trips = arithmetic.binary(BinaryKind::FloorDiv, rounded, Literal::ofInt(-step));
  auto loop = label(
      emitter.create<scf::ForOp>(scalars.indexConstant(0), trips.value, scalars.indexConstant(1)));
  regions.open("for", loop, loop.getBody());
  Scalar offset = arithmetic.binary(BinaryKind::Mul, emitter.wrap(loop.getInductionVar(), index),
                                    Literal::ofInt(step));
  return arithmetic.binary(BinaryKind::Add, emitter.wrap(lower, index), offset);
}

std::vector<Scalar> ControlFlow::persistentBegin(ArrayRef<Operand> domain, const Operand &waveSize,
                                                 const Operand &index) {
  regions.requireKernel("'T.Persistent'");
  if (domain.empty())
    emitter.fail("'T.Persistent' needs a domain of at least one extent");
  Type type = builder.getIndexType();
  SmallVector<Scalar> extents;
  Scalar total = scalars.constant(Literal::ofInt(1), type);
  for (const Operand &extent : domain) {
    extents.push_back(emitter.wrap(scalars.toIndex(extent, "extent of 'T.Persistent'"), type));
    total = arithmetic.binary(BinaryKind::Mul, total, extents.back());
  }
  Value wave = scalars.toIndex(waveSize, "wave_size of 'T.Persistent'");
  Value first = scalars.toIndex(index, "index of 'T.Persistent'");
  // Tiles first, first + wave, first + 2 * wave, … of the row-major domain: each tile once over all
  // values of `index` below `wave`.
  auto loop = emitter.create<scf::ForOp>(first, total.value, wave);
  regions.open("for", loop, loop.getBody());
  Scalar rest = emitter.wrap(loop.getInductionVar(), type);
  std::vector<Scalar> tile(extents.size());
  for (unsigned dim = extents.size(); dim-- > 0;) {
    tile[dim] = dim == 0 ? rest : arithmetic.binary(BinaryKind::FloorMod, rest, extents[dim]);
    rest = arithmetic.binary(BinaryKind::FloorDiv, rest, extents[dim]);
  }
  return tile;
}

//===----------------------------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------------------------===//

void ControlFlow::ifBegin(const Operand &condition) {
  auto branch =
      emitter.create<scf::IfOp>(TypeRange(), scalars.toCondition(condition), /*withElse=*/false);
  regions.open("if", branch, &branch.getThenRegion().front());
}

void ControlFlow::elseBegin() {
  if (regions.getKind() != "if")
    emitter.fail("'else' without 'if'");
  auto branch = cast<scf::IfOp>(regions.getInnermost().op);
  Block *block = builder.createBlock(&branch.getElseRegion());
  scf::YieldOp::create(builder, emitter.getLocation());
  builder.setInsertionPointToStart(block);
  regions.getInnermost().kind = "else";
}

std::vector<Variable> ControlFlow::ifMerge(ArrayRef<MergedName> names) {
  if (regions.getKind() != "else")
    emitter.fail("values are merged at the end of an 'else'");
  auto branch = cast<scf::IfOp>(regions.getInnermost().op);
  Operation *thenEnd = branch.getThenRegion().front().getTerminator();
  std::vector<Variable> merged;
  for (const MergedName &name : names) {
    // Elements and variables are read at the end of their own side.
    auto evaluate = [&](const Operand &operand) -> Operand {
      if (std::holds_alternative<Literal>(operand))
        return operand;
      return scalars.materialize(operand);
    };
    Operand elseValue = evaluate(name.elseValue);
    OpBuilder::InsertPoint here = builder.saveInsertionPoint();
    builder.setInsertionPoint(thenEnd);
    Operand thenValue = evaluate(name.thenValue);
    builder.restoreInsertionPoint(here);
    Type dtype = scalars.commonType(thenValue, elseValue);
    Variable variable =
        variables.allocOutside(regions.getDepth() - 1, name.name, dtype, std::nullopt);
    variables.assign(variable, elseValue);
    here = builder.saveInsertionPoint();
    builder.setInsertionPoint(thenEnd);
    variables.assign(variable, thenValue);
    builder.restoreInsertionPoint(here);
    merged.push_back(variable);
  }
  return merged;
}

void ControlFlow::whileBegin() {
  auto loop = emitter.create<scf::WhileOp>(TypeRange(), ValueRange());
  Block *before = builder.createBlock(&loop.getBefore());
  builder.setInsertionPointAfter(loop);
  regions.open("while", loop, before);
}

void ControlFlow::whileBody(const Operand &condition) {
  auto loop = cast<scf::WhileOp>(regions.getInnermost().op);
  emitter.create<scf::ConditionOp>(scalars.toCondition(condition), ValueRange());
  Block *after = builder.createBlock(&loop.getAfter());
  emitter.create<scf::YieldOp>();
  builder.setInsertionPointToStart(after);
}

void ControlFlow::whileCancel(bool keep) {
  if (regions.getKind() != "while")
    emitter.fail("no condition of a 'while' is open");
  auto loop = cast<scf::WhileOp>(regions.close().op);
  if (keep) {
    Block &before = loop.getBefore().front();
    loop->getBlock()->getOperations().splice(Block::iterator(loop), before.getOperations());
  }
  loop.erase();
}

} // namespace tilewright::frontend
