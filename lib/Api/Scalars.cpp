//===- Scalars.cpp - scalar expressions written in C++ ----------------------------------------===//

#include "Builder.h"

using tilewright::IndexExpr;
using tilewright::frontend::BinaryKind;
using tilewright::frontend::Literal;
using tilewright::frontend::UnaryKind;
using tilewright::frontend::UserError;

namespace tw::lang {

detail::Handle detail::number(bool value) { return wrap(Literal::ofBool(value)); }
detail::Handle detail::number(int64_t value) { return wrap(Literal::ofInt(value)); }
detail::Handle detail::number(uint64_t value) { return wrap(Literal::ofUnsigned(value)); }
detail::Handle detail::number(double value) { return wrap(Literal::ofFloat(value)); }

Value dynamic(std::string_view name) {
  return Value(wrap(IndexExpr::symbol(frontend::internSymbol(llvm::StringRef(name)))));
}

/// What an element or a variable holds now.
static detail::Handle read(const detail::Handle &node, const Where &where) {
  return attempt(where, [&](State &state) {
    return wrap(state.trace.scalars.materialize(toOperand(node, "value")));
  });
}
Value::Value(const Part &element, Where where) : node(read(element.get(), where)) {}
Value::Value(const Variable &variable, Where where) : node(read(variable.get(), where)) {}
Operand::Operand(const Part &element, Where where) : node(element.get()), place(where) {}
Operand::Operand(const Variable &variable, Where where) : node(variable.get()), place(where) {}
Index::Index(const Part &element, Where where) : kind(Kind::Scalar), scalar(element, where) {}
Index::Index(const Variable &variable, Where where) : kind(Kind::Scalar), scalar(variable, where) {}

//===----------------------------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------------------------===//

static std::optional<IndexExpr::Kind> toSymbolic(BinaryKind kind) {
  switch (kind) {
  case BinaryKind::Add:
    return IndexExpr::Kind::Add;
  case BinaryKind::Sub:
    return IndexExpr::Kind::Sub;
  case BinaryKind::Mul:
    return IndexExpr::Kind::Mul;
  case BinaryKind::FloorDiv:
    return IndexExpr::Kind::FloorDiv;
  case BinaryKind::FloorMod:
    return IndexExpr::Kind::Mod;
  case BinaryKind::Xor:
    return IndexExpr::Kind::Xor;
  default:
    return std::nullopt;
  }
}

static std::optional<IndexExpr> toSize(const detail::Handle &node) {
  auto *operand = node ? std::get_if<frontend::Operand>(&node->content) : nullptr;
  if (!operand)
    return std::nullopt;
  if (auto *size = std::get_if<IndexExpr>(operand))
    return *size;
  auto *literal = std::get_if<Literal>(operand);
  if (literal && literal->kind == Literal::Kind::Int && !literal->isUnsigned64)
    return IndexExpr(literal->integer);
  return std::nullopt;
}

static Value binary(BinaryKind kind, const char *what, const Operand &lhs, const Operand &rhs) {
  // Sizes and integers stay sizes, which need no trace.
  std::optional<IndexExpr> left = toSize(lhs.get()), right = toSize(rhs.get());
  if (std::optional<IndexExpr::Kind> symbolic = toSymbolic(kind); symbolic && left && right)
    return Value(wrap(IndexExpr::binary(*symbolic, *left, *right)));
  return attempt(lhs.where(), [&](State &state) {
    return Value(wrap(state.trace.arithmetic.binary(kind, toOperand(lhs.get(), what),
                                                    toOperand(rhs.get(), what))));
  });
}

#define TW_BINARY(NAME, KIND, WHAT)                                                                \
  Value NAME(const Operand &lhs, const Operand &rhs) {                                             \
    return binary(BinaryKind::KIND, WHAT, lhs, rhs);                                               \
  }
TW_BINARY(operator+, Add, "'+'")
TW_BINARY(operator-, Sub, "'-'")
TW_BINARY(operator*, Mul, "'*'")
TW_BINARY(operator/, Div, "'/'")
TW_BINARY(operator%, FloorMod, "'%'")
TW_BINARY(operator<<, Shl, "'<<'")
TW_BINARY(operator>>, Shr, "'>>'")
TW_BINARY(operator&, And, "'&'")
TW_BINARY(operator|, Or, "'|'")
TW_BINARY(operator^, Xor, "'^'")
TW_BINARY(operator<, Lt, "'<'")
TW_BINARY(operator<=, Le, "'<='")
TW_BINARY(operator>, Gt, "'>'")
TW_BINARY(operator>=, Ge, "'>='")
TW_BINARY(operator==, Eq, "'=='")
TW_BINARY(operator!=, Ne, "'!='")
TW_BINARY(floordiv, FloorDiv, "'T.floordiv'")
TW_BINARY(min, Min, "'T.min'")
TW_BINARY(max, Max, "'T.max'")
TW_BINARY(pow, Pow, "'T.pow'")
#undef TW_BINARY

Value ceildiv(const Operand &a, const Operand &b) {
  std::optional<IndexExpr> size = toSize(a.get()), divisor = toSize(b.get());
  bool isPositive = divisor && divisor->getConstant().value_or(0) > 0;
  if (size && isPositive)
    return Value(wrap(tilewright::floorDiv(*size + (*divisor - IndexExpr(1)), *divisor)));
  return attempt(a.where(), [&](State &state) {
    frontend::Operand dividend = toOperand(a.get(), "'T.ceildiv'");
    mlir::Type type = frontend::getOperandDType(dividend, state.trace.getContext());
    if (!isPositive || !type || !llvm::isa<mlir::IndexType>(type))
      throw UserError("'ceildiv' divides a size or an index by a positive number; use 'floordiv' "
                      "for other integers");
    frontend::Arithmetic &arithmetic = state.trace.arithmetic;
    int64_t by = *divisor->getConstant();
    frontend::Scalar sum = arithmetic.binary(BinaryKind::Add, dividend, Literal::ofInt(by - 1));
    return Value(wrap(arithmetic.binary(BinaryKind::FloorDiv, sum, Literal::ofInt(by))));
  });
}

Value operator&&(const Operand &lhs, const Operand &rhs) { return if_then_else(lhs, rhs, false); }
Value operator||(const Operand &lhs, const Operand &rhs) { return if_then_else(lhs, true, rhs); }

Value if_then_else(const Operand &condition, const Operand &a, const Operand &b) {
  return attempt(condition.where(), [&](State &state) {
    llvm::StringRef what = "'T.if_then_else'";
    return Value(wrap(state.trace.conditionals.ifThenElse(
        toOperand(condition.get(), what), toOperand(a.get(), what), toOperand(b.get(), what))));
  });
}

//===----------------------------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------------------------===//

static Value unary(UnaryKind kind, const char *what, const Operand &x) {
  return attempt(x.where(), [&](State &state) {
    return Value(wrap(state.trace.arithmetic.unary(kind, toOperand(x.get(), what))));
  });
}

#define TW_UNARY(NAME, KIND, WHAT)                                                                 \
  Value NAME(const Operand &x) { return unary(UnaryKind::KIND, WHAT, x); }
TW_UNARY(operator-, Neg, "'-'")
TW_UNARY(operator!, Not, "'!'")
TW_UNARY(operator~, BitNot, "'~'")
TW_UNARY(exp, Exp, "'T.exp'")
TW_UNARY(exp2, Exp2, "'T.exp2'")
TW_UNARY(log, Log, "'T.log'")
TW_UNARY(log2, Log2, "'T.log2'")
TW_UNARY(sqrt, Sqrt, "'T.sqrt'")
TW_UNARY(rsqrt, Rsqrt, "'T.rsqrt'")
TW_UNARY(sin, Sin, "'T.sin'")
TW_UNARY(cos, Cos, "'T.cos'")
TW_UNARY(tanh, Tanh, "'T.tanh'")
TW_UNARY(erf, Erf, "'T.erf'")
TW_UNARY(sigmoid, Sigmoid, "'T.sigmoid'")
TW_UNARY(floor, Floor, "'T.floor'")
TW_UNARY(ceil, Ceil, "'T.ceil'")
TW_UNARY(round, Round, "'T.round'")
TW_UNARY(abs, Abs, "'T.abs'")
#undef TW_UNARY

/// The kind with this name, or the mistake that there is none.
template <typename Kind>
static std::optional<Kind> orRefuse(std::optional<Kind> kind, std::string_view name,
                                    const Where &where) {
  if (!kind)
    attempt(where, [&](State &) -> detail::Handle {
      throw UserError("unknown function '" + std::string(name) + "'");
    });
  return kind;
}

Value apply(std::string_view function, const Operand &x) {
  auto kind = orRefuse(frontend::symbolizeUnary(llvm::StringRef(function)), function, x.where());
  return kind ? unary(*kind, "a function", x) : Value();
}
Value apply(std::string_view function, const Operand &a, const Operand &b) {
  auto kind = orRefuse(frontend::symbolizeBinary(llvm::StringRef(function)), function, a.where());
  return kind ? binary(*kind, "a function", a, b) : Value();
}

Value cast(const Operand &x, DType dtype) {
  return attempt(x.where(), [&](State &state) {
    return Value(
        wrap(state.trace.arithmetic.cast(toOperand(x.get(), "'T.cast'"), toType(state, dtype))));
  });
}

Value infinity(DType dtype, Where where) {
  return attempt(where, [&](State &state) {
    if (dtype < DType::Float16)
      throw UserError("'T.infinity': " + std::string(name(dtype)) + " has no infinity here");
    return Value(wrap(state.trace.scalars.constant(
        Literal::ofFloat(std::numeric_limits<double>::infinity()), toType(state, dtype))));
  });
}

} // namespace tw::lang
