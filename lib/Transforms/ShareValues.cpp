//===- ShareValues.cpp - what is computed twice is computed once ------------------------------===//
//
// Common subexpressions of the code that lowerings leave: structured control flow, one block a region.
//
//   %a = arith.addi %i, %one               %a = arith.addi %i, %one
//   %x = llvm.load %p               ──▶    %x = llvm.load %p
//   %b = arith.addi %i, %one               use %a, %x, %x
//   %y = llvm.load %p
//   use %b, %x, %y
//
// MLIR's own pass walks, for each load that it finds again, over all operations between the two. A
// statement of a thousand terms has thousands of loads in one block: its time was quadratic. Here a
// table holds the loads since the last operation of the block that may write, and is emptied there.
//
// Expects: regions of one block where values are to be shared.   Leaves: fewer operations.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopedHashTable.h"

namespace tilewright {
#define GEN_PASS_DEF_SHAREVALUES
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {

/// Operations are the same if they do the same with the same operands, wherever they stand.
struct SameOperation : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(
        const_cast<Operation *>(op), OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *lhs, const Operation *rhs) {
    if (lhs == rhs)
      return true;
    if (lhs == getEmptyKey() || lhs == getTombstoneKey() || rhs == getEmptyKey() ||
        rhs == getTombstoneKey())
      return false;
    return OperationEquivalence::isEquivalentTo(const_cast<Operation *>(lhs),
                                                const_cast<Operation *>(rhs),
                                                OperationEquivalence::IgnoreLocations);
  }
};

/// What an operation without regions does with memory.
enum class Memory { Nothing, Reads, Writes, Other };

Memory getMemory(Operation &op) {
  if (isMemoryEffectFree(&op))
    return Memory::Nothing;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return Memory::Writes; // nothing is known
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  auto all = [&](auto isKind) { return llvm::all_of(effects, isKind); };
  if (all([](auto &effect) { return isa<MemoryEffects::Read>(effect.getEffect()); }))
    return Memory::Reads;
  return all([](auto &effect) { return isa<MemoryEffects::Allocate>(effect.getEffect()); })
             ? Memory::Other
             : Memory::Writes;
}

class Sharer {
public:
  /// Shares what the regions of `op` compute; whether something in them may write.
  bool shareIn(Operation &op) {
    if (op.hasTrait<OpTrait::IsIsolatedFromAbove>())
      return Sharer().shareInRegions(op);
    return shareInRegions(op);
  }

private:
  using Table = llvm::ScopedHashTable<Operation *, Operation *, SameOperation>;

  bool shareInRegions(Operation &op) {
    bool mayWrite = !op.hasTrait<OpTrait::HasRecursiveMemoryEffects>();
    for (Region &region : op.getRegions())
      for (Block &block : region) {
        {
          Table::ScopeTy scope(known); // blocks of a region do not see each other's values
          mayWrite |= shareInBlock(block);
        }
        eraseUnused(block); // no table knows its operations any more
      }
    return mayWrite;
  }

  bool shareInBlock(Block &block) {
    bool mayWrite = false;
    llvm::DenseSet<Operation *, SameOperation> loads; // since the last write
    auto noteWrite = [&] {
      mayWrite = true;
      loads.clear();
    };
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (op.getNumRegions()) {
        if (shareIn(op))
          noteWrite();
        continue;
      }
      if (op.hasTrait<OpTrait::IsTerminator>())
        continue;
      switch (getMemory(op)) {
      case Memory::Nothing:
        if (Operation *first = known.lookup(&op))
          replace(op, *first);
        else
          known.insert(&op, &op);
        break;
      case Memory::Reads:
        if (auto [first, isNew] = loads.insert(&op); !isNew)
          replace(op, **first);
        break;
      case Memory::Writes:
        noteWrite();
        break;
      case Memory::Other:
        break;
      }
    }
    return mayWrite;
  }

  /// From the end on, so that what only unused values use goes too.
  static void eraseUnused(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  static void replace(Operation &op, Operation &first) {
    op.replaceAllUsesWith(first.getResults());
    op.erase();
  }

  Table known;
};

struct ShareValuesPass : tilewright::impl::ShareValuesBase<ShareValuesPass> {
  void runOnOperation() override { Sharer().shareIn(*getOperation()); }
};

} // namespace
