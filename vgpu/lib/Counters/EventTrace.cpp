//===- EventTrace.cpp - what the warps of one block did, in order -----------------------------===//
#include "vgpu/Counters/EventTrace.h"
#include "vgpu/Counters/MemoryCounter.h"
#include "vgpu/Machine/Block.h"
#include "vgpu/Machine/Report.h"

namespace json = llvm::json;

namespace vgpu {

/// More events than this say no more to a reader, nor to a model of time.
constexpr size_t maxEvents = 200000;
/// The unit of "touched", and the most intervals of an allocation; smaller gaps are closed for it.
constexpr uint64_t lineBytes = 128;
constexpr size_t maxIntervals = 4096;
/// Warps whose accesses are kept: those of the first warps show the pattern.
constexpr uint32_t maxSampledWarps = 2;
/// What is kept of one instruction and warp: a lane's access, or the pieces of an asynchronous one.
constexpr unsigned maxLaneSamples = 1, maxProxySamples = 4;
constexpr size_t maxSamples = 4000;

EventTrace::EventTrace(const LaunchState &state, DefinednessTracker *inner)
    : state(state), inner(inner), traced(state.config.trace.value_or(TracedBlock())),
      grid(state.config.grid) {}

bool EventTrace::isTraced(const Warp &warp) const {
  return warp.block->linearIndex == traced.block && !stretches.empty();
}

void EventTrace::onBlockStart(Block &block) {
  if (block.linearIndex != traced.block)
    return;
  stretches.resize(block.warps.size());
  coords = block.coords;
}

void EventTrace::onBlockEnd(Block &block) {
  if (block.linearIndex != traced.block)
    return;
  for (const Warp &warp : block.warps)
    flush(warp);
  touched = describeTouched();
}

void EventTrace::check(Warp &warp, const Inst &inst, uint32_t mask, uint32_t active) {
  if (inner)
    inner->check(warp, inst, mask, active);
  if (!isTraced(warp) || inst.flow == Flow::Reconverge)
    return;
  openProducts.erase(warp.index);
  Stretch *stretch = &stretches[warp.index];
  if (inst.executeBlocking && stretch->last == &inst)
    return; // it waits, and tries once more
  if (stretch->first &&
      (stretch->first->loc.file != inst.loc.file || stretch->first->loc.line != inst.loc.line))
    flush(warp);
  if (!stretch->first)
    stretch->first = &inst;
  stretch->last = &inst;
  stretch->instructions += 1;
  stretch->tensorOperations += mask ? inst.tensorOperations : 0;
  if (inst.tensorOperations)
    stretch->tensor = &inst;
  ++stretch->byClass[static_cast<unsigned>(inst.instClass)];
}

void EventTrace::step(Warp &warp, const Inst &inst, uint32_t mask, uint32_t active) {
  if (inner)
    inner->step(warp, inst, mask, active);
}

json::Array EventTrace::Stretch::toEvent(uint32_t warp) const {
  json::Object classes;
  for (unsigned i = 0; i < numInstClasses; ++i)
    if (byClass[i])
      classes[instClassName(static_cast<InstClass>(i))] = byClass[i];
  return json::Array{"run",
                     warp,
                     first->line,
                     int64_t(instructions),
                     int64_t(tensorOperations),
                     int64_t(shared),
                     int64_t(global),
                     std::move(classes),
                     int64_t(wavefronts),
                     int64_t(sectors)};
}

/// Keeps where the line of an event comes from, and the opcode that decides its rate.
void EventTrace::noteLine(const Inst &first, const Inst &opcode) {
  auto [it, isNew] = lines.try_emplace(first.line);
  if (isNew)
    it->second = {sourceOf(*state.program, first), opcode.source ? opcode.source->opcode : ""};
}

bool EventTrace::flush(const Warp &warp) {
  Stretch &stretch = stretches[warp.index];
  isTruncated |= events.size() >= maxEvents;
  if (stretch.instructions && !isTruncated) {
    noteLine(*stretch.first, stretch.tensor ? *stretch.tensor : *stretch.first);
    events.push_back(stretch.toEvent(warp.index));
  }
  const Inst *last = stretch.last;
  stretch = Stretch();
  stretch.last = last;
  return !isTruncated;
}

void EventTrace::add(const Warp &warp, llvm::StringRef name, llvm::ArrayRef<int64_t> numbers,
                     llvm::StringRef what) {
  const Inst *inst = stretches[warp.index].last;
  if (!flush(warp))
    return;
  if (inst)
    noteLine(*inst, *inst);
  json::Array event{name, warp.index, inst ? inst->line : 0};
  for (int64_t number : numbers)
    event.push_back(number);
  if (!what.empty())
    event.push_back(what);
  events.push_back(std::move(event));
}

static llvm::StringRef nameOf(AccessKind kind) {
  constexpr llvm::StringLiteral names[] = {"read", "write", "atomic", "async_read", "async_write"};
  return names[static_cast<unsigned>(kind)];
}

void EventTrace::keepSample(const MemoryAccess &access) {
  const Warp &warp = access.warp;
  bool isLane = access.by == AccessBy::Lane;
  if (warp.index >= maxSampledWarps || access.by == AccessBy::Mbarrier || access.owner ||
      accesses.size() >= maxSamples)
    return;
  unsigned &kept = samples[{access.inst.pc * 2 + (access.space == ptx::Space::Shared), warp.index}];
  if (kept >= (isLane ? maxLaneSamples : maxProxySamples))
    return;
  ++kept;
  const Allocation *home = nullptr;
  if (access.space == ptx::Space::Global)
    home = state.memory->find(access.address[__builtin_ctz(access.mask)], access.bytes);
  json::Array addresses;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    addresses.push_back(access.mask >> lane & 1 ? json::Value(int64_t(access.address[lane] -
                                                                      (home ? home->address : 0)))
                                                : json::Value(nullptr));
  accesses.push_back(
      json::Object{{"ptx_line", access.inst.line},
                   {"opcode", access.inst.source ? access.inst.source->opcode : ""},
                   {"warp", warp.index},
                   {"space", access.space == ptx::Space::Shared ? "shared" : "global"},
                   {"name", home ? home->name : ""},
                   {"access", nameOf(access.kind)},
                   {"is_asynchronous", !isLane},
                   {"bytes", access.bytes},
                   {"addresses", std::move(addresses)}});
}

/// What it costs the memories: banks, sectors, the shared operands of a product; and what it touches.
void EventTrace::countAccess(const MemoryAccess &access) {
  Stretch &stretch = stretches[access.warp.index];
  bool isLane = access.by == AccessBy::Lane;
  if (access.space == ptx::Space::Shared) {
    auto product = openProducts.find(access.warp.index);
    if (isLane) {
      stretch.wavefronts += countWavefronts(access.address, access.mask, access.bytes).actual;
    } else if (product != openProducts.end() && access.kind == AccessKind::AsyncRead &&
               !access.isRepeated) {
      json::Value &bytes = events[product->second].getAsArray()->back();
      bytes = *bytes.getAsInteger() + int64_t(access.bytes) * __builtin_popcount(access.mask);
    }
    return;
  }
  if (isLane)
    stretch.sectors += countSectors(access.address, access.mask, access.bytes).actual;
  bool reads = access.kind == AccessKind::Read || access.kind == AccessKind::AsyncRead;
  std::set<uint64_t> &lines = reads ? readLines : writtenLines;
  forEachLane(access.mask, [&](unsigned lane) {
    uint64_t first = access.address[lane] / lineBytes;
    uint64_t last = (access.address[lane] + std::max(access.bytes, 1u) - 1) / lineBytes;
    for (uint64_t line = first; line <= last; ++line)
      lines.insert(line);
  });
}

void EventTrace::onAccess(const MemoryAccess &access) {
  bool isShared = access.space == ptx::Space::Shared;
  if (!isTraced(access.warp) || (!isShared && access.space != ptx::Space::Global))
    return;
  keepSample(access);
  countAccess(access);
  if (access.by != AccessBy::Lane)
    return;
  if (access.kind == AccessKind::AsyncWrite) {
    auto lanes = static_cast<unsigned>(__builtin_popcount(access.mask));
    add(access.warp, "copy", {int64_t(access.bytes) * lanes});
  } else if (access.kind == AccessKind::Read) { // what a warp waits for
    Stretch &stretch = stretches[access.warp.index];
    ++(isShared ? stretch.shared : stretch.global);
  }
}

void EventTrace::onBarrierArrive(Warp &warp) {
  if (isTraced(warp))
    add(warp, "barrier_arrive", {});
}

void EventTrace::onBarrier(Block &block, llvm::ArrayRef<BarrierArrival> arrivals) {
  if (arrivals.empty() || !isTraced(block.warps[arrivals[0].warp]))
    return;
  std::map<uint32_t, bool> warps; // lanes may come one after another
  for (const BarrierArrival &arrival : arrivals) {
    flush(block.warps[arrival.warp]);
    warps[arrival.warp] |= arrival.waits;
  }
  json::Array list;
  for (auto [warp, waits] : warps)
    list.push_back(json::Array{warp, waits});
  if (!isTruncated)
    events.push_back(
        json::Array{"barrier", state.program->code[arrivals.back().pc].line, std::move(list)});
}

void EventTrace::onAsyncCommit(Warp &warp, uint32_t) {
  if (isTraced(warp))
    add(warp, "copy_commit", {});
}

void EventTrace::onAsyncWait(Warp &warp, uint32_t, uint32_t pendingGroups, bool isAll) {
  if (isTraced(warp))
    add(warp, "copy_wait", {isAll ? 0 : int64_t(pendingGroups)});
}

void EventTrace::onMbarrierArrive(Warp &warp, uint32_t, Block &, uint64_t address, uint32_t phase) {
  if (isTraced(warp))
    add(warp, "arrive", {int64_t(address), phase});
}

void EventTrace::onMbarrierWait(Warp &warp, uint32_t, Block &, uint64_t address, uint32_t phase) {
  if (isTraced(warp))
    add(warp, "wait", {int64_t(address), phase});
}

void EventTrace::onBulkWrite(Warp &warp, const Inst &, unsigned, Block &, uint64_t address,
                             uint32_t bytes, uint64_t mbarrier, uint32_t phase) {
  if (isTraced(warp))
    add(warp, "bulk", {bytes, int64_t(address), int64_t(mbarrier), phase});
}

void EventTrace::onWarpgroupInst(Warp &warp, const Inst &inst, uint64_t, uint64_t descriptorB) {
  if (!isTraced(warp) || !inst.tensorOperations || !descriptorB)
    return;
  uint64_t &operations = stretches[warp.index].tensorOperations;
  operations -= std::min<uint64_t>(operations, inst.tensorOperations); // the warp does not wait
  add(warp, "product", {inst.tensorOperations, 0});
  if (!isTruncated)
    openProducts[warp.index] = events.size() - 1;
}

void EventTrace::onTileRead(Warp &warp, const Inst &, uint32_t mask,
                            llvm::ArrayRef<uint64_t> chunks, TileGroups groups) {
  if (isTraced(warp) && groups == TileGroups::Bulk)
    add(warp, "bulk_store", {int64_t(16 * chunks.size()) * __builtin_popcount(mask)});
}

static llvm::StringRef nameOf(TileGroups groups) {
  return groups == TileGroups::Wgmma ? "wgmma" : "bulk";
}

void EventTrace::onTileCommit(Warp &warp, uint32_t, TileGroups groups) {
  if (isTraced(warp))
    add(warp, "commit", {}, nameOf(groups));
}

void EventTrace::onTileWait(Warp &warp, uint32_t, uint32_t pendingGroups, TileGroups groups, bool) {
  if (isTraced(warp))
    add(warp, "group_wait", {int64_t(pendingGroups)}, nameOf(groups));
}

/// Intervals of bytes of each allocation, offsets from its start.
json::Array EventTrace::describeTouched() const {
  struct Touched {
    json::Array read, written;
  };
  std::map<std::string, Touched> byName;
  auto describe = [&](const std::set<uint64_t> &lines, json::Array Touched::*which) {
    uint64_t gap = 1 + lines.size() / maxIntervals;
    const Allocation *home = nullptr;
    uint64_t begin = 0, end = 0;
    auto close = [&] {
      if (home && end > begin)
        (byName[home->name].*which)
            .push_back(json::Array{int64_t(begin), int64_t(std::min(end, home->sizeBytes))});
    };
    for (uint64_t line : lines) {
      uint64_t address = line * lineBytes;
      if (!home || address >= home->address + home->sizeBytes ||
          (address > home->address + end + gap * lineBytes)) {
        close();
        // An allocation may begin in the middle of a line.
        home = state.memory->find(address, 1);
        for (uint64_t at = address; !home && at < address + lineBytes; at += 4)
          home = state.memory->find(at, 1);
        if (!home)
          continue;
        begin = address < home->address ? 0 : address - home->address;
      }
      end = address + lineBytes - home->address;
    }
    close();
  };
  describe(readLines, &Touched::read);
  describe(writtenLines, &Touched::written);
  json::Array list;
  for (auto &[name, touched] : byName)
    list.push_back(json::Object{{"name", name},
                                {"read", std::move(touched.read)},
                                {"written", std::move(touched.written)}});
  return list;
}

std::optional<json::Value> EventTrace::take() {
  if (stretches.empty())
    return std::nullopt;
  for (auto [index, stretch] : llvm::enumerate(stretches))
    if (stretch.instructions && events.size() < maxEvents)
      events.push_back(stretch.toEvent(static_cast<uint32_t>(index)));
  json::Object described;
  for (auto &[line, text] : lines)
    described[std::to_string(line)] = json::Array{text.first, text.second};
  return json::Object{{"block", json::Array{coords[0], coords[1], coords[2]}},
                      {"grid", json::Array{grid.x, grid.y, grid.z}},
                      {"warps", int64_t(stretches.size())},
                      {"is_alone", traced.isAlone},
                      {"is_truncated", isTruncated},
                      {"events", std::move(events)},
                      {"accesses", std::move(accesses)},
                      {"touched", std::move(touched)},
                      {"lines", std::move(described)}};
}

} // namespace vgpu
