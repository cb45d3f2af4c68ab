//===- TraceImpl.h - templates of Trace that several files need ------------------------------===//

#ifndef TILEWRIGHT_LIB_FRONTEND_TRACEIMPL_H
#define TILEWRIGHT_LIB_FRONTEND_TRACEIMPL_H

#include "tilewright/Frontend/Trace.h"

namespace tilewright::frontend {

template <typename Op> Op Trace::verified(Op op) {
  try {
    verifyOrThrow(op, /*recursively=*/false);
  } catch (...) {
    op->erase();
    throw;
  }
  return op;
}

} // namespace tilewright::frontend

#endif // TILEWRIGHT_LIB_FRONTEND_TRACEIMPL_H
