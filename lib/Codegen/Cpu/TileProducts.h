//===- TileProducts.h - products on the host's matrix unit (AMX) --------------------*- C++ -*-===//
//
// AMX multiplies tiles in registers: 16 rows of A with 16 words along k each, by 16 rows of B with
// 16 words along n, which is how words of neighbours along k lie (Words.cpp). Two by two tiles of C
// stay in registers, beside two of A and two of B:
//
//                       B words k…k+15:  [ tile 6 ][ tile 7 ]
//      A rows i…i+15    [ tile 4 ]        tile 0    tile 1
//        rows i+16…i+31 [ tile 5 ]        tile 2    tile 3
//
// Sums of bytes start from what C was, exact modulo 2^32. Sums of bfloat16 start from zero: the
// instruction takes subnormals as zero, and C may be one. They are added to C by ordinary vectors
// (where C was zero, they are stored to it: no such sum is -0), under the condition that holds for dot products (Words.cpp): each partial sum is a multiple of
// 2^-126, in whatever order products are added.
//
// The registers are configured, used and released within a panel of columns, in which nothing is
// called: a signal handler or another library may use them as well (Rt/TileUnit.h).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_TILEPRODUCTS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_TILEPRODUCTS_H

#include "Microkernel.h"
#include "tilewright/Rt/TileUnit.h"
#include "tilewright/Tile/CpuPlan.h"

namespace tilewright::cpu {

/// C = source + A * B, where A and B are words and the extents are multiples of the tiles'. B is in
/// tiles, A may be.
void multiplyOnTiles(Emitter &e, const Product &product, const GemmOperand &left,
                     const GemmOperand &right, tile::UnitTiles tiles, rt::TileProduct kind);

// The stand-ins for the instructions.
inline constexpr llvm::StringLiteral kTileConfig = "tw_tile_config";
inline constexpr llvm::StringLiteral kTileRelease = "tw_tile_release";
inline constexpr llvm::StringLiteral kTileZero = "tw_tile_zero";
inline constexpr llvm::StringLiteral kTileLoad = "tw_tile_load";
inline constexpr llvm::StringLiteral kTileStore = "tw_tile_store";
inline constexpr llvm::StringLiteral kTileMultiply = "tw_tile_multiply";

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_TILEPRODUCTS_H
