//===- EmitSteps.h - the steps of emitPtx that are files of their own, device library ---------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_NVPTX_EMITSTEPS_H
#define TILEWRIGHT_LIB_CODEGEN_NVPTX_EMITSTEPS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class Error;
class Module;
class TargetMachine;
class raw_pwrite_stream;
} // namespace llvm

namespace tilewright::nvptx {

/// LowerMath.cpp: a call of a function from elsewhere, which is declared if it is not yet.
mlir::LLVM::CallOp callExternal(mlir::ImplicitLocOpBuilder &b, mlir::ModuleOp module,
                                llvm::StringRef function, mlir::Type result,
                                mlir::ValueRange operands);
/// The result of such a call of the device library.
mlir::Value callDeviceLibrary(mlir::ImplicitLocOpBuilder &b, mlir::ModuleOp module,
                              llvm::StringRef function, mlir::Type result,
                              mlir::ValueRange operands);

/// LinkDeviceMath.cpp: gives the declared functions of the device library their bodies.
llvm::Error linkDeviceMath(llvm::Module &module);

/// Optimise.cpp: LLVM's passes.
void optimise(llvm::Module &module, llvm::TargetMachine &machine);
/// Optimise.cpp: writes PTX. False if the target cannot.
bool generateCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::raw_pwrite_stream &os);

/// NarrowCompares.cpp: 64-bit comparisons of values that fit 32 bits.
struct NarrowComparesPass : llvm::PassInfoMixin<NarrowComparesPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tilewright::nvptx

#endif // TILEWRIGHT_LIB_CODEGEN_NVPTX_EMITSTEPS_H
