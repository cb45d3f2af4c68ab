//===- InterpreterEngine.cpp - programs on the reference interpreter --------------------------===//

#include "Engines.h"
#include "tilewright/Frontend/Diagnostics.h"

using namespace mlir;
using tilewright::runtime::BoundArgument;
using tilewright::runtime::BoundTensor;

namespace tilewright::driver {
namespace {

class InterpretedKernel : public CompiledKernel {
public:
  explicit InterpretedKernel(ProgramRef program) : CompiledKernel(std::move(program)) {}

  llvm::Expected<RunResult> run(const BoundArguments &arguments,
                                const RunOptions &options) override;
  llvm::Expected<std::shared_ptr<const CompiledArtifact>> getCode(const CallFacts &) override {
    return nullptr;
  }
  std::vector<Decision> getDecisions() const override { return {}; }

private:
  llvm::Expected<OwningOpRef<ModuleOp>> schedule(const BoundArguments &bound,
                                                 const RunOptions &options);
};

class InterpreterEngine : public Engine {
public:
  llvm::Expected<std::shared_ptr<CompiledKernel>> compile(ProgramRef program,
                                                          const PipelineOptions &) override {
    return std::make_shared<InterpretedKernel>(std::move(program));
  }
};

} // namespace

static interp::Argument toArgument(const BoundArgument &argument) {
  if (auto *tensor = std::get_if<BoundTensor>(&argument))
    return interp::TensorArgument{tensor->data, tensor->shape, tensor->elementType};
  if (auto *integer = std::get_if<int64_t>(&argument))
    return *integer;
  return std::get<double>(argument);
}

/// The program as an architecture's code runs it, for a call with these arguments.
llvm::Expected<OwningOpRef<ModuleOp>> InterpretedKernel::schedule(const BoundArguments &bound,
                                                                  const RunOptions &options) {
  const Arch *arch = tilewright::findArch(options.schedule);
  if (!arch)
    return makeProgramError("unknown architecture '" + options.schedule + "'; known are " +
                            getArchNames());
  if (options.bounds)
    return makeProgramError("error radii are those of the program as written: 'bounds' and "
                            "'schedule' exclude each other");
  PipelineOptions pipeline;
  pipeline.calls = bound.getFacts();
  frontend::DiagnosticCapture capture(program->getModule().getContext());
  FailureOr<OwningOpRef<ModuleOp>> scheduled =
      scheduleForGpu(program->getModule(), *arch, pipeline);
  if (failed(scheduled))
    return llvm::make_error<ProgramError>(capture.takeError());
  return std::move(*scheduled);
}

llvm::Expected<RunResult> InterpretedKernel::run(const BoundArguments &bound,
                                                 const RunOptions &options) {
  if (llvm::Error error = checkArguments(bound))
    return error;
  std::vector<BoundArgument> arguments = bound.getArguments();
  std::vector<interp::Argument> values;
  for (const BoundArgument &argument : arguments)
    values.push_back(toArgument(argument));
  for (unsigned position : options.unwritten) {
    auto *tensor =
        position < values.size() ? std::get_if<interp::TensorArgument>(&values[position]) : nullptr;
    if (!tensor)
      return makeProgramError("argument " + Twine(position) +
                              " is no tensor that a call could have allocated");
    tensor->isUnwritten = true;
  }
  RunResult result;
  llvm::raw_string_ostream output(result.output);
  interp::Options interpOptions;
  interpOptions.check = options.check;
  interpOptions.bounds = options.bounds;
  interpOptions.threadOrder = options.threadOrder;
  interpOptions.output = &output;
  if (options.poll)
    interpOptions.poll = [&] { return options.poll({}); };
  llvm::Expected<frontend::Program::Lock> lock = program->lock();
  if (!lock)
    return toProgramError(lock.takeError());
  func::FuncOp function = program->getFunction();
  OwningOpRef<ModuleOp> scheduled;
  if (!options.schedule.empty()) {
    if (llvm::Error error = schedule(bound, options).moveInto(scheduled))
      return error;
    function = *scheduled->getOps<func::FuncOp>().begin();
  }
  Stopwatch watch;
  llvm::Expected<interp::Result> run = interp::run(function, values, interpOptions);
  if (!run)
    return toProgramError(run.takeError());
  result.seconds = watch.getSeconds();
  FindingList findings(signature->function, arguments);
  for (const interp::Finding &finding : run->findings)
    findings.add(finding);
  result.findings = findings.take();
  result.stopped = run->stopped;
  result.steps = run->steps;
  result.radii = std::move(run->radii);
  return result;
}

std::shared_ptr<Engine> makeInterpreterEngine() { return std::make_shared<InterpreterEngine>(); }

} // namespace tilewright::driver
