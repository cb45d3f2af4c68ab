//===- Vgpu.cpp - loading and launching -------------------------------------------------------===//
#include "Implementation.h"
#include "Observers.h"
#include "vgpu/Events/Observer.h"
#include "vgpu/Exec/Decode.h"
#include "vgpu/Exec/Limits.h"
#include "vgpu/Exec/LivelockWatch.h"
#include "vgpu/Exec/Runner.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>
#include <tuple>

namespace vgpu {

const Program *Module::findKernel(llvm::StringRef name) const {
  for (const auto &program : programs)
    if (program->name == name)
      return program.get();
  return nullptr;
}

/// Of all kernels of a file, with all calls inlined.
static constexpr size_t maxModuleInstructions = 1 << 22;

llvm::Expected<std::unique_ptr<Module>> loadModule(llvm::StringRef text, llvm::StringRef fileName) {
  auto parsed = ptx::parseModule(text, fileName);
  if (!parsed)
    return parsed.takeError();
  auto module = std::make_unique<Module>();
  module->source = std::move(*parsed);
  layOutModule(*module->source);
  size_t numInstructions = 0;
  for (const auto &function : module->source->functions) {
    if (!function->isEntry || !function->hasBody)
      continue;
    auto program = decodeKernel(*module->source, *function);
    if (!program) {
      llvm::Error error = program.takeError();
      std::error_code code;
      std::string message;
      llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
        code = info.convertToErrorCode();
        message = info.message();
      });
      if (code != std::errc::not_supported)
        return llvm::createStringError(message);
      module->unsupported[function->name] = message;
      continue;
    }
    numInstructions += (*program)->code.size();
    if (numInstructions > maxModuleInstructions)
      return llvm::createStringError("the kernels of '" + fileName.str() + "' have more than " +
                                     std::to_string(maxModuleInstructions) +
                                     " instructions with all calls inlined");
    module->programs.push_back(std::move(*program));
  }
  return module;
}

namespace {

/// Warp instructions a block may run before another one gets its turn, where blocks may wait for
/// each other through global memory.
constexpr uint64_t blockQuantum = 1 << 16;
/// Those of a block that is looked at whether it repeats itself.
constexpr uint64_t sweepQuantum = 1 << 20;
/// Warp instructions of a block after which the launch looks whether it is to stop.
constexpr uint64_t pollQuantum = 1 << 18;
/// Those of a block that has been seen to repeat itself: most likely it still waits for another one.
constexpr uint64_t suspectQuantum = 1 << 12;
/// Blocks that take turns before others are started: as many again, once all have had a turn in
/// vain.
constexpr size_t fewBlocks = 32;

/// All .global variables of a module, and all .const ones: eleven banks of 64 KiB (PTX ISA).
constexpr uint64_t maxGlobalBytes = uint64_t(2) << 30, maxConstantBytes = 11 << 16;
constexpr unsigned maxHostThreads = 1024;

/// What a host thread has of its own: blocks see a launch through it.
struct Worker {
  explicit Worker(const LaunchState &shared) : state(shared) { state.findings = &findings; }
  LaunchState state;
  FindingSink findings;
};

/// A look at all blocks that wait for others: do they all repeat themselves?
struct Sweep {
  bool isOn = false;
  size_t numRepeating = 0;         ///< blocks in a row that did, under the same contents of memory
  uint64_t digest = 0;             ///< of these contents
  uint64_t pause = 0, backOff = 8; ///< turns until the next sweep

  void giveUp() {
    isOn = false;
    pause = backOff *= 2;
  }
};

class Launcher {
public:
  Launcher(const Module &module, const Program &program, const LaunchConfig &config)
      : module(module), program(program) {
    state.program = &program;
    state.config = config;
    state.memory = &memory;
    state.findings = &findings;
    state.cluster = clusterOf(program, config);
    state.sharedBytes = static_cast<uint32_t>(
        config.dynamicSharedBytes == 0
            ? program.staticSharedBytes
            : llvm::alignTo(program.staticSharedBytes, program.dynamicSharedAlign) +
                  config.dynamicSharedBytes);
  }

  llvm::Error bind(llvm::ArrayRef<Argument> arguments);
  LaunchResult run();

private:
  using Pipelines = std::vector<std::unique_ptr<CheckPipeline>>;
  llvm::Error makeVariables();
  Pipelines runBlocks(unsigned numThreads);
  void work(LaunchState &own);
  bool isDeadlock(Cluster &cluster, size_t numParked, Sweep &sweep);
  void plan(const std::deque<std::unique_ptr<Cluster>> &parked, Sweep &sweep);
  bool isToGoOn(const LaunchConfig &config);
  uint64_t findCluster(uint64_t block) const;
  Finding makeTimeFinding() const;
  const Module &module;
  const Program &program;
  LaunchState state;
  GlobalMemory memory;
  FindingSink findings;
  std::map<uint64_t, std::string> printed; ///< by block, whichever thread ran it
  std::vector<uint64_t> executed;
  std::mutex mutex;                         ///< guards nextCluster and executed
  uint64_t nextCluster = 0, endCluster = 0; ///< of those that run
  std::atomic<bool> isStopped = false;      ///< in one of the threads
  std::thread::id caller;                   ///< the thread that launched
  std::chrono::steady_clock::time_point lastPoll, timeLimit;
  std::atomic<bool> isLate = false; ///< the launch has reached its time limit
};

/// Module variables get the addresses the decoder has already put into the program.
llvm::Error Launcher::makeVariables() {
  const ptx::Module &source = module.ptx();
  uint64_t globalBytes = 0, constantBytes = source.constantBytes;
  for (const auto &variable : source.variables)
    if (variable->space == ptx::Space::Global && !variable->isExtern)
      globalBytes += variable->sizeBytes;
  for (auto [name, bytes, most] : {std::tuple(".global", globalBytes, maxGlobalBytes),
                                   {".const", constantBytes, maxConstantBytes}})
    if (bytes > most)
      return llvm::createStringError("the " + std::string(name) + " variables of '" +
                                     source.fileName + "' take " + std::to_string(bytes) +
                                     " bytes; at most " + std::to_string(most) + " are possible");
  state.constants.resize(constantBytes);
  auto initialize = [&](const ptx::Variable &variable, uint8_t *host) {
    if (!variable.initializer.empty())
      std::memcpy(host, variable.initializer.data(), variable.initializer.size());
    for (const ptx::Variable::Relocation &relocation : variable.relocations) {
      const ptx::Variable *target = source.findVariable(relocation.symbol);
      uint64_t address = static_cast<uint64_t>(relocation.addend);
      if (const ptx::Function *function = source.findFunction(relocation.symbol);
          !target && function)
        address += functionBase + source.functionIndex(function);
      if (target)
        address += target->address + (relocation.isGeneric ? windowBase(target->space) : 0);
      std::memcpy(host + relocation.offsetBytes, &address, relocation.widthBytes);
    }
  };
  for (const auto &variable : source.variables) {
    if (variable->isExtern)
      continue;
    uint64_t address = variable->address;
    if (variable->space == ptx::Space::Global)
      initialize(*variable, memory.allocateAt(address, variable->sizeBytes, variable->name));
    else if (variable->space == ptx::Space::Const)
      initialize(*variable, state.constants.data() + address);
  }
  return llvm::Error::success();
}

llvm::Error Launcher::bind(llvm::ArrayRef<Argument> arguments) {
  if (llvm::Error error = makeVariables())
    return error;
  if (arguments.size() != program.params.size())
    return llvm::createStringError("kernel '" + program.name + "' takes " +
                                   std::to_string(program.params.size()) + " arguments, got " +
                                   std::to_string(arguments.size()));
  state.params.resize(program.paramBytes);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument &argument = arguments[i];
    const ParamInfo &param = program.params[i];
    uint64_t address = 0;
    std::array<uint8_t, tensorMapBytes> encoded;
    llvm::ArrayRef<uint8_t> bytes = argument.bytes;
    if (argument.kind != Argument::Kind::Bytes) {
      address =
          argument.offsetBytes + memory.addOnce(argument.host, argument.sizeBytes,
                                                argument.name.empty() ? param.name : argument.name);
      bytes = llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(&address), 8);
    }
    if (state.config.watch && state.config.watch->argument == i)
      state.watchedAddress = address + state.config.watch->offset;
    if (argument.kind == Argument::Kind::TensorMap) {
      TensorMap map = argument.map;
      map.address = address;
      if (llvm::Error error = map.check())
        return error;
      encoded = map.encode();
      bytes = encoded;
    }
    if (bytes.size() != param.sizeBytes)
      return llvm::createStringError("argument " + std::to_string(i) + " ('" + param.name +
                                     "') of kernel '" + program.name + "': expected " +
                                     std::to_string(param.sizeBytes) + " bytes, got " +
                                     std::to_string(bytes.size()));
    std::memcpy(state.params.data() + param.offsetBytes, bytes.data(), bytes.size());
  }
  return llvm::Error::success();
}

/// On the calling thread: asks the caller, some twenty times a second, and looks at the clock.
bool Launcher::isToGoOn(const LaunchConfig &config) {
  if (config.timeLimitSeconds > 0 && std::chrono::steady_clock::now() > timeLimit)
    isStopped = isLate = true;
  if (config.poll && std::this_thread::get_id() == caller) {
    auto now = std::chrono::steady_clock::now();
    if (now - lastPoll > std::chrono::milliseconds(50)) {
      if (!config.poll())
        isStopped = true;
      lastPoll = now;
    }
  }
  return !isStopped;
}

/// Takes clusters in order until none is left; parks those that may wait for others.
void Launcher::work(LaunchState &own) {
  std::vector<uint64_t> counts(program.code.size());
  std::deque<std::unique_ptr<Cluster>> parked;
  size_t inVain = 0; // turns since a cluster was started or ended
  Sweep sweep;
  LivelockWatch livelock;
  std::unique_ptr<Cluster> ended; // its memory serves the next one
  const uint64_t total = endCluster;
  const size_t mostClusters =
      std::max<size_t>(1, countResidentClusters(program, own.config) / own.config.numThreads);
  size_t wanted = fewBlocks; // to be under way
  // Blocks that cannot wait for each other need not take turns.
  uint64_t quantum = program.canBlocksMeet() ? blockQuantum : pollQuantum;
  while (!isStopped) {
    std::unique_ptr<Cluster> cluster;
    uint64_t next = total;
    if (inVain >= parked.size() && parked.size() >= wanted)
      wanted *= 2;
    if (parked.size() < std::min(wanted, mostClusters)) {
      std::lock_guard lock(mutex);
      if (nextCluster < total)
        next = nextCluster++;
    }
    if (next < total) {
      inVain = 0;
      cluster = makeCluster(own, next, std::move(ended));
      for (const auto &block : cluster->blocks) {
        block->executed = counts.data();
        for (Observer *observer : own.observers)
          observer->onBlockStart(*block);
      }
    } else if (!parked.empty()) {
      cluster = std::move(parked.front());
      parked.pop_front();
      ++inVain;
    } else {
      break;
    }
    uint64_t turn = sweep.isOn ? sweepQuantum : cluster->isSuspect ? suspectQuantum : quantum;
    RunStatus status = runCluster(*cluster, livelock.turn(turn));
    while (status == RunStatus::Yielded && !program.canBlocksMeet() && isToGoOn(own.config))
      status = runCluster(*cluster, quantum); // it only paused to be asked
    if (!isToGoOn(own.config))
      break;
    if (status == RunStatus::Repeats && isDeadlock(*cluster, parked.size(), sweep)) {
      reportRepetition(*cluster, parked.size());
      status = RunStatus::Stopped;
    } else if (status != RunStatus::Repeats && sweep.isOn) {
      cluster->isSuspect = false;
      sweep.giveUp();
    }
    if (status == RunStatus::Done) {
      for (const auto &block : cluster->blocks)
        for (Observer *observer : own.observers)
          observer->onBlockEnd(*block);
      inVain = 0;
      livelock.restart();
      ended = std::move(cluster);
    }
    if (status == RunStatus::Yielded || status == RunStatus::Repeats) {
      parked.push_back(std::move(cluster));
      plan(parked, sweep);
      if (inVain == 0) {
        livelock.restart();
      } else if (own.config.numThreads == 1 && inVain % parked.size() == 0 &&
                 livelock.afterRotation(parked, counts)) {
        reportRepetition(*parked.front(), parked.size() - 1);
        status = RunStatus::Stopped;
      }
    }
    if (status == RunStatus::Stopped)
      isStopped = true;
  }
  std::lock_guard lock(mutex);
  for (size_t i = 0; i < counts.size(); ++i)
    executed[i] += counts[i];
}

/// Called for a block that repeats itself: whether no other block can change that.
bool Launcher::isDeadlock(Cluster &cluster, size_t numParked, Sweep &sweep) {
  if (!program.canBlocksMeet())
    return true;
  cluster.isSuspect = true;
  if (!sweep.isOn)
    return false;
  // All blocks in a row repeat themselves, and none of them has left another memory to the next.
  if (cluster.watch->globalDigest() != sweep.digest)
    sweep.numRepeating = 0;
  sweep.digest = cluster.watch->globalDigest();
  return ++sweep.numRepeating > numParked;
}

/// Called when a block has had its turn: starts a sweep where all blocks may repeat themselves.
void Launcher::plan(const std::deque<std::unique_ptr<Cluster>> &parked, Sweep &sweep) {
  if (!sweep.isOn && sweep.pause > 0) {
    --sweep.pause;
  } else if (!sweep.isOn) {
    sweep.isOn = state.config.numThreads == 1 &&
                 (nextCluster >= endCluster ||
                  parked.size() >= countResidentClusters(program, state.config)) &&
                 llvm::all_of(parked, [](const auto &block) { return block->isSuspect; });
    sweep.numRepeating = 0;
  }
  if (sweep.isOn && !parked.empty())
    parked.front()->watch->lookNow(parked.front()->steps, sweepQuantum);
}

/// The linear index of the cluster of a block.
uint64_t Launcher::findCluster(uint64_t block) const {
  std::array<uint32_t, 3> at = state.blockCoords(block);
  Dim3 grid = state.clusterGrid();
  const Dim3 &cluster = state.cluster;
  return (uint64_t(at[2] / cluster.z) * grid.y + at[1] / cluster.y) * grid.x + at[0] / cluster.x;
}

/// All blocks, on so many threads of the host; each thread has checks of its own.
Launcher::Pipelines Launcher::runBlocks(unsigned numThreads) {
  executed.assign(program.code.size(), 0);
  nextCluster = 0;
  endCluster = state.clusterGrid().count();
  if (const std::optional<TracedBlock> &trace = state.config.trace; trace && trace->isAlone) {
    nextCluster = findCluster(trace->block);
    endCluster = nextCluster + 1;
  }
  isStopped = false;
  caller = std::this_thread::get_id();
  state.config.numThreads = numThreads;
  std::deque<Worker> workers;
  Pipelines pipelines;
  for (unsigned i = 0; i < numThreads; ++i) {
    workers.emplace_back(state);
    pipelines.push_back(std::make_unique<CheckPipeline>(workers.back().state));
  }
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < numThreads; ++i)
    threads.emplace_back([&, i] { work(workers[i].state); });
  work(workers[0].state);
  for (std::thread &thread : threads)
    thread.join();
  printed.clear();
  for (Worker &worker : workers) {
    findings.absorb(worker.findings);
    printed.merge(worker.state.printed);
  }
  return pipelines;
}

Finding Launcher::makeTimeFinding() const {
  Finding finding;
  finding.kind = FindingKind::StepLimit;
  finding.message = llvm::formatv("the launch of '{0}' was ended after {1} seconds, its time limit",
                                  program.name, state.config.timeLimitSeconds);
  return finding;
}

/// With checks a run must be repeatable. Blocks run on several threads in the hope that none
/// touches what another one writes; the race check tells afterwards. If one does, or if a fault has
/// ended the launch, memory is put back and everything is done again, in order, on one thread.
LaunchResult Launcher::run() {
  timeLimit = std::chrono::steady_clock::now() +
              std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                  std::chrono::duration<double>(std::min(state.config.timeLimitSeconds, 1e9)));
  unsigned numThreads =
      state.config.numThreads ? state.config.numThreads : std::thread::hardware_concurrency();
  numThreads = static_cast<unsigned>(std::clamp<uint64_t>(
      state.config.grid.count(), 1, std::clamp(numThreads, 1u, maxHostThreads)));
  numThreads = std::min<size_t>(numThreads, countResidentClusters(program, state.config));
  if (program.usesHeap || state.config.watch)
    numThreads = 1;
  bool isChecked = state.config.checks.any();
  if (isChecked && (program.canBlocksMeet() || !state.config.checks.has(Check::GlobalRace)))
    numThreads = 1;
  GlobalMemory::Contents before;
  if (isChecked && numThreads > 1)
    before = memory.save();
  Pipelines pipelines = runBlocks(numThreads);
  if (isChecked && numThreads > 1 && !isLate &&
      (isStopped || !CheckPipeline::areIndependent(pipelines))) {
    memory.restore(before);
    findings.take();
    pipelines = runBlocks(1);
  }
  for (size_t i = 1; i < pipelines.size(); ++i)
    pipelines[0]->absorb(*pipelines[i]);
  LaunchResult result;
  result.isComplete = !isStopped;
  result.counters = pipelines[0]->counters(executed);
  result.lastWrite = pipelines[0]->lastWrite();
  for (const auto &pipeline : pipelines)
    if (std::optional<llvm::json::Value> trace = pipeline->takeTrace())
      result.trace = std::move(trace);
  result.findings = findings.take();
  if (isLate)
    result.findings.push_back(makeTimeFinding());
  for (const auto &entry : printed)
    result.output += entry.second;
  return result;
}

} // namespace

llvm::Expected<LaunchResult> runLaunch(const Module &module, const LaunchConfig &config,
                                       llvm::ArrayRef<Argument> arguments) {
  const Program *program = module.findKernel(config.entry);
  if (std::string reason = module.whyUnsupported(config.entry); !reason.empty())
    return llvm::createStringError(reason);
  if (!program) {
    std::string known;
    for (const auto &kernel : module.kernels())
      known += (known.empty() ? "" : ", ") + ("'" + kernel->name + "'");
    return llvm::createStringError("no kernel '" + config.entry + "' in '" + module.ptx().fileName +
                                   "'; it has " + (known.empty() ? "none" : known));
  }
  if (llvm::Error error = checkLimits(*program, config))
    return error;
  if (config.trace && config.trace->block >= config.grid.count())
    return llvm::createStringError("there is no block " + std::to_string(config.trace->block) +
                                   " to trace, the grid has " +
                                   std::to_string(config.grid.count()));
  Launcher launcher(module, *program, config);
  if (llvm::Error error = launcher.bind(arguments))
    return error;
  return launcher.run();
}

} // namespace vgpu
