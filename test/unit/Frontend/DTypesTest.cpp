//===- DTypesTest.cpp - names of dtypes and the table of promotions ---------------------------===//

#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Frontend/Program.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright::frontend;

namespace {
class DTypesTest : public testing::Test {
protected:
  Type type(StringRef name) { return parseDType(name, context.get()); }
  std::string promoted(StringRef a, StringRef b) { return getDTypeName(promote(type(a), type(b))); }

  std::unique_ptr<MLIRContext> context = makeContext();
};

const char *const kNames[] = {"bool",          "int8",       "int16",   "int32",   "int64",
                              "uint8",         "uint16",     "uint32",  "uint64",  "index",
                              "float16",       "bfloat16",   "float32", "float64", "tfloat32",
                              "float8_e4m3fn", "float8_e5m2"};
} // namespace

TEST_F(DTypesTest, NamesRoundTrip) {
  for (const char *name : kNames)
    EXPECT_EQ(getDTypeName(type(name)), name);
}

TEST_F(DTypesTest, UnknownNamesAreRefused) {
  for (const char *name : {"", "int", "int7", "uint", "uint1", "int128", "float", "float8", "half",
                           "int8 ", "INT8", "int-8", "intx"}) {
    try {
      type(name);
      ADD_FAILURE() << name << " was accepted";
    } catch (const UserError &error) {
      EXPECT_EQ(error.message, std::string("unknown dtype '") + name + "'");
    }
  }
}

TEST_F(DTypesTest, EqualDTypesStay) {
  for (const char *name : {"int8", "uint8", "int64", "index", "float16", "bfloat16", "float64"})
    EXPECT_EQ(promoted(name, name), name);
}

TEST_F(DTypesTest, TheHigherKindWins) {
  EXPECT_EQ(promoted("bool", "uint8"), "uint8");
  EXPECT_EQ(promoted("bool", "float16"), "float16");
  EXPECT_EQ(promoted("int32", "float8_e5m2"), "float8_e5m2");
  EXPECT_EQ(promoted("float8_e4m3fn", "bfloat16"), "bfloat16");
  EXPECT_EQ(promoted("float16", "bfloat16"), "float16");
  EXPECT_EQ(promoted("float16", "int64"), "float16");
  EXPECT_EQ(promoted("uint8", "float64"), "float64");
}

TEST_F(DTypesTest, TheWiderOfAKindWins) {
  EXPECT_EQ(promoted("float16", "float32"), "float32");
  EXPECT_EQ(promoted("float64", "float32"), "float64");
  EXPECT_EQ(promoted("int8", "uint16"), "uint16");
  EXPECT_EQ(promoted("uint16", "int32"), "int32");
  EXPECT_EQ(promoted("float8_e5m2", "float8_e4m3fn"),
            "float32"); // neither holds the other's values
}

TEST_F(DTypesTest, OfIntegersOfOneWidthTheUnsignedWins) {
  for (const char *width : {"int8", "int16", "int32", "int64"})
    EXPECT_EQ(promoted(width, std::string("u") + width), std::string("u") + width);
}

TEST_F(DTypesTest, AnIndexCountsAsInt32) {
  EXPECT_EQ(promoted("index", "int32"), "int32");
  EXPECT_EQ(promoted("index", "uint32"), "uint32");
  EXPECT_EQ(promoted("index", "int64"), "int64");
  EXPECT_EQ(promoted("index", "uint16"), "int32");
  EXPECT_EQ(promoted("index", "bool"), "int32");
  EXPECT_EQ(promoted("index", "bfloat16"), "bfloat16");
}

TEST_F(DTypesTest, Tfloat32CountsAsFloat32) {
  EXPECT_EQ(promoted("tfloat32", "float16"), "float32");
  EXPECT_EQ(promoted("tfloat32", "float64"), "float64");
  EXPECT_EQ(arithmeticType(type("tfloat32")), type("float32"));
  EXPECT_EQ(arithmeticType(type("bool")), type("int32"));
  EXPECT_EQ(arithmeticType(type("float8_e5m2")), type("float8_e5m2"));
  EXPECT_EQ(computeType(type("float8_e5m2")), type("float32"));
}

TEST_F(DTypesTest, PromotionIsSymmetricAndItsOwnResult) {
  for (const char *a : kNames)
    for (const char *b : kNames) {
      Type result = promote(type(a), type(b));
      EXPECT_EQ(result, promote(type(b), type(a))) << a << " with " << b;
      EXPECT_EQ(result, promote(result, result)) << a << " with " << b;
    }
}

TEST_F(DTypesTest, NumbersHaveTypesOfTheirOwn) {
  EXPECT_EQ(literalType(Literal::ofInt(3), type("uint8")), type("int32"));
  EXPECT_EQ(literalType(Literal::ofInt(int64_t(1) << 31), type("int8")), type("int64"));
  EXPECT_EQ(literalType(Literal::ofInt(3), type("uint32")), type("uint32"));
  EXPECT_EQ(literalType(Literal::ofInt(3), type("float16")), type("float16"));
  EXPECT_EQ(literalType(Literal::ofInt(3), type("float8_e5m2")), type("float8_e5m2"));
  EXPECT_EQ(literalType(Literal::ofInt(int64_t(1) << 40), type("index")), type("index"));
  EXPECT_EQ(literalType(Literal::ofUnsigned(UINT64_MAX), type("int64")), type("uint64"));
  EXPECT_EQ(literalType(Literal::ofFloat(0.5), type("float16")), type("float32"));
  EXPECT_EQ(literalType(Literal::ofFloat(0.5), type("float64")), type("float64"));
  EXPECT_EQ(literalType(Literal::ofFloat(0.5), type("int64")), type("float32"));
  EXPECT_EQ(literalType(Literal::ofBool(true), type("int8")), type("int8"));
  EXPECT_EQ(defaultType(Literal::ofInt(3), context.get()), type("index"));
  EXPECT_EQ(defaultType(Literal::ofFloat(3), context.get()), type("float32"));
  EXPECT_EQ(defaultType(Literal::ofBool(true), context.get()), type("bool"));
}
