//===- Observers.cpp - the observers of a launch -------------------------------------------------===//
#include "Observers.h"
#include "vgpu/Checks/AsyncCheck.h"
#include "vgpu/Checks/GlobalAsyncCheck.h"
#include "vgpu/Checks/Poison.h"
#include "vgpu/Checks/RaceCheck.h"
#include "vgpu/Checks/TileCheck.h"
#include "vgpu/Checks/WarpgroupCheck.h"
#include "vgpu/Checks/WriteWatch.h"
#include "vgpu/Counters/EventTrace.h"
#include "vgpu/Counters/MemoryCounter.h"

namespace vgpu {

CheckPipeline::CheckPipeline(LaunchState &state) : program(*state.program) {
  const CheckSet &checks = state.config.checks;
  if (checks.has(Check::Uninitialized)) {
    poison = std::make_unique<PoisonTracker>(*state.program);
    state.poison = poison.get();
  }
  bool hasShared = checks.has(Check::SharedRace), hasGlobal = checks.has(Check::GlobalRace);
  bool hasTiles =
      state.program->usesAsyncProxy && (checks.has(Check::Async) || checks.has(Check::ProxyFence));
  TileCheck *tiles = nullptr;
  if (hasShared || hasGlobal || hasTiles) {
    auto order = std::make_unique<HappensBefore>();
    // Accesses are judged by the order before them, so the checks hear of them first.
    if (hasShared || hasGlobal) {
      auto check = std::make_unique<RaceCheck>(*order, *state.program, hasShared, hasGlobal);
      races = check.get();
      owned.push_back(std::move(check));
    }
    if (state.program->usesAsyncProxy) {
      auto check = std::make_unique<TileCheck>(*order, races, checks);
      tiles = check.get();
      owned.push_back(std::move(check));
    }
    if (hasTiles && !state.program->bulkOperations.empty())
      owned.push_back(std::make_unique<GlobalAsyncCheck>(*order, checks));
    owned.push_back(std::move(order));
  }
  if (checks.has(Check::Async) || hasShared)
    owned.push_back(std::make_unique<AsyncCheck>(races, tiles, checks.has(Check::Async)));
  if (state.program->usesAsyncProxy && checks.has(Check::BarrierDivergence))
    owned.push_back(std::make_unique<WarpgroupCheck>());
  if (state.config.countMemory) {
    auto counter = std::make_unique<MemoryCounter>(*state.program);
    memory = counter.get();
    owned.push_back(std::move(counter));
  }
  if (const std::optional<WatchedBytes> &bytes = state.config.watch) {
    auto watcher =
        std::make_unique<WriteWatch>(state.watchedAddress, state.watchedAddress + bytes->bytes);
    watch = watcher.get();
    owned.push_back(std::move(watcher));
  }
  if (state.config.trace) {
    auto tracer = std::make_unique<EventTrace>(state, poison.get());
    trace = tracer.get();
    state.poison = trace;
    owned.push_back(std::move(tracer));
  }
  for (const auto &observer : owned)
    state.observers.push_back(observer.get());
}

CheckPipeline::~CheckPipeline() = default;

bool CheckPipeline::areIndependent(llvm::ArrayRef<std::unique_ptr<CheckPipeline>> pipelines) {
  for (size_t i = 0; i < pipelines.size(); ++i) {
    if (pipelines[i]->races->haveBlocksMet())
      return false;
    for (size_t j = 0; j < i; ++j)
      if (pipelines[i]->races->haveBlocksMet(*pipelines[j]->races))
        return false;
  }
  return true;
}

void CheckPipeline::absorb(const CheckPipeline &other) {
  if (memory)
    memory->absorb(*other.memory);
}

std::optional<AccessSite> CheckPipeline::lastWrite() const {
  return watch ? watch->lastWrite() : std::nullopt;
}

std::optional<llvm::json::Value> CheckPipeline::takeTrace() {
  return trace ? trace->take() : std::nullopt;
}

Counters CheckPipeline::counters(llvm::ArrayRef<uint64_t> executed) const {
  Counters result;
  SourceLineTable lines(program);
  for (const Inst &inst : program.code) {
    uint64_t count = executed[inst.pc];
    if (inst.flow == Flow::Reconverge || count == 0)
      continue;
    SourceLineCounters &line = lines[inst];
    line.warpInstructions += count;
    line.tensorOperations += count * inst.tensorOperations;
    result.warpInstructions[static_cast<unsigned>(inst.instClass)] += count;
    result.totalWarpInstructions += count;
    result.tensorOperations += count * inst.tensorOperations;
    if (inst.instClass == InstClass::Barrier)
      result.barrierWaits += count;
  }
  if (memory)
    memory->addTo(result, lines, executed);
  result.sourceLines = lines.take();
  return result;
}

} // namespace vgpu
