//===- TargetArch.h - the architecture that a pass compiles for -------------------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_TARGETARCH_H
#define TILEWRIGHT_LIB_TRANSFORMS_TARGETARCH_H

#include "tilewright/Target/Arch.h"

#include "mlir/IR/Operation.h"

namespace tilewright {

/// The architecture of a pass's option `arch`; null with an error on `op` if there is none.
inline const Arch *requireArch(mlir::Operation *op, llvm::StringRef name) {
  const Arch *arch = findArch(name);
  if (!arch)
    op->emitError() << "unknown architecture '" << name << "'; known are " << getArchNames();
  return arch;
}

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_TARGETARCH_H
