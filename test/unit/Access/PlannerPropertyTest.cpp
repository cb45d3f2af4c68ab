//===- PlannerPropertyTest.cpp - the planner against enumeration ------------------------------===//
//
// Plans of random accesses are never illegal, and as wide as brute force finds possible in 99 of
// 100 cases of each width. The long form (TILEWRIGHT_TEST_LONG) tries at least 100,000 accesses and
// 20,000 of each of the maxima 2, 4 and 8.
//
//===----------------------------------------------------------------------------------------===//

#include "BruteForce.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <map>

using namespace tilewright;
using namespace tilewright::test;

namespace {

struct Tally {
  int64_t cases = 0, maximal = 0;
  std::string example; ///< Of a plan that could be wider.
};

TEST(PlannerProperty, IsLegalAndNearlyAlwaysMaximal) {
  int given = GTEST_FLAG_GET(random_seed);
  uint64_t seed = given ? given : 20261116;
  SCOPED_TRACE("replay with --gtest_random_seed=" + std::to_string(seed));
  SeededRandom random(seed);
  const bool isLong = std::getenv("TILEWRIGHT_TEST_LONG") != nullptr;
  const int64_t wantedCases = isLong ? 100'000 : 3'000, wantedOfClass = isLong ? 20'000 : 300;

  std::map<int64_t, Tally> tallies; // by maximum
  int64_t cases = 0;
  auto isEnough = [&] {
    return cases >= wantedCases && tallies[2].cases >= wantedOfClass &&
           tallies[4].cases >= wantedOfClass && tallies[8].cases >= wantedOfClass;
  };
  for (; !isEnough() && cases < 20 * wantedCases; ++cases) {
    RandomAccess access = makeRandomAccess(random);
    access::Plan plan = access::planAccess(access.getRequest());
    BruteForce truth(access);
    ASSERT_EQ(truth.findFault(plan), "") << "case " << cases << ", width " << plan.width << "\n"
                                         << access.str();
    std::optional<int64_t> maximum = truth.getMaximum();
    if (!maximum)
      continue; // the samples do not decide it
    ASSERT_LE(plan.width, *maximum) << "case " << cases << "\n" << access.str();
    Tally &tally = tallies[*maximum];
    ++tally.cases;
    if (plan.width == *maximum)
      ++tally.maximal;
    else
      tally.example = "case " + std::to_string(cases) + ", width " + std::to_string(plan.width) +
                      " (" + plan.refusal + ")\n" + access.str();
  }
  ASSERT_TRUE(isEnough());
  for (auto &[maximum, tally] : tallies) {
    std::printf("maximum %2lld: %lld of %lld maximal\n", (long long)maximum,
                (long long)tally.maximal, (long long)tally.cases);
    if (tally.cases >= wantedOfClass) // fewer say little about one in a hundred
      EXPECT_GE(tally.maximal * 100, tally.cases * 99) << "maximum " << maximum << "\n"
                                                       << tally.example;
  }
}

} // namespace
