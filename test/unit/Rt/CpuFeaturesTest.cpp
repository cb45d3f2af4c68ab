//===- CpuFeaturesTest.cpp - what the processor says, against the compiler and the system -----===//

#include "tilewright/Rt/CpuFeatures.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <fstream>

using namespace tilewright::rt;
using W = CpuFeatures;

TEST(CpuFeaturesTest, TheProcessorHasWhatTheCompilersRuntimeSees) {
  CpuFeatures found = CpuFeatures::detect();
#define EXPECT_FEATURE(NAME, WORD, BIT)                                                            \
  EXPECT_EQ((found.words[W::WORD] >> (BIT) & 1) != 0, __builtin_cpu_supports(NAME) != 0) << (NAME)
  EXPECT_FEATURE("sse3", Leaf1Ecx, 0);
  EXPECT_FEATURE("ssse3", Leaf1Ecx, 9);
  EXPECT_FEATURE("fma", Leaf1Ecx, 12);
  EXPECT_FEATURE("sse4.2", Leaf1Ecx, 20);
  EXPECT_FEATURE("avx", Leaf1Ecx, 28);
  EXPECT_FEATURE("sse2", Leaf1Edx, 26);
  EXPECT_FEATURE("bmi", Leaf7Ebx, 3);
  EXPECT_FEATURE("avx2", Leaf7Ebx, 5);
  EXPECT_FEATURE("bmi2", Leaf7Ebx, 8);
  EXPECT_FEATURE("avx512f", Leaf7Ebx, 16);
  EXPECT_FEATURE("avx512vl", Leaf7Ebx, 31);
  EXPECT_FEATURE("avx512vbmi", Leaf7Ecx, 1);
  EXPECT_FEATURE("avx512vnni", Leaf7Ecx, 11);
  EXPECT_FEATURE("avx512vp2intersect", Leaf7Edx, 8);
  EXPECT_FEATURE("avx512bf16", Leaf7Sub1Eax, 5);
  EXPECT_FEATURE("lzcnt", ExtendedEcx, 5);
  EXPECT_FEATURE("sse4a", ExtendedEcx, 6);
#undef EXPECT_FEATURE
  EXPECT_EQ(found.hasAll(CpuFeatures::getLevel3()), __builtin_cpu_supports("x86-64-v3") != 0);
  EXPECT_EQ(found.hasAll(CpuFeatures::getLevel4()), __builtin_cpu_supports("x86-64-v4") != 0);
}

TEST(CpuFeaturesTest, ALevelNeedsEachOfItsBits) {
  for (const CpuFeatures &level : {CpuFeatures::getLevel3(), CpuFeatures::getLevel4()}) {
    unsigned numBits = 0;
    EXPECT_TRUE(level.hasAll(level));
    for (unsigned bit = 0; bit < W::kNumWords * 32; ++bit) {
      CpuFeatures less = level;
      less.words[bit / 32] &= ~(uint32_t(1) << bit % 32);
      EXPECT_EQ(less.hasAll(level), less == level) << bit;
      EXPECT_TRUE(level.hasAll(less));
      numBits += !(less == level);
    }
    EXPECT_GE(numBits, 16u);
  }
  EXPECT_TRUE(CpuFeatures::getLevel4().hasAll(CpuFeatures::getLevel3()));
  EXPECT_FALSE(CpuFeatures::getLevel3().hasAll(CpuFeatures::getLevel4()));
}

TEST(CpuFeaturesTest, WaysToSaveRegistersAreTheSystems) {
  std::string flags, line;
  for (std::ifstream file("/proc/cpuinfo"); flags.empty() && std::getline(file, line);)
    if (line.starts_with("flags"))
      flags = line + " ";
  for (auto [bit, name] : {std::pair(0, " xsaveopt "), {1, " xsavec "}, {3, " xsaves "}})
    EXPECT_EQ(CpuFeatures::detect().words[W::LeafDSub1Eax] >> bit & 1,
              flags.find(name) != std::string::npos)
        << name;
}

TEST(CpuFeaturesTest, WideRegistersNeedASystemThatKeepsThem) {
  EXPECT_EQ(CpuFeatures::getLevel3().words[W::Xcr0], 0b110u); // both halves of 256 bits
}

TEST(CpuFeaturesTest, AUserMayAskForLess) {
  ASSERT_EQ(setenv("TILEWRIGHT_CPU", "avx2", 1), 0);
  CpuFeatures less = CpuFeatures::detect();
  unsetenv("TILEWRIGHT_CPU");
  CpuFeatures found = CpuFeatures::detect();
  EXPECT_EQ(less.words[W::Leaf7Ebx] >> 16 & 1, 0u); // AVX-512
  EXPECT_EQ(less.words[W::Xcr0] & 0b11100000, 0u);  // and its registers
  EXPECT_EQ(less.words[W::Xcr0] & 0b110, found.words[W::Xcr0] & 0b110);
  EXPECT_TRUE(found.hasAll(less));
}

TEST(CpuFeaturesTest, TheSecondCacheIsTheSystems) {
  for (int number = 0; number < 8; ++number) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(number) + "/";
    int level = 0, size = 0;
    std::string type;
    std::ifstream(folder + "level") >> level;
    std::ifstream(folder + "type") >> type;
    std::ifstream(folder + "size") >> size; // "1024K"
    if (level == 2 && type != "Instruction" && size) {
      EXPECT_EQ(getSecondCacheBytes(), int64_t(size) * 1024);
      return;
    }
  }
  GTEST_SKIP() << "the system does not say";
}
