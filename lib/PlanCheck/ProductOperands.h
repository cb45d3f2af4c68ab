//===- ProductOperands.h - do descriptors of wgmma read the operand? ----------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_PLANCHECK_PRODUCTOPERANDS_H
#define TILEWRIGHT_LIB_PLANCHECK_PRODUCTOPERANDS_H

#include "tilewright/PlanCheck/PlanCheck.h"

namespace tilewright::plancheck {

/// What is wrong with the operands of a gemm that wgmma computes; empty if nothing was found.
std::string findProductFault(tile::GemmOp gemm, const Options &options);

} // namespace tilewright::plancheck

#endif // TILEWRIGHT_LIB_PLANCHECK_PRODUCTOPERANDS_H
