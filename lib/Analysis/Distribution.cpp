//===- Distribution.cpp - which thread runs which iteration ----------------------------------===//

#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Analysis/RowTeams.h"
#include "tilewright/Layout/Enumerate.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

static int64_t product(ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
}

std::optional<OwnerTable> OwnerTable::get(const Fragment &fragment, int64_t numThreads) {
  SmallVector<int64_t> space(fragment.getShape());
  space.push_back(fragment.getReplicas());
  std::optional<ValueColumns> columns =
      enumerateValues({fragment.getThread(), fragment.getSlot()}, space);
  if (!columns)
    return std::nullopt;
  OwnerTable table;
  table.threads = numThreads;
  for (int64_t slot : (*columns)[1]) {
    if (slot < 0)
      return std::nullopt;
    table.slots = std::max(table.slots, slot + 1);
  }
  if (table.slots > (1 << 16))
    return std::nullopt;
  table.element.assign(numThreads * table.slots, -1);
  table.replica.assign(numThreads * table.slots, 0);
  int64_t replicas = fragment.getReplicas();
  for (size_t i = 0; i < (*columns)[0].size(); ++i) {
    int64_t thread = (*columns)[0][i], slot = (*columns)[1][i];
    if (thread < 0 || thread >= numThreads)
      return std::nullopt;
    int64_t position = thread * table.slots + slot;
    if (table.element[position] != -1)
      return std::nullopt;
    table.element[position] = i / replicas;
    table.replica[position] = i % replicas;
  }
  return table;
}

int64_t LoopDistribution::getNumIterations() const { return product(extents); }

std::optional<SmallVector<IndexExpr, 4>> getAccessIndices(ParallelOp loop, Value buffer,
                                                          ValueRange indices) {
  Effect effect = makeElementEffect(EffectKind::Read, buffer, indices);
  if (effect.region.isWhole())
    return std::nullopt;
  IndexTranslator translator(loop);
  for (BlockArgument iterator : loop.getIterators())
    translator.addDim(iterator);
  SmallVector<IndexExpr, 4> result;
  for (const DimRange &range : *effect.region.ranges) {
    IndexExpr coordinate(range.offset.constant);
    for (auto [value, factor] : range.offset.terms) {
      std::optional<IndexExpr> term = translator.translate(value);
      if (!term || term->getNumSymbols() > 0)
        return std::nullopt;
      coordinate = coordinate + *term * factor;
    }
    result.push_back(coordinate);
  }
  return result;
}

std::optional<std::vector<int64_t>> resolveSlots(const LoopDistribution &loop,
                                                 ArrayRef<IndexExpr> indices,
                                                 ArrayRef<int64_t> shape,
                                                 const OwnerTable &fragment, bool isWrite) {
  std::optional<ValueColumns> columns = enumerateValues(indices, loop.extents);
  if (!columns || fragment.threads != loop.table.threads)
    return std::nullopt;
  // The row-major number of the element that each iteration touches.
  std::vector<int64_t> elements(loop.getNumIterations(), 0);
  for (auto [dim, extent] : llvm::enumerate(shape))
    for (size_t i = 0; i < elements.size(); ++i) {
      int64_t coordinate = (*columns)[dim][i];
      if (coordinate < 0 || coordinate >= extent)
        return std::nullopt; // a guard decides at run time: not a matter of registers
      elements[i] = elements[i] * extent + coordinate;
    }
  std::vector<int64_t> slots(loop.table.slots, -1);
  std::vector<bool> isTouched(product(shape), false);
  // For each element its last thread so far that holds it, and that thread's first slot of it.
  std::vector<std::pair<int64_t, int64_t>> held(product(shape), {-1, -1});
  int64_t numWritten = 0;
  for (int64_t thread = 0; thread < loop.table.threads; ++thread) {
    for (int64_t slot = fragment.slots - 1; slot >= 0; --slot)
      if (int64_t element = fragment.at(thread, slot); element >= 0)
        held[element] = {thread, slot};
    llvm::SmallVector<bool, 64> written(fragment.slots, false);
    for (int64_t slot = 0; slot < loop.table.slots; ++slot) {
      int64_t iteration = loop.table.at(thread, slot);
      if (iteration < 0)
        continue;
      int64_t element = elements[iteration];
      auto [holder, heldSlot] = held[element];
      if (holder != thread)
        return std::nullopt;
      if (slots[slot] == -1)
        slots[slot] = heldSlot;
      if (slots[slot] != heldSlot)
        return std::nullopt;
      if (!written[heldSlot])
        ++numWritten;
      written[heldSlot] = true;
      isTouched[element] = true;
    }
  }
  if (isWrite) {
    int64_t numHeld = 0;
    for (int64_t element : fragment.element)
      numHeld += element >= 0 && isTouched[element];
    if (numHeld != numWritten)
      return std::nullopt;
  }
  return slots;
}

std::optional<ReductionPlan> planReduction(const OwnerTable &source, ArrayRef<int64_t> shape,
                                           const OwnerTable &dest, int64_t dim) {
  int64_t inner = product(shape.drop_front(dim + 1)), rows = product(shape) / shape[dim];
  auto rowOf = [&](int64_t element) {
    return element / (inner * shape[dim]) * inner + element % inner;
  };
  ReductionPlan plan;
  plan.own.resize(dest.slots);
  std::vector<SmallVector<int64_t>> owners(rows);
  for (int64_t thread = 0; thread < source.threads; ++thread) {
    for (int64_t slot = 0; slot < dest.slots; ++slot) {
      int64_t row = dest.at(thread, slot);
      SmallVector<int64_t> own;
      for (int64_t s = 0; s < source.slots; ++s)
        if (source.at(thread, s) >= 0 && row >= 0 && rowOf(source.at(thread, s)) == row)
          own.push_back(s);
      if (row < 0 || own.empty())
        return std::nullopt;
      if (thread == 0)
        plan.own[slot] = own;
      else if (plan.own[slot] != own)
        return std::nullopt;
      owners[row].push_back(thread);
    }
    // Each element must be held exactly once, or it would count more than once.
    for (int64_t s = 0; s < source.slots; ++s)
      if (source.at(thread, s) < 0 || source.replica[thread * source.slots + s] != 0)
        return std::nullopt;
  }
  // The owners of a row must be all threads that differ from one of them in the bits of one mask.
  int64_t span = -1;
  for (const SmallVector<int64_t> &threads : owners) {
    int64_t mask = 0;
    for (int64_t thread : threads)
      mask |= thread ^ threads.front();
    if (span == -1)
      span = mask;
    if (threads.empty() || mask != span ||
        int64_t(threads.size()) != (int64_t(1) << llvm::popcount(uint64_t(mask))))
      return std::nullopt;
  }
  constexpr int64_t kLanes = 32;
  for (int64_t bit = 1; bit < kLanes; bit *= 2)
    if (span & bit)
      plan.laneMasks.push_back(bit);
  plan.warpMask = span / kLanes;
  return plan;
}

/// The owners of a register tile that is used whole.
static std::optional<OwnerTable> getOwners(Value buffer, int64_t numThreads) {
  auto alloc = buffer.getDefiningOp<AllocOp>();
  auto placement = alloc ? alloc->getAttrOfType<FragmentAttr>(kPlacementAttr) : FragmentAttr();
  return placement ? OwnerTable::get(placement.getFragment(), numThreads) : std::nullopt;
}

bool meetsInMemory(TileEffectsOpInterface statement, int64_t numThreads) {
  if (!statement.synchronisesInside())
    return false;
  auto reduce = dyn_cast<ReduceOp>(statement.getOperation());
  if (!reduce)
    return true;
  std::optional<OwnerTable> source = getOwners(reduce.getSource(), numThreads),
                            dest = getOwners(reduce.getDest(), numThreads);
  if (!source || !dest)
    return true;
  std::optional<ReductionPlan> plan =
      planReduction(*source, reduce.getSource().getType().getShape(), *dest, reduce.getDim());
  return !plan || plan->warpMask != 0;
}

/// Whether a reduction or a scan of a tile in memory gives each row to one warp or thread.
static bool hasRowsOfOneWarp(Operation *statement, int64_t numThreads) {
  if (!isa<ReduceOp, CumsumOp>(statement) || getOwners(statement->getOperand(0), numThreads))
    return false;
  std::optional<RowTeams> teams = RowTeams::get(statement, numThreads);
  return !teams || teams->warps == 1;
}

int64_t getScratchBytes(TileEffectsOpInterface statement, int64_t numThreads) {
  if (!meetsInMemory(statement, numThreads) || hasRowsOfOneWarp(statement, numThreads))
    return 0;
  return statement.getScratchSharedBytes(numThreads);
}

std::optional<SmallVector<int64_t>> getStaticExtents(ParallelOp loop) {
  SmallVector<int64_t> extents;
  for (OpFoldResult extent : loop.getMixedExtents()) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    if (!constant)
      return std::nullopt;
    extents.push_back(*constant);
  }
  return extents;
}

std::optional<LoopDistribution> getDistribution(ParallelOp loop, int64_t numThreads) {
  auto attribute = loop->getAttrOfType<FragmentAttr>(kDistributionAttr);
  std::optional<SmallVector<int64_t>> extents = getStaticExtents(loop);
  if (!attribute || !extents)
    return std::nullopt;
  std::optional<OwnerTable> table = OwnerTable::get(attribute.getFragment(), numThreads);
  if (!table)
    return std::nullopt;
  return LoopDistribution{*extents, std::move(*table)};
}

Fragment blockedFragment(int64_t numElements, int64_t numThreads, int64_t width) {
  IndexExpr n = IndexExpr::dim(0);
  IndexExpr thread = floorDiv(n, width) % numThreads;
  IndexExpr slot = floorDiv(n, width * numThreads) * width + n % width;
  return Fragment::get({numElements}, thread, slot);
}

} // namespace tilewright::analysis
