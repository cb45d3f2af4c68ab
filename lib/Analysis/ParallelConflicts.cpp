//===- ParallelConflicts.cpp - iterations of T.Parallel that are not independent -------------===//
//
// Each access is brought into closed form (ParallelAccess.h) and enumerated column by column; the
// points whose conditions fail are dropped, and what remains is entered into one table per root:
// element -> iterations that write it, by each access. The accesses of a long loop touch as a rule what no
// other iteration does, or commute: a first table, of all accesses of a kind together, finds that in time that
// is linear in them.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/ParallelConflicts.h"
#include "ParallelAccess.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Tile/ThreadLoops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

//===----------------------------------------------------------------------------------------===//
// The message
//===----------------------------------------------------------------------------------------===//

static std::string list(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(values, os);
  return text;
}

static const char *getVerb(EffectKind kind) {
  switch (kind) {
  case EffectKind::Read:
    return "reads";
  case EffectKind::Write:
    return "writes";
  case EffectKind::Accumulate:
    return "updates";
  }
  llvm_unreachable("all kinds of effects are handled");
}

std::string ParallelConflict::str() const {
  std::string name = tile::getName(root).str();
  if (isVariable)
    return "'T.Parallel' iterations are not independent: variable '" + name +
           "' is read before the iteration assigns it, so it carries a value from another "
           "iteration";
  if (firstKind == EffectKind::Accumulate && secondKind == EffectKind::Accumulate)
    return "'T.Parallel' iterations are not independent: (" + list(firstIteration) + ") and (" +
           list(secondIteration) + ") store different values to the same element of '" + name +
           "'" + (element ? "[" + list(*element) + "]" : "") +
           " atomically, and which comes last is open; let one of them store it";
  auto alloc = root.getDefiningOp<tile::AllocOp>();
  bool isReducer = alloc && alloc.getReducer();
  bool bothWrite = firstKind == EffectKind::Write && secondKind == EffectKind::Write;
  return "'T.Parallel' iterations are not independent: (" + list(firstIteration) + ") " +
         getVerb(firstKind) + " and (" + list(secondIteration) + ") " + getVerb(secondKind) +
         " the same element of '" + name + "'" + (element ? "[" + list(*element) + "]" : "") +
         (bothWrite ? " with another value" : "") +
         (isReducer ? "; an element of a reducer changes by T.reducer_update, or by a store of "
                      "itself combined with one value in the reducer's way (r[i] += x)"
                    : "; use an atomic, a reduction, or two loops");
}

//===----------------------------------------------------------------------------------------===//
// Enumeration
//===----------------------------------------------------------------------------------------===//

namespace {

/// The points at which an access happens: the iteration each belongs to and the element it touches.
struct Points {
  std::vector<int64_t> iterations;
  SmallVector<std::vector<int64_t>, 4> elements; // a column for each dimension
};

/// Which iterations write an element by which access, or kind of access: the first two of each. More are
/// not needed, as a third either writes the same value or was a conflict when it was entered. Elements are
/// numbered within the box that holds all of them.
class WriterTable {
public:
  /// The first iterations that write an element by one access, or kNone.
  using Iterations = std::array<int32_t, 2>;
  static constexpr int32_t kNone = -1;

  /// False if the box is too large to number its elements.
  bool cover(ArrayRef<Points> accesses, unsigned numWriters);
  int64_t getNumber(const Points &points, size_t point) const;
  /// An iteration other than `self` in which `writer` touches the element, or kNone.
  int32_t findOther(int64_t element, unsigned writer, int32_t self) const;
  void enter(int64_t element, unsigned writer, int32_t iteration);

private:
  unsigned numWriters = 0;
  SmallVector<int64_t, 4> lowest, strides;
  std::vector<Iterations> dense; // where the box is small, else
  llvm::DenseMap<int64_t, Iterations> sparse;
};

class Finder {
public:
  explicit Finder(ParallelOp loop) : loop(loop) {}
  std::optional<ParallelConflict> run();

private:
  using Group = SmallVector<Access, 0>;
  std::optional<ParallelConflict> checkRoot(Value root,
                                            ArrayRef<std::pair<Operation *, Effect>> effects);
  std::optional<ParallelConflict> checkGroup(Value root, const Numbering &numbering,
                                             const Group &group);
  std::optional<Points> enumerate(const Access &access);

  ParallelOp loop;
  SmallVector<int64_t> extents;
  int64_t numIterations = 1;
  SymbolNumbers symbols;
};

} // namespace

bool WriterTable::cover(ArrayRef<Points> accesses, unsigned writers) {
  numWriters = writers;
  size_t rank = accesses.front().elements.size();
  int64_t total = numWriters;
  lowest.assign(rank, 0);
  strides.assign(rank, 0);
  for (size_t dim = rank; dim-- > 0;) {
    int64_t low = INT64_MAX, high = INT64_MIN, extent = 0;
    for (const Points &points : accesses)
      for (int64_t coordinate : points.elements[dim]) {
        low = std::min(low, coordinate);
        high = std::max(high, coordinate);
      }
    if (low > high) // no points at all
      return true;
    lowest[dim] = low;
    strides[dim] = total;
    if (llvm::SubOverflow(high, low, extent) || llvm::AddOverflow<int64_t>(extent, 1, extent) ||
        llvm::MulOverflow(total, extent, total))
      return false;
  }
  if (total <= kMaxEnumeratedElements)
    dense.assign(total, {kNone, kNone});
  return true;
}

int64_t WriterTable::getNumber(const Points &points, size_t point) const {
  int64_t number = 0;
  for (size_t dim = 0; dim < lowest.size(); ++dim)
    number += (points.elements[dim][point] - lowest[dim]) * strides[dim];
  return number;
}

int32_t WriterTable::findOther(int64_t element, unsigned writer, int32_t self) const {
  Iterations found = {kNone, kNone};
  if (!dense.empty())
    found = dense[element + writer];
  else if (auto it = sparse.find(element + writer); it != sparse.end())
    found = it->second;
  return found[0] == self ? found[1] : found[0];
}

void WriterTable::enter(int64_t element, unsigned writer, int32_t iteration) {
  Iterations &known =
      dense.empty() ? sparse.try_emplace(element + writer, Iterations{kNone, kNone}).first->second
                    : dense[element + writer];
  if (known[0] == kNone)
    known[0] = iteration;
  else if (known[1] == kNone && known[0] != iteration)
    known[1] = iteration;
}

std::optional<Points> Finder::enumerate(const Access &access) {
  SmallVector<IndexExpr> exprs = llvm::to_vector(access.coordinates);
  for (const Constraint &constraint : access.constraints) {
    exprs.push_back(constraint.lhs);
    exprs.push_back(constraint.rhs);
  }
  std::optional<ValueColumns> columns = enumerateValues(exprs, access.space);
  if (!columns)
    return std::nullopt;
  int64_t total = 1;
  for (int64_t extent : access.space)
    total *= extent;
  int64_t perIteration = numIterations ? total / numIterations : 0;
  Points points;
  size_t rank = access.coordinates.size();
  if (access.constraints.empty()) {
    points.iterations.resize(total);
    for (int64_t point = 0; point < total; ++point)
      points.iterations[point] = point / perIteration;
    for (size_t dim = 0; dim < rank; ++dim)
      points.elements.push_back(std::move((*columns)[dim]));
    return points;
  }
  points.elements.resize(rank);
  for (int64_t point = 0; point < total; ++point) {
    bool active = true;
    for (auto [i, constraint] : llvm::enumerate(access.constraints))
      active = active && constraint.holds((*columns)[rank + 2 * i][point],
                                          (*columns)[rank + 2 * i + 1][point]);
    if (!active)
      continue;
    points.iterations.push_back(point / perIteration);
    for (size_t dim = 0; dim < rank; ++dim)
      points.elements[dim].push_back((*columns)[dim][point]);
  }
  return points;
}

//===----------------------------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------------------------===//

/// Whether an update is an atomic store: two such do not commute, but for stores of equal values.
static bool isExchange(Operation *op) {
  auto element = dyn_cast<AtomicElementOp>(op);
  auto tile = dyn_cast<AtomicOp>(op);
  return (element && element.getKind() == AtomicKind::Exchange) ||
         (tile && tile.getKind() == AtomicKind::Exchange);
}

/// Whether two accesses of one element in different iterations are a conflict.
static bool areInConflict(ParallelOp loop, const Access &first, const Access &second,
                          ArrayRef<int64_t> firstIteration, ArrayRef<int64_t> secondIteration) {
  bool bothUpdate = first.kind == EffectKind::Accumulate && second.kind == EffectKind::Accumulate;
  bool bothExchange = bothUpdate && isExchange(first.op) && isExchange(second.op);
  if (bothUpdate && !bothExchange)
    return false; // they commute
  bool bothWrite =
      bothExchange || (first.kind == EffectKind::Write && second.kind == EffectKind::Write);
  if (bothWrite && loop->hasAttr(kThreadLoopAttr) &&
      (isValueOfData(loop, first.op) || isValueOfData(loop, second.op)))
    return false; // checked when it runs
  return !bothWrite || !writesSameValue(loop, first.op, second.op, firstIteration, secondIteration);
}

/// Writers that conflict with the same accesses of other iterations, unless they write the same value.
enum WriterKind : unsigned { Stores, Exchanges, Updates, NumWriterKinds };

static WriterKind getWriterKind(const Access &access) {
  if (access.kind == EffectKind::Write)
    return Stores;
  return isExchange(access.op) ? Exchanges : Updates;
}

/// The kinds of writers that an access may conflict with.
static ArrayRef<WriterKind> getOpponents(const Access &access) {
  static constexpr WriterKind all[] = {Stores, Exchanges, Updates};
  unsigned count = access.kind == EffectKind::Read ? 3 : getWriterKind(access) == Exchanges ? 2 : 1;
  return ArrayRef(all).take_front(count);
}

/// Whether some element is touched in two iterations by accesses that may conflict.
static bool mayConflict(ArrayRef<Points> points, ArrayRef<const Access *> accesses) {
  WriterTable table;
  if (!table.cover(points, NumWriterKinds))
    return true;
  for (auto [own, access] : llvm::zip_equal(points, accesses)) {
    ArrayRef<WriterKind> opponents = getOpponents(*access);
    for (size_t point = 0; point < own.iterations.size(); ++point) {
      int64_t element = table.getNumber(own, point), iteration = own.iterations[point];
      if (llvm::any_of(opponents, [&](WriterKind kind) {
            return table.findOther(element, kind, iteration) != WriterTable::kNone;
          }))
        return true;
      if (access->kind != EffectKind::Read)
        table.enter(element, getWriterKind(*access), iteration);
    }
  }
  return false;
}

/// `group` holds writes, then updates, then reads: a conflict names a write first.
std::optional<ParallelConflict> Finder::checkGroup(Value root, const Numbering &numbering,
                                                   const Group &group) {
  SmallVector<Points, 0> points;
  SmallVector<const Access *> accesses;
  for (const Access &access : group)
    if (std::optional<Points> found = enumerate(access)) {
      points.push_back(std::move(*found));
      accesses.push_back(&access);
    }
  auto isWriter = [](const Access *access) { return access->kind != EffectKind::Read; };
  unsigned numWriters = llvm::count_if(accesses, isWriter);
  WriterTable table;
  if (numWriters == 0 || !mayConflict(points, accesses) || !table.cover(points, numWriters))
    return std::nullopt;
  for (auto [position, access] : llvm::enumerate(accesses)) {
    const Points &own = points[position];
    for (size_t point = 0; point < own.iterations.size(); ++point) {
      int64_t element = table.getNumber(own, point), iteration = own.iterations[point];
      for (unsigned writer = 0; writer < numWriters && writer <= position; ++writer) {
        int32_t other = table.findOther(element, writer, iteration);
        if (other == WriterTable::kNone)
          continue;
        const Access &first = *accesses[writer];
        SmallVector<int64_t, 4> a = delinearize(other, extents),
                                b = delinearize(iteration, extents);
        if (!areInConflict(loop, first, *access, a, b))
          continue;
        ParallelConflict conflict{first.op, access->op, first.kind, access->kind,
                                  root,     a,          b,          std::nullopt};
        if (llvm::all_of(first.uniform, [](const IndexExpr &e) { return e.isConstant(0); })) {
          SmallVector<int64_t, 4> coordinates;
          for (const std::vector<int64_t> &column : own.elements)
            coordinates.push_back(column[point]);
          conflict.element = numbering.getElement(coordinates);
        }
        return conflict;
      }
      if (position < numWriters)
        table.enter(element, position, iteration);
    }
  }
  return std::nullopt;
}

std::optional<ParallelConflict>
Finder::checkRoot(Value root, ArrayRef<std::pair<Operation *, Effect>> effects) {
  if (llvm::all_of(effects, [](auto &e) { return e.second.kind == EffectKind::Read; }))
    return std::nullopt;
  // Accesses with the same uniform part can be compared; others are left to the run-time check.
  SmallVector<Group, 2> groups;
  Numbering numbering(root, effects);
  for (EffectKind kind : {EffectKind::Write, EffectKind::Accumulate, EffectKind::Read})
    for (const auto &[op, effect] : effects) {
      if (effect.kind != kind)
        continue;
      std::optional<Access> access =
          describeAccess({loop, loop.getIterators(), extents}, op, effect, numbering, symbols);
      if (!access)
        continue;
      auto *group = llvm::find_if(groups, [&](auto &g) { return g[0].uniform == access->uniform; });
      if (group == groups.end())
        group = &groups.emplace_back();
      group->push_back(std::move(*access));
    }
  for (const Group &group : groups)
    if (group[0].kind != EffectKind::Read)
      if (std::optional<ParallelConflict> conflict = checkGroup(root, numbering, group))
        return conflict;
  return std::nullopt;
}

std::optional<ParallelConflict> Finder::run() {
  for (OpFoldResult extent : loop.getMixedExtents()) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    if (!constant || *constant < 0 || llvm::MulOverflow(numIterations, *constant, numIterations))
      return std::nullopt;
    extents.push_back(*constant);
  }
  if (numIterations > kMaxEnumeratedElements)
    return std::nullopt;
  llvm::MapVector<Value, SmallVector<std::pair<Operation *, Effect>, 0>> roots;
  loop.walk([&](TileEffectsOpInterface op) {
    SmallVector<Effect, 0> effects;
    op.getTileEffects(effects);
    for (Effect &effect : effects)
      if (getSpace(effect.root) != Space::Local &&
          !loop->isAncestor(effect.root.getParentRegion()->getParentOp()))
        roots[effect.root].emplace_back(op, std::move(effect));
  });
  for (auto &[root, effects] : roots)
    if (std::optional<ParallelConflict> conflict = checkRoot(root, effects))
      return conflict;
  return std::nullopt;
}

/// Whether the loop is known to run at most once.
static bool isSingleIteration(ParallelOp loop) {
  bool allOne = true;
  for (OpFoldResult extent : loop.getMixedExtents()) {
    if (isConstantIntValue(extent, 0))
      return true;
    allOne = allOne && isConstantIntValue(extent, 1);
  }
  return allOne;
}

std::optional<ParallelConflict> findParallelConflict(ParallelOp loop) {
  if (isSingleIteration(loop))
    return std::nullopt;
  if (std::optional<CarriedVariable> carried = findCarriedVariable(loop)) {
    ParallelConflict conflict{carried->assignment,
                              carried->read,
                              EffectKind::Write,
                              EffectKind::Read,
                              carried->variable,
                              {},
                              {},
                              std::nullopt};
    conflict.isVariable = true;
    return conflict;
  }
  return Finder(loop).run();
}

} // namespace tilewright::analysis
