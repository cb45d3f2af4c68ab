//===- Interruptible.cpp - compilations that end when their caller wants ----------------------===//

#include "Interruptible.h"
#include "tilewright/Driver/Reproducer.h"
#include "tilewright/Frontend/Diagnostics.h"
#include "tilewright/Support/Environment.h"
#include "tilewright/Support/Interrupts.h"
#include "tilewright/Tile/Effects.h"
#include "tilewright/Tile/InternalError.h"
#include "tilewright/Tile/Tile.h"

#include <chrono>

using namespace mlir;

namespace tilewright::driver {

/// Seconds that no kernel of real programs takes, even on a busy machine.
constexpr uint64_t kDefaultSeconds = 600;

/// The statement with the most operations: as a rule, the one that takes the time.
static std::pair<Operation *, int64_t> findLargestStatement(ModuleOp module) {
  std::pair<Operation *, int64_t> largest{nullptr, 0};
  llvm::DenseMap<Operation *, int64_t> counts; // with all that is inside
  // Inner operations come first: each adds its count to that of the one around it.
  module.walk<WalkOrder::PostOrder>([&](Operation *op) {
    int64_t count = ++counts[op];
    if (Operation *outer = op->getParentOp())
      counts[outer] += count;
    bool isStatement = isa<tile::ParallelOp, tile::TileEffectsOpInterface>(op);
    // A statement inside another one has fewer operations.
    if (isStatement && count > largest.second)
      largest = {op, count};
  });
  return largest;
}

static llvm::Error makeLimitError(const frontend::Program &program, Work kind, StringRef target,
                                  uint64_t seconds) {
  std::string name = program.getFunction().getName().str();
  std::string work = kind == Work::Check ? "checking it" : "compiling it for " + target.str();
  frontend::UserError report("'" + name + "': " + work + " took more than " +
                             std::to_string(seconds) + " s");
  auto [statement, count] = findLargestStatement(program.getModule());
  if (statement) {
    report.message += "; its largest statement, with " + std::to_string(count) +
                      " operations, is this one: split it";
    report.position = frontend::toPosition(statement->getLoc());
  }
  report.message += ", or set TILEWRIGHT_COMPILE_SECONDS to a higher limit";
  return llvm::make_error<ProgramError>(std::move(report));
}

llvm::Error runInterruptibly(const ProgramRef &program, const frontend::Program::Lock &lock,
                             Work kind, StringRef target, const CallFacts &calls,
                             std::function<void()> work) {
  Result<uint64_t> seconds =
      environment::readNumber(environment::Variable::CompileLimit, kDefaultSeconds);
  if (!seconds)
    return makeProgramError(seconds.getFailure().message);
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(*seconds);
  bool isLate = false;
  auto compilation = std::make_shared<AbandonableWork>(std::move(work));
  switch (compilation->run([&] {
    isLate = std::chrono::steady_clock::now() > end;
    return !isLate && InterruptScope::goesOn();
  })) {
  case AbandonableWork::End::Finished:
    return llvm::Error::success();
  case AbandonableWork::End::Stopped:
    return toProgramError(makeInternalError(
        reportStop(program->getModule(), target, calls, compilation->getReason())));
  case AbandonableWork::End::Abandoned:
    program->leaveTo(std::move(compilation), lock);
    return isLate ? makeLimitError(*program, kind, target, *seconds)
                  : makeProgramError("interrupted");
  }
  llvm_unreachable("all ends are handled");
}

PipelineOptions detachListener(PipelineOptions options) {
  if (options.afterPass)
    options.afterPass = [listener = std::move(options.afterPass)](StringRef pass, StringRef text) {
      useCaller([&] { listener(pass, text); });
    };
  return options;
}

} // namespace tilewright::driver
