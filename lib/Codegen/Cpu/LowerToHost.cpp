//===- LowerToHost.cpp - the lowering to host code as a pass ----------------------------------===//

#include "tilewright/Codegen/Cpu/Lower.h"
#include "tilewright/Codegen/Cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilewright {
#define GEN_PASS_DEF_LOWERTOHOST
#include "tilewright/Codegen/Cpu/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {
struct LowerToHostPass : tilewright::impl::LowerToHostBase<LowerToHostPass> {
  using Base::Base;

  void runOnOperation() override {
    cpu::LowerOptions options;
    options.calls.disjointArguments = disjoint;
    options.vectorWidth = unsigned(vectorWidth.getValue());
    options.hasRange = range;
    options.tilesInSoftware = tilesInSoftware;
    options.readAheadBytes = readAheadBytes;
    OwningOpRef<ModuleOp> host = cpu::lowerToHost(getOperation(), options);
    if (!host)
      return signalPassFailure();
    Block *body = getOperation().getBody();
    body->clear();
    body->getOperations().splice(body->end(), host->getBody()->getOperations());
  }
};
} // namespace
