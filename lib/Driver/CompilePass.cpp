//===- CompilePass.cpp - a compilation as a pass, for tw-opt ----------------------------------===//
//
//   tw-opt --tile-compile=target=sm_80 kernel.mlir     checks and compiles, and keeps nothing
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Driver/CpuKernel.h"
#include "tilewright/Driver/Reproducer.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace tilewright::driver {

namespace {
struct CompilePass : PassWrapper<CompilePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CompilePass)

  CompilePass() = default;
  CompilePass(const CompilePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tile-compile"; }
  StringRef getDescription() const override {
    return "compiles a module for the CPU or a GPU, and keeps no code";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    nvptx::registerDialects(registry);
  }

  LogicalResult compileForHost() {
    cpu::loadHostDialects(getContext());
    ForkedMutex mutex;
    CompiledCpuKernel::Options options;
    options.code.dump = [](StringRef, StringRef) {}; // code that is shown is not kept on disk
    auto kernel = CompiledCpuKernel::compile(getOperation(), mutex, options);
    if (kernel)
      return success();
    return getOperation().emitError() << llvm::toString(kernel.takeError());
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Arch *arch = findArch(target);
    if (module.getOps<func::FuncOp>().empty() || (!arch && target != "cpu")) {
      module.emitError() << "'tile-compile' needs a function, and 'cpu' or one of "
                         << getArchNames() << " as its target";
      return signalPassFailure();
    }
    PipelineOptions options;
    options.calls.argumentAlignment = alignment;
    options.calls.disjointArguments = disjoint;
    if (failed(checkProgram(module)) ||
        failed(arch ? LogicalResult(compileForGpu(module, *arch, options)) : compileForHost()))
      signalPassFailure();
  }

  Option<std::string> target{*this, "target", llvm::cl::desc("'cpu' or an architecture"),
                             llvm::cl::init("cpu")};
  Option<int64_t> alignment{*this, "alignment",
                            llvm::cl::desc("bytes that divide the address of every tensor"),
                            llvm::cl::init(16)};
  Option<bool> disjoint{*this, "disjoint",
                        llvm::cl::desc("no tensor that is written shares memory with another"),
                        llvm::cl::init(true)};
};
} // namespace

void registerCompilePass() { PassRegistration<CompilePass>(); }

} // namespace tilewright::driver
