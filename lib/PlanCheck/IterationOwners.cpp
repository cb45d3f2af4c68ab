//===- IterationOwners.cpp - who runs which iteration, point by point ------------------------===//

#include "IterationOwners.h"
#include "IndexTape.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::plancheck;

static llvm::Error fault(const Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

SmallVector<int64_t, 4> IterationOwners::unravel(int64_t iteration) const {
  SmallVector<int64_t, 4> index(extents.size());
  for (int64_t dim = int64_t(extents.size()) - 1; dim >= 0; --dim) {
    index[dim] = iteration % extents[dim];
    iteration /= extents[dim];
  }
  return index;
}

llvm::Expected<IterationOwners> IterationOwners::get(tile::ParallelOp loop, int64_t numThreads) {
  auto attribute = loop->getAttrOfType<tile::FragmentAttr>(tile::kDistributionAttr);
  if (!attribute)
    return fault("its loop has no distribution");
  const Fragment fragment = attribute.getFragment();
  IterationOwners owners;
  owners.numThreads = numThreads;
  owners.numIterations = 1;
  for (OpFoldResult extent : loop.getMixedExtents()) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    if (!constant)
      return fault("its loop has run-time extents");
    owners.extents.push_back(*constant);
    owners.numIterations *= *constant;
  }
  bool isNumbered = fragment.getRank() == 1 && owners.extents.size() != 1;
  if (isNumbered ? fragment.getShape()[0] != owners.numIterations
                 : fragment.getShape() != ArrayRef<int64_t>(owners.extents))
    return fault("its loop's distribution has other extents than the loop");

  IndexTape tape;
  SmallVector<IndexTape::Register> dims;
  for (unsigned dim = 0; dim <= fragment.getRank(); ++dim)
    dims.push_back(tape.iterator(dim));
  IndexTape::Register thread = tape.emit(fragment.getThread(), dims),
                      slot = tape.emit(fragment.getSlot(), dims);
  tape.startRound(0);
  struct Copy {
    int64_t iteration, thread, slot;
    bool isOwner;
  };
  std::vector<Copy> copies;
  for (int64_t iteration = 0; iteration < owners.numIterations; ++iteration) {
    SmallVector<int64_t, 4> index =
        isNumbered ? SmallVector<int64_t, 4>{iteration} : owners.unravel(iteration);
    index.push_back(0);
    for (int64_t &replica = index.back(); replica < fragment.getReplicas(); ++replica) {
      tape.runIteration(index);
      std::optional<int64_t> t = tape.get(thread), s = tape.get(slot);
      if (!t || !s || *t < 0 || *t >= numThreads || *s < 0)
        return fault("iteration " + Twine(iteration) + " of its loop runs on no thread");
      copies.push_back({iteration, *t, *s, replica == 0});
      owners.numSlots = std::max(owners.numSlots, *s + 1);
    }
  }
  owners.iterations.assign(numThreads * owners.numSlots, -1);
  owners.owned.assign(numThreads * owners.numSlots, false);
  for (const Copy &copy : copies) {
    int64_t &held = owners.iterations[copy.thread * owners.numSlots + copy.slot];
    if (held >= 0)
      return fault("iterations " + Twine(held) + " and " + Twine(copy.iteration) +
                   " of its loop share slot " + Twine(copy.slot) + " of thread " +
                   Twine(copy.thread));
    held = copy.iteration;
    owners.owned[copy.thread * owners.numSlots + copy.slot] = copy.isOwner;
  }
  return owners;
}
