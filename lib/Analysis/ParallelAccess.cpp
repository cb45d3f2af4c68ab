//===- ParallelAccess.cpp - what iterations and blocks touch, in closed form ------------------===//

#include "ParallelAccess.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

/// Adds what must be true for `condition` to be `holds`; false if that is no set of comparisons.
static bool addCondition(Access &access, IndexTranslator &translator, Value condition, bool holds) {
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

/// Conditions between the access and `scope`; false if one cannot be decided here.
static bool addConditions(Access &access, IndexTranslator &translator, Operation *scope) {
  for (Operation *op = access.op; op->getParentOp() != scope; op = op->getParentOp()) {
    Operation *parent = op->getParentOp();
    if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      bool inThen = op->getParentRegion() == &branch.getThenRegion();
      if (!addCondition(access, translator, branch.getCondition(), inThen))
        return false;
    } else if (!isa<scf::ForOp, PipelinedOp, ParallelOp>(parent)) {
      return false; // a while loop, for example: how often it runs is not known
    }
  }
  return true;
}

/// A loop inside with constant bounds.
struct InnerLoop {
  Value variable;
  int64_t lower, step, trips;
};

static std::optional<InnerLoop> readInnerLoop(Value variable, OpFoldResult from, OpFoldResult to,
                                              int64_t step) {
  std::optional<int64_t> lower = getConstantIntValue(from), upper = getConstantIntValue(to);
  int64_t distance = 0;
  if (!lower || !upper || step < 1 || llvm::SubOverflow(*upper, *lower, distance))
    return std::nullopt;
  return InnerLoop{variable, *lower, step, distance <= 0 ? 0 : (distance - 1) / step + 1};
}

/// Nothing if the bounds are not constant.
static std::optional<InnerLoop> readInnerLoop(Operation *op) {
  if (auto loop = dyn_cast<PipelinedOp>(op))
    return readInnerLoop(loop.getInductionVar(), loop.getLower(), loop.getUpper(), 1);
  auto loop = cast<scf::ForOp>(op);
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!step || loop.getUnsignedCmp())
    return std::nullopt;
  return readInnerLoop(loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(), *step);
}

std::optional<Access> describeAccess(const IndependentParts &parts, Operation *op,
                                     const Effect &effect, SymbolNumbers &symbols) {
  if (effect.region.isWhole())
    return std::nullopt;
  Access access{op, effect.kind, llvm::to_vector<6>(parts.extents), {}, {}, {}};
  IndexTranslator translator(parts.op, &symbols);
  SmallVector<IndexExpr> variables; // of the dims: what the k-th translated variable is
  for (Value iterator : parts.iterators) {
    variables.push_back(IndexExpr::dim(variables.size()));
    translator.addDim(iterator);
  }
  // Loops inside run to their end in each iteration or block: their counters are more dims.
  for (Operation *parent = op->getParentOp(); parent != parts.op; parent = parent->getParentOp()) {
    if (auto inner = dyn_cast<ParallelOp>(parent))
      for (auto [iterator, extent] :
           llvm::zip_equal(inner.getIterators(), inner.getMixedExtents())) {
        std::optional<int64_t> trips = getConstantIntValue(extent);
        if (!trips)
          return std::nullopt;
        variables.push_back(IndexExpr::dim(variables.size()));
        translator.addDim(iterator);
        access.space.push_back(*trips);
      }
    if (!isa<scf::ForOp, PipelinedOp>(parent))
      continue;
    std::optional<InnerLoop> loop = readInnerLoop(parent);
    if (!loop)
      return std::nullopt;
    variables.push_back(IndexExpr(loop->lower) + IndexExpr::dim(variables.size()) * loop->step);
    translator.addDim(loop->variable);
    access.space.push_back(loop->trips);
  }
  if (!addConditions(access, translator, parts.op))
    return std::nullopt;
  bool isWithinLimits = true;
  auto ofDims = [&](const IndexExpr &expr) {
    IndexExpr result = expr.substitute(variables);
    isWithinLimits = isWithinLimits && result.isWithinLimits();
    return result;
  };
  for (Constraint &constraint : access.constraints) {
    constraint.lhs = ofDims(constraint.lhs);
    constraint.rhs = ofDims(constraint.rhs);
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
    IndexExpr own = ofDims(parts->dims);
    if (range.size.constant != 1) {
      own = own + IndexExpr::dim(access.space.size()) * range.step;
      access.space.push_back(range.size.constant);
    }
    access.coordinates.push_back(own);
    access.uniform.push_back(parts->symbols);
  }
  return isWithinLimits ? std::optional(std::move(access)) : std::nullopt;
}

} // namespace tilewright::analysis
