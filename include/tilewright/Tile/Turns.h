//===- Turns.h - warpgroups that take turns ------------------------------------------*- C++ -*-===//
//
// `tile.turn`: one token goes round among the warpgroups of a block, and who has it issues products.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILE_TURNS_H
#define TILEWRIGHT_TILE_TURNS_H

#include "tilewright/Tile/Tile.h"

#include "tilewright/Tile/TurnEnums.h.inc"
#define GET_OP_CLASSES
#include "tilewright/Tile/TurnOps.h.inc"

#endif // TILEWRIGHT_TILE_TURNS_H
