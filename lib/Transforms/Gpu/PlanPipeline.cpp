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
// Bulk copies (`tile.bulk`, `tile.span`) whose tiles have the same last reader form a *channel*: a group of their
// own that arrives at one barrier a version, `full`, for which the readers wait. If products read
// them, the loop gets a producer: a second row of barriers, `empty`, says that a version has been
// read, so that the copies need no barrier of the block and can be issued by another warp
// (tile-split-roles). Iterations are numbered over all rounds of a loop that runs several times, since
// the phases of a barrier go on: `first` is the loop's first iteration minus those before.
//
//   for k { copy A[k] -> S; use S }   ──▶   for k {
//                                             async_group k on full[k % n] after empty { copy -> S[k % n] }
//                                             barrier_wait full[k % n] parity k / n % 2
//                                             use S[k % n]
//                                             barrier_arrive empty[k % n]
//                                           }
//
// Expects: plans of accesses.   Leaves: `tile.async_group`, `tile.version`, and the barriers of
// channels; no other wait, no barrier of the block.
//===----------------------------------------------------------------------------------------===//

#include "LoopRegisters.h"
#include "Roles.h"
#include "ScheduleModel.h"
#include "tilewright/Access/Bulk.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Teams.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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

/// The shared memory of a block has no room for more versions of anything.
constexpr int64_t kMaxVersions = 2048;

/// As many iterations are issued one by one in front of a loop; more of them by a loop, so that
/// code does not grow with num_stages.
constexpr int64_t kMaxUnrolledIssues = 8;

/// A copy that can run ahead, with the index arithmetic it needs.
struct Prefetch {
  ParallelOp copy;
  AllocOp tile;
  SmallVector<Operation *> slice; ///< Ops of the body that it uses, in order.
  Value current;                  ///< The version that the body sees, if there are several.
  bool isBulk = false;
};

/// Bulk copies whose tiles have the same last reader.
struct Channel {
  SmallVector<Prefetch *> members;
  Operation *first = nullptr, *last = nullptr; ///< Statements of the body that read the tiles.
  Value full, empty;                           ///< A barrier for each version.
};

/// Tensors with a value of their own out of bounds, each with the kernel that says so.
using SafeValues = llvm::DenseSet<std::pair<Operation *, Value>>;

class Pipeliner {
public:
  Pipeliner(PipelinedOp loop, const SafeValues &safeValues, bool disjoint, bool mayHaveRoles)
      : loop(loop), body(loop.getBody().front()), safeValues(safeValues), disjoint(disjoint),
        mayHaveRoles(mayHaveRoles) {}
  void run();

private:
  std::optional<Prefetch> analyze(ParallelOp copy, std::string &obstacle);
  bool findSlice(Operation *op, llvm::SetVector<Operation *> &slice);
  std::string findConflict(ParallelOp copy, AllocOp tile, Value source);
  void makeVersions(Value version);
  void issue(ImplicitLocOpBuilder &b, ArrayRef<Prefetch *> copies, Value iteration, Value version,
             const Channel *channel = nullptr);
  void issueAhead(ImplicitLocOpBuilder &b, ArrayRef<Prefetch *> copies, Operation *last,
                  const Channel *channel = nullptr);
  std::pair<Operation *, Operation *> findReaders(ArrayRef<Prefetch *> copies);
  void findChannels();
  std::string findRoleObstacle();
  std::string compareWithThreads();
  void countIterations();
  void makeBarriers(Channel &channel);
  Value versionOf(ImplicitLocOpBuilder &b, Value iteration, int64_t distance);
  void connect(Channel &channel);
  Operation *firstProduct();

  PipelinedOp loop;
  Block &body;
  const SafeValues &safeValues;
  bool disjoint; ///< No other argument shares memory with one that is written.
  bool mayHaveRoles;
  SmallVector<Prefetch> prefetches;
  SmallVector<Channel> channels;
  bool hasProducer = false;
  int64_t versions = 1;
  int64_t ahead = 1;
  Value first; ///< The loop's first iteration, less those of earlier rounds.
};

/// Whether an op reads a variable that the loop does not set.
bool readsFixedVariable(Operation *op, PipelinedOp loop) {
  auto load = dyn_cast<LoadOp>(op);
  auto variable = load ? load.getBuffer().getDefiningOp<AllocOp>() : AllocOp();
  return variable && getSpace(variable.getBuffer()) == Space::Local &&
         llvm::all_of(variable->getUsers(), [&](Operation *user) {
           return isa<LoadOp>(user) || (isa<StoreOp>(user) && !loop->isAncestor(user));
         });
}

/// The ops of the body that compute what `op` uses; false if one of them is more than arithmetic.
bool Pipeliner::findSlice(Operation *op, llvm::SetVector<Operation *> &slice) {
  bool isFree = true;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition || definition->getBlock() != &body || slice.contains(definition))
        continue;
      if (!isPlain(definition)) {
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
    if (getBlockOrder(&op).learns &&
        (!disjoint || mayWrite(loop->getParentOfType<KernelOp>(), source)))
      return "an iteration learns from other blocks whether '" + tile::getName(source).str() +
             "' is written";
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
/// shared memory give no obstacle: the user does not expect it of them.
std::optional<Prefetch> Pipeliner::analyze(ParallelOp copy, std::string &obstacle) {
  std::optional<access::CopyLoop> accesses = access::CopyLoop::get(copy);
  if (!accesses || !accesses->isFill())
    return std::nullopt;
  LoadOp load = accesses->load;
  StoreOp store = accesses->store;
  bool isBulk = isBulkCopy(copy);
  Value source = getRoot(load.getBuffer());
  auto tile = getRoot(store.getBuffer()).getDefiningOp<AllocOp>();
  auto read = load->getAttrOfType<AccessAttr>(kAccessAttr),
       write = store->getAttrOfType<AccessAttr>(kAccessAttr);
  int64_t bytes = getStorageBytes(tile.getBuffer().getType().getElementType());
  auto refuse = [&](const Twine &reason) {
    obstacle = reason.str();
    return std::nullopt;
  };
  if (!isBulk && (!read || !write || read.getSlots() != write.getSlots() ||
                  read.getWidth() != write.getWidth() || !read.getSources().empty()))
    return refuse("its reads and writes have different widths");
  if (int64_t width = isBulk ? 16 : read.getWidth() * bytes;
      width != 4 && width != 8 && width != 16)
    return refuse("asynchronous copies move 4, 8 or 16 bytes, this one " + Twine(width));
  std::optional<SmallVector<int64_t>> extents = analysis::getStaticExtents(copy);
  auto indices = analysis::getAccessIndices(copy, store.getBuffer(), store.getIndices());
  int64_t total = 1;
  for (int64_t extent : *extents)
    total *= extent;
  if (!indices || total != tile.getBuffer().getType().getNumElements() ||
      !isInjective(Layout::get(*extents, *indices)).isYes())
    return refuse("it does not write all of '" + tile.getName() + "'");
  if (!isBulk && safeValues.contains({loop->getParentOfType<KernelOp>(), source}))
    return refuse("'" + tile::getName(source) + "' has a value of its own out of bounds");
  if (std::string conflict = findConflict(copy, tile, source); !conflict.empty())
    return refuse(conflict);
  llvm::SetVector<Operation *> slice;
  if (!findSlice(copy, slice))
    return refuse("it depends on what the iteration computes");
  Prefetch prefetch{copy, tile, slice.takeVector(), Value(), isBulk};
  llvm::sort(prefetch.slice, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  if (isBulk && !findReaders(&prefetch).second)
    return refuse("nothing reads '" + tile.getName() + "'");
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
void Pipeliner::issue(ImplicitLocOpBuilder &b, ArrayRef<Prefetch *> copies, Value iteration,
                      Value version, const Channel *channel) {
  AsyncGroupOp group;
  if (channel) {
    Value number = version ? version : arith::ConstantIndexOp::create(b, 0).getResult();
    group =
        AsyncGroupOp::create(b, iteration, loop.getUpper(), channel->full, number, channel->empty);
  } else {
    group = AsyncGroupOp::create(b, iteration, loop.getUpper());
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&group.getBody().front());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iteration);
  for (Prefetch *prefetch : copies) {
    if (version)
      mapping.map(prefetch->current, sliceVersion(b, prefetch->tile, version));
    for (Operation *op : prefetch->slice)
      b.clone(*op, mapping);
    b.clone(*prefetch->copy, mapping);
  }
}

/// The first and the last statement of the body that touch the tiles of these copies.
std::pair<Operation *, Operation *> Pipeliner::findReaders(ArrayRef<Prefetch *> copies) {
  Operation *earliest = nullptr, *latest = nullptr;
  for (Prefetch *prefetch : copies)
    for (Operation *user : analysis::getUsersThroughViews(prefetch->tile)) {
      Operation *inBody = body.findAncestorOpInBlock(*user);
      if (!inBody || inBody == prefetch->copy || isa<SliceOp, ViewOp>(inBody))
        continue;
      if (!latest || latest->isBeforeInBlock(inBody))
        latest = inBody;
      if (!earliest || inBody->isBeforeInBlock(earliest))
        earliest = inBody;
    }
  return {earliest, latest};
}

/// The first product of the body that is left open.
Operation *Pipeliner::firstProduct() {
  auto products = body.getOps<GemmOp>();
  auto it = llvm::find_if(products, [](GemmOp gemm) { return gemm->hasAttr(kAsyncAttr); });
  return it == products.end() ? nullptr : (*it).getOperation();
}

//===----------------------------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------------------------===//

void Pipeliner::findChannels() {
  for (Prefetch &prefetch : prefetches) {
    if (!prefetch.isBulk)
      continue;
    auto [earliest, latest] = findReaders(&prefetch);
    auto *known = llvm::find_if(
        channels, [&, last = latest](const Channel &channel) { return channel.last == last; });
    if (known == channels.end()) {
      channels.push_back({{&prefetch}, earliest, latest, Value(), Value()});
      continue;
    }
    known->members.push_back(&prefetch);
    if (earliest->isBeforeInBlock(known->first))
      known->first = earliest;
  }
}

/// Why the copies are not given to a producer; empty if they are.
std::string Pipeliner::findRoleObstacle() {
  auto kernel = loop->getParentOfType<KernelOp>();
  if (!getTeamRoles(kernel).empty())
    return "the program gives its threads roles of its own";
  if (!mayHaveRoles || kernel->getParentOfType<func::FuncOp>()->hasAttr(kNoRolesAttr))
    return "the program says so (tl.disable_warp_specialized)";
  if (versions < 2)
    return "one stage leaves nothing to run ahead into";
  std::optional<int64_t> lower = getConstantIntValue(loop.getLower()),
                         upper = getConstantIntValue(loop.getUpper());
  if (lower && upper && *upper - *lower < 2)
    return "the loop runs fewer than two times";
  bool hasProduct = false;
  loop.walk([&](GemmOp gemm) { hasProduct |= gemm->hasAttr(kGroupsAttr); });
  if (!hasProduct)
    return "no product of the loop runs beside them";
  if (kernel.getNumThreads() % kWarpSize || kernel.getNumThreads() > kMaxConsumers)
    return "the block has no room for another warp";
  SmallVector<Operation *> copies;
  for (const Prefetch &prefetch : prefetches)
    if (prefetch.isBulk)
      copies.push_back(prefetch.copy);
  return findProducerObstacle(loop, copies, disjoint);
}

/// How many blocks there are for a processor: of an H100, as the model's times are (schedule-products). One where the
/// grid is not known.
static int64_t countBlocksForProcessor(KernelOp kernel) {
  constexpr int64_t kProcessors = 132;
  int64_t blocks = 1;
  for (Value extent : kernel.getGrid()) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    if (!constant || *constant < 1 || blocks > std::numeric_limits<int32_t>::max())
      return 1;
    blocks *= *constant;
  }
  return llvm::divideCeil(blocks, kProcessors);
}

/// How many of them it holds at once. Each of its four parts has registers for whole warps.
static int64_t countResidentBlocks(KernelOp kernel, int64_t sharedBytes, int64_t threads,
                                   int64_t registers) {
  constexpr int64_t kSharedBytes = 228 * 1024, kReservedBytes = 1024, kThreads = 2048, kParts = 4;
  int64_t ofWarp = llvm::alignTo(registers, 8) * kWarpSize;
  int64_t warps = kRegistersPerProcessor / kParts / ofWarp * kParts;
  int64_t blocks = std::min({kSharedBytes / (sharedBytes + kReservedBytes), kThreads / threads,
                             warps / int64_t(llvm::divideCeil(threads, kWarpSize)),
                             countBlocksForProcessor(kernel)});
  return std::max<int64_t>(1, blocks);
}

/// Why the program's threads copy: the model of the schedule expects that to be faster, by more than its error. A
/// producer lets copies start sooner and warpgroups run apart; but it takes registers, and so maybe room for
/// another block. Empty if it is not; then a remark has both predictions.
std::string Pipeliner::compareWithThreads() {
  constexpr double kTolerance = 1.1;
  auto kernel = loop->getParentOfType<KernelOp>();
  SmallVector<CopiedTiles> copied;
  for (const Channel &channel : channels) {
    CopiedTiles &tiles = copied.emplace_back();
    for (Prefetch *prefetch : channel.members) {
      tiles.tiles.push_back(prefetch->tile.getBuffer());
      tiles.bytes += double(analysis::getPlacedBytes(prefetch->tile));
    }
    tiles.versions = versions;
    tiles.first = channel.first;
    tiles.last = channel.last;
  }
  int64_t sharedBytes = 0;
  kernel.walk([&](AllocOp alloc) {
    bool isVersioned =
        llvm::any_of(prefetches, [&](const Prefetch &prefetch) { return prefetch.tile == alloc; });
    if (getSpace(alloc.getBuffer()) == Space::Shared)
      sharedBytes += analysis::getPlacedBytes(alloc) * (isVersioned ? versions : 1);
  });
  // How many registers there will be besides those of fragments is a guess: it must not decide.
  constexpr int64_t kMaxRegisters = 255, kUncertain = 24;
  int64_t threads = kernel.getNumThreads(),
          registers = countLoopRegisters(loop, getWrittenOrder(loop)) + kOtherRegisters;
  int64_t with = countResidentBlocks(kernel, sharedBytes, threads + kWarpSize,
                                     std::min(registers - kUncertain, getGrantedRegisters(kernel))),
          without = countResidentBlocks(kernel, sharedBytes, threads,
                                        std::min(registers + kUncertain, kMaxRegisters));
  SchedulePrediction produced = predictCopies(loop, copied, CopiedBy::Producer, with),
                     own = predictCopies(loop, copied, CopiedBy::Threads, without);
  bool isKnown = produced.cycles > 0 && own.cycles > 0;
  bool isSlower = isKnown && produced.cycles > kTolerance * own.cycles;
  if (!isKnown)
    return "";
  const SchedulePrediction &chosen = isSlower ? own : produced;
  InFlightDiagnostic diag = loop.emitRemark();
  auto describe = [&](const SchedulePrediction &prediction, int64_t blocks) {
    diag << int64_t(prediction.cycles) << " cycles with " << blocks
         << (blocks == 1 ? " block" : " blocks") << " a processor";
  };
  diag << "predicted for an iteration: ";
  describe(produced, with);
  diag << " if a producer copies, ";
  describe(own, without);
  diag << " if the program's threads do; they pass through " << chosen.critical;
  describeRemark(diag, "roles", "",
                 {{"cycles", int64_t(chosen.cycles)},
                  {"produced", int64_t(produced.cycles)},
                  {"by_threads", int64_t(own.cycles)},
                  {"blocks_with_producer", with},
                  {"blocks_without", without},
                  {"critical", chosen.critical}});
  return isSlower ? "its threads copy faster, as more blocks fit a processor" : "";
}

/// A loop inside another runs several times, and the phases of its barriers go on. A variable
/// counts the iterations so far, modulo what versions and phases can tell apart.
void Pipeliner::countIterations() {
  first = loop.getLower();
  auto kernel = loop->getParentOfType<KernelOp>();
  bool isRepeated = false;
  for (Operation *op = loop->getParentOp(); op != kernel; op = op->getParentOp())
    isRepeated |= isa<LoopLikeOpInterface, scf::WhileOp>(op);
  if (!isRepeated)
    return;
  ImplicitLocOpBuilder b(loop.getLoc(), &kernel.getBody().front().front());
  auto counter = AllocOp::create(b, makeBufferType({}, b.getI64Type(), Space::Local),
                                 b.getStringAttr("iterations"), ValueRange(), ReduceKindAttr());
  counter->setAttr(kIterationCountAttr, b.getUnitAttr());
  Value zero = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
  StoreOp::create(b, zero, counter.getBuffer(), ValueRange());
  b.setInsertionPoint(loop);
  Value before = arith::IndexCastOp::create(
      b, b.getIndexType(), LoadOp::create(b, b.getI64Type(), counter.getBuffer(), ValueRange()));
  first = arith::SubIOp::create(b, loop.getLower(), before);
  b.setInsertionPointAfter(loop);
  Value count = arith::SubIOp::create(b, loop.getUpper(), loop.getLower());
  count = arith::MaxSIOp::create(b, count, arith::ConstantIndexOp::create(b, 0));
  Value number = FloorModOp::create(b, arith::AddIOp::create(b, before, count),
                                    arith::ConstantIndexOp::create(b, 2 * versions), false);
  StoreOp::create(b, arith::IndexCastOp::create(b, b.getI64Type(), number), counter.getBuffer(),
                  ValueRange());
}

void Pipeliner::makeBarriers(Channel &channel) {
  auto kernel = loop->getParentOfType<KernelOp>();
  ImplicitLocOpBuilder b(loop.getLoc(), &kernel.getBody().front().front());
  std::string name = channel.members.front()->tile.getName().str();
  MemRefType type = makeBufferType(versions, b.getI64Type(), Space::Shared);
  auto make = [&](StringRef suffix, int64_t arrivals) -> Value {
    return BarrierAllocOp::create(b, type, b.getStringAttr(name + suffix),
                                  b.getDenseI64ArrayAttr(SmallVector<int64_t>(versions, arrivals)))
        .getBarriers();
  };
  channel.full = make("_full", 1);
  if (hasProducer)
    channel.empty = make("_empty", kernel.getNumThreads() / kWarpSize);
}

Value Pipeliner::versionOf(ImplicitLocOpBuilder &b, Value iteration, int64_t distance) {
  return VersionOp::create(b, b.getIndexType(), iteration, first, distance, versions);
}

/// Readers wait for the version of their iteration, and a producer learns when all have read it.
void Pipeliner::connect(Channel &channel) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Operation *isRead = channel.last;
  b.setInsertionPoint(channel.first);
  b.setLoc(channel.first->getLoc());
  auto makeVersion = [&]() -> Value {
    return versions > 1 ? versionOf(b, loop.getInductionVar(), 0)
                        : arith::ConstantIndexOp::create(b, 0).getResult();
  };
  Value phase = PhaseOp::create(b, b.getIndexType(), loop.getInductionVar(), first, 0, versions);
  Value version = makeVersion();
  BarrierWaitOp::create(b, channel.full, version, phase, IntegerAttr());
  if (!hasProducer)
    return;
  b.setInsertionPointAfter(isRead);
  b.setLoc(isRead->getLoc());
  BarrierArriveOp::create(b, channel.empty, version, Value(), UnitAttr(), b.getUnitAttr(),
                          IntegerAttr());
}

/// Groups in front of the loop for the first iterations, and one in the body for a later one.
void Pipeliner::issueAhead(ImplicitLocOpBuilder &b, ArrayRef<Prefetch *> copies, Operation *last,
                           const Channel *channel) {
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  auto add = [&](Value lhs, int64_t rhs) -> Value {
    return b.createOrFold<arith::AddIOp>(lhs, constant(rhs));
  };
  auto startOf = [&](Value iteration, Value distance) -> Value {
    if (versions == 1)
      return Value();
    return first == loop.getLower() ? distance : versionOf(b, iteration, 0);
  };
  OpBuilder::InsertPoint inBody = b.saveInsertionPoint();
  b.setInsertionPoint(loop);
  if (ahead <= kMaxUnrolledIssues) {
    for (int64_t d = 0; d < ahead; ++d) {
      Value iteration = add(loop.getLower(), d);
      issue(b, copies, iteration, startOf(iteration, constant(d)), channel);
    }
  } else {
    auto before = scf::ForOp::create(b, constant(0), constant(ahead), constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(before.getBody());
    Value distance = before.getInductionVar();
    Value iteration = arith::AddIOp::create(b, loop.getLower(), distance);
    issue(b, copies, iteration, startOf(iteration, distance), channel);
  }
  // A product that runs on after its statement should have begun: the copies overwrite what the last
  // iteration's product reads, and threads wait for that one while this one runs.
  Operation *product = versions > 1 ? firstProduct() : nullptr;
  if (product)
    b.setInsertionPointAfter(product);
  else if (versions > 1)
    b.restoreInsertionPoint(inBody);
  else
    b.setInsertionPointAfter(last);
  Value next;
  if (versions > 1)
    next = versionOf(b, loop.getInductionVar(), ahead);
  issue(b, copies, add(loop.getInductionVar(), ahead), next, channel);
  b.restoreInsertionPoint(inBody);
}

//===----------------------------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------------------------===//

static void remarkNotPipelined(Operation &copy, StringRef obstacle) {
  InFlightDiagnostic diag = copy.emitRemark();
  diag << "this copy is not pipelined: " << obstacle;
  describeRemark(diag, "pipeline", "", {{"reason", obstacle}});
}

/// Replaces what plan-accesses said about the loads and stores of the copy (Driver/Decisions.cpp).
static void remarkPipelined(const Prefetch &prefetch, int64_t versions, int64_t ahead,
                            bool hasProducer) {
  ParallelOp copy = prefetch.copy;
  LoadOp load = *copy.getBody().front().getOps<LoadOp>().begin();
  AllocOp tile = prefetch.tile;
  int64_t width, bytes;
  std::string instruction;
  if (isBulkCopy(copy)) {
    auto bulk = access::BulkInstructions::get(copy, *access::CopyLoop::get(copy));
    std::tie(instruction, width, bytes) = std::tie(bulk.name, bulk.count, bulk.bytes);
  } else {
    width = load->getAttrOfType<AccessAttr>(kAccessAttr).getWidth();
    bytes = width * getStorageBytes(tile.getBuffer().getType().getElementType());
    instruction = bytes == 16 ? "cp.async.cg.shared.global" : "cp.async.ca.shared.global";
  }
  StringRef source = tile::getName(getRoot(load.getBuffer()));
  InFlightDiagnostic diag = copy.emitRemark();
  diag << tile.getName() << ": " << width << " x " << instruction << " of " << bytes
       << " bytes, issued " << (hasProducer ? "by a producer warp " : "") << ahead
       << (ahead == 1 ? " iteration" : " iterations") << " ahead into " << versions
       << (versions == 1 ? " version" : " versions");
  describeRemark(diag, "access", tile.getName(),
                 {{"width", width},
                  {"instruction", instruction},
                  {"bytes", bytes},
                  {"ahead", ahead},
                  {"versions", versions},
                  {"copies", source}});
}

static void remarkNoProducer(PipelinedOp loop, StringRef obstacle) {
  InFlightDiagnostic diag = loop.emitRemark();
  diag << "this loop has no producer warp: " << obstacle;
  describeRemark(diag, "roles", "", {{"reason", obstacle}});
}

//===----------------------------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------------------------===//

void Pipeliner::run() {
  if (loop.getNumStages() < 1)
    return;
  // No barrier for each of so many versions: planning shared memory refuses the tiles.
  if (loop.getNumStages() > kMaxVersions)
    loop.walk([](ParallelOp copy) {
      copy->removeAttr(kBulkAttr);
      copy->removeAttr(kSpanAttr);
    });
  for (Operation &op : llvm::make_early_inc_range(body))
    if (readsFixedVariable(&op, loop))
      op.moveBefore(loop);
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
  ahead = std::max<int64_t>(1, versions - 1);
  findChannels();
  if (!channels.empty()) {
    std::string obstacle = findRoleObstacle();
    if (obstacle.empty())
      obstacle = compareWithThreads();
    hasProducer = obstacle.empty();
    if (!hasProducer)
      remarkNoProducer(loop, obstacle);
    countIterations();
  } else {
    first = loop.getLower();
  }
  SmallVector<Prefetch *> plain;
  for (Prefetch &prefetch : prefetches) {
    bool isProduced = prefetch.isBulk && hasProducer;
    remarkPipelined(prefetch, versions, isProduced ? versions : ahead, isProduced);
    if (!prefetch.isBulk)
      plain.push_back(&prefetch);
  }
  Operation *lastPlain = findReaders(plain).second;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  b.setInsertionPointToStart(&body);
  if (versions > 1) {
    Value version = versionOf(b, loop.getInductionVar(), 0);
    makeVersions(version);
    b.setInsertionPointAfter(prefetches.back().current.getDefiningOp());
  }
  for (Channel &channel : channels) {
    makeBarriers(channel);
    connect(channel);
    if (!hasProducer) {
      issueAhead(b, channel.members, channel.last, &channel);
      continue;
    }
    issue(b, channel.members, loop.getInductionVar(), versionOf(b, loop.getInductionVar(), 0),
          &channel);
  }
  if (!plain.empty())
    issueAhead(b, plain, lastPlain);
  for (Prefetch &prefetch : prefetches)
    prefetch.copy.erase();
}

/// `a: 1 x cp.async.bulk.tensor.2d of 4096 bytes, started by one thread of its role`. Replaces what
/// plan-accesses said about the loads and stores of the copy (Driver/Decisions.cpp).
static void remarkAtArrival(ParallelOp copy) {
  access::CopyLoop loop = *access::CopyLoop::get(copy);
  auto [instruction, count, bytes] = access::BulkInstructions::get(copy, loop);
  StringRef tile = tile::getName(getRoot(loop.getTileAccess().buffer));
  StringRef tensor = tile::getName(getRoot(loop.getTensorAccess().buffer));
  InFlightDiagnostic diag = copy.emitRemark();
  diag << tile << ": " << count << " x " << instruction << " of " << bytes
       << " bytes, started by one thread of its role";
  describeRemark(
      diag, "access", tile,
      {{"width", count}, {"instruction", instruction}, {"bytes", bytes}, {"copies", tensor}});
}

/// Bulk copies of a role that uses barriers of the program: they start in front of the arrival after
/// them, and its barrier expects their bytes.
static void placeAtArrivals(KernelOp kernel) {
  SmallVector<ParallelOp> copies;
  kernel.walk([&](ParallelOp copy) {
    if (copy->hasAttr(kAtArrivalAttr) && copy->hasAttr(kBulkAttr) &&
        !isa<AsyncGroupOp>(copy->getParentOp()))
      copies.push_back(copy);
  });
  for (ParallelOp copy : copies) {
    remarkAtArrival(copy);
    Operation *next = copy->getNextNode();
    while (next && !isa<BarrierArriveOp>(next))
      next = next->getNextNode();
    auto arrive = cast<BarrierArriveOp>(next);
    auto group = dyn_cast_or_null<AsyncGroupOp>(arrive->getPrevNode());
    ImplicitLocOpBuilder b(copy.getLoc(), arrive);
    if (!group || !group->hasAttr(kAtArrivalAttr)) {
      Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
      group = AsyncGroupOp::create(b, zero, one, arrive.getBarriers(), arrive.getIndex());
      group->setAttr(kAtArrivalAttr, b.getUnitAttr());
    }
    copy->moveBefore(group.getBody().front().getTerminator());
  }
}

struct PlanPipelinePass : tilewright::impl::PlanPipelineBase<PlanPipelinePass> {
  using PlanPipelineBase::PlanPipelineBase;

  void runOnOperation() override {
    SmallVector<PipelinedOp> loops;
    SafeValues safeValues;
    getOperation()->walk([&](Operation *op) {
      if (auto loop = dyn_cast<PipelinedOp>(op))
        loops.push_back(loop);
      if (auto note = dyn_cast<AnnotateSafeValueOp>(op))
        safeValues.insert({note->getParentOfType<KernelOp>(), note.getBuffer()});
    });
    for (PipelinedOp loop : loops)
      Pipeliner(loop, safeValues, disjoint, roles).run();
    getOperation()->walk(placeAtArrivals);
  }
};

} // namespace
