//===- RandomLayouts.h - layouts for property tests -------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_TEST_UNIT_LAYOUT_RANDOMLAYOUTS_H
#define TILEWRIGHT_TEST_UNIT_LAYOUT_RANDOMLAYOUTS_H

#include "tilewright/Layout/Fragment.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/Support/SeededRandom.h"
#include "gtest/gtest.h"

namespace tilewright::test {

/// The generator of a property test. Its seed is fixed, so that runs repeat; another one is given
/// by
/// --gtest_random_seed=N. The seed is printed with every failure.
class PropertyTest : public testing::Test {
protected:
  PropertyTest();
  uint64_t seed;
  SeededRandom random;
  testing::ScopedTrace trace;
};

/// Literals of the tests; a text that does not parse ends the test program with its message.
Layout layout(llvm::StringRef text, llvm::ArrayRef<int64_t> shape);
Fragment fragment(llvm::StringRef text, llvm::ArrayRef<int64_t> shape);

/// Any expression of `numDims` dims and `numSymbols` symbols, also ones with overflow, division by
/// zero and by negative numbers.
IndexExpr randomExpr(SeededRandom &random, unsigned numDims, unsigned numSymbols, unsigned depth);

/// A layout as users write them (splits, strides, swizzles, padding) of at most a few thousand
/// elements; sometimes not injective, sometimes odd.
Layout randomLayout(SeededRandom &random);
/// A layout that places every element apart from all others: a mixed-radix permutation with
/// swizzles.
Layout randomBijection(SeededRandom &random, bool powersOfTwo);

/// Calls `visit` with every index of the shape, the last dimension fastest.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

} // namespace tilewright::test

#endif // TILEWRIGHT_TEST_UNIT_LAYOUT_RANDOMLAYOUTS_H
