//===- InternalError.h - errors of the compiler, told from those of the program -----*- C++ -*-===//
//
// An internal error is our mistake, not the user's. It is marked as such where it arises, as a
// diagnostic or as an llvm::Error, so that whoever shows it need not look at its text.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILE_INTERNALERROR_H
#define TILEWRIGHT_TILE_INTERNALERROR_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"

namespace tilewright {

/// An error at an op that prints as `internal error: …`.
mlir::InFlightDiagnostic emitInternalError(mlir::Operation *op);
/// The message of an internal error without its heading; nothing for other diagnostics.
std::optional<std::string> getInternalError(mlir::Diagnostic &diagnostic);

/// The same without an op.
class InternalError : public llvm::ErrorInfo<InternalError> {
public:
  static char ID;
  explicit InternalError(std::string message) : message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  const std::string message; ///< Without the heading.
};

llvm::Error makeInternalError(const llvm::Twine &message);

} // namespace tilewright

#endif // TILEWRIGHT_TILE_INTERNALERROR_H
