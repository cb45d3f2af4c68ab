//===- Polyhedron.cpp - what linear constraints on index values rule out ---------------------===//

#include "tilewright/Analysis/Polyhedron.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/Support/IndexMath.h"

#include "mlir/Analysis/Presburger/Simplex.h"

using namespace mlir;
using namespace mlir::presburger;

namespace tilewright::analysis {

Polyhedron::Polyhedron(ArrayRef<int64_t> dimExtents, ArrayRef<IndexFacts> symbols)
    : numDims(dimExtents.size()),
      points(PresburgerSpace::getSetSpace(dimExtents.size(), symbols.size())) {
  for (auto [dim, extent] : llvm::enumerate(dimExtents)) {
    addNonNegative(IndexExpr::dim(dim));
    if (extent != kDynamic)
      addNonNegative(IndexExpr(extent) - 1 - IndexExpr::dim(dim));
  }
  for (auto [position, facts] : llvm::enumerate(symbols)) {
    IndexExpr symbol = IndexExpr::symbol(position);
    if (facts.low != IndexFacts::kNoLow)
      addNonNegative(symbol - facts.low);
    if (facts.high != IndexFacts::kNoHigh)
      addNonNegative(IndexExpr(facts.high) - symbol);
    if (facts.modulus > 1) // it is remainder + modulus * q, and the rest is 0
      addNonNegative(IndexExpr(0) - (symbol - facts.remainder) % facts.modulus);
  }
}

Polyhedron::Row Polyhedron::variable(unsigned position) const {
  Row row(points.getNumVars() + 1, 0);
  row[position] = 1;
  return row;
}

Polyhedron::Row Polyhedron::extend(Row row) const {
  // Variables that are added come after all others, before the constant.
  row.insert(row.end() - 1, points.getNumVars() + 1 - row.size(), 0);
  return row;
}

std::optional<Polyhedron::Row> Polyhedron::linearize(const IndexExpr &expr) {
  switch (expr.getKind()) {
  case IndexExpr::Kind::Constant: {
    Row row(points.getNumVars() + 1, 0);
    row.back() = *expr.getConstant();
    return row;
  }
  case IndexExpr::Kind::Dim:
    return variable(expr.getPosition());
  case IndexExpr::Kind::Symbol:
    return variable(numDims + expr.getPosition());
  default:
    return combine(expr);
  }
}

/// `lhs + factor * rhs`; nothing on overflow.
static bool addScaled(MutableArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs, int64_t factor) {
  for (auto [sum, term] : llvm::zip_equal(lhs, rhs)) {
    std::optional<int64_t> product = checkedMul(term, factor);
    std::optional<int64_t> next = product ? checkedAdd(sum, *product) : std::nullopt;
    if (!next)
      return false;
    sum = *next;
  }
  return true;
}

std::optional<Polyhedron::Row> Polyhedron::combine(const IndexExpr &expr) {
  using K = IndexExpr::Kind;
  std::optional<Row> lhs = linearize(expr.getLhs()), rhs = linearize(expr.getRhs());
  if (!lhs || !rhs)
    return std::nullopt;
  lhs = extend(std::move(*lhs));
  std::optional<int64_t> factor = expr.getRhs().getConstant(),
                         leftFactor = expr.getLhs().getConstant();
  Row sum(lhs->size(), 0);
  switch (expr.getKind()) {
  case K::Add:
  case K::Sub:
    if (addScaled(*lhs, *rhs, expr.getKind() == K::Add ? 1 : -1))
      return lhs;
    return std::nullopt;
  case K::Mul:
    if ((factor && addScaled(sum, *lhs, *factor)) ||
        (!factor && leftFactor && addScaled(sum, *rhs, *leftFactor)))
      return sum;
    return std::nullopt;
  case K::FloorDiv:
  case K::Mod: {
    if (!factor || *factor <= 0)
      return std::nullopt;
    points.addLocalFloorDiv(*lhs, *factor);
    Row quotient = variable(points.getNumVars() - 1);
    if (expr.getKind() == K::FloorDiv)
      return quotient;
    Row rest = extend(std::move(*lhs));
    if (addScaled(rest, quotient, -*factor))
      return rest;
    return std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

void Polyhedron::addNonNegative(const IndexExpr &expr) {
  if (std::optional<Row> row = linearize(expr))
    points.addInequality(extend(std::move(*row)));
}

/// MLIR's search for an integer point decides always, and takes seconds with divisors of many thousands.
static bool isSearchFast(const IntegerPolyhedron &points) {
  constexpr int64_t most = 4096;
  auto areSmall = [&](ArrayRef<DynamicAPInt> row) {
    return llvm::all_of(row.drop_back(),
                        [&](const DynamicAPInt &coefficient) { return abs(coefficient) <= most; });
  };
  for (unsigned row = 0; row < points.getNumInequalities(); ++row)
    if (!areSmall(points.getInequality(row)))
      return false;
  return true; // there are no equalities
}

/// Whether the points have no integer one, by branch and bound: a corner that is not whole is cut off
/// by going below and above one of its coordinates. False where `budget` corners do not decide, as
/// where the points have no bounds.
static bool hasNoInteger(Simplex &simplex, unsigned &budget) {
  if (simplex.isEmpty())
    return true;
  if (budget == 0)
    return false;
  --budget;
  std::optional<SmallVector<Fraction, 8>> corner = simplex.getRationalSample();
  if (!corner)
    return false;
  auto *part = llvm::find_if(
      *corner, [](const Fraction &coordinate) { return coordinate.num % coordinate.den != 0; });
  if (part == corner->end())
    return false;
  unsigned position = part - corner->begin(), snapshot = simplex.getSnapshot();
  for (bool isBelow : {true, false}) {
    SmallVector<DynamicAPInt, 8> row(corner->size() + 1, DynamicAPInt(0));
    row[position] = DynamicAPInt(isBelow ? -1 : 1);
    row.back() = isBelow ? floor(*part) : -ceil(*part);
    simplex.addInequality(row);
    bool isOut = hasNoInteger(simplex, budget);
    simplex.rollback(snapshot);
    if (!isOut)
      return false;
  }
  return true;
}

bool Polyhedron::excludes(const IndexExpr &expr) const {
  Polyhedron other = *this;
  std::optional<Row> row = other.linearize(expr);
  if (!row)
    return false;
  other.points.addInequality(other.extend(std::move(*row)));
  if (other.points.isEmpty()) // without a rational point there is no integer one
    return true;
  if (isSearchFast(other.points))
    return other.points.isIntegerEmpty();
  constexpr unsigned maxCorners = 200;
  Simplex simplex(other.points);
  unsigned budget = maxCorners;
  return hasNoInteger(simplex, budget);
}

} // namespace tilewright::analysis
