//===- BruteForce.cpp - the widest legal plan, by trying --------------------------------------===//

#include "BruteForce.h"

using namespace tilewright;
using namespace tilewright::test;
using llvm::ArrayRef;
using llvm::SmallVector;

BruteForce::BruteForce(const RandomAccess &access)
    : access(access), numThreads(access.numThreads),
      numSlots(access.distribution.getSlotsPerThread()),
      points(access.samples.size() * numThreads * numSlots) {
  const Fragment &fragment = access.distribution;
  const access::Request &request = access.request;
  SmallVector<int64_t, 4> index(fragment.getRank(), 0);
  for (bool more = true; more;) {
    SmallVector<Owner, 2> owners;
    for (int64_t replica = 0; replica < fragment.getReplicas(); ++replica)
      owners.push_back(*fragment.ownerOf(index, replica));
    for (auto [number, sample] : llvm::enumerate(access.samples)) {
      Point point;
      point.isActive = true;
      SmallVector<int64_t, 4> coordinates, extents = sample.extents;
      for (const IndexExpr &coordinate : request.coordinates)
        coordinates.push_back(*coordinate.evaluate(index, sample.symbols));
      for (unsigned dim = 0; dim < coordinates.size(); ++dim)
        if (coordinates[dim] < 0 || coordinates[dim] >= extents[dim])
          point.outside |= uint64_t(1) << dim;
      point.isInBounds = point.outside == 0;
      for (auto [position, test] : llvm::enumerate(request.tests)) {
        int64_t value = *test.value.evaluate(index, sample.symbols);
        point.tests |= uint64_t(test.isEquality ? value == 0 : value < 0) << position;
      }
      SmallVector<int64_t, 4> physical = coordinates;
      if (request.memory.layout) {
        physical = *request.memory.layout->map(coordinates);
        extents.assign(request.memory.layout->getOutputShape().begin(),
                       request.memory.layout->getOutputShape().end());
      }
      for (unsigned dim = 0; dim < physical.size(); ++dim)
        point.offset = point.offset * extents[dim] + physical[dim];
      for (auto [replica, owner] : llvm::enumerate(owners)) {
        point.isOwner = replica == 0;
        points[(number * numThreads + owner.thread) * numSlots + owner.slot] = point;
      }
    }
    unsigned dim = index.size();
    while (dim > 0 && ++index[dim - 1] == fragment.getShape()[dim - 1])
      index[--dim] = 0;
    more = dim > 0;
  }
}

/// Whether a value read for one slot does for the other, always.
bool BruteForce::areOneElement(int64_t a, int64_t b) const {
  if (access.request.isConditional) // each slot decides for itself whether it reads
    return a == b;
  for (size_t sample = 0; sample < access.samples.size(); ++sample)
    for (int64_t thread = 0; thread < numThreads; ++thread) {
      const Point &x = at(sample, thread, a), &y = at(sample, thread, b);
      if (x.isActive != y.isActive || x.isInBounds != y.isInBounds ||
          (x.isActive && x.isInBounds && x.offset != y.offset))
        return false;
    }
  return true;
}

/// The first slot decides for all whether the group is done; `guarded` are the dimensions it tests.
std::string BruteForce::findGroupFault(ArrayRef<int64_t> slots, uint64_t guarded) const {
  int64_t width = slots.size();
  if (width > 1 &&
      access.request.memory.baseAlignment % (width * access.request.memory.elementBytes))
    return "base";
  for (size_t sample = 0; sample < access.samples.size(); ++sample)
    for (int64_t thread = 0; thread < numThreads; ++thread) {
      const Point &first = at(sample, thread, slots[0]);
      bool isWrite = !access.request.isRead;
      for (int64_t slot : slots)
        if (at(sample, thread, slot).isActive != first.isActive ||
            (isWrite && at(sample, thread, slot).isOwner != first.isOwner))
          return "activity";
      for (int64_t slot : slots)
        if (first.isActive && at(sample, thread, slot).tests != first.tests)
          return "branches";
      if (!first.isActive || (isWrite && !first.isOwner))
        continue;
      bool isDone = !access.request.memory.isGlobal || (first.outside & guarded) == 0;
      for (int64_t k = 0; k < width; ++k) {
        const Point &point = at(sample, thread, slots[k]);
        if (!access.request.memory.isGlobal && !point.isInBounds)
          isDone = false; // the program is wrong here
        else if (access.request.memory.isGlobal && isDone != point.isInBounds)
          return "bounds";
        if (isDone && point.offset != first.offset + k)
          return "offsets";
      }
      if (isDone && first.offset % width != 0)
        return "alignment";
    }
  return "";
}

std::optional<int64_t> BruteForce::getMaximum() const {
  // Groups are found where a thread has all its elements at hand.
  std::optional<std::pair<size_t, int64_t>> reference;
  SmallVector<int64_t> slots;
  for (int64_t slot = 0; slot < numSlots; ++slot) {
    bool isUsed = false;
    for (int64_t thread = 0; thread < numThreads; ++thread)
      isUsed |= at(0, thread, slot).isActive;
    if (isUsed && (!access.request.isRead ||
                   llvm::none_of(slots, [&](int64_t other) { return areOneElement(other, slot); })))
      slots.push_back(slot);
  }
  for (size_t sample = 0; sample < access.samples.size() && !reference; ++sample)
    for (int64_t thread = 0; thread < numThreads && !reference; ++thread)
      if (llvm::all_of(slots, [&](int64_t slot) {
            const Point &point = at(sample, thread, slot);
            return point.isActive && point.isInBounds;
          }))
        reference = {sample, thread};
  if (!reference)
    return std::nullopt;
  llvm::sort(slots, [&](int64_t a, int64_t b) {
    auto key = [&](int64_t slot) {
      return std::pair(at(reference->first, reference->second, slot).offset, slot);
    };
    return key(a) < key(b);
  });
  for (int64_t width = access.request.maxWidth; width > 1; width /= 2) {
    bool isLegal = slots.size() % width == 0;
    for (size_t start = 0; isLegal && start < slots.size(); start += width)
      isLegal = findGroupFault(ArrayRef(slots).slice(start, width), ~uint64_t(0)).empty();
    if (isLegal)
      return width;
  }
  return 1;
}

std::string BruteForce::findFault(const access::Plan &plan) const {
  uint64_t guarded = 0;
  for (int64_t dim : plan.guarded)
    guarded |= uint64_t(1) << dim;
  std::vector<int64_t> done(numSlots, -1); // the slot that is read or written for each
  for (int64_t group = 0; group < plan.getNumGroups(); ++group) {
    ArrayRef<int64_t> slots = ArrayRef(plan.slots).slice(group * plan.width, plan.width);
    std::string fault = findGroupFault(slots, guarded);
    if (!fault.empty())
      return fault + " of group " + std::to_string(group);
    for (int64_t slot : slots) {
      if (done[slot] >= 0)
        return "slot " + std::to_string(slot) + " is done twice";
      done[slot] = slot;
    }
  }
  for (auto [slot, source] : llvm::enumerate(plan.sources))
    if (source >= 0)
      done[slot] = plan.slots[source];
  for (int64_t thread = 0; thread < numThreads; ++thread)
    for (int64_t slot = 0; slot < numSlots; ++slot)
      if (at(0, thread, slot).isActive && (done[slot] < 0 || !areOneElement(slot, done[slot])))
        return "slot " + std::to_string(slot) + " is not done";
  for (size_t sample = 0; sample < access.samples.size(); ++sample)
    for (int64_t thread = 0; thread < numThreads; ++thread)
      for (auto [group, anchor] : llvm::enumerate(plan.anchors)) {
        const Point &own = at(sample, thread, plan.slots[group * plan.width]),
                    &from = at(sample, thread, plan.slots[anchor * plan.width]);
        if (own.isActive && own.isInBounds &&
            (!from.isActive || from.offset + plan.deltas[group] != own.offset))
          return "delta of group " + std::to_string(group);
      }
  return "";
}
