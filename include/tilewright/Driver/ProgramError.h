//===- ProgramError.h - why a program cannot be compiled, called or run -------------*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_PROGRAMERROR_H
#define TILEWRIGHT_DRIVER_PROGRAMERROR_H

#include "tilewright/Frontend/Values.h"

#include "llvm/Support/Error.h"

namespace tilewright::driver {

/// A message, at the user's line if it is about one, with notes at other lines. The one error type
/// of this room's interface: nothing is thrown across it.
class ProgramError : public llvm::ErrorInfo<ProgramError> {
public:
  static char ID;

  explicit ProgramError(frontend::UserError report) : report(std::move(report)) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  const frontend::UserError report; ///< A value here, not an exception.
};

/// Any error of the rooms below as a ProgramError: those of CPU code and of its launches keep their
/// line, others become a message without one.
llvm::Error toProgramError(llvm::Error error);

/// A ProgramError without a line.
llvm::Error makeProgramError(const llvm::Twine &message);

/// What a ProgramError says; other errors as their text.
frontend::UserError takeReport(llvm::Error error);

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_PROGRAMERROR_H
