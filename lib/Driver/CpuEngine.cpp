//===- CpuEngine.cpp - programs as code of this machine ---------------------------------------===//
//
// Joins the CPU backend (Codegen/Cpu) and the CPU device (Runtime). A kernel has two variants of
// its code: for calls in which no tensor that is written overlaps another, which is compiled at
// once, and for all others.
//
//===----------------------------------------------------------------------------------------===//

#include "Engines.h"
#include "tilewright/Codegen/Cpu/HostCode.h"
#include "tilewright/Support/Environment.h"
#include "tilewright/Tile/Tile.h"

#include <atomic>

using namespace mlir;

namespace tilewright::driver {
namespace {

class CpuKernel : public CompiledKernel {
public:
  explicit CpuKernel(ProgramRef program);
  llvm::Error compileFirst(const PipelineOptions &options);

  llvm::Expected<RunResult> run(const BoundArguments &arguments,
                                const RunOptions &options) override;
  llvm::Expected<std::shared_ptr<const CompiledArtifact>> getCode(const CallFacts &calls) override;
  std::vector<Decision> getDecisions() const override;
  bool isSilent() const override { return !printsSomething; }

private:
  /// The program compiled under one assumption.
  struct Variant {
    std::shared_ptr<const CompiledArtifact> artifact;
    std::unique_ptr<cpu::HostCode> code;
    std::atomic<host::Entry> entry = nullptr; ///< Set last: who sees it may use all the others.
  };

  llvm::Expected<bool> makeReady(Variant &variant);
  llvm::Error compile(Variant &variant, PipelineOptions options,
                      const frontend::Program::Lock &lock);
  llvm::Expected<bool> keepsOrder(const RunOptions &options) const;

  /// Blocks update what they share, so that their order can show in a result: in the rounding of a
  /// sum, or in the previous value that an update returns.
  const bool dependsOnBlockOrder;
  const bool printsSomething;
  Variant disjoint, overlapping;
};

class CpuEngine : public Engine {
public:
  llvm::Expected<std::shared_ptr<CompiledKernel>> compile(ProgramRef program,
                                                          const PipelineOptions &options) override {
    auto kernel = std::make_shared<CpuKernel>(std::move(program));
    if (llvm::Error error = kernel->compileFirst(options))
      return error;
    return kernel;
  }
};

} // namespace

template <typename... OpTs> static bool contains(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        return isa<OpTs...>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

CpuKernel::CpuKernel(ProgramRef source)
    : CompiledKernel(std::move(source)),
      dependsOnBlockOrder(contains<tile::AtomicOp, tile::AtomicElementOp>(program->getFunction())),
      printsSomething(contains<tile::PrintOp>(program->getFunction())) {}

//===----------------------------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------------------------===//

/// Of the facts about a call, those that CPU code depends on.
static CallFacts selectFacts(bool areDisjoint) { return {.disjointArguments = areDisjoint}; }

llvm::Error CpuKernel::compile(Variant &variant, PipelineOptions options,
                               const frontend::Program::Lock &lock) {
  llvm::Expected<PipelineOptions> all = addEnvironment(std::move(options));
  if (!all)
    return all.takeError();
  all->calls = selectFacts(&variant == &disjoint);
  std::unique_ptr<cpu::HostCode> code;
  host::Entry entry = nullptr;
  auto link = [&](const CompiledArtifact &artifact) -> llvm::Error {
    auto linked =
        cpu::HostCode::link(llvm::MemoryBuffer::getMemBufferCopy(artifact.code, "tilewright.o"));
    if (!linked)
      return linked.takeError();
    llvm::Expected<host::Entry> found = (*linked)->lookup(program->getFunction().getName());
    if (!found)
      return found.takeError();
    code = std::move(*linked);
    entry = *found;
    return llvm::Error::success();
  };
  llvm::Expected<CompiledArtifact> artifact =
      compileOrLoad(program, lock, /*arch=*/nullptr, *all, link);
  if (!artifact)
    return artifact.takeError();
  NoFork noFork;
  variant.artifact = std::make_shared<CompiledArtifact>(std::move(*artifact));
  variant.code = std::move(code);
  variant.entry = entry;
  return llvm::Error::success();
}

llvm::Error CpuKernel::compileFirst(const PipelineOptions &options) {
  llvm::Expected<frontend::Program::Lock> lock = program->lock();
  if (!lock)
    return toProgramError(lock.takeError());
  return compile(options.calls.disjointArguments ? disjoint : overlapping, options, *lock);
}

/// Compiles the variant if no call has needed it before, and says whether it did.
llvm::Expected<bool> CpuKernel::makeReady(Variant &variant) {
  if (variant.entry)
    return false;
  llvm::Expected<frontend::Program::Lock> lock = program->lock();
  if (!lock)
    return toProgramError(lock.takeError());
  if (variant.entry) // another thread was faster
    return false;
  if (llvm::Error error = compile(variant, {}, *lock))
    return error;
  return true;
}

llvm::Expected<std::shared_ptr<const CompiledArtifact>> CpuKernel::getCode(const CallFacts &calls) {
  Variant &variant = calls.disjointArguments ? disjoint : overlapping;
  llvm::Expected<bool> isNew = makeReady(variant);
  if (!isNew)
    return isNew.takeError();
  return variant.artifact;
}

//===----------------------------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------------------------===//

/// Whether the blocks of this run follow each other.
llvm::Expected<bool> CpuKernel::keepsOrder(const RunOptions &options) const {
  if (options.deterministic)
    return *options.deterministic && dependsOnBlockOrder;
  Result<bool> byDefault = environment::readSwitch(environment::Variable::Deterministic, false);
  if (!byDefault)
    return makeProgramError(byDefault.getFailure().message);
  return *byDefault && dependsOnBlockOrder;
}

llvm::Expected<RunResult> CpuKernel::run(const BoundArguments &arguments,
                                         const RunOptions &options) {
  if (llvm::Error error = checkArguments(arguments))
    return error;
  if (MaybeFailure failure =
          rt::checkAlignment(signature->form, arguments.getTensors(), arguments.getSlots()))
    return makeProgramError(failure->message);
  llvm::Expected<bool> isDeterministic = keepsOrder(options);
  if (!isDeterministic)
    return isDeterministic.takeError();
  Variant &variant = arguments.haveOverlap() ? overlapping : disjoint;
  llvm::Expected<bool> isNew = makeReady(variant);
  if (!isNew)
    return isNew.takeError();
  RunResult result;
  if (*isNew)
    result.compiled = variant.artifact;
  runtime::CpuRunOptions runOptions;
  runOptions.isDeterministic = *isDeterministic;
  runOptions.poll = options.poll;
  llvm::raw_string_ostream output(result.output);
  runOptions.output = &output;
  Stopwatch watch;
  if (llvm::Error error = runtime::runOnCpu(variant.entry, arguments.getSlots(), runOptions))
    return toProgramError(std::move(error));
  result.seconds = watch.getSeconds();
  return result;
}

//===----------------------------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------------------------===//

std::vector<Decision> CpuKernel::getDecisions() const {
  std::vector<Decision> all;
  if (disjoint.entry)
    all = disjoint.artifact->decisions;
  if (!overlapping.entry)
    return all;
  Decision decision;
  if (auto position = program->getFunction()->getLoc()->findInstanceOf<FileLineColLoc>()) {
    decision.file = position.getFilename().str();
    decision.line = position.getLine();
    decision.column = position.getColumn();
  }
  decision.kind = "overlap";
  decision.message = "a call has arguments that share memory with one that is written: it and its "
                     "like run code in which no statements run together";
  all.push_back(std::move(decision));
  llvm::append_range(all, overlapping.artifact->decisions);
  return all;
}

std::shared_ptr<Engine> makeCpuEngine() { return std::make_shared<CpuEngine>(); }

} // namespace tilewright::driver
