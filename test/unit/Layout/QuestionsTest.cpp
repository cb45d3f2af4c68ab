//===- QuestionsTest.cpp --------------------------------------------------------------------===//

#include "tilewright/Layout/Questions.h"
#include "RandomLayouts.h"
#include "tilewright/Layout/Algebra.h"
#include "tilewright/Layout/DigitForm.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <atomic>
#include <chrono>
#include <map>
#include <thread>
#include <vector>

using namespace tilewright;
using namespace tilewright::test;
using llvm::ArrayRef;

static constexpr const char *kSeedLayout =
    "(b, h, l, d) -> (b, h, l // 8, d // 8, d % 2, 4 * (l % 8) + (d % 8) // 2)";

TEST(InjectivityTest, SwizzlesAreInjective) {
  EXPECT_TRUE(isInjective(layout("(i, j) -> (i, j ^ 4 * (i % 8))", {8, 32})).isYes());
  EXPECT_TRUE(isInjective(layout("(i, j) -> (i, j ^ 8 * (i % 4))", {96, 96})).isYes());
  EXPECT_TRUE(isInjective(layout("(i, j) -> (65 * i + j)", {64, 64})).isYes());
}

TEST(InjectivityTest, CollisionsAreShown) {
  Answer<Collision> answer = isInjective(layout("(i) -> (i // 2)", {64}));
  ASSERT_TRUE(answer.isNo());
  EXPECT_EQ(answer.getCounterexample().str(), "elements (0) and (1) both lie at (0)");
  EXPECT_EQ(isInjective(layout("(i, j) -> (i + j)", {6, 6})).getCounterexample().str(),
            "elements (0, 1) and (1, 0) both lie at (1)");
  EXPECT_EQ(
      isInjective(layout("(i, j) -> (i ^ j, (i ^ j) // 2)", {4, 4})).getCounterexample().str(),
      "elements (0, 0) and (1, 1) both lie at (0, 0)");
}

TEST(InjectivityTest, CollisionsLieInTheTile) { // the digits alone suggest (0) and (3)
  EXPECT_EQ(isInjective(layout("(i) -> (i % 2 ^ i // 2)", {3})).getCounterexample().str(),
            "elements (1) and (2) both lie at (1)");
}

TEST(InjectivityTest, LargeAndDynamicTensorsNeedNoEnumeration) {
  EXPECT_TRUE(isInjective(layout(kSeedLayout, {8, 32, 65536, 128})).isYes());
  EXPECT_TRUE(isInjective(layout(kSeedLayout, {3, 7, 65544, 96})).isYes());
  EXPECT_TRUE(isInjective(layout(kSeedLayout, {kDynamic, 32, kDynamic, 128})).isYes());
  EXPECT_EQ(
      isInjective(layout("(i, j) -> (i // 3, j)", {kDynamic, kDynamic})).getCounterexample().str(),
      "elements (0, 0) and (1, 0) both lie at (0, 0)");
  EXPECT_TRUE(isInjective(layout("(i, j) -> (i + j)", {1 << 20, 1 << 20})).isNo()); // by its corner
}

TEST(InjectivityTest, UnknownSaysWhy) {
  Layout symbolic = layout("(i, j)[n] -> (i * n + j)", {kDynamic, kDynamic});
  EXPECT_EQ(isInjective(symbolic).getReason(), "the layout depends on symbols");
  Layout carries = layout("(i) -> (i + (i + 1) // 2)", {int64_t(1) << 40});
  EXPECT_EQ(isInjective(carries).getReason(),
            "a tensor of shape 1099511627776 cannot be enumerated, and (i) -> (i + (i + 1) // 2) "
            "has no digit form");
}

TEST(InjectivityTest, OverflowIsNeverYes) { // i * 2^62 leaves 64 bits at i = 2, though % 8 hides it
  Layout overflows = layout("(i) -> (max(i * 4611686018427387904, i) % 8 + i)", {3});
  EXPECT_EQ(overflows.map({2}), std::nullopt);
  EXPECT_TRUE(isInjective(overflows).isUnknown());
}

TEST(InjectivityTest, ProductWithAFlippedBit) { // was read as a product with the constant 1
  EXPECT_EQ(isInjective(layout("(i) -> ((i ^ 1) * i)", {2})).getCounterexample().str(),
            "elements (0) and (1) both lie at (0)");
}

TEST(InjectivityTest, EmptyAndScalarTiles) {
  EXPECT_TRUE(isInjective(layout("(i) -> (0)", {0})).isYes());
  EXPECT_TRUE(isInjective(layout("(i) -> (0)", {1})).isYes());
  EXPECT_TRUE(isInjective(Layout()).isYes());
}

TEST(InjectivityTest, FragmentReplicasNeedPlacesOfTheirOwn) {
  EXPECT_TRUE(isInjective(fragment("(i) rep r of 4 -> thread 4 * i + r, slot 0", {8})).isYes());
  EXPECT_EQ(isInjective(fragment("(i) rep r of 2 -> thread 4 * i, slot 0", {8}))
                .getCounterexample()
                .str(),
            "elements (0, 0) and (0, 1) both lie at (0, 0)");
}

TEST(CoverageTest, PaddingLeavesHoles) {
  EXPECT_TRUE(covers(layout("(i, j) -> (i, j ^ 4 * (i % 8))", {8, 32})).isYes());
  EXPECT_EQ(covers(layout("(i, j) -> (33 * i + j)", {8, 32})).getCounterexample().str(),
            "no element lies at (32)");
  EXPECT_TRUE(covers(layout(kSeedLayout, {8, 32, 65536, 128})).isYes());
  EXPECT_TRUE(covers(layout("(i) -> (i // 2)", {64})).isYes());
}

TEST(CoverageTest, LargeTensorsNeedNoEnumeration) {
  int64_t big = int64_t(1) << 40;
  EXPECT_TRUE(covers(layout("(i) -> (i // 4, i % 4)", {big})).isYes());
  EXPECT_EQ(covers(layout("(i) -> (4 * i + 1)", {big})).getCounterexample().image,
            (IndexVector{0}));
  EXPECT_EQ(covers(layout("(i) -> (4 * i)", {big})).getCounterexample().image, (IndexVector{1}));
  EXPECT_EQ(covers(layout("(i) -> (i, i % 4)", {big})).getCounterexample().image,
            (IndexVector{0, 1}));
  EXPECT_EQ(covers(layout("(i) -> (i // 4, i % 4)", {big + 1})).getCounterexample().image,
            (IndexVector{big / 4, 3}));
  EXPECT_TRUE(covers(layout("(i, j) -> (j, i)", {kDynamic, 8})).isYes());
  EXPECT_TRUE(covers(layout("(i) -> (i // 4, i % 4)", {kDynamic})).isUnknown()); // 5 elements?
}

TEST(EqualityTest, ComparesWhatIsComputed) {
  Layout a = layout("(i, j) -> (i * 8 + j)", {4, 8});
  EXPECT_TRUE(isEqual(a, layout("(i, j) -> (j + 8 * i)", {4, 8})).isYes());
  EXPECT_TRUE(isEqual(a, layout("(i, j) -> (8 * i ^ j)", {4, 8})).isYes());
  EXPECT_EQ(isEqual(a, layout("(i, j) -> (i + 4 * j)", {4, 8})).getCounterexample().str(),
            "element (1, 0) lies at (8) and at (1)");
  EXPECT_TRUE(isEqual(a, layout("(i, j) -> (i * 8 + j)", {4, 4})).isNo());
  EXPECT_TRUE(isEqual(layout("(i) -> (1 - i)", {2}), layout("(i) -> (i ^ 1)", {2})).isYes());
}

TEST(EqualityTest, LargeAndDynamicTensorsNeedNoEnumeration) {
  Layout a = layout("(i, j) -> (i // 8, i % 8 * 4 + j)", {kDynamic, 4});
  EXPECT_TRUE(
      isEqual(a, layout("(i, j) -> (i // 2 // 4, (i * 4 + j) % 32)", {kDynamic, 4})).isYes());
  EXPECT_EQ(isEqual(a, layout("(i, j) -> (i // 8, i % 4 * 4 + j)", {kDynamic, 4}))
                .getCounterexample()
                .str(),
            "element (4, 0) lies at (0, 16) and at (0, 0)");
}

TEST(EqualityTest, ReplicasMayBeNumberedDifferently) {
  Fragment a = fragment("(i) rep r of 4 -> thread 4 * i + r, slot 0", {8});
  EXPECT_TRUE(
      isEqual(a, fragment("(i) rep r of 4 -> thread 4 * i + (r ^ 1), slot 0", {8})).isYes());
  EXPECT_EQ(isEqual(a, fragment("(i) rep r of 4 -> thread i + 8 * r, slot 0", {8}))
                .getCounterexample()
                .str(),
            "element (0) lies at (1, 0) and at (8, 0)");
}

TEST(QuestionsTest, CounterexamplesOfTilesTooLargeToEnumerate) {
  constexpr int64_t kMany = int64_t(1) << 40;
  Answer<Collision> collides = isInjective(layout("(i) -> (i // 2)", {kMany}));
  ASSERT_TRUE(collides.isNo());
  EXPECT_EQ(collides.getCounterexample().first, (IndexVector{0}));
  EXPECT_EQ(collides.getCounterexample().second, (IndexVector{1}));
  Answer<Difference> differs = isEqual(layout("(i, j) -> (i, j)", {kMany, 8}),
                                       layout("(i, j) -> (i, j ^ i % 8)", {kMany, 8}));
  ASSERT_TRUE(differs.isNo());
  EXPECT_EQ(differs.getCounterexample().index, (IndexVector{1, 0}));
}

TEST(FragmentQuestionTest, ReplicatedTilesProvideForEveryReader) {
  Fragment everywhere = fragment("(i) rep r of 4 -> thread 4 * i + r, slot 0", {8});
  Fragment once = fragment("(i) -> thread 4 * i + 2, slot 3", {8});
  EXPECT_TRUE(isProvidedBy(once, everywhere).isYes());
  EXPECT_TRUE(isProvidedBy(fragment("(i) -> thread 4 * i + 3, slot 3", {8}), everywhere).isYes());
  EXPECT_EQ(isProvidedBy(everywhere, once).getCounterexample().str(),
            "thread 0 needs element (0) and does not hold it");
}

TEST(FragmentQuestionTest, OwnersAreListed) {
  Fragment sums = fragment("(i) rep r of 2 -> thread 2 * i + r, slot 1", {8});
  EXPECT_EQ(ownersOf(sums, {3}), (llvm::SmallVector<Owner, 4>{{6, 1}, {7, 1}}));
}

TEST(AddressableTest, NegativeOutputsAreNoAddresses) {
  EXPECT_TRUE(isAddressable(layout("(i) -> (7 - i)", {8})).isYes());
  EXPECT_EQ(isAddressable(layout("(i) -> (3 - i)", {8})).getCounterexample(), (IndexVector{7}));
}

TEST(QuestionsTest, ThreadsMayAskTheSameLayout) { // meant for a run under -fsanitize=thread
  Layout shared = layout("(i, j) -> (i, (j + 8 * i) % 64)", {64, 64});
  std::vector<std::thread> threads;
  std::atomic<int> numYes = 0;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      Layout copy = shared;
      numYes += isInjective(copy).isYes() + covers(copy).isYes();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(numYes, 8);
}

TEST(QuestionsTest, Injectivity256x256IsFast) { // reported, not limited: the machine may be busy
  auto time = [](const char *what, llvm::StringRef text, ArrayRef<int64_t> shape) {
    Layout subject = layout(text, shape);
    auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(isInjective(subject).isYes());
    auto micros =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start);
    testing::Test::RecordProperty(what, std::to_string(micros.count()));
    printf("  %-12s %8.1f us  %s\n", what, micros.count(), subject.str().c_str());
  };
  time("f2", "(i, j) -> (i, j ^ 8 * (i % 8))", {256, 256});
  time("digits", "(i, j) -> (i, j ^ 8 * (i % 8))", {255, 256});
  time("enumerated", "(i, j) -> (i, (j + 8 * i) % 256)", {256, 256});
}

namespace {
using QuestionsProperty = PropertyTest;

/// All images with the elements that have them.
std::map<IndexVector, int> countImages(const Layout &layout) {
  std::map<IndexVector, int> images;
  forEachIndex(layout.getShape(), [&](ArrayRef<int64_t> index) { ++images[*layout.map(index)]; });
  return images;
}

TEST_F(QuestionsProperty, InjectivityAgreesWithBruteForce) {
  int numYes = 0, numNo = 0;
  for (int round = 0; round < 1500; ++round) {
    Layout layout = round % 3 ? randomLayout(random) : randomBijection(random, round % 2);
    bool expected = int64_t(countImages(layout).size()) == *layout.getNumElements();
    Answer<Collision> answer = isInjective(layout);
    ASSERT_FALSE(answer.isUnknown()) << layout.str();
    ASSERT_EQ(answer.isYes(), expected) << layout.str() << shapeToString(layout.getShape());
    ++(expected ? numYes : numNo);
    if (expected)
      continue;
    const Collision &collision = answer.getCounterexample();
    EXPECT_NE(collision.first, collision.second);
    EXPECT_EQ(*layout.map(collision.first), collision.image);
    EXPECT_EQ(*layout.map(collision.second), collision.image);
  }
  EXPECT_GT(numYes, 300);
  EXPECT_GT(numNo, 300);
}

TEST_F(QuestionsProperty, CoverageAgreesWithBruteForce) {
  int numYes = 0, numNo = 0;
  for (int round = 0; round < 1500; ++round) {
    Layout layout = round % 3 ? randomLayout(random) : randomBijection(random, round % 2);
    std::map<IndexVector, int> images = countImages(layout);
    int64_t numInside = llvm::count_if(images, [](const auto &image) {
      return llvm::all_of(image.first, [](int64_t value) { return value >= 0; });
    });
    bool expected = numInside == *layout.getPhysicalSize();
    Answer<Hole> answer = covers(layout);
    ASSERT_FALSE(answer.isUnknown()) << layout.str();
    ASSERT_EQ(answer.isYes(), expected) << layout.str() << shapeToString(layout.getShape());
    ++(expected ? numYes : numNo);
    if (!expected)
      EXPECT_EQ(images.count(answer.getCounterexample().image), 0u) << layout.str();
  }
  EXPECT_GT(numYes, 300);
  EXPECT_GT(numNo, 300);
}

TEST_F(QuestionsProperty, EqualityAgreesWithBruteForce) {
  int numYes = 0;
  for (int round = 0; round < 1500; ++round) {
    Layout first = randomLayout(random);
    // Rewritten through its digits, and sometimes perturbed.
    Layout second = first;
    if (const std::optional<DigitForm> &form = DigitForm::of(first)) {
      llvm::SmallVector<IndexExpr> outputs;
      for (const DigitSum &sum : form->getSums())
        outputs.push_back(form->toExpr(sum));
      if (random.oneIn(2))
        outputs[0] = outputs[0] + floorDiv(IndexExpr::dim(0), random.uniform(1, 40));
      second = Layout::get(first.getShape(), outputs);
    }
    bool expected = true;
    forEachIndex(first.getShape(), [&](ArrayRef<int64_t> index) {
      expected &= *first.map(index) == *second.map(index);
    });
    Answer<Difference> answer = isEqual(first, second);
    ASSERT_FALSE(answer.isUnknown());
    ASSERT_EQ(answer.isYes(), expected) << first.str() << " and " << second.str();
    numYes += expected;
    if (!expected)
      EXPECT_EQ(*first.map(answer.getCounterexample().index), answer.getCounterexample().first);
  }
  EXPECT_GT(numYes, 300);
}
TEST_F(QuestionsProperty, AnswersAboutWildExpressionsAreTrue) { // negative, overflowing, odd
  int numAnswered = 0;
  for (int round = 0; round < 5000; ++round) {
    llvm::SmallVector<int64_t> shape = {random.uniform(1, 9), random.uniform(1, 9)};
    llvm::SmallVector<IndexExpr> outputs;
    for (int64_t count = random.uniform(1, 2); count > 0; --count)
      outputs.push_back(randomExpr(random, 2, 0, 3));
    Layout layout = Layout::get(shape, outputs);
    bool overflows = false;
    forEachIndex(shape, [&](ArrayRef<int64_t> index) { overflows |= !layout.map(index); });
    Answer<Collision> injective = isInjective(layout);
    Answer<Hole> covering = covers(layout);
    EXPECT_TRUE(isEqual(layout, simplify(layout)).isYes() || overflows) << layout.str();
    if (overflows)
      continue; // any answer is as good as another, as long as it comes
    std::map<IndexVector, int> images = countImages(layout);
    ASSERT_FALSE(injective.isUnknown()) << layout.str();
    ASSERT_EQ(injective.isYes(), int64_t(images.size()) == shape[0] * shape[1]) << layout.str();
    if (covering.isNo())
      ASSERT_EQ(images.count(covering.getCounterexample().image), 0u) << layout.str();
    numAnswered += !covering.isUnknown();
  }
  EXPECT_GT(numAnswered, 3000);
}
} // namespace
