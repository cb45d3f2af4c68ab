//===- IndexValues.cpp - SSA index values as integer expressions -----------------------------===//

#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::analysis {

IndexExpr IndexTranslator::symbolOf(Value value) {
  auto [it, isNew] = symbols.try_emplace(value, symbols.size());
  (void)isNew;
  return IndexExpr::symbol(it->second);
}

bool IndexTranslator::isDefinedOutside(Value value) const {
  return !scope->isAncestor(value.getParentRegion()->getParentOp());
}

void collectSymbols(const IndexExpr &expr, SmallVectorImpl<unsigned> &symbols) {
  if (expr.getKind() == IndexExpr::Kind::Symbol)
    symbols.push_back(expr.getPosition());
  if (!expr.isBinary() || expr.getNumSymbols() == 0)
    return;
  collectSymbols(expr.getLhs(), symbols);
  collectSymbols(expr.getRhs(), symbols);
}

/// Adds the index expressions that decide a value; false where something else does.
bool IndexTranslator::collectArguments(Value value, unsigned depth,
                                       SmallVectorImpl<IndexExpr> &found) {
  if (isDefinedOutside(value))
    return true;
  if (depth == 0)
    return false;
  if (isa<IndexType>(value.getType()))
    if (std::optional<IndexExpr> expr = translate(value, depth - 1)) {
      SmallVector<unsigned> used; // a function of a function has the arguments of both
      collectSymbols(*expr, used);
      for (unsigned symbol : used)
        llvm::append_range(found, getArguments(symbol));
      found.push_back(*expr);
      return true;
    }
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || !(isPure(op) || isFunction(op)))
    return false;
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return collectArguments(operand, depth - 1, found); });
}

std::optional<IndexExpr> IndexTranslator::translateFunction(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!isFunction || op->getNumRegions() != 0 || !(isPure(op) || isFunction(op)))
    return std::nullopt;
  SmallVector<IndexExpr, 2> found;
  for (Value operand : op->getOperands())
    if (!collectArguments(operand, depth - 1, found))
      return std::nullopt;
  IndexExpr symbol = symbolOf(value);
  arguments.try_emplace(symbol.getPosition(), std::move(found));
  return symbol;
}

std::optional<IndexExpr> IndexTranslator::translate(Value value, unsigned depth) {
  if (auto it = dims.find(value); it != dims.end())
    return IndexExpr::dim(it->second);
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return IndexExpr(*constant);
  bool isOutside = isDefinedOutside(value);
  if (isOutside && outer == OuterValues::Opaque)
    return symbolOf(value);
  // Machine integers wrap; only index values are the mathematical integers of an IndexExpr.
  Operation *op = value.getDefiningOp();
  if (op && depth > 0 && isa<IndexType>(value.getType())) {
    if (auto it = known.find(value); it != known.end())
      return it->second;
    std::optional<IndexExpr> expr = translateOp(op, depth);
    // What is computed from outer values alone is the same for all iterations, wherever it stands.
    bool isInvariant =
        op->getNumRegions() == 0 && isPure(op) &&
        llvm::all_of(op->getOperands(), [&](Value v) { return isDefinedOutside(v); });
    if (!expr && (isOutside || isInvariant))
      expr = symbolOf(value);
    if (!expr)
      expr = translateFunction(value, depth);
    known.try_emplace(value, expr);
    return expr;
  }
  return isOutside ? std::optional(symbolOf(value)) : std::nullopt;
}

std::optional<IndexExpr::Kind> getIndexKind(Operation *op) {
  using K = IndexExpr::Kind;
  // An unsigned operation reads a negative index as a huge one.
  auto unlessUnsigned = [](bool isUnsigned, K kind) {
    return isUnsigned ? std::nullopt : std::optional(kind);
  };
  return TypeSwitch<Operation *, std::optional<K>>(op)
      .Case([](arith::AddIOp) { return K::Add; })
      .Case([](arith::SubIOp) { return K::Sub; })
      .Case([](arith::MulIOp) { return K::Mul; })
      .Case([](arith::XOrIOp) { return K::Xor; })
      .Case([](arith::MinSIOp) { return K::Min; })
      .Case([](arith::MaxSIOp) { return K::Max; })
      .Case([&](tile::FloorDivOp div) { return unlessUnsigned(div.getIsUnsigned(), K::FloorDiv); })
      .Case([&](tile::FloorModOp mod) { return unlessUnsigned(mod.getIsUnsigned(), K::Mod); })
      .Default(std::nullopt);
}

std::optional<IndexExpr> IndexTranslator::translateOp(Operation *op, unsigned depth) {
  std::optional<IndexExpr::Kind> kind = getIndexKind(op);
  if (!kind)
    return std::nullopt;
  std::optional<IndexExpr> lhs = translate(op->getOperand(0), depth - 1);
  std::optional<IndexExpr> rhs = translate(op->getOperand(1), depth - 1);
  if (!lhs || !rhs)
    return std::nullopt;
  IndexExpr result = IndexExpr::binary(*kind, *lhs, *rhs);
  return result.isWithinLimits() ? std::optional(result) : std::nullopt;
}

static bool hasDims(const IndexExpr &expr) { return expr.getNumDims() > 0; }
static bool hasSymbols(const IndexExpr &expr) { return expr.getNumSymbols() > 0; }

namespace {
/// Splits expressions, with facts about their leaves where there are any.
class Separator {
public:
  Separator(ArrayRef<IndexFacts> dims, ArrayRef<IndexFacts> symbols)
      : dims(dims), symbols(symbols), hasFacts(!dims.empty() || !symbols.empty()) {}

  std::optional<SeparatedExpr> run(const IndexExpr &expr) {
    if (!hasSymbols(expr))
      return SeparatedExpr{expr, IndexExpr(0)};
    if (!hasDims(expr))
      return SeparatedExpr{IndexExpr(0), expr};
    using K = IndexExpr::Kind;
    switch (expr.getKind()) {
    case K::Add:
    case K::Sub:
      return sum(expr);
    case K::Mul:
      return product(expr);
    case K::FloorDiv:
    case K::Mod:
      return hasFacts ? quotient(expr) : std::nullopt;
    case K::Xor:
      return hasFacts ? exclusiveOr(expr) : std::nullopt;
    default:
      return std::nullopt;
    }
  }

private:
  std::optional<SeparatedExpr> sum(const IndexExpr &expr) {
    std::optional<SeparatedExpr> lhs = run(expr.getLhs()), rhs = run(expr.getRhs());
    if (!lhs || !rhs)
      return std::nullopt;
    return SeparatedExpr{IndexExpr::binary(expr.getKind(), lhs->dims, rhs->dims),
                         IndexExpr::binary(expr.getKind(), lhs->symbols, rhs->symbols)};
  }

  std::optional<SeparatedExpr> product(const IndexExpr &expr) {
    IndexExpr factor = expr.getRhs(), other = expr.getLhs();
    if (!factor.getConstant())
      std::swap(factor, other);
    if (!factor.getConstant())
      return std::nullopt;
    std::optional<SeparatedExpr> inner = run(other);
    if (!inner)
      return std::nullopt;
    return SeparatedExpr{inner->dims * factor, inner->symbols * factor};
  }

  /// `(d + s) // m` with s = r (mod m) is `(d + r) // m + (s - r) // m`, and `%` is `(d + r) % m`.
  std::optional<SeparatedExpr> quotient(const IndexExpr &expr) {
    std::optional<int64_t> divisor = expr.getRhs().getConstant();
    std::optional<SeparatedExpr> inner = run(expr.getLhs());
    if (!divisor || *divisor <= 0 || !inner)
      return std::nullopt;
    IndexFacts facts = analyzeIndexExpr(inner->symbols, dims, symbols);
    if (facts.modulus % *divisor != 0)
      return std::nullopt;
    int64_t remainder = ((facts.remainder % *divisor) + *divisor) % *divisor;
    IndexExpr own = inner->dims + remainder;
    if (expr.getKind() == IndexExpr::Kind::Mod)
      return SeparatedExpr{own % *divisor, IndexExpr(0)};
    return SeparatedExpr{floorDiv(own, *divisor), floorDiv(inner->symbols - remainder, *divisor)};
  }

  /// Bits below those of the symbols are changed among themselves.
  std::optional<SeparatedExpr> exclusiveOr(const IndexExpr &expr) {
    std::optional<SeparatedExpr> lhs = run(expr.getLhs()), rhs = run(expr.getRhs());
    if (!lhs || !rhs)
      return std::nullopt;
    if (!hasSymbols(lhs->symbols) && !hasSymbols(rhs->symbols)) // they cancelled: (8 * n + i) % 8
      return SeparatedExpr{(lhs->dims + lhs->symbols) ^ (rhs->dims + rhs->symbols), IndexExpr(0)};
    if (hasSymbols(lhs->symbols) && hasSymbols(rhs->symbols))
      return std::nullopt;
    const SeparatedExpr &with = hasSymbols(lhs->symbols) ? *lhs : *rhs;
    const SeparatedExpr &without = hasSymbols(lhs->symbols) ? *rhs : *lhs;
    IndexExpr other = without.dims + without.symbols;
    // What is constant in the symbols goes to the dims; the rest is a multiple of the modulus.
    IndexFacts high = analyzeIndexExpr(with.symbols, dims, symbols);
    IndexExpr own = with.dims + high.remainder;
    if (high.modulus == 0)
      return SeparatedExpr{own ^ other, IndexExpr(0)};
    // Such a multiple has no bits below this one, and `other` has no others: it adds up.
    int64_t unit = high.modulus & -high.modulus;
    IndexFacts changed = analyzeIndexExpr(other, dims, symbols);
    if (changed.low < 0 || changed.high >= unit)
      return std::nullopt;
    return SeparatedExpr{own ^ other, with.symbols - high.remainder};
  }

  ArrayRef<IndexFacts> dims, symbols;
  bool hasFacts;
};
} // namespace

std::optional<SeparatedExpr> separate(const IndexExpr &expr) { return Separator({}, {}).run(expr); }

std::optional<SeparatedExpr> separate(const IndexExpr &expr, ArrayRef<IndexFacts> dims,
                                      ArrayRef<IndexFacts> symbols) {
  return Separator(dims, symbols).run(expr);
}

} // namespace tilewright::analysis
