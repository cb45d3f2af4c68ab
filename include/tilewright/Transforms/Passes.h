//===- Passes.h - passes on tile IR, front door of the room -------------------------*- C++ -*-===//
//
// Each pass rewrites or refuses one thing; Driver/Pipeline.h says which run in which order.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TRANSFORMS_PASSES_H
#define TILEWRIGHT_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace tilewright {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tilewright/Transforms/Passes.h.inc"

} // namespace tilewright

#endif // TILEWRIGHT_TRANSFORMS_PASSES_H
