//===- CompilePass.cpp - a compilation as a pass, for tw-opt ----------------------------------===//
//
//   tw-opt --tile-compile=target=sm_80 kernel.mlir     checks and compiles, and keeps nothing
//   tw-opt --tile-plan-gpu=arch=sm_80 kernel.mlir      the passes on tile IR alone
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Codegen/Cpu/HostCode.h"
#include "tilewright/Driver/Pipeline.h"
#include "tilewright/Driver/Reproducer.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace tilewright::driver {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_COMPILE
#define GEN_PASS_REGISTRATION
#include "tilewright/Driver/Passes.h.inc"

namespace {
struct CompilePass : impl::CompileBase<CompilePass> {
  using CompileBase::CompileBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    nvptx::registerDialects(registry);
  }

  LogicalResult compileForHost(const PipelineOptions &options) {
    llvm::Expected<CompiledArtifact> artifact = compileForCpu(getOperation(), options);
    if (artifact)
      return success();
    return getOperation().emitError() << llvm::toString(artifact.takeError());
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Arch *arch = tilewright::findArch(target);
    if (module.getOps<func::FuncOp>().empty() || (!arch && target != "cpu")) {
      module.emitError() << "'tile-compile' needs a function, and 'cpu' or one of "
                         << getArchNames() << " as its target";
      return signalPassFailure();
    }
    PipelineOptions options;
    options.calls.argumentAlignment = alignment;
    options.calls.disjointArguments = disjoint;
    options.calls.tensorMaps = tensorMaps;
    if (failed(checkProgram(module)) ||
        failed(arch ? LogicalResult(compileForGpu(module, *arch, options))
                    : compileForHost(options)))
      signalPassFailure();
  }
};
} // namespace

namespace {
struct PlanGpuOptions : PassPipelineOptions<PlanGpuOptions> {
  Option<std::string> arch{*this, "arch", llvm::cl::desc("architecture"), llvm::cl::init("sm_80")};
  Option<int64_t> alignment{*this, "alignment", llvm::cl::desc("of arguments, in bytes"),
                            llvm::cl::init(16)};
  Option<bool> disjoint{*this, "disjoint", llvm::cl::desc("arguments share no memory"),
                        llvm::cl::init(true)};
  Option<bool> tensorMaps{*this, "tensor-maps", llvm::cl::desc("launches can encode tensor maps"),
                          llvm::cl::init(true)};
};
} // namespace

void registerDriverPasses() {
  registerTilewrightDriverPasses();
  PassPipelineRegistration<PlanGpuOptions>("tile-plan-gpu",
                                           "All passes on tile IR of a compilation for a GPU",
                                           [](OpPassManager &pm, const PlanGpuOptions &given) {
                                             PipelineOptions options;
                                             options.calls.argumentAlignment = given.alignment;
                                             options.calls.disjointArguments = given.disjoint;
                                             options.calls.tensorMaps = given.tensorMaps;
                                             buildGpuPipeline(pm, given.arch, options);
                                           });
}

} // namespace tilewright::driver
