//===- TileOps.td - operations of the tile dialect ------------------*- tablegen -*-===//
//
// Families: structure (kernel, parallel, pipelined), buffers (alloc, slice, view, load, store),
// tile statements (copy, fill, gemm, reduce, cumsum, atomic, im2col), threads (thread_id, barriers,
// grid_sync), notes (annotate_layout, …), and the scalar operations whose corners differ from
// arith's.
//
//===-----------------------------------------------------------------------------===//
#ifndef TILEWRIGHT_TILE_TILEOPS_TD
#define TILEWRIGHT_TILE_TILEOPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"
include "tilewright/Tile/TileAttrs.td"
include "tilewright/Tile/TileInterfaces.td"

/// A memref whose memory space is a #tile.space and whose layout is the identity.
def TileBuffer : Type<CPred<"::tilewright::tile::isBufferType($_self)">,
                                   "buffer (a memref in a #tile.space)", "::mlir::MemRefType">;
/// A signless integer, index or float.
def TileScalar : Type<CPred<"::tilewright::tile::isScalarType($_self)">,
                                "scalar (signless integer, index or float)">;
/// What a statement may take as a value: a tile or one scalar for all elements.
def TileOrScalar : Type<
    Or<[CPred<"::tilewright::tile::isBufferType($_self)">,
        CPred<"::tilewright::tile::isScalarType($_self)">]>, "buffer or scalar">;

class TileOp<string mnemonic, list<Trait> traits = []> : Op<TileDialect, mnemonic, traits>;

/// A statement that touches memory: it declares effects for our passes and for MLIR's.
class TileMemoryOp<string mnemonic, list<Trait> traits = []>
    : TileOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<TileEffectsOpInterface>], traits)>;

/// A statement inside which the threads of the block exchange values.
class TileCollectiveOp<string mnemonic>
    : TileOp<mnemonic, [DeclareOpInterfaceMethods<TileEffectsOpInterface,
        ["getScratchSharedBytes", "synchronisesInside"]>]>;

//===-----------------------------------------------------------------------------===//
// Structure
//===-----------------------------------------------------------------------------===//

def Tile_KernelOp : TileOp<"kernel", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "one launch of a grid of blocks";
  let description = [{
    Runs the region once for each block of the grid; blocks are independent. An extent of 0 runs
    nothing. `threads` is the block's thread shape.

    ```mlir
    tile.kernel (%bx, %by) in (%gx, %gy) threads [128] {
      ...
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$grid, DenseI64ArrayAttr:$threads);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$grid, "::llvm::ArrayRef<int64_t>":$threads)>];
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getBlockIds() { return getBody().getArguments(); }
    /// The product of the thread shape.
    int64_t getNumThreads();
  }];
}

def Tile_ParallelOp : TileOp<"parallel", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "an element-wise loop nest of independent iterations";
  let description = [{
    Iterations are independent: none reads or writes what another writes, atomics and equal values
    excepted (tile-check-parallel). `coalesced_width` caps vector widths, `loop_layout` fixes the
    distribution over threads.

    ```mlir
    tile.parallel (%i, %j) in (64, %n) {
      ...
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$dynamicExtents, DenseI64ArrayAttr:$staticExtents,
                       OptionalAttr<I64Attr>:$coalescedWidth,
                       OptionalAttr<TileFragmentAttr>:$loopLayout);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<::mlir::OpFoldResult>":$extents)>];
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getIterators() { return getBody().getArguments(); }
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedExtents();
  }];
}

def Tile_PipelinedOp : TileOp<"pipelined", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
    DeclareOpInterfaceMethods<LoopLikeOpInterface,
      ["getLoopInductionVars", "getLoopLowerBounds", "getLoopUpperBounds", "getLoopSteps"]>]> {
  let summary = "a sequential loop that may be software-pipelined";
  let description = [{
    Means an ordinary loop of step 1. `num_stages` is the number of versions of each tile that a copy
    writes and a later stage reads. `order` and `stage` give a manual schedule, one entry for each
    executable statement of the body.

    ```mlir
    tile.pipelined %k = %lower to %upper stages 2 {
      ...
    }
    ```
  }];
  let arguments = (ins Index:$lower, Index:$upper, I64Attr:$numStages,
                       OptionalAttr<DenseI64ArrayAttr>:$order,
                       OptionalAttr<DenseI64ArrayAttr>:$stage);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$lower, "::mlir::Value":$upper,
                                 "int64_t":$numStages)>];
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getInductionVar() { return getBody().getArgument(0); }
    /// The statements that `order` and `stage` number: those that touch memory, in program order.
    ::llvm::SmallVector<::mlir::Operation *> getStatements();
  }];
}

def Tile_YieldOp : TileOp<"yield", [Pure, Terminator,
    ParentOneOf<["AsyncGroupOp", "BulkGroupOp", "KernelOp", "ParallelOp", "PipelinedOp", "RoleOp"]>]> {
  let summary = "end of a region";
  let assemblyFormat = "attr-dict";
}

//===-----------------------------------------------------------------------------===//
// Buffers
//===-----------------------------------------------------------------------------===//

def Tile_AllocOp : TileOp<"alloc", [
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a buffer, uninitialised";
  let description = [{
    On-chip buffers are static in shape. A rank-0 `local` buffer is a scalar variable (`T.alloc_var`).
    A `global` buffer stands outside kernels and is a workspace of the launch. `reducer` marks a
    buffer whose elements only `tile.reducer_update` changes until `tile.finalize_reducer`.

    ```mlir
    %k = tile.alloc "K_shared" : memref<64x128xf16, #tile.space<shared>>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<Index>:$dynamicExtents,
                       OptionalAttr<TileReduceKindAttr>:$reducer);
  let results = (outs Res<TileBuffer, "", [MemAlloc]>:$buffer);
  let assemblyFormat = [{
    $name (`(` $dynamicExtents^ `)`)? (`reducer` $reducer^)? attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def Tile_SliceOp : TileOp<"slice", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "a rectangular part of a buffer";
  let description = [{
    Element `x` of the result is element `offset + x * step` of the source. Dimensions in `dropped`
    have size 1 and do not appear in the result. A slice of a `global` buffer may leave its bounds:
    reads there give the safe value and writes are dropped. A slice of an on-chip buffer may not.

    ```mlir
    %q = tile.slice %Q[%b, %h, %o, 0] [1, 1, 32, 128] [1, 1, 1, 1] drop [0, 1]
        : memref<1x8x64x128xf16, #tile.space<global>> to memref<32x128xf16, #tile.space<global>>
    ```
  }];
  let arguments = (ins TileBuffer:$source, Variadic<Index>:$offsets, Variadic<Index>:$sizes,
                       Variadic<Index>:$steps, DenseI64ArrayAttr:$staticOffsets,
                       DenseI64ArrayAttr:$staticSizes, DenseI64ArrayAttr:$staticSteps,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dropped);
  let results = (outs TileBuffer:$result);
  let assemblyFormat = [{
    $source `` custom<DynamicIndexList>($offsets, $staticOffsets)
    custom<DynamicIndexList>($sizes, $staticSizes)
    custom<DynamicIndexList>($steps, $staticSteps)
    (`drop` $dropped^)? attr-dict `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$source, "::llvm::ArrayRef<::mlir::OpFoldResult>":$offsets,
                   "::llvm::ArrayRef<::mlir::OpFoldResult>":$sizes,
                   "::llvm::ArrayRef<::mlir::OpFoldResult>":$steps,
                   "::llvm::ArrayRef<int64_t>":$dropped)>];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedOffsets();
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedSizes();
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedSteps();
  }];
}

def Tile_ViewOp : TileOp<"view", [Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "the row-major bytes of a whole buffer under another shape or element type";
  let description = [{
    `T.reshape` and `T.view`. The total number of bits is the same on both sides; the source is a
    whole allocation or argument, not a slice.
  }];
  let arguments = (ins TileBuffer:$source);
  let results = (outs TileBuffer:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

def Tile_LoadOp : TileMemoryOp<"load", [
    TypesMatchWith<"value is the scalar of the buffer's element type", "buffer", "value",
      "::tilewright::tile::getScalarType(::llvm::cast<::mlir::MemRefType>($_self).getElementType())">]> {
  let summary = "reads one element";
  let arguments = (ins Arg<TileBuffer, "", [MemRead]>:$buffer, Variadic<Index>:$indices);
  let results = (outs TileScalar:$value);
  let assemblyFormat = "$buffer `[` $indices `]` attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Tile_StoreOp : TileMemoryOp<"store", [
    TypesMatchWith<"value is the scalar of the buffer's element type", "buffer", "value",
      "::tilewright::tile::getScalarType(::llvm::cast<::mlir::MemRefType>($_self).getElementType())">]> {
  let summary = "writes one element";
  let arguments = (ins TileScalar:$value, Arg<TileBuffer, "", [MemWrite]>:$buffer,
                       Variadic<Index>:$indices);
  let assemblyFormat = "$value `,` $buffer `[` $indices `]` attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

//===-----------------------------------------------------------------------------===//
// Tile statements
//===-----------------------------------------------------------------------------===//

def Tile_CopyOp : TileMemoryOp<"copy"> {
  let summary = "moves a tile, converting the element type";
  let description = [{
    Extents of both sides are equal when unit dimensions are left out. Hints (`coalesced_width`,
    `disable_tma`, `eviction_policy`, `prefer_instruction`) are discardable attributes and never
    change values.
  }];
  let arguments = (ins Arg<TileBuffer, "", [MemRead]>:$source,
                       Arg<TileBuffer, "", [MemWrite]>:$dest,
                       OptionalAttr<I64Attr>:$coalescedWidth,
                       OptionalAttr<TileFragmentAttr>:$loopLayout);
  let assemblyFormat = "$source `,` $dest attr-dict `:` type($source) `to` type($dest)";
  let hasVerifier = 1;
}

def Tile_FillOp : TileMemoryOp<"fill"> {
  let summary = "sets every element of a tile to one value";
  let arguments = (ins TileScalar:$value, Arg<TileBuffer, "", [MemWrite]>:$dest);
  let assemblyFormat = "$value `,` $dest attr-dict `:` type($value) `,` type($dest)";
  let hasVerifier = 1;
}

def Tile_GemmOp : TileMemoryOp<"gemm"> {
  let summary = "C += op(A) * op(B)";
  let description = [{
    C is M x N; A is M x K, or K x M with `transpose_a`; B is K x N, or N x K with `transpose_b`.
    Products are exact and their sum is rounded to C's element type. If `clear` is given and true,
    C counts as zero before. `policy` and `k_pack` choose a distribution and never change values.

    ```mlir
    tile.gemm %k, %q, %s transpose_b policy full_row clear %first : ...
    ```
  }];
  let arguments = (ins Arg<TileBuffer, "", [MemRead]>:$a, Arg<TileBuffer, "", [MemRead]>:$b,
                       Arg<TileBuffer, "", [MemRead, MemWrite]>:$c, Optional<I1>:$clear,
                       UnitAttr:$transposeA, UnitAttr:$transposeB,
                       DefaultValuedAttr<TileGemmPolicyAttr,
                         "::tilewright::tile::GemmPolicy::Square">:$policy,
                       DefaultValuedAttr<I64Attr, "1">:$kPack);
  let assemblyFormat = [{
    $a `,` $b `,` $c (`transpose_a` $transposeA^)? (`transpose_b` $transposeB^)?
    (`policy` $policy^)? (`k_pack` $kPack^)? (`clear` $clear^)? attr-dict
    `:` type($a) `,` type($b) `,` type($c)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// M, N and K.
    struct Extents { int64_t m, n, k; };
    Extents getExtents();
  }];
}

def Tile_ReduceOp : TileCollectiveOp<"reduce"> {
  let summary = "combines a tile along one dimension";
  let description = [{
    `dest` drops dimension `dim` of `source`, or keeps it as 1. With `clear` the old value of `dest`
    is ignored, else it takes part once. Max and min lose a NaN unless `nan_propagate`.

    ```mlir
    tile.reduce max %s, %m dim 1 clear : ...
    ```
  }];
  let arguments = (ins TileReduceKindAttr:$kind, Arg<TileBuffer, "", [MemRead]>:$source,
                       Arg<TileBuffer, "", [MemRead, MemWrite]>:$dest, I64Attr:$dim,
                       UnitAttr:$clear, UnitAttr:$nanPropagate);
  let assemblyFormat = [{
    $kind $source `,` $dest `dim` $dim (`clear` $clear^)? (`nan_propagate` $nanPropagate^)? attr-dict
    `:` type($source) `to` type($dest)
  }];
  let hasVerifier = 1;
}

def Tile_CumsumOp : TileCollectiveOp<"cumsum"> {
  let summary = "running sums of a tile along one dimension";
  let arguments = (ins Arg<TileBuffer, "", [MemRead]>:$source,
                       Arg<TileBuffer, "", [MemWrite]>:$dest, I64Attr:$dim, UnitAttr:$reverse);
  let assemblyFormat = [{
    $source `,` $dest `dim` $dim (`reverse` $reverse^)? attr-dict `:` type($source) `to` type($dest)
  }];
  let hasVerifier = 1;
}

def Tile_AtomicOp : TileMemoryOp<"atomic"> {
  let summary = "combines a tile into another, each element atomically";
  let description = [{
    `value` is a tile of the same extents (unit dimensions left out) or one scalar for all elements;
    it is converted to the element type of `dest` before it is combined.

    ```mlir
    tile.atomic add %dq, %region order relaxed : ...
    ```
  }];
  let arguments = (ins TileAtomicKindAttr:$kind, Arg<TileOrScalar, "", [MemRead]>:$value,
                       Arg<TileBuffer, "", [MemRead, MemWrite]>:$dest,
                       DefaultValuedAttr<TileMemoryOrderAttr,
                         "::tilewright::tile::MemoryOrder::Relaxed">:$order);
  let assemblyFormat = [{
    $kind $value `,` $dest (`order` $order^)? attr-dict `:` type($value) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def Tile_AtomicElementOp : TileMemoryOp<"atomic_element", [
    TypesMatchWith<"value is the scalar of the buffer's element type", "buffer", "value",
      "::tilewright::tile::getScalarType(::llvm::cast<::mlir::MemRefType>($_self).getElementType())">,
    TypesMatchWith<"result is the scalar of the buffer's element type", "buffer", "previous",
      "::tilewright::tile::getScalarType(::llvm::cast<::mlir::MemRefType>($_self).getElementType())">]> {
  let summary = "combines one element atomically and gives its previous value";
  let arguments = (ins TileAtomicKindAttr:$kind, TileScalar:$value,
                       Arg<TileBuffer, "", [MemRead, MemWrite]>:$buffer, Variadic<Index>:$indices,
                       DefaultValuedAttr<TileMemoryOrderAttr,
                         "::tilewright::tile::MemoryOrder::Relaxed">:$order);
  let results = (outs TileScalar:$previous);
  let assemblyFormat = [{
    $kind $value `,` $buffer `[` $indices `]` (`order` $order^)? attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def Tile_ReducerUpdateOp : TileMemoryOp<"reducer_update", [
    TypesMatchWith<"value is the scalar of the buffer's element type", "buffer", "value",
      "::tilewright::tile::getScalarType(::llvm::cast<::mlir::MemRefType>($_self).getElementType())">]> {
  let summary = "adds one contribution to an element of a reducer, once however the loop is spread";
  let arguments = (ins TileScalar:$value, Arg<TileBuffer, "", [MemRead, MemWrite]>:$buffer,
                       Variadic<Index>:$indices);
  let assemblyFormat = "$value `,` $buffer `[` $indices `]` attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Tile_FinalizeReducerOp : TileCollectiveOp<"finalize_reducer"> {
  let summary = "the combined contributions of a reducer become the elements of a tile";
  let arguments = (ins Arg<TileBuffer, "", [MemRead]>:$reducer,
                       Arg<TileBuffer, "", [MemWrite]>:$dest);
  let assemblyFormat = "$reducer `,` $dest attr-dict `:` type($reducer) `to` type($dest)";
  let hasVerifier = 1;
}

def Tile_Im2colOp : TileMemoryOp<"im2col"> {
  let summary = "gathers a tile of the patch matrix of an NHWC image";
  let description = [{
    Row `r` of `dest` is output position `row_tile * rows + r` in n, h, w order; column `c` is
    `column_tile * columns + c` in kernel-row, kernel-column, channel order. Positions in the
    padding read as zero.
  }];
  let arguments = (ins Arg<TileBuffer, "", [MemRead]>:$image,
                       Arg<TileBuffer, "", [MemWrite]>:$dest, Index:$rowTile, Index:$columnTile,
                       I64Attr:$kernel, I64Attr:$stride, I64Attr:$dilation, I64Attr:$pad);
  let assemblyFormat = [{
    $image `,` $dest `at` `(` $rowTile `,` $columnTile `)` `kernel` $kernel `stride` $stride
    `dilation` $dilation `pad` $pad attr-dict `:` type($image) `to` type($dest)
  }];
  let hasVerifier = 1;
}

//===-----------------------------------------------------------------------------===//
// Threads
//===-----------------------------------------------------------------------------===//

def Tile_ThreadIdOp : TileOp<"thread_id", [Pure]> {
  let summary = "the index of the thread that runs this";
  let description = [{
    Where the thread stands in dimension `dim` of the kernel's thread shape. Stands in a kernel and
    outside `tile.parallel`, which deals its iterations to the threads itself.
    `tile-spread-threads` replaces it by the variable of a loop over the threads.

    ```mlir
    %tx = tile.thread_id 0
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Index:$index);
  let assemblyFormat = "$dim attr-dict";
  let hasVerifier = 1;
}

/// A statement on one of a row of barriers.
class TileBarrierUseOp<string mnemonic> : TileMemoryOp<mnemonic> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many arrivals end a phase of the barrier: what this statement says, else the allocation.
    int64_t getExpectedArrivals();
  }];
}

def Tile_BarrierAllocOp : TileOp<"barrier_alloc", [
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a row of barriers, with no arrivals yet";
  let description = [{
    A barrier counts arrivals. Its phases are numbered from 0; phase `p` is over when the count
    reaches `(p + 1) * n`. `arrivals` holds this `n` for each barrier. A count of 0 leaves it to the
    uses, which all name one (`T.sync_threads(id, n)`). A barrier takes 8 bytes of shared memory, so
    the row is a buffer of that space, which only `tile.barrier_arrive` and `tile.barrier_wait` use.

    ```mlir
    %ready = tile.barrier_alloc "ready" arrivals [128, 128] : memref<2xi64, #tile.space<shared>>
    ```
  }];
  let arguments = (ins StrAttr:$name, DenseI64ArrayAttr:$arrivals);
  let results = (outs Res<TileBuffer, "", [MemAlloc]>:$barriers);
  let assemblyFormat = "$name `arrivals` $arrivals attr-dict `:` type($barriers)";
  let hasVerifier = 1;
}

def Tile_BarrierArriveOp : TileBarrierUseOp<"barrier_arrive"> {
  let summary = "each thread that comes here arrives at a barrier";
  let description = [{
    Counts one arrival for each thread that comes; with `once` one arrival, however many threads
    come (the completion of an asynchronous statement); with `by_warp` one for each warp. What the threads did before is visible after
    a wait for the phase that the arrival ends. `count` states how many arrivals end a phase, where
    the allocation leaves that open. `expect_bytes` is what the user says asynchronous copies will
    still deliver to this phase; a copy is over before the next statement, so that it changes no
    meaning.

    ```mlir
    tile.barrier_arrive %ready[%k] : memref<2xi64, #tile.space<shared>>
    tile.barrier_arrive %ready[%k] expect_bytes %n : memref<2xi64, #tile.space<shared>>
    tile.barrier_arrive %named[%id] count 256 : memref<16xi64, #tile.space<shared>>
    ```
  }];
  let arguments = (ins Arg<TileBuffer, "", [MemRead, MemWrite]>:$barriers, Index:$index,
                       Optional<Index>:$expectedBytes, UnitAttr:$once,
                       UnitAttr:$byWarp, OptionalAttr<I64Attr>:$count);
  let assemblyFormat = [{
    $barriers `[` $index `]` (`once` $once^)? (`by_warp` $byWarp^)? (`count` $count^)?
    (`expect_bytes` $expectedBytes^)? attr-dict `:` type($barriers)
  }];
}

def Tile_BarrierWaitOp : TileBarrierUseOp<"barrier_wait"> {
  let summary = "each thread that comes here waits for a phase of a barrier to end";
  let description = [{
    With `parity`, the thread goes on once the phase of this parity is over: when the number of the
    current phase is odd for parity 0, even for parity 1; so the phase before the first counts as
    over. Without it, the thread goes on once the phase of its own last arrival is over.

    ```mlir
    tile.barrier_wait %ready[%k] parity %p : memref<2xi64, #tile.space<shared>>
    tile.barrier_wait %named[%id] count 256 : memref<16xi64, #tile.space<shared>>
    ```
  }];
  let arguments = (ins Arg<TileBuffer, "", [MemRead, MemWrite]>:$barriers, Index:$index,
                       Optional<Index>:$parity, OptionalAttr<I64Attr>:$count);
  let assemblyFormat = [{
    $barriers `[` $index `]` (`parity` $parity^)? (`count` $count^)? attr-dict `:` type($barriers)
  }];
}

def Tile_GridSyncOp : TileOp<"grid_sync", [MemoryEffects<[MemRead, MemWrite]>,
    HasParent<"KernelOp">]> {
  let summary = "all blocks of the grid have come here before one goes on";
  let description = [{
    What any block wrote to global memory before is visible after. On-chip tiles do not keep their
    values (`tile-split-grid` refuses kernels that would need them).

    ```mlir
    tile.grid_sync
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===-----------------------------------------------------------------------------===//
// Notes on a kernel
//===-----------------------------------------------------------------------------===//

class TileNoteOp<string mnemonic, list<Trait> traits = []>
    : TileOp<mnemonic, !listconcat([MemoryEffects<[MemWrite]>,
        DeclareOpInterfaceMethods<TileEffectsOpInterface>], traits)>;

def Tile_AnnotateLayoutOp : TileNoteOp<"annotate_layout"> {
  let summary = "fixes where the elements of a buffer sit";
  let description = [{
    On a global tensor the layout is visible: it says where each logical element sits in memory. On
    shared tiles (`#tile.layout`) and fragments (`#tile.fragment`) it is a placement only.
  }];
  let arguments = (ins TileBuffer:$buffer, AnyAttrOf<[TileLayoutAttr, TileFragmentAttr]>:$layout);
  let assemblyFormat = "$buffer `:` type($buffer) `is` $layout attr-dict";
  let hasVerifier = 1;
}

def Tile_AnnotateSafeValueOp : TileNoteOp<"annotate_safe_value"> {
  let summary = "what a read outside a global tensor gives in this kernel";
  let arguments = (ins TileBuffer:$buffer, TypedAttrInterface:$value);
  let assemblyFormat = "$buffer `:` type($buffer) `is` $value attr-dict";
  let hasVerifier = 1;
}

def Tile_BarrierOp : TileOp<"barrier", [MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<TileEffectsOpInterface, ["synchronisesInside"]>]> {
  let summary = "the threads of the block meet; what was written before is seen after";
  let description = [{
    Placed by `tile-insert-orderings`; it orders accesses and touches no memory itself. All threads
    reach it, so it never stands in `tile.parallel`, whose iterations go their own ways.
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Tile_AsyncGroupOp : TileOp<"async_group", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">, AttrSizedOperandSegments]> {
  let summary = "copies of one iteration of a loop, which run on while the threads go on";
  let description = [{
    If `iteration < upper`, starts the copies of its region (`tile.parallel` loops from global to
    shared memory); from `upper` on there is nothing to copy. The effects of the copies last until a
    wait for the group (`Effect::until`).

    Without `on`, every thread copies its part, and the copies of a thread form one group, also where
    there is nothing to copy: groups end in the order in which they started, and `tile.async_wait`
    counts them. With `on`, one thread starts bulk copies (`tile.bulk`): the end of all of them is one
    arrival at the barrier `full[version]`, and `tile.barrier_wait` waits for it.

    With `after`, the copies start when the barrier `empty[version]` says that all threads have
    read what they overwrite; `tile-split-roles` moves such groups to threads of their own.

    ```mlir
    tile.async_group %next below %upper {
      tile.parallel ... // A[next] -> S
    }
    tile.async_group %k below %upper on %full[%v] : !row after %empty : !row {
      tile.parallel ... {tile.bulk = ...} // A[k] -> S[v]
    }
    ```
  }];
  let arguments = (ins Index:$iteration, Index:$upper, Optional<TileBuffer>:$full,
                       Optional<Index>:$version, Optional<TileBuffer>:$empty);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $iteration `below` $upper (`on` $full^ `[` $version `]` `:` type($full))?
    (`after` $empty^ `:` type($empty))? $body attr-dict
  }];
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$iteration, "::mlir::Value":$upper,
                                 CArg<"::mlir::Value", "{}">:$full,
                                 CArg<"::mlir::Value", "{}">:$version,
                                 CArg<"::mlir::Value", "{}">:$empty)>];
}

def Tile_VersionOp : TileOp<"version", [Pure]> {
  let summary = "which version of a multi-buffered tile an iteration of a loop uses";
  let description = [{
    `(iteration - first + ahead) mod count`, where `first` is the loop's first iteration: the version
    of the iteration that comes `ahead` iterations after this one. Code generation carries it around
    the loop, without a division.

    ```mlir
    %now = tile.version %k from %lower ahead 0 of 3
    %next = tile.version %k from %lower ahead 2 of 3
    ```
  }];
  let arguments = (ins Index:$iteration, Index:$first, I64Attr:$ahead, I64Attr:$count);
  let results = (outs Index:$result);
  let assemblyFormat = "$iteration `from` $first `ahead` $ahead `of` $count attr-dict";
  let hasVerifier = 1;
}

def Tile_PhaseOp : TileOp<"phase", [Pure]> {
  let summary = "the parity of the phase in which an iteration of a loop uses its version";
  let description = [{
    `(iteration - first + ahead) div count mod 2`: the versions of a multi-buffered tile are used in
    turn, and a barrier of a version ends one phase each time. Code generation carries it
    around the loop, beside the `tile.version` of the same numbers.

    ```mlir
    %now = tile.version %k from %lower ahead 0 of 3
    %phase = tile.phase %k from %lower ahead 0 of 3
    tile.barrier_wait %full[%now] parity %phase : !row
    ```
  }];
  let arguments = (ins Index:$iteration, Index:$first, I64Attr:$ahead, I64Attr:$count);
  let results = (outs Index:$result);
  let assemblyFormat = "$iteration `from` $first `ahead` $ahead `of` $count attr-dict";
  let hasVerifier = 1;
}

def Tile_RoleOp : TileOp<"role", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">, HasParent<"KernelOp">]> {
  let summary = "what threads of their own do beside the threads of the program";
  let description = [{
    `threads` threads after those of the program (`tile.extra_threads` of the kernel) run the region
    from the start of the block on, and none of the other statements; the program's threads skip it.
    Barriers (`tile.barrier_wait`) are all that orders the two. Made by `tile-split-roles`.

    ```mlir
    tile.role "producer" threads 32 {
      tile.pipelined %k = %lower to %upper stages 3 { ... }
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$threads);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `threads` $threads $body attr-dict";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "int64_t":$threads)>];
}

def Tile_AsyncWaitOp : TileOp<"async_wait", [MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<TileEffectsOpInterface>]> {
  let summary = "wait until at most `pending` groups of this thread's copies are under way";
  let description = [{
    Ends the effects of the copies of all older groups for the thread that waits; a barrier after it
    publishes them to the block. Placed by `tile-insert-orderings`.
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Tile_BulkGroupOp : TileOp<"bulk_group", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "bulk stores and reductions to global memory, which run on while the threads go on";
  let description = [{
    One thread starts what the loops of the region say (`tile.parallel` with `tile.bulk` or
    `tile.span`): copies from shared to global memory, or atomic additions. They form one group. Its
    effects last until a `tile.bulk_wait` (`Effect::until`). Made by `tile-start-bulk`.

    ```mlir
    tile.bulk_group {
      tile.parallel ... {tile.bulk = ...} // S -> C
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins)>];
}

def Tile_BulkWaitOp : TileOp<"bulk_wait", [MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<TileEffectsOpInterface>]> {
  let summary = "wait until at most `pending` groups of bulk stores are under way";
  let description = [{
    The thread that started the groups waits; for the others there is nothing to wait for, and a
    barrier tells them. With `read` the wait ends only what the groups read in shared memory. Placed by
    `tile-insert-orderings`.
  }];
  let arguments = (ins I64Attr:$pending, UnitAttr:$read);
  let assemblyFormat = "$pending (`read` $read^)? attr-dict";
}

def Tile_ProductWaitOp : TileOp<"product_wait", [MemoryEffects<[MemRead, MemWrite]>,
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<TileEffectsOpInterface>]> {
  let summary = "wait until at most `pending` products of this warpgroup are under way";
  let description = [{
    A `tile.gemm` with `tile.async` goes on after its statement: it reads its operands and writes its
    sums until a wait ends it. Products of a warpgroup end in the order in which they started. The
    wait names the fragments of all products under way, ended or not, so that code generation keeps
    their registers where they are: those with sums, and those that products read. Placed by
    `tile-insert-orderings`.

    ```mlir
    tile.product_wait 1 for %c : memref<128x128xf32, #tile.space<fragment>>
                        reading %a : memref<128x64xf16, #tile.space<fragment>>
    ```
  }];
  let arguments = (ins I64Attr:$pending, Variadic<TileBuffer>:$sums,
                       Variadic<TileBuffer>:$factors);
  let assemblyFormat = [{
    $pending (`for` $sums^ `:` type($sums))? (`reading` $factors^ `:` type($factors))? attr-dict
  }];
}

def Tile_UseSwizzleOp : TileNoteOp<"use_swizzle"> {
  let summary = "blocks are rasterised in panels, for cache locality; values stay the same";
  let arguments = (ins I64Attr:$panelSize, TileRasterOrderAttr:$order);
  let assemblyFormat = "`panel` $panelSize $order attr-dict";
  let hasVerifier = 1;
}

def Tile_HintOp : TileNoteOp<"hint"> {
  let summary = "a performance hint recorded by name, with its arguments as attributes";
  let arguments = (ins StrAttr:$name, Variadic<TileBuffer>:$buffers);
  let assemblyFormat = "$name (`(` $buffers^ `:` type($buffers) `)`)? attr-dict";
}

def Tile_AssumeOp : TileNoteOp<"assume"> {
  let summary = "a fact that holds here; the interpreter checks it";
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Tile_PrintOp : TileMemoryOp<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "prints a message and a scalar or a whole tile";
  let arguments = (ins StrAttr:$message, Arg<Optional<TileOrScalar>, "", [MemRead]>:$value);
  let assemblyFormat = "$message (`,` $value^ `:` type($value))? attr-dict";
}

def Tile_AssertOp : TileNoteOp<"assert"> {
  let summary = "stops the launch with a message if the condition is false";
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

//===-----------------------------------------------------------------------------===//
// Scalars whose corners differ from arith's
//===-----------------------------------------------------------------------------===//

class TileIntegerOp<string mnemonic> : TileOp<mnemonic, [Pure, SameOperandsAndResultType]> {
  let arguments = (ins AnySignlessIntegerOrIndex:$lhs, AnySignlessIntegerOrIndex:$rhs,
                       UnitAttr:$isUnsigned);
  let results = (outs AnySignlessIntegerOrIndex:$result);
  let assemblyFormat = "$lhs `,` $rhs (`unsigned` $isUnsigned^)? attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Tile_FloorDivOp : TileIntegerOp<"floordiv"> {
  let summary = "Python's x // y; x // 0 is 0, and INT_MIN // -1 wraps";
}
def Tile_FloorModOp : TileIntegerOp<"floormod"> {
  let summary = "Python's x % y; x % 0 is x";
}
def Tile_TruncDivOp : TileIntegerOp<"truncdiv"> {
  let summary = "C's x / y; x / 0 is 0, and INT_MIN / -1 wraps";
}
def Tile_TruncModOp : TileIntegerOp<"truncmod"> {
  let summary = "C's x % y; x % 0 is x";
}
def Tile_ShlOp : TileIntegerOp<"shl"> {
  let summary = "x << y; a shift by the width or more, or by a negative count, gives 0";
}
def Tile_ShrOp : TileIntegerOp<"shr"> {
  let summary = "x >> y; a shift by the width or more, or by a negative count, gives 0, or the sign if signed";
}

def Tile_CastOp : TileOp<"cast", [Pure]> {
  let summary = "converts a scalar between element types";
  let description = [{
    `from` and `to` are element types, so that signedness is said. Integers wrap; a float to an
    integer truncates and saturates, NaN gives 0; a float to a narrower float rounds to nearest even
    (`tf32`: to nearest, ties away from zero), or as `rounding` says. An overflow gives infinity, or
    the largest finite value for the 8-bit floats, and with `saturate`.

    ```mlir
    %f = tile.cast %x from ui8 to f32
    ```
  }];
  let arguments = (ins TileScalar:$value, TypeAttr:$from, TypeAttr:$to,
                       DefaultValuedAttr<TileRoundingAttr,
                         "::tilewright::tile::Rounding::NearestEven">:$rounding,
                       UnitAttr:$saturate);
  let results = (outs TileScalar:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_BitcastOp : TileOp<"bitcast", [Pure]> {
  let summary = "the bits of a scalar under another type of the same width";
  let arguments = (ins TileScalar:$value);
  let results = (outs TileScalar:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `to` type($result)";
  let hasVerifier = 1;
}

#endif
