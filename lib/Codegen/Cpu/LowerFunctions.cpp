//===- LowerFunctions.cpp - functions of floats and bits --------------------------------------===//
//
// Functions are evaluated in the carrier type and rounded once to the element type. The frequent
// ones are straight-line float32 code (no table, no branch, no call), so that a loop that uses them
// is vectorised whole. Errors in units in the last place, against the exact value, as measured by
// test/programs/test_engines.py over float32 patterns of all magnitudes:
//
//   exp2, exp    2 ulp     subnormal results and overflow as they should be
//   log, log2    2 ulp     of subnormals too
//   tanh         3 ulp
//
// The polynomials interpolate at Chebyshev nodes. All others are libm's, whose float32 versions are
// within 1 ulp (tan, erf and pow within 2).
//
//===----------------------------------------------------------------------------------------===//

#include "Scalars.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

namespace {

/// Builds float32 expressions with contraction written out.
class FunctionBuilder {
public:
  FunctionBuilder(ImplicitLocOpBuilder &b, bool hasScaling)
      : b(b), numbers(b), hasScaling(hasScaling) {}

  Value buildExp2(Value x);
  Value buildExp(Value x);
  Value buildLog(Value x, bool isBase2);
  Value buildTanh(Value x);

private:
  Value real(double value) { return numbers.real(b.getF32Type(), value); }
  Value integer(int64_t value) { return numbers.integer(b.getI32Type(), value); }
  Value add(Value lhs, Value rhs) { return arith::AddFOp::create(b, lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return arith::SubFOp::create(b, lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return arith::MulFOp::create(b, lhs, rhs); }
  Value fma(Value lhs, Value rhs, Value addend) { return math::FmaOp::create(b, lhs, rhs, addend); }
  Value toBits(Value value) { return arith::BitcastOp::create(b, b.getI32Type(), value); }
  Value fromBits(Value bits) { return arith::BitcastOp::create(b, b.getF32Type(), bits); }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  Value isLess(Value lhs, Value rhs) { // false for NaN
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, lhs, rhs);
  }

  /// Between two numbers; a NaN stays one.
  Value clamp(Value x, double least, double greatest) {
    x = select(isLess(x, real(least)), real(least), x);
    return select(isLess(real(greatest), x), real(greatest), x);
  }
  /// c[0] + c[1] x + … by Horner's rule.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value result = real(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      result = fma(result, x, real(coefficient));
    return result;
  }
  struct Nearest {
    Value number;   ///< As a float.
    Value exponent; ///< As `scale` wants it, an i32; anything for a NaN.
  };
  /// The integer nearest to x * factor, from -254 to 254. Where vectors have no instruction for it,
  /// adding 1.5 * 2^23 leaves it in the low bits, and 254 more make it a biased exponent twice.
  Nearest roundToNearest(Value x, double factor) {
    if (hasScaling) {
      Value number = math::RoundEvenOp::create(b, factor == 1 ? x : mul(x, real(factor)));
      return {number, numbers.intrinsic("llvm.fptosi.sat", b.getI32Type(), number)};
    }
    Value magic = real(12582912.0 + 2 * 127);
    Value shifted = factor == 1 ? add(x, magic) : fma(x, real(factor), magic);
    return {sub(shifted, magic), toBits(shifted)};
  }
  /// value * 2^exponent, by the host's instruction (UseScalef.cpp) or in two steps, each of them a
  /// normal power of two: results may be subnormal. The halves of an exponent that is biased twice are
  /// biased once; what is above them leaves a word that is shifted by 23.
  Value scale(Value value, Value exponent) {
    if (hasScaling)
      return numbers.intrinsic("llvm.ldexp", b.getF32Type(), {value, exponent});
    Value half = arith::ShRSIOp::create(b, exponent, integer(1));
    Value rest = arith::SubIOp::create(b, exponent, half);
    auto power = [&](Value biased) {
      return fromBits(arith::ShLIOp::create(b, biased, integer(23)));
    };
    return mul(mul(value, power(half)), power(rest));
  }

  ImplicitLocOpBuilder &b;
  Numbers numbers;
  bool hasScaling;
};

} // namespace

/// 2^x = 2^n * 2^f with n the nearest integer; integers give exact powers.
Value FunctionBuilder::buildExp2(Value x) {
  Value bounded = clamp(x, -151, 129);
  Nearest n = roundToNearest(bounded, 1);
  Value f = sub(bounded, n.number);
  Value slope =
      polynomial(f, {0.6931471824645996, 0.24022650718688965, 0.055503569543361664,
                     0.009618083015084267, 0.0013390863314270973, 0.00015453163359779865});
  return scale(fma(f, slope, real(1)), n.exponent);
}

/// e^x = 2^n * e^r with r = x - n ln 2, the product in two parts.
Value FunctionBuilder::buildExp(Value x) {
  Value bounded = clamp(x, -105, 90);
  Nearest n = roundToNearest(bounded, 1.4426950216293335);
  Value r = fma(n.number, real(-0.693359375), bounded);
  r = fma(n.number, real(0.00021219444170128554), r);
  return scale(polynomial(r, {1, 1, 0.5, 0.16666576266288757, 0.041666556149721146,
                              0.008363178931176662, 0.0013926184037700295}),
               n.exponent);
}

/// x = 2^e * m with m between sqrt(1/2) and sqrt(2); log m = 2 artanh s with s = (m - 1) / (m + 1).
Value FunctionBuilder::buildLog(Value x, bool isBase2) {
  Value isSmall = isLess(x, real(0x1p-126));
  Value normal = select(isSmall, mul(x, real(0x1p23)), x);
  Value bits = toBits(normal);
  Value shifted = arith::SubIOp::create(b, bits, integer(0x3f3504f3));
  Value exponent = arith::ShRSIOp::create(b, shifted, integer(23));
  Value mantissa =
      fromBits(arith::SubIOp::create(b, bits, arith::ShLIOp::create(b, exponent, integer(23))));
  exponent = select(isSmall, arith::SubIOp::create(b, exponent, integer(23)), exponent);
  Value e = arith::SIToFPOp::create(b, b.getF32Type(), exponent);
  Value f = sub(mantissa, real(1));
  Value s = arith::DivFOp::create(b, f, add(f, real(2)));
  Value z = mul(s, s);
  Value curve = polynomial(
      z, {0.6666666865348816, 0.40000125765800476, 0.2855058014392853, 0.23335464298725128});
  // 2s = f - s f, which is exact where it matters: near 1.
  Value logarithm = fma(s, sub(mul(z, curve), f), f);
  Value result;
  if (isBase2) {
    Value low = mul(logarithm, real(1.925963033500011e-08));
    result = add(fma(logarithm, real(1.4426950216293335), low), e);
  } else {
    result = fma(e, real(0.693359375), fma(e, real(-0.00021219444170128554), logarithm));
  }
  double infinity = std::numeric_limits<double>::infinity();
  Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, real(0));
  Value isSpecial = arith::CmpFOp::create(b, arith::CmpFPredicate::UEQ, x, real(infinity));
  result = select(isLess(x, real(0)), real(std::numeric_limits<double>::quiet_NaN()), result);
  result = select(isZero, real(-infinity), result);
  return select(isSpecial, x, result); // infinity and NaN are their own logarithms
}

/// An odd polynomial near 0, and 1 - 2 / (e^2|x| + 1) beyond.
Value FunctionBuilder::buildTanh(Value x) {
  Value magnitude = math::AbsFOp::create(b, x);
  Value square = mul(x, x);
  Value curve = polynomial(square, {-0.333333283662796, 0.13332752883434296, -0.05384935811161995,
                                    0.02099192515015602, -0.006090767681598663});
  Value near = fma(mul(magnitude, square), curve, magnitude);
  Value power = buildExp(mul(magnitude, real(2)));
  Value far = sub(real(1), arith::DivFOp::create(b, real(2), add(power, real(1))));
  Value result = select(isLess(magnitude, real(0.625)), near, far);
  return math::CopySignOp::create(b, result, x);
}

Value tilewright::cpu::emitFunction(Operation &op, Emitter &e) {
  SmallVector<Value> operands = e.lookupAll(op.getOperands());
  Type type = op.getResult(0).getType(), carrier = getCarrierType(type);
  if (isa<math::IPowIOp>(op)) {
    Type wide = e.b.getI64Type();
    Value base = e.numbers.convert(operands[0], type, wide);
    Value exponent = e.numbers.convert(operands[1], type, wide);
    return e.numbers.convert(e.numbers.call(kIntegerPower, wide, {base, exponent}), wide, type);
  }
  if (isa<math::FPowIOp>(op)) {
    Value exponent = e.numbers.convert(operands[1], op.getOperand(1).getType(), carrier);
    return e.numbers.round(math::PowFOp::create(e.b, operands[0], exponent), type);
  }
  if (isa<math::Atan2Op>(op)) // by name: MLIR folds math.atan2 of two zeros to a NaN
    return e.numbers.round(e.numbers.call(carrier.isF64() ? "atan2" : "atan2f", carrier, operands),
                           type);
  if (carrier.isF32()) {
    FunctionBuilder functions(e.b,
                              /*hasScaling=*/e.options.vectorWidth >= 16); // AVX-512: vscalefps
    Value result = llvm::TypeSwitch<Operation *, Value>(&op)
                       .Case([&](math::Exp2Op) { return functions.buildExp2(operands[0]); })
                       .Case([&](math::ExpOp) { return functions.buildExp(operands[0]); })
                       .Case([&](math::LogOp) { return functions.buildLog(operands[0], false); })
                       .Case([&](math::Log2Op) { return functions.buildLog(operands[0], true); })
                       .Case([&](math::TanhOp) { return functions.buildTanh(operands[0]); })
                       .Default([](Operation *) { return Value(); });
    if (result)
      return e.numbers.round(result, type);
  }
  OperationState state(e.b.getLoc(), op.getName());
  state.addOperands(operands);
  state.addTypes(carrier);
  Value result = e.b.create(state)->getResult(0);
  return isa<FloatType>(type) ? e.numbers.round(result, type) : result;
}
