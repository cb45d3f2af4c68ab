//===- Arch.cpp - what each GPU architecture has ---------------------------------------------===//
//
// Limits: CUDA programming guide, "Technical Specifications per Compute Capability", and NVIDIA's
// libcu++ (cuda/__device/arch_traits.h), which has the same for all of these. The PTX version is the
// lowest that knows the architecture and the instructions we write for it: 8.4 has mma of 8-bit floats
// (sm_89), 8.6 sm_100, 8.7 sm_120, 8.8 sm_103 and sm_121, 9.0 sm_110.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Target/Arch.h"

namespace tilewright {

/// Shared memory of a processor in KB, its threads and its blocks.
static constexpr Arch makeArch(llvm::StringLiteral name, llvm::StringLiteral ptxFeatures,
                               int64_t version, int64_t sharedKilobytes, int64_t threads,
                               int64_t blocks) {
  return {name,
          ptxFeatures,
          version,
          (sharedKilobytes - 1) * 1024,
          48 * 1024,
          1024,
          sharedKilobytes * 1024,
          threads,
          blocks,
          /*hasAsyncCopy=*/true,
          /*hasVectorRed=*/version >= 90,
          /*hasBf16Atomics=*/version >= 90,
          /*hasFp8=*/version >= 89,
          /*hasBulkCopies=*/version >= 90,
          /*hasWgmma=*/false};
}

static constexpr Arch withWgmma(Arch arch) {
  arch.hasWgmma = true;
  return arch;
}

static constexpr Arch kArchs[] = {
    makeArch("sm_80", "+ptx80", 80, 164, 2048, 32),
    makeArch("sm_86", "+ptx80", 86, 100, 1536, 16),
    makeArch("sm_87", "+ptx80", 87, 164, 1536, 16),
    makeArch("sm_89", "+ptx84", 89, 100, 1536, 24),
    makeArch("sm_90", "+ptx84", 90, 228, 2048, 32),
    withWgmma(makeArch("sm_90a", "+ptx84", 90, 228, 2048, 32)),
    makeArch("sm_100", "+ptx86", 100, 228, 2048, 32),
    makeArch("sm_103", "+ptx88", 103, 228, 2048, 32),
    makeArch("sm_110", "+ptx90", 110, 228, 1536, 24),
    makeArch("sm_120", "+ptx87", 120, 100, 1536, 24),
    makeArch("sm_121", "+ptx88", 121, 100, 1536, 24),
};

const Arch *findArch(llvm::StringRef name) {
  for (const Arch &arch : kArchs)
    if (arch.name == name)
      return &arch;
  return nullptr;
}

const Arch *findNewestArch(int64_t version) {
  const Arch *newest = nullptr;
  for (const Arch &arch : kArchs)
    if (arch.name.ends_with("a") ? arch.version == version : arch.version <= version)
      newest = &arch;
  return newest;
}

llvm::StringRef getArchNames() {
  return "sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100, sm_103, sm_110, sm_120, sm_121";
}

} // namespace tilewright
