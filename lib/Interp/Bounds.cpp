//===- Bounds.cpp - the table of error radii --------------------------------------------------===//
//
//   rounding             u |x|, and half the smallest number
//   + - * / fma          the operands' radii through the derivative, then a rounding
//   sum of n terms       gamma(n) sum |t|, gamma(n) = n u / (1 - n u), and n smallest numbers;
//                        undecided where a part of it may overflow
//   function             the values at both ends of the operand's interval, then the function's own
//                        error (kErrors below)
//   max min              the same choice among the ends of the operands' intervals
//   abs neg              the operand's radius
//   select               either side, if the condition is undecided
//   comparison, to int   undecided where the interval straddles the decision
//   integer operation    undecided if an operand is
//
//===----------------------------------------------------------------------------------------===//

#include "Bounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

double tilewright::interp::boundRounding(Format format, double value) {
  return getUnitRoundoff(format) * std::abs(value) + getSmallest(format) / 2;
}

double tilewright::interp::boundSum(double count, double magnitude, double unit) {
  double scaled = count * unit;
  return scaled < 1 ? scaled / (1 - scaled) * magnitude : kUndecided;
}

double tilewright::interp::boundSumOf(double inputs, double count, double magnitude, Format format,
                                      double unit) {
  if (!std::isfinite(magnitude))
    return inputs == 0 ? 0 : kUndecided;
  // A rounding to a subnormal number is off by up to the smallest one, however small the sum.
  double radius = sane(inputs + boundSum(count, magnitude, unit) + count * getSmallest(format));
  bool saturates = format == Format::F8E4M3FN || format == Format::F8E5M2;
  return !saturates && magnitude + radius > getLargestFinite(format) ? kUndecided : radius;
}

double tilewright::interp::getSumUnit(Format format, bool onTensorCores) {
  double unit = getUnitRoundoff(format);
  return onTensorCores && format != Format::F64 ? 4 * unit : unit;
}

double tilewright::interp::boundConversion(const Scalar &operand, Format from, const Scalar &result,
                                           Format to, Rounding rounding) {
  double radius = operand.radius;
  if (!isFloat(from))
    return isFloat(to) ? kUndecided : radius; // an integer is decided or not, nothing between
  if (!(radius < kUndecided))
    return kUndecided;
  if (isFloat(to)) {
    bool isExact = to == from || to == Format::F64 || (to == Format::F32 && from != Format::F64);
    // A directed rounding is off by up to a whole unit in the last place, not half of one.
    bool isNearest = rounding == Rounding::NearestEven || rounding == Rounding::NearestAway;
    double error = (isNearest ? 1 : 2) * boundRounding(to, std::abs(result.real) + radius);
    return isExact ? radius : sane(radius + error);
  }
  int64_t low = floatToInteger(to, operand.real - radius);
  int64_t high = floatToInteger(to, operand.real + radius);
  return low == high ? 0 : kUndecided;
}

//===----------------------------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------------------------===//

/// Whether an operand is an infinity that rounding had no part in.
static bool isExactInfinity(const Scalar &value) {
  return value.radius == 0 && std::isinf(value.real);
}
static bool isFiniteWithin(const Scalar &value) {
  return std::isfinite(value.real) && value.radius < kUndecided;
}
/// Whether no number within the radius has another sign.
static bool hasCertainSign(const Scalar &value) {
  return value.radius < kUndecided && std::abs(value.real) > value.radius;
}

/// Adds the final rounding. An infinity or NaN is exact if the operands are: rounding had no say.
/// Nor has it where an exact infinity swamps what is inexact, as in the masks of a softmax.
static void setRadius(Machine &machine, const Step &step, double propagated, double ownError,
                      bool isSwamped = false) {
  Scalar &result = machine.result(step);
  bool operandsExact =
      llvm::all_of(step.in, [&](Slot slot) { return machine.values[slot].radius == 0; });
  if (isSwamped)
    result.radius = 0;
  else if (!std::isfinite(result.real))
    result.radius = operandsExact ? 0 : kUndecided;
  else
    result.radius = sane(propagated + ownError);
}

static double roundingOf(Machine &machine, const Step &step) {
  return boundRounding(step.format, machine.result(step).real);
}

static void boundAdd(Machine &machine, const Step &step) {
  const Scalar &a = machine.get(step, 0), &b = machine.get(step, 1);
  bool isSwamped =
      (isExactInfinity(a) && isFiniteWithin(b)) || (isExactInfinity(b) && isFiniteWithin(a));
  setRadius(machine, step, a.radius + b.radius, roundingOf(machine, step), isSwamped);
}

static double productRadius(const Scalar &a, const Scalar &b) {
  return std::abs(a.real) * b.radius + std::abs(b.real) * a.radius + a.radius * b.radius;
}

static void boundMul(Machine &machine, const Step &step) {
  const Scalar &a = machine.get(step, 0), &b = machine.get(step, 1);
  bool isSwamped =
      (isExactInfinity(a) && hasCertainSign(b)) || (isExactInfinity(b) && hasCertainSign(a));
  setRadius(machine, step, productRadius(a, b), roundingOf(machine, step), isSwamped);
}

/// `detail` is 1 under fast math, whose division is off by 2 ulp (PTX div.full.f32).
static void boundDiv(Machine &machine, const Step &step) {
  const Scalar &a = machine.get(step, 0), &b = machine.get(step, 1);
  double divisor = std::abs(b.real), least = divisor - b.radius;
  double radius = a.radius == 0 && b.radius == 0 ? 0
                  : least > 0
                      ? (divisor * a.radius + std::abs(a.real) * b.radius) / (divisor * least)
                      : kUndecided;
  bool isSwamped =
      (isExactInfinity(a) && hasCertainSign(b)) || (isExactInfinity(b) && isFiniteWithin(a));
  setRadius(machine, step, radius, (step.detail ? 5 : 1) * roundingOf(machine, step), isSwamped);
}

static void boundFma(Machine &machine, const Step &step) {
  double radius =
      productRadius(machine.get(step, 0), machine.get(step, 1)) + machine.get(step, 2).radius;
  // An engine may also round the product.
  double product = std::abs(machine.get(step, 0).real * machine.get(step, 1).real);
  setRadius(machine, step, radius, roundingOf(machine, step) + boundRounding(step.format, product));
}

static void boundRem(Machine &machine, const Step &step) {
  const Scalar &a = machine.get(step, 0), &b = machine.get(step, 1);
  bool sameQuotient = b.radius == 0 && std::trunc((a.real - a.radius) / b.real) ==
                                           std::trunc((a.real + a.radius) / b.real);
  bool isExact = a.radius == 0 && b.radius == 0;
  setRadius(machine, step, isExact ? 0 : sameQuotient ? a.radius : kUndecided, 0);
}

/// The choice among the least and among the largest values of both operands: what a clamp cuts off
/// is certain, however uncertain the operand.
template <const double &(*choose)(const double &, const double &)>
static void boundExtremum(Machine &machine, const Step &step) {
  const Scalar &a = machine.get(step, 0), &b = machine.get(step, 1);
  Scalar &result = machine.result(step);
  if (std::isnan(a.real) || std::isnan(b.real)) {
    result.radius = boundChoice(a, b);
    return;
  }
  auto distance = [&](double end) {
    return end == result.real ? 0 : std::abs(end - result.real); // infinities have none
  };
  result.radius = sane(std::max(distance(choose(a.real - a.radius, b.real - b.radius)),
                                distance(choose(a.real + a.radius, b.real + b.radius))));
}

static void boundCopySign(Machine &machine, const Step &step) {
  const Scalar &sign = machine.get(step, 1);
  bool isCertain = sign.radius == 0 || std::abs(sign.real) > sign.radius;
  machine.result(step).radius = isCertain ? machine.get(step, 0).radius : kUndecided;
}

//===----------------------------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------------------------===//

static void boundInteger(Machine &machine, const Step &step) {
  bool anyUndecided =
      llvm::any_of(step.in, [&](Slot slot) { return machine.values[slot].radius > 0; });
  machine.result(step).radius = anyUndecided ? kUndecided : 0;
}

static void boundCompare(Machine &machine, const Step &step) {
  const Scalar &a = machine.get(step, 0), &b = machine.get(step, 1);
  double both = a.radius + b.radius;
  bool straddles = both > 0 && !(std::abs(a.real - b.real) > both);
  machine.result(step).radius = straddles ? kUndecided : 0;
}

static void boundClassify(Machine &machine, const Step &step) {
  machine.result(step).radius = machine.get(step, 0).radius < kUndecided ? 0 : kUndecided;
}

static void boundSelect(Machine &machine, const Step &step) {
  const Scalar &condition = machine.get(step, 0);
  if (condition.radius == 0)
    return; // the chosen side brought its own
  const Scalar &taken = machine.get(step, condition.integer ? 1 : 2),
               &other = machine.get(step, condition.integer ? 2 : 1);
  double &radius = machine.result(step).radius;
  if (isFloat(step.format)) {
    double distance = taken.real == other.real ? 0 : std::abs(taken.real - other.real);
    radius = sane(std::max(taken.radius, distance + other.radius));
  } else {
    radius = taken.integer == other.integer ? boundChoice(taken, other) : kUndecided;
  }
}

//===----------------------------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------------------------===//

namespace {

/// The largest error an engine may declare for a function: `ulps + ulpsPerUnit * |x|` units in the
/// last place, and an absolute part. The plain column is what CPU and GPU code keep in every format
/// (Codegen/Cpu/LowerFunctions.cpp, Codegen/Nvptx/DeviceMath; test_device_math.py sweeps them); the
/// fast one is that of PTX's .approx instructions (PTX ISA, ex2, lg2, sin, cos, tanh, rsqrt).
struct FunctionError {
  double ulps = 0;
  double ulpsPerUnit = 0;
  double absolute = 0;
};

/// How the value moves with the operand.
enum class Shape : uint8_t { Monotone, Wave, Tangent, Even };

struct FunctionRule {
  FunctionError plain;
  FunctionError fast;
  Shape shape = Shape::Monotone;
};

} // namespace

/// 2^-22, the absolute error of lg2.approx.
static constexpr double kLog2Error = 1.0 / (1 << 22);
/// ex2.approx.ftz gives 0 in place of a subnormal.
static constexpr double kFlushed = 0x1p-126;
/// 2^-20.5, the absolute error of sin.approx and cos.approx.
static constexpr double kWaveError = 6.8e-7;

static std::optional<FunctionRule> getRule(Operation *op) {
  using Rule = std::optional<FunctionRule>;
  auto rule = [](FunctionError plain, FunctionError fast, Shape shape = Shape::Monotone) -> Rule {
    return FunctionRule{plain, fast, shape};
  };
  return llvm::TypeSwitch<Operation *, Rule>(op)
      .Case<math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp, math::TruncOp>(
          [&](auto) { return rule({}, {}); })
      .Case([&](math::AbsFOp) { return rule({}, {}, Shape::Even); })
      .Case([&](math::SqrtOp) { return rule({.ulps = 1}, {.ulps = 3}); })
      .Case([&](math::RsqrtOp) { return rule({.ulps = 2}, {.ulps = 3}); })
      .Case([&](math::Exp2Op) { return rule({.ulps = 2}, {.ulps = 2, .absolute = kFlushed}); })
      .Case<math::ExpOp, math::ExpM1Op>([&](auto) {
        return rule({.ulps = 2}, {.ulps = 2, .ulpsPerUnit = 1.2, .absolute = kFlushed});
      })
      .Case<math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp>(
          [&](auto) { return rule({.ulps = 2}, {.ulps = 3, .absolute = 2 * kLog2Error}); })
      .Case<math::SinOp, math::CosOp>([&](auto) {
        return rule({.ulps = 2}, {.ulps = 2, .absolute = 2 * kWaveError}, Shape::Wave);
      })
      .Case([&](math::TanOp) {
        return rule({.ulps = 2}, {.ulps = 16, .absolute = 4 * kWaveError}, Shape::Tangent);
      })
      .Case([&](math::TanhOp) { return rule({.ulps = 3}, {.ulps = 1 << 13}); })
      .Case([&](math::CoshOp) {
        return rule({.ulps = 2}, {.ulps = 6, .ulpsPerUnit = 1.2}, Shape::Even);
      })
      .Case([&](math::SinhOp) { return rule({.ulps = 2}, {.ulps = 6, .ulpsPerUnit = 1.2}); })
      .Case<math::ErfOp, math::ErfcOp, math::AtanOp, math::AsinOp, math::AcosOp, math::AsinhOp,
            math::AcoshOp, math::AtanhOp, math::CbrtOp>(
          [&](auto) { return rule({.ulps = 2}, {.ulps = 8}); })
      .Default([](Operation *) -> Rule { return std::nullopt; });
}

/// How far the function's value may move over the operand's interval.
static double spread(const FunctionRule &rule, RealFunction function, double x, double radius) {
  if (radius == 0)
    return 0;
  double value = function(x), low = function(x - radius), high = function(x + radius);
  double ends = std::max(std::abs(low - value), std::abs(high - value));
  if (std::isnan(low) || std::isnan(high))
    return kUndecided;
  switch (rule.shape) {
  case Shape::Monotone:
    return sane(ends);
  case Shape::Wave:
    return std::min(radius, 2.0);
  case Shape::Tangent: {
    auto branch = [](double at) { return std::floor(at / std::numbers::pi + 0.5); };
    return branch(x - radius) == branch(x + radius) ? sane(ends) : kUndecided;
  }
  case Shape::Even: // the least value is at zero
    return sane(std::abs(x) < radius ? std::max(ends, value - function(0)) : ends);
  }
  llvm_unreachable("unknown shape");
}

/// Whether every engine's value is the same infinity: that of the whole interval lies beyond what
/// the format holds, whatever `relative` error it has. So a sigmoid far from zero stays decided.
static bool isCertainlyInfinite(const FunctionRule &rule, RealFunction function, Format format,
                                const Scalar &operand, double relative) {
  if (rule.shape != Shape::Monotone || !(operand.radius < kUndecided))
    return false;
  double low = function(operand.real - operand.radius),
         high = function(operand.real + operand.radius);
  double least = std::min(std::abs(low), std::abs(high)) * (1 - relative);
  return std::signbit(low) == std::signbit(high) &&
         least > getLargestFinite(format) * (1 + relative);
}

template <bool fastMath> static void boundFunction(Machine &machine, const Step &step) {
  FunctionRule rule = *getRule(step.op);
  const FunctionError &error = fastMath ? rule.fast : rule.plain;
  const Scalar &operand = machine.get(step, 0);
  double value = std::abs(machine.result(step).real);
  double ulp = 2 * getUnitRoundoff(step.format) * value + getSmallest(step.format);
  double size = std::isfinite(operand.real) ? std::abs(operand.real) : 0; // exp(-inf) is exact
  double ulps = error.ulps + error.ulpsPerUnit * size, own = ulps * ulp;
  if (error.absolute > 0) // stated for float32; float64 functions are better by as much as they are
    own +=
        error.absolute * std::min(1.0, getUnitRoundoff(step.format) / getUnitRoundoff(Format::F32));
  bool isInfinite =
      std::isinf(value) && isCertainlyInfinite(rule, step.function, step.format, operand,
                                               2 * getUnitRoundoff(step.format) * (ulps + 1));
  setRadius(machine, step, spread(rule, step.function, operand.real, operand.radius), own,
            isInfinite);
}

/// pow: both operands at both ends.
static void boundPower(Machine &machine, const Step &step) {
  const Scalar &x = machine.get(step, 0);
  Scalar y = machine.get(step, 1);
  if (!isFloat(getFormat(step.op->getOperand(1).getType())))
    y.real = static_cast<double>(y.integer);
  double value = std::pow(x.real, y.real), radius = 0;
  if (x.radius > 0 || y.radius > 0) {
    bool crossesZero = std::abs(x.real) <= x.radius || (x.real < 0 && y.radius > 0);
    for (double base : {x.real - x.radius, x.real + x.radius})
      for (double exponent : {y.real - y.radius, y.real + y.radius})
        radius = std::max(radius, sane(std::abs(std::pow(base, exponent) - value)));
    if (crossesZero)
      radius = kUndecided;
  }
  double ulp = 2 * getUnitRoundoff(step.format) * std::abs(value) + getSmallest(step.format);
  setRadius(machine, step, radius, 2 * ulp); // under fast math too
}

static void boundArcTangent2(Machine &machine, const Step &step) {
  const Scalar &y = machine.get(step, 0), &x = machine.get(step, 1);
  double reach = std::hypot(x.radius, y.radius), distance = std::hypot(x.real, y.real) - reach;
  bool crossesCut = y.radius > 0 && x.real - x.radius < 0 && std::abs(y.real) <= y.radius;
  double radius = reach == 0 ? 0 : distance > 0 && !crossesCut ? reach / distance : kUndecided;
  setRadius(machine, step, radius, 6 * roundingOf(machine, step));
}

//===----------------------------------------------------------------------------------------===//
// Resolution
//===----------------------------------------------------------------------------------------===//

void tilewright::interp::resolveBound(Operation *op, Step &step, bool fastMath) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (getRule(op)) {
    step.bound = fastMath ? boundFunction<true> : boundFunction<false>;
    return;
  }
  step.bound =
      llvm::TypeSwitch<Operation *, Handler>(op)
          .Case<arith::AddFOp, arith::SubFOp>([](auto) { return boundAdd; })
          .Case([](arith::MulFOp) { return boundMul; })
          .Case([&](arith::DivFOp) {
            step.detail = fastMath;
            return boundDiv;
          })
          .Case([](arith::RemFOp) { return boundRem; })
          .Case<arith::MaxNumFOp, arith::MaximumFOp>([](auto) { return boundExtremum<std::max>; })
          .Case<arith::MinNumFOp, arith::MinimumFOp>([](auto) { return boundExtremum<std::min>; })
          .Case([](math::FmaOp) { return boundFma; })
          .Case([](math::CopySignOp) { return boundCopySign; })
          .Case<math::PowFOp, math::FPowIOp>([](auto) { return boundPower; })
          .Case([](math::Atan2Op) { return boundArcTangent2; })
          .Case<math::IsNaNOp, math::IsInfOp, math::IsFiniteOp>([](auto) { return boundClassify; })
          .Case([](arith::CmpFOp) { return boundCompare; })
          .Case([](arith::SelectOp) { return boundSelect; })
          // Conversions and negation bring their radius along (Casts.cpp, Arith.cpp).
          .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp,
                arith::FPToUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
                arith::IndexCastOp, arith::IndexCastUIOp, arith::BitcastOp, arith::NegFOp>(
              [](auto) -> Handler { return nullptr; })
          .Case<tile::FloorDivOp, tile::FloorModOp, tile::TruncDivOp, tile::TruncModOp, tile::ShlOp,
                tile::ShrOp>([](auto) { return boundInteger; })
          .Default([&](Operation *) -> Handler {
            return dialect == "arith" || dialect == "math" ? boundInteger : nullptr;
          });
}
