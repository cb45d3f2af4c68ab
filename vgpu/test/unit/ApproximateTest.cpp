//===- ApproximateTest.cpp - fast functions within the errors that the PTX ISA documents ------===//
#include "KernelHarness.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace vgpu::test;

namespace {

constexpr float infinity = INFINITY;

/// A bound on the error, relative to the result or absolute, for arguments of [low, high].
struct Case {
  const char *opcode;
  long double (*model)(long double);
  float low, high;
  double bound;
  bool isRelative;
  std::vector<std::pair<float, float>> corners; ///< exact, from the ISA's tables; NAN: any NaN
};

const Case cases[] = {
    {"rcp.approx.f32",
     [](long double x) { return 1 / x; },
     1e-30f,
     1e30f,
     0x1p-23,
     true,
     {{infinity, 0.0f}, {-infinity, -0.0f}, {0.0f, infinity}, {-0.0f, -infinity}, {NAN, NAN}}},
    {"sqrt.approx.f32",
     [](long double x) { return sqrtl(x); },
     1e-30f,
     1e30f,
     0x1p-23,
     true,
     {{infinity, infinity}, {0.0f, 0.0f}, {-0.0f, -0.0f}, {-1.0f, NAN}, {-infinity, NAN}}},
    {"rsqrt.approx.f32",
     [](long double x) { return 1 / sqrtl(x); },
     1e-30f,
     1e30f,
     0x1.1p-23,
     true,
     {{infinity, 0.0f}, {0.0f, infinity}, {-0.0f, -infinity}, {-1.0f, NAN}, {NAN, NAN}}},
    {"sin.approx.f32",
     [](long double x) { return sinl(x); },
     -3.14159f,
     3.14159f,
     0x1p-20,
     false,
     {{0.0f, 0.0f}, {-0.0f, -0.0f}, {infinity, NAN}, {-infinity, NAN}, {NAN, NAN}}},
    {"cos.approx.f32",
     [](long double x) { return cosl(x); },
     -3.14159f,
     3.14159f,
     0x1p-20,
     false,
     {{0.0f, 1.0f}, {-0.0f, 1.0f}, {infinity, NAN}, {-infinity, NAN}}},
    {"lg2.approx.f32",
     [](long double x) { return log2l(x); },
     0.5f,
     2.0f,
     0x1p-22,
     false,
     {{0.0f, -infinity}, {-0.0f, -infinity}, {infinity, infinity}, {-1.0f, NAN}, {1.0f, 0.0f}}},
    {"lg2.approx.f32", [](long double x) { return log2l(x); }, 2.0f, 1e30f, 0x1p-22, true, {}},
    {"ex2.approx.f32",
     [](long double x) { return exp2l(x); },
     -120.0f,
     120.0f,
     0x1p-22,
     true,
     {{-infinity, 0.0f}, {infinity, infinity}, {0.0f, 1.0f}, {-0.0f, 1.0f}, {200.0f, infinity}}},
    {"tanh.approx.f32",
     [](long double x) { return tanhl(x); },
     -8.0f,
     8.0f,
     0x1p-11,
     true,
     {{infinity, 1.0f}, {-infinity, -1.0f}, {0.0f, 0.0f}, {-0.0f, -0.0f}, {NAN, NAN}}},
};

/// Arguments over the whole range: by their logarithm where it has one sign.
std::vector<float> argumentsOf(const Case &test) {
  std::mt19937 random(1);
  std::vector<float> arguments;
  for (unsigned i = 0; i < 4000; ++i) {
    double share = std::uniform_real_distribution<>()(random);
    arguments.push_back(static_cast<float>(
        test.low > 0 ? std::exp(std::log(test.low) + share * std::log(double(test.high) / test.low))
                     : test.low + share * (test.high - test.low)));
  }
  return arguments;
}

TEST(Approximate, ErrorsAreWithinTheDocumentedBounds) {
  for (const Case &test : cases) {
    std::vector<float> arguments = argumentsOf(test);
    std::vector<Operands> operands;
    for (float argument : arguments)
      operands.push_back({std::bit_cast<uint32_t>(argument), 0, 0});
    std::vector<uint64_t> results = run({std::string(test.opcode) + " %d, %a;"}, operands);
    for (size_t i = 0; i < arguments.size(); ++i) {
      long double exact = test.model(arguments[i]);
      long double got = std::bit_cast<float>(static_cast<uint32_t>(results[i]));
      long double bound = test.bound * (test.isRelative ? std::abs(exact) : 1.0L);
      ASSERT_LE(std::abs(got - exact), bound) << test.opcode << " " << arguments[i];
    }
  }
}

TEST(Approximate, CornersAreThoseOfTheTables) {
  for (const Case &test : cases) {
    if (test.corners.empty())
      continue;
    std::vector<Operands> operands;
    for (auto [argument, result] : test.corners)
      operands.push_back({std::bit_cast<uint32_t>(argument), 0, 0});
    std::vector<uint64_t> results = run({std::string(test.opcode) + " %d, %a;"}, operands);
    for (size_t i = 0; i < operands.size(); ++i) {
      auto [argument, expected] = test.corners[i];
      float got = std::bit_cast<float>(static_cast<uint32_t>(results[i]));
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(got)) << test.opcode << " " << argument;
      else
        EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(expected))
            << test.opcode << " " << argument;
    }
  }
}

TEST(Approximate, FlushingTakesSubnormalArgumentsForZero) {
  std::vector<Operands> subnormal = {{1, 0, 0}, {0x80000001, 0, 0}};
  EXPECT_EQ(run({"rcp.approx.ftz.f32 %d, %a;"}, subnormal),
            (std::vector<uint64_t>{0x7f800000, 0xff800000}));
  EXPECT_EQ(run({"rsqrt.approx.ftz.f32 %d, %a;"}, subnormal),
            (std::vector<uint64_t>{0x7f800000, 0xff800000}));
  EXPECT_EQ(run({"lg2.approx.ftz.f32 %d, %a;"}, subnormal),
            (std::vector<uint64_t>{0xff800000, 0xff800000}));
  EXPECT_EQ(run({"sqrt.approx.ftz.f32 %d, %a;"}, subnormal),
            (std::vector<uint64_t>{0, 0x80000000}));
}

} // namespace
