// RUN: tw-opt %s -split-input-file -verify-diagnostics

// expected-error @+2 {{expected ::tilewright::tile::Space to be one of: global, shared, fragment, local}}
// expected-error @+1 {{failed to parse TileSpaceAttr parameter 'value' which is to be a `::tilewright::tile::Space`}}
func.func private @space() attributes {a = #tile.space<register>}

// -----

// expected-error @+1 {{unknown attribute `shelf` in dialect `tile`}}
func.func private @unknown() attributes {a = #tile.shelf<1>}

// -----

// expected-error @+1 {{expected '<'}}
func.func private @no_parameters() attributes {a = #tile.layout}

// -----

// expected-error @+1 {{expected an extent that is not negative}}
func.func private @negative_extent() attributes {a = #tile.layout<[-8], "(i) -> (i)">}

// -----

// expected-error @+1 {{integer value too large}}
func.func private @huge_extent() attributes {a = #tile.layout<[99999999999999999999], "(i) -> (i)">}

// -----

// expected-error @+1 {{expected string}}
func.func private @no_map() attributes {a = #tile.layout<[8], 3>}

// -----

// expected-error @+1 {{'tile.unroll' is a unit attribute of 'scf.for'}}
func.func private @unroll() attributes {tile.unroll}

// -----

func.func @vectorized_kind(%n: index) {
  // expected-error @+1 {{'tile.vectorized' is a unit attribute of 'scf.for'}}
  scf.for %i = %n to %n step %n {
  } {tile.vectorized = 3 : i32}
  return
}

// -----

func.func @fast_math_place(%n: index) {
  // expected-error @+1 {{'tile.fast_math' is a unit attribute of a function or module}}
  scf.for %i = %n to %n step %n {
  } {tile.fast_math}
  return
}

// -----

func.func @leaves_open_place(%is: i1) {
  // expected-error @+1 {{'tile.leaves_open' is a unit attribute of an 'scf.if' with two branches}}
  scf.if %is {
  } {tile.leaves_open}
  return
}

// -----

// expected-error @+1 {{unknown attribute 'tile.colour' of the tile dialect}}
func.func private @unknown_note() attributes {tile.colour = "red"}

// -----

// expected-error @+1 {{unknown argument attribute 'tile.colour' of the tile dialect}}
func.func private @unknown_argument_note(f32 {tile.colour = "red"})

// -----

// expected-error @+1 {{'tile.name' is a string}}
func.func private @name(f32 {tile.name = 3 : i32})

// -----

// expected-error @+1 {{'tile.symbol' is a string on an argument of type index}}
func.func private @symbol(index {tile.symbol = 3 : i32})

// -----

// expected-error @+1 {{'tile.symbol' is a string on an argument of type index}}
func.func private @symbol_type(f32 {tile.symbol = "n"})

// -----

// expected-error @+1 {{'tile.divisor' is a positive i64 on a shape symbol}}
func.func private @divisor(index {tile.symbol = "n", tile.divisor = 0 : i64})

// -----

// expected-error @+1 {{'tile.divisor' is a positive i64 on a shape symbol}}
func.func private @divisor_of_a_number(index {tile.divisor = 16 : i64})

// -----

// expected-error @+1 {{'tile.dtype' of argument 0 is not an element type whose scalar has the argument's type}}
func.func private @dtype(f32 {tile.dtype = "float32"})

// -----

// expected-error @+1 {{'tile.dtype' of argument 1 is not an element type whose scalar has the argument's type}}
func.func private @dtype_of_other_type(f32 {tile.dtype = f32}, f32 {tile.dtype = ui32})

// -----

// expected-error @+1 {{'tile.shape' is a #tile.shape of a function's argument}}
func.func private @shape_kind(memref<4xf32, #tile.space<global>> {tile.shape = "4"})

// -----

// expected-error @+1 {{'tile.shape' of argument 0 has 2 extents, its type is 'memref<4xf32, #tile.space<global>>'}}
func.func private @shape_rank(
    memref<4xf32, #tile.space<global>> {tile.shape = #tile.shape<"() -> (4, 4)">})

// -----

// expected-error @+1 {{'tile.shape' of argument 0 disagrees with its type 'memref<4xf32, #tile.space<global>>'}}
func.func private @shape_extent(
    memref<4xf32, #tile.space<global>> {tile.shape = #tile.shape<"() -> (5)">})

// -----

// expected-error @+1 {{'tile.shape' of argument 0 disagrees with its type 'memref<?xf32, #tile.space<global>>'}}
func.func private @shape_static(
    memref<?xf32, #tile.space<global>> {tile.shape = #tile.shape<"() -> (5)">})

// -----

// expected-error @+1 {{'tile.shape' of argument 0 names symbol 'n', which no argument carries}}
func.func private @shape_symbol(
    memref<?xf32, #tile.space<global>> {tile.shape = #tile.shape<"()[n] -> (n)">})

// -----

// expected-error @+1 {{expected symbols in square brackets and no index, as in "()[n] -> (n)"}}
func.func private @shape_of_indices() attributes {a = #tile.shape<"(n) -> (n)">}

// -----

// What the layout's notation does not know, with the column.
// expected-error @+1 {{in '(i) -> (i / 2)', column 11: expected}}
func.func private @slash() attributes {a = #tile.layout<[8], "(i) -> (i / 2)">}

// -----

// expected-error @+1 {{in '(i) -> (k)', column 9: expected one of the names i, got 'k'}}
func.func private @unknown_index() attributes {a = #tile.layout<[8], "(i) -> (k)">}

// -----

// expected-error @+1 {{in '(i) -> (i)': expected 2 names for a tile of shape 8 x 8, got 1}}
func.func private @layout_rank() attributes {a = #tile.layout<[8, 8], "(i) -> (i)">}

// -----

// expected-error @+1 {{column 8: expected 'thread', got '('}}
func.func private @fragment_without_thread() attributes {a = #tile.fragment<[8], "(i) -> (i, 0)">}

// -----

// expected-error @+1 {{expected the position of an argument, got -1}}
func.func private @map_argument() attributes {a = #tile.tensor_map<argument = -1 type = f16 extents = <"() -> (64, 8)"> strides = <"() -> (128)"> box = [64, 8] steps = [1, 1] swizzle = 128>}

// -----

// expected-error @+1 {{a tensor map has 1 to 5 dimensions, got 6}}
func.func private @map_rank() attributes {a = #tile.tensor_map<argument = 0 type = f16 extents = <"() -> (64, 8)"> strides = <"() -> (128)"> box = [1, 1, 1, 1, 1, 1] steps = [1, 1] swizzle = 128>}

// -----

// expected-error @+1 {{expected 2 extents and steps and 1 strides for a box of 2 dimensions, got 2, 2 and 2}}
func.func private @map_strides() attributes {a = #tile.tensor_map<argument = 0 type = f16 extents = <"() -> (64, 8)"> strides = <"() -> (2, 128)"> box = [64, 8] steps = [1, 1] swizzle = 128>}

// -----

// expected-error @+1 {{an extent of a box is 1 to 256, got 257}}
func.func private @map_box() attributes {a = #tile.tensor_map<argument = 0 type = f16 extents = <"() -> (64, 8)"> strides = <"() -> (128)"> box = [64, 257] steps = [1, 1] swizzle = 128>}

// -----

// expected-error @+1 {{a step of a tensor map is 1 to 8, got 9}}
func.func private @map_step() attributes {a = #tile.tensor_map<argument = 0 type = f16 extents = <"() -> (64, 8)"> strides = <"() -> (128)"> box = [64, 8] steps = [1, 9] swizzle = 128>}

// -----

// expected-error @+1 {{expected the type of an element, got 'index'}}
func.func private @map_type() attributes {a = #tile.tensor_map<argument = 0 type = index extents = <"() -> (64, 8)"> strides = <"() -> (128)"> box = [64, 8] steps = [1, 1] swizzle = 128>}

// -----

// expected-error @+1 {{only a floating-point tensor reads NaN outside, got 'i32'}}
func.func private @map_fill() attributes {a = #tile.tensor_map<argument = 0 type = i32 extents = <"() -> (64, 8)"> strides = <"() -> (128)"> box = [64, 8] steps = [1, 1] swizzle = 128 fills_nan = true>}

// -----

// expected-error @+1 {{a swizzle permutes 0, 32, 64 or 128 bytes, got 16}}
func.func private @map_swizzle() attributes {a = #tile.tensor_map<argument = 0 type = f16 extents = <"() -> (64, 8)"> strides = <"() -> (128)"> box = [64, 8] steps = [1, 1] swizzle = 16>}

// -----

// expected-error @+1 {{L2 promotion is 0, 64, 128 or 256 bytes, got 32}}
func.func private @map_promotion() attributes {a = #tile.tensor_map<argument = 0 type = f16 extents = <"() -> (64, 8)"> strides = <"() -> (128)"> box = [64, 8] steps = [1, 1] swizzle = 128 promotion = 32>}

// -----

func.func @maps_are_a_list(%n: index) {
  // expected-error @+1 {{'tile.tensor_maps' is a list of #tile.tensor_map of 'tile.kernel' in a function}}
  tile.kernel (%bx) in (%n) threads [32] attributes {tile.tensor_maps = 3} {
  }
  return
}

// -----

func.func @map_of_a_number(%n: index) {
  // expected-error @+1 {{a tensor map is of argument 0, which is no tensor or workspace of the function}}
  tile.kernel (%bx) in (%n) threads [32] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"()[m] -> (64, m)"> strides = <"() -> (128)"> box = [64, 8] steps = [1, 1] swizzle = 128>]} {
  }
  return
}

// -----

func.func @map_of_an_unknown_symbol(%A: memref<8x64xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{a tensor map names symbol 'm', which no argument carries}}
  tile.kernel (%bx) in (%c1) threads [32] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"()[m] -> (64, m)"> strides = <"() -> (128)"> box = [64, 8] steps = [1, 1] swizzle = 128>]} {
  }
  return
}
