//===- LowerRows.cpp - rows of a loop as vectors ----------------------------------------------===//

#include "LoopVectorizer.h"
#include "Lowerings.h"
#include "Rows.h"
#include "Streams.h"
#include "tilewright/Tile/CpuPlan.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

namespace {
/// A reducer's element that a row of iterations updates, held in a register meanwhile.
struct CarriedSum {
  tile::ReducerUpdateOp update;
  Combiner combiner;
  mlir::Value operand; ///< What an iteration brings.
  mlir::Value current; ///< What it leaves.
};
/// The accesses to memory of a row that are streamed (`tile.streamed`), with the buffer they touch.
using RowAccesses = llvm::DenseMap<Operation *, Value>;
} // namespace

//===----------------------------------------------------------------------------------------===//
// Rows of vectors
//===----------------------------------------------------------------------------------------===//

/// Keeps LLVM from vectorising what is left of a row: less than a vector.
static void keepScalar(scf::ForOp loop) {
  Builder b(loop.getContext());
  auto disabled = LLVM::LoopVectorizeAttr::get(loop.getContext(), /*disable=*/b.getBoolAttr(true),
                                               {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(loop.getContext(), {}, disabled, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}, {}, {}, {}));
}

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

/// Leaves it to a later loop to prefetch the row after each that `op` streams, if the plan says so.
/// Then `op` finds its own rows in the caches, and need not read ahead.
static bool leaveNextRow(Emitter &e, tile::ParallelOp op, LoopVectorizer &vectorizer,
                         const RowAccesses &accesses) {
  std::optional<int64_t> id = tile::getPlanNumber(op, tile::kNextRowsInAttr);
  if (!id)
    return false;
  for (Operation *access : vectorizer.getVectorAccesses()) {
    auto load = dyn_cast<LLVM::LoadOp>(access);
    Value buffer = accesses.lookup(access);
    if (!load || !buffer)
      continue;
    Value row = vectorizer.emitAddress(e.b, load.getAddr(), e.index(0));
    Value length = e.buffers.findRoot(tile::getRoot(buffer))->extents.back();
    e.planned.nextRows[*id].push_back({row, length, load.getType()});
  }
  return true;
}

/// Prefetches the next rows from `position` on, where that was left to `op`. They need not exist.
static void prefetchNextRows(Emitter &e, tile::ParallelOp op, Value position) {
  std::optional<int64_t> id = tile::getPlanNumber(op, tile::kPrefetchesRowsAttr);
  if (!id)
    return;
  for (const NextRow &row : e.planned.nextRows.lookup(*id)) {
    Value ahead = e.toI64(e.add(position, row.length));
    Value address = LLVM::GEPOp::create(e.b, row.start.getType(), row.elementType, row.start,
                                        ArrayRef<LLVM::GEPArg>{ahead});
    LLVM::Prefetch::create(e.b, address, /*rw=*/0, /*hint=*/2, /*cache=*/1);
  }
}

/// The store that passes the caches by: one, since alignment is found for one.
static LLVM::StoreOp findStreamedStore(const LoopVectorizer &vectorizer,
                                       const RowAccesses &accesses) {
  for (Operation *access : vectorizer.getVectorAccesses())
    if (auto store = dyn_cast<LLVM::StoreOp>(access); store && accesses.contains(access))
      return store;
  return {};
}

/// How many vectors of a row advance together: a short row has fewer.
static int64_t countTogether(Value extent, int64_t width) {
  int64_t vectors = getConstantIntValue(extent).value_or(Combiner::kChains * width) / width;
  return std::clamp<int64_t>(vectors, 1, Combiner::kChains);
}

/// Runs what it can of the row as vectors; `loop` is left the rest, or erased. Gives what the row
/// carried, at the end of the row.
static SmallVector<Value> runAsVectors(Emitter &e, tile::ParallelOp op, scf::ForOp loop,
                                       MutableArrayRef<CarriedSum> sums,
                                       const RowAccesses &accesses) {
  LoopVectorizer vectorizer(loop);
  if (!vectorizer.isPossible())
    return llvm::to_vector(ValueRange(loop.getResults()));
  Value extent = loop.getUpperBound();
  int64_t width = e.options.vectorWidth;
  LLVM::StoreOp streamed = findStreamedStore(vectorizer, accesses);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(loop);
  Value first = e.index(0);
  bool isPrefetched = leaveNextRow(e, op, vectorizer, accesses);
  SmallVector<Value> totals(loop.getInitArgs());
  int64_t alignment = 0;
  if (streamed) {
    int64_t bytes = streamed.getValue().getType().getIntOrFloatBitWidth() / 8;
    alignment = std::min(kCacheLine, width * bytes);
    Value start = vectorizer.emitAddress(e.b, streamed.getAddr(), first);
    first =
        e.b.createOrFold<arith::MinSIOp>(countUntilAligned(e.b, start, bytes, alignment), extent);
    e.ranges.set(first, {0, e.ranges.get(extent).greatest});
    auto head = cast<scf::ForOp>(e.b.clone(*loop));
    head.setUpperBound(first);
    totals = llvm::to_vector(ValueRange(head.getResults()));
  }
  auto onAccess = [&](Operation *scalar, Operation *vector) {
    if (scalar == streamed) {
      auto store = cast<LLVM::StoreOp>(vector);
      store.setNontemporal(true);
      store.setAlignment(alignment);
    } else if (auto load = dyn_cast<LLVM::LoadOp>(vector)) {
      if (accesses.contains(scalar) && !isPrefetched)
        prefetchAfter(e, load.getAddr());
    }
  };
  auto operands = llvm::map_to_vector(sums, [](const CarriedSum &sum) { return sum.operand; });
  // Runs as many iterations as come in groups of `chains` vectors.
  auto run = [&](int64_t chains, SmallVector<Value> partial) {
    int64_t stride = chains * width;
    Value left = e.b.createOrFold<arith::RemUIOp>(e.sub(extent, first), e.index(stride));
    Value past = e.sub(extent, left);
    partial = e.loopCarrying(
        first, past, e.index(stride), partial, [&](Value position, ValueRange carried) {
          SmallVector<Value> positions, next;
          for (int64_t chain = 0; chain < chains; ++chain) {
            positions.push_back(e.add(position, e.index(chain * width)));
            prefetchNextRows(e, op, positions.back());
          }
          auto groups = vectorizer.emit(e.b, width, positions, operands, onAccess);
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
  if (int64_t together = countTogether(extent, width); !sums.empty() || together > 1) {
    SmallVector<Value> chains;
    for (int64_t chain = 0; chain < together; ++chain)
      llvm::append_range(chains, partial);
    chains = run(together, chains);
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
    noteStreamedStores(e);
  // What is left is less than a vector.
  loop.setLowerBound(first);
  loop.getInitArgsMutable().assign(totals);
  keepScalar(loop);
  return llvm::to_vector(ValueRange(loop.getResults()));
}

//===----------------------------------------------------------------------------------------===//
// The row as a loop
//===----------------------------------------------------------------------------------------===//

/// Lowers one op of the row, and notes the accesses to memory that it became if it is streamed.
static void lowerInRow(Operation &op, RowAccesses &accesses, Emitter &e) {
  Block *block = e.b.getInsertionBlock();
  Block::iterator point = e.b.getInsertionPoint();
  Operation *before = point == block->begin() ? nullptr : &*std::prev(point);
  e.b.setLoc(op.getLoc());
  lowerOp(op, e);
  if (!op.hasAttr(tile::kStreamedAttr))
    return;
  Value buffer = isa<tile::StoreOp>(op) ? cast<tile::StoreOp>(op).getBuffer()
                                        : cast<tile::LoadOp>(op).getBuffer();
  Block::iterator first = before ? std::next(before->getIterator()) : block->begin();
  for (Operation &built : llvm::make_range(first, point))
    if (isa<LLVM::LoadOp, LLVM::StoreOp>(built))
      accesses[&built] = buffer;
}

/// The body of the row as a scalar loop, which carries `sums`.
static scf::ForOp buildRow(tile::ParallelOp op, ArrayRef<Value> outer, Value extent,
                           MutableArrayRef<CarriedSum> sums, RowAccesses &accesses, Emitter &e) {
  auto starts = llvm::map_to_vector(
      sums, [](CarriedSum &sum) { return sum.combiner.getStart(/*isEmpty=*/false); });
  auto loop = scf::ForOp::create(e.b, e.index(0), extent, e.index(1), starts);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  e.ranges.set(loop.getInductionVar(), {0, (e.ranges.get(extent) - Interval::exactly(1)).greatest});
  Emitter::ParallelLoop marked(e, loop);
  for (auto [sum, value] : llvm::zip_equal(sums, loop.getRegionIterArgs()))
    sum.current = value;
  SmallVector<Value> variables(outer);
  variables.push_back(loop.getInductionVar());
  for (auto [old, now] : llvm::zip_equal(op.getIterators(), variables))
    e.define(old, now);
  for (Operation &nested : op.getBody().front().without_terminator()) {
    auto *sum = llvm::find_if(sums, [&](CarriedSum &carried) { return carried.update == &nested; });
    if (sum == sums.end()) {
      lowerInRow(nested, accesses, e);
      continue;
    }
    Type elementType = sum->update.getBuffer().getType().getElementType();
    sum->operand = sum->combiner.widen(e.lookup(sum->update.getValue()), elementType);
    sum->current = sum->combiner.combine(sum->current, sum->operand);
  }
  if (!sums.empty())
    scf::YieldOp::create(e.b, llvm::map_to_vector(sums, [](auto &sum) { return sum.current; }));
  return loop;
}

void tilewright::cpu::lowerRow(tile::ParallelOp op, ArrayRef<Value> outer, Value extent,
                               ArrayRef<tile::ReducerUpdateOp> carried, Emitter &e) {
  SmallVector<CarriedSum> sums;
  for (tile::ReducerUpdateOp update : carried) {
    auto alloc = tile::getRoot(update.getBuffer()).getDefiningOp<tile::AllocOp>();
    Type type = update.getBuffer().getType().getElementType();
    sums.push_back({update,
                    Combiner(e.b, *alloc.getReducer(), type, type, false, e.options.hasRange),
                    Value(), Value()});
  }
  RowAccesses accesses;
  scf::ForOp loop = buildRow(op, outer, extent, sums, accesses, e);
  SmallVector<Value> totals = runAsVectors(e, op, loop, sums, accesses);
  for (auto [sum, total] : llvm::zip_equal(sums, totals)) {
    View view = e.buffers.getView(sum.update.getBuffer());
    SmallVector<Value> index;
    for (Value old : sum.update.getIndices()) {
      std::optional<int64_t> constant = getConstantIntValue(old);
      index.push_back(constant ? e.index(*constant) : e.lookup(old));
    }
    e.buffers.store(view, index,
                    sum.combiner.finish(sum.combiner.combine(e.buffers.load(view, index), total)));
  }
}
