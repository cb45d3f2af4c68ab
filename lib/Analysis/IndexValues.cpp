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

std::optional<IndexExpr> IndexTranslator::translate(Value value, unsigned depth) {
  if (auto it = dims.find(value); it != dims.end())
    return IndexExpr::dim(it->second);
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return IndexExpr(*constant);
  if (!scope->isAncestor(value.getParentRegion()->getParentOp()))
    return symbolOf(value);
  // Machine integers wrap; only index values are the mathematical integers of an IndexExpr.
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || !isa<IndexType>(value.getType()))
    return std::nullopt;
  if (auto it = known.find(value); it != known.end())
    return it->second;
  std::optional<IndexExpr> expr = translateOp(op, depth);
  known.try_emplace(value, expr);
  return expr;
}

std::optional<IndexExpr> IndexTranslator::translateOp(Operation *op, unsigned depth) {
  auto binary = [&](IndexExpr::Kind kind) -> std::optional<IndexExpr> {
    std::optional<IndexExpr> lhs = translate(op->getOperand(0), depth - 1);
    std::optional<IndexExpr> rhs = translate(op->getOperand(1), depth - 1);
    if (!lhs || !rhs)
      return std::nullopt;
    IndexExpr result = IndexExpr::binary(kind, *lhs, *rhs);
    return result.isWithinLimits() ? std::optional(result) : std::nullopt;
  };
  // An unsigned operation reads a negative index as a huge one.
  auto unlessUnsigned = [&](bool isUnsigned, IndexExpr::Kind kind) {
    return isUnsigned ? std::nullopt : binary(kind);
  };
  using K = IndexExpr::Kind;
  return TypeSwitch<Operation *, std::optional<IndexExpr>>(op)
      .Case([&](arith::AddIOp) { return binary(K::Add); })
      .Case([&](arith::SubIOp) { return binary(K::Sub); })
      .Case([&](arith::MulIOp) { return binary(K::Mul); })
      .Case([&](arith::XOrIOp) { return binary(K::Xor); })
      .Case([&](arith::MinSIOp) { return binary(K::Min); })
      .Case([&](arith::MaxSIOp) { return binary(K::Max); })
      .Case([&](tile::FloorDivOp div) { return unlessUnsigned(div.getIsUnsigned(), K::FloorDiv); })
      .Case([&](tile::FloorModOp mod) { return unlessUnsigned(mod.getIsUnsigned(), K::Mod); })
      .Default(std::nullopt);
}

static bool hasDims(const IndexExpr &expr) { return expr.getNumDims() > 0; }
static bool hasSymbols(const IndexExpr &expr) { return expr.getNumSymbols() > 0; }

std::optional<SeparatedExpr> separate(const IndexExpr &expr) {
  if (!hasSymbols(expr))
    return SeparatedExpr{expr, IndexExpr(0)};
  if (!hasDims(expr))
    return SeparatedExpr{IndexExpr(0), expr};
  using K = IndexExpr::Kind;
  K kind = expr.getKind();
  if (kind == K::Add || kind == K::Sub) {
    std::optional<SeparatedExpr> lhs = separate(expr.getLhs()), rhs = separate(expr.getRhs());
    if (!lhs || !rhs)
      return std::nullopt;
    return SeparatedExpr{IndexExpr::binary(kind, lhs->dims, rhs->dims),
                         IndexExpr::binary(kind, lhs->symbols, rhs->symbols)};
  }
  if (kind == K::Mul) {
    IndexExpr factor = expr.getRhs(), other = expr.getLhs();
    if (!factor.getConstant())
      std::swap(factor, other);
    if (!factor.getConstant())
      return std::nullopt;
    std::optional<SeparatedExpr> inner = separate(other);
    if (!inner)
      return std::nullopt;
    return SeparatedExpr{inner->dims * factor, inner->symbols * factor};
  }
  return std::nullopt;
}

} // namespace tilewright::analysis
