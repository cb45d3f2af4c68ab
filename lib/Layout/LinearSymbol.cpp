//===- LinearSymbol.cpp - extents that one symbol determines ---------------------------------===//

#include "tilewright/Layout/LinearSymbol.h"

#include "llvm/Support/MathExtras.h"

namespace tilewright {

std::optional<int64_t> LinearSymbol::solve(int64_t value) const {
  int64_t rest = 0;
  if (llvm::SubOverflow(value, constant, rest) || (factor == -1 && rest == INT64_MIN) ||
      rest % factor != 0 || llvm::MulOverflow(rest / factor, divisor, rest))
    return std::nullopt;
  return rest;
}

std::optional<LinearSymbol> getLinearSymbol(const IndexExpr &expr) {
  using Kind = IndexExpr::Kind;
  if (expr.getKind() == Kind::Symbol)
    return LinearSymbol{expr.getPosition(), 1, 0};
  if (expr.getKind() == Kind::FloorDiv && expr.getLhs().getKind() == Kind::Symbol) {
    std::optional<int64_t> divisor = expr.getRhs().getConstant();
    if (!divisor || *divisor < 1)
      return std::nullopt;
    return LinearSymbol{expr.getLhs().getPosition(), 1, 0, *divisor};
  }
  if (expr.getKind() != Kind::Add && expr.getKind() != Kind::Sub && expr.getKind() != Kind::Mul)
    return std::nullopt;
  IndexExpr lhs = expr.getLhs(), rhs = expr.getRhs();
  std::optional<int64_t> left = lhs.getConstant(), right = rhs.getConstant();
  if (left.has_value() == right.has_value())
    return std::nullopt;
  std::optional<LinearSymbol> inner = getLinearSymbol(left ? rhs : lhs);
  if (!inner)
    return std::nullopt;
  int64_t number = left ? *left : *right;
  bool overflows = false;
  if (expr.getKind() == Kind::Mul) {
    overflows = number == 0 || llvm::MulOverflow(inner->factor, number, inner->factor) ||
                llvm::MulOverflow(inner->constant, number, inner->constant);
  } else if (expr.getKind() == Kind::Add) {
    overflows = llvm::AddOverflow(inner->constant, number, inner->constant);
  } else if (right) {
    overflows = llvm::SubOverflow(inner->constant, number, inner->constant);
  } else { // number - inner
    overflows = llvm::SubOverflow<int64_t>(0, inner->factor, inner->factor) ||
                llvm::SubOverflow(number, inner->constant, inner->constant);
  }
  return overflows ? std::nullopt : inner;
}

} // namespace tilewright
