//===- TurnOps.td - warpgroups that take turns -----------------------*- tablegen -*-===//
//
// Apart from the other operations (TileOps.td), since only the passes of Hopper's schedules know it.
//
//===-----------------------------------------------------------------------------===//
#ifndef TILEWRIGHT_TILE_TURNOPS_TD
#define TILEWRIGHT_TILE_TURNOPS_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tilewright/Tile/TileDialect.td"
include "tilewright/Tile/TileInterfaces.td"

def TileTurnKind : I32EnumAttr<"TurnKind", "what a warpgroup does with the turn", [
  I32EnumAttrCase<"Open", 0, "open">, I32EnumAttrCase<"Take", 1, "take">,
  I32EnumAttrCase<"Pass", 2, "pass">, I32EnumAttrCase<"Close", 3, "close">
]> {
  let cppNamespace = "::tilewright::tile";
}

def Tile_TurnOp : Op<TileDialect, "turn", [MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<TileEffectsOpInterface>]> {
  let summary = "the warpgroups of a block take turns";
  let description = [{
    One turn goes round among the `groups` warpgroups of the program: number 0 has it first, and after
    the last one it is that of number 0 again. `take` waits until the turn is that of the warpgroup
    that comes, `pass` gives it to the next one. What stands between is done by one warpgroup at a
    time, so the threads of the block do not meet there. `open` begins with that of number 0, `close` waits
    until all have passed theirs; each stands once in a kernel, around all others. Barriers by number
    carry the turn, those from `number` on, one a warpgroup. It orders no memory. Placed by
    `tile-schedule-products`.

    ```mlir
    tile.turn open of 2 at 2
    tile.pipelined … {
      tile.turn take of 2 at 2
      tile.gemm … {tile.async}
      tile.turn pass of 2 at 2
      tile.parallel … // while the other warpgroup issues its products
    }
    tile.turn close of 2 at 2
    ```
  }];
  let arguments = (ins TileTurnKind:$kind, I64Attr:$groups, I64Attr:$number);
  let assemblyFormat = "$kind `of` $groups `at` $number attr-dict";
  let hasVerifier = 1;
}

#endif // TILEWRIGHT_TILE_TURNOPS_TD
