//===- UnrollFragmentLoops.cpp - give registers and operands of products names -----------------===//
//
// A fragment lives in registers, and a register has no address: an index that a serial loop moves
// must become a constant. Loops with constant bounds are unrolled; others are left, and the
// fragment goes to shared memory.
//
// A gemm may read a part of a shared tile, `q[:, k * 64 : k * 64 + 64]`. Whether it can be the operand of an
// instruction (Access/Products.h) depends on where in the tile it starts, so a short loop over such parts
// is unrolled as well. Which tile of a row of tiles it is may stay a variable.
//
// Expects: any tile IR.   Leaves: the same program.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Tile/Scalars.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/FoldUtils.h"
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
/// Copies of a gemm: each has dozens of instructions.
constexpr int64_t kMaxGemms = 16;

/// Whether a gemm multiplies this part of a shared tile, and `start` is its first row or column.
bool isStartOfOperand(SliceOp slice, Value start) {
  if (getSpace(getRoot(slice.getSource())) != Space::Shared)
    return false;
  bool isRowOrColumn = false;
  for (auto [dim, offset] : llvm::enumerate(slice.getMixedOffsets()))
    isRowOrColumn |= offset == OpFoldResult(start) && !llvm::is_contained(slice.getDropped(), dim);
  return isRowOrColumn && llvm::any_of(slice.getResult().getUsers(), [&](Operation *user) {
           auto gemm = dyn_cast<GemmOp>(user);
           return gemm && (gemm.getA() == slice.getResult() || gemm.getB() == slice.getResult());
         });
}

/// How often a loop over `variable` may be written out: 0 if nothing is gained. It is if the variable reaches
/// an index of a fragment, an offset of a slice of one, or the start of an operand of a gemm.
int64_t countCopies(Value variable) {
  SmallVector<Value> work{variable};
  llvm::SmallPtrSet<Operation *, 16> seen;
  int64_t copies = 0;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (auto slice = dyn_cast<SliceOp>(user); slice && isStartOfOperand(slice, value))
        copies = kMaxGemms;
      if (!seen.insert(user).second)
        continue;
      Value buffer = TypeSwitch<Operation *, Value>(user)
                         .Case([](LoadOp op) { return op.getBuffer(); })
                         .Case([](StoreOp op) { return op.getBuffer(); })
                         .Case([](SliceOp op) { return op.getSource(); })
                         .Default(Value());
      if (buffer && getSpace(getRoot(buffer)) == Space::Fragment)
        return kMaxTrips;
      if (!buffer && isMemoryEffectFree(user))
        llvm::append_range(work, user->getResults());
    }
  }
  return copies;
}

/// Numbers of the copies become constants of what is computed from them.
void foldNumbers(Operation *parent) {
  OperationFolder folder(parent->getContext());
  SmallVector<Operation *> numbers;
  parent->walk([&](Operation *op) {
    if (isPureScalar(op) && !op->hasTrait<OpTrait::ConstantLike>() && op->getNumRegions() == 0)
      numbers.push_back(op);
  });
  for (Operation *op : numbers)
    (void)folder.tryToFold(op);
}

struct UnrollFragmentLoopsPass
    : tilewright::impl::UnrollFragmentLoopsBase<UnrollFragmentLoopsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops; // inner ones first
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      std::optional<llvm::APInt> trips = loop.getStaticTripCount();
      Operation *parent = loop->getParentOp();
      if (trips && trips->ule(countCopies(loop.getInductionVar())) &&
          succeeded(loopUnrollFull(loop)))
        foldNumbers(parent);
    }
  }
};

} // namespace
