//===- CpuFeatures.cpp - which instructions a processor has -----------------------------------===//
//
// Intel's manual, volume 2, CPUID; AMD's manual, volume 3, appendix E; the x86-64 psABI's table of
// levels.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Rt/CpuFeatures.h"
#include "tilewright/Rt/TileUnit.h"
#include "tilewright/Support/Environment.h"

#include <cpuid.h>
#include <initializer_list>

namespace tilewright::rt {

static constexpr uint32_t bits(std::initializer_list<unsigned> positions) {
  uint32_t word = 0;
  for (unsigned position : positions)
    word |= uint32_t(1) << position;
  return word;
}

/// Bits that say nothing about instructions a compiler uses: the machine is virtual, its cores
/// differ, what the system may do about side channels and power.
static constexpr uint32_t kNotCode1Ecx =
    bits({2, 3, 4, 5, 6, 7, 8, 10, 11, 14, 15, 17, 18, 21, 24, 31});
static constexpr uint32_t kNotCode1Edx =
    bits({1, 3, 6, 7, 9, 12, 14, 17, 18, 20, 21, 22, 27, 28, 29, 30, 31});
static constexpr uint32_t kNotCode7Ebx = bits({1, 6, 7, 12, 13, 15, 20, 22, 25});
static constexpr uint32_t kNotCodeExtendedEcx =
    bits({1, 2, 3, 9, 10, 12, 13, 17, 22, 23, 24, 26, 28, 30});
static constexpr uint32_t kNotCode7Edx =
    bits({9, 10, 11, 13, 15, 18, 19, 20, 26, 27, 28, 29, 30, 31});
static constexpr uint32_t kCode80000008Ebx = bits({0, 4, 9});

bool CpuFeatures::hasAll(const CpuFeatures &needed) const {
  for (unsigned word = 0; word < kNumWords; ++word)
    if (needed.words[word] & ~words[word])
      return false;
  return true;
}

static uint32_t readXcr0() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static CpuFeatures detectAll() {
  CpuFeatures found;
  auto &w = found.words;
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d))
    return found;
  w[CpuFeatures::Leaf1Ecx] = c & ~kNotCode1Ecx;
  w[CpuFeatures::Leaf1Edx] = d & ~kNotCode1Edx;
  if (c & bits({27})) // xgetbv may be used
    w[CpuFeatures::Xcr0] = readXcr0();
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    w[CpuFeatures::Leaf7Ebx] = b & ~kNotCode7Ebx;
    w[CpuFeatures::Leaf7Ecx] = c;
    w[CpuFeatures::Leaf7Edx] = d & ~kNotCode7Edx;
  }
  if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) {
    w[CpuFeatures::Leaf7Sub1Eax] = a;
    w[CpuFeatures::Leaf7Sub1Edx] = d;
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) {
    w[CpuFeatures::ExtendedEcx] = c & ~kNotCodeExtendedEcx;
    w[CpuFeatures::ExtendedEdx] = d;
  }
  if (__get_cpuid(0x80000008, &a, &b, &c, &d))
    w[CpuFeatures::Extended8Ebx] = b & kCode80000008Ebx;
  if (__get_cpuid_count(0xd, 1, &a, &b, &c, &d))
    w[CpuFeatures::LeafDSub1Eax] = a;
  if (__get_cpuid(0x19, &a, &b, &c, &d))
    w[CpuFeatures::Leaf19Ebx] = b;
  return found;
}

void CpuFeatures::removeTiles() {
  words[Leaf7Edx] &= ~bits({22, 24, 25}); // AMX-BF16, AMX-TILE, AMX-INT8
  words[Leaf7Sub1Eax] &= ~bits({21});     // AMX-FP16
  words[Leaf7Sub1Edx] &= ~bits({8});      // AMX-COMPLEX
  words[Xcr0] &= ~bits({17, 18});
}

CpuFeatures CpuFeatures::detect() {
  static const CpuFeatures all = detectAll();
  CpuFeatures found = all;
  std::string_view choice = environment::getText(environment::Variable::Cpu);
  if (choice == "avx2" || choice == "no-amx" || !mayUseTileUnit())
    found.removeTiles();
  if (choice != "avx2")
    return found;
  found.words[Leaf7Ebx] &= ~bits({16, 17, 21, 26, 27, 28, 30, 31});
  found.words[Leaf7Ecx] &= ~bits({1, 6, 11, 12, 14});
  found.words[Leaf7Edx] &= ~bits({2, 3, 8, 23});
  found.words[Leaf7Sub1Eax] &= ~bits({5});
  found.words[Leaf7Sub1Edx] &= ~bits({19});
  found.words[Xcr0] &= ~bits({5, 6, 7});
  return found;
}

int64_t getSecondCacheBytes() {
  constexpr unsigned intelLeaf = 4, amdLeaf = 0x8000001d; // the same words of each cache
  for (unsigned leaf : {intelLeaf, amdLeaf})
    for (unsigned number = 0; number < 16; ++number) {
      uint32_t a, b, c, d;
      if (!__get_cpuid_count(leaf, number, &a, &b, &c, &d) || (a & 31) == 0)
        break;
      bool isForData = (a & 31) != 2;
      if ((a >> 5 & 7) == 2 && isForData) // ways x partitions x bytes of a line x sets
        return int64_t((b >> 22) + 1) * ((b >> 12 & 1023) + 1) * ((b & 4095) + 1) * (c + 1);
    }
  return int64_t(1) << 20;
}

CpuFeatures CpuFeatures::getLevel3() {
  CpuFeatures level;
  // SSE3, SSSE3, FMA, CX16, SSE4.1, SSE4.2, MOVBE, POPCNT, OSXSAVE, AVX, F16C
  level.words[Leaf1Ecx] = bits({0, 9, 12, 13, 19, 20, 22, 23, 27, 28, 29}) & ~kNotCode1Ecx;
  level.words[Leaf7Ebx] = bits({3, 5, 8}); // BMI1, AVX2, BMI2
  level.words[ExtendedEcx] = bits({0, 5}); // LAHF, LZCNT
  level.words[Xcr0] = bits({1, 2});        // the halves of 256-bit registers
  return level;
}

CpuFeatures CpuFeatures::getLevel4() {
  CpuFeatures level = getLevel3();
  level.words[Leaf7Ebx] |= bits({16, 17, 28, 30, 31}); // AVX-512 F, DQ, CD, BW, VL
  level.words[Xcr0] |= bits({5, 6, 7});
  return level;
}

} // namespace tilewright::rt
