//===- ResumeRoles.h - roles that wait in the middle of loops and branches ------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_THREADS_RESUMEROLES_H
#define TILEWRIGHT_LIB_THREADS_RESUMEROLES_H

#include "ThreadFacts.h"

namespace tilewright::threads {

/// The statements of one role, which the threads that meet `condition` run.
struct RoleBody {
  mlir::Block *block;
  mlir::Value condition;
};

/// Builds code in front of `end` that lets the roles take turns: each runs until it comes to a wait
/// that is not met. What is left in the roles' blocks is no longer used. False, with nothing changed,
/// for roles that have no such form.
bool resumeRoles(llvm::ArrayRef<RoleBody> roles, mlir::Operation *end, const ThreadFacts &facts);

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_RESUMEROLES_H
