//===- InternalError.cpp - errors of the compiler, told from those of the program ------------===//

#include "tilewright/Tile/InternalError.h"

using namespace mlir;

namespace tilewright {

static constexpr llvm::StringLiteral kHeading = "internal error: ";
static constexpr llvm::StringLiteral kMark = "tile.internal"; // among a diagnostic's metadata

InFlightDiagnostic emitInternalError(Operation *op) {
  InFlightDiagnostic diagnostic = op->emitError(kHeading);
  diagnostic.getUnderlyingDiagnostic()->getMetadata().push_back(DiagnosticArgument(kMark));
  return diagnostic;
}

std::optional<std::string> getInternalError(Diagnostic &diagnostic) {
  bool isMarked = llvm::any_of(diagnostic.getMetadata(), [](DiagnosticArgument &argument) {
    return argument.getKind() == DiagnosticArgument::DiagnosticArgumentKind::String &&
           argument.getAsString() == kMark;
  });
  if (!isMarked)
    return std::nullopt;
  return diagnostic.str().substr(kHeading.size());
}

char InternalError::ID = 0;

void InternalError::log(llvm::raw_ostream &os) const { os << kHeading << message; }

llvm::Error makeInternalError(const Twine &message) {
  return llvm::make_error<InternalError>(message.str());
}

} // namespace tilewright
