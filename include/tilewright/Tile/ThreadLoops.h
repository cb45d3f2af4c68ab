//===- ThreadLoops.h - loops over the threads of a block ----------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_TILE_THREADLOOPS_H
#define TILEWRIGHT_TILE_THREADLOOPS_H

#include "llvm/ADT/StringRef.h"

namespace tilewright::tile {

/// Of tile.parallel: the program names its threads, and iteration `t` is what thread `t` does.
/// Threads may store one element several times if the values are equal, as data may decide.
inline constexpr llvm::StringLiteral kThreadLoopAttr = "tile.thread_loop";

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_THREADLOOPS_H
