//===- Operators.cpp - the operators and functions of scalar expressions ---------------------===//

#include "tilewright/Frontend/Operators.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace tilewright::frontend {

std::optional<BinaryKind> symbolizeBinary(StringRef name) {
  using B = BinaryKind;
  return llvm::StringSwitch<std::optional<B>>(name)
      .Case("add", B::Add)
      .Case("sub", B::Sub)
      .Case("mul", B::Mul)
      .Case("div", B::Div)
      .Case("floordiv", B::FloorDiv)
      .Case("floormod", B::FloorMod)
      .Case("truncdiv", B::TruncDiv)
      .Case("truncmod", B::TruncMod)
      .Case("pow", B::Pow)
      .Case("max", B::Max)
      .Case("min", B::Min)
      .Case("maxnan", B::MaxNan)
      .Case("minnan", B::MinNan)
      .Case("and", B::And)
      .Case("or", B::Or)
      .Case("xor", B::Xor)
      .Case("shl", B::Shl)
      .Case("shr", B::Shr)
      .Case("lt", B::Lt)
      .Case("le", B::Le)
      .Case("gt", B::Gt)
      .Case("ge", B::Ge)
      .Case("eq", B::Eq)
      .Case("ne", B::Ne)
      .Case("atan2", B::Atan2)
      .Case("fmod", B::Fmod)
      .Default(std::nullopt);
}

std::optional<UnaryKind> symbolizeUnary(StringRef name) {
  using U = UnaryKind;
  return llvm::StringSwitch<std::optional<U>>(name)
      .Case("exp", U::Exp)
      .Case("exp2", U::Exp2)
      .Case("exp10", U::Exp10)
      .Case("log", U::Log)
      .Case("log2", U::Log2)
      .Case("log10", U::Log10)
      .Case("log1p", U::Log1p)
      .Case("sqrt", U::Sqrt)
      .Case("rsqrt", U::Rsqrt)
      .Case("sin", U::Sin)
      .Case("cos", U::Cos)
      .Case("tan", U::Tan)
      .Case("tanh", U::Tanh)
      .Case("sinh", U::Sinh)
      .Case("cosh", U::Cosh)
      .Case("atan", U::Atan)
      .Case("erf", U::Erf)
      .Case("sigmoid", U::Sigmoid)
      .Case("floor", U::Floor)
      .Case("ceil", U::Ceil)
      .Case("round", U::Round)
      .Case("trunc", U::Trunc)
      .Case("abs", U::Abs)
      .Case("neg", U::Neg)
      .Case("not", U::Not)
      .Case("bitnot", U::BitNot)
      .Case("isnan", U::IsNan)
      .Case("isinf", U::IsInf)
      .Case("isfinite", U::IsFinite)
      .Case("popcount", U::Popcount)
      .Default(std::nullopt);
}

} // namespace tilewright::frontend
