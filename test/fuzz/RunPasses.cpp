//===- RunPasses.cpp - any tile program that the verifiers accept, through every pipeline -----===//
//
// A pipeline must end with a program or with an error, never with a crash; what it leaves must
// verify. Pieces between `// -----` lines are inputs of their own, so that the lit tests serve as
// seeds:
//
//   passes-fuzz corpus/ test/lit/Tile test/lit/Transforms test/lit/Driver -max_total_time=60
//
//===----------------------------------------------------------------------------------------===//

#include "TokenMutator.h"
#include "tilewright/Driver/Pipeline.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilewright;

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<tile::TileDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect>();
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

/// Loops over more iterations than these are for proofs and planners that take their time.
static bool isSmall(ModuleOp module) {
  unsigned numOps = 0;
  module.walk([&](Operation *) { ++numOps; });
  return numOps < 200;
}

static void runPipeline(ModuleOp module, StringRef name,
                        llvm::function_ref<void(OpPassManager &)> build) {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  PassManager pm(module.getContext());
  pm.enableVerifier(false); // it would end the process; ours names the pipeline
  build(pm);
  if (failed(pm.run(*copy)) || succeeded(verify(*copy)))
    return;
  llvm::errs() << "passes-fuzz: the pipeline '" << name << "' leaves invalid IR for\n" << module;
  abort();
}

static void runOne(StringRef text, MLIRContext *context) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text.str(), ParserConfig(context));
  if (!module || !isSmall(*module) || module->getOps<func::FuncOp>().empty())
    return;
  if (failed(driver::checkProgram(*module, {})))
    return;
  runPipeline(*module, "cpu",
              [](OpPassManager &pm) { driver::buildCpuPipeline(pm, cpu::HostTarget::detect()); });
  driver::PipelineOptions options;
  options.checkPlans = true;
  for (StringRef arch : {"sm_80", "sm_90a"})
    runPipeline(*module, arch,
                [&](OpPassManager &pm) { driver::buildGpuPipeline(pm, arch, options); });
}

/// libMLIR.so is not instrumented (ParseTileIR.cpp).
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_container_overflow=0";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::unique_ptr<MLIRContext> context;
  static unsigned numInputs = 0;
  if (numInputs++ % 200 == 0)
    context = makeContext();
  ScopedDiagnosticHandler quiet(context.get(), [](Diagnostic &) { return success(); });
  SmallVector<StringRef> pieces;
  StringRef(reinterpret_cast<const char *>(data), size).split(pieces, "// -----");
  for (StringRef piece : pieces)
    if (!piece.contains("array<"))
      runOne(piece, context.get());
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Three of four mutations keep the text a sequence of tokens: others seldom pass the verifiers.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  std::string text = test::takePiece(StringRef(reinterpret_cast<const char *>(data), size), seed);
  if (seed % 4 != 0)
    text = test::mutateTokens(text, seed);
  text.resize(std::min(text.size(), maxSize));
  llvm::copy(text, data);
  return seed % 4 ? text.size() : LLVMFuzzerMutate(data, text.size(), maxSize);
}
