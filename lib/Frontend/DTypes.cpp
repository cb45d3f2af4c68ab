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

static bool hasOwnArithmetic(Type dtype) {
  return !isa<Float8E4M3FNType, Float8E5M2Type, FloatTF32Type>(dtype);
}

Type arithmeticType(Type dtype) {
  MLIRContext *context = dtype.getContext();
  if (!hasOwnArithmetic(dtype))
    return Float32Type::get(context);
  return isBool(dtype) ? Type(IntegerType::get(context, 32)) : dtype;
}

static Type promoteIntegers(Type lhs, Type rhs) {
  MLIRContext *context = lhs.getContext();
  if (isa<IndexType>(lhs))
    std::swap(lhs, rhs);
  if (isa<IndexType>(rhs))
    return lhs.getIntOrFloatBitWidth() >= 32 ? lhs : Type(IntegerType::get(context, 32));
  unsigned width = std::max(lhs.getIntOrFloatBitWidth(), rhs.getIntOrFloatBitWidth());
  bool bothUnsigned = lhs.isUnsignedInteger() && rhs.isUnsignedInteger();
  return IntegerType::get(context, width,
                          bothUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
}

Type promote(Type lhs, Type rhs) {
  if (isBool(lhs) != isBool(rhs))
    return arithmeticType(isBool(lhs) ? rhs : lhs);
  lhs = arithmeticType(lhs);
  rhs = arithmeticType(rhs);
  if (lhs == rhs)
    return lhs;
  if (isFloat(lhs) != isFloat(rhs))
    return isFloat(lhs) ? lhs : rhs;
  if (!isFloat(lhs))
    return promoteIntegers(lhs, rhs);
  unsigned left = lhs.getIntOrFloatBitWidth(), right = rhs.getIntOrFloatBitWidth();
  if (left == right) // float16 beside bfloat16: neither holds the other's values
    return Float32Type::get(lhs.getContext());
  return left > right ? lhs : rhs;
}

Type literalType(const Literal &literal, Type other) {
  other = arithmeticType(other);
  if (literal.kind == Literal::Kind::Float && !isFloat(other))
    return Float32Type::get(other.getContext());
  return other;
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
