//===- ParallelAccess.cpp - what iterations and blocks touch, in closed form ------------------===//

#include "ParallelAccess.h"
#include "tilewright/Tile/SeenRegion.h"

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

//===----------------------------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------------------------===//

static int64_t getElementBytes(MemRefType type) {
  return llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
}

Numbering::Numbering(Value root, ArrayRef<std::pair<Operation *, Effect>> effects)
    : type(cast<MemRefType>(root.getType())) {
  int64_t smallest = getElementBytes(type);
  bool isViewed = false;
  for (const auto &[op, effect] : effects) {
    Value seen = getSeenRegion(op, effect).buffer;
    isViewed |= seen != root;
    smallest = std::min(smallest, getElementBytes(cast<MemRefType>(seen.getType())));
  }
  unitBytes = isViewed && type.getRank() ? smallest : 0;
}

int64_t Numbering::getUnitsOfElement() const { return getElementBytes(type) / unitBytes; }

SmallVector<int64_t, 4> Numbering::getElement(ArrayRef<int64_t> coordinates) const {
  if (!isOfMemory())
    return SmallVector<int64_t, 4>(coordinates);
  SmallVector<int64_t, 4> element(type.getRank());
  int64_t number = coordinates.front() / getUnitsOfElement();
  for (int64_t dim = type.getRank(); dim-- > 1; number /= type.getDimSize(dim))
    element[dim] = number % type.getDimSize(dim);
  element[0] = number;
  return element;
}

/// Replaces the coordinates of an access by one, the number of the unit of memory. False if extents
/// or parts of coordinates are only known when it runs.
static bool countUnits(Access &access, MemRefType type, int64_t unitBytes) {
  if (llvm::any_of(access.uniform, [](const IndexExpr &part) { return !part.isConstant(0); }))
    return false;
  IndexExpr number(0);
  for (auto [dim, coordinate] : llvm::enumerate(access.coordinates)) {
    int64_t extent = type.getDimSize(dim);
    if (ShapedType::isDynamic(extent) && dim != 0)
      return false;
    // What is outside of a view is nowhere, not in its next row.
    access.constraints.push_back({arith::CmpIPredicate::sge, coordinate, IndexExpr(0)});
    if (!ShapedType::isDynamic(extent))
      access.constraints.push_back({arith::CmpIPredicate::slt, coordinate, IndexExpr(extent)});
    number = dim == 0 ? coordinate : number * extent + coordinate;
  }
  int64_t units = getElementBytes(type) / unitBytes;
  number = number * units;
  if (units > 1) {
    number = number + IndexExpr::dim(access.space.size());
    access.space.push_back(units);
  }
  access.coordinates = {number};
  access.uniform = {IndexExpr(0)};
  return number.isWithinLimits();
}

//===----------------------------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------------------------===//

std::optional<Access> describeAccess(const IndependentParts &parts, Operation *op,
                                     const Effect &effect, const Numbering &numbering,
                                     SymbolNumbers &symbols) {
  const auto [seen, region] = getSeenRegion(op, effect);
  if (region.isWhole())
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
  for (const DimRange &range : *region.ranges) {
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
  if (!isWithinLimits ||
      (numbering.isOfMemory() &&
       !countUnits(access, cast<MemRefType>(seen.getType()), numbering.getUnitBytes())))
    return std::nullopt;
  return access;
}

} // namespace tilewright::analysis
