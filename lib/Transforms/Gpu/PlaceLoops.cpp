//===- PlaceLoops.cpp - loops and reductions follow what is placed --------------------------===//

#include "LayoutSolver.h"
#include "tilewright/Layout/Algebra.h"
#include "tilewright/Layout/Questions.h"

using namespace mlir;
using namespace tilewright::tile;
using namespace tilewright::analysis;

namespace tilewright {

bool hasInverse(const Fragment &fragment) {
  llvm::Expected<Layout> inverse = invert(fragment);
  if (inverse)
    return true;
  llvm::consumeError(inverse.takeError());
  return false;
}

/// Runs each iteration where the element it touches lives, if each touches an element of its own.
std::optional<Fragment> LayoutSolver::distributionFrom(const FragmentAccess &access,
                                                       ArrayRef<int64_t> extents) {
  auto it = placed.find(access.fragment);
  if (it == placed.end())
    return std::nullopt;
  Layout map = Layout::get(extents, access.indices);
  if (!isInjective(map).isYes())
    return std::nullopt;
  llvm::Expected<Fragment> composed = compose(it->second, map);
  if (!composed) {
    llvm::consumeError(composed.takeError());
    return std::nullopt;
  }
  if (!OwnerTable::get(*composed, getNumThreads(access.op)) || !hasInverse(*composed))
    return std::nullopt;
  return *composed;
}

/// The first of the threads that hold each element alone; nothing if they are in no regular order.
static std::optional<Fragment> firstReplica(const Fragment &fragment) {
  SmallVector<IndexExpr> dims;
  for (unsigned dim = 0; dim < fragment.getRank(); ++dim)
    dims.push_back(IndexExpr::dim(dim));
  dims.push_back(IndexExpr(0));
  Fragment first = Fragment::get(fragment.getShape(), fragment.getThread().substitute(dims),
                                 fragment.getSlot().substitute(dims));
  return hasInverse(first) ? std::optional(first) : std::nullopt;
}

/// What the loop's accesses to memory cost under a distribution; nothing if it has none.
std::optional<int64_t> LayoutSolver::costOf(ParallelOp loop, ArrayRef<int64_t> extents,
                                            const Fragment &fragment) {
  std::optional<OwnerTable> table = OwnerTable::get(fragment, getNumThreads(loop));
  if (!table)
    return std::nullopt;
  LoopDistribution distribution{SmallVector<int64_t>(extents), std::move(*table)};
  int64_t cost = 0;
  bool hasMemory = false;
  loop.walk([&](Operation *op) {
    std::optional<access::ElementAccess> element = access::ElementAccess::get(op);
    std::optional<access::Request> request =
        element ? access::makeRequest(*element, loop, distribution, context) : std::nullopt;
    if (!request)
      return;
    hasMemory = true;
    cost += access::planAccess(*request).cost;
  });
  return hasMemory ? std::optional(cost) : std::nullopt;
}

/// Neighbouring elements on neighbouring threads, `width` of them on each: the width whose accesses
/// cost least, as far as the iterations suffice for all threads.
Fragment LayoutSolver::freeDistribution(ParallelOp loop, ArrayRef<int64_t> extents) {
  int64_t total = 1;
  for (int64_t extent : extents)
    total *= extent;
  constexpr int64_t kMaxVectorBytes = 16;
  int64_t smallest = kMaxVectorBytes;
  loop.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (auto type = dyn_cast<MemRefType>(operand.getType()))
        smallest = std::min(smallest, getStorageBytes(type.getElementType()));
  });
  int64_t numThreads = getNumThreads(loop);
  Fragment best = blockedFragment(total, numThreads, 1);
  std::optional<int64_t> bestCost = costOf(loop, extents, best);
  for (int64_t width = 2; bestCost && width <= kMaxVectorBytes / smallest; width *= 2) {
    if (extents.back() % width || total < width * numThreads)
      break;
    Fragment candidate = blockedFragment(total, numThreads, width);
    std::optional<int64_t> cost = costOf(loop, extents, candidate);
    if (cost && *cost < *bestCost) {
      best = candidate;
      bestCost = cost;
    }
  }
  return best;
}

std::optional<Fragment> placementFor(const Fragment &distribution, ArrayRef<int64_t> extents,
                                     ArrayRef<IndexExpr> indices, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dimOf;
  SmallVector<bool> used(extents.size(), false);
  for (auto [position, index] : llvm::enumerate(indices)) {
    if (index.getKind() == IndexExpr::Kind::Dim && !used[index.getPosition()] &&
        extents[index.getPosition()] == shape[position]) {
      used[index.getPosition()] = true;
      dimOf.push_back(index.getPosition());
    } else if (index.isConstant(0) && shape[position] == 1) {
      dimOf.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  Fragment current = distribution;
  if (distribution.getRank() != extents.size()) { // numbered row-major
    SmallVector<IndexExpr> dims;
    IndexExpr number(0);
    for (auto [dim, extent] : llvm::enumerate(extents))
      number = number * extent + IndexExpr::dim(dim);
    dims.push_back(number);
    dims.push_back(IndexExpr::dim(extents.size())); // replica
    current = Fragment::get(extents, distribution.getThread().substitute(dims),
                            distribution.getSlot().substitute(dims), distribution.getReplicas());
  }
  SmallVector<int64_t> remaining(extents.size());
  std::iota(remaining.begin(), remaining.end(), 0);
  for (int64_t dim = extents.size() - 1; dim >= 0; --dim) {
    if (used[dim])
      continue;
    std::optional<Fragment> projected = projectAway(current, dim);
    if (!projected)
      return std::nullopt;
    current = *projected;
    remaining.erase(remaining.begin() + dim);
  }
  // Rename: dim k of `current` is the loop's remaining[k].
  SmallVector<IndexExpr> renamed(remaining.size() + 1);
  for (auto [k, loopDim] : llvm::enumerate(remaining)) {
    auto *position = llvm::find(dimOf, loopDim);
    renamed[k] = IndexExpr::dim(position - dimOf.begin());
  }
  renamed[remaining.size()] = IndexExpr::dim(shape.size());
  return Fragment::get(shape, current.getThread().substitute(renamed),
                       current.getSlot().substitute(renamed), current.getReplicas());
}

/// Whether no iteration may run on several threads: an update whose previous value is used happens
/// once, and what an iteration reads from memory must not be what its double has written.
bool LayoutSolver::mustRunOnce(ParallelOp loop) {
  llvm::SmallDenseSet<Value> read, written;
  bool usesPrevious = false;
  loop.walk([&](Operation *op) {
    if (auto atomic = dyn_cast<AtomicElementOp>(op))
      usesPrevious |= !atomic.getPrevious().use_empty();
    else if (auto load = dyn_cast<LoadOp>(op); load && !fragmentRoot(load.getBuffer()))
      read.insert(getRoot(load.getBuffer()));
    else if (auto store = dyn_cast<StoreOp>(op); store && !fragmentRoot(store.getBuffer()))
      written.insert(getRoot(store.getBuffer()));
  });
  return usesPrevious || llvm::any_of(written, [&](Value root) {
           return read.contains(root) && getSpace(root) != Space::Local;
         });
}

void LayoutSolver::placeLoop(ParallelOp loop, bool allowFree) {
  if (distributions.contains(loop) || loop->hasAttr(kExchangeAttr))
    return;
  std::optional<SmallVector<int64_t>> extents = getStaticExtents(loop);
  AllocOp undecided;
  std::optional<SmallVector<FragmentAccess>> accesses = accessesOf(loop, &undecided);
  if (!accesses || !extents) {
    if (undecided)
      refuse(loop, undecided, "a loop indexes it by values that name no register");
    else
      loop.walk([&](Operation *op) {
        for (Value operand : op->getOperands())
          if (isa<MemRefType>(operand.getType()))
            if (AllocOp alloc = fragmentRoot(operand))
              refuse(loop, alloc, "a loop with run-time extents touches it");
      });
    if (!extents)
      return;
    accesses.emplace(); // solved again with the tile in memory
  }
  std::optional<Fragment> distribution;
  bool isOnce = mustRunOnce(loop);
  // Writes first: every copy of what is written must be reached.
  for (bool writes : {true, false})
    for (const FragmentAccess &access : *accesses)
      if (!distribution && access.isWrite == writes) {
        distribution = distributionFrom(access, *extents);
        if (distribution && isOnce && distribution->getReplicas() > 1)
          distribution = writes ? std::nullopt : firstReplica(*distribution);
      }
  if (!distribution && (allowFree || accesses->empty()))
    distribution = freeDistribution(loop, *extents);
  if (!distribution)
    return;
  distributions.try_emplace(loop, *distribution);
  for (FragmentAccess &access : *accesses) {
    if (placed.contains(access.fragment))
      continue;
    ArrayRef<int64_t> shape = access.fragment.getBuffer().getType().getShape();
    if (auto placement = placementFor(*distribution, *extents, access.indices, shape))
      place(access.fragment, *placement);
  }
}

void LayoutSolver::placeReduction(ReduceOp reduce) {
  AllocOp source = fragmentRoot(reduce.getSource()), dest = fragmentRoot(reduce.getDest());
  if (!source || !dest || placed.contains(dest) || !placed.contains(source))
    return;
  if (source.getBuffer() != reduce.getSource() || dest.getBuffer() != reduce.getDest())
    return;
  int64_t dim = reduce.getDim();
  std::optional<Fragment> projected = projectAway(placed.find(source)->second, dim);
  if (!projected)
    return;
  ArrayRef<int64_t> shape = dest.getBuffer().getType().getShape();
  if (shape.size() == projected->getRank()) {
    place(dest, *projected);
    return;
  }
  // The dimension is kept with extent 1, or the result of a vector is one element.
  SmallVector<IndexExpr> dims;
  for (unsigned k = 0; k < projected->getRank(); ++k)
    dims.push_back(IndexExpr::dim(int64_t(k) < dim ? k : k + 1));
  dims.push_back(IndexExpr::dim(shape.size()));
  place(dest, Fragment::get(shape, projected->getThread().substitute(dims),
                            projected->getSlot().substitute(dims), projected->getReplicas()));
}

/// Everything that constraints did not reach, in program order; loops that touch memory first,
/// since a width matters to them. True if something new was placed.
bool LayoutSolver::placeRemaining() {
  size_t before = distributions.size() + placed.size();
  auto hasNew = [&] { return distributions.size() + placed.size() != before; };
  for (bool memoryOnly : {true, false})
    kernel.walk([&](ParallelOp loop) {
      if (!hasNew() && (!memoryOnly || touchesMemory(loop)))
        placeLoop(loop, /*allowFree=*/true);
    });
  return hasNew();
}

bool LayoutSolver::touchesMemory(ParallelOp loop) {
  return loop
      .walk([&](Operation *op) {
        std::optional<access::ElementAccess> element = access::ElementAccess::get(op);
        bool isMemory = element && access::getMemory(getRoot(element->buffer), context);
        return isMemory ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace tilewright
