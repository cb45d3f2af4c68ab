//===- PlanRows.cpp - rows of tensors that are larger than the caches -------------------------===//
//
// An element-wise loop over long rows of a tensor larger than the caches *streams* them: loads are
// read ahead, and one store is written past the caches, which would otherwise first read the line
// that it replaces. A load of elements that an earlier loop of the same block has read finds them
// in the caches.
//
// Where a later loop over the row works on what was read, and reads no such tensor itself, there is
// time to fetch the next row: it prefetches that, and the first loop need not read ahead.
//
//   tile.parallel (%j) in (4096) {        tile.parallel (%j) in (4096)
//                                             attributes {tile.streams_rows, tile.next_rows_in = 0} {
//     %v = tile.load %X[%i, %j]      ──▶      %v = tile.load %X[%i, %j] {tile.streamed}
//     …                                       …
//   }                                     }
//   tile.parallel (%j) in (4096) { … }    tile.parallel … attributes {tile.prefetches_rows = 0} { … }
//
// Expects: tile IR that passed tile-check-parallel.   Leaves: the same program, with attributes.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/LoopAccesses.h"
#include "tilewright/Tile/CpuPlan.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tilewright {
#define GEN_PASS_DEF_PLANCPUROWS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// Whether an earlier loop of the same block reads the same elements: then they are in the caches.
bool isReadAgain(LoadOp load) {
  auto loop = dyn_cast<ParallelOp>(load->getParentOp());
  auto own = loop ? analysis::getPlainAccesses(loop) : std::nullopt;
  if (!own)
    return false;
  const analysis::LoopAccess &access =
      *llvm::find_if(*own, [&](const analysis::LoopAccess &a) { return a.op == load; });
  if (!access.element)
    return false;
  for (Operation *before = loop->getPrevNode(); before; before = before->getPrevNode()) {
    auto other = dyn_cast<ParallelOp>(before);
    if (!other || other.getStaticExtents() != loop.getStaticExtents())
      continue;
    if (auto accesses = analysis::getPlainAccesses(other))
      for (const analysis::LoopAccess &first : *accesses)
        if (first.isRead() && first.root == access.root && first.element &&
            analysis::isSameElement(*first.element, other.getIterators(), *access.element,
                                    loop.getIterators()))
          return true;
  }
  return false;
}

/// Whether rows of so many elements of a buffer are streamed.
bool isStreamed(Value buffer, std::optional<int64_t> rowLength, KernelOp kernel) {
  Value root = getRoot(buffer);
  auto type = cast<MemRefType>(root.getType());
  std::optional<int64_t> tensorBytes = getStorageBytes(type);
  if (getSpace(type) != Space::Global || !type.hasStaticShape() || !rowLength || !tensorBytes)
    return false;
  bool hasLayout = llvm::any_of(root.getUsers(), [&](Operation *user) {
    auto annotation = dyn_cast<AnnotateLayoutOp>(user);
    return annotation && isa<LayoutAttr>(annotation.getLayout()) && kernel->isProperAncestor(user);
  });
  int64_t rowBytes = *rowLength * getStorageBytes(type.getElementType());
  return !hasLayout && *tensorBytes >= kStreamedTensorBytes && rowBytes >= kStreamedRowBytes;
}

/// The accesses of a loop to rows that are streamed.
struct Streams {
  SmallVector<LoadOp> loads; ///< Of what is not in the caches yet.
  SmallVector<StoreOp> stores;
  StoreOp pastCaches; ///< One store, into a tensor that the loop does not read.

  static Streams find(ParallelOp loop) {
    Streams found;
    auto kernel = loop->getParentOfType<KernelOp>();
    std::optional<int64_t> length = getConstantIntValue(loop.getMixedExtents().back());
    llvm::SmallDenseSet<Value> read;
    loop.walk([&](Operation *op) {
      if (auto load = dyn_cast<LoadOp>(op)) {
        read.insert(getRoot(load.getBuffer()));
        if (isStreamed(load.getBuffer(), length, kernel) && !isReadAgain(load))
          found.loads.push_back(load);
      } else if (auto store = dyn_cast<StoreOp>(op)) {
        if (isStreamed(store.getBuffer(), length, kernel))
          found.stores.push_back(store);
      }
    });
    for (StoreOp store : found.stores)
      if (!found.pastCaches && !read.contains(getRoot(store.getBuffer())))
        found.pastCaches = store;
    return found;
  }
};

/// Whether the loop goes over one row of so many elements.
bool isRow(ParallelOp loop, std::optional<int64_t> length) {
  ArrayRef<int64_t> extents = loop.getStaticExtents();
  return length && llvm::all_of(extents.drop_back(), [](int64_t outer) { return outer == 1; }) &&
         extents.back() == *length;
}

/// The loop after `loop`, over the same row, that reads nothing of such tensors.
ParallelOp findWork(ParallelOp loop) {
  std::optional<int64_t> length = getConstantIntValue(loop.getMixedExtents().back());
  if (!isRow(loop, length))
    return {};
  for (Operation *next = loop->getNextNode(); next; next = next->getNextNode())
    if (auto other = dyn_cast<ParallelOp>(next))
      if (isRow(other, length) && Streams::find(other).loads.empty())
        return other;
  return {};
}

void plan(ParallelOp loop, PlanIds &ids) {
  Streams streams = Streams::find(loop);
  if (streams.loads.empty() && streams.stores.empty())
    return;
  UnitAttr yes = UnitAttr::get(loop.getContext());
  loop->setAttr(kStreamsRowsAttr, yes);
  for (LoadOp load : streams.loads)
    load->setAttr(kStreamedAttr, yes);
  if (streams.pastCaches)
    streams.pastCaches->setAttr(kStreamedAttr, yes);
  ParallelOp work = streams.loads.empty() ? ParallelOp() : findWork(loop);
  if (work) {
    std::optional<int64_t> id = getPlanNumber(work, kPrefetchesRowsAttr);
    if (!id)
      setPlanNumber(work, kPrefetchesRowsAttr, *(id = ids.take()));
    setPlanNumber(loop, kNextRowsInAttr, *id);
  }
  InFlightDiagnostic remark = loop.emitRemark("streams rows of tensors larger than the caches: ")
                              << streams.loads.size() << " read ahead, "
                              << (streams.pastCaches ? 1 : 0) << " written past the caches";
  if (work)
    remark << "; a later loop prefetches the next row";
  describeRemark(remark, "rows", "");
}

struct PlanCpuRowsPass : tilewright::impl::PlanCpuRowsBase<PlanCpuRowsPass> {
  void runOnOperation() override {
    PlanIds ids(getOperation());
    getOperation()->walk<WalkOrder::PreOrder>([&](ParallelOp loop) {
      if (loop->getParentOfType<KernelOp>())
        plan(loop, ids);
    });
  }
};

} // namespace
