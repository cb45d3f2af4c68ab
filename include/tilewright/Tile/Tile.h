//===- Tile.h - the tile dialect, front door of the room ----------------------------*- C++ -*-===//
//
// The tile dialect holds a user's program as statements on whole tiles. This room decides what a
// legal program is (verifiers), what each statement touches (Effects.h), and nothing about how it
// runs.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILE_TILE_H
#define TILEWRIGHT_TILE_TILE_H

#include "tilewright/Layout/Fragment.h"
#include "tilewright/Layout/IndexExpr.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/Tile/Buffers.h"
#include "tilewright/Tile/Effects.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "tilewright/Tile/TileDialect.h.inc"
#include "tilewright/Tile/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "tilewright/Tile/TileAttrs.h.inc"
#include "tilewright/Tile/TileInterfaces.h.inc"
#define GET_OP_CLASSES
#include "tilewright/Tile/TileOps.h.inc"

namespace tilewright::tile {

/// Names of the attributes on arguments of a kernel function.
inline constexpr llvm::StringLiteral kNameAttr = "tile.name";   // the user's name of a parameter
inline constexpr llvm::StringLiteral kShapeAttr = "tile.shape"; // #tile.shape of a tensor
inline constexpr llvm::StringLiteral kSymbolAttr =
    "tile.symbol"; // an index argument bound from shapes
/// Of a symbol: a number that divides its value in every launch of this code. The launcher makes
/// sure (Driver/Specialisation.h).
inline constexpr llvm::StringLiteral kDivisorAttr = "tile.divisor";
inline constexpr llvm::StringLiteral kDTypeAttr =
    "tile.dtype"; // element type of a scalar parameter

/// Names of the attributes that passes leave for later ones.
inline constexpr llvm::StringLiteral kPlacementAttr =
    "tile.placement"; // of tile.alloc: where it lives
inline constexpr llvm::StringLiteral kOffsetAttr =
    "tile.offset"; // of tile.alloc: bytes into the arena
inline constexpr llvm::StringLiteral kSharedBytesAttr = "tile.shared_bytes"; // of tile.kernel
/// Of tile.alloc: how many versions its leading dimension holds (plan-pipeline).
inline constexpr llvm::StringLiteral kVersionsAttr = "tile.versions";
/// Of tile.parallel: iteration -> (thread, slot). A fragment of rank 1 over a loop of higher rank
/// numbers the iterations row-major.
inline constexpr llvm::StringLiteral kDistributionAttr = "tile.distribution";
/// Of an access inside a distributed loop: its #tile.access plan.
inline constexpr llvm::StringLiteral kAccessAttr = "tile.access";
/// Of tile.gemm: the plans of operands A and B that are read from shared memory; a group is a row
/// of an 8 x 8 matrix.
inline constexpr llvm::StringLiteral kAccessAAttr = "tile.access_a";
inline constexpr llvm::StringLiteral kAccessBAttr = "tile.access_b";
/// Of tile.parallel: a copy from one fragment to another whose lanes exchange elements
/// (infer-layouts leaves it for code generation).
inline constexpr llvm::StringLiteral kExchangeAttr = "tile.exchange";
/// Of tile.gemm: how many warps share M and N; absent where the gemm leaves the tensor cores.
inline constexpr llvm::StringLiteral kWarpsAttr = "tile.warps";
/// Of tile.gemm: how many warpgroups share M and N, where wgmma computes it; then there is no
/// `tile.warps`.
inline constexpr llvm::StringLiteral kGroupsAttr = "tile.groups";
/// Of tile.gemm with `tile.groups`: the #tile.operand of A (absent where A lives in registers) and B.
inline constexpr llvm::StringLiteral kOperandAAttr = "tile.operand_a";
inline constexpr llvm::StringLiteral kOperandBAttr = "tile.operand_b";
/// Of tile.gemm with `tile.groups`: the product is left open; its effects last until a
/// `tile.product_wait`.
inline constexpr llvm::StringLiteral kAsyncAttr = "tile.async";
/// Of tile.gemm with `tile.groups`: wgmma computes the transpose, C^T = B^T A^T, so that N takes the
/// place of M.
inline constexpr llvm::StringLiteral kSwappedAttr = "tile.swapped";
/// Of tile.store in a distributed loop: the plan of the rows that stmatrix writes; a group is a row
/// of an 8 x 8 matrix.
inline constexpr llvm::StringLiteral kMatrixRowsAttr = "tile.matrix_rows";
/// Of tile.alloc: the boundary in bytes that it and each of its versions must start on.
inline constexpr llvm::StringLiteral kAlignmentAttr = "tile.alignment";
/// Of tile.barrier: what threads wrote before it is touched by the asynchronous proxy after it; "all" if
/// that is global memory too.
inline constexpr llvm::StringLiteral kProxyFenceAttr = "tile.proxy_fence";
/// Of tile.parallel: the #tile.bulk plan of a copy that TMA may do.
inline constexpr llvm::StringLiteral kBulkAttr = "tile.bulk";
/// Of tile.parallel: the #tile.span plan of a copy that one bulk instruction does without a tensor map.
inline constexpr llvm::StringLiteral kSpanAttr = "tile.span";
/// Of tile.parallel: a copy that the user keeps from TMA (`T.copy(disable_tma=True)`). Of the function: all
/// copies (`tl.disable_tma_lower`).
inline constexpr llvm::StringLiteral kNoBulkAttr = "tile.no_bulk";
/// Of the function: pipelined loops have no producer (`tl.disable_warp_specialized`).
inline constexpr llvm::StringLiteral kNoRolesAttr = "tile.no_roles";
/// Of tile.kernel: threads after those of the program, which run the `tile.role` regions.
inline constexpr llvm::StringLiteral kExtraThreadsAttr = "tile.extra_threads";
/// Of tile.kernel: the #tile.tensor_map of each tensor map that its bulk copies use, in the order of
/// the kernel's parameters.
inline constexpr llvm::StringLiteral kTensorMapsAttr = "tile.tensor_maps";

/// Whether a copy is planned as a bulk copy.
inline bool isBulkCopy(ParallelOp copy) {
  return copy->hasAttr(kBulkAttr) || copy->hasAttr(kSpanAttr);
}

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_TILE_H
