//===- PlanPipeline.cpp - copies of later iterations run beside this one's work --------------===//
//
// In a `tile.pipelined` loop, a copy from global to shared memory that depends only on the loop's
// variable is taken out of its iteration and issued earlier, asynchronously. With n stages a tile
// has n versions, the copies run n - 1 iterations ahead, and the body is not peeled:
//
//   for k { copy A[k] -> S; use S }   ──▶   for d < n - 1 { async_group d { copy A[d] -> S[d] } }
//                                           for k {
//                                             async_group k + n - 1 { copy -> S[(k + n - 1) % n] }
//                                             use S[k % n]
//                                           }
//
// Where products run on after their statement (wgmma), the group follows the first of them.
//
// With one stage there is one version; the copy of iteration k + 1 follows the last reader of k:
//
//   async_group 0; for k { use S; async_group k + 1; rest }
//
// A group states what runs ahead and for which iteration; insert-orderings places the waits and
// barriers. A copy that cannot be moved stays where it is, and a remark says why.
//
// Expects: plans of accesses.   Leaves: `tile.async_group` and `tile.version`; no wait, no barrier.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright {
#define GEN_PASS_DEF_PLANPIPELINE
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// Versions of a tile start on this boundary, as tiles do.
constexpr int64_t kVersionAlignment = 128;

/// As many iterations are issued one by one in front of a loop; more of them by a loop, so that
/// code does not grow with num_stages.
constexpr int64_t kMaxUnrolledIssues = 8;

/// A copy that can run ahead, with the index arithmetic it needs.
struct Prefetch {
  ParallelOp copy;
  AllocOp tile;
  SmallVector<Operation *> slice; ///< Ops of the body that it uses, in order.
  Value current;                  ///< The version that the body sees, if there are several.
};

class Pipeliner {
public:
  Pipeliner(PipelinedOp loop, bool disjoint)
      : loop(loop), body(loop.getBody().front()), disjoint(disjoint) {}
  void run();

private:
  std::optional<Prefetch> analyze(ParallelOp copy, std::string &obstacle);
  bool findSlice(Operation *op, llvm::SetVector<Operation *> &slice);
  std::string findConflict(ParallelOp copy, AllocOp tile, Value source);
  void makeVersions(Value version);
  void issue(ImplicitLocOpBuilder &b, Value iteration, Value version);
  Operation *lastReader();
  Operation *firstProduct();

  PipelinedOp loop;
  Block &body;
  bool disjoint; ///< No other argument shares memory with one that is written.
  SmallVector<Prefetch> prefetches;
  int64_t versions = 1;
};

/// The ops of the body that compute what `op` uses; false if one of them is more than arithmetic.
bool Pipeliner::findSlice(Operation *op, llvm::SetVector<Operation *> &slice) {
  bool isFree = true;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition || definition->getBlock() != &body || slice.contains(definition))
        continue;
      bool isPlain = definition->getNumRegions() == 0 &&
                     (isMemoryEffectFree(definition) || isa<SliceOp, ViewOp>(definition));
      if (!isPlain || isa<AllocOp>(definition)) {
        isFree = false;
        continue;
      }
      isFree &= findSlice(definition, slice);
      slice.insert(definition);
    }
  });
  return isFree;
}

/// What another statement does that forbids copying `source` to `tile` early; empty if nothing.
std::string Pipeliner::findConflict(ParallelOp copy, AllocOp tile, Value source) {
  for (Operation *user : analysis::getUsersThroughViews(tile)) {
    Operation *inBody = body.findAncestorOpInBlock(*user);
    if (!inBody)
      return "'" + tile.getName().str() + "' is used outside the loop";
    if (inBody != copy && inBody->isBeforeInBlock(copy) && !isa<SliceOp, ViewOp>(inBody))
      return "'" + tile.getName().str() + "' is used before it is copied";
  }
  for (Operation &op : body) {
    if (&op == copy)
      continue;
    std::optional<SmallVector<Effect>> effects = getEffects(&op);
    if (!effects)
      return "a statement of the loop has unknown effects";
    for (const Effect &effect : *effects) {
      if (effect.kind == EffectKind::Read)
        continue;
      if (effect.root == source)
        return "the loop writes '" + tile::getName(source).str() + "'";
      if (!disjoint && getSpace(effect.root) == Space::Global)
        return "the loop writes '" + tile::getName(effect.root).str() + "', which may overlap '" +
               tile::getName(source).str() + "'";
      if (effect.root == tile.getBuffer())
        return "another statement writes '" + tile.getName().str() + "'";
    }
  }
  return "";
}

/// Decides whether a loop is a copy that can run ahead. Loops that copy nothing from global to
/// shared memory give no obstacle: nobody expects them to.
std::optional<Prefetch> Pipeliner::analyze(ParallelOp copy, std::string &obstacle) {
  LoadOp load;
  StoreOp store;
  for (Operation &op : copy.getBody().front().without_terminator()) {
    if (auto found = dyn_cast<LoadOp>(op); found && !load)
      load = found;
    else if (auto found = dyn_cast<StoreOp>(op); found && !store)
      store = found;
    else if (!isMemoryEffectFree(&op) || op.getNumRegions() || isa<CastOp>(op))
      return std::nullopt;
  }
  if (!load || !store || store.getValue() != load.getValue())
    return std::nullopt;
  Value source = getRoot(load.getBuffer());
  auto tile = getRoot(store.getBuffer()).getDefiningOp<AllocOp>();
  if (getSpace(source) != Space::Global || !tile || getSpace(tile.getBuffer()) != Space::Shared)
    return std::nullopt;
  auto read = load->getAttrOfType<AccessAttr>(kAccessAttr),
       write = store->getAttrOfType<AccessAttr>(kAccessAttr);
  int64_t bytes = getStorageBytes(tile.getBuffer().getType().getElementType());
  auto refuse = [&](const Twine &reason) {
    obstacle = reason.str();
    return std::nullopt;
  };
  if (!read || !write || read.getSlots() != write.getSlots() ||
      read.getWidth() != write.getWidth() || !read.getSources().empty())
    return refuse("its reads and writes have different widths");
  if (int64_t width = read.getWidth() * bytes; width != 4 && width != 8 && width != 16)
    return refuse("asynchronous copies move 4, 8 or 16 bytes, this one " + Twine(width));
  std::optional<SmallVector<int64_t>> extents = analysis::getStaticExtents(copy);
  auto indices = analysis::getAccessIndices(copy, store.getBuffer(), store.getIndices());
  int64_t total = 1;
  for (int64_t extent : *extents)
    total *= extent;
  if (!indices || total != tile.getBuffer().getType().getNumElements() ||
      !isInjective(Layout::get(*extents, *indices)).isYes())
    return refuse("it does not write all of '" + tile.getName() + "'");
  bool hasSafeValue = false;
  loop->getParentOfType<KernelOp>().walk(
      [&](AnnotateSafeValueOp note) { hasSafeValue |= note.getBuffer() == source; });
  if (hasSafeValue)
    return refuse("'" + tile::getName(source) + "' has a value of its own out of bounds");
  if (std::string conflict = findConflict(copy, tile, source); !conflict.empty())
    return refuse(conflict);
  llvm::SetVector<Operation *> slice;
  if (!findSlice(copy, slice))
    return refuse("it depends on what the iteration computes");
  Prefetch prefetch{copy, tile, slice.takeVector(), Value()};
  llvm::sort(prefetch.slice, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return prefetch;
}

/// One version of a tile.
Value sliceVersion(ImplicitLocOpBuilder &b, AllocOp tile, Value version) {
  ArrayRef<int64_t> shape = tile.getBuffer().getType().getShape();
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)), sizes,
      steps(shape.size(), b.getIndexAttr(1));
  offsets[0] = version;
  for (int64_t extent : shape)
    sizes.push_back(b.getIndexAttr(extent));
  sizes[0] = b.getIndexAttr(1);
  return SliceOp::create(b, tile.getBuffer(), offsets, sizes, steps, ArrayRef<int64_t>{0});
}

/// Gives each tile a leading dimension of versions; the body sees that of its iteration.
void Pipeliner::makeVersions(Value version) {
  ImplicitLocOpBuilder b(loop.getLoc(), version.getDefiningOp());
  b.setInsertionPointAfter(version.getDefiningOp());
  for (Prefetch &prefetch : prefetches) {
    AllocOp old = prefetch.tile;
    MemRefType type = old.getBuffer().getType();
    Layout layout = old->getAttrOfType<LayoutAttr>(kPlacementAttr).getLayout();
    auto needed = old->getAttrOfType<IntegerAttr>(kAlignmentAttr);
    int64_t alignment = needed ? std::max(kVersionAlignment, needed.getInt()) : kVersionAlignment;
    int64_t unit = std::max<int64_t>(1, alignment / getStorageBytes(type.getElementType()));
    int64_t pitch = llvm::alignTo(*layout.getPhysicalSize(), unit);
    SmallVector<int64_t> shape{versions};
    llvm::append_range(shape, type.getShape());
    SmallVector<IndexExpr> inner;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      inner.push_back(IndexExpr::dim(dim + 1));
    Layout versioned =
        Layout::get(shape, IndexExpr::dim(0) * pitch + layout.getOffset()->substitute(inner));
    for (Operation *user : llvm::make_early_inc_range(old->getUsers()))
      if (isa<AnnotateLayoutOp>(user))
        user->erase(); // the placement says the same
    OperationState state(old.getLoc(), AllocOp::getOperationName());
    state.addTypes(makeBufferType(shape, type.getElementType(), Space::Shared));
    state.addAttributes(old->getAttrs());
    state.attributes.set(kPlacementAttr, LayoutAttr::get(b.getContext(), versioned));
    state.addAttribute(kVersionsAttr, b.getI64IntegerAttr(versions));
    auto tile = cast<AllocOp>(OpBuilder(old).create(state));
    prefetch.current = sliceVersion(b, tile, version);
    old.getBuffer().replaceAllUsesWith(prefetch.current);
    old.erase();
    prefetch.tile = tile;
  }
}

/// The copies of one iteration into a version, as one group.
void Pipeliner::issue(ImplicitLocOpBuilder &b, Value iteration, Value version) {
  auto group = AsyncGroupOp::create(b, iteration, loop.getUpper());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&group.getBody().front());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iteration);
  for (Prefetch &prefetch : prefetches) {
    if (version)
      mapping.map(prefetch.current, sliceVersion(b, prefetch.tile, version));
    for (Operation *op : prefetch.slice)
      b.clone(*op, mapping);
    b.clone(*prefetch.copy, mapping);
  }
}

/// The last statement of the body that touches a prefetched tile.
Operation *Pipeliner::lastReader() {
  Operation *last = nullptr;
  for (Prefetch &prefetch : prefetches)
    for (Operation *user : analysis::getUsersThroughViews(prefetch.tile))
      if (Operation *inBody = body.findAncestorOpInBlock(*user))
        if (!last || last->isBeforeInBlock(inBody))
          last = inBody;
  return last;
}

/// The first product of the body that is left open.
Operation *Pipeliner::firstProduct() {
  auto products = body.getOps<GemmOp>();
  auto it = llvm::find_if(products, [](GemmOp gemm) { return gemm->hasAttr(kAsyncAttr); });
  return it == products.end() ? nullptr : (*it).getOperation();
}

static void remarkNotPipelined(Operation &copy, StringRef obstacle) {
  InFlightDiagnostic diag = copy.emitRemark();
  diag << "this copy is not pipelined: " << obstacle;
  describeRemark(diag, "pipeline", "", {{"reason", obstacle}});
}

/// Replaces what plan-accesses said about the loads and stores of the copy (Driver/Decisions.cpp).
static void remarkPipelined(const Prefetch &prefetch, int64_t versions, int64_t ahead) {
  ParallelOp copy = prefetch.copy;
  LoadOp load = *copy.getBody().front().getOps<LoadOp>().begin();
  int64_t width = load->getAttrOfType<AccessAttr>(kAccessAttr).getWidth();
  AllocOp tile = prefetch.tile;
  int64_t bytes = width * getStorageBytes(tile.getBuffer().getType().getElementType());
  std::string instruction = bytes == 16 ? "cp.async.cg.shared.global" : "cp.async.ca.shared.global";
  StringRef source = tile::getName(getRoot(load.getBuffer()));
  InFlightDiagnostic diag = copy.emitRemark();
  diag << tile.getName() << ": " << width << " x " << instruction << " of " << bytes
       << " bytes, issued " << ahead << (ahead == 1 ? " iteration" : " iterations")
       << " ahead into " << versions << (versions == 1 ? " version" : " versions");
  describeRemark(diag, "access", tile.getName(),
                 {{"width", width},
                  {"instruction", instruction},
                  {"bytes", bytes},
                  {"ahead", ahead},
                  {"versions", versions},
                  {"copies", source}});
}

void Pipeliner::run() {
  if (loop.getNumStages() < 1)
    return;
  for (Operation &op : body) {
    auto copy = dyn_cast<ParallelOp>(op);
    std::string obstacle;
    std::optional<Prefetch> prefetch = copy ? analyze(copy, obstacle) : std::nullopt;
    if (prefetch)
      prefetches.push_back(std::move(*prefetch));
    else if (!obstacle.empty())
      remarkNotPipelined(op, obstacle);
  }
  if (prefetches.empty())
    return;
  versions = loop.getNumStages();
  int64_t ahead = std::max<int64_t>(1, versions - 1);
  for (const Prefetch &prefetch : prefetches)
    remarkPipelined(prefetch, versions, ahead);
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  auto add = [&](Value lhs, int64_t rhs) -> Value {
    return b.createOrFold<arith::AddIOp>(lhs, constant(rhs));
  };
  Operation *last = lastReader();
  auto versionOf = [&](int64_t distance) {
    return VersionOp::create(b, b.getIndexType(), loop.getInductionVar(), loop.getLower(), distance,
                             versions);
  };
  if (versions > 1) {
    b.setInsertionPointToStart(&body);
    makeVersions(versionOf(0));
  }
  b.setInsertionPoint(loop);
  if (ahead <= kMaxUnrolledIssues) {
    for (int64_t d = 0; d < ahead; ++d)
      issue(b, add(loop.getLower(), d), versions > 1 ? constant(d) : Value());
  } else {
    auto first = scf::ForOp::create(b, constant(0), constant(ahead), constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(first.getBody());
    Value version = first.getInductionVar();
    issue(b, arith::AddIOp::create(b, loop.getLower(), version), version);
  }
  // A product that runs on after its statement should have begun: the copies overwrite what the last
  // iteration's product reads, and threads wait for that one while this one runs.
  if (Operation *product = versions > 1 ? firstProduct() : nullptr)
    b.setInsertionPointAfter(product);
  else
    b.setInsertionPointAfter(versions > 1 ? prefetches.back().current.getDefiningOp() : last);
  Value next;
  if (versions > 1)
    next = versionOf(ahead);
  issue(b, add(loop.getInductionVar(), ahead), next);
  for (Prefetch &prefetch : prefetches)
    prefetch.copy.erase();
}

struct PlanPipelinePass : tilewright::impl::PlanPipelineBase<PlanPipelinePass> {
  using PlanPipelineBase::PlanPipelineBase;

  void runOnOperation() override {
    SmallVector<PipelinedOp> loops;
    getOperation()->walk([&](PipelinedOp loop) { loops.push_back(loop); });
    for (PipelinedOp loop : loops)
      Pipeliner(loop, disjoint).run();
  }
};

} // namespace
