//===- Strides.h - strides of a caller's tensor -------------------------------------*- C++ -*-===//
//
// An argument of a kernel function that is declared with strides carries them, as a #tile.shape of
// one formula a dimension. They are facts about the caller's memory only: the kernel gets the
// tensor packed, and no pass but the binding of arguments reads them.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILE_STRIDES_H
#define TILEWRIGHT_TILE_STRIDES_H

#include "llvm/ADT/StringRef.h"

namespace tilewright::tile {

inline constexpr llvm::StringLiteral kStridesAttr = "tile.strides";

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_STRIDES_H
