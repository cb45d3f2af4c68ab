//===- Clusters.cpp - statements on the blocks of a cluster ----------------------------------===//

#include "tilewright/Frontend/Clusters.h"
#include "tilewright/Tile/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace tilewright::frontend {

namespace {

constexpr int64_t kWarpSize = 32;
constexpr int64_t kMostThreads = 1024;
constexpr llvm::StringLiteral kClusterHint = "cluster", kJoinedHint = "joined_cluster";
constexpr llvm::StringLiteral kArriveHint = "cluster_arrive", kWaitHint = "cluster_wait";

int64_t countBlocks(ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

/// The value with other numbers in place of those that are mapped; null where memory decides it.
Value recompute(Value value, IRMapping &mapping, OpBuilder &builder) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || isa<tile::AllocOp>(op))
    return value;
  bool isPart = isa<tile::SliceOp, tile::ViewOp>(op);
  if (op->getNumRegions() != 0 || !(isPart || tile::isPureScalar(op)))
    return Value();
  bool isSame = true;
  for (Value operand : op->getOperands()) {
    Value other = recompute(operand, mapping, builder);
    if (!other)
      return Value();
    isSame &= other == operand;
    mapping.map(operand, other);
  }
  return isSame ? value : builder.clone(*op, mapping)->getResult(0);
}

/// The same part of another buffer.
Value makePart(Value part, Value root, Value other, OpBuilder &builder) {
  if (part == root)
    return other;
  IRMapping mapping;
  Value source = tile::getViewSource(part);
  mapping.map(source, makePart(source, root, other, builder));
  return builder.clone(*part.getDefiningOp(), mapping)->getResult(0);
}

bool isMeeting(Operation &op) {
  auto hint = dyn_cast<tile::HintOp>(op);
  return hint && (hint.getName() == kArriveHint || hint.getName() == kWaitHint);
}

bool isNote(Operation &op) { return isa<tile::AnnotateLayoutOp, tile::AnnotateSafeValueOp>(op); }

/// What every block of the cluster has for itself, wherever its threads are: memory, and notes on it.
bool isOwnMemory(Operation &op) {
  if (isNote(op))
    return isa_and_nonnull<tile::AllocOp>(op.getOperand(0).getDefiningOp());
  return isa<tile::AllocOp, tile::BarrierAllocOp>(op) && op.getNumOperands() == 0;
}

/// What is said once for all blocks: of tensors, and of the launch.
bool isNoteOnLaunch(Operation &op) {
  if (isNote(op))
    return isa<BlockArgument>(op.getOperand(0));
  auto hint = dyn_cast<tile::HintOp>(op);
  return isa<tile::UseSwizzleOp>(op) || (hint && !isMeeting(op) && hint.getBuffers().empty());
}

} // namespace

void Clusters::begin(ArrayRef<int64_t> clusterExtents) {
  kernel = cast<tile::KernelOp>(regions.findKernel());
  extents.assign(clusterExtents.begin(), clusterExtents.end());
  placeholders.clear();
}

void Clusters::copyOfBlock(const TileOperand &source, const TileOperand &dest,
                           ArrayRef<std::pair<Scalar, Scalar>> blocks, DictionaryAttr hints) {
  regions.requireKernel("'T.copy_cluster'");
  auto [from, to] = buffers.matchExtents(source, dest, "'T.copy_cluster'");
  emitter.checkOwn(from.traceId);
  emitter.checkOwn(to.traceId);
  if (tile::getSpace(tile::getRoot(from.value)) != tile::Space::Global ||
      tile::getSpace(tile::getRoot(to.value)) != tile::Space::Shared)
    emitter.fail("'T.copy_cluster' of several blocks copies from a tensor to a shared tile");
  IRMapping mapping;
  for (auto &[number, other] : blocks) {
    emitter.checkOwn(number.traceId);
    emitter.checkOwn(other.traceId);
    mapping.map(number.value, other.value);
  }
  Value theirs = recompute(from.value, mapping, builder);
  if (!theirs)
    emitter.fail(
        "'T.copy_cluster' of several blocks: where it copies from is read from memory; use "
        "numbers of blocks and loops, and arithmetic");
  auto op = emitter.create<tile::CopyOp>(theirs, to.value, IntegerAttr(), tile::FragmentAttr());
  op->setDiscardableAttrs(hints);
  emitter.verified(op);
}

void Clusters::copyToBlock(const TileOperand &source, const TileOperand &dest, int64_t rank) {
  regions.requireKernel("'T.copy_cluster'");
  auto [from, to] = buffers.matchExtents(source, dest, "'T.copy_cluster'");
  emitter.checkOwn(from.traceId);
  emitter.checkOwn(to.traceId);
  Value theirs = ofBlock(to.value, rank, "'T.copy_cluster'");
  emitter.createVerified<tile::CopyOp>(from.value, theirs, IntegerAttr(), tile::FragmentAttr());
}

void Clusters::arriveAtBlock(const Element &barrier, int64_t rank, bool once) {
  emitter.checkOwn(barrier.buffer.traceId);
  Value theirs = ofBlock(barrier.buffer.value, rank, "an arrival at another block");
  emitter.createVerified<tile::BarrierArriveOp>(theirs, barrier.indices.front().value, Value(),
                                                once ? builder.getUnitAttr() : UnitAttr(),
                                                UnitAttr(), IntegerAttr());
}

void Clusters::meet(StringRef name) {
  if (kernel && countBlocks(extents) > 1)
    emitter.createVerified<tile::HintOp>(builder.getStringAttr(name), ValueRange());
}

/// Refuses what cannot be one block, at the statement that needs it.
void Clusters::checkJoinable(StringRef what) {
  ArrayRef<int64_t> threads = kernel.getThreads();
  int64_t blocks = countBlocks(extents);
  std::string reason;
  if (threads.front() != kernel.getNumThreads() || threads.front() % kWarpSize)
    reason = "its threads have one extent, a multiple of " + std::to_string(kWarpSize);
  else if (blocks * threads.front() > kMostThreads)
    reason = "a block has at most " + std::to_string(kMostThreads) +
             " threads, and the cluster has " + std::to_string(blocks) + " x " +
             std::to_string(threads.front());
  for (Value extent : kernel.getGrid())
    if (!getConstantIntValue(extent))
      reason = "the extents of its grid are constants";
  if (!reason.empty())
    emitter.fail(Twine(what) +
                 ": blocks that reach into each other's shared memory run as one block; " + reason);
}

/// This buffer, or part of one, in block `rank`.
Value Clusters::ofBlock(Value buffer, int64_t rank, StringRef what) {
  checkJoinable(what);
  Value root = tile::getRoot(buffer);
  Operation *own = root.getDefiningOp();
  if (!own || !isa<tile::AllocOp, tile::BarrierAllocOp>(own) || own->getParentOp() != kernel ||
      tile::getSpace(root) != tile::Space::Shared)
    emitter.fail(Twine(what) + ": what another block has is a shared tile or barrier that is "
                               "allocated outside of loops and branches");
  for (const Placeholder &known : placeholders)
    if (known.own == own && known.rank == rank)
      return makePart(buffer, root, known.op->getResult(0), builder);
  placeholders.push_back({own, rank, OpBuilder(own->getNextNode()).clone(*own)});
  return makePart(buffer, root, placeholders.back().op->getResult(0), builder);
}

/// The numbers that the kernel's block has as block `rank` of the cluster.
SmallVector<Value> Clusters::makeNumbers(tile::KernelOp joined, int64_t rank, OpBuilder &b) {
  SmallVector<Value> numbers;
  Location loc = kernel.getLoc();
  for (auto [position, block] : llvm::enumerate(joined.getBlockIds())) {
    int64_t extent = position < extents.size() ? extents[position] : 1;
    Value own = arith::ConstantIndexOp::create(b, loc, rank % extent);
    rank /= extent;
    if (getConstantIntValue(joined.getGrid()[position]) != 1) {
      Value width = arith::ConstantIndexOp::create(b, loc, extent);
      own = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, block, width), own);
    }
    numbers.push_back(own);
  }
  return numbers;
}

/// Turns the meetings of a block into arrivals and waits. Outside of branches and loops a wait knows
/// how many came before it; elsewhere it counts.
static void settleMeetings(Block &body, Value barrier) {
  SmallVector<tile::HintOp> arrivals, waits;
  body.walk([&](tile::HintOp hint) {
    if (isMeeting(*hint))
      (hint.getName() == kArriveHint ? arrivals : waits).push_back(hint);
  });
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  Location loc = barrier.getLoc();
  Value count;
  if (llvm::any_of(waits, [&](tile::HintOp wait) { return wait->getBlock() != &body; })) {
    count =
        tile::AllocOp::create(b, loc, tile::makeBufferType({}, b.getI32Type(), tile::Space::Local),
                              b.getStringAttr("meetings"), ValueRange(), tile::ReduceKindAttr());
    tile::StoreOp::create(b, loc, arith::ConstantIntOp::create(b, loc, 0, 32), count, ValueRange());
  }
  for (tile::HintOp arrival : arrivals) {
    OpBuilder at(arrival);
    tile::BarrierArriveOp::create(at, arrival.getLoc(), barrier,
                                  arith::ConstantIndexOp::create(at, arrival.getLoc(), 0), Value(),
                                  UnitAttr(), UnitAttr(), IntegerAttr());
    arrival->erase();
  }
  for (auto [number, wait] : llvm::enumerate(waits)) {
    ImplicitLocOpBuilder at(wait.getLoc(), wait);
    Value parity = arith::ConstantIndexOp::create(at, number % 2);
    if (count) {
      Value before = tile::LoadOp::create(at, at.getI32Type(), count, ValueRange());
      Value one = arith::ConstantIntOp::create(at, 1, 32);
      parity =
          arith::IndexCastOp::create(at, at.getIndexType(), arith::AndIOp::create(at, before, one));
      tile::StoreOp::create(at, arith::AddIOp::create(at, before, one), count, ValueRange());
    }
    tile::BarrierWaitOp::create(at, barrier, arith::ConstantIndexOp::create(at, 0), parity,
                                IntegerAttr());
    wait->erase();
  }
}

/// What stands in a block is the work of block `rank`, whose numbers and threads are these.
void Clusters::settle(Block &body, int64_t rank, ArrayRef<Value> numbers, Value thread) {
  SmallVector<Operation *> done;
  body.walk([&](Operation *op) {
    OpBuilder b(op);
    if (auto index = dyn_cast<tile::ThreadIdOp>(op); index && index.getDim() == 0) {
      index.replaceAllUsesWith(thread);
    } else if (isa<tile::FloorModOp>(op)) { // mostly the rank of the block
      auto *number = llvm::find(numbers, op->getOperand(0));
      size_t position = number - numbers.begin();
      if (position >= extents.size() || getConstantIntValue(op->getOperand(1)) != extents[position])
        return;
      int64_t below = countBlocks(ArrayRef(extents).take_front(position));
      op->getResult(0).replaceAllUsesWith(
          arith::ConstantIndexOp::create(b, op->getLoc(), rank / below % extents[position]));
    } else {
      return;
    }
    done.push_back(op);
  });
  for (Operation *op : done)
    op->erase();
}

/// Makes one block of the blocks of each cluster.
void Clusters::join() {
  int64_t blocks = countBlocks(extents), threads = kernel.getNumThreads();
  Location loc = kernel.getLoc();
  OpBuilder b(kernel);
  SmallVector<Value> grid;
  for (auto [position, extent] : llvm::enumerate(kernel.getGrid()))
    grid.push_back(arith::ConstantIndexOp::create(
        b, loc,
        *getConstantIntValue(extent) / (position < extents.size() ? extents[position] : 1)));
  auto joined = tile::KernelOp::create(b, loc, grid, ArrayRef(blocks * threads));
  b.setInsertionPointToStart(&joined.getBody().front());
  auto hint = tile::HintOp::create(b, loc, b.getStringAttr(kJoinedHint), ValueRange());
  hint->setAttr("blocks", b.getI64IntegerAttr(blocks));

  // What each block has, and what the others have of it.
  std::vector<IRMapping> memory(blocks);
  SmallVector<Operation *> work;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (llvm::any_of(placeholders, [&](const Placeholder &known) { return known.op == &op; }))
      continue;
    if (isNoteOnLaunch(op)) {
      if (op.getAttrOfType<StringAttr>("name") != b.getStringAttr(kClusterHint))
        b.clone(op);
    } else if (isOwnMemory(op)) {
      for (int64_t rank = 0; rank < blocks; ++rank)
        if (Operation *copy = b.clone(op, memory[rank]); copy->getNumResults())
          copy->setAttr("name", b.getStringAttr(op.getAttrOfType<StringAttr>("name").getValue() +
                                                "_" + Twine(rank)));
    } else {
      work.push_back(&op);
    }
  }
  for (const Placeholder &known : placeholders)
    for (int64_t rank = 0; rank < blocks; ++rank)
      memory[rank].map(known.op->getResult(0), memory[known.rank].lookup(known.own->getResult(0)));

  Value meeting = tile::BarrierAllocOp::create(
      b, loc, tile::makeBufferType(1, b.getI64Type(), tile::Space::Shared),
      b.getStringAttr("cluster"), b.getDenseI64ArrayAttr({blocks * threads}));
  Value thread = tile::ThreadIdOp::create(b, loc, b.getIndexType(), 0);
  for (int64_t rank = 0; rank < blocks; ++rank) {
    Value first = arith::ConstantIndexOp::create(b, loc, rank * threads);
    Value end = arith::ConstantIndexOp::create(b, loc, (rank + 1) * threads);
    Value isIn = arith::AndIOp::create(
        b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, thread, first),
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, thread, end));
    auto branch = scf::IfOp::create(b, loc, isIn);
    OpBuilder inside = branch.getThenBodyBuilder();
    SmallVector<Value> numbers = makeNumbers(joined, rank, inside);
    Value own = arith::SubIOp::create(inside, loc, thread, first);
    IRMapping &mapping = memory[rank];
    mapping.map(kernel.getBlockIds(), numbers);
    for (Operation *op : work)
      if (rank + 1 < blocks)
        inside.clone(*op, mapping);
      else // the trace knows the values of these ops
        op->moveBefore(branch.thenBlock(), inside.getInsertionPoint());
    if (rank + 1 == blocks)
      for (auto [from, to] : mapping.getValueMap())
        const_cast<Value &>(from).replaceUsesWithIf(
            to, [&](OpOperand &use) { return branch->isProperAncestor(use.getOwner()); });
    settle(*branch.thenBlock(), rank, numbers, own);
    settleMeetings(*branch.thenBlock(), meeting);
  }
  kernel->remove();
  ended.push_back(kernel);
  emitter.verifyOrThrow(joined, /*recursively=*/true);
}

void Clusters::end() {
  if (!placeholders.empty())
    join();
  else if (kernel)
    kernel.walk([](tile::HintOp hint) {
      if (isMeeting(*hint))
        hint->erase();
    });
  kernel = {};
  placeholders.clear();
}

void Clusters::forget() {
  for (Operation *op : ended) {
    op->walk([](Operation *inner) { inner->dropAllDefinedValueUses(); });
    op->dropAllReferences();
    op->erase();
  }
  ended.clear();
}

} // namespace tilewright::frontend
