//===- ParseTileIR.cpp - any text given to the parser, verifiers and checks -------------------===//
//
// Malformed IR must be refused with a message, never with a crash; what is accepted must print,
// parse again and print the same. Pieces between `// -----` lines are inputs of their own, so that
// the lit tests serve as seeds:
//
//   tile-ir-fuzz corpus/ test/lit/Tile test/lit/Transforms -max_total_time=60
//
// A crash inside libMLIR.so on IR without our dialect is not ours; docs/internals/fuzzing.md lists those
// known.
//
//===----------------------------------------------------------------------------------------===//

#include "TokenMutator.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
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

/// The lexer looks at the zero behind a text, which a string has and a piece of the input does not.
static OwningOpRef<ModuleOp> parse(const std::string &text, MLIRContext *context) {
  return parseSourceString<ModuleOp>(text, ParserConfig(context));
}

static std::string print(ModuleOp module, bool generic) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().printGenericOpForm(generic));
  return text;
}

[[noreturn]] static void complain(StringRef what, StringRef text) {
  llvm::errs() << "tile-ir-fuzz: " << what << "\n" << text << "\n";
  abort();
}

/// What was accepted has one text, in either form.
static void checkRoundTrip(ModuleOp module) {
  std::string first = print(module, /*generic=*/false);
  for (bool generic : {false, true}) {
    OwningOpRef<ModuleOp> again = parse(print(module, generic), module.getContext());
    if (!again)
      complain(generic ? "the generic form does not parse" : "the printed form does not parse",
               first);
    if (std::string second = print(*again, /*generic=*/false); second != first)
      complain("printing again differs: " + second, first);
  }
}

/// Asks each op what passes ask.
static void askOps(ModuleOp module) {
  module.walk([](Operation *op) {
    (void)tile::getEffects(op);
    if (auto declared = dyn_cast<tile::TileEffectsOpInterface>(op))
      (void)declared.getScratchSharedBytes(/*numThreads=*/128);
    if (isa_and_present<tile::TileDialect>(op->getDialect())) {
      SmallVector<OpFoldResult> folded;
      (void)op->fold(folded);
    }
  });
}

/// Texts on which libMLIR.so itself crashes (docs/internals/fuzzing.md), with or without our dialect.
static bool isKnownUpstreamCrash(StringRef text) {
  // array<T: …> of a T that is no number, `index` above all.
  for (size_t at = text.find("array"); at != StringRef::npos; at = text.find("array", at + 1)) {
    StringRef rest = text.drop_front(at + 5).ltrim();
    if (rest.consume_front("<") && !rest.ltrim().starts_with("i1") &&
        !rest.ltrim().starts_with("i8") && !rest.ltrim().starts_with("i32") &&
        !rest.ltrim().starts_with("i64") && !rest.ltrim().starts_with("f"))
      return true;
  }
  return false;
}

static void runOne(StringRef text, MLIRContext *context) {
  if (isKnownUpstreamCrash(text))
    return;
  OwningOpRef<ModuleOp> module = parse(text.str(), context);
  if (!module)
    return;
  checkRoundTrip(*module);
  askOps(*module);
  PassManager pm(context);
  pm.addPass(createCheckParallel());
  (void)pm.run(*module);
}

/// libMLIR.so is not instrumented: it takes memory from arenas that our side has poisoned, and
/// fills vectors whose bounds our side watches.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_container_overflow=0";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Uniqued attributes are never freed: a new context now and then keeps memory low.
  static std::unique_ptr<MLIRContext> context;
  static unsigned numInputs = 0;
  if (numInputs++ % 500 == 0)
    context = makeContext();
  ScopedDiagnosticHandler quiet(context.get(), [](Diagnostic &) { return success(); });
  SmallVector<StringRef> pieces;
  StringRef(reinterpret_cast<const char *>(data), size).split(pieces, "// -----");
  for (StringRef piece : pieces)
    runOne(piece, context.get());
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Half of the mutations keep the text a sequence of tokens, the others are libFuzzer's own.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  std::string text = test::takePiece(StringRef(reinterpret_cast<const char *>(data), size), seed);
  if (seed % 2 == 0)
    text = test::mutateTokens(text, seed);
  text.resize(std::min(text.size(), maxSize));
  llvm::copy(text, data);
  return seed % 2 ? LLVMFuzzerMutate(data, text.size(), maxSize) : text.size();
}
