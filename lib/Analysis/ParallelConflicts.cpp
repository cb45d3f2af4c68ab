//===- ParallelConflicts.cpp - iterations of T.Parallel that are not independent -------------===//
//
// Each access becomes a list of coordinate expressions over the iterators, the variables of loops
// inside the body and, for statements on whole tiles, the position inside the tile. All of these
// are enumerated column by column, the points whose conditions fail are dropped, and what remains
// is entered into one table per root: element -> first iteration that wrote it and first that read
// it.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/ParallelConflicts.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Layout/Enumerate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

namespace {

/// A condition that must hold: lhs < rhs, lhs <= rhs, lhs == rhs or lhs != rhs.
struct Constraint {
  arith::CmpIPredicate predicate;
  IndexExpr lhs, rhs;
};

/// One access with all it depends on in closed form.
struct Access {
  Operation *op;
  EffectKind kind;
  SmallVector<IndexExpr, 4> coordinates; // of the dims only
  SmallVector<IndexExpr, 4> uniform;     // what is added to each coordinate, the same for all
  SmallVector<Constraint, 2> constraints;
  SmallVector<int64_t, 6> space; // extents of the iterators, then of the access's own dims
};

/// Enumerated points of an access: the iteration each belongs to and the element it touches.
struct Points {
  std::vector<int64_t> iterations;
  SmallVector<std::vector<int64_t>, 4> elements;
};

class Finder {
public:
  explicit Finder(ParallelOp loop) : loop(loop), numIterators(loop.getIterators().size()) {}
  std::optional<ParallelConflict> run();

private:
  std::optional<ParallelConflict> checkVariables();
  std::optional<ParallelConflict> checkRoot(Value root,
                                            ArrayRef<std::pair<Operation *, Effect>> effects);
  std::optional<Access> describe(Operation *op, const Effect &effect);
  bool addConstraints(Access &access, IndexTranslator &translator);
  bool addCondition(Access &access, IndexTranslator &translator, Value condition, bool holds);
  std::optional<Points> enumerate(const Access &access);
  bool storeSameValue(Operation *store, int64_t first, int64_t second);
  ParallelConflict makeConflict(Value root, const Access &writer, const Access &other,
                                int64_t writerIteration, int64_t otherIteration,
                                ArrayRef<int64_t> element);

  ParallelOp loop;
  unsigned numIterators;
  SmallVector<int64_t> extents;
  int64_t numIterations = 1;
};

} // namespace

static std::string list(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(values, os);
  return text;
}

std::string ParallelConflict::str() const {
  std::string name = tile::getName(root).str();
  if (isVariable)
    return "'T.Parallel' iterations are not independent: variable '" + name +
           "' is read before the iteration assigns it, so it carries a value from another "
           "iteration";
  std::string where = "'" + name + "'" + (element ? "[" + list(*element) + "]" : "");
  bool bothWrite = true;
  if (auto effects = getEffects(second))
    bothWrite = llvm::none_of(*effects, [&](const Effect &effect) {
      return effect.root == root && effect.kind == EffectKind::Read;
    });
  return "'T.Parallel' iterations are not independent: (" + list(firstIteration) +
         ") writes and (" + list(secondIteration) + ") " + (bothWrite ? "writes" : "reads") +
         " the same element of " + where + (bothWrite ? " with another value" : "") +
         "; use an atomic, a reduction, or two loops";
}

//===----------------------------------------------------------------------------------------===//
// Accesses in closed form
//===----------------------------------------------------------------------------------------===//

bool Finder::addCondition(Access &access, IndexTranslator &translator, Value condition,
                          bool holds) {
  Operation *op = condition.getDefiningOp();
  if (!op)
    return false;
  if (auto conjunction = dyn_cast<arith::AndIOp>(op); conjunction && holds)
    return addCondition(access, translator, conjunction.getLhs(), true) &&
           addCondition(access, translator, conjunction.getRhs(), true);
  if (auto disjunction = dyn_cast<arith::OrIOp>(op); disjunction && !holds)
    return addCondition(access, translator, disjunction.getLhs(), false) &&
           addCondition(access, translator, disjunction.getRhs(), false);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || !isa<IndexType>(compare.getLhs().getType()))
    return false;
  std::optional<IndexExpr> lhs = translator.translate(compare.getLhs());
  std::optional<IndexExpr> rhs = translator.translate(compare.getRhs());
  if (!lhs || !rhs || lhs->getNumSymbols() || rhs->getNumSymbols())
    return false;
  arith::CmpIPredicate predicate = compare.getPredicate();
  access.constraints.push_back({holds ? predicate : arith::invertPredicate(predicate), *lhs, *rhs});
  return true;
}

/// Conditions between the access and the loop; false if one cannot be decided here.
bool Finder::addConstraints(Access &access, IndexTranslator &translator) {
  for (Operation *op = access.op; op != loop; op = op->getParentOp()) {
    Operation *parent = op->getParentOp();
    if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      bool inThen = op->getParentRegion() == &branch.getThenRegion();
      if (!addCondition(access, translator, branch.getCondition(), inThen))
        return false;
    } else if (parent != loop.getOperation() && !isa<scf::ForOp>(parent)) {
      return false; // a while loop: how often it runs is not known
    }
  }
  return true;
}

std::optional<Access> Finder::describe(Operation *op, const Effect &effect) {
  if (effect.region.isWhole())
    return std::nullopt;
  Access access{op, effect.kind, {}, {}, {}, extents};
  IndexTranslator translator(loop);
  for (BlockArgument iterator : loop.getIterators())
    translator.addDim(iterator);
  // Loops inside the body run to their end in each iteration: their variables are more dims.
  SmallVector<std::pair<unsigned, scf::ForOp>> innerLoops;
  for (Operation *parent = op->getParentOp(); parent != loop; parent = parent->getParentOp()) {
    auto inner = dyn_cast<scf::ForOp>(parent);
    if (!inner)
      continue;
    std::optional<int64_t> lower = getConstantIntValue(inner.getLowerBound()),
                           upper = getConstantIntValue(inner.getUpperBound()),
                           step = getConstantIntValue(inner.getStep());
    if (!lower || !upper || !step || *step < 1)
      return std::nullopt;
    innerLoops.emplace_back(access.space.size(), inner);
    translator.addDim(inner.getInductionVar());
    access.space.push_back(std::max<int64_t>(0, llvm::divideCeilSigned(*upper - *lower, *step)));
  }
  // dim k of an inner loop counts its iterations; the variable is lower + k * step.
  SmallVector<IndexExpr> variables;
  for (unsigned dim = 0; dim < access.space.size(); ++dim)
    variables.push_back(IndexExpr::dim(dim));
  for (auto [dim, inner] : innerLoops)
    variables[dim] = IndexExpr(*getConstantIntValue(inner.getLowerBound())) +
                     IndexExpr::dim(dim) * *getConstantIntValue(inner.getStep());
  if (!addConstraints(access, translator))
    return std::nullopt;
  for (Constraint &constraint : access.constraints) {
    constraint.lhs = constraint.lhs.substitute(variables);
    constraint.rhs = constraint.rhs.substitute(variables);
  }
  for (const DimRange &range : *effect.region.ranges) {
    if (!range.size.isConstant())
      return std::nullopt;
    IndexExpr coordinate(range.offset.constant);
    for (auto [value, factor] : range.offset.terms) {
      std::optional<IndexExpr> term = translator.translate(value);
      if (!term)
        return std::nullopt;
      coordinate = coordinate + *term * factor;
    }
    std::optional<SeparatedExpr> parts = separate(coordinate);
    if (!parts)
      return std::nullopt;
    IndexExpr own = parts->dims.substitute(variables);
    if (range.size.constant != 1) {
      own = own + IndexExpr::dim(access.space.size()) * range.step;
      access.space.push_back(range.size.constant);
      variables.push_back(IndexExpr::dim(variables.size()));
    }
    access.coordinates.push_back(own);
    access.uniform.push_back(parts->symbols);
  }
  return access;
}

//===----------------------------------------------------------------------------------------===//
// Enumeration
//===----------------------------------------------------------------------------------------===//

static bool holds(arith::CmpIPredicate predicate, int64_t lhs, int64_t rhs) {
  return arith::applyCmpPredicate(predicate, llvm::APInt(64, lhs, true),
                                  llvm::APInt(64, rhs, true));
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
  points.elements.resize(access.coordinates.size());
  size_t rank = access.coordinates.size();
  for (int64_t point = 0; point < total; ++point) {
    bool active = true;
    for (auto [i, constraint] : llvm::enumerate(access.constraints))
      active = active && holds(constraint.predicate, (*columns)[rank + 2 * i][point],
                               (*columns)[rank + 2 * i + 1][point]);
    if (!active)
      continue;
    points.iterations.push_back(point / perIteration);
    for (size_t dim = 0; dim < rank; ++dim)
      points.elements[dim].push_back((*columns)[dim][point]);
  }
  return points;
}

/// Whether a store writes the same bits in two iterations: all index expressions that its value is
/// made of agree, and it is made of nothing else that could differ.
bool Finder::storeSameValue(Operation *op, int64_t first, int64_t second) {
  auto store = dyn_cast<StoreOp>(op);
  if (!store)
    return isa<FillOp>(op) &&
           !loop->isAncestor(cast<FillOp>(op).getValue().getParentRegion()->getParentOp());
  IndexTranslator translator(loop);
  for (BlockArgument iterator : loop.getIterators())
    translator.addDim(iterator);
  SmallVector<int64_t, 4> a = delinearize(first, extents), b = delinearize(second, extents);
  SmallVector<Value> work{store.getValue()};
  llvm::SmallDenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (std::optional<IndexExpr> expr = translator.translate(value)) {
      std::optional<SeparatedExpr> parts = separate(*expr);
      if (!parts || parts->dims.evaluate(a) != parts->dims.evaluate(b))
        return false;
      continue;
    }
    Operation *def = value.getDefiningOp();
    bool isVariable =
        isa_and_present<LoadOp>(def) && getSpace(cast<LoadOp>(def).getBuffer()) == Space::Local;
    if (!def || def->getNumRegions() || isVariable ||
        !(isMemoryEffectFree(def) || isa<LoadOp>(def)))
      return false;
    for (Value operand : def->getOperands())
      if (!isa<MemRefType>(operand.getType()))
        work.push_back(operand);
  }
  return true;
}

ParallelConflict Finder::makeConflict(Value root, const Access &writer, const Access &other,
                                      int64_t writerIteration, int64_t otherIteration,
                                      ArrayRef<int64_t> element) {
  ParallelConflict conflict{writer.op,
                            other.op,
                            root,
                            delinearize(writerIteration, extents),
                            delinearize(otherIteration, extents),
                            std::nullopt};
  bool isExact = llvm::all_of(writer.uniform, [](const IndexExpr &e) { return e.isConstant(0); });
  if (isExact)
    conflict.element = llvm::to_vector<4>(element);
  return conflict;
}

std::optional<ParallelConflict>
Finder::checkRoot(Value root, ArrayRef<std::pair<Operation *, Effect>> effects) {
  // Accesses with the same uniform part can be compared; others are left to the run-time check.
  SmallVector<SmallVector<Access, 0>, 2> groups;
  for (const auto &[op, effect] : effects) {
    std::optional<Access> access = describe(op, effect);
    if (!access)
      continue;
    auto *group = llvm::find_if(groups, [&](auto &g) { return g[0].uniform == access->uniform; });
    if (group == groups.end()) {
      groups.emplace_back();
      group = &groups.back();
    }
    group->push_back(std::move(*access));
  }
  for (SmallVector<Access, 0> &group : groups) {
    if (llvm::all_of(group, [](const Access &a) { return a.kind == EffectKind::Read; }))
      continue;
    // Writes first, so that a conflict always names the write that caused it.
    SmallVector<const Access *> ordered;
    for (bool reads : {false, true})
      for (const Access &access : group)
        if ((access.kind == EffectKind::Read) == reads)
          ordered.push_back(&access);
    struct Entry {
      int64_t iteration;
      const Access *access;
    };
    std::map<SmallVector<int64_t, 4>, Entry> writers;
    for (const Access *accessPointer : ordered) {
      const Access &access = *accessPointer;
      std::optional<Points> points = enumerate(access);
      if (!points)
        continue;
      SmallVector<int64_t, 4> element(access.coordinates.size());
      for (size_t point = 0; point < points->iterations.size(); ++point) {
        for (size_t dim = 0; dim < element.size(); ++dim)
          element[dim] = points->elements[dim][point];
        int64_t iteration = points->iterations[point];
        auto it = writers.find(element);
        if (it == writers.end()) {
          if (access.kind != EffectKind::Read)
            writers.emplace(element, Entry{iteration, &access});
          continue;
        }
        const Entry &writer = it->second;
        bool commute =
            writer.access->kind == EffectKind::Accumulate && access.kind == EffectKind::Accumulate;
        if (writer.iteration == iteration || commute)
          continue;
        bool sameStore = writer.access->op == access.op && access.kind == EffectKind::Write;
        if (sameStore && storeSameValue(access.op, writer.iteration, iteration))
          continue;
        return makeConflict(root, *writer.access, access, writer.iteration, iteration, element);
      }
    }
  }
  return std::nullopt;
}

/// A scalar variable is private to the iteration that assigns it before reading it.
std::optional<ParallelConflict> Finder::checkVariables() {
  llvm::MapVector<Value, SmallVector<StoreOp>> stores;
  SmallVector<LoadOp> loads;
  loop.walk([&](Operation *op) {
    auto isOuterVariable = [&](Value buffer) {
      return getSpace(buffer) == Space::Local &&
             !loop->isAncestor(buffer.getParentRegion()->getParentOp());
    };
    if (auto store = dyn_cast<StoreOp>(op); store && isOuterVariable(store.getBuffer()))
      stores[store.getBuffer()].push_back(store);
    if (auto load = dyn_cast<LoadOp>(op); load && isOuterVariable(load.getBuffer()))
      loads.push_back(load);
  });
  DominanceInfo dominance;
  for (LoadOp load : loads) {
    auto it = stores.find(load.getBuffer());
    if (it == stores.end())
      continue;
    bool assigned = llvm::any_of(
        it->second, [&](StoreOp store) { return dominance.properlyDominates(store, load); });
    if (assigned)
      continue;
    ParallelConflict conflict{it->second.front(), load, load.getBuffer(), {}, {},
                              std::nullopt,       true};
    return conflict;
  }
  return std::nullopt;
}

std::optional<ParallelConflict> Finder::run() {
  for (OpFoldResult extent : loop.getMixedExtents()) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    if (!constant || llvm::MulOverflow(numIterations, *constant, numIterations))
      return std::nullopt;
    extents.push_back(*constant);
  }
  if (numIterations > kMaxEnumeratedElements)
    return std::nullopt;
  if (std::optional<ParallelConflict> conflict = checkVariables())
    return conflict;
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

std::optional<ParallelConflict> findParallelConflict(ParallelOp loop) { return Finder(loop).run(); }

} // namespace tilewright::analysis
