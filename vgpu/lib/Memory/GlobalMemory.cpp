//===- GlobalMemory.cpp - allocations of global memory ----------------------------------===//
#include "vgpu/Memory/GlobalMemory.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace vgpu {

/// So many freed allocations are remembered.
static constexpr uint64_t maxFreed = 1 << 16;

/// Allocations start at multiples of this (as cudaMalloc's do) and are at least as far apart.
static constexpr uint64_t granule = 1 << 16;

uint64_t GlobalMemory::add(void *host, uint64_t sizeBytes, std::string name) {
  Allocation allocation;
  allocation.address = nextAddress;
  allocation.sizeBytes = sizeBytes;
  allocation.host = static_cast<uint8_t *>(host);
  allocation.name = std::move(name);
  nextAddress += (sizeBytes + 2 * granule - 1) / granule * granule;
  list.push_back(std::move(allocation));
  return list.back().address;
}

uint64_t GlobalMemory::addOnce(void *host, uint64_t sizeBytes, std::string name) {
  for (const Allocation &allocation : list)
    if (allocation.host == host && allocation.sizeBytes == sizeBytes && sizeBytes > 0)
      return allocation.address;
  return add(host, sizeBytes, std::move(name));
}

uint64_t GlobalMemory::allocate(uint64_t sizeBytes, std::string name) {
  auto memory = std::make_unique<uint8_t[]>(sizeBytes ? sizeBytes : 1);
  uint64_t address = add(memory.get(), sizeBytes, std::move(name));
  owned[address] = std::move(memory);
  list.back().isFromHeap = true;
  inUse += heapBytesOf(sizeBytes);
  return address;
}

uint8_t *GlobalMemory::allocateAt(uint64_t address, uint64_t sizeBytes, std::string name) {
  std::unique_ptr<uint8_t[]> &memory = owned[address];
  memory = std::make_unique<uint8_t[]>(sizeBytes ? sizeBytes : 1);
  Allocation allocation;
  allocation.address = address;
  allocation.sizeBytes = sizeBytes;
  allocation.host = memory.get();
  allocation.name = std::move(name);
  auto above = std::upper_bound(
      list.begin(), list.end(), address,
      [](uint64_t value, const Allocation &other) { return value < other.address; });
  list.insert(above, std::move(allocation));
  return memory.get();
}

void GlobalMemory::free(uint64_t address) {
  auto *allocation = const_cast<Allocation *>(nearest(address));
  if (!allocation || allocation->address != address || allocation->isFreed)
    return;
  allocation->isFreed = true;
  inUse -= allocation->isFromHeap ? heapBytesOf(allocation->sizeBytes) : 0;
  owned.erase(address); // only its address is kept, to tell who uses it
  allocation->host = nullptr;
  if (++numFreed < maxFreed)
    return;
  // The oldest half is forgotten: using it is then an access to no allocation.
  uint64_t numForgotten = maxFreed / 2;
  llvm::erase_if(list, [&](const Allocation &old) {
    bool isForgotten = old.isFreed && numForgotten > 0;
    numForgotten -= isForgotten;
    return isForgotten;
  });
  numFreed -= maxFreed / 2;
}

GlobalMemory::Contents GlobalMemory::save() const {
  Contents contents;
  for (const Allocation &allocation : list)
    contents.emplace_back(allocation.host, allocation.host + allocation.sizeBytes);
  return contents;
}

void GlobalMemory::restore(const Contents &contents) {
  for (size_t i = 0; i < list.size(); ++i)
    std::copy(contents[i].begin(), contents[i].end(), list[i].host);
}

const Allocation *GlobalMemory::nearest(uint64_t address) const {
  auto above = std::upper_bound(
      list.begin(), list.end(), address,
      [](uint64_t value, const Allocation &allocation) { return value < allocation.address; });
  return above == list.begin() ? nullptr : &*std::prev(above);
}

const Allocation *GlobalMemory::find(uint64_t address, uint64_t bytes) const {
  const Allocation *below = nearest(address);
  return below && below->contains(address, bytes) && !below->isFreed ? below : nullptr;
}

} // namespace vgpu
