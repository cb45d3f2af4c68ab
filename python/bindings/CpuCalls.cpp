//===- CpuCalls.cpp - programs as compiled CPU code, in Python --------------------------------===//

#include "Bindings.h"
#include "KnownCalls.h"
#include "tilewright/Driver/CpuKernel.h"
#include "tilewright/Support/Environment.h"

using namespace tilewright;
using namespace tilewright::bindings;
using driver::CompiledCpuKernel;

/// An error of compiling or running, at the user's line.
static UserError toUserError(llvm::Error error) {
  UserError report("");
  auto place = [&](const auto &failure) {
    report.message = failure.message;
    if (failure.line)
      report.position = SourcePosition{failure.file, failure.line, failure.column};
  };
  error = llvm::handleErrors(
      std::move(error), [&](const runtime::LaunchError &failure) { place(failure); },
      [&](const cpu::CompileError &failure) { place(failure); });
  if (error)
    report.message = llvm::toString(std::move(error));
  return report;
}

/// The program compiled for the CPU, once. Other threads go on meanwhile.
static std::shared_ptr<CompiledCpuKernel> getCpuKernel(const Program &program) {
  std::shared_ptr<void> cached = program.getCompiled("cpu");
  if (!cached) {
    CompileLock lock(program);
    std::shared_ptr<void> &place = program.getCompiled("cpu");
    if (!place) { // another thread may have been faster
      auto kernel = [&] {
        WithoutGil others;
        return CompiledCpuKernel::compile(program.getModule(), program.getMutex(), {});
      }();
      if (!kernel)
        throw toUserError(kernel.takeError());
      place = std::shared_ptr<CompiledCpuKernel>(std::move(*kernel));
    }
    cached = place;
  }
  return std::static_pointer_cast<CompiledCpuKernel>(cached);
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
    WithGil lock;
    try {
      if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
      if (progress.is_valid())
        askPython([&] { progress(state.launch, state.blocksDone, state.blocks); });
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
  nb::object progress;
  std::optional<nb::python_error> raised;
};

} // namespace

static bool isDeterministicByDefault() {
  return unwrap(environment::readSwitch(environment::Variable::Deterministic, false));
}

/// Runs without the GIL; errors of the program and exceptions of signal handlers are thrown.
static void run(CompiledCpuKernel &kernel, const driver::CpuArguments &arguments,
                runtime::CpuRunOptions &options, Watch &watch) {
  options.poll = [&watch](const runtime::Progress &state) { return watch.poll(state); };
  llvm::Error error = [&] {
    WithoutGil others;
    return kernel.run(arguments, options);
  }();
  if (!error)
    return;
  UserError report = toUserError(std::move(error));
  watch.rethrow();
  throw report;
}

static nb::dict runWithOptions(CompiledCpuKernel &kernel, const driver::CpuArguments &arguments,
                               nb::dict options, nb::object progress = {}) {
  runtime::CpuRunOptions runOptions;
  runOptions.isDeterministic = options.contains("deterministic")
                                   ? nb::cast<bool>(options["deterministic"])
                                   : isDeterministicByDefault();
  Watch watch(std::move(progress));
  std::string output;
  llvm::raw_string_ostream outputStream(output);
  runOptions.output = &outputStream;
  auto start = std::chrono::steady_clock::now();
  run(kernel, arguments, runOptions, watch);
  nb::dict answer;
  answer["output"] = output;
  answer["findings"] = nb::list();
  answer["stopped"] = false;
  answer["seconds"] = secondsSince(start);
  return answer;
}

nb::dict tilewright::bindings::runOnCpu(const Program &program, nb::list arguments,
                                        nb::dict options) {
  std::vector<runtime::BoundArgument> bound = bind(program, arguments);
  std::shared_ptr<CompiledCpuKernel> kernel = getCpuKernel(program);
  return runWithOptions(*kernel, kernel->makeArguments(bound), options);
}

//===----------------------------------------------------------------------------------------===//
// The caller
//===----------------------------------------------------------------------------------------===//

namespace {

/// A program compiled for the CPU with the calls it has seen.
class CpuCaller {
public:
  CpuCaller(const Program &program) : program(program), kernel(getCpuKernel(program)) {}

  /// Runs the kernel if it was called like this before: gives what the call returns, or
  /// NotImplemented.
  nb::object callAgain(nb::tuple arguments) {
    driver::CpuArguments slots;
    nb::list outputs;
    if (kernel->hasPrints() || !calls.find(program.getFunction(), arguments, slots, outputs))
      return nb::borrow(Py_NotImplemented);
    runtime::CpuRunOptions options;
    options.isDeterministic = isDeterministic.value_or(isDeterministicByDefault());
    Watch watch(progress);
    run(*kernel, slots, options, watch);
    if (outputs.size() == 0)
      return nb::none();
    return outputs.size() == 1 ? nb::object(outputs[0]) : nb::object(outputs);
  }

  /// Checks the arguments and runs. `values` are the caller's objects in parameter order,
  /// `converted` what they became, `makers` a function for each that the call allocated, else None.
  nb::dict call(nb::list values, nb::list converted, nb::list makers, nb::dict options) {
    driver::CpuArguments slots = kernel->makeArguments(bind(program, converted));
    nb::dict answer = runWithOptions(*kernel, slots, options, progress);
    KnownCall known{{}, slots};
    mlir::func::FuncOp function = program.getFunction();
    for (auto [type, value, maker] : llvm::zip(function.getArgumentTypes(), values, makers)) {
      std::optional<KnownArgument> argument;
      if (!maker.is_none())
        argument = KnownArgument::output(nb::borrow(maker));
      else
        argument = llvm::isa<mlir::MemRefType>(type) ? KnownArgument::ofTensor(value)
                                                     : KnownArgument::ofNumber(value);
      if (!argument)
        return answer;
      known.arguments.push_back(std::move(*argument));
    }
    calls.remember(std::move(known));
    return answer;
  }

  /// Called with (launch, blocks done, blocks) now and then while the kernel runs; None for
  /// nothing.
  void setProgress(nb::object callback) {
    progress = callback.is_none() ? nb::object() : std::move(callback);
  }
  void setDeterministic(std::optional<bool> value) { isDeterministic = value; }
  bool isFromCache() const { return kernel->isFromCache(); }
  nb::list getPhases() const { return listPhases(*kernel); }
  nb::list getRemarks() const { return toList(kernel->getDecisions()); }

  static nb::list listPhases(const CompiledCpuKernel &kernel) {
    nb::list phases;
    for (const PhaseTime &phase : kernel.getPhases())
      phases.append(nb::make_tuple(phase.name, phase.milliseconds));
    return phases;
  }

private:
  const Program &program;
  std::shared_ptr<CompiledCpuKernel> kernel;
  KnownCalls calls;
  std::optional<bool> isDeterministic;
  nb::object progress;
};

} // namespace

nb::dict tilewright::bindings::compileCpu(const Program &program,
                                          const std::vector<std::string> &dumpAfter) {
  Dumps phases, dumps;
  CompiledCpuKernel::Options options;
  options.code.dump = phases.getListener();
  options.passes.dumpAfter = dumpAfter;
  options.passes.afterPass = dumps.getListener();
  CompileLock lock(program);
  auto kernel = CompiledCpuKernel::compile(program.getModule(), program.getMutex(), options);
  if (!kernel)
    throw toUserError(kernel.takeError());
  nb::dict result;
  for (const auto &[phase, text] : phases.texts)
    result[phase.c_str()] = text;
  result["phases"] = CpuCaller::listPhases(**kernel);
  result["remarks"] = toList((*kernel)->getDecisions());
  result["dumps"] = dumps.toList();
  return result;
}

void tilewright::bindings::bindCpuCalls(nb::module_ &module) {
  nb::class_<CpuCaller>(module, "CpuKernel", "A program compiled for the CPU.")
      .def(nb::init<const Program &>(), nb::keep_alive<1, 2>())
      .def("call_again", &CpuCaller::callAgain)
      .def("call", &CpuCaller::call)
      .def("set_progress", &CpuCaller::setProgress, nb::arg("callback").none())
      .def("set_deterministic", &CpuCaller::setDeterministic, nb::arg("value").none())
      .def_prop_ro("is_from_cache", &CpuCaller::isFromCache)
      .def_prop_ro("phases", &CpuCaller::getPhases)
      .def_prop_ro("remarks", &CpuCaller::getRemarks);
}
