//===- TileDialect.td - the tile dialect -------------------------*- tablegen -*-===//
//
// A program on whole tiles with one, sequential, meaning (docs/semantics.md).
//
//===-----------------------------------------------------------------------------===//
#ifndef TILEWRIGHT_TILE_TILEDIALECT_TD
#define TILEWRIGHT_TILE_TILEDIALECT_TD

include "mlir/IR/DialectBase.td"

def TileDialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilewright::tile";
  let summary = "Statements on whole tiles of a GPU block";
  let description = [{
    A user's function is a `func.func` that holds `tile.kernel` ops in launch order. Buffers are
    `memref` values whose memory space is a `#tile.space`; a `memref` type here says shape, element
    type and memory space, and never a layout: all coordinates are logical. Element types keep their
    signedness (`ui8` is unsigned, `i8` signed); scalars are signless and the operations say how
    they read them. `index` scalars are mathematical integers held in 64 bits.
  }];
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

#endif
