//===- BulkCopies.h - does TMA move what a copy's loop names? -----------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_PLANCHECK_BULKCOPIES_H
#define TILEWRIGHT_LIB_PLANCHECK_BULKCOPIES_H

#include "tilewright/PlanCheck/PlanCheck.h"

namespace tilewright::plancheck {

/// What is wrong with a loop that is to run as a bulk copy (`tile.bulk`); empty if nothing was
/// found.
std::string findBulkFault(tile::ParallelOp loop, const Options &options);

} // namespace tilewright::plancheck

#endif // TILEWRIGHT_LIB_PLANCHECK_BULKCOPIES_H
