//===- Planner.h - the one decision procedure for access widths ---------------------*- C++ -*-===//
//
// A distributed loop runs an iteration on each (thread, slot); each iteration touches an element of
// a buffer. Slots of a thread may share one instruction of width w when, for all threads and all
// values of the symbols, in every group of w slots
//
//   the elements lie at neighbouring offsets, in the order of the group;
//   the first one's address is a multiple of the vector's size, base included;
//   all slots run, or none; all own their iteration, or none; all are in bounds, or none; every
//   branch around the access is taken by all, or by none;
//   and the target has the instruction.
//
// Every access of every statement asks here, on its own: registers are only registers, so a read of
// one buffer may be four wide beside a scalar atomic on another. There is no second place that
// picks a width. What cannot be proved is refused, with the reason.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ACCESS_PLANNER_H
#define TILEWRIGHT_ACCESS_PLANNER_H

#include "tilewright/Access/Memory.h"
#include "tilewright/Analysis/Distribution.h"

namespace tilewright::access {

/// One access of a distributed loop, with all that its width depends on.
struct Request {
  const analysis::LoopDistribution *loop = nullptr;
  Memory memory;
  std::string name; ///< The buffer's, for reasons.
  /// Coordinates in the root, as expressions of the loop's variables (dims) and of other values
  /// (symbols). None where nothing is known of them.
  llvm::SmallVector<IndexExpr, 4> coordinates;
  llvm::SmallVector<IndexFacts, 4> symbols;
  /// What symbols are functions of, where they differ between iterations: a row that a table names.
  llvm::SmallVector<llvm::SmallVector<IndexExpr, 2>, 4> arguments;
  /// What is not negative whenever the access runs, and the root's extents, as such expressions.
  llvm::SmallVector<IndexExpr, 4> known;
  llvm::SmallVector<std::optional<IndexExpr>, 4> extents;
  bool isRead = false;
  bool isConditional = false; ///< Slots decide on their own whether they read: they share nothing.
  llvm::SmallVector<BranchTest, 2> tests; ///< What they decide it by.
  int64_t maxWidth = 1;                   ///< The widest form that the target has, in elements.
  std::string maxWidthReason;             ///< Why no wider form exists.

  bool hasCoordinates() const { return coordinates.size() == memory.extents.size(); }
};

/// How an access is done, and why not wider.
struct Plan {
  int64_t width = 1;
  llvm::SmallVector<int64_t> slots, sources, anchors, deltas, guarded; ///< As in #tile.access.
  std::string refusal;    ///< The condition that the next width breaks; empty at the widest form.
  bool isUnknown = false; ///< Refused for want of a proof, not by a counterexample.
  /// Issue slots and memory passes of one warp, to compare distributions by.
  int64_t cost = 0;
  int64_t linesPerWarp = 0; ///< Global: 128-byte lines under a warp's first group.

  int64_t getNumGroups() const { return slots.size() / width; }
};

/// The widest legal plan.
Plan planAccess(const Request &request);

} // namespace tilewright::access

#endif // TILEWRIGHT_ACCESS_PLANNER_H
