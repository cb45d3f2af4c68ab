//===- TileInterfaces.td - what an op of the tile dialect touches --*- tablegen -*-===//
#ifndef TILEWRIGHT_TILE_TILEINTERFACES_TD
#define TILEWRIGHT_TILE_TILEINTERFACES_TD

include "mlir/IR/OpBase.td"

/// The one place where an op says which memory it touches, how, and until when. Passes ask this
/// interface and nothing else (tilewright/Tile/Effects.h); the interpreter checks it at run time.
def TileEffectsOpInterface : OpInterface<"TileEffectsOpInterface"> {
  let cppNamespace = "::tilewright::tile";
  let methods = [
    InterfaceMethod<[{
        Appends the effects of this op itself; those of ops nested in its regions are their own.
      }], "void", "getTileEffects",
      (ins "::llvm::SmallVectorImpl<::tilewright::tile::Effect> &":$effects)>,
    InterfaceMethod<[{
        Bytes of shared memory that a block of `numThreads` threads needs while this op runs, besides
        its operands (for example partial sums of a reduction across warps).
      }], "int64_t", "getScratchSharedBytes", (ins "int64_t":$numThreads), "", [{
        (void)numThreads;
        return 0;
      }]>,
    InterfaceMethod<[{
        Whether the threads of the block meet inside this op, so that it may not stand in divergent
        flow.
      }], "bool", "synchronisesInside", (ins), "", [{ return false; }]>
  ];
}

#endif
