//===- Rows.cpp - reductions and running sums of a tile in memory -----------------------------===//
//
// Teams of warps take rows (Analysis/RowTeams.h): the lanes of a warp take neighbouring elements
// and meet by shuffles, the warps of a team meet in scratch memory. A thread that walks rows alone
// is a team of one lane.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"
#include "tilewright/Analysis/RowTeams.h"
#include "tilewright/Tile/InternalError.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

/// The part that a thread has in the rows of a tile.
class RowWalker {
public:
  using Load = llvm::function_ref<Value(ArrayRef<Value> row, Value position)>;

  RowWalker(Thread &lowering, MemRefType tile, int64_t dim, Type sumType);

  /// Whether a row is shared by warps, which meet in scratch memory.
  bool hasSeveralWarps() const { return warps > 1; }
  /// Builds `body` for the rows of this thread's team, one after the other.
  void forEachRow(llvm::function_ref<void(ArrayRef<Value> row)> body);
  /// What `kind` makes of the elements that this thread's warp has of a row; all its lanes get it.
  Value combineOwn(ArrayRef<Value> row, ReduceKind kind, bool propagate, Load load);
  /// Leaves the warp's part of a row to the other warps of the team.
  void leave(Value part);
  /// The parts of the team's warps, all of them or those in front of this one.
  Value combineLeft(ReduceKind kind, bool propagate);
  Value sumOfWarpsBefore();
  /// Running sums of the warp's elements, upon `start`.
  void scan(Value start, llvm::function_ref<Value(Value position)> load,
            llvm::function_ref<void(Value position, Value sum)> store);
  /// Which thread of a team writes the result of a row; null where it has only one.
  Value isFirst();

private:
  Value positionOf(Value chunk);
  /// Null where every position lies in the row.
  Value isInside(Value position);
  Value neutral();
  /// Reads nothing past the end of a row: another lane may be writing there.
  Value loadInside(Value inside, llvm::function_ref<Value()> load);
  Value compare(arith::CmpIPredicate predicate, Value lhs, int64_t rhs) {
    return arith::CmpIOp::create(b, predicate, lhs, t.index(rhs));
  }

  Thread &t;
  ImplicitLocOpBuilder &b;
  Type sumType;
  analysis::TileRows rows;
  int64_t teams, warps = 1, lanes = 1, chunks;
  Value team, member, lane; ///< Which of the teams, warps and lanes this thread is.
};

RowWalker::RowWalker(Thread &lowering, MemRefType tile, int64_t dim, Type sumType)
    : t(lowering), b(lowering.b), sumType(sumType),
      rows(analysis::TileRows::get(tile.getShape(), dim)) {
  int64_t threads = t.getNumThreads();
  std::optional<analysis::RowTeams> plan = analysis::RowTeams::get(rows, threads);
  if (!plan) {
    teams = threads;
    chunks = rows.extent;
    team = t.threadId;
    return;
  }
  teams = plan->teams;
  warps = plan->warps;
  lanes = kWarpSize;
  chunks = plan->chunks;
  IndexExpr thread = IndexExpr::dim(0), warp = floorDiv(thread, kWarpSize);
  lane = t.evaluate(thread % kWarpSize, t.threadId);
  team = t.evaluate(floorDiv(warp, warps), t.threadId);
  member = t.evaluate(warp % warps, t.threadId);
  // Warps that are in no team, and a warp without all of its lanes, take no row.
  if (teams * warps * kWarpSize != threads)
    team = arith::SelectOp::create(b, compare(arith::CmpIPredicate::slt, team, teams), team,
                                   t.index(rows.count));
}

void RowWalker::forEachRow(llvm::function_ref<void(ArrayRef<Value>)> body) {
  auto loop = scf::ForOp::create(b, team, t.index(rows.count), t.index(teams));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> row(rows.outer.size());
  Value number = loop.getInductionVar();
  for (int64_t d = rows.outer.size() - 1; d >= 0; --d) {
    row[d] = d == 0 ? number : t.evaluate(IndexExpr::dim(0) % rows.outer[d], number);
    number = t.evaluate(floorDiv(IndexExpr::dim(0), rows.outer[d]), number);
  }
  body(row);
}

Value RowWalker::positionOf(Value chunk) {
  if (lanes == 1)
    return chunk;
  IndexExpr position = (IndexExpr::dim(0) * chunks + IndexExpr::dim(1)) * lanes + IndexExpr::dim(2);
  return t.evaluate(position, {member, chunk, lane});
}

Value RowWalker::isInside(Value position) {
  if (warps * chunks * lanes == rows.extent)
    return {};
  return compare(arith::CmpIPredicate::slt, position, rows.extent);
}

/// What changes no sum and no exclusive or: of floats -0, which keeps the sign of a sum of negative
/// zeros.
Value RowWalker::neutral() {
  Type type = getScalarType(sumType);
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, b.getFloatAttr(type, -0.0));
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, 0));
}

Value RowWalker::loadInside(Value inside, llvm::function_ref<Value()> load) {
  if (!inside)
    return load();
  auto branch = scf::IfOp::create(b, getScalarType(sumType), inside, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(b, load());
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(b, neutral());
  return branch.getResult(0);
}

Value RowWalker::combineOwn(ArrayRef<Value> row, ReduceKind kind, bool propagate, Load load) {
  bool isIdempotent = !isSum(kind) && kind != ReduceKind::Xor;
  // Past the end of the row its last element is read, for kinds where it may count twice.
  auto loadChunk = [&](Value chunk) -> Value {
    Value position = positionOf(chunk), inside = isInside(position);
    if (!inside || !isIdempotent)
      return loadInside(inside, [&] { return load(row, position); });
    return load(row, arith::SelectOp::create(b, inside, position, t.index(rows.extent - 1)));
  };
  // From the first element on, so that a row of NaN gives NaN.
  Value first = loadChunk(t.index(0));
  auto loop = scf::ForOp::create(b, t.index(1), t.index(chunks), t.index(1), first);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(b, combine(t, kind, loop.getRegionIterArg(0),
                                    loadChunk(loop.getInductionVar()), sumType, propagate));
  }
  Value value = loop.getResult(0);
  for (int64_t mask = 1; mask < lanes; mask *= 2)
    value = combine(t, kind, value, shuffle(t, value, mask), sumType, propagate);
  return value;
}

void RowWalker::leave(Value part) {
  t.guarded(compare(arith::CmpIPredicate::eq, lane, 0), [&] {
    Value warp = t.evaluate(IndexExpr::dim(0) * warps + IndexExpr::dim(1), {team, member});
    storeScratch(t, warp, part, sumType);
  });
}

Value RowWalker::combineLeft(ReduceKind kind, bool propagate) {
  Value all;
  for (int64_t warp = 0; warp < warps; ++warp) {
    Value part = loadScratch(t, t.evaluate(IndexExpr::dim(0) * warps + warp, team), sumType);
    all = all ? combine(t, kind, all, part, sumType, propagate) : part;
  }
  return all;
}

Value RowWalker::sumOfWarpsBefore() {
  auto loop = scf::ForOp::create(b, t.index(0), member, t.index(1), neutral());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value warp =
      t.evaluate(IndexExpr::dim(0) * warps + IndexExpr::dim(1), {team, loop.getInductionVar()});
  scf::YieldOp::create(b, combine(t, ReduceKind::Sum, loop.getRegionIterArg(0),
                                  loadScratch(t, warp, sumType), sumType, false));
  return loop.getResult(0);
}

void RowWalker::scan(Value start, llvm::function_ref<Value(Value)> load,
                     llvm::function_ref<void(Value, Value)> store) {
  auto add = [&](Value lhs, Value rhs) {
    return combine(t, ReduceKind::Sum, lhs, rhs, sumType, false);
  };
  auto loop = scf::ForOp::create(b, t.index(0), t.index(chunks), t.index(1), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value position = positionOf(loop.getInductionVar()), inside = isInside(position);
  Value sum = loadInside(inside, [&] { return load(position); });
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    Value longer = add(shuffle(t, sum, distance, NVVM::ShflKind::up), sum);
    Value hasSource = compare(arith::CmpIPredicate::sge, lane, distance);
    sum = arith::SelectOp::create(b, hasSource, longer, sum);
  }
  sum = add(loop.getRegionIterArg(0), sum);
  t.guarded(inside, [&] { store(position, sum); });
  Value carried = lanes == 1 ? sum : shuffle(t, sum, lanes - 1, NVVM::ShflKind::idx);
  scf::YieldOp::create(b, carried);
}

Value RowWalker::isFirst() {
  if (lanes == 1)
    return {};
  return compare(arith::CmpIPredicate::eq,
                 t.evaluate(IndexExpr::dim(0) * lanes + IndexExpr::dim(1), {member, lane}), 0);
}

LogicalResult lowerMemoryReduce(Thread &t, ReduceOp op) {
  MemRefType sourceType = op.getSource().getType(), destType = op.getDest().getType();
  int64_t dim = op.getDim();
  ReduceKind kind = op.getKind();
  Type element = sourceType.getElementType(),
       sumType = combiningType(t, kind, element, destType.getElementType());
  auto load = [&](ArrayRef<Value> row, Value position) -> Value {
    SmallVector<Value> coordinates(row);
    coordinates.insert(coordinates.begin() + dim, position);
    return reductionOperand(t, kind, loadElement(t, op.getSource(), coordinates), element, sumType);
  };
  auto finish = [&](ArrayRef<Value> row, Value value) {
    SmallVector<Value> target(row);
    if (destType.getRank() == sourceType.getRank())
      target.insert(target.begin() + dim, t.index(0));
    if (target.empty())
      target.push_back(t.index(0));
    auto loadOld = [&] { return loadElement(t, op.getDest(), target); };
    storeElement(t, op.getDest(), target, finishReduction(t, op, value, sumType, loadOld));
  };

  RowWalker walker(t, sourceType, dim, sumType);
  auto combineOwn = [&](ArrayRef<Value> row) {
    return walker.combineOwn(row, kind, op.getNanPropagate(), load);
  };
  if (walker.hasSeveralWarps()) {
    walker.forEachRow([&](ArrayRef<Value> row) { walker.leave(combineOwn(row)); });
    t.barrier();
  }
  walker.forEachRow([&](ArrayRef<Value> row) {
    Value value =
        walker.hasSeveralWarps() ? walker.combineLeft(kind, op.getNanPropagate()) : combineOwn(row);
    t.guarded(walker.isFirst(), [&] { finish(row, value); });
  });
  return success();
}

LogicalResult lowerCumsum(Thread &t, CumsumOp op) {
  ImplicitLocOpBuilder &b = t.b;
  if (failed(checkViews(t, op)))
    return failure();
  MemRefType type = op.getSource().getType();
  for (Value buffer : op->getOperands())
    if (t.storageOf(getRoot(buffer)).kind != Storage::Kind::Memory)
      return emitInternalError(op) << "a scan over registers";
  Type element = type.getElementType(), result = op.getDest().getType().getElementType(),
       sumType = combiningType(t, ReduceKind::Sum, element, result);
  int64_t dim = op.getDim();
  auto coordinatesOf = [&](ArrayRef<Value> row, Value position) {
    if (op.getReverse())
      position = arith::SubIOp::create(b, t.index(type.getDimSize(dim) - 1), position);
    SmallVector<Value> coordinates(row);
    coordinates.insert(coordinates.begin() + dim, position);
    return coordinates;
  };
  auto load = [&](ArrayRef<Value> row, Value position) -> Value {
    return reductionOperand(t, ReduceKind::Sum,
                            loadElement(t, op.getSource(), coordinatesOf(row, position)), element,
                            sumType);
  };

  RowWalker walker(t, type, dim, sumType);
  if (walker.hasSeveralWarps()) {
    walker.forEachRow([&](ArrayRef<Value> row) {
      walker.leave(walker.combineOwn(row, ReduceKind::Sum, false, load));
    });
    t.barrier();
  }
  walker.forEachRow([&](ArrayRef<Value> row) {
    Value start = walker.hasSeveralWarps()
                      ? walker.sumOfWarpsBefore()
                      : arith::ConstantOp::create(b, b.getZeroAttr(getScalarType(sumType)));
    walker.scan(
        start, [&](Value position) { return load(row, position); },
        [&](Value position, Value sum) {
          storeElement(t, op.getDest(), coordinatesOf(row, position),
                       convertScalar(t, sum, sumType, result, Rounding::NearestEven, false));
        });
  });
  return success();
}

} // namespace tilewright::nvptx
