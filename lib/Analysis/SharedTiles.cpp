//===- SharedTiles.cpp - tiles in the block's shared memory ----------------------------------===//

#include "tilewright/Analysis/SharedTiles.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

bool livesInShared(AllocOp alloc) {
  if (getSpace(alloc.getBuffer()) == Space::Shared)
    return true;
  return getSpace(alloc.getBuffer()) == Space::Fragment &&
         alloc->getAttrOfType<LayoutAttr>(kPlacementAttr);
}

int64_t getPlacedBytes(AllocOp alloc) {
  MemRefType type = alloc.getBuffer().getType();
  int64_t elements = type.getNumElements();
  if (auto layout = alloc->getAttrOfType<LayoutAttr>(kPlacementAttr))
    elements = layout.getLayout().getPhysicalSize().value_or(elements);
  return elements * getStorageBytes(type.getElementType());
}

llvm::DenseMap<Operation *, LiveRange> getLiveRanges(KernelOp kernel) {
  // Every op has a number in program order, and the numbers of what it contains follow it.
  llvm::DenseMap<Operation *, LiveRange> numbers, ranges;
  int64_t next = 0;
  auto number = [&](auto &&self, Operation *op) -> void {
    numbers[op].first = next++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          self(self, &inner);
    numbers[op].last = next - 1;
  };
  number(number, kernel);
  kernel.walk([&](AllocOp alloc) {
    if (!livesInShared(alloc))
      return;
    LiveRange &range = ranges[alloc];
    range = {next, -1};
    SmallVector<Operation *> users(alloc->getUsers());
    while (!users.empty()) {
      Operation *user = users.pop_back_val();
      if (isa<AnnotateLayoutOp>(user))
        continue;
      if (isa<SliceOp, ViewOp>(user)) {
        llvm::append_range(users, user->getUsers());
        continue;
      }
      // Inside a loop or branch, the whole of it counts.
      Operation *statement = alloc->getBlock()->findAncestorOpInBlock(*user);
      range.first = std::min(range.first, numbers[statement].first);
      range.last = std::max(range.last, numbers[statement].last);
    }
  });
  return ranges;
}

} // namespace tilewright::analysis
