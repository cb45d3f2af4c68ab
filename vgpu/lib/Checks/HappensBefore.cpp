//===- HappensBefore.cpp - which accesses are ordered -----------------------------------------===//
#include "vgpu/Checks/HappensBefore.h"
#include "vgpu/Machine/Launch.h"

namespace vgpu {

static void joinClocks(std::vector<uint32_t> &into, const std::vector<uint32_t> &from) {
  if (into.size() < from.size())
    into.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

static void joinFenced(std::array<std::vector<uint32_t>, 2> &into,
                       const std::array<std::vector<uint32_t>, 2> &from) {
  for (size_t space = 0; space < from.size(); ++space)
    if (!from[space].empty())
      joinClocks(into[space], from[space]);
}

void HappensBefore::Knowledge::join(const Knowledge &other) {
  joinClocks(warps, other.warps);
  if (!other.threads.empty())
    joinClocks(threads, other.threads);
  joinFenced(fenced, other.fenced);
  for (const auto &[block, clocks] : other.remote)
    joinClocks(remote[block], clocks);
  for (const auto &[block, clocks] : other.remoteFenced)
    joinFenced(remoteFenced[block], clocks);
}

uint32_t HappensBefore::Knowledge::clockOf(uint32_t warp, uint32_t lane) const {
  uint32_t clock = warp < warps.size() ? warps[warp] : 0;
  size_t thread = size_t(warp) * warpSize + lane;
  return thread < threads.size() ? std::max(clock, threads[thread]) : clock;
}

void HappensBefore::Knowledge::fence(const Knowledge &known, uint32_t numThreads,
                                     ProxySpace space) {
  std::vector<uint32_t> &clocks = fenced[static_cast<unsigned>(space)];
  clocks.resize(std::max<size_t>({clocks.size(), numThreads, known.threads.size()}));
  for (uint32_t i = 0; i < clocks.size(); ++i)
    clocks[i] = std::max(clocks[i], known.clockOf(i / warpSize, i % warpSize));
  for (const auto &[block, remoteClocks] : known.remote)
    joinClocks(remoteFenced[block][static_cast<unsigned>(space)], remoteClocks);
}

void HappensBefore::onBlockStart(Block &block) {
  BlockState &state = blocks[block.linearIndex];
  state.numThreads = static_cast<uint32_t>(block.warps.size()) * warpSize;
  state.warps.resize(block.warps.size());
  for (WarpState &warp : state.warps)
    warp.common.warps.assign(block.warps.size(), 0);
}

void HappensBefore::onBlockEnd(Block &block) {
  blocks.erase(block.linearIndex);
  cachedIndex = ~uint64_t(0);
  // Shared locations of this block are gone; keys of shared memory carry the block.
  std::erase_if(published, [&](const auto &entry) {
    return (entry.first >> 63) && ((entry.first >> 20) & 0x7ffffffffffull) == block.linearIndex;
  });
}

HappensBefore::BlockState &HappensBefore::blockState(uint64_t block) const {
  if (block != cachedIndex) {
    cachedBlock = &blocks.find(block)->second; // references into the map are stable
    cachedIndex = block;
  }
  return *cachedBlock;
}
HappensBefore::WarpState &HappensBefore::stateOf(const Warp &warp) {
  return blockState(warp.block->linearIndex).warps[warp.index];
}
const HappensBefore::WarpState &HappensBefore::stateOf(const Warp &warp) const {
  return blockState(warp.block->linearIndex).warps[warp.index];
}

HappensBefore::View HappensBefore::viewOf(const Warp &warp) const {
  const WarpState &state = stateOf(warp);
  return {state.common.warps, state.now, state.knowsOtherBlocks};
}

uint32_t HappensBefore::strongClock(const Warp &warp, unsigned lane) const {
  const WarpState &state = stateOf(warp);
  const LaneState &own = state.lanes[lane];
  return own.isFenced && state.now == own.fenceClock + 1 ? own.fenceClock : state.now;
}

uint32_t HappensBefore::unordered(const Stamp &stamp, uint32_t lanes, const Warp &warp,
                                  unsigned lane) const {
  const WarpState &state = stateOf(warp);
  const Knowledge *extra = state.lanes[lane].extra.get();
  if (stamp.block != warp.block->linearIndex) {
    auto known = [&](const Knowledge &knowledge, unsigned other) {
      auto it = knowledge.remote.find(stamp.block);
      size_t thread = size_t(stamp.warp) * warpSize + other;
      return it != knowledge.remote.end() && thread < it->second.size() &&
             it->second[thread] >= stamp.clock;
    };
    forEachLane(lanes, [&](unsigned other) {
      if (known(state.common, other) || (extra && known(*extra, other)))
        lanes &= ~(1u << other);
    });
    return lanes;
  }
  if (stamp.warp < state.common.warps.size() && state.common.warps[stamp.warp] >= stamp.clock)
    return 0;
  if (stamp.warp == warp.index)
    lanes &= ~(1u << lane); // program order
  forEachLane(lanes, [&](unsigned other) {
    if (state.common.clockOf(stamp.warp, other) >= stamp.clock ||
        (extra && extra->clockOf(stamp.warp, other) >= stamp.clock))
      lanes &= ~(1u << other);
  });
  return lanes;
}

uint32_t HappensBefore::unfenced(const Stamp &stamp, uint32_t lanes, const Warp &warp,
                                 unsigned lane, ProxySpace space) const {
  const WarpState &state = stateOf(warp);
  auto isFenced = [&](const Knowledge &knowledge, unsigned other) {
    size_t thread = size_t(stamp.warp) * warpSize + other;
    const std::vector<uint32_t> *clocks = &knowledge.fenced[static_cast<unsigned>(space)];
    if (stamp.block != warp.block->linearIndex) {
      auto it = knowledge.remoteFenced.find(stamp.block);
      if (it == knowledge.remoteFenced.end())
        return false;
      clocks = &it->second[static_cast<unsigned>(space)];
    }
    return thread < clocks->size() && (*clocks)[thread] >= stamp.clock;
  };
  const Knowledge *extra = state.lanes[lane].extra.get();
  forEachLane(lanes, [&](unsigned other) {
    if (isFenced(state.common, other) || (extra && isFenced(*extra, other)))
      lanes &= ~(1u << other);
  });
  return lanes;
}

std::pair<Stamp, uint32_t> HappensBefore::mbarrierStamp(const Block &home, uint64_t address,
                                                        uint32_t phase) {
  BlockState &block = blockState(home.linearIndex);
  uint32_t next = block.numThreads + static_cast<uint32_t>(block.actors.size());
  uint32_t actor = block.actors.try_emplace(address, next).first->second;
  Stamp stamp;
  stamp.block = home.linearIndex;
  stamp.warp = actor / warpSize;
  stamp.clock = phase + 1;
  return {stamp, 1u << (actor % warpSize)};
}

/// What the lanes that arrive know together, their own accesses included.
HappensBefore::Knowledge HappensBefore::gather(Block &block,
                                               llvm::ArrayRef<BarrierArrival> arrivals) {
  BlockState &state = blockState(block.linearIndex);
  Knowledge joined;
  joined.warps.assign(state.warps.size(), 0);
  for (const BarrierArrival &arrival : arrivals) {
    WarpState &warp = state.warps[arrival.warp];
    joined.join(warp.common);
    forEachLane(arrival.mask, [&](unsigned lane) {
      if (warp.lanes[lane].extra)
        joined.join(*warp.lanes[lane].extra);
    });
    if ((block.warps[arrival.warp].liveMask() & ~arrival.mask) == 0) {
      joined.warps[arrival.warp] = std::max(joined.warps[arrival.warp], warp.now);
    } else {
      joined.threads.resize(std::max<size_t>(joined.threads.size(), state.numThreads));
      forEachLane(arrival.mask, [&](unsigned lane) {
        joined.threads[arrival.warp * warpSize + lane] = warp.now;
      });
    }
  }
  return joined;
}

void HappensBefore::onBarrier(Block &block, llvm::ArrayRef<BarrierArrival> arrivals) {
  Knowledge joined = gather(block, arrivals);
  BlockState &state = blockState(block.linearIndex);
  for (const BarrierArrival &arrival : arrivals) {
    WarpState &warp = state.warps[arrival.warp];
    if (arrival.waits) {
      warp.knowsOtherBlocks |= !joined.remote.empty();
      if ((block.warps[arrival.warp].liveMask() & ~arrival.mask) == 0) {
        warp.common.join(joined);
        for (LaneState &lane : warp.lanes)
          lane.extra.reset();
      } else {
        forEachLane(arrival.mask, [&](unsigned lane) { extraOf(warp, lane).join(joined); });
      }
    }
  }
  // All go on with the same clock, so that what they do next is easy to compare (RaceShadow.h).
  uint32_t latest = 0;
  for (const BarrierArrival &arrival : arrivals)
    latest = std::max(latest, state.warps[arrival.warp].now);
  for (const BarrierArrival &arrival : arrivals)
    state.warps[arrival.warp].now = latest + 1;
}

void HappensBefore::onWarpSync(Warp &warp, uint32_t members) {
  BarrierArrival arrival{warp.index, members, 0, true};
  onBarrier(*warp.block, arrival);
}

HappensBefore::Knowledge &HappensBefore::extraOf(WarpState &warp, unsigned lane) {
  std::unique_ptr<Knowledge> &extra = warp.lanes[lane].extra;
  if (!extra)
    extra = std::make_unique<Knowledge>();
  return *extra;
}

uint64_t HappensBefore::keyOf(const Block &home, ptx::Space space, uint64_t address) {
  // Shared memory of different blocks are different locations.
  if (space == ptx::Space::Shared)
    return uint64_t(1) << 63 | home.linearIndex << 20 | (address & 0xfffff);
  return address;
}

void HappensBefore::publish(Warp &warp, unsigned lane, uint64_t key, uint32_t ownClock,
                            MemoryScope scope, bool isReplaced) {
  WarpState &state = stateOf(warp);
  BlockState &block = blockState(warp.block->linearIndex);
  Published &entry = published[key];
  if (isReplaced)
    entry = Published();
  entry.scope = std::max(entry.scope, scope);
  std::vector<uint32_t> &own = entry.blocks[warp.block->linearIndex];
  own.resize(std::max<size_t>(own.size(), block.numThreads));
  const Knowledge *extra = state.lanes[lane].extra.get();
  for (uint32_t w = 0; w < block.warps.size(); ++w)
    for (uint32_t l = 0; l < warpSize; ++l) {
      uint32_t clock = state.common.clockOf(w, l);
      if (extra)
        clock = std::max(clock, extra->clockOf(w, l));
      own[w * warpSize + l] = std::max(own[w * warpSize + l], clock);
    }
  uint32_t self = warp.index * warpSize + lane;
  own[self] = std::max(own[self], ownClock);
  for (const Knowledge *knowledge : {static_cast<const Knowledge *>(&state.common), extra})
    if (knowledge) {
      joinClocks(own, knowledge->threads); // actors, too
      joinFenced(entry.fenced[warp.block->linearIndex], knowledge->fenced);
    }
  for (const Knowledge *knowledge : {static_cast<const Knowledge *>(&state.common), extra})
    if (knowledge) {
      for (const auto &[remote, clocks] : knowledge->remote)
        joinClocks(entry.blocks[remote], clocks);
      for (const auto &[remote, clocks] : knowledge->remoteFenced)
        joinFenced(entry.fenced[remote], clocks);
    }
}

/// Whether operations of this scope order a warp with threads of a block.
static bool reaches(const Warp &warp, uint64_t block, MemoryScope scope) {
  uint64_t own = warp.block->linearIndex;
  return block == own || scope >= (warp.launch->areInOneCluster(own, block) ? MemoryScope::Cluster
                                                                            : MemoryScope::Gpu);
}

void HappensBefore::learn(const Warp &warp, Knowledge &knowledge, const Published &entry,
                          MemoryScope scope) {
  scope = std::min(scope, entry.scope);
  for (const auto &[block, clocks] : entry.blocks) {
    bool isOwn = block == warp.block->linearIndex;
    if (reaches(warp, block, scope))
      joinClocks(isOwn ? knowledge.threads : knowledge.remote[block], clocks);
  }
  for (const auto &[block, fenced] : entry.fenced) {
    bool isOwn = block == warp.block->linearIndex;
    if (reaches(warp, block, scope))
      joinFenced(isOwn ? knowledge.fenced : knowledge.remoteFenced[block], fenced);
  }
}

void HappensBefore::learn(Warp &warp, unsigned lane, uint64_t key, MemoryScope scope) {
  auto it = published.find(key);
  if (it == published.end())
    return;
  WarpState &state = stateOf(warp);
  Knowledge &extra = extraOf(state, lane);
  learn(warp, extra, it->second, scope);
  state.knowsOtherBlocks |= !extra.remote.empty();
}

void HappensBefore::onAccess(const MemoryAccess &access) {
  if (access.order == MemoryOrder::Weak && access.kind != AccessKind::Atomic)
    return;
  if (access.by != AccessBy::Lane)
    return; // arrivals and waits say themselves what they order
  Warp &warp = access.warp;
  WarpState &state = stateOf(warp);
  bool reads = access.kind != AccessKind::Write, writes = access.kind != AccessKind::Read;
  bool hasReleased = false;
  forEachLane(access.mask, [&](unsigned lane) {
    LaneState &own = state.lanes[lane];
    uint64_t key = keyOf(homeOf(access), access.space, access.address[lane]);
    // Acquire first: a read-modify-write passes on what it reads.
    if (reads) {
      if (isAcquire(access.order))
        learn(warp, lane, key, access.scope);
      else if (published.count(key) && !llvm::is_contained(own.observed, key))
        own.observed.push_back(key);
    }
    if (!writes)
      return;
    bool isReplaced = access.kind == AccessKind::Write;
    if (isRelease(access.order)) {
      publish(warp, lane, key, state.now, access.scope, isReplaced);
      hasReleased = true;
    } else if (own.isFenced) {
      publish(warp, lane, key, own.fenceClock, std::min(own.fenceScope, access.scope), isReplaced);
    } else if (isReplaced) {
      published.erase(key);
    }
  });
  if (hasReleased)
    ++state.now;
}

void HappensBefore::onFence(Warp &warp, const Inst &, uint32_t mask, MemoryOrder,
                            MemoryScope scope) {
  WarpState &state = stateOf(warp);
  forEachLane(mask, [&](unsigned lane) {
    LaneState &own = state.lanes[lane];
    for (uint64_t key : own.observed)
      learn(warp, lane, key, scope);
    own.observed.clear();
    own.isFenced = true;
    own.fenceClock = state.now;
    own.fenceScope = scope;
  });
  ++state.now;
}

void HappensBefore::onProxyFence(Warp &warp, const Inst &, uint32_t mask, ptx::Space space) {
  bool isForAll = space == ptx::Space::Generic;
  if (isForAll || space == ptx::Space::Shared)
    fenceProxy(warp, mask, ProxySpace::Shared);
  if (isForAll || space == ptx::Space::Global)
    fenceProxy(warp, mask, ProxySpace::Global);
  ++stateOf(warp).now;
}

void HappensBefore::fenceProxy(Warp &warp, uint32_t mask, ProxySpace space) {
  WarpState &state = stateOf(warp);
  uint32_t numThreads = blockState(warp.block->linearIndex).numThreads;
  bool isWhole = (warp.liveMask() & ~mask) == 0;
  if (isWhole)
    state.common.fence(state.common, numThreads, space);
  forEachLane(mask, [&](unsigned lane) {
    Knowledge *extra = state.lanes[lane].extra.get();
    if (extra)
      extra->fence(*extra, numThreads, space);
    if (!isWhole)
      extraOf(state, lane).fence(state.common, numThreads, space);
    Knowledge &own = isWhole ? state.common : *state.lanes[lane].extra;
    own.fenced[static_cast<unsigned>(space)][warp.index * warpSize + lane] = state.now;
  });
}

/// Phases of an mbarrier are locations of their own: its address has three bits to spare.
static uint64_t phaseLocation(uint64_t address, uint32_t phase) { return address | (phase & 7); }

void HappensBefore::onMbarrierArrive(Warp &warp, uint32_t mask, Block &home, uint64_t address,
                                     uint32_t phase) {
  WarpState &state = stateOf(warp);
  uint64_t key = keyOf(home, ptx::Space::Shared, phaseLocation(address, phase));
  forEachLane(mask, [&](unsigned lane) {
    publish(warp, lane, key, state.now, MemoryScope::Cluster, false);
  });
  ++state.now;
}

void HappensBefore::onMbarrierWait(Warp &warp, uint32_t mask, Block &home, uint64_t address,
                                   uint32_t phase) {
  WarpState &state = stateOf(warp);
  auto it = published.find(keyOf(home, ptx::Space::Shared, phaseLocation(address, phase)));
  BlockState &block = blockState(warp.block->linearIndex);
  auto actor = &home == warp.block ? block.actors.find(address) : block.actors.end();
  auto acquire = [&](Knowledge &knowledge) {
    if (it != published.end())
      learn(warp, knowledge, it->second, MemoryScope::Cluster);
    state.knowsOtherBlocks |= !knowledge.remote.empty();
    if (actor == block.actors.end())
      return;
    knowledge.threads.resize(std::max<size_t>(knowledge.threads.size(), actor->second + 1));
    uint32_t &clock = knowledge.threads[actor->second];
    clock = std::max(clock, phase + 1);
  };
  if ((warp.liveMask() & ~mask) == 0)
    acquire(state.common);
  else
    forEachLane(mask, [&](unsigned lane) { acquire(extraOf(state, lane)); });
}

} // namespace vgpu
