//===- Description.h - what the passes decided, as data for reports -----------------*- C++ -*-===//
//
// A report draws who holds which element, what lies where in shared memory and for how long, and
// which line of source each line of IR comes from. The compiler knows all of it; here it says so in
// JSON, so that no reader has to take IR text apart (docs/reference/report.md has the schema).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_DESCRIPTION_H
#define TILEWRIGHT_DRIVER_DESCRIPTION_H

#include "tilewright/Layout/Fragment.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace tilewright::driver {

/// An expression as nested lists: a number, ["d", k] for the k-th index, ["+", lhs, rhs].
llvm::json::Value describeExpr(const IndexExpr &expr);

/// {"notation", "shape", "outputs", "output_shape"} of a layout; {"notation", "shape", "replicas",
/// "thread", "slot", "threads", "slots"} of a fragment. The replica is the index after the last one.
llvm::json::Value describeLayout(const Layout &layout);
llvm::json::Value describeLayout(const Fragment &fragment);

/// The kernels of a module whose shared memory is planned: tiles with their placements, versions,
/// offsets and live ranges, and the statements that these count.
llvm::json::Value describePlan(mlir::ModuleOp module);

/// {"text", "files", "lines"}: the IR of an operation, and for each line of the text the source line
/// it comes from, as [file, line], or null.
llvm::json::Value describeText(mlir::Operation *op);

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_DESCRIPTION_H
