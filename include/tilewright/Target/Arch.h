//===- Arch.h - what each GPU architecture has --------------------------------------*- C++ -*-===//
//
// Facts of architectures live here and nowhere else: limits, and which instructions exist. Sources:
// CUDA C++ Programming Guide, "Compute Capabilities"; PTX ISA, the "Target ISA Notes" of each
// instruction.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TARGET_ARCH_H
#define TILEWRIGHT_TARGET_ARCH_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tilewright {

/// The lanes of a warp, on every architecture.
inline constexpr int64_t kWarpSize = 32;

/// The most blocks of a grid in x, y and z, on every architecture.
inline constexpr int64_t kMaxGrid[] = {0x7fffffff, 0xffff, 0xffff};

struct Arch {
  llvm::StringLiteral name;        ///< As users and ptxas spell it.
  llvm::StringLiteral ptxFeatures; ///< LLVM's feature string: the PTX version we write.
  int64_t version;                 ///< 80, 90.
  int64_t maxSharedBytes;          ///< Dynamic shared memory of one block.
  int64_t maxStaticSharedBytes;    ///< Without opting in to more.
  int64_t maxThreads;              ///< Of one block.
  bool hasAsyncCopy;               ///< cp.async
  bool hasVectorRed;               ///< red.global.add.v2/v4.f32
  bool hasBf16Atomics;             ///< atom.add.noftz.bf16(x2)
  bool hasWgmma = false;           ///< wgmma.mma_async
};

/// The architecture of this name, or null.
const Arch *findArch(llvm::StringRef name);
/// The newest architecture whose code a device of this version (80, 89, 120) runs, or null.
const Arch *findNewestArch(int64_t version);
/// `sm_80, sm_90, sm_90a`: for messages.
llvm::StringRef getArchNames();

} // namespace tilewright

#endif // TILEWRIGHT_TARGET_ARCH_H
