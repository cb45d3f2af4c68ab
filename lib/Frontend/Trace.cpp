//===- Trace.cpp - life of a trace -----------------------------------------------------------===//

#include "tilewright/Frontend/Trace.h"
#include "tilewright/Frontend/Diagnostics.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright::frontend {

static thread_local Trace *activeTrace = nullptr;

Trace *Trace::currentOrNull() { return activeTrace; }

Trace &Trace::current() {
  if (!activeTrace)
    throw UserError("a kernel expression is used outside a kernel");
  return *activeTrace;
}

void Trace::activate() { activeTrace = this; }
void Trace::deactivate() {
  if (activeTrace == this)
    activeTrace = nullptr;
}

Trace::Trace(StringRef name, const SourcePosition &position)
    : context(makeContext()), module(ModuleOp::create(toLocation(context.get(), position))),
      emitter(context.get(), position), signature(emitter, *module, name) {}

Trace::~Trace() { deactivate(); }

/// Erases reads and pure operations that nothing uses: the traces of values that Python dropped.
static void eraseDeadOps(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops)) // uses before definitions, inner ops before outer
    if (isOpTriviallyDead(op))
      op->erase();
}

std::unique_ptr<Program> Trace::finish(bool fastMath) {
  if (regions.getDepth() > 0)
    emitter.fail("a '" + regions.getKind() + "' region is still open");
  clusters.forget();
  func::FuncOp function = signature.getFunction();
  eraseDeadOps(function);
  signature.close();
  if (fastMath)
    function->setAttr("tile.fast_math", UnitAttr::get(context.get()));
  emitter.verifyOrThrow(*module, /*recursively=*/true);
  deactivate();
  return std::make_unique<Program>(std::move(context), std::move(module));
}

} // namespace tilewright::frontend
