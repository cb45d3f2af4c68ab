//===- Emitter.cpp - appends ops at the current position of a trace --------------------------===//

#include "tilewright/Frontend/Emitter.h"
#include "tilewright/Frontend/Diagnostics.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/IR/Verifier.h"
#include <atomic>

using namespace mlir;

namespace tilewright::frontend {

static uint64_t makeId() {
  static std::atomic<uint64_t> nextId{1};
  return nextId++;
}

Emitter::Emitter(MLIRContext *context, const SourcePosition &position)
    : id(makeId()), builder(context), location(toLocation(context, position)) {}

void Emitter::locate(const SourcePosition &position) {
  Location here = toLocation(getContext(), position);
  location = callStack.empty() ? here : Location(CallSiteLoc::get(here, callStack.back()));
}

void Emitter::pushCall() { callStack.push_back(location); }

void Emitter::popCall() {
  location = callStack.back();
  callStack.pop_back();
}

void Emitter::fail(const Twine &message) const {
  UserError error(message.str());
  error.position = toPosition(location);
  throw error;
}

void Emitter::checkOwn(uint64_t traceId) const {
  if (traceId != id)
    fail("a value of another kernel is used here; values live only while their kernel is traced");
}

/// The kernel that a value is made in; null outside kernels.
static tile::KernelOp findKernel(Value value) {
  Operation *parent = value.getParentRegion()->getParentOp();
  auto kernel = dyn_cast<tile::KernelOp>(parent);
  return kernel ? kernel : parent->getParentOfType<tile::KernelOp>();
}

/// Refuses a use of a value outside the region that defines it: a tile or an index of a kernel that
/// has ended.
static void refuseEscapedValues(Operation *root) {
  root->walk<WalkOrder::PreOrder>([](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (operand.getParentRegion()->isAncestor(op->getParentRegion()))
        continue;
      // Python keeps the names of loops and branches inside; a kernel in C++ may carry them out.
      bool isSameKernel = op->getParentOfType<tile::KernelOp>() && findKernel(operand) &&
                          findKernel(operand) == op->getParentOfType<tile::KernelOp>();
      UserError error(
          isSameKernel ? "this uses a value outside the loop or branch that made it; keep it in a "
                         "tile or a variable"
                       : "this uses a tile or an index of another T.Kernel, which ended; a tile "
                         "lives in its kernel, pass values between kernels through a tensor");
      error.position = toPosition(op->getLoc());
      if (std::optional<SourcePosition> definition = toPosition(operand.getLoc()))
        error.notes.push_back({*definition, "it is defined here"});
      throw error;
    }
  });
}

void Emitter::verifyOrThrow(Operation *op, bool recursively) {
  refuseEscapedValues(op);
  DiagnosticCapture capture(getContext());
  if (failed(mlir::verify(op, recursively)))
    throw capture.takeError();
}

} // namespace tilewright::frontend
