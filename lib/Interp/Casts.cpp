//===- Casts.cpp - conversions between scalars ------------------------------------------------===//

#include "Bounds.h"
#include "Machine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

Scalar tilewright::interp::convert(const Scalar &value, Format from, Format to,
                                   interp::Rounding rounding, bool saturate) {
  Scalar result = value; // keeps poison and radius
  if (isFloat(from) && isFloat(to)) {
    if (from != to || saturate)
      result.real = roundFloat(to, value.real, rounding, saturate);
  } else if (isFloat(from)) {
    result.integer = floatToInteger(to, value.real);
  } else if (isFloat(to)) {
    result.real = integerToFloat(to, value.integer, getIntegerSpec(from), rounding, saturate);
  } else {
    result.integer = integerToInteger(to, value.integer, getIntegerSpec(from));
  }
  if (value.radius > 0)
    result.radius = boundConversion(value, from, result, to, rounding);
  return result;
}

/// A cast's detail is its rounding, and this bit.
static constexpr unsigned kSaturateBit = 8;

static void castElement(Machine &machine, const Step &step) {
  bool saturate = step.detail & kSaturateBit;
  auto rounding = static_cast<interp::Rounding>(step.detail & ~kSaturateBit);
  machine.result(step) = convert(machine.get(step, 0), step.from, step.format, rounding, saturate);
}

/// arith's conversions among integers, whose signedness is in the op.
static void resizeInteger(Machine &machine, const Step &step) {
  Scalar result = machine.get(step, 0);
  int64_t read = step.spec.isUnsigned
                     ? static_cast<int64_t>(asUnsigned(result.integer, step.spec.width))
                     : asSigned(result.integer, step.spec.width);
  result.integer = wrap(read, getBits(step.format));
  machine.result(step) = result;
}

static void reinterpretBits(Machine &machine, const Step &step) {
  Scalar operand = machine.get(step, 0);
  Scalar result = unpack(step.format, pack(step.from, operand));
  if (step.from != step.format && result.radius > 0)
    result.radius = kUndecided; // nearby values have unrelated bits
  machine.result(step) = result;
}

/// The type whose integers are read without a sign.
static Format toUnsigned(Format format) {
  switch (format) {
  case Format::I8:
    return Format::U8;
  case Format::I16:
    return Format::U16;
  case Format::I32:
    return Format::U32;
  case Format::I64:
    return Format::U64;
  default:
    return format;
  }
}

static Handler pick(Operation *op, Step &step) {
  auto resize = [&](bool isUnsigned) {
    step.spec = {getBits(step.from), isUnsigned};
    return resizeInteger;
  };
  return llvm::TypeSwitch<Operation *, Handler>(op)
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) { return resize(false); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto) { return resize(true); })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp>(
          [&](auto) { return castElement; })
      .Case([&](arith::UIToFPOp) {
        step.from = toUnsigned(step.from);
        return castElement;
      })
      .Case([&](arith::FPToUIOp) {
        step.format = toUnsigned(step.format);
        return castElement;
      })
      .Case([&](tile::CastOp cast) {
        step.from = getFormat(cast.getFrom());
        step.format = getFormat(cast.getTo());
        step.detail =
            static_cast<unsigned>(cast.getRounding()) | (cast.getSaturate() ? kSaturateBit : 0u);
        return castElement;
      })
      .Case<tile::BitcastOp, arith::BitcastOp>([&](auto) { return reinterpretBits; })
      .Default([](Operation *) { return nullptr; });
}

bool tilewright::interp::resolveCast(Operation *op, Step &step) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return false;
  step.from = getFormat(op->getOperand(0).getType());
  step.format = getFormat(op->getResult(0).getType());
  step.run = pick(op, step);
  return step.run != nullptr;
}
