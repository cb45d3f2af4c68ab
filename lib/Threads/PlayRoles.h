//===- PlayRoles.h - whether barriers order all that roles do to each other ------------------===//
//
// Roles that run at once may do so only if each pair of accesses, one of them dependent on the other,
// is ordered by barriers, and if no role waits for ever. Both are found by playing: what each role
// does (accesses, arrivals, waits) is written down as a list, with loops run through and the numbers
// of barriers computed, and the lists are run side by side with vector clocks.
//
// One run answers for all orders in which the hardware may run the roles. Which arrivals a wait
// waits for does not depend on the order: a wait names the first phase of its parity that its role
// does not yet know to be over, no phase may end before all waits for the one before it are through,
// and an arrival in a phase that several roles share must know that the phase before is over. What
// does not follow this form is undecided.
//
// Trip counts that only a launch brings are tried from 0 on, until all roles have got going, what
// they do has repeated once, and the last iterations have followed (LaterIterations.h). Roles that
// do something else in iterations that are not reached so are undecided.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_THREADS_PLAYROLES_H
#define TILEWRIGHT_LIB_THREADS_PLAYROLES_H

#include "tilewright/Tile/Teams.h"

namespace tilewright::threads {

/// Two accesses of different roles that no barrier orders; `first` comes first in program order.
struct OpenConflict {
  mlir::Operation *first, *second;
  mlir::Value root;
};

/// What playing the roles of a kernel shows.
struct Played {
  std::vector<OpenConflict> conflicts;
  /// Why it shows nothing: a number that only the run knows, or a role that waits for ever.
  std::string obstacle;
  mlir::Operation *at = nullptr;

  bool isProved() const { return conflicts.empty() && obstacle.empty(); }
};

/// Plays the roles that share a kernel's threads (`getTeamRoles`). With `disjoint`, arguments share
/// no memory.
Played playRoles(tile::KernelOp kernel, bool disjoint);

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_PLAYROLES_H
