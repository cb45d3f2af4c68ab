//===- WaitOrder.h - whether every wait is met in the order of the text -------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_THREADS_WAITORDER_H
#define TILEWRIGHT_LIB_THREADS_WAITORDER_H

#include "ThreadFacts.h"

namespace tilewright::threads {

/// Whether the statements of a kernel, run one after another, find each wait met: in a run with few
/// iterations of the loops whose bounds only a launch knows. False where it cannot be told.
bool areWaitsMet(tile::KernelOp kernel);

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_WAITORDER_H
