//===- EmitSteps.h - the steps of emitPtx that are files of their own -------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_NVPTX_EMITSTEPS_H
#define TILEWRIGHT_LIB_CODEGEN_NVPTX_EMITSTEPS_H

#include "mlir/Pass/Pass.h"

namespace llvm {
class Error;
class Module;
} // namespace llvm

namespace tilewright::nvptx {

/// LowerMath.cpp: functions that PTX has no precise instruction for become calls of the device
/// library or, under fast math, approximate instructions; fast math also permits contraction.
std::unique_ptr<mlir::Pass> createLowerMathPass(bool fastMath);

/// LinkDeviceMath.cpp: gives the declared functions of the device library their bodies.
llvm::Error linkDeviceMath(llvm::Module &module);

} // namespace tilewright::nvptx

#endif // TILEWRIGHT_LIB_CODEGEN_NVPTX_EMITSTEPS_H
