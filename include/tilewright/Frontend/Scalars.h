//===- Scalars.h - scalar values: constants, reads, conversions, comparisons -------*- C++ -*-===//
//
// Turns what a Python expression holds (a number, a symbolic size, an element, a variable) into a
// value with a dtype. Conversions follow the rules of `tile.cast`.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_SCALARS_H
#define TILEWRIGHT_FRONTEND_SCALARS_H

#include "tilewright/Frontend/Operators.h"
#include "tilewright/Frontend/Signature.h"

#include "llvm/ADT/DenseMap.h"

namespace tilewright::frontend {

class Scalars {
public:
  Scalars(Emitter &emitter, Signature &signature)
      : emitter(emitter), signature(signature), builder(emitter.getBuilder()) {}

  Scalar constant(const Literal &literal, mlir::Type dtype);
  mlir::Value indexConstant(int64_t value);
  mlir::Value fromIndexExpr(const IndexExpr &expr);
  Scalar read(const Element &element);
  Scalar read(const Variable &variable);
  /// The operand as a value of this trace; a literal takes its default type.
  Scalar materialize(const Operand &operand);

  Scalar convert(const Operand &operand, mlir::Type dtype,
                 tile::Rounding rounding = tile::Rounding::NearestEven, bool saturate = false);
  Scalar bitcast(const Operand &operand, mlir::Type dtype);
  /// The operand as an index; `what` names it in the refusal of a float.
  mlir::Value toIndex(const Operand &operand, llvm::StringRef what);
  mlir::OpFoldResult toIndexOrConstant(const Operand &operand, llvm::StringRef what);
  mlir::Value toCondition(const Operand &operand);

  /// `result` is `value << amount`, of fewer than 32 bits. CUDA's C++ shifts in 32 bits, and keeps
  /// what leaves the type where the result is converted to a wider integer; so does `convert`. A
  /// shift by 0 is the value itself.
  void noteShift(const Scalar &result, const Scalar &value, const Operand &amount) {
    if (result.value != value.value)
      narrowShifts[result.value] = {value, amount};
  }
  /// `value` has a name now: it is a number of its type, however it was computed.
  void noteName(const Scalar &value) { narrowShifts.erase(value.value); }

  /// The dtype in which both sides of a choice meet.
  mlir::Type commonType(const Operand &lhs, const Operand &rhs);
  /// A comparison of two values of one dtype.
  Scalar compare(BinaryKind kind, Scalar lhs, Scalar rhs);

private:
  Emitter &emitter;
  Signature &signature;
  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, std::pair<Scalar, Operand>> narrowShifts;
};

/// The dtype of an operand; none for a literal.
mlir::Type getOperandDType(const Operand &operand, mlir::MLIRContext *context);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_SCALARS_H
