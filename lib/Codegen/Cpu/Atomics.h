//===- Atomics.h - updates of memory that blocks share ------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_ATOMICS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_ATOMICS_H

#include "Emitter.h"

namespace tilewright {
struct ContiguousBox;
}

namespace tilewright::cpu {

/// Two numbers combined, rounded to the element type.
mlir::Value combine(Emitter &e, tile::AtomicKind kind, mlir::Type elementType, mlir::Value old,
                    mlir::Value operand);

/// Updates whole rows of a tensor, each under a lock (LowerUpdates.cpp).
void updateRows(tile::AtomicOp op, Emitter &e);

/// The smallest box of a tensor's layout of a multiple of `unit` elements, if not more than
/// `limit`.
std::optional<ContiguousBox> findBox(const Root &root, int64_t unit, int64_t limit);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_ATOMICS_H
