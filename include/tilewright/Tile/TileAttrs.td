//===- TileAttrs.td - attributes of the tile dialect --------------*- tablegen -*-===//
#ifndef TILEWRIGHT_TILE_TILEATTRS_TD
#define TILEWRIGHT_TILE_TILEATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "tilewright/Tile/TileDialect.td"

class TileEnum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tilewright::tile";
  let genSpecializedAttr = 0;
}

/// Where a buffer lives. It changes nothing about values (docs/semantics.md).
def TileSpace : TileEnum<"Space", "memory space of a buffer", [
  I32EnumAttrCase<"Global", 0, "global">,     // a tensor argument or a workspace, seen by all blocks
  I32EnumAttrCase<"Shared", 1, "shared">,     // one array a block
  I32EnumAttrCase<"Fragment", 2, "fragment">, // distributed over the registers of a block
  I32EnumAttrCase<"Local", 3, "local">        // a scalar variable (rank 0), later per-thread arrays
]>;
def TileSpaceAttr : EnumAttr<TileDialect, TileSpace, "space"> {
  let assemblyFormat = "`<` $value `>`";
}

def TileReduceKind : TileEnum<"ReduceKind", "combining operation of a reduction", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"AbsSum", 3, "abssum">,
  I32EnumAttrCase<"AbsMax", 4, "absmax">, I32EnumAttrCase<"And", 5, "and">,
  I32EnumAttrCase<"Or", 6, "or">, I32EnumAttrCase<"Xor", 7, "xor">
]>;
def TileReduceKindAttr : EnumAttr<TileDialect, TileReduceKind, "reduce_kind">;

def TileAtomicKind : TileEnum<"AtomicKind", "combining operation of an atomic update", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"And", 3, "and">,
  I32EnumAttrCase<"Or", 4, "or">, I32EnumAttrCase<"Xor", 5, "xor">,
  I32EnumAttrCase<"Exchange", 6, "exchange">
]>;
def TileAtomicKindAttr : EnumAttr<TileDialect, TileAtomicKind, "atomic_kind">;

def TileMemoryOrder : TileEnum<"MemoryOrder", "memory order of an atomic update", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">, I32EnumAttrCase<"Consume", 1, "consume">,
  I32EnumAttrCase<"Acquire", 2, "acquire">, I32EnumAttrCase<"Release", 3, "release">,
  I32EnumAttrCase<"AcqRel", 4, "acq_rel">, I32EnumAttrCase<"SeqCst", 5, "seq_cst">
]>;
def TileMemoryOrderAttr : EnumAttr<TileDialect, TileMemoryOrder, "memory_order">;

def TileGemmPolicy : TileEnum<"GemmPolicy", "how the warps of a block divide the result of a gemm", [
  I32EnumAttrCase<"Square", 0, "square">, I32EnumAttrCase<"FullRow", 1, "full_row">,
  I32EnumAttrCase<"FullCol", 2, "full_col">
]>;
def TileGemmPolicyAttr : EnumAttr<TileDialect, TileGemmPolicy, "gemm_policy">;

def TileRounding : TileEnum<"Rounding", "rounding of a conversion to a float", [
  I32EnumAttrCase<"NearestEven", 0, "nearest_even">, I32EnumAttrCase<"TowardZero", 1, "toward_zero">,
  I32EnumAttrCase<"NearestAway", 2, "nearest_away">, I32EnumAttrCase<"Downward", 3, "downward">,
  I32EnumAttrCase<"Upward", 4, "upward">
]>;
def TileRoundingAttr : EnumAttr<TileDialect, TileRounding, "rounding">;

def TileRasterOrder : TileEnum<"RasterOrder", "direction in which panels of blocks are walked", [
  I32EnumAttrCase<"Row", 0, "row">, I32EnumAttrCase<"Column", 1, "column">
]>;
def TileRasterOrderAttr : EnumAttr<TileDialect, TileRasterOrder, "raster_order">;

/// A logical-to-physical index map over a given shape (tilewright/Layout/Layout.h), e.g.
/// `#tile.layout<[8, 32], "(i, j) -> (i, j ^ 4 * (i % 8))">`. The map is a string because `//`
/// starts a comment in MLIR's lexer.
def TileLayoutAttr : AttrDef<TileDialect, "Layout"> {
  let mnemonic = "layout";
  let parameters = (ins AttrParameter<"::tilewright::Layout", "index map">:$layout);
  let hasCustomAssemblyFormat = 1;
}

/// A placement of a tile in registers: logical index -> (thread, slot), possibly replicated.
def TileFragmentAttr : AttrDef<TileDialect, "Fragment"> {
  let mnemonic = "fragment";
  let parameters = (ins AttrParameter<"::tilewright::Fragment", "thread and slot map">:$fragment);
  let hasCustomAssemblyFormat = 1;
}

/// The extents of a tensor argument as integer expressions of the function's shape symbols, e.g.
/// `#tile.shape<"()[n, m] -> (2 * n, m, 64)">`. Every engine sizes the argument by it.
def TileShapeAttr : AttrDef<TileDialect, "Shape"> {
  let mnemonic = "shape";
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$symbols,
                        AttrParameter<"::tilewright::Layout", "extents of the symbols">:$map);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::tilewright::IndexExpr> getExtents() const { return getMap().getOutputs(); }
  }];
}

/// How the slots of a loop's threads make one access to memory, as the access planner proved it
/// (tilewright/Access/Planner.h). Slots are those of the loop's distribution; groups of `width` of
/// them, listed one after the other, lie at neighbouring offsets and are one instruction each.
///   sources   of a read that several slots share: for each slot its position in `slots`, or -1
///   anchors   for each group the group from whose address its own is `deltas` elements away
///   guarded   the dimensions of the root in which a group may lie out of bounds at run time
def TileAccessAttr : AttrDef<TileDialect, "Access"> {
  let mnemonic = "access";
  let parameters = (ins "int64_t":$width,
                        OptionalArrayRefParameter<"int64_t">:$slots,
                        OptionalArrayRefParameter<"int64_t">:$sources,
                        OptionalArrayRefParameter<"int64_t">:$anchors,
                        OptionalArrayRefParameter<"int64_t">:$deltas,
                        OptionalArrayRefParameter<"int64_t">:$guarded);
  let assemblyFormat = [{
    `<` `width` `=` $width (`slots` `=` `[` $slots^ `]`)? (`sources` `=` `[` $sources^ `]`)?
    (`anchors` `=` `[` $anchors^ `]`)? (`deltas` `=` `[` $deltas^ `]`)?
    (`guarded` `=` `[` $guarded^ `]`)? `>`
  }];
  let extraClassDeclaration = [{
    int64_t getNumGroups() const { return getSlots().size() / getWidth(); }
    ::llvm::ArrayRef<int64_t> getGroup(int64_t group) const {
      return getSlots().slice(group * getWidth(), getWidth());
    }
  }];
}

/// How wgmma reads an operand of a gemm that lies in shared memory
/// (tilewright/Layout/ProductLayouts.h), e.g.
/// `#tile.operand<swizzle = 128 k_major = true leading = 0 stride = 1024 panel = 16384>`. Strides are
/// bytes, from the first element of the operand on.
def TileOperandAttr : AttrDef<TileDialect, "Operand"> {
  let mnemonic = "operand";
  let parameters = (ins "int64_t":$swizzle, "bool":$kMajor, "int64_t":$leading, "int64_t":$stride,
                        "int64_t":$panel);
  let assemblyFormat = [{
    `<` `swizzle` `=` $swizzle `k_major` `=` $kMajor `leading` `=` $leading `stride` `=` $stride
    `panel` `=` $panel `>`
  }];
}

/// How a copy between global and shared memory, or an addition to global memory, is done by
/// `cp(.reduce).async.bulk.tensor`, as the access planner proved it (tilewright/Access/Bulk.h), e.g. `#tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1]
/// box = [64, 128] swizzle = 128 origins = [0, 0] offsets = [0]>`. Digits are in the order of TMA, the
/// innermost first.
///   map        the position of its #tile.tensor_map in `tile.tensor_maps` of the kernel
///   dims       the dimension of the tensor that each digit counts
///   divisors   what that dimension's coordinate is divided by; 0: this digit starts at 0
///   box        the elements of each digit that one instruction moves
///   swizzle    the bytes of a row that are permuted in shared memory: 0, 32, 64 or 128
///   origins    for each instruction, what it adds to the coordinate of each digit
///   offsets     for each instruction, what it adds to the tile's address, in bytes
///   clamped    the digits whose coordinate is not known to have 32 bits
def TileBulkAttr : AttrDef<TileDialect, "Bulk"> {
  let mnemonic = "bulk";
  let parameters = (ins "int64_t":$map, ArrayRefParameter<"int64_t">:$dims,
                        ArrayRefParameter<"int64_t">:$divisors, ArrayRefParameter<"int64_t">:$box,
                        "int64_t":$swizzle, ArrayRefParameter<"int64_t">:$origins,
                        ArrayRefParameter<"int64_t">:$offsets,
                        OptionalArrayRefParameter<"int64_t">:$clamped);
  let assemblyFormat = [{
    `<` `map` `=` $map `dims` `=` `[` $dims `]` `divisors` `=` `[` $divisors `]`
    `box` `=` `[` $box `]` `swizzle` `=` $swizzle `origins` `=` `[` $origins `]`
    `offsets` `=` `[` $offsets `]` (`clamped` `=` `[` $clamped^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    size_t getRank() const { return getBox().size(); }
    size_t getNumIssues() const { return getOffsets().size(); }
    /// What one instruction adds to the coordinates.
    ::llvm::ArrayRef<int64_t> getOrigin(size_t issue) const {
      return getOrigins().slice(issue * getRank(), getRank());
    }
    /// The elements that all instructions move, those out of bounds included.
    int64_t getNumElements() const;
  }];
}

/// A copy between neighbouring bytes of global and shared memory, both in the same order, by one
/// `cp.async.bulk` without a tensor map: `#tile.span<bytes = 4096>`.
def TileSpanAttr : AttrDef<TileDialect, "Span"> {
  let mnemonic = "span";
  let parameters = (ins "int64_t":$bytes);
  let assemblyFormat = "`<` `bytes` `=` $bytes `>`";
}

/// A tensor map that the launcher makes for bulk copies (PTX ISA, "Tensor-map"), as formulas of the
/// call, e.g. `#tile.tensor_map<argument = 0 type = f16 extents = <"()[n] -> (64, n)">
/// strides = <"() -> (128)"> box = [64, 32] steps = [1, 1] swizzle = 128 promotion = 256>`.
/// Dimensions are in the order of TMA, the innermost first.
///   argument     whose memory: the function's arguments in order, then its workspaces
///   type         of the elements
///   extents      in elements
///   strides      in bytes, of all dimensions but the first, which has the elements side by side
///   box, steps   what one copy moves, in elements, and the distance between those it takes
///   swizzle      the bytes of a row that are permuted in shared memory: 0, 32, 64 or 128
///   fills_nan    what a copy reads outside the tensor: NaN, or zero
///   promotion    the bytes that a copy brings to L2 at least: 0, 64, 128 or 256
def TileTensorMapAttr : AttrDef<TileDialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let parameters = (ins "int64_t":$argument, "::mlir::Type":$type,
                        "::tilewright::tile::ShapeAttr":$extents,
                        "::tilewright::tile::ShapeAttr":$strides,
                        ArrayRefParameter<"int64_t">:$box, ArrayRefParameter<"int64_t">:$steps,
                        "int64_t":$swizzle, DefaultValuedParameter<"bool", "false">:$fillsNan,
                        DefaultValuedParameter<"int64_t", "0">:$promotion);
  let assemblyFormat = [{
    `<` `argument` `=` $argument `type` `=` $type `extents` `=` $extents `strides` `=` $strides
    `box` `=` `[` $box `]` `steps` `=` `[` $steps `]` `swizzle` `=` $swizzle
    (`fills_nan` `=` $fillsNan^)? (`promotion` `=` $promotion^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// TMA's limit on dimensions.
    static constexpr size_t kMaxRank = 5;
    size_t getRank() const { return getBox().size(); }
  }];
}

#endif
