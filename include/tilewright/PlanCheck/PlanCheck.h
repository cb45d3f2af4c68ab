//===- PlanCheck.h - re-verifies recorded access plans, front door of the room ------*- C++ -*-===//
//
// The access planner proves the width of every access; this room does not believe it. It takes a
// finished plan and runs the loop on paper: every iteration on its thread and slot, with concrete
// values for everything else (block numbers, loop variables, extents, loaded values), each at its
// smallest, its largest, next to these, and at random. Where the plan's instructions would touch
// anything but the elements that the iterations name, it says so.
//
// A witness: it shares no code with the planner (scripts/check_includes.py sees to that), evaluates
// index values and layouts by a walker of its own, and knows no algebra. It cannot prove a plan
// right; it can show that one is wrong.
//
// What it takes for granted: iterations are independent (tile-check-parallel), shared tiles start
// on 128 bytes (tile-plan-shared-memory), and tensor arguments on `argumentAlignment` bytes (the
// launcher).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PLANCHECK_PLANCHECK_H
#define TILEWRIGHT_PLANCHECK_PLANCHECK_H

#include "tilewright/Target/Arch.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Pass/Pass.h"

namespace tilewright {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tilewright/PlanCheck/Passes.h.inc"
} // namespace tilewright

namespace tilewright::plancheck {

struct Options {
  const Arch &arch;
  int64_t argumentAlignment = 16; ///< Bytes that divide the address of every tensor argument.
  unsigned rounds = 8;            ///< How many choices of the values outside the loop are tried.
};

/// What is wrong with `plan` as the attribute `planName` of `op`: the plan of an access to an
/// element, or of an operand of a gemm; empty if nothing was found.
std::string findFault(mlir::Operation *op, llvm::StringRef planName, tile::AccessAttr plan,
                      const Options &options);

/// Calls `action` with every plan recorded below `root`.
void forEachPlan(
    mlir::Operation *root,
    llvm::function_ref<void(mlir::Operation *, llvm::StringRef, tile::AccessAttr)> action);

/// Checks every plan recorded below `root`. Faults are emitted as errors on their accesses.
mlir::LogicalResult checkPlans(mlir::Operation *root, const Options &options);

} // namespace tilewright::plancheck

#endif // TILEWRIGHT_PLANCHECK_PLANCHECK_H
