//===- Ordering.h - scopes and orders of the PTX memory model ---------------------------===//
#ifndef VGPU_MEMORY_ORDERING_H
#define VGPU_MEMORY_ORDERING_H

#include <cstdint>

namespace vgpu {

/// Which threads an operation is ordered with respect to; ordered by inclusion.
enum class MemoryScope : uint8_t { Cta, Cluster, Gpu, Sys };

/// PTX ISA, "Memory consistency model". Weak operations order nothing; all but Weak are "strong".
enum class MemoryOrder : uint8_t { Weak, Volatile, Relaxed, Acquire, Release, AcqRel, SeqCst };

inline bool isAcquire(MemoryOrder order) {
  return order == MemoryOrder::Acquire || order == MemoryOrder::AcqRel ||
         order == MemoryOrder::SeqCst;
}
inline bool isRelease(MemoryOrder order) {
  return order == MemoryOrder::Release || order == MemoryOrder::AcqRel ||
         order == MemoryOrder::SeqCst;
}

} // namespace vgpu

#endif // VGPU_MEMORY_ORDERING_H
