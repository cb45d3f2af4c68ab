//===- Emitter.h - constants, index arithmetic and guards of a thread's code -----------------===//
//
// The lowest layer of code generation: it writes scalar code at the builder's insertion point and
// knows no op of the tile dialect. Conversions of numbers are functions over it (Numbers.h); what a
// thread holds and where it lives is the layer above (Thread.h).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_NVPTX_EMITTER_H
#define TILEWRIGHT_LIB_CODEGEN_NVPTX_EMITTER_H

#include "tilewright/Layout/IndexExpr.h"
#include "tilewright/Target/Arch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace tilewright::nvptx {

using mlir::Value;

class Emitter {
public:
  Emitter(mlir::ModuleOp module, const Arch &arch, mlir::Location loc)
      : module(module), arch(arch), b(loc, module.getContext()) {}

  /// A constant, once for the whole thread, in front of its code: most values of a thread are
  /// offsets and positions, and what is not made twice need not be found to be the same again.
  Value constant(mlir::TypedAttr value);
  Value index(int64_t value) { return constant(b.getIndexAttr(value)); }
  Value i64(Value indexValue);
  /// `lhs // rhs` and `lhs % rhs` by a positive constant; shifts and masks for powers of two.
  Value floorDivConstant(Value lhs, int64_t rhs);
  Value floorModConstant(Value lhs, int64_t rhs);
  Value evaluate(const IndexExpr &expr, llvm::ArrayRef<Value> dims);
  /// The conjunction of two conditions; one that is null always holds.
  Value both(Value lhs, Value rhs);
  /// Runs `body` only where `condition` holds; always, if it is null.
  void guarded(Value condition, llvm::function_ref<void()> body);
  /// An array on the stack, for the whole thread.
  Value allocateStack(mlir::Type type, int64_t count);
  /// The threads of the program meet; the block may have others.
  void barrier();

  mlir::ModuleOp module;
  const Arch &arch;
  mlir::ImplicitLocOpBuilder b;
  mlir::LLVM::LLVMFuncOp thread; ///< The function that is written.
  int64_t meeting = 0;           ///< The threads that meet at a barrier; 0: all of the block.
  int64_t meetingNumber = 1;     ///< The number of that barrier.

private:
  llvm::DenseMap<mlir::Attribute, Value> constants;
};

} // namespace tilewright::nvptx

#endif // TILEWRIGHT_LIB_CODEGEN_NVPTX_EMITTER_H
