//===- LaneMemory.cpp - from the addresses of a warp to host memory --------------------------===//
#include "vgpu/Exec/LaneMemory.h"
#include "llvm/Support/FormatVariadic.h"

using vgpu::ptx::Space;

namespace vgpu {

void computeAddresses(Warp &warp, const Slot &base, int64_t offset, uint64_t *address) {
  if (base.bytes == 8) {
    const uint64_t *row = warp.row<uint64_t>(base);
    for (unsigned i = 0; i < warpSize; ++i)
      address[i] = row[i] + static_cast<uint64_t>(offset);
  } else {
    const uint32_t *row = warp.row<uint32_t>(base);
    for (unsigned i = 0; i < warpSize; ++i)
      address[i] = static_cast<uint32_t>(row[i] + static_cast<uint32_t>(offset));
  }
}

/// What is done to memory, as a participle.
static llvm::StringRef participleOf(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
  case AccessKind::AsyncRead:
    return "read";
  case AccessKind::Write:
  case AccessKind::AsyncWrite:
    return "written";
  case AccessKind::Atomic:
    return "updated atomically";
  }
  return "touched";
}

static llvm::StringRef verbOf(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
    return "read";
  case AccessKind::Write:
    return "write";
  case AccessKind::Atomic:
    return "atomic";
  case AccessKind::AsyncRead:
    return "asynchronous read";
  case AccessKind::AsyncWrite:
    return "asynchronous write";
  }
  return "access";
}

/// A linear piece of memory that is not a global allocation.
struct Region {
  uint8_t *data;
  uint64_t size;
};

static Region regionOf(Warp &warp, Block &block, Space space, unsigned lane) {
  bool isShadow = warp.isShadowPass;
  switch (space) {
  case Space::Shared:
    return {isShadow ? block.sharedShadow.data() : block.shared.data(), block.shared.size()};
  case Space::Local: {
    uint64_t size = warp.launch->program->localBytes;
    uint64_t begin = size * (warp.index * warpSize + lane);
    return {(isShadow ? block.localShadow.data() : block.local.data()) + begin, size};
  }
  case Space::Const:
    return {warp.launch->constants.data(), warp.launch->constants.size()};
  case Space::Param:
    return {warp.launch->params.data(), warp.launch->params.size()};
  default:
    return {nullptr, 0};
  }
}

static void reportFault(Warp &warp, const Inst &inst, unsigned lane, Space space, uint64_t address,
                        unsigned bytes, unsigned align, AccessKind kind, uint64_t size) {
  if (warp.isShadowPass || !warp.launch->config.checks.has(Check::MemoryFault))
    return;
  const Allocation *below =
      space == Space::Global ? warp.launch->memory->nearest(address) : nullptr;
  FindingKind what = address % align != 0      ? FindingKind::Misaligned
                     : below && below->isFreed ? FindingKind::UseAfterFree
                                               : FindingKind::OutOfBounds;
  if (warp.launch->findings->countRepeat(what, inst.line, 0))
    return;
  std::string where = describeAddress(warp, space, address);
  std::string message;
  if (what == FindingKind::Misaligned) {
    message = llvm::formatv("{0} of {1} bytes at {2} needs an address that is a multiple of {3}",
                            verbOf(kind), bytes, where, align);
  } else if (what == FindingKind::UseAfterFree) {
    message =
        llvm::formatv("{0} of {1} bytes at {2}, which has been freed", verbOf(kind), bytes, where);
  } else if (space == Space::Global) {
    if (!below || address - below->address > below->sizeBytes + (1u << 20))
      where = llvm::formatv("address {0:x}, which no argument contains", address);
    else
      where += llvm::formatv(" (it has {0} bytes)", below->sizeBytes);
    message = llvm::formatv("{0} of {1} bytes at {2}", verbOf(kind), bytes, where);
  } else {
    message = llvm::formatv("{0} of {1} bytes at {2}, {3} memory has {4} bytes", verbOf(kind),
                            bytes, where, ptx::spaceName(space), size);
  }
  report(warp, inst, lane, what, message, /*isNote=*/false,
         touchedAt(warp, space, address, bytes, participleOf(kind)));
}

/// The block of the cluster that an address of shared memory names; null: the address is no such.
static Block *findOwner(Warp &warp, const Inst &inst, unsigned lane, uint64_t address) {
  if (!inst.mayBeRemote)
    return nullptr; // .shared::cta: it faults
  const auto &blocks = warp.block->cluster->blocks;
  uint64_t rank = rankField(address) - 1;
  if (rank >= blocks.size())
    return nullptr;
  if (blocks[rank]->isDone() && !warp.isShadowPass)
    report(warp, inst, lane, FindingKind::InvalidAccess,
           llvm::formatv("shared memory of block {0} of the cluster, which has ended", rank));
  return blocks[rank].get();
}

/// One lane; returns null after reporting a fault.
static uint8_t *resolveLane(Warp &warp, const Inst &inst, unsigned lane, Space space, Block &owner,
                            uint64_t address, unsigned bytes, unsigned align, AccessKind kind,
                            const Allocation *&cached) {
  bool isWrite =
      kind == AccessKind::Write || kind == AccessKind::Atomic || kind == AccessKind::AsyncWrite;
  if (space == Space::Global) {
    if (address % align == 0) {
      if (!cached || !cached->contains(address, bytes))
        cached = warp.launch->memory->find(address, bytes);
      if (cached) {
        // What is in global memory is defined: host data, or checked when it was stored.
        static thread_local uint8_t scratch[256];
        if (warp.isShadowPass)
          return isWrite ? scratch + 128 : scratch;
        return cached->host + (address - cached->address);
      }
    }
    reportFault(warp, inst, lane, space, address, bytes, align, kind, 0);
    return nullptr;
  }
  Region region = regionOf(warp, owner, space, lane);
  bool isConstant = space == Space::Const || space == Space::Param;
  if (isWrite && isConstant) {
    if (!warp.isShadowPass)
      report(warp, inst, lane, FindingKind::InvalidAccess,
             llvm::formatv("{0} to {1} memory", verbOf(kind), ptx::spaceName(space)));
    return nullptr;
  }
  if (address % align != 0 || bytes > region.size || address > region.size - bytes) {
    reportFault(warp, inst, lane, space, address, bytes, align, kind, region.size);
    return nullptr;
  }
  if (warp.isShadowPass && isConstant) {
    static uint8_t zeros[256] = {};
    return zeros;
  }
  return region.data + address;
}

/// Global memory, the common case: all lanes are inside of the allocation of the first, which is
/// tested without a branch per lane. False: they are not, and nothing is resolved.
static bool resolveTogether(Warp &warp, unsigned bytes, unsigned align, uint32_t mask,
                            LaneAddresses &lanes, const Allocation *&allocation) {
  if (mask == 0)
    return true;
  allocation = warp.launch->memory->find(lanes.address[__builtin_ctz(mask)], bytes);
  if (!allocation)
    return false;
  uint64_t limit = allocation->sizeBytes - bytes, lowBits = 0;
  bool isGood = true;
  for (unsigned i = 0; i < warpSize; ++i) {
    bool isActive = mask >> i & 1;
    uint64_t offset = isActive ? lanes.address[i] - allocation->address : 0;
    isGood &= offset <= limit;
    lowBits |= isActive ? lanes.address[i] : 0;
    lanes.host[i] = allocation->host + offset;
  }
  if (!isGood || lowBits % align != 0)
    return false;
  lanes.mask = mask;
  return true;
}

void resolve(Warp &warp, const Inst &inst, Space space, unsigned bytes, AccessKind kind,
             uint32_t mask, LaneAddresses &lanes, unsigned alignBytes) {
  unsigned align = alignBytes ? alignBytes : bytes;
  lanes.space = space;
  lanes.isMixed = lanes.isRemote = false;
  lanes.mask = 0;
  if (space == Space::Shared) {
    // The common case without branches per lane.
    Region region = regionOf(warp, *warp.block, space, 0);
    uint64_t limit = region.size >= bytes ? region.size - bytes : 0;
    bool isGood = region.size >= bytes;
    uint64_t lowBits = 0;
    // A number: there may be no memory, and addresses are checked afterwards.
    auto start = reinterpret_cast<uintptr_t>(region.data);
    for (unsigned i = 0; i < warpSize; ++i) {
      bool isActive = mask >> i & 1;
      uint64_t address = isActive ? lanes.address[i] : 0;
      isGood &= address <= limit;
      lowBits |= address;
      lanes.host[i] = reinterpret_cast<uint8_t *>(start + address);
    }
    if (isGood && lowBits % align == 0) {
      lanes.mask = mask;
      return;
    }
  }
  if (space == Space::Generic) {
    lanes.space = mask ? spaceOfGeneric(lanes.address[__builtin_ctz(mask)]) : Space::Global;
    forEachLane(mask, [&](unsigned lane) {
      lanes.laneSpace[lane] = spaceOfGeneric(lanes.address[lane]);
      lanes.address[lane] -= windowBase(lanes.laneSpace[lane]);
      lanes.isMixed |= lanes.laneSpace[lane] != lanes.space;
    });
  }
  const Allocation *cached = nullptr;
  if (lanes.space == Space::Global && !lanes.isMixed && !warp.isShadowPass &&
      resolveTogether(warp, bytes, align, mask, lanes, cached))
    return;
  forEachLane(mask, [&](unsigned lane) {
    Space own = lanes.isMixed ? lanes.laneSpace[lane] : lanes.space;
    lanes.owner[lane] = warp.block;
    if (own == Space::Shared && rankField(lanes.address[lane]))
      if (Block *owner = findOwner(warp, inst, lane, lanes.address[lane])) {
        lanes.owner[lane] = owner;
        lanes.isRemote |= owner != warp.block;
        lanes.address[lane] = withoutRank(lanes.address[lane]);
      }
    lanes.host[lane] = resolveLane(warp, inst, lane, own, *lanes.owner[lane], lanes.address[lane],
                                   bytes, align, kind, cached);
    if (lanes.host[lane])
      lanes.mask |= 1u << lane;
  });
}

void notify(Warp &warp, const Inst &inst, AccessKind kind, unsigned bytes,
            const LaneAddresses &lanes, const uint8_t *values) {
  if (warp.isShadowPass || !warp.launch->isObserved() || lanes.mask == 0)
    return;
  MemoryAccess access{warp,
                      inst,
                      lanes.space,
                      kind,
                      lanes.mask,
                      bytes,
                      lanes.address,
                      lanes.host,
                      values,
                      static_cast<MemoryOrder>(inst.order),
                      static_cast<MemoryScope>(inst.scope)};
  auto tell = [&] {
    for (Observer *observer : warp.launch->observers)
      observer->onAccess(access);
  };
  if (!lanes.isMixed && !lanes.isRemote)
    return tell();
  // Lanes of one space, and of one block's shared memory, belong together.
  auto isAlike = [&](unsigned a, unsigned b) {
    return (!lanes.isMixed || lanes.laneSpace[a] == lanes.laneSpace[b]) &&
           &lanes.ownerOf(warp, a) == &lanes.ownerOf(warp, b);
  };
  for (uint32_t rest = lanes.mask; rest;) {
    unsigned first = static_cast<unsigned>(__builtin_ctz(rest));
    access.mask = 0;
    forEachLane(rest, [&](unsigned lane) {
      access.mask |= static_cast<uint32_t>(isAlike(first, lane)) << lane;
    });
    access.space = lanes.isMixed ? lanes.laneSpace[first] : lanes.space;
    access.owner = &lanes.ownerOf(warp, first);
    tell();
    rest &= ~access.mask;
  }
}

void notifyOne(Warp &warp, const Inst &inst, Space space, AccessKind kind, AccessBy by,
               unsigned lane, uint64_t address, unsigned bytes, MemoryOrder order,
               MemoryScope scope, Block *owner) {
  if (!warp.launch->isObserved())
    return;
  uint64_t addresses[warpSize] = {};
  uint8_t *host[warpSize] = {};
  addresses[lane] = address;
  MemoryAccess access{warp, inst,    space, kind,  1u << lane, bytes, addresses,
                      host, nullptr, order, scope, by,         false, owner};
  for (Observer *observer : warp.launch->observers)
    observer->onAccess(access);
}

} // namespace vgpu
