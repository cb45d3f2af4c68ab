//===- Loops.cpp - the iterations of T.Parallel that one thread runs -------------------------===//
//
// A loop's distribution says which (thread, slot) runs which iteration. Its inverse gives, for this
// thread and each slot, the loop's variables. Loops that touch registers are written out slot by
// slot, since a register's number must be a constant; the others stay loops where they are long.
//
//===----------------------------------------------------------------------------------------===//

#include "ThreadLowering.h"
#include "tilewright/Layout/Algebra.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;
using namespace tilewright::analysis;

namespace tilewright::nvptx {

/// Longer loops without registers stay loops.
static constexpr int64_t kMaxUnrolledSlots = 16;

/// The threads that are active in a slot, as the cheapest condition that says so.
enum class Activity { All, None, Prefix, Other };
static Activity classify(const PlaceTable &table, int64_t slot, int64_t &prefix) {
  int64_t active = 0;
  prefix = 0;
  for (int64_t thread = 0; thread < table.threads; ++thread) {
    if (table.at(thread, slot) < 0)
      continue;
    ++active;
    if (thread == prefix)
      ++prefix;
  }
  if (active == table.threads)
    return Activity::All;
  if (active == 0)
    return Activity::None;
  return active == prefix ? Activity::Prefix : Activity::Other;
}

LogicalResult
ThreadLowering::lowerSlot(ParallelOp op, const Layout &inverse, Value slot, int64_t slotNumber,
                          const LoopDistribution &distribution,
                          const llvm::DenseMap<Operation *, std::vector<int64_t>> &registers) {
  const Fragment fragment = op->getAttrOfType<FragmentAttr>(kDistributionAttr).getFragment();
  SmallVector<Value> place{threadId, slot}, coordinates;
  for (const IndexExpr &output : inverse.getOutputs())
    coordinates.push_back(evaluate(output, place));
  Value replica = coordinates.pop_back_val();

  // The condition under which this place runs an iteration at all.
  Value guard;
  auto compare = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) -> Value {
    return b.createOrFold<arith::CmpIOp>(predicate, lhs, rhs);
  };
  auto checkPlace = [&] {
    SmallVector<Value> dims(coordinates);
    dims.push_back(replica);
    for (auto [coordinate, extent] : llvm::zip(coordinates, fragment.getShape()))
      guard = both(guard, compare(arith::CmpIPredicate::ult, coordinate, index(extent)));
    guard = both(guard,
                 compare(arith::CmpIPredicate::eq, evaluate(fragment.getThread(), dims), threadId));
    guard =
        both(guard, compare(arith::CmpIPredicate::eq, evaluate(fragment.getSlot(), dims), slot));
  };
  const PlaceTable &table = distribution.table;
  if (slotNumber >= 0) {
    int64_t prefix = 0;
    switch (classify(table, slotNumber, prefix)) {
    case Activity::None:
      return success();
    case Activity::All:
      break;
    case Activity::Prefix:
      guard = compare(arith::CmpIPredicate::ult, threadId, index(prefix));
      break;
    case Activity::Other:
      checkPlace();
      break;
    }
  } else if (llvm::is_contained(table.element, -1)) {
    checkPlace();
  }

  if (fragment.getRank() != distribution.extents.size()) { // iterations are numbered row-major
    Value number = coordinates[0];
    coordinates.assign(distribution.extents.size(), Value());
    for (int64_t dim = coordinates.size() - 1; dim >= 0; --dim) {
      IndexExpr extent(distribution.extents[dim]), n = IndexExpr::dim(0);
      coordinates[dim] = dim == 0 ? number : evaluate(n % extent, number);
      number = evaluate(floorDiv(n, extent), number);
    }
  }
  IterationContext context;
  context.loop = op;
  context.slot = slotNumber;
  context.registers = &registers;
  if (fragment.getReplicas() > 1)
    context.isOwner = compare(arith::CmpIPredicate::eq, replica, index(0));
  IterationContext *outer = std::exchange(iteration, &context);
  LogicalResult result = success();
  guarded(guard, [&] {
    for (auto [iterator, coordinate] : llvm::zip(op.getIterators(), coordinates))
      values[iterator] = coordinate;
    result = lowerBlock(op.getBody().front());
  });
  iteration = outer;
  return result;
}

LogicalResult ThreadLowering::lowerParallel(ParallelOp op) {
  if (iteration)
    return unsupported(op) << "'T.Parallel' inside 'T.Parallel'";
  std::optional<LoopDistribution> distribution = getDistribution(op, kernel.getNumThreads());
  if (!distribution)
    return lowerRunTimeParallel(op);
  if (distribution->getNumIterations() == 0)
    return success();
  const Fragment fragment = op->getAttrOfType<FragmentAttr>(kDistributionAttr).getFragment();
  llvm::Expected<Layout> inverse = invert(fragment);
  if (!inverse)
    return op.emitError() << "internal error: the distribution " << fragment.str()
                          << " has no inverse: " << llvm::toString(inverse.takeError());
  llvm::DenseMap<Operation *, std::vector<int64_t>> registers;
  bool resolved = true;
  op.walk([&](Operation *access) {
    bool isWrite = isa<StoreOp>(access);
    if (!isWrite && !isa<LoadOp>(access))
      return;
    Value buffer = access->getOperand(isWrite ? 1 : 0);
    auto it = storages.find(getRoot(buffer));
    if (it == storages.end() || it->second->kind != Storage::Kind::Registers)
      return;
    ValueRange indices = isWrite ? ValueRange(cast<StoreOp>(access).getIndices())
                                 : ValueRange(cast<LoadOp>(access).getIndices());
    auto expressions = getAccessIndices(op, buffer, indices);
    auto slots = expressions ? resolveSlots(*distribution, *expressions, it->second->staticExtents,
                                            it->second->places, isWrite)
                             : std::nullopt;
    if (slots)
      registers[access] = *slots;
    else
      resolved = false;
  });
  if (!resolved)
    return op.emitError() << "internal error: a register tile of this loop was not laid out for it";
  int64_t slots = distribution->table.slots;
  if (registers.empty() && slots > kMaxUnrolledSlots) {
    auto loop = scf::ForOp::create(b, index(0), index(slots), index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    return lowerSlot(op, *inverse, loop.getInductionVar(), -1, *distribution, registers);
  }
  for (int64_t slot = 0; slot < slots; ++slot)
    if (failed(lowerSlot(op, *inverse, index(slot), slot, *distribution, registers)))
      return failure();
  return success();
}

/// Extents known when the kernel runs: thread t takes iterations t, t + threads, …
LogicalResult ThreadLowering::lowerRunTimeParallel(ParallelOp op) {
  SmallVector<Value> extents;
  Value total = index(1);
  for (OpFoldResult extent : op.getMixedExtents()) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    extents.push_back(constant ? index(*constant) : mapped(cast<Value>(extent)));
    total = b.createOrFold<arith::MulIOp>(total, extents.back());
  }
  auto loop = scf::ForOp::create(b, threadId, total, index(kernel.getNumThreads()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  SmallVector<Value> coordinates(extents.size());
  for (int64_t dim = extents.size() - 1; dim >= 0; --dim) {
    coordinates[dim] =
        dim == 0 ? number : arith::RemUIOp::create(b, number, extents[dim]).getResult();
    if (dim)
      number = arith::DivUIOp::create(b, number, extents[dim]);
  }
  llvm::DenseMap<Operation *, std::vector<int64_t>> registers;
  IterationContext context;
  context.loop = op;
  context.slot = -1;
  context.registers = &registers;
  iteration = &context;
  for (auto [iterator, coordinate] : llvm::zip(op.getIterators(), coordinates))
    values[iterator] = coordinate;
  LogicalResult result = lowerBlock(op.getBody().front());
  iteration = nullptr;
  return result;
}

} // namespace tilewright::nvptx
