//===- Simulation.h - what the instructions of a plan would do ----------------------*- C++ -*-===//
//
// A second opinion on plans, for testing the checker: instead of asking conditions it issues the
// plan's instructions one by one, as Codegen/Nvptx/Vectors.cpp builds them, writes down which
// element each iteration met, and compares that with what the iterations name.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TEST_LIB_PLANCHECK_SIMULATION_H
#define TILEWRIGHT_TEST_LIB_PLANCHECK_SIMULATION_H

#include "AccessModel.h"
#include "tilewright/PlanCheck/PlanCheck.h"

namespace tilewright::test {

/// Whether the plan, as the attribute `planName` of `op`, does what the loop or the gemm says, on
/// every round that the checker tries.
bool isLegal(mlir::Operation *op, llvm::StringRef planName, tile::AccessAttr plan,
             const plancheck::Options &options);

} // namespace tilewright::test

#endif // TILEWRIGHT_TEST_LIB_PLANCHECK_SIMULATION_H
