//===- LiteralsTest.cpp - Python numbers as values of a dtype ---------------------------------===//

#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Frontend/Trace.h"

#include "mlir/IR/Matchers.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace tilewright::frontend;

namespace {
class LiteralsTest : public testing::Test {
protected:
  Type type(StringRef name) { return parseDType(name, trace.getContext()); }

  double real(double number, StringRef dtype) {
    return toDouble(trace.scalars.constant(Literal::ofFloat(number), type(dtype)));
  }
  double realOfInt(int64_t number, StringRef dtype) {
    return toDouble(trace.scalars.constant(Literal::ofInt(number), type(dtype)));
  }
  int64_t bits(const Literal &literal, StringRef dtype) {
    IntegerAttr attribute;
    EXPECT_TRUE(
        matchPattern(trace.scalars.constant(literal, type(dtype)).value, m_Constant(&attribute)));
    return attribute.getValue().getSExtValue();
  }
  std::string refusal(const Literal &literal, StringRef dtype) {
    try {
      trace.scalars.constant(literal, type(dtype));
      return "accepted";
    } catch (const UserError &error) {
      return error.message;
    }
  }

  Trace trace{"f", {"kernel.py", 1, 1}};

private:
  static double toDouble(const Scalar &scalar) {
    FloatAttr attribute;
    EXPECT_TRUE(matchPattern(scalar.value, m_Constant(&attribute)));
    llvm::APFloat value = attribute.getValue();
    bool losesInfo;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return value.convertToDouble();
  }
};
} // namespace

TEST_F(LiteralsTest, FloatsRoundOnceToNearestEven) {
  EXPECT_EQ(real(0.1, "float32"), double(0.1f));
  EXPECT_EQ(real(2049.0, "float16"), 2048.0);
  EXPECT_EQ(real(2051.0, "float16"), 2052.0);
  EXPECT_EQ(real(65520.0, "float16"), INFINITY);
  EXPECT_EQ(real(-INFINITY, "float32"), -INFINITY);
  EXPECT_TRUE(std::isnan(real(NAN, "float16")));
  EXPECT_EQ(realOfInt((int64_t(1) << 24) + 1, "float32"), double(int64_t(1) << 24));
  // 2^53 + 1 is no double; the rounding to float32 sees the integer.
  EXPECT_EQ(realOfInt((int64_t(1) << 53) + 1, "float64"), double(int64_t(1) << 53));
}

// As the run-time conversions: cvt.rna.tf32, and cvt.rn.satfinite for the 8-bit floats.
TEST_F(LiteralsTest, SmallFloatsRoundAsTheirConversionsDo) {
  EXPECT_EQ(real(1.0 + std::ldexp(1.0, -11), "tfloat32"), 1.0 + std::ldexp(1.0, -10));
  EXPECT_EQ(real(1e30, "float8_e4m3fn"), 448.0);
  EXPECT_EQ(real(-INFINITY, "float8_e4m3fn"), -448.0);
  EXPECT_EQ(real(1e30, "float8_e5m2"), 57344.0);
  EXPECT_EQ(real(INFINITY, "float8_e5m2"), 57344.0);
  EXPECT_EQ(realOfInt(-1000000, "float8_e5m2"), -57344.0);
  EXPECT_TRUE(std::isnan(real(NAN, "float8_e4m3fn")));
  EXPECT_EQ(real(17.0, "float8_e4m3fn"), 16.0);
}

TEST_F(LiteralsTest, IntegersFitBySignOrByBits) {
  EXPECT_EQ(bits(Literal::ofInt(-128), "int8"), -128);
  EXPECT_EQ(bits(Literal::ofInt(255), "uint8"), -1); // the same bits
  EXPECT_EQ(bits(Literal::ofInt(0xFF), "int8"), -1); // a bit pattern
  EXPECT_EQ(bits(Literal::ofInt(-1), "uint32"), -1);
  EXPECT_EQ(bits(Literal::ofUnsigned(UINT64_MAX), "uint64"), -1);
  EXPECT_EQ(bits(Literal::ofBool(true), "int32"), 1);
  EXPECT_EQ(bits(Literal::ofInt(7), "bool"), -1); // true
}

TEST_F(LiteralsTest, NumbersThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal(Literal::ofInt(256), "uint8"),
            "the number 256 does not fit uint8; convert the other operand with 'T.cast' first");
  EXPECT_EQ(refusal(Literal::ofInt(-129), "int8"),
            "the number -129 does not fit int8; convert the other operand with 'T.cast' first");
  EXPECT_EQ(refusal(Literal::ofUnsigned(UINT64_MAX), "index"),
            "the number 18446744073709551615 does not fit an index");
}

TEST_F(LiteralsTest, FloatsTruncateAndSaturateAsIntegers) {
  EXPECT_EQ(bits(Literal::ofFloat(2.5), "int8"), 2);
  EXPECT_EQ(bits(Literal::ofFloat(-2.5), "int32"), -2);
  EXPECT_EQ(bits(Literal::ofFloat(300.0), "int8"), 127);
  EXPECT_EQ(bits(Literal::ofFloat(-1.0), "uint8"), 0);
  EXPECT_EQ(bits(Literal::ofFloat(16777217.0), "int32"), 16777217); // not by way of float32
  EXPECT_EQ(bits(Literal::ofFloat(INFINITY), "uint64"), -1);
  EXPECT_EQ(bits(Literal::ofFloat(NAN), "int16"), 0);
  EXPECT_EQ(bits(Literal::ofFloat(NAN), "bool"), -1);
}

TEST_F(LiteralsTest, ErrorsStandAtTheCurrentLine) {
  trace.emitter.locate({"kernel.py", 12, 5});
  try {
    trace.scalars.constant(Literal::ofInt(256), type("uint8"));
    FAIL();
  } catch (const UserError &error) {
    ASSERT_TRUE(error.position);
    EXPECT_EQ(error.position->file, "kernel.py");
    EXPECT_EQ(error.position->line, 12);
    EXPECT_EQ(error.position->column, 5);
  }
}
