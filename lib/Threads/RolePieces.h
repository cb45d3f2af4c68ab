//===- RolePieces.h - the statements of a role, cut at its waits ----------------------*- C++ -*-===//
//
// A role that stops at waits and goes on there consists of pieces without waits: ResumeRoles.cpp
// says how they run.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_THREADS_ROLEPIECES_H
#define TILEWRIGHT_LIB_THREADS_ROLEPIECES_H

#include "ThreadFacts.h"
#include "tilewright/Tile/Tile.h"

namespace tilewright::threads {

/// A condition under which only some threads of the role run a piece.
struct Guard {
  mlir::Value condition;
  bool isThen;
};

/// Statements without a wait, and how the role goes on after them.
struct Piece {
  enum Kind : uint8_t {
    Next,   ///< To `next`.
    Wait,   ///< To `next` if `wait` is met, else here again.
    Branch, ///< To `next` if `condition` holds, else to `other`.
    Enter,  ///< Into `loop`, whose variable starts: to `next`.
    Test,   ///< To `next` if `loop` goes on, else to `other`.
    Repeat  ///< Back to `next`, with the next value of the variable of `loop`, if it has one.
  } kind = Next;
  llvm::SmallVector<mlir::Operation *> statements;
  llvm::SmallVector<Guard, 1> guards;
  mlir::Location loc;
  tile::BarrierWaitOp wait;
  mlir::Value condition;
  unsigned loop = 0; ///< Of the role's loops.
  unsigned next = 0, other = 0;
  bool yields = false; ///< Other roles get their turn.

  explicit Piece(mlir::Location loc) : loc(loc) {}
};

/// A loop with waits inside that counts.
struct Loop {
  mlir::Value variable, lower, upper, step;
};

/// A role as pieces. The first one is where it starts; it is through after the last one.
struct RolePieces {
  std::vector<Piece> pieces;
  llvm::SmallVector<Loop> loops;
  /// What the whole group needs, in front of it.
  llvm::SmallVector<mlir::Operation *> allocations;

  /// Cuts the statements of `block`, which `threads` run; nothing if they have no such form.
  static std::optional<RolePieces> cut(mlir::Block &block, const llvm::BitVector &threads,
                                       const ThreadFacts &facts);
};

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_ROLEPIECES_H
