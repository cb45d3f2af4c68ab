//===- CpuFeatures.h - which instructions a processor has ---------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_RT_CPUFEATURES_H
#define TILEWRIGHT_RT_CPUFEATURES_H

#include <array>
#include <cstdint>

namespace tilewright::rt {

/// The bits of `cpuid` and `xgetbv` that tell what instructions may be used. Code that needs some of
/// them runs on every processor that has all of these, whoever made it.
struct CpuFeatures {
  /// The numbers of the words are written into libraries: new ones are added at the end.
  enum Word : unsigned {
    Leaf1Ecx,
    Leaf1Edx,
    Leaf7Ebx,
    Leaf7Ecx,
    Leaf7Edx,
    Leaf7Sub1Eax,
    Leaf7Sub1Edx,
    ExtendedEcx, ///< Leaf 0x80000001.
    ExtendedEdx,
    Extended8Ebx, ///< Leaf 0x80000008.
    LeafDSub1Eax,
    Leaf19Ebx,
    Xcr0, ///< What state the system saves.
    kNumWords
  };
  std::array<uint32_t, kNumWords> words{};

  bool operator==(const CpuFeatures &) const = default;
  bool hasAll(const CpuFeatures &needed) const;

  /// This machine, without the matrix unit (AMX) if the system does not let this process use it.
  /// TILEWRIGHT_CPU=avx2 leaves AVX-512 out too.
  static CpuFeatures detect();
  /// The levels that compilers call x86-64-v3 (AVX2, FMA, F16C) and x86-64-v4 (AVX-512 F, BW, CD,
  /// DQ, VL).
  static CpuFeatures getLevel3();
  static CpuFeatures getLevel4();

private:
  void removeTiles();
};

/// The size of a core's second cache; 1 MiB where the processor does not say.
int64_t getSecondCacheBytes();

} // namespace tilewright::rt

#endif // TILEWRIGHT_RT_CPUFEATURES_H
