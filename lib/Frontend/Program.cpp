//===- Program.cpp - a traced function with the context that owns it -------------------------===//

#include "tilewright/Frontend/Program.h"
#include "tilewright/Support/Interrupts.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Action.h"
#include "mlir/Parser/Parser.h"
#include <thread>

using namespace mlir;

namespace tilewright::frontend {

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<tile::TileDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect>();
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  // The constructor leaves the uniquers of types and attributes with caches for each thread, which
  // look through the caches of all living contexts at each new kind of type.
  context->disableMultithreading();
  context->loadAllAvailableDialects();
  // Otherwise every remark prints its operation, and that numbers the whole program.
  context->printOpOnDiagnostic(false);
  // The passes of a compilation that was abandoned do nothing.
  context->registerActionHandler([](llvm::function_ref<void()> run, const tracing::Action &) {
    if (!isAbandoned())
      run();
  });
  return context;
}

llvm::Expected<Program::Lock> Program::lock() const {
  while (true) {
    Lock lock = lockInterruptibly(mutex);
    if (!lock.owns_lock())
      return llvm::createStringError("interrupted");
    if (!abandoned || abandoned->isOver()) {
      abandoned.reset();
      return lock;
    }
    lock.unlock();
    if (!InterruptScope::goesOn())
      return llvm::createStringError("interrupted");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::unique_ptr<Program> Program::withSetting(llvm::StringRef name, bool isSet) const {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  if (failed(writeBytecodeToFile(getModule(), os)))
    return nullptr;
  std::shared_ptr<MLIRContext> own = makeContext();
  OwningOpRef<ModuleOp> read = parseSourceString<ModuleOp>(bytes, ParserConfig(own.get()));
  if (!read)
    return nullptr;
  auto copy = std::make_unique<Program>(own, std::move(read));
  func::FuncOp function = copy->getFunction();
  if (isSet)
    function->setAttr(name, UnitAttr::get(own.get()));
  else
    function->removeAttr(name);
  return copy;
}

std::string Program::getText(bool withLocations) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  if (withLocations)
    flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/true);
  ModuleOp(*module).print(os, flags);
  return text;
}

} // namespace tilewright::frontend
