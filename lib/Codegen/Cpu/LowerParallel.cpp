//===- LowerParallel.cpp - loops of independent iterations ------------------------------------===//
//
// T.Parallel becomes a loop nest whose innermost loop is marked: its accesses carry an access group
// that the loop names, which tells LLVM's vectoriser that iterations do not depend on each other.
// A loop whose iterations meet (in an atomic update of a tile, a tile of their own), or in which
// the order of a single iteration's accesses matters to the vectoriser, is left unmarked.
//
// Two kinds of innermost loops, *rows*, are turned into vectors here instead of by LLVM
// (LoopVectorizer.h): those that update an element of a reducer which is the same for the whole
// row, held in several vectors of partial results meanwhile, and those that touch a tensor larger
// than the caches, which is read ahead and written past the caches:
//
//   until `out` is at a whole vector    one element at a time
//   then, four vectors at a time        partial results in four registers
//   then, one vector at a time          partial results in one register
//   the rest                            one element at a time
//
//===----------------------------------------------------------------------------------------===//

#include "LoopVectorizer.h"
#include "Lowering.h"
#include "tilewright/Analysis/LoopAccesses.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------------------------===//
// What iterations share
//===----------------------------------------------------------------------------------------===//

/// The updates of reducers whose element is the same for all iterations of the innermost loop, and
/// which nothing else in the loop touches. Empty unless that holds for all updates.
static SmallVector<tile::ReducerUpdateOp> findCarriedUpdates(tile::ParallelOp op) {
  SmallVector<tile::ReducerUpdateOp> updates;
  llvm::DenseMap<Value, unsigned> numAccesses;
  op.walk([&](Operation *nested) {
    if (auto update = dyn_cast<tile::ReducerUpdateOp>(nested))
      updates.push_back(update);
    for (Value operand : nested->getOperands())
      if (tile::isBufferType(operand.getType()))
        ++numAccesses[tile::getRoot(operand)];
  });
  Value last = op.getIterators().back();
  auto isKnownOutside = [&](Value index) {
    return getConstantIntValue(index) ||
           (index != last && (llvm::is_contained(op.getIterators(), index) ||
                              index.getParentRegion()->isProperAncestor(&op.getBody())));
  };
  bool areCarried = llvm::all_of(updates, [&](tile::ReducerUpdateOp update) {
    Type element = update.getBuffer().getType().getElementType();
    return update->getParentRegion() == &op.getBody() && isa<Float32Type, Float64Type>(element) &&
           numAccesses[tile::getRoot(update.getBuffer())] == 1 &&
           update.getBuffer().getParentRegion() != &op.getBody() &&
           llvm::all_of(update.getIndices(), isKnownOutside);
  });
  return areCarried ? updates : SmallVector<tile::ReducerUpdateOp>();
}

/// Whether no iteration touches memory that another one writes, but for the updates that are
/// `carried`. True by the meaning of T.Parallel, except where iterations combine into one element,
/// or where our own temporaries are shared.
static bool hasIndependentAccesses(tile::ParallelOp op, ArrayRef<tile::ReducerUpdateOp> carried) {
  return !op.walk([&](Operation *nested) {
              bool carries = isa<tile::AtomicOp, tile::AtomicElementOp, tile::CopyOp, tile::FillOp,
                                 tile::GemmOp, tile::ReduceOp, tile::CumsumOp, tile::Im2colOp,
                                 tile::FinalizeReducerOp, tile::PrintOp>(nested);
              if (isa<tile::ReducerUpdateOp>(nested))
                carries = carried.empty();
              if (auto alloc = dyn_cast<tile::AllocOp>(nested))
                carries = alloc.getBuffer().getType().getRank() > 0;
              return carries ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted();
}

/// Whether the elements that an access touches in one iteration of the innermost loop after another
/// are neighbours in a tile.
static bool isConsecutive(Value buffer, ValueRange indices, Value innermost) {
  bool isPlaced = llvm::any_of(buffer.getUsers(), llvm::IsaPred<tile::AnnotateLayoutOp>);
  if (isPlaced || buffer != tile::getRoot(buffer))
    return false;
  auto factor = [&](Value index) -> int64_t {
    for (auto [value, factor] : tile::IndexSum::get(index).terms)
      if (value == innermost)
        return factor;
    return 0;
  };
  return factor(indices.back()) == 1 &&
         llvm::all_of(indices.drop_back(), [&](Value index) { return factor(index) == 0; });
}

/// Whether an iteration writes an element that it touches again, or may. LLVM's vectoriser gathers
/// accesses a few elements apart, `mine[i, 0]` and `mine[i, 1]`, into one wide access, and takes
/// the marks of a parallel loop to mean that this may pass any other access, one of the same
/// iteration included (InterleavedAccessInfo asks for dependences that LoopAccessInfo has not
/// looked for). Accesses of consecutive elements are not gathered.
static bool hasOrderInside(tile::ParallelOp op) {
  struct Accesses {
    bool isStored = false, isTouchedAfterStore = false, areConsecutive = true;
  };
  llvm::SmallDenseMap<Value, Accesses> roots;
  auto note = [&](Operation *access, Value buffer, ValueRange indices) {
    if (indices.empty())
      return; // a variable
    Accesses &seen = roots[tile::getRoot(buffer)];
    auto loop = access->getParentOfType<LoopLikeOpInterface>();
    bool isRepeated = loop && op->isProperAncestor(loop);
    bool isStore = isa<tile::StoreOp>(access);
    seen.isTouchedAfterStore |= seen.isStored || (isStore && isRepeated);
    seen.isStored |= isStore;
    seen.areConsecutive &= isConsecutive(buffer, indices, op.getIterators().back());
  };
  op.walk([&](Operation *nested) {
    if (auto load = dyn_cast<tile::LoadOp>(nested))
      note(nested, load.getBuffer(), load.getIndices());
    else if (auto store = dyn_cast<tile::StoreOp>(nested))
      note(nested, store.getBuffer(), store.getIndices());
  });
  return llvm::any_of(roots, [](const auto &entry) {
    return entry.second.isTouchedAfterStore && !entry.second.areConsecutive;
  });
}

/// Whether a loop in front of the one around `load`, in the same block, reads the same elements:
/// then they are in the caches.
bool Lowering::isReadAgain(tile::LoadOp load) {
  auto loop = dyn_cast<tile::ParallelOp>(load->getParentOp());
  auto own = loop ? analysis::getPlainAccesses(loop) : std::nullopt;
  if (!own)
    return false;
  const analysis::LoopAccess &access =
      *llvm::find_if(*own, [&](const analysis::LoopAccess &a) { return a.op == load; });
  if (!access.place)
    return false;
  for (Operation *before = loop->getPrevNode(); before; before = before->getPrevNode()) {
    auto other = dyn_cast<tile::ParallelOp>(before);
    if (!other || other.getStaticExtents() != loop.getStaticExtents())
      continue;
    if (auto accesses = analysis::getPlainAccesses(other))
      for (const analysis::LoopAccess &first : *accesses)
        if (first.isRead() && first.root == access.root && first.place &&
            analysis::isSamePlace(*first.place, other.getIterators(), *access.place,
                                  loop.getIterators()))
          return true;
  }
  return false;
}

/// Whether such accesses of the loop are to rows of a tensor that is larger than the caches, and
/// not in them yet.
template <typename... AccessTs> bool Lowering::touchesStreamed(tile::ParallelOp op, Value extent) {
  bool isStreaming = false;
  op.walk([&](Operation *nested) {
    auto load = dyn_cast<tile::LoadOp>(nested);
    if (isa<AccessTs...>(nested) && !(load && isReadAgain(load))) {
      Value buffer = nested->getOperand(isa<tile::StoreOp>(nested));
      auto root = scope->roots.find(tile::getRoot(buffer));
      isStreaming |= root != scope->roots.end() && isStreamed(*root->second, extent);
    }
  });
  return isStreaming;
}

//===----------------------------------------------------------------------------------------===//
// The loop nest
//===----------------------------------------------------------------------------------------===//

void Lowering::lowerIteration(tile::ParallelOp op, ArrayRef<Value> variables) {
  for (auto [old, now] : llvm::zip_equal(op.getIterators(), variables))
    define(old, now);
  lowerRegion(op.getBody());
}

void Lowering::lowerParallel(tile::ParallelOp op) {
  SmallVector<Value> extents;
  for (OpFoldResult extent : op.getMixedExtents())
    extents.push_back(asIndex(extent));
  SmallVector<tile::ReducerUpdateOp> carried = findCarriedUpdates(op);
  bool isIndependent =
      options.calls.disjointArguments && hasIndependentAccesses(op, carried) && !hasOrderInside(op);
  SmallVector<Value> lowers(extents.size(), index(0));
  int64_t bodyTurns = countTurns(op.getBody());
  bool isByRows =
      isIndependent && !getPollInterval(lowers, extents, bodyTurns) &&
      (!carried.empty() || touchesStreamed<tile::LoadOp, tile::StoreOp>(op, extents.back()));
  if (!isByRows)
    return loopNest(
        lowers, extents, isIndependent && carried.empty(),
        [&](ArrayRef<Value> variables) { lowerIteration(op, variables); }, bodyTurns);
  loopNest(ArrayRef(extents).drop_back(), /*isParallel=*/false,
           [&](ArrayRef<Value> outer) { lowerRow(op, outer, extents.back(), carried); });
}

/// Keeps LLVM from vectorising what is left of a row: less than a vector.
static void keepScalar(scf::ForOp loop) {
  Builder b(loop.getContext());
  auto disabled = LLVM::LoopVectorizeAttr::get(loop.getContext(), /*disable=*/b.getBoolAttr(true),
                                               {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(loop.getContext(), {}, disabled, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}, {}, {}, {}));
}

void Lowering::lowerRow(tile::ParallelOp op, ArrayRef<Value> outer, Value extent,
                        ArrayRef<tile::ReducerUpdateOp> carried) {
  SmallVector<CarriedSum> sums;
  SmallVector<Value> starts;
  for (tile::ReducerUpdateOp update : carried) {
    auto alloc = tile::getRoot(update.getBuffer()).getDefiningOp<tile::AllocOp>();
    Type type = update.getBuffer().getType().getElementType();
    sums.push_back({update, Combiner(b, *alloc.getReducer(), type, type, false, options.hasRange),
                    Value(), Value()});
    starts.push_back(sums.back().combiner.getStart(/*isEmpty=*/false));
  }
  auto loop = scf::ForOp::create(b, index(0), extent, index(1), starts);
  RowAccesses accesses;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ranges.set(loop.getInductionVar(), {0, (ranges.get(extent) - Interval::exactly(1)).greatest});
    llvm::SaveAndRestore inGroup(parallelGroup, LLVM::AccessGroupAttr::get(b.getContext()));
    llvm::SaveAndRestore inRow(carriedSums, MutableArrayRef<CarriedSum>(sums));
    llvm::SaveAndRestore noted(rowAccesses, &accesses);
    markParallel(loop, parallelGroup);
    for (auto [sum, value] : llvm::zip_equal(sums, loop.getRegionIterArgs()))
      sum.current = value;
    SmallVector<Value> variables(outer);
    variables.push_back(loop.getInductionVar());
    lowerIteration(op, variables);
    if (!sums.empty())
      scf::YieldOp::create(b, llvm::map_to_vector(sums, [](auto &sum) { return sum.current; }));
  }
  SmallVector<Value> totals = runAsVectors(op, loop, sums, accesses);
  for (auto [sum, total] : llvm::zip_equal(sums, totals)) {
    View view = getView(sum.update.getBuffer());
    SmallVector<Value> place;
    for (Value old : sum.update.getIndices()) {
      std::optional<int64_t> constant = getConstantIntValue(old);
      place.push_back(constant ? index(*constant) : lookup(old));
    }
    store(view, place, sum.combiner.finish(sum.combiner.combine(load(view, place), total)));
  }
}

//===----------------------------------------------------------------------------------------===//
// Rows of vectors
//===----------------------------------------------------------------------------------------===//

/// Stores past the caches must lie at multiples of a vector, or of a line if that is smaller. Gives
/// how many iterations to run until the first of them does.
static Value countUntilAligned(ImplicitLocOpBuilder &b, Value address, int64_t elementBytes,
                               int64_t alignment) {
  Numbers numbers(b);
  Type i64 = b.getI64Type();
  Value number = LLVM::PtrToIntOp::create(b, i64, address);
  Value before =
      b.createOrFold<arith::AndIOp>(arith::SubIOp::create(b, numbers.integer(i64, 0), number),
                                    numbers.integer(i64, alignment - 1));
  Value count = arith::DivUIOp::create(b, before, numbers.integer(i64, elementBytes));
  return arith::IndexCastOp::create(b, b.getIndexType(), count);
}

/// The loop over one row, behind `op`, that works on what was read: it reads nothing of such
/// tensors, so that there is time to read the next row.
tile::ParallelOp Lowering::findWork(tile::ParallelOp op, Value extent) {
  auto isRow = [&](tile::ParallelOp loop) {
    auto extents = loop.getStaticExtents();
    return llvm::all_of(extents.drop_back(), [](int64_t outer) { return outer == 1; }) &&
           getConstantIntValue(extent) == extents.back();
  };
  if (!isRow(op))
    return {};
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (auto loop = dyn_cast<tile::ParallelOp>(next))
      if (isRow(loop) && !touchesStreamed<tile::LoadOp>(loop, extent))
        return loop;
  return {};
}

/// Leaves it to a later loop to ask for the row behind each that `op` streams, if there is one.
/// Then `op` finds its own rows in the caches, and need not read ahead.
bool Lowering::leaveNextRow(tile::ParallelOp op, LoopVectorizer &vectorizer,
                            const RowAccesses &roots, Value extent) {
  tile::ParallelOp work = findWork(op, extent);
  if (!work)
    return false;
  for (Operation *access : vectorizer.getVectorAccesses()) {
    auto load = dyn_cast<LLVM::LoadOp>(access);
    auto [root, isAgain] = roots.lookup(access);
    if (!load || !root || isAgain || !isStreamed(*root, extent))
      continue;
    Value row = vectorizer.emitAddress(b, load.getAddr(), index(0));
    nextRows.push_back({work, row, root->extents.back(), load.getType()});
  }
  return true;
}

/// Reads the next rows from `position` on, where that was left to `op`. They need not exist.
void Lowering::askForNextRow(tile::ParallelOp op, Value position) {
  for (const NextRow &row : nextRows) {
    if (row.during != op)
      continue;
    Value ahead = toI64(add(position, row.length));
    Value address = LLVM::GEPOp::create(b, row.start.getType(), row.elementType, row.start,
                                        ArrayRef<LLVM::GEPArg>{ahead});
    LLVM::Prefetch::create(b, address, /*rw=*/0, /*hint=*/2, /*cache=*/1);
  }
}

/// The store that passes the caches by: one, since alignment is found for one, and into a tensor
/// that the row does not read.
LLVM::StoreOp Lowering::findStreamedStore(const LoopVectorizer &vectorizer,
                                          const RowAccesses &roots, Value extent) {
  llvm::SmallPtrSet<const Root *, 4> loaded;
  for (Operation *access : vectorizer.getVectorAccesses())
    if (isa<LLVM::LoadOp>(access))
      loaded.insert(roots.lookup(access).root);
  for (Operation *access : vectorizer.getVectorAccesses()) {
    auto store = dyn_cast<LLVM::StoreOp>(access);
    const Root *root = roots.lookup(access).root;
    if (store && root && isStreamed(*root, extent) && !loaded.contains(root))
      return store;
  }
  return {};
}

/// Runs what it can of the row as vectors; `loop` is left the rest, or erased. Gives what the row
/// carried, at the end of the row.
SmallVector<Value> Lowering::runAsVectors(tile::ParallelOp op, scf::ForOp loop,
                                          MutableArrayRef<CarriedSum> sums,
                                          const RowAccesses &roots) {
  LoopVectorizer vectorizer(loop);
  if (!vectorizer.isPossible())
    return llvm::to_vector(ValueRange(loop.getResults()));
  Value extent = loop.getUpperBound();
  int64_t width = options.vectorWidth;
  LLVM::StoreOp streamed = findStreamedStore(vectorizer, roots, extent);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop);
  Value first = index(0);
  bool isAskedFor = leaveNextRow(op, vectorizer, roots, extent);
  SmallVector<Value> totals(loop.getInitArgs());
  int64_t alignment = 0;
  if (streamed) {
    int64_t bytes = streamed.getValue().getType().getIntOrFloatBitWidth() / 8;
    alignment = std::min(kCacheLine, width * bytes);
    Value start = vectorizer.emitAddress(b, streamed.getAddr(), first);
    first = b.createOrFold<arith::MinSIOp>(countUntilAligned(b, start, bytes, alignment), extent);
    ranges.set(first, {0, ranges.get(extent).greatest});
    auto head = cast<scf::ForOp>(b.clone(*loop));
    head.setUpperBound(first);
    totals = llvm::to_vector(ValueRange(head.getResults()));
  }
  auto onAccess = [&](Operation *scalar, Operation *vector) {
    if (scalar == streamed) {
      auto store = cast<LLVM::StoreOp>(vector);
      store.setNontemporal(true);
      store.setAlignment(alignment);
    } else if (auto load = dyn_cast<LLVM::LoadOp>(vector)) {
      auto [root, isAgain] = roots.lookup(scalar);
      if (root && !isAgain && !isAskedFor && isStreamed(*root, extent))
        readAhead(load.getAddr());
    }
  };
  auto operands = llvm::map_to_vector(sums, [](const CarriedSum &sum) { return sum.operand; });
  // Runs as many iterations as come in groups of `chains` vectors.
  auto run = [&](int64_t chains, SmallVector<Value> partial) {
    int64_t stride = chains * width;
    Value left = b.createOrFold<arith::RemUIOp>(sub(extent, first), index(stride));
    Value past = sub(extent, left);
    partial =
        loopCarrying(first, past, index(stride), partial, [&](Value position, ValueRange carried) {
          SmallVector<Value> places, next;
          for (int64_t chain = 0; chain < chains; ++chain) {
            places.push_back(add(position, index(chain * width)));
            askForNextRow(op, places.back());
          }
          auto groups = vectorizer.emit(b, width, places, operands, onAccess);
          for (auto [chain, brought] : llvm::enumerate(groups))
            for (auto [number, operand] : llvm::enumerate(brought))
              next.push_back(
                  sums[number].combiner.combine(carried[chain * sums.size() + number], operand));
          return next;
        });
    first = past;
    return partial;
  };
  SmallVector<Value> partial;
  for (CarriedSum &sum : sums)
    partial.push_back(sum.combiner.getStart(/*isEmpty=*/false, sum.combiner.getType(width)));
  if (!sums.empty()) {
    SmallVector<Value> chains;
    for (int64_t chain = 0; chain < Combiner::kChains; ++chain)
      llvm::append_range(chains, partial);
    chains = run(Combiner::kChains, chains);
    for (auto [number, chain] : llvm::enumerate(chains)) {
      Value &target = partial[number % sums.size()];
      target =
          number < sums.size() ? chain : sums[number % sums.size()].combiner.combine(target, chain);
    }
  }
  partial = run(1, partial);
  for (auto [sum, total, lanes] : llvm::zip_equal(sums, totals, partial))
    total = sum.combiner.combine(total, sum.combiner.foldLanes(lanes));
  if (streamed)
    noteStreamedStores();
  // What is left is less than a vector.
  loop.setLowerBound(first);
  loop.getInitArgsMutable().assign(totals);
  keepScalar(loop);
  return llvm::to_vector(ValueRange(loop.getResults()));
}
