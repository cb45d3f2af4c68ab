//===- Turns.h - the lowering of warpgroups that take turns ------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_CODEGEN_NVPTX_TURNS_H
#define TILEWRIGHT_LIB_CODEGEN_NVPTX_TURNS_H

#include "Lowerings.h"
#include "tilewright/Tile/Turns.h"

namespace tilewright::nvptx {

void lowerTurn(Thread &t, tile::TurnOp op);

} // namespace tilewright::nvptx

#endif // TILEWRIGHT_LIB_CODEGEN_NVPTX_TURNS_H
