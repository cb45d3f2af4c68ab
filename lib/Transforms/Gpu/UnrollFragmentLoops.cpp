//===- UnrollFragmentLoops.cpp - give registers names -----------------------------------------===//
//
// A fragment lives in registers, and a register has no address: an index that a serial loop moves
// must become a constant. Loops with constant bounds are unrolled; others are left, and the
// fragment goes to shared memory.
//
// Expects: any tile IR.   Leaves: the same program.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tilewright {
#define GEN_PASS_DEF_UNROLLFRAGMENTLOOPS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// More copies than this would cost more than a trip through shared memory.
constexpr int64_t kMaxTrips = 128;

/// Whether `variable` reaches an index of a fragment access or an offset of a slice of a fragment.
bool indexesFragment(Value variable) {
  SmallVector<Value> work{variable};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (!seen.insert(user).second)
        continue;
      Value buffer = TypeSwitch<Operation *, Value>(user)
                         .Case([](LoadOp op) { return op.getBuffer(); })
                         .Case([](StoreOp op) { return op.getBuffer(); })
                         .Case([](SliceOp op) { return op.getSource(); })
                         .Default(Value());
      if (buffer && getSpace(getRoot(buffer)) == Space::Fragment)
        return true;
      if (!buffer && isMemoryEffectFree(user))
        llvm::append_range(work, user->getResults());
    }
  }
  return false;
}

struct UnrollFragmentLoopsPass
    : tilewright::impl::UnrollFragmentLoopsBase<UnrollFragmentLoopsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops; // inner ones first
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      std::optional<llvm::APInt> trips = loop.getStaticTripCount();
      if (trips && trips->ule(kMaxTrips) && indexesFragment(loop.getInductionVar()))
        (void)loopUnrollFull(loop);
    }
  }
};

} // namespace
