//===- Diagnostics.h - MLIR's diagnostics as errors of the user's program -----------*- C++ -*-===//

#ifndef TILEWRIGHT_FRONTEND_DIAGNOSTICS_H
#define TILEWRIGHT_FRONTEND_DIAGNOSTICS_H

#include "tilewright/Frontend/Values.h"

#include "mlir/IR/Diagnostics.h"

namespace tilewright::frontend {

mlir::Location toLocation(mlir::MLIRContext *context, const SourcePosition &position);
/// The innermost file position of a location.
std::optional<SourcePosition> toPosition(mlir::Location location);

/// While it lives, errors of a context are kept instead of printed, and remarks dropped.
class DiagnosticCapture {
public:
  explicit DiagnosticCapture(mlir::MLIRContext *context);

  /// The first error with its notes; a plain one if a failure came without a diagnostic.
  UserError takeError();

private:
  std::optional<UserError> error;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_DIAGNOSTICS_H
