//===- Passes.h - the lowering to host code as a pass, for tw-opt -------------------*- C++ -*-===//

#ifndef TILEWRIGHT_CODEGEN_CPU_PASSES_H
#define TILEWRIGHT_CODEGEN_CPU_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tilewright/Codegen/Cpu/Passes.h.inc"
} // namespace tilewright

#endif // TILEWRIGHT_CODEGEN_CPU_PASSES_H
