//===- Exchange.h - copies between fragments of one warp ------------------------------*- C++
//-*-===//

#ifndef TILEWRIGHT_TILE_EXCHANGE_H
#define TILEWRIGHT_TILE_EXCHANGE_H

#include "llvm/ADT/StringRef.h"

namespace tilewright::tile {

/// Of tile.parallel: a copy from one fragment to another whose lanes exchange elements
/// (infer-layouts leaves it for code generation).
inline constexpr llvm::StringLiteral kExchangeAttr = "tile.exchange";

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_EXCHANGE_H
