//===- FormsTest.cpp - F2 form, digit form and enumeration agree with the expressions -------===//

#include "RandomLayouts.h"
#include "tilewright/Layout/DigitForm.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Layout/F2Form.h"
#include "tilewright/Layout/IndexFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace tilewright;
using namespace tilewright::test;
using llvm::ArrayRef;

static const IndexExpr i = IndexExpr::dim(0);
static const IndexExpr j = IndexExpr::dim(1);

//===----------------------------------------------------------------------------------------===//
// F2
//===----------------------------------------------------------------------------------------===//

TEST(F2FormTest, ReadsASwizzleAsColumns) {
  std::optional<F2Form> form = F2Form::read({j ^ 4 * (i % 8)}, {8, 32});
  ASSERT_TRUE(form);
  EXPECT_EQ(form->getOutputs()[0].columns,
            (llvm::SmallVector<uint64_t, 16>{4, 8, 16, 1, 2, 4, 8, 16}));
  EXPECT_EQ(form->getMatrix().getRank(), 5u); // the output has five bits
}

TEST(F2FormTest, AddsOnlyDisjointBits) {
  EXPECT_TRUE(F2Form::read({8 * i + j}, {8, 8}));
  EXPECT_FALSE(F2Form::read({4 * i + j}, {8, 8}));
  EXPECT_TRUE(F2Form::read({7 - i}, {8}));
  EXPECT_FALSE(F2Form::read({8 - i}, {8}));
  EXPECT_FALSE(F2Form::read({i}, {6}));
}

TEST(F2FormTest, FlippedBitIsNoConstant) { // j ^ 1 has the same set bits as the constant 1
  EXPECT_FALSE(F2Form::read({(j ^ 1) * j}, {1, 2}));
  EXPECT_FALSE(F2Form::read({(j ^ 1) - j}, {1, 2}));
}

TEST(F2FormTest, NumbersHaveAtMost62Bits) {
  EXPECT_TRUE(F2Form::read({i * (int64_t(1) << 61)}, {2}));
  EXPECT_FALSE(F2Form::read({i * (int64_t(1) << 62)}, {2}));
}

TEST(F2MatrixTest, FindsKernelAndInverse) {
  F2Matrix singular(3, {0b011, 0b110, 0b101});
  EXPECT_EQ(singular.getRank(), 2u);
  EXPECT_EQ(singular.getKernelVector(), 0b111u);
  EXPECT_EQ(singular.getDependentRow(), 2u);
  EXPECT_FALSE(singular.getLeftInverse());
  F2Matrix regular(2, {0b11, 0b11, 0b10});
  ASSERT_TRUE(regular.getLeftInverse());
  EXPECT_EQ(regular.getLeftInverse()->rows, (llvm::SmallVector<unsigned, 8>{0, 2}));
  EXPECT_EQ(regular.getLeftInverse()->combinations, (llvm::SmallVector<uint64_t, 8>{0b11, 0b10}));
}

//===----------------------------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------------------------===//

TEST(DigitFormTest, CutsIndicesWhereTheLayoutDoes) {
  // The seed's dQ: 4 * (l % 8) + d % 8 // 2
  std::optional<DigitForm> form = DigitForm::read({4 * (i % 8) + floorDiv(j % 8, 2)}, {4096, 128});
  ASSERT_TRUE(form);
  EXPECT_TRUE(ArrayRef<Digit>(form->getDigits()) ==
              ArrayRef<Digit>({{0, 1, 8}, {0, 8, 512}, {1, 1, 2}, {1, 2, 4}, {1, 8, 16}}));
  const DigitSum &sum = form->getSums()[0];
  ASSERT_EQ(sum.terms.size(), 2u);
  EXPECT_EQ(sum.terms[0], (DigitTerm{1, 0b01000, 0, 4})); // d1
  EXPECT_EQ(sum.terms[1], (DigitTerm{4, 0b00001, 0, 8})); // l0
  EXPECT_TRUE(sum.isDecodable());
}

TEST(DigitFormTest, XorsDigitsOfEqualRange) {
  std::optional<DigitForm> form = DigitForm::read({j ^ 4 * (i % 8)}, {24, 32});
  ASSERT_TRUE(form);
  const DigitSum &sum = form->getSums()[0];
  ASSERT_EQ(sum.terms.size(), 2u);
  EXPECT_EQ(sum.terms[1], (DigitTerm{4, 0b1001, 0, 8})); // j1 ^ i0
}

TEST(DigitFormTest, DynamicExtentsHaveAnUnboundedDigit) {
  std::optional<DigitForm> form = DigitForm::read({floorDiv(i, 8), i % 8}, {kDynamic});
  ASSERT_TRUE(form);
  EXPECT_TRUE(ArrayRef<Digit>(form->getDigits()) == ArrayRef<Digit>({{0, 1, 8}, {0, 8, kDynamic}}));
}

TEST(DigitFormTest, CarriesHaveNoDigits) {
  EXPECT_FALSE(DigitForm::read({floorDiv(i + j, 8)}, {8, 8}));
  EXPECT_FALSE(DigitForm::read({floorDiv(i, 4) + i % 6}, {24}));
  EXPECT_FALSE(DigitForm::read({i * j}, {8, 8}));
}

TEST(DigitFormTest, SumsStayFarFromOverflow) {
  EXPECT_TRUE(DigitForm::read({i * (int64_t(1) << 60)}, {3}));
  EXPECT_FALSE(DigitForm::read({i * (int64_t(1) << 60)}, {4}));
  EXPECT_FALSE(DigitForm::read({i * -(int64_t(1) << 60)}, {4}));
}

TEST(DigitFormTest, BoundsAreExactWhereTheTopDigitIsNotFull) {
  std::optional<DigitForm> form = DigitForm::read({i, floorDiv(i, 8), i % 8 + 8 * (i % 8)}, {100});
  ASSERT_TRUE(form);
  EXPECT_FALSE(form->isExact());
  EXPECT_EQ(form->getBounds(form->getSums()[0])->high, 99); // not 103
  EXPECT_EQ(form->getBounds(form->getSums()[1])->high, 12);
  EXPECT_EQ(form->getBounds(form->getSums()[2])->high, 63);
  // A top digit that a sum does not have does not matter to it.
  form = DigitForm::read({floorDiv(i % 8, 4) + 2 * (i % 4), floorDiv(i, 8)}, {100});
  ASSERT_TRUE(form);
  ASSERT_TRUE(form->getBounds(form->getSums()[0]));
  EXPECT_EQ(form->getBounds(form->getSums()[0])->high, 7);
}

TEST(DigitFormTest, ConstantsFlipFullDigits) {
  std::optional<DigitForm> form = DigitForm::read({i ^ 5}, {8});
  ASSERT_TRUE(form);
  EXPECT_TRUE(form->isExact());
  EXPECT_EQ(form->getBounds(form->getSums()[0])->high, 7);
  // The cut at 2 does not divide 7: the form describes a tile of 8.
  std::optional<DigitForm> larger = DigitForm::read({i ^ 1}, {7});
  ASSERT_TRUE(larger);
  EXPECT_FALSE(larger->isExact());
}

//===----------------------------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------------------------===//

TEST(IndexFactsTest, KnowsStridesAndRemainders) {
  llvm::SmallVector<IndexFacts> dims = {IndexFacts::inExtent(kDynamic), IndexFacts::inExtent(64)};
  IndexFacts size = IndexFacts::multipleOf(16);
  IndexExpr n = IndexExpr::symbol(0);
  EXPECT_EQ(analyzeIndexExpr(i * n + 8 * floorDiv(j, 8), dims, size).getDivisor(), 8);
  EXPECT_EQ(analyzeIndexExpr(i * n, dims, size).getDivisor(), 16);
  EXPECT_EQ(analyzeIndexExpr((i * n + 5) % 8, dims, size), IndexFacts::constant(5));
  EXPECT_EQ(analyzeIndexExpr(4 * i ^ 8 * j, dims, size).getDivisor(), 4);
  EXPECT_EQ(analyzeIndexExpr(j % 8 + 3, dims, size).high, 10);
  EXPECT_EQ(analyzeIndexExpr(i * n, dims, size).low, 0);
}

namespace {
using FormsProperty = PropertyTest;

TEST_F(FormsProperty, EnumerationAgreesWithEvaluation) {
  for (int round = 0; round < 400; ++round) {
    Layout layout = randomLayout(random);
    std::optional<ValueColumns> columns = enumerateValues(layout.getOutputs(), layout.getShape());
    ASSERT_TRUE(columns);
    int64_t element = 0;
    forEachIndex(layout.getShape(), [&](ArrayRef<int64_t> index) {
      EXPECT_EQ(delinearize(element, layout.getShape()), ArrayRef(index));
      for (auto [output, column] : llvm::zip(layout.getOutputs(), *columns))
        ASSERT_EQ(output.evaluate(index), column[element]) << layout.str();
      ++element;
    });
  }
}

TEST_F(FormsProperty, EnumerationDividesExactlyUpToTheLargestInt) {
  for (int64_t divisor : {3, 5, 6, 7, 10, 641, 65537, 1000003, 2147483629}) {
    IndexExpr large = i * 65537 + 32767; // up to 2^31 - 2
    std::optional<ValueColumns> columns =
        enumerateValues({floorDiv(large, divisor), large % divisor}, {32768});
    for (int64_t at = 0; at < 32768; ++at) {
      ASSERT_EQ((*columns)[0][at], (at * 65537 + 32767) / divisor);
      ASSERT_EQ((*columns)[1][at], (at * 65537 + 32767) % divisor);
    }
  }
}

TEST_F(FormsProperty, EnumerationOfWildExpressionsAgrees) { // negative values, overflow, 64 bits
  int64_t numEnumerated = 0;
  for (int round = 0; round < 3000; ++round) {
    IndexExpr expr = randomExpr(random, 2, 0, 4);
    llvm::SmallVector<int64_t> shape = {random.uniform(1, 9), random.uniform(1, 9)};
    std::optional<ValueColumns> columns = enumerateValues(expr, shape);
    int64_t element = 0;
    bool overflows = false;
    forEachIndex(shape, [&](ArrayRef<int64_t> index) {
      std::optional<int64_t> value = expr.evaluate(index);
      overflows |= !value;
      if (columns)
        ASSERT_EQ(value, (*columns)[0][element++]) << toString(expr, IndexNames::defaults(2));
    });
    EXPECT_EQ(columns.has_value(), !overflows);
    numEnumerated += columns.has_value();
  }
  EXPECT_GT(numEnumerated, 1000);
}

TEST_F(FormsProperty, FactsHoldForEveryValue) {
  for (int round = 0; round < 3000; ++round) {
    IndexExpr expr = randomExpr(random, 2, 0, 4);
    llvm::SmallVector<int64_t> shape = {random.uniform(1, 9), random.uniform(1, 9)};
    IndexFacts facts = analyzeIndexExpr(expr, factsOfShape(shape));
    forEachIndex(shape, [&](ArrayRef<int64_t> index) {
      std::optional<int64_t> value = expr.evaluate(index);
      if (!value)
        return;
      std::string text = toString(expr, IndexNames::defaults(2));
      ASSERT_LE(facts.low, *value) << text;
      ASSERT_GE(facts.high, *value) << text;
      if (facts.modulus == 0)
        ASSERT_EQ(facts.remainder, *value) << text;
      else
        ASSERT_EQ((__int128(*value) - facts.remainder) % facts.modulus, 0) << text;
    });
  }
}

TEST_F(FormsProperty, F2FormAgreesWithEvaluation) {
  int64_t numForms = 0;
  for (int round = 0; round < 1000; ++round) {
    Layout layout = round % 2 ? randomLayout(random) : randomBijection(random, true);
    const std::optional<F2Form> &form = F2Form::of(layout);
    if (!form)
      continue;
    ++numForms;
    for (uint64_t bits = 0; bits < uint64_t(*layout.getNumElements()); ++bits) {
      llvm::SmallVector<int64_t, 4> index = form->toIndex(bits);
      for (auto [output, word] : llvm::zip(layout.getOutputs(), form->getOutputs()))
        ASSERT_EQ(output.evaluate(index), int64_t(word.evaluate(bits))) << layout.str();
    }
  }
  EXPECT_GT(numForms, 500);
}

TEST_F(FormsProperty, DigitFormAgreesWithEvaluation) {
  int64_t numForms = 0;
  for (int round = 0; round < 1500; ++round) {
    Layout layout = round % 2 ? randomLayout(random) : randomBijection(random, false);
    const std::optional<DigitForm> &form = DigitForm::of(layout);
    if (!form)
      continue;
    ++numForms;
    llvm::SmallVector<IndexExpr> rewritten;
    for (const DigitSum &sum : form->getSums())
      rewritten.push_back(form->toExpr(sum));
    forEachIndex(layout.getShape(), [&](ArrayRef<int64_t> index) {
      for (auto [output, sum, expr] : llvm::zip(layout.getOutputs(), form->getSums(), rewritten)) {
        int64_t value = sum.constant;
        for (const DigitTerm &term : sum.terms) {
          int64_t xored = term.flip;
          for (auto [position, digit] : llvm::enumerate(form->getDigits()))
            if (term.digits >> position & 1)
              xored ^= index[digit.dim] / digit.weight % digit.range;
          value += term.coefficient * xored;
        }
        ASSERT_EQ(output.evaluate(index), value) << layout.str();
        ASSERT_EQ(expr.evaluate(index), value) << layout.str();
      }
    });
  }
  EXPECT_GT(numForms, 1000);
}

TEST_F(FormsProperty, OutputShapeIsTheLargestValueAndOne) {
  for (int round = 0; round < 600; ++round) {
    Layout layout = round % 2 ? randomLayout(random) : randomBijection(random, false);
    llvm::SmallVector<int64_t> low(layout.getNumOutputs(), INT64_MAX), high(low.size(), INT64_MIN);
    forEachIndex(layout.getShape(), [&](ArrayRef<int64_t> index) {
      for (auto [value, least, most] : llvm::zip(*layout.map(index), low, high)) {
        least = std::min(least, value);
        most = std::max(most, value + 1);
      }
    });
    ASSERT_EQ(layout.getOutputShape(), ArrayRef(high)) << layout.str();
    ASSERT_EQ(layout.getOutputMinimum(), ArrayRef(low)) << layout.str();
  }
}
} // namespace
