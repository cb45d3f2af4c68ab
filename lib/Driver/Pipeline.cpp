//===- Pipeline.cpp - which passes run in which order ----------------------------------------===//

#include "tilewright/Driver/Pipeline.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Pass/PassInstrumentation.h"

using namespace mlir;

namespace tilewright::driver {

void buildCheckPipeline(OpPassManager &pm) { pm.addPass(createCheckParallel()); }

namespace {
/// Hands the IR after each pass of interest to the caller.
class DumpInstrumentation : public PassInstrumentation {
public:
  explicit DumpInstrumentation(const PipelineOptions &options) : options(options) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    StringRef name = pass->getArgument();
    bool wanted = llvm::any_of(options.dumpAfter, [&](const std::string &pattern) {
      return pattern == "*" || pattern == name;
    });
    if (!wanted || name.empty())
      return;
    std::string text;
    llvm::raw_string_ostream os(text);
    OpPrintingFlags flags;
    flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/true);
    op->print(os, flags);
    options.afterPass(name, text);
  }

private:
  const PipelineOptions &options;
};
} // namespace

LogicalResult checkProgram(ModuleOp module, const PipelineOptions &options) {
  PassManager pm(module.getContext());
  buildCheckPipeline(pm);
  if (options.afterPass)
    pm.addInstrumentation(std::make_unique<DumpInstrumentation>(options));
  return pm.run(module);
}

std::vector<std::string> getPassNames() {
  OpPassManager pm("builtin.module");
  buildCheckPipeline(pm);
  std::vector<std::string> names;
  for (Pass &pass : pm.getPasses())
    names.push_back(pass.getArgument().str());
  return names;
}

} // namespace tilewright::driver
