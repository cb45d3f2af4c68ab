//===- Conditionals.h - expressions that evaluate one of two sides -----------------*- C++ -*-===//
//
// `a if c else b`, `and`, `or` and `T.if_then_else`: begin opens the side that is evaluated if the
// condition holds, otherwise the other one, and end gives the value. Sides that read no memory and
// cannot fail become an `arith.select`.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_CONDITIONALS_H
#define TILEWRIGHT_FRONTEND_CONDITIONALS_H

#include "tilewright/Frontend/Regions.h"
#include "tilewright/Frontend/Scalars.h"

namespace tilewright::frontend {

class Conditionals {
public:
  Conditionals(Emitter &emitter, Scalars &scalars, Regions &regions)
      : emitter(emitter), scalars(scalars), regions(regions), builder(emitter.getBuilder()) {}

  void begin(const Operand &condition);
  void otherwise(const Operand &thenValue);
  Scalar end(const Operand &elseValue);
  /// A choice between operands that Python has evaluated already: each side's reads are moved into
  /// its side.
  Scalar ifThenElse(const Operand &condition, const Operand &thenValue, const Operand &elseValue);

private:
  Emitter &emitter;
  Scalars &scalars;
  Regions &regions;
  mlir::OpBuilder &builder;
};

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_CONDITIONALS_H
