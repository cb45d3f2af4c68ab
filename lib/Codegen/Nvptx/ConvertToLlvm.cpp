//===- ConvertToLlvm.cpp - the code of a thread in the LLVM dialect --------------------------===//
//
// MLIR's own patterns, all in one conversion: a pass for each dialect would look at all of the code
// each time.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Codegen/Nvptx/Ptx.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tilewright::nvptx {
#define GEN_PASS_DEF_CONVERTTOLLVM
#include "tilewright/Codegen/Nvptx/Passes.h.inc"
} // namespace tilewright::nvptx

using namespace mlir;

namespace tilewright::nvptx {

namespace {
struct ConvertToLlvmPass : impl::ConvertToLlvmBase<ConvertToLlvmPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    LLVMTypeConverter types(context);
    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns);
    populateNVVMToLLVMConversionPatterns(patterns);
    LLVMConversionTarget target(*context);
    target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect, math::MathDialect>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

} // namespace tilewright::nvptx
