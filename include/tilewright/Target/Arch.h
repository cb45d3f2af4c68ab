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

/// The 32-bit registers of a multiprocessor, on every architecture.
inline constexpr int64_t kRegistersPerProcessor = 65536;

struct Arch {
  llvm::StringLiteral name;        ///< As users and ptxas spell it.
  llvm::StringLiteral ptxFeatures; ///< LLVM's feature string: the PTX version we write.
  int64_t version;                 ///< 80, 90.
  int64_t maxSharedBytes;          ///< Dynamic shared memory of one block.
  int64_t maxStaticSharedBytes;    ///< Without opting in to more.
  int64_t maxThreads;              ///< Of one block.
  int64_t sharedBytesPerProcessor; ///< Of this, each block takes 1024 bytes more than it needs.
  int64_t threadsPerProcessor;
  int64_t blocksPerProcessor;
  bool hasAsyncCopy;   ///< cp.async
  bool hasVectorRed;   ///< red.global.add.v2/v4.f32
  bool hasBf16Atomics; ///< atom.add.noftz.bf16(x2)
  bool hasFp8;         ///< mma and cvt of e4m3 and e5m2
  bool hasBulkCopies;  ///< TMA, mbarriers with transactions, clusters
  bool hasWgmma;       ///< wgmma.mma_async
};

/// The architecture of this name, or null.
const Arch *findArch(llvm::StringRef name);
/// The newest architecture whose code a device of this version (80, 89, 120) runs, or null. Code for
/// sm_90a runs on devices of exactly 9.0.
const Arch *findNewestArch(int64_t version);
/// `sm_80, sm_86, ...`: for messages.
llvm::StringRef getArchNames();

} // namespace tilewright

#endif // TILEWRIGHT_TARGET_ARCH_H
