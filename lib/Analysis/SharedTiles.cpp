//===- SharedTiles.cpp - tiles in the block's shared memory ----------------------------------===//

#include "tilewright/Analysis/SharedTiles.h"

#include "tilewright/Tile/Teams.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

bool livesInShared(AllocOp alloc) {
  if (getSpace(alloc.getBuffer()) == Space::Shared)
    return true;
  return getSpace(alloc.getBuffer()) == Space::Fragment &&
         alloc->getAttrOfType<LayoutAttr>(kPlacementAttr);
}

SmallVector<Operation *> getUsersThroughViews(AllocOp alloc) {
  SmallVector<Operation *> users, pending(alloc->getUsers());
  while (!pending.empty()) {
    Operation *user = pending.pop_back_val();
    if (isa<AnnotateLayoutOp>(user))
      continue;
    users.push_back(user);
    if (isa<SliceOp, ViewOp>(user))
      llvm::append_range(pending, user->getUsers());
  }
  return users;
}

int64_t getPlacedBytes(AllocOp alloc) {
  MemRefType type = alloc.getBuffer().getType();
  int64_t elements = type.getNumElements();
  if (auto layout = alloc->getAttrOfType<LayoutAttr>(kPlacementAttr))
    elements = layout.getLayout().getPhysicalSize().value_or(elements);
  return elements * getStorageBytes(type.getElementType());
}

bool shareBytes(Value a, Value b) {
  if (!a || !b || a == b)
    return true;
  auto first = a.getDefiningOp<AllocOp>(), second = b.getDefiningOp<AllocOp>();
  if (!first || !second || !first->hasAttr(kOffsetAttr) || !second->hasAttr(kOffsetAttr))
    return false;
  auto begin = [](AllocOp alloc) {
    return alloc->getAttrOfType<IntegerAttr>(kOffsetAttr).getInt();
  };
  return begin(first) < begin(second) + getPlacedBytes(second) &&
         begin(second) < begin(first) + getPlacedBytes(first);
}

bool isSharedByThreads(Value root) {
  if (getSpace(root) == Space::Local)
    return false;
  if (getSpace(root) != Space::Fragment)
    return true;
  auto alloc = root.getDefiningOp<AllocOp>();
  return alloc && isa_and_present<LayoutAttr>(alloc->getAttr(kPlacementAttr));
}

bool haveConflict(Operation *a, Operation *b) {
  std::optional<SmallVector<Effect>> first = getEffects(a), second = getEffects(b);
  auto isOfTensor = [](const Effect &effect) { return getSpace(effect.root) == Space::Global; };
  if (!first || !second || (getBlockOrder(a) && llvm::any_of(*second, isOfTensor)) ||
      (getBlockOrder(b) && llvm::any_of(*first, isOfTensor)))
    return true;
  for (const Effect &x : *first)
    for (const Effect &y : *second)
      if ((x.kind != EffectKind::Read || y.kind != EffectKind::Read) && shareBytes(x.root, y.root))
        return true;
  return false;
}

bool touchesAny(Operation *op, ArrayRef<Value> tiles) {
  std::optional<SmallVector<Effect>> effects = getEffects(op);
  return !effects || llvm::any_of(*effects, [&](const Effect &effect) {
    return llvm::is_contained(tiles, effect.root);
  });
}

bool isFirstUse(Operation *statement, Value tile) {
  if (!isa<KernelOp>(statement->getParentOp()))
    return false;
  for (Operation *op = statement->getPrevNode(); op; op = op->getPrevNode()) {
    std::optional<SmallVector<Effect>> effects = getEffects(op);
    if (!effects || llvm::any_of(*effects, [&](const Effect &effect) {
          return getSpace(effect.root) != Space::Global && shareBytes(effect.root, tile);
        }))
      return false;
  }
  return true;
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
    for (Operation *user : getUsersThroughViews(alloc)) {
      if (isa<SliceOp, ViewOp>(user))
        continue; // touches nothing itself
      // Inside a loop or branch, the whole of it counts.
      Operation *statement = alloc->getBlock()->findAncestorOpInBlock(*user);
      range.first = std::min(range.first, numbers[statement].first);
      range.last = std::max(range.last, numbers[statement].last);
      // Roles run at once: a tile of one of them alone has a range inside it, any other one lasts
      // as long as all of them.
      range.role = getTeamRole(alloc);
      if (getTeamRole(user) && !range.role)
        for (RoleOp role : getTeamRoles(kernel)) {
          range.first = std::min(range.first, numbers[role].first);
          range.last = std::max(range.last, numbers[role].last);
        }
      // A producer may fill it from the start of the block on, until the loop of its readers ends.
      auto group = user->getParentOfType<AsyncGroupOp>();
      if (!group || !group.getEmpty())
        continue;
      Operation *whole = kernel.getBody().front().findAncestorOpInBlock(*user);
      range.first = 0;
      range.last = std::max(range.last, numbers[whole].last);
    }
  });
  return ranges;
}

int64_t getWantedBlocks(KernelOp kernel) {
  int64_t blocks = 1;
  kernel.walk([&](HintOp hint) {
    auto count = hint->getAttrOfType<IntegerAttr>("count");
    if (hint.getName() == "min_blocks_per_sm" && count)
      blocks = std::max(blocks, count.getInt());
  });
  return blocks;
}

} // namespace tilewright::analysis
