//===- Engine.h - compile a program and run it, on any engine -----------------------*- C++ -*-===//
//
// One interface for the four ways to run a program:
//
//   interp        the reference interpreter; compiles nothing and checks what a run does
//   cpu           object code for this machine, linked into the process
//   vgpu:sm_80    PTX on the virtual GPU of an architecture, checked while it runs
//   cuda:0        PTX on a GPU of this machine, through NVIDIA's driver
//
// It needs no Python:
//
//   auto program = Executable::parse(text);                          // tile IR; Executable.h
//   auto engine = Engine::get("vgpu:sm_80");
//   auto kernel = (*engine)->compile((*program)->getProgram());
//   auto arguments = (*kernel)->bind({TensorView{a, {64}, {1}, "float32"}, …, int64_t(3)});
//   auto result = (*kernel)->run(*arguments);                        // tensors are updated in place
//   for (const Finding &finding : result->findings) …
//
// A kernel holds the variants of its code: a call runs the one compiled under the facts that hold
// for its arguments (Tile/CallFacts.h), which is compiled when the first such call comes, and kept
// on disk (CompiledArtifact.h). What is wrong with a program or a call is a ProgramError; what the
// checks find while a program runs is part of the result. Nothing throws.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_ENGINE_H
#define TILEWRIGHT_DRIVER_ENGINE_H

#include "tilewright/Driver/BoundArguments.h"
#include "tilewright/Driver/CompiledArtifact.h"
#include "tilewright/Driver/Findings.h"
#include "tilewright/Driver/Pipeline.h"
#include "tilewright/Driver/ProgramError.h"
#include "tilewright/Frontend/Program.h"
#include "tilewright/Runtime/CpuDevice.h"

namespace tilewright::driver {

using ProgramRef = std::shared_ptr<const frontend::Program>;

/// Options of a run. An engine ignores what it cannot do.
struct RunOptions {
  /// Called on the calling thread now and then; gives false to end the run early. Engines without a
  /// notion of progress give one of zero blocks.
  std::function<bool(const runtime::Progress &)> poll;
  /// Interpreter: watch for undefined values, conflicts and races.
  bool check = true;
  /// Interpreter: carry error radii.
  bool bounds = false;
  /// Interpreter: in which order threads take turns, as interp::Options has it.
  uint64_t threadOrder = 0;
  /// Interpreter: an architecture, to run what its code is made of: the program as the passes have
  /// scheduled it, in the order of `threadOrder`.
  std::string schedule;
  /// Interpreter: tensors that the call allocated, so that nothing has written them yet.
  std::vector<unsigned> unwritten;
  /// CPU: blocks run one after another, so that atomic sums come out the same in each run;
  /// TILEWRIGHT_DETERMINISTIC decides if nothing is said.
  std::optional<bool> deterministic;
  /// Virtual GPU: which checks run, as vgpu::CheckSet::parse has it.
  std::string checks = "all";
  /// Virtual GPU: bytes whose last writer is reported.
  std::optional<vgpu::WatchedBytes> watch;
  /// Virtual GPU: a block of each launch whose events are recorded.
  std::optional<vgpu::TracedBlock> trace;
  /// Virtual GPU: PTX that runs in place of the kernel's, with the same entries. It is not kept.
  std::optional<std::string> ptx;
  /// CUDA: the stream to launch on.
  void *stream = nullptr;
};

/// What a run left besides the tensors it wrote.
struct RunResult {
  std::vector<Finding> findings; ///< Interpreter and virtual GPU.
  bool stopped = false;          ///< An error, a fault or a limit ended the run early.
  std::string output;            ///< Of `T.print`; a GPU prints to standard output.
  double seconds = 0;            ///< Of the run, without compiling.
  /// The code that was compiled or loaded for this call; null if an earlier call had done so.
  std::shared_ptr<const CompiledArtifact> compiled;
  /// Interpreter: operations executed, and with `bounds` the error radii.
  uint64_t steps = 0;
  std::vector<interp::TensorRadii> radii;
  /// Virtual GPU: one for each launch, with its counters.
  std::vector<vgpu::LaunchResult> launches;
};

/// A program made ready for one engine. Several threads may use it at once.
class CompiledKernel {
public:
  virtual ~CompiledKernel();
  CompiledKernel(const CompiledKernel &) = delete;

  const frontend::Program &getProgram() const { return *program; }

  /// Checks what a caller passes, one for each parameter.
  llvm::Expected<BoundArguments> bind(llvm::ArrayRef<runtime::CallArgument> arguments) const;

  /// Runs with arguments of this kernel's `bind`, whose tensors are updated in place.
  virtual llvm::Expected<RunResult> run(const BoundArguments &arguments,
                                        const RunOptions &options = {}) = 0;

  /// The code for calls with these facts, compiled on first use; null for an engine that
  /// compiles nothing.
  virtual llvm::Expected<std::shared_ptr<const CompiledArtifact>>
  getCode(const CallFacts &calls = {}) = 0;

  /// What the compiler decided about all code up to now: a call may need another variant.
  virtual std::vector<Decision> getDecisions() const = 0;

  /// Whether a run leaves nothing but values of tensors: no findings and no output.
  virtual bool isSilent() const { return false; }

protected:
  explicit CompiledKernel(ProgramRef program);
  /// An error for arguments that another kernel has bound.
  llvm::Error checkArguments(const BoundArguments &arguments) const;

  const ProgramRef program;
  const std::shared_ptr<const Signature> signature;
};

class Engine {
public:
  virtual ~Engine();

  /// The engine of a device: "interp", "cpu", "vgpu:<architecture>" or "cuda:<number>".
  static llvm::Expected<std::shared_ptr<Engine>> get(llvm::StringRef device);

  /// Compiles a checked program for calls with the facts of `options`, so that what the engine
  /// cannot do is said now and not at the first call; `options` may also have this code shown. What
  /// the environment asks of code (TILEWRIGHT_CHECK_PLANS) is added. Waits for others who compile
  /// or interpret the program.
  virtual llvm::Expected<std::shared_ptr<CompiledKernel>>
  compile(ProgramRef program, const PipelineOptions &options = {}) = 0;
};

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_ENGINE_H
