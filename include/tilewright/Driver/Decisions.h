//===- Decisions.h - what the compiler decided, kept with the code ------------------*- C++ -*-===//
//
// Passes say what they decide as remarks (Tile/Remarks.h). Whoever compiles collects them, keeps
// them with the code, on disk too, and hands them to the user (`kernel.remarks`).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_DECISIONS_H
#define TILEWRIGHT_DRIVER_DECISIONS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace tilewright::driver {

/// What a pass decided, at the user's line (Tile/Remarks.h says what the fields mean).
struct Decision {
  std::string file;
  int64_t line = 0, column = 0;
  std::string message, kind, buffer;
  llvm::json::Object data;
};

/// While it lives, remarks become decisions; other diagnostics go on to the next handler.
class DecisionCollector {
public:
  DecisionCollector(mlir::MLIRContext *context, std::vector<Decision> &decisions);

private:
  mlir::ScopedDiagnosticHandler handler;
};

llvm::json::Value toJSON(const Decision &decision);
bool fromJSON(const llvm::json::Value &value, Decision &decision, llvm::json::Path path);

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_DECISIONS_H
