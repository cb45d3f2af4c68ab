//===- InferLayouts.cpp - who holds each tile and who runs each iteration --------------------===//
//
// Constraints flow from the strictest outward:
//   1. annotations of the user;
//   2. gemms: accumulators and register operands have the layout of the instruction;
//   3. loops that touch a placed fragment run where it lives (the fragment composed with the
//      access), and reductions of a placed fragment keep each row's result with the threads that
//      held the row;
//   4. free loops: neighbouring elements on neighbouring threads.
// A use that its fragment's layout does not satisfy gets a copy of the fragment, the cheapest that
// is right, with a remark:
//   - in registers, exchanged between the lanes of each warp (Analysis/Conversion.h);
//   - in shared memory, for this use alone, where tensor cores or the user hold the fragment;
//   - otherwise the fragment lives in shared memory altogether.
//
// Expects: statements expanded, loops over fragment indices unrolled.
// Leaves: `tile.placement` on every tile, `tile.distribution` on every static loop, `tile.warps` on
// gemms that mma computes, `tile.groups` on those of wgmma, `tile.alignment` on the tiles they read.
//===----------------------------------------------------------------------------------------===//

#include "LayoutSolver.h"
#include "TargetArch.h"
#include "tilewright/Access/Bulk.h"
#include "tilewright/Layout/SharedLayouts.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Transforms/Passes.h"

namespace tilewright {
#define GEN_PASS_DEF_INFERLAYOUTS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using namespace tilewright::analysis;

/// The allocation of a fragment that still lives in registers, if `buffer` is (a part of) one.
AllocOp LayoutSolver::fragmentRoot(Value buffer) {
  Value root = getRoot(buffer);
  auto alloc = root.getDefiningOp<AllocOp>();
  return alloc && getSpace(root) == Space::Fragment && !demoted.contains(alloc) ? alloc : AllocOp();
}

void LayoutSolver::demote(AllocOp alloc, const Twine &reason) {
  if (!demoted.insert(alloc))
    return;
  InFlightDiagnostic diag = alloc.emitRemark();
  diag << "'" << alloc.getName() << "' lives in shared memory: " << reason;
  describeRemark(diag, "placement", alloc.getName(),
                 {{"space", "shared"}, {"reason", reason.str()}});
}

void LayoutSolver::refuse(Operation *statement, AllocOp fragment, const Twine &reason) {
  bool isKnown = llvm::any_of(refusals, [&](const Refusal &other) {
    return other.statement == statement && other.fragment == fragment;
  });
  if (!isKnown)
    refusals.push_back({statement, fragment, reason.str()});
}

const OwnerTable *LayoutSolver::tableOf(AllocOp alloc) {
  auto it = placed.find(alloc);
  if (it == placed.end())
    return nullptr;
  auto [entry, isNew] = tables.try_emplace(alloc);
  if (isNew)
    entry->second = OwnerTable::get(it->second, getNumThreads(alloc));
  return entry->second ? &*entry->second : nullptr;
}

/// All accesses of a loop to fragments. Where one has indices that no register can be named by, it
/// is given back as `undecided`.
std::optional<SmallVector<FragmentAccess>> LayoutSolver::accessesOf(ParallelOp loop,
                                                                    AllocOp *undecided) {
  SmallVector<FragmentAccess> accesses;
  bool decided = true;
  loop.walk([&](Operation *op) {
    Value buffer;
    ValueRange indices;
    bool isWrite = false;
    if (auto load = dyn_cast<LoadOp>(op)) {
      buffer = load.getBuffer();
      indices = load.getIndices();
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      buffer = store.getBuffer();
      indices = store.getIndices();
      isWrite = true;
    } else if (auto update = dyn_cast<ReducerUpdateOp>(op)) {
      if (AllocOp alloc = fragmentRoot(update.getBuffer())) {
        *undecided = alloc; // contributions of many threads meet in memory
        decided = false;
      }
      return;
    } else {
      return;
    }
    AllocOp alloc = fragmentRoot(buffer);
    if (!alloc || !decided)
      return;
    auto expressions = getAccessIndices(loop, buffer, indices);
    if (!expressions) {
      *undecided = alloc;
      decided = false;
      return;
    }
    accesses.push_back({op, alloc, *expressions, isWrite});
  });
  if (!decided)
    return std::nullopt;
  return accesses;
}

void LayoutSolver::demoteLargeFragments() {
  kernel.walk([&](AllocOp alloc) {
    int64_t elements =
        fragmentRoot(alloc.getBuffer()) ? alloc.getBuffer().getType().getNumElements() : 0;
    int64_t numThreads = getNumThreads(alloc);
    if (elements > kMaxSlots * numThreads)
      demote(alloc, "a block of " + Twine(numThreads) + " threads has no registers for " +
                        Twine(elements) + " elements");
  });
}

void LayoutSolver::readAnnotations() {
  kernel.walk([&](AnnotateLayoutOp op) {
    auto alloc = op.getBuffer().getDefiningOp<AllocOp>();
    if (auto fragment = dyn_cast<FragmentAttr>(op.getLayout()); fragment && alloc)
      if (!demoted.contains(alloc))
        place(alloc, fragment.getFragment());
  });
}

void LayoutSolver::solve() {
  placed.clear();
  distributions.clear();
  warps.clear();
  groups.clear();
  alignments.clear();
  warpGemms.clear();
  movedAccumulators.clear();
  plainGemms.clear();
  tables.clear();
  readAnnotations();
  placeGemms();
  placeShared();
  do {
    size_t before;
    do { // follow what is placed until nothing new is
      before = distributions.size() + placed.size();
      kernel.walk([&](Operation *op) {
        if (auto loop = dyn_cast<ParallelOp>(op))
          placeLoop(loop, /*allowFree=*/false);
        if (auto reduce = dyn_cast<ReduceOp>(op))
          placeReduction(reduce);
      });
    } while (before != distributions.size() + placed.size());
  } while (placeRemaining());
  placeExchanges();
  // A tile that only plain gemms touch: neighbouring elements on neighbouring threads.
  kernel.walk([&](AllocOp alloc) {
    if (!fragmentRoot(alloc.getBuffer()) || placed.contains(alloc))
      return;
    MemRefType type = alloc.getBuffer().getType();
    Fragment blocked = blockedFragment(type.getNumElements(), getNumThreads(alloc), 1);
    IndexExpr number(0);
    for (auto [dim, extent] : llvm::enumerate(type.getShape()))
      number = number * extent + IndexExpr::dim(dim);
    SmallVector<IndexExpr> dims{number, IndexExpr::dim(type.getRank())};
    place(alloc, Fragment::get(type.getShape(), blocked.getThread().substitute(dims),
                               blocked.getSlot().substitute(dims)));
  });
}

void LayoutSolver::writeAttributes() {
  MLIRContext *context = kernel.getContext();
  for (auto &[op, fragment] : placed)
    if (!demoted.contains(op))
      op->setAttr(kPlacementAttr, FragmentAttr::get(context, fragment));
  for (auto &[op, fragment] : distributions)
    op->setAttr(kDistributionAttr, FragmentAttr::get(context, fragment));
  for (auto &[op, grid] : warps) {
    op->setAttr(kWarpsAttr, DenseI64ArrayAttr::get(context, {grid.warpsM, grid.warpsN}));
    remarkPolicy(cast<GemmOp>(op), grid);
  }
  writeProducts();
  kernel.walk([&](ParallelOp loop) {
    if (loop->hasAttr(kExchangeAttr))
      remarkExchange(loop);
  });
  for (auto &[op, obstacle] : plainGemms) {
    InFlightDiagnostic diag = op->emitRemark();
    diag << "'T.gemm' leaves the tensor cores: " << obstacle;
    describeRemark(diag, "gemm", "", {{"unit", "fma"}, {"reason", obstacle}});
  }
}

Layout tilewright::getOperandLayout(AllocOp alloc) {
  for (Operation *user : alloc->getUsers())
    if (auto note = dyn_cast<AnnotateLayoutOp>(user))
      if (auto layout = dyn_cast<LayoutAttr>(note.getLayout()))
        return layout.getLayout();
  MemRefType type = alloc.getBuffer().getType();
  int64_t bits = getStorageBits(type.getElementType());
  if (type.getRank() < 2 || bits > 32)
    return linearLayout(type.getShape());
  llvm::Expected<Layout> swizzled =
      swizzledLayout(type.getShape(), bits, /*kMajor=*/true, /*allowPad=*/false);
  if (swizzled)
    return *swizzled;
  llvm::consumeError(swizzled.takeError());
  return linearLayout(type.getShape());
}

/// Tiles through which results leave to tensors: rows of fragments arrive there column by column, so the
/// swizzle spreads them over the banks. TMA reads it.
void LayoutSolver::placeDrained() {
  llvm::SmallSetVector<AllocOp, 4> drained, others;
  kernel.walk([&](ParallelOp loop) {
    std::optional<access::CopyLoop> copy = access::CopyLoop::get(loop);
    if (copy && copy->isDrain())
      drained.insert(getRoot(copy->getTileAccess().buffer).getDefiningOp<AllocOp>());
    if (copy && copy->isFill())
      others.insert(getRoot(copy->getTileAccess().buffer).getDefiningOp<AllocOp>());
  });
  kernel.walk([&](GemmOp gemm) {
    for (Value operand : {gemm.getA(), gemm.getB()})
      if (auto alloc = getRoot(operand).getDefiningOp<AllocOp>())
        others.insert(alloc);
  });
  for (AllocOp alloc : drained)
    if (alloc && !others.contains(alloc) && alloc.getBuffer().getType().getRank() > 1)
      alloc->setAttr(kPlacementAttr, LayoutAttr::get(kernel.getContext(), getOperandLayout(alloc)));
}

/// Shared tiles: as annotated, else swizzled for the tensor cores that read them, else row-major.
/// Fragments that live in memory are row-major.
void LayoutSolver::placeShared() {
  MLIRContext *context = kernel.getContext();
  auto setLayout = [&](AllocOp alloc, const Layout &layout) {
    alloc->setAttr(kPlacementAttr, LayoutAttr::get(context, layout));
  };
  kernel.walk([&](AllocOp alloc) {
    if (getSpace(alloc.getBuffer()) == Space::Shared || demoted.contains(alloc))
      setLayout(alloc, linearLayout(alloc.getBuffer().getType().getShape()));
  });
  kernel.walk([&](GemmOp gemm) {
    if (!warps.contains(gemm) && !groups.contains(gemm))
      return;
    for (Value operand : {Value(gemm.getA()), Value(gemm.getB())}) {
      auto alloc = getRoot(operand).getDefiningOp<AllocOp>();
      if (alloc && (getSpace(alloc.getBuffer()) == Space::Shared || demoted.contains(alloc)))
        setLayout(alloc, getOperandLayout(alloc));
    }
  });
  if (this->context.arch.hasBulkCopies)
    placeDrained();
  kernel.walk([&](AnnotateLayoutOp op) {
    if (auto alloc = op.getBuffer().getDefiningOp<AllocOp>())
      if (isa<LayoutAttr>(op.getLayout()))
        alloc->setAttr(kPlacementAttr, op.getLayout());
  });
}

void LayoutSolver::run() {
  demoteLargeFragments();
  // Each round but the last gives at least one more use a copy or sends a fragment to memory, so
  // there are few.
  do {
    solve();
    findUnsatisfied();
  } while (resolveRefusals());
  writeAttributes();
}

namespace {

struct InferLayoutsPass : tilewright::impl::InferLayoutsBase<InferLayoutsPass> {
  using InferLayoutsBase::InferLayoutsBase;

  void runOnOperation() override {
    const Arch *target = requireArch(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    getOperation()->walk([&](KernelOp kernel) {
      if (failed(checkRequests(kernel, *target)))
        return signalPassFailure();
      LayoutSolver(kernel, *target, CallFacts{.argumentAlignment = alignment}).run();
    });
  }
};

} // namespace
