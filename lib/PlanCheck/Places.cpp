//===- Places.cpp - who runs which iteration, point by point ---------------------------------===//

#include "Places.h"
#include "IndexTape.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::plancheck;

static llvm::Error fault(const Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

SmallVector<int64_t, 4> Places::unravel(int64_t iteration) const {
  SmallVector<int64_t, 4> index(extents.size());
  for (int64_t dim = int64_t(extents.size()) - 1; dim >= 0; --dim) {
    index[dim] = iteration % extents[dim];
    iteration /= extents[dim];
  }
  return index;
}

llvm::Expected<Places> Places::get(tile::ParallelOp loop, int64_t numThreads) {
  auto attribute = loop->getAttrOfType<tile::FragmentAttr>(tile::kDistributionAttr);
  if (!attribute)
    return fault("its loop has no distribution");
  const Fragment fragment = attribute.getFragment();
  Places places;
  places.numThreads = numThreads;
  places.numIterations = 1;
  for (OpFoldResult extent : loop.getMixedExtents()) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    if (!constant)
      return fault("its loop has run-time extents");
    places.extents.push_back(*constant);
    places.numIterations *= *constant;
  }
  bool isNumbered = fragment.getRank() == 1 && places.extents.size() != 1;
  if (isNumbered ? fragment.getShape()[0] != places.numIterations
                 : fragment.getShape() != ArrayRef<int64_t>(places.extents))
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
  for (int64_t iteration = 0; iteration < places.numIterations; ++iteration) {
    SmallVector<int64_t, 4> index =
        isNumbered ? SmallVector<int64_t, 4>{iteration} : places.unravel(iteration);
    index.push_back(0);
    for (int64_t &replica = index.back(); replica < fragment.getReplicas(); ++replica) {
      tape.runIteration(index);
      std::optional<int64_t> t = tape.get(thread), s = tape.get(slot);
      if (!t || !s || *t < 0 || *t >= numThreads || *s < 0)
        return fault("iteration " + Twine(iteration) + " of its loop runs on no thread");
      copies.push_back({iteration, *t, *s, replica == 0});
      places.numSlots = std::max(places.numSlots, *s + 1);
    }
  }
  places.iterations.assign(numThreads * places.numSlots, -1);
  places.owned.assign(numThreads * places.numSlots, false);
  for (const Copy &copy : copies) {
    int64_t &held = places.iterations[copy.thread * places.numSlots + copy.slot];
    if (held >= 0)
      return fault("iterations " + Twine(held) + " and " + Twine(copy.iteration) +
                   " of its loop share slot " + Twine(copy.slot) + " of thread " +
                   Twine(copy.thread));
    held = copy.iteration;
    places.owned[copy.thread * places.numSlots + copy.slot] = copy.isOwner;
  }
  return places;
}
