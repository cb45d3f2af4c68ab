//===- ThreadStatements.cpp - tile statements of single threads, and what statements touch ---===//

#include "ThreadStatements.h"
#include "tilewright/Tile/Statements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

//===----------------------------------------------------------------------------------------===//
// Copies and fills of one thread
//===----------------------------------------------------------------------------------------===//

namespace {
class Expander {
public:
  explicit Expander(Operation *op) : b(op->getLoc(), op) {}

  LogicalResult expand(CopyOp op) {
    bool bySource = op.getSource().getType().getRank() >= op.getDest().getType().getRank();
    Value like = bySource ? op.getSource() : op.getDest();
    FailureOr<SmallVector<Value>> loops = openLoops(like);
    if (failed(loops))
      return failure();
    Type from = op.getSource().getType().getElementType();
    Type to = op.getDest().getType().getElementType();
    auto [source, sourceIndices] = elementOf(op.getSource(), like, *loops);
    Value value = LoadOp::create(b, getScalarType(from), source, sourceIndices);
    if (from != to)
      value = CastOp::create(b, getScalarType(to), value, TypeAttr::get(from), TypeAttr::get(to),
                             RoundingAttr::get(b.getContext(), Rounding::NearestEven), UnitAttr());
    auto [dest, destIndices] = elementOf(op.getDest(), like, *loops);
    StoreOp::create(b, value, dest, destIndices);
    op.erase();
    return success();
  }

  LogicalResult expand(FillOp op) {
    FailureOr<SmallVector<Value>> loops = openLoops(op.getDest());
    if (failed(loops))
      return failure();
    auto [dest, indices] = elementOf(op.getDest(), op.getDest(), *loops);
    StoreOp::create(b, op.getValue(), dest, indices);
    op.erase();
    return success();
  }

  void expand(PipelinedOp op) {
    Value one = arith::ConstantIndexOp::create(b, 1);
    auto loop = scf::ForOp::create(b, op.getLower(), op.getUpper(), one);
    op.getInductionVar().replaceAllUsesWith(loop.getInductionVar());
    Block &body = op.getBody().front();
    loop.getBody()->getOperations().splice(loop.getBody()->begin(), body.getOperations(),
                                           body.begin(), std::prev(body.end()));
    op.erase();
  }

private:
  /// Serial loops over the elements of a tile; what follows goes into the innermost.
  FailureOr<SmallVector<Value>> openLoops(Value like) {
    SmallVector<Value> variables;
    for (int64_t extent : cast<MemRefType>(like.getType()).getShape()) {
      if (ShapedType::isDynamic(extent))
        return emitError(b.getLoc()) << "what one thread copies has a constant size, this "
                                     << describe(like) << " has not; write the loop";
      Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
      auto loop = scf::ForOp::create(b, zero, arith::ConstantIndexOp::create(b, extent), one);
      variables.push_back(loop.getInductionVar());
      b.setInsertionPointToStart(loop.getBody());
    }
    return variables;
  }

  /// The element of a tile that belongs to an iteration over `like`, as one of the root where the
  /// tile is a slice.
  std::pair<Value, SmallVector<Value>> elementOf(Value buffer, Value like, ValueRange loops) {
    SmallVector<Value> indices = makePairedIndices(b, buffer, like, loops);
    while (auto slice = buffer.getDefiningOp<SliceOp>()) {
      SmallVector<Value> outer;
      unsigned next = 0;
      for (auto [dim, offset, step] :
           llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSteps())) {
        Value index = toValue(offset);
        if (!llvm::is_contained(slice.getDropped(), int64_t(dim)))
          index = arith::AddIOp::create(b, index,
                                        arith::MulIOp::create(b, indices[next++], toValue(step)));
        outer.push_back(index);
      }
      buffer = slice.getSource();
      indices = std::move(outer);
    }
    return {buffer, indices};
  }

  Value toValue(OpFoldResult entry) {
    if (auto value = dyn_cast<Value>(entry))
      return value;
    return arith::ConstantIndexOp::create(b, cast<IntegerAttr>(cast<Attribute>(entry)).getInt());
  }

  ImplicitLocOpBuilder b;
};
} // namespace

/// A statement on whole tiles that all threads of a block do together.
static bool isTileStatement(Operation *op) {
  return isa<CopyOp, FillOp, GemmOp, ReduceOp, CumsumOp, AtomicOp, FinalizeReducerOp, Im2colOp,
             ParallelOp, AnnotateLayoutOp>(op);
}

LogicalResult expandThreadStatements(KernelOp kernel, const ThreadFacts &facts) {
  SmallVector<Operation *> moves;
  kernel.walk([&](Operation *op) {
    if (isa<CopyOp, FillOp>(op) && facts.isThreaded(op))
      moves.push_back(op);
  });
  for (Operation *op : moves) {
    Expander expander(op);
    if (auto copy = dyn_cast<CopyOp>(op); copy && failed(expander.expand(copy)))
      return failure();
    if (auto fill = dyn_cast<FillOp>(op); fill && failed(expander.expand(fill)))
      return failure();
  }
  SmallVector<PipelinedOp> loops;
  kernel.walk([&](PipelinedOp loop) {
    bool hasTiles = false;
    loop.walk([&](Operation *op) { hasTiles |= isTileStatement(op); });
    if (!hasTiles && facts.isThreaded(loop))
      loops.push_back(loop);
  });
  for (PipelinedOp loop : loops)
    Expander(loop).expand(loop);
  return success();
}

//===----------------------------------------------------------------------------------------===//
// What statements touch
//===----------------------------------------------------------------------------------------===//

std::optional<SmallVector<SharedAccess>> collectAccesses(Operation *op, const ThreadFacts &facts) {
  SmallVector<SharedAccess> accesses;
  auto add = [&](Operation *inner, Value buffer, ValueRange indices) {
    SmallVector<Effect, 1> effects;
    cast<TileEffectsOpInterface>(inner).getTileEffects(effects);
    if (!facts.isPrivate(buffer))
      accesses.push_back({inner, effects.front(), indices, buffer});
  };
  WalkResult result = op->walk([&](Operation *inner) {
    if (auto load = dyn_cast<LoadOp>(inner))
      add(inner, load.getBuffer(), load.getIndices());
    else if (auto store = dyn_cast<StoreOp>(inner))
      add(inner, store.getBuffer(), store.getIndices());
    else if (auto atomic = dyn_cast<AtomicElementOp>(inner))
      add(inner, atomic.getBuffer(), atomic.getIndices());
    else if (auto alloc = dyn_cast<AllocOp>(inner); alloc && inner != op) {
      if (getSpace(alloc.getBuffer()) != Space::Local) // a tile is made once, for all threads
        return WalkResult::interrupt();
    } else if (!isa<scf::IfOp, scf::ForOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp, AllocOp,
                    AssertOp, AssumeOp, PrintOp>(inner) &&
               !isPureScalar(inner))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return accesses;
}

/// Whether two accesses are to the row of a buffer that belongs to the thread: each dimension of
/// the block's threads is one coordinate of both.
static bool areOfOwnRow(const SharedAccess &a, const SharedAccess &b) {
  if (a.buffer != b.buffer)
    return false;
  ArrayRef<int64_t> threads = a.op->getParentOfType<KernelOp>().getThreads();
  for (auto [dim, extent] : llvm::enumerate(threads)) {
    bool isCoordinate = llvm::any_of(llvm::zip(a.indices, b.indices), [&, dim = dim](auto pair) {
      auto [x, y] = pair;
      return getThreadDim(x.getDefiningOp()) == int64_t(dim) &&
             getThreadDim(y.getDefiningOp()) == int64_t(dim);
    });
    if (extent != 1 && !isCoordinate)
      return false;
  }
  return true;
}

bool mayMeet(const SharedAccess &a, const SharedAccess &b) {
  if (a.effect.root != b.effect.root || commute(a.effect, b.effect))
    return false;
  // The runs of one statement must be independent, which is checked later.
  return a.op != b.op && !areOfOwnRow(a, b);
}

/// Whether two accesses of one root meet the same accesses of other statements.
static bool meetTheSame(const SharedAccess &a, const SharedAccess &b) {
  auto isSameDim = [](auto pair) {
    auto [x, y] = pair;
    return getThreadDim(x.getDefiningOp()) == getThreadDim(y.getDefiningOp());
  };
  return a.effect.kind == b.effect.kind && a.effect.combination == b.effect.combination &&
         a.buffer == b.buffer && llvm::all_of(llvm::zip(a.indices, b.indices), isSameDim);
}

void SharedAccesses::add(ArrayRef<SharedAccess> accesses) {
  for (const SharedAccess &access : accesses) {
    SmallVector<SharedAccess, 2> &known = kept[access.effect.root];
    int64_t numOthers = 0;
    bool isKept = llvm::any_of(known, [&](const SharedAccess &other) {
      if (!meetTheSame(access, other))
        return false;
      return access.op == other.op || ++numOthers == 2;
    });
    if (!isKept)
      known.push_back(access);
  }
}

bool SharedAccesses::mayMeet(ArrayRef<SharedAccess> accesses) const {
  return llvm::any_of(accesses, [&](const SharedAccess &access) {
    auto known = kept.find(access.effect.root);
    return known != kept.end() && llvm::any_of(known->second, [&](const SharedAccess &other) {
             return threads::mayMeet(other, access);
           });
  });
}

bool isUniformLoop(Operation *op, const ThreadFacts &facts) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return llvm::none_of(loop->getOperands(), [&](Value v) { return facts.varies(v); });
  auto repeat = dyn_cast<scf::WhileOp>(op);
  return repeat && llvm::none_of(*repeat.getBeforeBody(),
                                 [&](Operation &inner) { return facts.isThreaded(&inner); });
}

/// Whether a statement inside `op` is the block's, so that it must not run once for each thread.
static bool actsForBlock(Operation *op, const ThreadFacts &facts) {
  WalkResult result = op->walk([&](Operation *inner) {
    bool isBlocks = isa<StoreOp, AssertOp>(inner) && !facts.isThreaded(inner);
    return isBlocks ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Whether `op` is a loop that all threads go round together, and asks what atomics have found: the
/// updates of one iteration come before those of the next.
static bool ordersAtomics(Operation *op, const ThreadFacts &facts) {
  if (!isUniformLoop(op, facts))
    return false;
  WalkResult result = op->walk([](AtomicElementOp atomic) {
    return atomic.getPrevious().use_empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted();
}

/// Whether a thread tells other blocks inside `op` of what others of its own did there, or learns for them:
/// `if tx < 64: W[tx] = x; if tx == 0: T.atomic_store(F[0], 1, memory_order="release")`. Threads that leave a
/// loop at different times speak for themselves.
static bool speaksForOthers(Operation *op, ArrayRef<SharedAccess> accesses,
                            const ThreadFacts &facts) {
  return accesses.size() > 1 && (isa<scf::IfOp>(op) || isUniformLoop(op, facts)) &&
         getBlockOrder(op);
}

bool runsAtOwnPace(Operation *op, const ThreadFacts &facts) {
  std::optional<SmallVector<SharedAccess>> accesses = collectAccesses(op, facts);
  return accesses && !SharedAccesses(*accesses).mayMeet(*accesses) && !actsForBlock(op, facts) &&
         !ordersAtomics(op, facts) && !speaksForOthers(op, *accesses, facts);
}

} // namespace tilewright::threads
