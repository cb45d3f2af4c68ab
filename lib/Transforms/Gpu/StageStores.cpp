//===- StageStores.cpp - results of gemms leave through shared memory -------------------------===//
//
// A thread holds pairs of a gemm's result. Written to a tensor from there, a warp needs many narrow
// stores, or one atomic for each element. From shared memory, one thread stores or adds the whole tile
// (TMA). So where the access planner proves that TMA may do it, the result goes through a tile in
// shared memory:
//
//   tile.parallel { load %c; store %C }   ──▶   tile.parallel { load %c; store %staged }
//                                               tile.parallel { load %staged; store %C }
//
// Stores are staged if their elements have 16 bits, which stmatrix writes four matrices at a time;
// wider ones fill 32-byte sectors from registers as well. Additions are always staged. The staged tile
// is swizzled, or has the order of the tensor's own layout if its elements are neighbours there.
//
// Expects: statements expanded, layouts not inferred.   Leaves: staged tiles with their layout noted.
//===----------------------------------------------------------------------------------------===//

#include "TargetArch.h"
#include "tilewright/Access/Bulk.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Layout/SharedLayouts.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Statements.h"
#include "tilewright/Tile/Teams.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright {
#define GEN_PASS_DEF_STAGESTORES
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using namespace tilewright::access;

namespace {

/// What barriers, alignment and the exchanges of other statements may take of shared memory.
constexpr int64_t kReservedBytes = 16 * 1024;

/// A loop that writes or adds a gemm's result to a tensor.
struct ResultStore {
  ParallelOp loop;
  Operation *write = nullptr; ///< tile.store or tile.atomic_element.
  Value value, tensor;
  SmallVector<int64_t> extents;

  static std::optional<ResultStore> get(ParallelOp loop,
                                        const llvm::SmallSetVector<Value, 4> &sums);
  bool isAddition() const { return isa<AtomicElementOp>(write); }
  Type getElementType() const { return cast<MemRefType>(tensor.getType()).getElementType(); }
};

std::optional<ResultStore> ResultStore::get(ParallelOp loop,
                                            const llvm::SmallSetVector<Value, 4> &sums) {
  ResultStore found;
  found.loop = loop;
  LoadOp load;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    if (auto read = dyn_cast<LoadOp>(op); read && !load) {
      load = read;
      continue;
    }
    if (isa<StoreOp, AtomicElementOp>(op) && !found.write) {
      found.write = &op;
      continue;
    }
    if (!isMemoryEffectFree(&op) || op.getNumRegions())
      return std::nullopt;
  }
  if (!load || !found.write || !sums.contains(getRoot(load.getBuffer())))
    return std::nullopt;
  Value buffer;
  if (auto store = dyn_cast<StoreOp>(found.write)) {
    buffer = store.getBuffer();
    found.value = store.getValue();
  } else {
    auto update = cast<AtomicElementOp>(found.write);
    if (update.getKind() != AtomicKind::Add || !update.getPrevious().use_empty() ||
        update.getOrder() != MemoryOrder::Relaxed)
      return std::nullopt;
    buffer = update.getBuffer();
    found.value = update.getValue();
  }
  auto cast = found.value.getDefiningOp<CastOp>();
  if ((cast ? cast.getOperand() : found.value) != load.getResult())
    return std::nullopt;
  found.tensor = getRoot(buffer);
  std::optional<SmallVector<int64_t>> extents = analysis::getStaticExtents(loop);
  if (getSpace(found.tensor) != Space::Global || !extents || changesElement(buffer))
    return std::nullopt;
  found.extents = std::move(*extents);
  return found;
}

class Stager {
public:
  Stager(KernelOp kernel, const Context &context, bool disjoint)
      : kernel(kernel), context(context), bulk(BulkContext::get(context, disjoint)) {
    kernel.walk([&](GemmOp gemm) {
      if (getSpace(getRoot(gemm.getC())) == Space::Fragment)
        sums.insert(getRoot(gemm.getC()));
    });
  }

  void run();

private:
  void stage(const ResultStore &store);
  SmallVector<Layout> findLayouts(const ResultStore &store, ArrayRef<int64_t> shape);
  std::string findMemoryObstacle(ParallelOp loop, int64_t bytes);
  int64_t getSharedLimit();

  KernelOp kernel;
  const Context &context;
  BulkContext bulk;
  llvm::SmallSetVector<Value, 4> sums; ///< Fragments that gemms add to.
};

void remarkDirect(const ResultStore &store, StringRef reason) {
  ParallelOp loop = store.loop;
  StringRef name = tile::getName(store.tensor);
  InFlightDiagnostic diag = loop.emitRemark();
  diag << name << ": " << (store.isAddition() ? "added" : "written")
       << " by each thread, not by TMA through shared memory: " << reason;
  describeRemark(diag, "bulk", name, {{"reason", reason}});
}

/// The bytes of shared memory that one block may have.
int64_t Stager::getSharedLimit() {
  int64_t blocks = analysis::getWantedBlocks(kernel); // each takes 1 KB more
  return std::min(context.arch.maxSharedBytes,
                  context.arch.sharedBytesPerProcessor / blocks - 1024);
}

/// The part of the kernel, in statements of its body, in which a tile is used, and its bytes.
struct TileUse {
  int64_t bytes = 0, first = 0, last = -1; ///< Bytes up to the next boundary.

  bool meets(const TileUse &other) const { return first <= other.last && other.first <= last; }
};

/// The largest boundary that a tile starts on.
constexpr int64_t kUnitBytes = 1024;

/// What a plan of shared memory takes that places the largest tiles first, each as low as it can.
int64_t estimateBytes(SmallVector<TileUse> uses) {
  SmallVector<std::pair<int64_t, unsigned>> order; // largest first, then as written
  for (auto [position, use] : llvm::enumerate(uses))
    order.emplace_back(-use.bytes, position);
  llvm::sort(order);
  SmallVector<std::pair<int64_t, TileUse>> placed; // by their offsets
  int64_t top = 0;
  for (auto [size, position] : order) {
    const TileUse &use = uses[position];
    int64_t offset = 0;
    for (const auto &[begin, other] : placed)
      if (use.meets(other) && offset < begin + other.bytes && begin < offset + use.bytes)
        offset = begin + other.bytes;
    auto *at = llvm::find_if(placed, [&](const auto &entry) { return entry.first > offset; });
    placed.insert(at, {offset, use});
    top = std::max(top, offset + use.bytes);
  }
  return top;
}

/// Why shared memory has no room; empty if it has. Tiles whose uses do not meet share bytes.
std::string Stager::findMemoryObstacle(ParallelOp loop, int64_t bytes) {
  Block &body = kernel.getBody().front();
  llvm::DenseMap<Operation *, int64_t> numbers;
  for (auto [number, op] : llvm::enumerate(body))
    numbers[&op] = number;
  auto numberOf = [&](Operation *op) { return numbers.lookup(body.findAncestorOpInBlock(*op)); };
  SmallVector<TileUse> uses;
  auto add = [&](TileUse use, int64_t size) {
    use.bytes = int64_t(llvm::alignTo(size, kUnitBytes));
    uses.push_back(use);
  };
  add({0, numberOf(loop), numberOf(loop)}, bytes);
  kernel.walk([&](AllocOp alloc) {
    if (getSpace(alloc.getBuffer()) != Space::Shared)
      return;
    TileUse use;
    int64_t versions = 1;
    for (Operation *user : analysis::getUsersThroughViews(alloc)) {
      if (isa<SliceOp, ViewOp>(user))
        continue;
      use.first = use.last < 0 ? numberOf(user) : std::min(use.first, numberOf(user));
      use.last = std::max(use.last, numberOf(user));
      auto copy = dyn_cast<ParallelOp>(user->getParentOp());
      auto pipeline = copy ? dyn_cast<PipelinedOp>(copy->getParentOp()) : PipelinedOp();
      if (isa<StoreOp>(user) && pipeline) {
        versions = std::max<int64_t>(versions, pipeline.getNumStages());
        use.first = 0; // a producer may fill it from the start on
      }
    }
    add(use, versions * getStorageBytes(alloc.getBuffer().getType()).value_or(0));
  });
  int64_t needed = estimateBytes(uses), limit = getSharedLimit();
  if (needed + kReservedBytes <= limit)
    return "";
  return "the block would need " + std::to_string(needed) + " bytes of it, and has " +
         std::to_string(limit);
}

/// The layouts that the staged tile may have, the best first.
SmallVector<Layout> Stager::findLayouts(const ResultStore &store, ArrayRef<int64_t> shape) {
  SmallVector<Layout> layouts;
  if (auto span = findSpanLayout(store.loop, *ElementAccess::get(store.write), bulk)) {
    SmallVector<IndexExpr> dims; // those of one element are not the tile's
    for (unsigned next = 0; int64_t extent : store.extents)
      dims.push_back(extent == 1 ? IndexExpr(0) : IndexExpr::dim(next++));
    layouts.push_back(Layout::get(shape, {span->getOffset()->substitute(dims)}));
  }
  if (shape.size() < 2)
    return layouts;
  llvm::Expected<Layout> swizzled =
      swizzledLayout(shape, 8 * getStorageBytes(store.getElementType()), true, /*allowPad=*/false);
  if (swizzled)
    layouts.push_back(*swizzled);
  else
    llvm::consumeError(swizzled.takeError());
  return layouts;
}

void Stager::stage(const ResultStore &store) {
  SmallVector<int64_t> shape;
  SmallVector<unsigned> dims;
  int64_t bytes = getStorageBytes(store.getElementType());
  for (auto [dim, extent] : llvm::enumerate(store.extents)) {
    if (extent == 1)
      continue;
    shape.push_back(extent);
    dims.push_back(dim);
    bytes *= extent;
  }
  ParallelOp loop = store.loop;
  if (loop->hasAttr(kNoBulkAttr))
    return remarkDirect(store, "the program says disable_tma");
  if (!store.isAddition() && getStorageBytes(store.getElementType()) != 2)
    return remarkDirect(store, "only 16-bit elements are worth it");
  if (shape.empty() || llvm::is_contained(shape, 0))
    return remarkDirect(store, "it is one element");
  if (std::string obstacle = findMemoryObstacle(loop, bytes); !obstacle.empty())
    return remarkDirect(store, obstacle);
  ImplicitLocOpBuilder b(loop.getLoc(), &kernel.getBody().front().front());
  auto tile = AllocOp::create(b, makeBufferType(shape, store.getElementType(), Space::Shared),
                              b.getStringAttr(tile::getName(store.tensor) + "_staged"),
                              ValueRange(), ReduceKindAttr());
  auto indicesOf = [&](ParallelOp of) {
    SmallVector<Value> indices;
    for (unsigned dim : dims)
      indices.push_back(of.getIterators()[dim]);
    return indices;
  };
  // From the tile to the tensor: the same indices, other values.
  b.setInsertionPointAfter(loop);
  auto drain = cast<ParallelOp>(b.clone(*loop));
  Block &body = drain.getBody().front();
  LoadOp old = *body.getOps<LoadOp>().begin();
  b.setInsertionPoint(old);
  Value staged =
      LoadOp::create(b, getScalarType(store.getElementType()), tile.getBuffer(), indicesOf(drain));
  for (Operation &op : llvm::make_early_inc_range(body))
    if (isa<StoreOp, AtomicElementOp>(op)) {
      Value written =
          isa<StoreOp>(op) ? cast<StoreOp>(op).getValue() : cast<AtomicElementOp>(op).getValue();
      op.replaceUsesOfWith(written, staged);
      if (auto cast = written.getDefiningOp<CastOp>(); cast && cast->use_empty())
        cast->erase();
    }
  if (old->use_empty())
    old->erase();
  std::optional<CopyLoop> copy = CopyLoop::get(drain);
  std::string reason = "no layout of the staged tile suits it";
  for (const Layout &layout : copy ? findLayouts(store, shape) : SmallVector<Layout>()) {
    auto attribute = LayoutAttr::get(b.getContext(), layout);
    tile->setAttr(kPlacementAttr, attribute);
    llvm::Expected<BulkPlan> plan = planBulk(drain, *copy, bulk);
    if (!plan) {
      reason = llvm::toString(plan.takeError());
      continue;
    }
    tile->removeAttr(kPlacementAttr);
    b.setInsertionPointAfter(tile);
    AnnotateLayoutOp::create(b, tile.getBuffer(), attribute);
    b.setInsertionPoint(store.write);
    StoreOp::create(b, store.value, tile.getBuffer(), indicesOf(loop));
    store.write->erase();
    return;
  }
  drain.erase();
  tile.erase();
  remarkDirect(store, reason);
}

void Stager::run() {
  SmallVector<ResultStore> stores;
  kernel.walk([&](ParallelOp loop) {
    if (std::optional<ResultStore> store = ResultStore::get(loop, sums))
      stores.push_back(std::move(*store));
  });
  for (const ResultStore &store : stores)
    stage(store);
}

struct StageStoresPass : tilewright::impl::StageStoresBase<StageStoresPass> {
  using StageStoresBase::StageStoresBase;

  void runOnOperation() override {
    const Arch *target = requireArch(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    if (!bulk || !target->hasBulkCopies)
      return;
    getOperation()->walk([&](KernelOp kernel) {
      if (kernel->getParentOfType<func::FuncOp>()->hasAttr(kNoBulkAttr))
        return;
      if (!getTeamRoles(kernel).empty())
        return; // a staged tile would need barriers of its role
      Context context{kernel, *target, CallFacts{.argumentAlignment = alignment}};
      Stager(kernel, context, disjoint).run();
    });
  }
};

} // namespace
