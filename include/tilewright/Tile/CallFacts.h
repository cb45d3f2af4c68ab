//===- CallFacts.h - what compiled code may rely on about its calls -----------------*- C++ -*-===//
//
// Code that assumes more is faster: that a tensor which is written shares memory with no other one,
// that rows of a dynamic tensor start at multiples of 16 elements. Nothing is assumed silently: the
// facts are read from the arguments of a call (Driver/BoundArguments.h), and the call runs code
// that was compiled under exactly these facts. Each set of facts is compiled once.
//
// The access planner, both code generators and the driver share this one type.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILE_CALLFACTS_H
#define TILEWRIGHT_TILE_CALLFACTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace tilewright {

struct CallFacts {
  /// The divisor of shape symbols that code is specialised for: the elements of the widest access.
  static constexpr int64_t kDivisor = 16;

  /// No two tensor arguments share memory if one of them is written.
  bool disjointArguments = true;
  /// Bytes that divide the address of every tensor argument.
  int64_t argumentAlignment = 16;
  /// Shape symbols that kDivisor divides, in the order of the function's arguments.
  std::vector<std::string> divisibleSymbols = {};
  /// The launcher can encode the tensor maps of the code (Target/TensorMap.h): its driver knows
  /// them, and addresses, extents and strides are within their limits.
  bool tensorMaps = true;

  bool operator==(const CallFacts &) const = default;
  /// A name for code that was compiled under these facts.
  std::string getKey() const;
  /// Writes what is known of symbols on the function's arguments (`tile.divisor`).
  void annotate(mlir::func::FuncOp function) const;
};

} // namespace tilewright

#endif // TILEWRIGHT_TILE_CALLFACTS_H
