//===- Emitter.h - appends ops at the current position of a trace ------------------*- C++ -*-===//
//
// Knows where building goes on, which line of the user's file it belongs to, and which trace a value
// is of. Each service of a trace appends its ops through the one Emitter. Mistakes of the user are
// thrown as UserError, with the current position.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_EMITTER_H
#define TILEWRIGHT_FRONTEND_EMITTER_H

#include "tilewright/Frontend/Values.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/Twine.h"

namespace tilewright::frontend {

class Emitter {
public:
  Emitter(mlir::MLIRContext *context, const SourcePosition &position);
  Emitter(const Emitter &) = delete;
  Emitter &operator=(const Emitter &) = delete;

  mlir::MLIRContext *getContext() const { return builder.getContext(); }
  mlir::OpBuilder &getBuilder() { return builder; }
  /// The number of the trace, by which values of other traces are told apart.
  uint64_t getId() const { return id; }

  // Positions.
  void locate(const SourcePosition &position);
  void pushCall();
  void popCall();
  mlir::Location getLocation() const { return location; }

  // Ops.
  template <typename Op, typename... Args> Op create(Args &&...args) {
    return Op::create(builder, location, std::forward<Args>(args)...);
  }
  /// The op if its verifier accepts it; else the op is erased and its message thrown.
  template <typename Op> Op verified(Op op) {
    try {
      verifyOrThrow(op, /*recursively=*/false);
    } catch (...) {
      op->erase();
      throw;
    }
    return op;
  }
  template <typename Op, typename... Args> Op createVerified(Args &&...args) {
    return verified(create<Op>(std::forward<Args>(args)...));
  }
  void verifyOrThrow(mlir::Operation *op, bool recursively);
  Scalar wrap(mlir::Value value, mlir::Type dtype) const { return {value, dtype, id}; }

  // Mistakes.
  [[noreturn]] void fail(const llvm::Twine &message) const;
  /// Refuses a value of another trace.
  void checkOwn(uint64_t traceId) const;

private:
  uint64_t id;
  mlir::OpBuilder builder;
  mlir::Location location;
  std::vector<mlir::Location> callStack;
};

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_EMITTER_H
