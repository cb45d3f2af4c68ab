//===- DTypes.cpp - names and promotion of element types -------------------------------------===//

#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Tile/Buffers.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright::frontend {

Type parseDType(StringRef name, MLIRContext *context) {
  Builder b(context);
  auto integer = [&](StringRef digits, bool isUnsigned) -> Type {
    unsigned width = 0;
    if (digits.getAsInteger(10, width) || (width != 8 && width != 16 && width != 32 && width != 64))
      return {};
    return isUnsigned ? IntegerType::get(context, width, IntegerType::Unsigned)
                      : b.getIntegerType(width);
  };
  Type type = llvm::StringSwitch<Type>(name)
                  .Case("bool", b.getI1Type())
                  .Case("index", b.getIndexType())
                  .Case("float16", b.getF16Type())
                  .Case("bfloat16", b.getBF16Type())
                  .Case("float32", b.getF32Type())
                  .Case("float64", b.getF64Type())
                  .Case("tfloat32", FloatTF32Type::get(context))
                  .Case("float8_e4m3fn", Float8E4M3FNType::get(context))
                  .Case("float8_e5m2", Float8E5M2Type::get(context))
                  .Default(Type());
  if (!type && name.starts_with("uint"))
    type = integer(name.drop_front(4), true);
  else if (!type && name.starts_with("int"))
    type = integer(name.drop_front(3), false);
  if (!type)
    throw UserError("unknown dtype '" + name.str() + "'");
  return type;
}

std::string getDTypeName(Type dtype) { return tile::describeElementType(dtype); }

bool isFloat(Type dtype) { return isa<FloatType>(dtype); }
bool isBool(Type dtype) { return dtype.isInteger(1); }
bool isUnsigned(Type dtype) { return dtype.isUnsignedInteger() || isBool(dtype); }

static bool isFloat8(Type dtype) { return isa<Float8E4M3FNType, Float8E5M2Type>(dtype); }

Type arithmeticType(Type dtype) {
  MLIRContext *context = dtype.getContext();
  if (isa<FloatTF32Type>(dtype))
    return Float32Type::get(context);
  return isBool(dtype) ? Type(IntegerType::get(context, 32)) : dtype;
}

Type computeType(Type dtype) {
  return isFloat8(dtype) || isa<FloatTF32Type>(dtype) ? Type(Float32Type::get(dtype.getContext()))
                                                      : dtype;
}

/// Where a dtype stands among the kinds: of two kinds, the higher one wins.
static int rankOf(Type dtype) {
  if (isa<Float16Type, Float32Type, Float64Type>(dtype))
    return 4;
  if (isa<BFloat16Type>(dtype))
    return 3;
  if (isFloat8(dtype))
    return 2;
  return isBool(dtype) ? 0 : 1;
}

Type promote(Type lhs, Type rhs) {
  if (lhs == rhs)
    return lhs;
  MLIRContext *context = lhs.getContext();
  auto typed = [&](Type dtype) -> Type {
    if (isa<FloatTF32Type>(dtype))
      return Float32Type::get(context);
    return isa<IndexType>(dtype) ? Type(IntegerType::get(context, 32)) : dtype;
  };
  lhs = typed(lhs);
  rhs = typed(rhs);
  int left = rankOf(lhs), right = rankOf(rhs);
  if (left != right)
    return left > right ? lhs : rhs;
  if (lhs != rhs && isFloat8(lhs)) // neither holds the values of the other
    return Float32Type::get(context);
  unsigned leftWidth = lhs.getIntOrFloatBitWidth(), rightWidth = rhs.getIntOrFloatBitWidth();
  if (leftWidth != rightWidth)
    return leftWidth > rightWidth ? lhs : rhs;
  return lhs.isUnsignedInteger() ? lhs : rhs;
}

Type literalType(const Literal &literal, Type other) {
  MLIRContext *context = other.getContext();
  switch (literal.kind) {
  case Literal::Kind::Bool:
    return isa<IndexType>(other) ? other : promote(IntegerType::get(context, 1), other);
  case Literal::Kind::Float:
    return promote(Float32Type::get(context), other);
  case Literal::Kind::Int:
    if (isa<IndexType>(other))
      return other;
    if (literal.isUnsigned64)
      return promote(IntegerType::get(context, 64, IntegerType::Unsigned), other);
    return promote(IntegerType::get(context, llvm::isInt<32>(literal.integer) ? 32 : 64), other);
  }
  llvm_unreachable("all kinds of literals are handled");
}

Type defaultType(const Literal &literal, MLIRContext *context) {
  switch (literal.kind) {
  case Literal::Kind::Bool:
    return IntegerType::get(context, 1);
  case Literal::Kind::Int:
    return IndexType::get(context);
  case Literal::Kind::Float:
    return Float32Type::get(context);
  }
  llvm_unreachable("all kinds of literals are handled");
}

} // namespace tilewright::frontend
