//===- ProgramError.cpp - why a program cannot be compiled, called or run ---------------------===//

#include "tilewright/Driver/ProgramError.h"
#include "tilewright/Codegen/Cpu/HostCode.h"
#include "tilewright/Runtime/CpuDevice.h"
#include "tilewright/Tile/InternalError.h"

using namespace tilewright;
using namespace tilewright::driver;
using frontend::UserError;

char ProgramError::ID = 0;

void ProgramError::log(llvm::raw_ostream &os) const {
  if (report.position)
    os << report.position->file << ":" << report.position->line << ": error: ";
  os << (report.reason == UserError::Reason::Internal ? "internal error: " : "") << report.message;
}

/// An error of another room that has a message and perhaps a line.
template <typename FailureT> static UserError readFailure(const FailureT &failure) {
  UserError report(failure.message);
  if constexpr (requires { failure.isInternal; })
    if (failure.isInternal)
      report.reason = UserError::Reason::Internal;
  if (failure.line)
    report.position = frontend::SourcePosition{failure.file, failure.line, failure.column};
  return report;
}

UserError driver::takeReport(llvm::Error error) {
  UserError report("");
  error = llvm::handleErrors(
      std::move(error), [&](const ProgramError &known) { report = known.report; },
      [&](const runtime::LaunchError &failure) { report = readFailure(failure); },
      [&](const cpu::CompileError &failure) { report = readFailure(failure); },
      [&](const InternalError &failure) {
        report = UserError(failure.message, UserError::Reason::Internal);
      });
  if (error)
    report.message = llvm::toString(std::move(error));
  return report;
}

llvm::Error driver::toProgramError(llvm::Error error) {
  if (!error || error.isA<ProgramError>())
    return error;
  return llvm::make_error<ProgramError>(takeReport(std::move(error)));
}

llvm::Error driver::makeProgramError(const llvm::Twine &message) {
  return llvm::make_error<ProgramError>(UserError(message.str()));
}
