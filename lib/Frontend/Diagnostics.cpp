//===- Diagnostics.cpp - MLIR's diagnostics as errors of the user's program ------------------===//

#include "tilewright/Frontend/Diagnostics.h"
#include "tilewright/Tile/InternalError.h"

using namespace mlir;

namespace tilewright::frontend {

Location toLocation(MLIRContext *context, const SourcePosition &position) {
  return FileLineColLoc::get(context, position.file, position.line, position.column);
}

std::optional<SourcePosition> toPosition(Location location) {
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return toPosition(call.getCallee());
  if (auto named = dyn_cast<NameLoc>(location))
    return toPosition(named.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(location))
    return fused.getLocations().empty() ? std::nullopt : toPosition(fused.getLocations().front());
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return SourcePosition{file.getFilename().str(), file.getLine(), file.getColumn()};
  return std::nullopt;
}

DiagnosticCapture::DiagnosticCapture(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (error || diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return success();
        if (std::optional<std::string> internal = getInternalError(diagnostic))
          error.emplace(*internal, UserError::Reason::Internal);
        else
          error.emplace(diagnostic.str());
        error->position = toPosition(diagnostic.getLocation());
        for (Diagnostic &note : diagnostic.getNotes())
          if (std::optional<SourcePosition> position = toPosition(note.getLocation()))
            error->notes.push_back({*position, note.str()});
        return success();
      }) {}

UserError DiagnosticCapture::takeError() {
  UserError taken = error ? *error : UserError("the operation is not legal");
  error.reset();
  return taken;
}

} // namespace tilewright::frontend
