//===- MathFunctions.cpp - functions of floats and bits ---------------------------------------===//
//
// Functions are evaluated in double and rounded once: for float32 and below that is the correctly
// rounded value except where it lies within about 2^-29 of a tie. For float64 it is libm's value.
//
//===----------------------------------------------------------------------------------------===//

#include "Rounders.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <bit>
#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

//===----------------------------------------------------------------------------------------===//
// Functions of one float
//===----------------------------------------------------------------------------------------===//

static double reciprocalRoot(double x) { return 1 / std::sqrt(x); }
static double roundToEven(double x) { return x - std::remainder(x, 1.0); }
static double roundEven(double x) { // keeps the sign of zero and infinities
  return std::isfinite(x) ? std::copysign(std::abs(roundToEven(x)), x) : x;
}

static RealFunction pickFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, RealFunction>(op)
      .Case([](math::AbsFOp) -> RealFunction { return std::fabs; })
      .Case([](math::AcosOp) -> RealFunction { return std::acos; })
      .Case([](math::AcoshOp) -> RealFunction { return std::acosh; })
      .Case([](math::AsinOp) -> RealFunction { return std::asin; })
      .Case([](math::AsinhOp) -> RealFunction { return std::asinh; })
      .Case([](math::AtanOp) -> RealFunction { return std::atan; })
      .Case([](math::AtanhOp) -> RealFunction { return std::atanh; })
      .Case([](math::CbrtOp) -> RealFunction { return std::cbrt; })
      .Case([](math::CeilOp) -> RealFunction { return std::ceil; })
      .Case([](math::CosOp) -> RealFunction { return std::cos; })
      .Case([](math::CoshOp) -> RealFunction { return std::cosh; })
      .Case([](math::ErfOp) -> RealFunction { return std::erf; })
      .Case([](math::ErfcOp) -> RealFunction { return std::erfc; })
      .Case([](math::ExpOp) -> RealFunction { return std::exp; })
      .Case([](math::Exp2Op) -> RealFunction { return std::exp2; })
      .Case([](math::ExpM1Op) -> RealFunction { return std::expm1; })
      .Case([](math::FloorOp) -> RealFunction { return std::floor; })
      .Case([](math::LogOp) -> RealFunction { return std::log; })
      .Case([](math::Log10Op) -> RealFunction { return std::log10; })
      .Case([](math::Log1pOp) -> RealFunction { return std::log1p; })
      .Case([](math::Log2Op) -> RealFunction { return std::log2; })
      .Case([](math::RoundOp) -> RealFunction { return std::round; })
      .Case([](math::RoundEvenOp) -> RealFunction { return roundEven; })
      .Case([](math::RsqrtOp) -> RealFunction { return reciprocalRoot; })
      .Case([](math::SinOp) -> RealFunction { return std::sin; })
      .Case([](math::SinhOp) -> RealFunction { return std::sinh; })
      .Case([](math::SqrtOp) -> RealFunction { return std::sqrt; })
      .Case([](math::TanOp) -> RealFunction { return std::tan; })
      .Case([](math::TanhOp) -> RealFunction { return std::tanh; })
      .Case([](math::TruncOp) -> RealFunction { return std::trunc; })
      .Default([](Operation *) -> RealFunction { return nullptr; });
}

static void applyFunction(Machine &machine, const Step &step) {
  const Scalar &operand = machine.get(step, 0);
  Scalar result = Scalar::ofReal(step.round(step.function(operand.real)));
  result.isPoison = operand.isPoison;
  machine.result(step) = result;
}

//===----------------------------------------------------------------------------------------===//
// Functions of several floats
//===----------------------------------------------------------------------------------------===//

static void setReal(Machine &machine, const Step &step, double real) {
  Scalar result = Scalar::ofReal(step.round ? step.round(real) : real);
  for (Slot slot : step.in)
    result.isPoison |= machine.values[slot].isPoison;
  machine.result(step) = result;
}

/// 1 whatever the other operand is, where C's function wants a quiet NaN.
static double raise(double base, double exponent) {
  return exponent == 0 || base == 1 ? 1 : std::pow(base, exponent);
}

static void power(Machine &machine, const Step &step) {
  setReal(machine, step, raise(machine.get(step, 0).real, machine.get(step, 1).real));
}

static void integerExponent(Machine &machine, const Step &step) {
  double exponent = static_cast<double>(machine.get(step, 1).integer);
  setReal(machine, step, raise(machine.get(step, 0).real, exponent));
}

static void arcTangent2(Machine &machine, const Step &step) {
  setReal(machine, step, std::atan2(machine.get(step, 0).real, machine.get(step, 1).real));
}

static void copySign(Machine &machine, const Step &step) {
  setReal(machine, step, std::copysign(machine.get(step, 0).real, machine.get(step, 1).real));
}

static void multiplyAdd(Machine &machine, const Step &step) {
  double a = machine.get(step, 0).real, b = machine.get(step, 1).real,
         c = machine.get(step, 2).real;
  setReal(machine, step, fusedMultiplyAdd(step.format, a, b, c));
}

//===----------------------------------------------------------------------------------------===//
// Questions about a float, functions of integers
//===----------------------------------------------------------------------------------------===//

template <bool (*question)(double)> static void classify(Machine &machine, const Step &step) {
  const Scalar &operand = machine.get(step, 0);
  Scalar result = Scalar::ofInteger(question(operand.real));
  result.isPoison = operand.isPoison;
  machine.result(step) = result;
}
static bool isNotANumber(double x) { return std::isnan(x); }
static bool isInfinite(double x) { return std::isinf(x); }
static bool isFiniteNumber(double x) { return std::isfinite(x); }

static int64_t countOnes(int64_t value, IntegerSpec spec) {
  return std::popcount(asUnsigned(value, spec.width));
}
static int64_t countLeadingZeros(int64_t value, IntegerSpec spec) {
  return std::countl_zero(asUnsigned(value, spec.width)) - static_cast<int64_t>(64 - spec.width);
}
static int64_t countTrailingZeros(int64_t value, IntegerSpec spec) {
  return std::min<int64_t>(std::countr_zero(asUnsigned(value, spec.width)), spec.width);
}

template <int64_t (*op)(int64_t, IntegerSpec)>
static void unaryInteger(Machine &machine, const Step &step) {
  const Scalar &operand = machine.get(step, 0);
  Scalar result = Scalar::ofInteger(wrap(op(operand.integer, step.spec), step.spec.width));
  result.isPoison = operand.isPoison;
  machine.result(step) = result;
}

/// Repeated multiplication that wraps. A negative exponent gives the truncated reciprocal: 1 for 1,
/// plus or minus 1 for -1, and 0 for all others, 0 included.
static void integerPower(Machine &machine, const Step &step) {
  int64_t base = machine.get(step, 0).integer, exponent = machine.get(step, 1).integer;
  uint64_t result = 1;
  if (exponent < 0) {
    result = base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  } else {
    for (uint64_t factor = base; exponent; exponent >>= 1, factor *= factor)
      if (exponent & 1)
        result *= factor;
  }
  Scalar value = Scalar::ofInteger(wrap(static_cast<int64_t>(result), step.spec.width));
  value.isPoison = machine.get(step, 0).isPoison || machine.get(step, 1).isPoison;
  machine.result(step) = value;
}

bool tilewright::interp::resolveMathFunction(Operation *op, Step &step) {
  if (op->getName().getDialectNamespace() != "math" || op->getNumResults() != 1)
    return false;
  step.format = getFormat(op->getResult(0).getType());
  step.spec = getIntegerSpec(step.format);
  step.round = getRounder(step.format);
  step.function = pickFunction(op);
  if (step.function) {
    step.run = applyFunction;
    return true;
  }
  step.run = llvm::TypeSwitch<Operation *, Handler>(op)
                 .Case([](math::PowFOp) { return power; })
                 .Case([](math::FPowIOp) { return integerExponent; })
                 .Case([](math::Atan2Op) { return arcTangent2; })
                 .Case([](math::CopySignOp) { return copySign; })
                 .Case([](math::FmaOp) { return multiplyAdd; })
                 .Case([](math::IsNaNOp) { return classify<isNotANumber>; })
                 .Case([](math::IsInfOp) { return classify<isInfinite>; })
                 .Case([](math::IsFiniteOp) { return classify<isFiniteNumber>; })
                 .Case([](math::AbsIOp) { return unaryInteger<absInteger>; })
                 .Case([](math::CtPopOp) { return unaryInteger<countOnes>; })
                 .Case([](math::CountLeadingZerosOp) { return unaryInteger<countLeadingZeros>; })
                 .Case([](math::CountTrailingZerosOp) { return unaryInteger<countTrailingZeros>; })
                 .Case([](math::IPowIOp) { return integerPower; })
                 .Default([](Operation *) { return nullptr; });
  return step.run != nullptr;
}
