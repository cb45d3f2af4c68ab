//===- Combiner.h - how the values of a reduction are combined ----------------------*- C++ -*-===//
//
// Values are combined in the wider of the source's and the destination's carriers (integers in 64
// bits) and rounded once at the end. A maximum whose NaNs lose starts from a NaN, so that a row of
// NaNs stays one.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_COMBINER_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_COMBINER_H

#include "Numbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilewright::cpu {

class Combiner {
public:
  /// `hasRange`: vectors of 16 float32 are compared by VRANGEPS (AVX512-DQ).
  Combiner(mlir::ImplicitLocOpBuilder &b, tile::ReduceKind kind, mlir::Type from, mlir::Type to,
           bool propagatesNaN, bool hasRange);

  /// Partial results in this many vectors at once hide the latency of combining.
  static constexpr int64_t kChains = 4;

  /// The type in which values are combined, or vectors of it.
  mlir::Type getType() const { return type; }
  mlir::Type getType(int64_t width) const { return mlir::VectorType::get({width}, type); }

  /// A carrier of `elementType` as an operand: widened, its magnitude if the kind takes that.
  mlir::Value widen(mlir::Value carrier, mlir::Type elementType);
  /// The value from which combining starts, as a value or a vector of getType.
  mlir::Value getStart(bool isEmpty) { return getStart(isEmpty, type); }
  mlir::Value getStart(bool isEmpty, mlir::Type type);
  /// `lhs` is what was combined so far, or a start: a NaN in it is a quiet one.
  mlir::Value combine(mlir::Value lhs, mlir::Value rhs);
  /// Combines the lanes of a vector, halves with halves.
  mlir::Value foldLanes(mlir::Value lanes);
  /// The combined value as a carrier of the destination.
  mlir::Value finish(mlir::Value combined);
  /// The same with what the destination held, a carrier of it, in it. It takes part in a sum before
  /// that is rounded; other kinds choose between it and the result. `isEmpty` says where nothing
  /// was combined; null if something always is.
  mlir::Value finishWith(mlir::Value combined, mlir::Value old, mlir::Value isEmpty);

private:
  mlir::Value magnitudeOf(mlir::Value carrier, mlir::Type elementType);
  mlir::Value widen(mlir::Value carrier, mlir::Type elementType, bool isMagnitude);
  mlir::Value pickByRange(mlir::Value lhs, mlir::Value rhs);
  bool isSum() const { return kind == tile::ReduceKind::Sum || kind == tile::ReduceKind::AbsSum; }

  mlir::ImplicitLocOpBuilder &b;
  Numbers numbers;
  tile::ReduceKind kind;
  mlir::Type from, to, type;
  bool propagatesNaN, hasRange;
};

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_COMBINER_H
