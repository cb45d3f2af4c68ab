// The table of radii, by its definition: for operands anywhere within their radii two results
// differ by no more than the sum of theirs. Each op runs at random points and at points of the
// intervals around.

#include "InterpTestSupport.h"
#include "Machine.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <random>

using namespace tilewright::interp;

namespace {

class BoundsTest : public InterpTest {
protected:
  BoundsTest() { context.loadDialect<mlir::math::MathDialect>(); }

  /// A function of three float32 scalars whose first op (constants aside) is under test.
  void prepare(llvm::StringRef op) {
    auto function =
        parse(("func.func @f(%x: f32, %y: f32, %z: f32) {\n" + op + "\n  return\n}").str());
    ASSERT_TRUE(function);
    options.bounds = true;
    options.check = false;
    llvm::Expected<Program> resolved = resolve(function, options);
    ASSERT_TRUE(bool(resolved));
    program.emplace(std::move(*resolved));
    result = program->bodies.front().steps.back().out[0];
  }

  Scalar evaluate(llvm::ArrayRef<Scalar> operands) {
    Machine machine(*program, options);
    for (auto [slot, operand] : llvm::zip_equal(program->argumentSlots, operands))
      machine.values[slot] = operand;
    machine.run(program->bodies.front());
    return machine.values[result];
  }

  /// Checks `op` around random points of [low, high] with radii up to `reach` of their size. An
  /// exact operand converts exactly, so that of conversions both points must have radii
  /// (`bothInexact`).
  void checkReals(llvm::StringRef op, double low, double high, double reach,
                  bool bothInexact = false) {
    SCOPED_TRACE(op.str());
    prepare(op);
    std::mt19937_64 random(5);
    auto draw = [&](double from, double to) {
      return std::uniform_real_distribution<double>(from, to)(random);
    };
    int decided = 0;
    for (int count = 0; count < 400; ++count) {
      llvm::SmallVector<Scalar, 3> centre;
      for (int operand = 0; operand < 3; ++operand) {
        Scalar value = Scalar::ofReal(static_cast<float>(draw(low, high)));
        value.radius = count % 4 ? draw(0, reach) * std::abs(value.real) : 0;
        centre.push_back(value);
      }
      Scalar expected = evaluate(centre);
      if (!(expected.radius < kUndecided))
        continue;
      ++decided;
      for (int sample = 0; sample < 12; ++sample) {
        llvm::SmallVector<Scalar, 3> nearby = centre;
        for (Scalar &value : nearby) {
          double offset = sample < 8 ? (sample & 1 ? 1 : -1) : draw(-1, 1);
          if (random() & 1)
            offset = -offset;
          // A float inside the interval: the conversion drops what lies beyond.
          double moved = value.real + offset * value.radius;
          double rounded = roundFloat(Format::F32, moved, Rounding::TowardZero);
          if (std::abs(rounded - value.real) <= value.radius)
            value.real = rounded;
          value.radius = bothInexact ? value.radius : 0;
        }
        // The other result has been rounded too, by its own radius.
        Scalar other = evaluate(nearby);
        ASSERT_LE(std::abs(other.real - expected.real), expected.radius + other.radius)
            << "at " << centre[0].real << " +- " << centre[0].radius << ", " << centre[1].real
            << " +- " << centre[1].radius << ": " << expected.real << " and " << other.real;
      }
    }
    EXPECT_GT(decided, 50) << "the rule gives up too often to be of use";
  }

  Options options;
  std::optional<Program> program;
  Slot result = 0;
};

} // namespace

TEST_F(BoundsTest, ArithmeticStaysWithinItsRadius) {
  for (double reach : {1e-6, 0.1}) {
    checkReals("%r = arith.addf %x, %y : f32", -10, 10, reach);
    checkReals("%r = arith.subf %x, %y : f32", -10, 10, reach);
    checkReals("%r = arith.mulf %x, %y : f32", -10, 10, reach);
    checkReals("%r = arith.divf %x, %y : f32", -10, 10, reach);
    checkReals("%r = math.fma %x, %y, %z : f32", -10, 10, reach);
    checkReals("%r = arith.maxnumf %x, %y : f32", -10, 10, reach);
    checkReals("%r = arith.minimumf %x, %y : f32", -10, 10, reach);
    checkReals("%r = arith.negf %x : f32", -10, 10, reach);
    checkReals("%r = math.copysign %x, %y : f32", -10, 10, reach);
  }
  checkReals("%r = arith.remf %x, %y : f32", 1, 4,
             1e-6); // the divisor has a radius: often undecided
}

TEST_F(BoundsTest, FunctionsStayWithinTheirRadius) {
  for (double reach : {1e-6, 0.05}) {
    for (llvm::StringRef name : {"exp", "exp2", "sin", "cos", "tan", "tanh", "sinh", "cosh", "atan",
                                 "erf", "floor", "ceil", "round", "roundeven", "trunc", "absf"})
      checkReals(("%r = math." + name + " %x : f32").str(), -8, 8, reach);
    for (llvm::StringRef name : {"log", "log2", "log10", "log1p", "sqrt", "rsqrt"})
      checkReals(("%r = math." + name + " %x : f32").str(), 0.01, 20, reach);
    checkReals("%r = math.powf %x, %y : f32", 0.1, 6, reach);
    checkReals("%r = math.atan2 %x, %y : f32", -4, 4, reach);
  }
}

TEST_F(BoundsTest, ConversionsStayWithinTheirRadius) {
  for (double reach : {1e-6, 0.1}) {
    checkReals("%h = tile.cast %x from f32 to f16\n%r = tile.cast %h from f16 to f32", -100, 100,
               reach, /*bothInexact=*/true);
    checkReals("%h = tile.cast %x from f32 to f8E4M3FN\n%r = tile.cast %h from f8E4M3FN to f32",
               -500, 500, reach, /*bothInexact=*/true); // clamps at 448
    checkReals("%i = tile.cast %x from f32 to i32\n%r = tile.cast %i from i32 to f32", -100, 100,
               reach);
  }
}

TEST_F(BoundsTest, ChoicesStayWithinTheirRadius) {
  for (double reach : {1e-6, 0.1})
    checkReals("%c = arith.cmpf olt, %x, %y : f32\n%r = arith.select %c, %x, %z : f32", -1, 1,
               reach);
}

TEST_F(BoundsTest, ExactInfinitiesAndNaNsAreExact) { // masks use -inf
  Scalar infinity = Scalar::ofReal(-INFINITY), zero = Scalar::ofReal(0);
  for (llvm::StringRef op : {"%r = math.exp2 %x : f32", "%r = math.exp %x : f32"}) {
    prepare(op);
    EXPECT_EQ(evaluate({infinity, zero, zero}).real, 0);
    EXPECT_LT(evaluate({infinity, zero, zero}).radius, 1e-40);
  }
  prepare("%r = arith.addf %x, %y : f32");
  Scalar one = Scalar::ofReal(1);
  EXPECT_EQ(evaluate({infinity, one, zero}).radius, 0);
  one.radius = 0.5; // swamped
  EXPECT_EQ(evaluate({infinity, one, zero}).radius, 0);
  infinity.radius = 0.5; // an overflow that another engine might not have
  EXPECT_EQ(evaluate({infinity, one, zero}).radius, kUndecided);
}

TEST_F(BoundsTest, FirstStepOfAnOnlineSoftmaxIsDecided) { // exp2((-inf) * scale - maximum) is 0
  prepare("%a = arith.mulf %x, %y : f32\n%b = arith.subf %a, %z : f32\n%r = math.exp2 %b : f32");
  Scalar maximum = Scalar::ofReal(3), scale = Scalar::ofReal(0.125);
  maximum.radius = 1e-5;
  scale.radius = 1e-9;
  Scalar result = evaluate({Scalar::ofReal(-INFINITY), scale, maximum});
  EXPECT_EQ(result.real, 0);
  EXPECT_LT(result.radius, 1e-40);
}

TEST_F(BoundsTest, WhatAClampCutsOffIsCertain) {
  Scalar uncertain = Scalar::ofReal(-100), low = Scalar::ofReal(-4), high = Scalar::ofReal(4);
  uncertain.radius = 40;
  prepare("%a = arith.maxnumf %x, %y : f32\n%r = arith.minnumf %a, %z : f32");
  Scalar result = evaluate({uncertain, low, high});
  EXPECT_EQ(result.real, -4);
  EXPECT_EQ(result.radius, 0);
  uncertain.real = 3; // anywhere between; a radius reaches as far down as it does up
  EXPECT_EQ(evaluate({uncertain, low, high}).radius, 40);
}

TEST_F(BoundsTest, ASigmoidFarFromZeroIsDecided) { // 1 / (1 + exp(-x)), where exp overflows
  prepare("%n = arith.negf %x : f32\n%e = math.exp %n : f32\n%s = arith.addf %y, %e : f32\n"
          "%r = arith.divf %y, %s : f32");
  Scalar far = Scalar::ofReal(-5000), one = Scalar::ofReal(1);
  far.radius = 10;
  EXPECT_EQ(evaluate({far, one, one}).real, 0);
  EXPECT_LT(evaluate({far, one, one}).radius, 1e-40);
  far.real = -89; // overflows here, not at the other end of the interval
  EXPECT_EQ(evaluate({far, one, one}).radius, kUndecided);
}
