//===- GlobalMemory.h - allocations of global memory ------------------------------------===//
//
// Each allocation is host memory (borrowed or owned) with a device address. Allocations are far
// apart, so an access that leaves one can be named: so many bytes past its end. A freed
// allocation keeps its address range, and touching it is use after free.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_MEMORY_GLOBALMEMORY_H
#define VGPU_MEMORY_GLOBALMEMORY_H

#include "vgpu/Memory/AddressMap.h"
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace vgpu {

struct Allocation {
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
  uint8_t *host = nullptr;
  std::string name;
  bool isFromHeap = false; ///< the kernel called malloc
  bool isFreed = false;

  bool contains(uint64_t first, uint64_t bytes) const {
    return first >= address && bytes <= sizeBytes && first - address <= sizeBytes - bytes;
  }
};

class GlobalMemory {
public:
  /// Registers host memory the caller keeps alive. Returns its device address.
  uint64_t add(void *host, uint64_t sizeBytes, std::string name);
  /// As `add`, but the same host memory registered before keeps its address.
  uint64_t addOnce(void *host, uint64_t sizeBytes, std::string name);
  /// Memory of the kernel's own, for its malloc: zeroed.
  uint64_t allocate(uint64_t sizeBytes, std::string name);
  /// Zeroed memory at a given address below `globalBase`. Returns the host's.
  uint8_t *allocateAt(uint64_t address, uint64_t sizeBytes, std::string name);
  void free(uint64_t address);
  /// What an allocation of the kernel's malloc takes of the heap.
  static uint64_t heapBytesOf(uint64_t sizeBytes) { return std::max<uint64_t>(sizeBytes, 128); }
  /// Bytes that the kernel's malloc has taken of the heap and free has not given back.
  uint64_t heapInUse() const { return inUse; }

  /// The contents of all allocations, to go back to.
  using Contents = std::vector<std::vector<uint8_t>>;
  Contents save() const;
  void restore(const Contents &contents);

  /// The allocation that holds [address, address + bytes), or null.
  const Allocation *find(uint64_t address, uint64_t bytes) const;
  /// The allocation nearest below `address`, for messages; null if there is none.
  const Allocation *nearest(uint64_t address) const;
  const std::vector<Allocation> &allocations() const { return list; }

private:
  std::vector<Allocation> list; ///< sorted by address, since addresses only grow
  std::map<uint64_t, std::unique_ptr<uint8_t[]>> owned; ///< by address
  uint64_t nextAddress = globalBase;
  uint64_t inUse = 0, numFreed = 0;
};

} // namespace vgpu

#endif // VGPU_MEMORY_GLOBALMEMORY_H
