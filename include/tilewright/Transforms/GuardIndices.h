//===- GuardIndices.h - index values that may leave 64 bits are checked ---------------*- C++
//-*-===//

#ifndef TILEWRIGHT_TRANSFORMS_GUARDINDICES_H
#define TILEWRIGHT_TRANSFORMS_GUARDINDICES_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace tilewright {

/// Adds `tile.assert` where the range of an index value does not prove that it has 64 bits. What is
/// computed in front of a kernel is checked there where `hasHostPart`, else in the kernels.
std::unique_ptr<mlir::Pass> createGuardIndicesPass(bool hasHostPart);
void registerGuardIndicesPass();

} // namespace tilewright

#endif // TILEWRIGHT_TRANSFORMS_GUARDINDICES_H
