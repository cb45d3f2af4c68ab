//===- Kernels.cpp - a program on an engine, in Python ----------------------------------------===//

#include "Bindings.h"
#include "KnownCalls.h"

#include <nanobind/stl/tuple.h>

using namespace tilewright;
using namespace tilewright::bindings;
using driver::CompiledArtifact;
using driver::CompiledKernel;
using driver::RunOptions;
using driver::RunResult;

//===----------------------------------------------------------------------------------------===//
// Options and results
//===----------------------------------------------------------------------------------------===//

template <typename T> static void read(nb::dict options, const char *name, T &value) {
  if (options.contains(name))
    value = nb::cast<T>(options[name]);
}

static RunOptions toRunOptions(nb::dict options) {
  RunOptions result;
  read(options, "check", result.check);
  read(options, "bounds", result.bounds);
  read(options, "thread_order", result.threadOrder);
  read(options, "schedule", result.schedule);
  read(options, "unwritten", result.unwritten);
  read(options, "deterministic", result.deterministic);
  read(options, "checks", result.checks);
  read(options, "ptx", result.ptx);
  uintptr_t stream = 0;
  read(options, "stream", stream);
  result.stream = reinterpret_cast<void *>(stream);
  if (options.contains("watch")) { // (argument, offset in bytes, bytes)
    auto [argument, offset, bytes] =
        nb::cast<std::tuple<unsigned, uint64_t, uint64_t>>(options["watch"]);
    result.watch = {argument, offset, bytes};
  }
  if (options.contains("trace")) { // (linear index of the block, whether it runs alone)
    auto [block, isAlone] = nb::cast<std::pair<uint64_t, bool>>(options["trace"]);
    result.trace = {block, isAlone};
  }
  return result;
}

template <typename RangeT> static std::vector<int64_t> toVector(const RangeT &numbers) {
  return {numbers.begin(), numbers.end()};
}

static nb::dict fromFinding(const driver::Finding &finding) {
  nb::dict entry;
  entry["severity"] = interp::getName(finding.severity).str();
  entry["kind"] = finding.kind;
  entry["message"] = finding.message;
  entry["file"] = finding.file;
  entry["line"] = finding.line;
  entry["column"] = finding.column;
  entry["buffer"] = finding.buffer;
  entry["index"] = toVector(finding.index);
  entry["block"] = toVector(finding.block);
  entry["thread"] = toVector(finding.thread);
  entry["other"] = finding.other;
  entry["count"] = finding.count;
  entry["details"] = finding.details;
  entry["text"] = toString(finding);
  return entry;
}

/// {findings, output, stopped, seconds, steps, radii, launches}, a launch being JSON text.
static nb::dict fromResult(const RunResult &result) {
  nb::list findings, launches;
  for (const driver::Finding &finding : result.findings)
    findings.append(fromFinding(finding));
  for (const vgpu::LaunchResult &launch : result.launches)
    launches.append(nb::str(describeLaunch(launch).c_str()));
  nb::dict radii;
  for (const interp::TensorRadii &tensor : result.radii)
    radii[nb::int_(tensor.argument)] = tensor.radii;
  nb::dict answer;
  answer["findings"] = findings;
  answer["output"] = llvm::json::fixUTF8(result.output);
  answer["stopped"] = result.stopped;
  answer["seconds"] = result.seconds;
  answer["steps"] = result.steps;
  answer["radii"] = radii;
  answer["launches"] = launches;
  return answer;
}

/// What lies where in the shared memory of a kernel.
static nb::list describeSharedTiles(const nvptx::KernelInfo &info) {
  nb::list tiles;
  for (const nvptx::SharedTile &tile : info.tiles) {
    nb::dict entry;
    entry["name"] = tile.name;
    entry["offset"] = tile.offset;
    entry["bytes"] = tile.bytes;
    entry["element_bytes"] = tile.elementBytes;
    entry["shape"] = tile.shape;
    entry["layout"] = tile.layout;
    tiles.append(entry);
  }
  return tiles;
}

nb::dict tilewright::bindings::fromArtifact(const CompiledArtifact &artifact) {
  nb::list kernels, phases;
  for (const nvptx::KernelInfo &info : artifact.kernels) {
    nb::dict kernel;
    kernel["name"] = info.name;
    kernel["threads"] = info.numThreads;
    kernel["shared_bytes"] = info.sharedBytes;
    kernel["tiles"] = describeSharedTiles(info);
    kernels.append(kernel);
  }
  for (const PhaseTime &phase : artifact.phases)
    phases.append(nb::make_tuple(phase.name, phase.milliseconds));
  nb::dict result;
  result["phases"] = phases;
  result["kernels"] = kernels;
  result["remarks"] = toList(artifact.decisions);
  result["from_cache"] = artifact.fromCache;
  return result;
}

//===----------------------------------------------------------------------------------------===//
// One run
//===----------------------------------------------------------------------------------------===//

namespace {

/// What Python may do while a kernel runs: handle signals, and show how far it has come. An
/// exception from there ends the run.
class Watch {
public:
  explicit Watch(nb::object progress) : progress(std::move(progress)) {}

  bool poll(const runtime::Progress &state) {
    if (isOfEndingThread)
      return true;
    WithGil lock;
    if (raised)
      return false;
    try {
      if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
      if (progress.is_valid() && state.launch) // an engine that counts its blocks
        runPython([&] { progress(state.launch, state.blocksDone, state.blocks); });
      return true;
    } catch (nb::python_error &error) {
      raised.emplace(std::move(error));
      return false;
    }
  }

  void rethrow() {
    if (raised)
      throw std::move(*raised);
  }

private:
  const bool isOfEndingThread = isPythonEnding(); ///< It keeps the GIL: see Gil.h.
  nb::object progress;
  std::optional<nb::python_error> raised;
};

/// A kernel with the calls it has seen from Python.
class Caller {
public:
  explicit Caller(std::shared_ptr<CompiledKernel> kernel) : kernel(std::move(kernel)) {}

  /// Runs the kernel if it was called like this before: gives what the call returns, or
  /// NotImplemented.
  nb::object callAgain(nb::tuple arguments) {
    nb::list outputs;
    uintptr_t stream = 0;
    std::optional<driver::BoundArguments> bound = calls.find(arguments, outputs, stream);
    if (!bound)
      return nb::borrow(Py_NotImplemented);
    RunOptions options;
    options.stream = reinterpret_cast<void *>(stream);
    options.deterministic = isDeterministic;
    PinnedArrays pinned(arguments);
    runBound(*bound, std::move(options));
    if (outputs.size() == 0)
      return nb::none();
    return outputs.size() == 1 ? nb::object(outputs[0]) : nb::object(outputs);
  }

  /// Checks the arguments and runs. `values` are the caller's objects in parameter order,
  /// `converted` what they became, `makers` a function for each that the call allocated, else None.
  nb::dict call(nb::list values, nb::list converted, nb::list makers, nb::dict options) {
    driver::BoundArguments bound = bind(converted);
    PinnedArrays pinned(values);
    nb::dict answer = fromResult(runBound(bound, toRunOptions(options)));
    if (kernel->isSilent()) // else a call has more to say than `callAgain` gives
      calls.remember(std::move(bound), values, makers);
    return answer;
  }

  nb::dict run(nb::list converted, nb::dict options) {
    return fromResult(runBound(bind(converted), toRunOptions(options)));
  }

  /// Called with (launch, blocks done, blocks) now and then while the kernel runs; None for
  /// nothing.
  void setProgress(nb::object callback) {
    progress = callback.is_none() ? nb::object() : std::move(callback);
  }
  void setDeterministic(std::optional<bool> value) { isDeterministic = value; }
  nb::list getRemarks() const { return toList(kernel->getDecisions()); }

  /// The code for calls in which 16 divides these shape symbols, with its text if that is PTX; None
  /// if the engine has none.
  nb::object getCode(const std::vector<std::string> &divisible, bool isPtx) {
    CallFacts calls;
    calls.divisibleSymbols = divisible;
    auto artifact = compileWithoutGil([&] { return kernel->getCode(calls); });
    std::shared_ptr<const CompiledArtifact> code = unwrap(std::move(artifact));
    if (!code)
      return nb::none();
    nb::dict result = fromArtifact(*code);
    if (isPtx)
      result["ptx"] = code->code;
    return result;
  }

private:
  driver::BoundArguments bind(nb::list converted) const {
    return unwrap(kernel->bind(toCallArguments(converted)));
  }

  /// Runs without the GIL; errors of the program and exceptions of signal handlers are thrown.
  RunResult runBound(const driver::BoundArguments &bound, RunOptions options) {
    Watch watch(progress);
    options.poll = [&watch](const runtime::Progress &state) { return watch.poll(state); };
    auto goesOn = [&] { return watch.poll({}); };
    llvm::Expected<RunResult> result = [&] {
      WithoutGil others;
      InterruptScope scope(goesOn); // a call may compile code for its arguments
      return kernel->run(bound, options);
    }();
    if (!result) {
      UserError report = driver::takeReport(result.takeError());
      watch.rethrow();
      throw report;
    }
    watch.rethrow();
    return std::move(*result);
  }

  const std::shared_ptr<CompiledKernel> kernel;
  KnownCalls calls;
  std::optional<bool> isDeterministic;
  nb::object progress;
};

} // namespace

static Caller *getKernel(driver::Executable &self, const std::string &device) {
  auto kernel = compileWithoutGil([&] { return self.getKernel(device); });
  return new Caller(unwrap(std::move(kernel)));
}

void tilewright::bindings::bindKernels(nb::module_ &module, nb::class_<driver::Executable> &cls) {
  nb::class_<Caller>(module, "Kernel", "A program compiled for an engine.")
      .def("call_again", &Caller::callAgain)
      .def("call", &Caller::call)
      .def("run", &Caller::run, nb::arg("args"), nb::arg("options") = nb::dict())
      .def("set_progress", &Caller::setProgress, nb::arg("callback").none())
      .def("set_deterministic", &Caller::setDeterministic, nb::arg("value").none())
      .def("code", &Caller::getCode, nb::arg("divisible") = std::vector<std::string>(),
           nb::arg("is_ptx") = false)
      .def_prop_ro("remarks", &Caller::getRemarks);
  cls.def("kernel", &getKernel, nb::rv_policy::take_ownership, nb::arg("device"),
          "The program on an engine, compiled on first use.");
  cls.def(
      "run",
      [](driver::Executable &self, const std::string &device, nb::list args, nb::dict options) {
        std::unique_ptr<Caller> caller(getKernel(self, device));
        return caller->run(args, options);
      },
      nb::arg("device"), nb::arg("args"), nb::arg("options") = nb::dict());
}
