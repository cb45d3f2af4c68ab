// RUN: tw-opt %s -split-input-file -verify-diagnostics

func.func @dynamic_count(%n: index) {
  // expected-error @+1 {{'tile.alloc' op has 1 run-time extents for type 'memref<4xf32, #tile.space<global>>'}}
  %a = tile.alloc "a"(%n) : memref<4xf32, #tile.space<global>>
  return
}

// -----

func.func @global_in_kernel(%n: index) {
  tile.kernel (%x) in (%n) threads [32] {
    // expected-error @+1 {{'w': a global workspace is allocated outside a kernel}}
    %a = tile.alloc "w" : memref<4xf32, #tile.space<global>>
  }
  return
}

// -----

func.func @dynamic_tile(%n: index) {
  tile.kernel (%x) in (%n) threads [32] {
    // expected-error @+1 {{'s': an on-chip tile needs constant extents, got 4 x ?}}
    %a = tile.alloc "s"(%n) : memref<4x?xf32, #tile.space<shared>>
  }
  return
}

// -----

func.func @tile_outside() {
  // expected-error @+1 {{'s': a tile is allocated inside 'with T.Kernel'}}
  %a = tile.alloc "s" : memref<4xf32, #tile.space<shared>>
  return
}

// -----

func.func @empty_tile(%n: index) {
  tile.kernel (%x) in (%n) threads [32] {
    // expected-error @+1 {{'s': extent 0 is not positive}}
    %a = tile.alloc "s" : memref<4x0xf32, #tile.space<shared>>
  }
  return
}

// -----

func.func @huge_tile(%n: index) {
  tile.kernel (%x) in (%n) threads [32] {
    // expected-error @+1 {{'s': 9223372036854775807 x 9223372036854775807 is too large}}
    %a = tile.alloc "s" : memref<9223372036854775807x9223372036854775807xf32, #tile.space<shared>>
  }
  return
}

// -----

func.func @shared_reducer(%n: index) {
  tile.kernel (%x) in (%n) threads [32] {
    // expected-error @+1 {{'s': a reducer lives in a fragment}}
    %a = tile.alloc "s" reducer max : memref<4xf32, #tile.space<shared>>
  }
  return
}

// -----

func.func @not_a_buffer(%a: memref<4xf32>, %i: index) {
  // expected-error @+1 {{custom op 'tile.load' 'buffer' must be buffer (a memref in a #tile.space), but got 'memref<4xf32>'}}
  %x = tile.load %a[%i] : memref<4xf32>
  return
}

// -----

// The type of a buffer never holds a layout.
func.func @strided(%a: memref<4xf32, strided<[2]>, #tile.space<global>>, %i: index) {
  // expected-error @+1 {{custom op 'tile.load' 'buffer' must be buffer (a memref in a #tile.space)}}
  %x = tile.load %a[%i] : memref<4xf32, strided<[2]>, #tile.space<global>>
  return
}

// -----

func.func @odd_element_type(%a: memref<4xi7, #tile.space<global>>, %i: index) {
  // expected-error @+1 {{custom op 'tile.load' 'buffer' must be buffer (a memref in a #tile.space)}}
  %x = tile.load %a[%i] : memref<4xi7, #tile.space<global>>
  return
}

// -----

func.func @tensor_of_index(%a: memref<4xindex, #tile.space<global>>, %i: index) {
  // expected-error @+1 {{custom op 'tile.load' 'buffer' must be buffer (a memref in a #tile.space)}}
  %x = tile.load %a[%i] : memref<4xindex, #tile.space<global>>
  return
}

// -----

func.func @slice_rank(%a: memref<4x4xf32, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{'tile.slice' op expected 2 offsets, sizes and steps for 'A' (4 x 4 float32)}}
  %s = tile.slice %a[0] [1] [1]
      : memref<4x4xf32, #tile.space<global>> to memref<1xf32, #tile.space<global>>
  return
}

// -----

func.func @slice_operand_missing(%a: memref<4xf32, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{'tile.slice' op expected 1 offsets, sizes and steps for 'A' (4 float32)}}
  %s = "tile.slice"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>,
      staticOffsets = array<i64: -9223372036854775808>, staticSizes = array<i64: 1>,
      staticSteps = array<i64: 1>}>
      : (memref<4xf32, #tile.space<global>>) -> memref<1xf32, #tile.space<global>>
  return
}

// -----

func.func @slice_drops_nothing(%a: memref<4xf32, #tile.space<global>>) {
  // expected-error @+1 {{'tile.slice' op drops dimension 1, expected rising numbers below 1}}
  %s = tile.slice %a[0] [1] [1] drop [1]
      : memref<4xf32, #tile.space<global>> to memref<1xf32, #tile.space<global>>
  return
}

// -----

func.func @slice_drops_twice(%a: memref<4x4xf32, #tile.space<global>>) {
  // expected-error @+1 {{'tile.slice' op drops dimension 0, expected rising numbers below 2}}
  %s = tile.slice %a[0, 0] [1, 1] [1, 1] drop [1, 0]
      : memref<4x4xf32, #tile.space<global>> to memref<f32, #tile.space<global>>
  return
}

// -----

func.func @slice_drops_extent(%a: memref<4x4xf32, #tile.space<global>>) {
  // expected-error @+1 {{'tile.slice' op drops dimension 0, whose size is not 1}}
  %s = tile.slice %a[0, 0] [2, 1] [1, 1] drop [0]
      : memref<4x4xf32, #tile.space<global>> to memref<1xf32, #tile.space<global>>
  return
}

// -----

func.func @slice_negative_size(%a: memref<4xf32, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{slice of 'A' (4 float32) in dimension 0 has negative size -2}}
  %s = tile.slice %a[0] [-2] [1]
      : memref<4xf32, #tile.space<global>> to memref<4xf32, #tile.space<global>>
  return
}

// -----

func.func @slice_step(%a: memref<4xf32, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{slice of 'A' (4 float32) in dimension 0 has step 0, expected a positive one}}
  %s = tile.slice %a[0] [2] [0]
      : memref<4xf32, #tile.space<global>> to memref<2xf32, #tile.space<global>>
  return
}

// -----

func.func @slice_out_of_tile(%n: index) {
  tile.kernel (%x) in (%n) threads [32] {
    // expected-note @+1 {{'s' is allocated here}}
    %a = tile.alloc "s" : memref<8x16xf32, #tile.space<shared>>
    // expected-error @+1 {{slice 8:17 is out of bounds for dimension 1 of 's' (8 x 16 float32)}}
    %s = tile.slice %a[0, 8] [8, 5] [1, 2]
        : memref<8x16xf32, #tile.space<shared>> to memref<8x5xf32, #tile.space<shared>>
  }
  return
}

// -----

func.func @slice_before_tile(%n: index) {
  tile.kernel (%x) in (%n) threads [32] {
    // expected-note @+1 {{'s' is allocated here}}
    %a = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
    // expected-error @+1 {{slice -1:1 is out of bounds for dimension 0 of 's' (8 float32)}}
    %s = tile.slice %a[-1] [2] [1]
        : memref<8xf32, #tile.space<shared>> to memref<2xf32, #tile.space<shared>>
  }
  return
}

// -----

// The end of the slice does not fit in 64 bits.
func.func @slice_overflows(%n: index) {
  tile.kernel (%x) in (%n) threads [32] {
    // expected-note @+1 {{'s' is allocated here}}
    %a = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
    // expected-error @+1 {{slice 2:9223372036854775807 is out of bounds for dimension 0 of 's' (8 float32)}}
    %s = tile.slice %a[2] [4] [9223372036854775807]
        : memref<8xf32, #tile.space<shared>> to memref<4xf32, #tile.space<shared>>
  }
  return
}

// -----

func.func @slice_type(%a: memref<4xf32, #tile.space<global>>) {
  // expected-error @+1 {{'tile.slice' op result type 'memref<2xf16, #tile.space<global>>' does not fit a slice of 'memref<4xf32, #tile.space<global>>'}}
  %s = tile.slice %a[0] [2] [1]
      : memref<4xf32, #tile.space<global>> to memref<2xf16, #tile.space<global>>
  return
}

// -----

func.func @view_space(%a: memref<4xf32, #tile.space<global>>) {
  // expected-error @+1 {{'tile.view' op changes the memory space}}
  %s = tile.view %a : memref<4xf32, #tile.space<global>> to memref<4xf32, #tile.space<shared>>
  return
}

// -----

func.func @view_of_slice(%a: memref<8xf32, #tile.space<global>> {tile.name = "A"}) {
  %s = tile.slice %a[0] [4] [1]
      : memref<8xf32, #tile.space<global>> to memref<4xf32, #tile.space<global>>
  // expected-error @+1 {{a view of a slice of 'A' (4 float32) is not supported, view the whole buffer and slice the view}}
  %v = tile.view %s : memref<4xf32, #tile.space<global>> to memref<2x2xf32, #tile.space<global>>
  return
}

// -----

func.func @view_size(%a: memref<8xf32, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{view of 'A' (8 float32) as 8 float16: expected 32 bytes, got 16}}
  %v = tile.view %a : memref<8xf32, #tile.space<global>> to memref<8xf16, #tile.space<global>>
  return
}

// -----

func.func @view_huge(%a: memref<4611686018427387904x4xi8, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{view of 'A' (4611686018427387904 x 4 int8) as 0 int8 is too large}}
  %v = tile.view %a : memref<4611686018427387904x4xi8, #tile.space<global>> to memref<0xi8, #tile.space<global>>
  return
}

// -----

func.func @load_rank(%a: memref<4x4xf32, #tile.space<global>> {tile.name = "A"}, %i: index) {
  // expected-error @+1 {{'tile.load' op expected 2 indices for 'A' (4 x 4 float32), got 1}}
  %x = tile.load %a[%i] : memref<4x4xf32, #tile.space<global>>
  return
}

// -----

func.func @store_rank(%a: memref<f32, #tile.space<global>> {tile.name = "A"}, %i: index, %x: f32) {
  // expected-error @+1 {{'tile.store' op expected 0 indices for 'A' (scalar float32), got 1}}
  tile.store %x, %a[%i] : memref<f32, #tile.space<global>>
  return
}

// -----

func.func @load_out_of_tile(%n: index) {
  %c16 = arith.constant 16 : index
  tile.kernel (%x) in (%n) threads [32] {
    // expected-note @+1 {{'s' is allocated here}}
    %a = tile.alloc "s" : memref<8x16xf32, #tile.space<shared>>
    // expected-error @+1 {{index 16 is out of bounds for dimension 1 of 's' (8 x 16 float32)}}
    %v = tile.load %a[%n, %c16] : memref<8x16xf32, #tile.space<shared>>
  }
  return
}

// -----

// The twin of the case above: a global tensor has a meaning outside its bounds.
func.func @load_out_of_tensor(%a: memref<8x16xf32, #tile.space<global>>, %n: index) {
  %c16 = arith.constant 16 : index
  %v = tile.load %a[%n, %c16] : memref<8x16xf32, #tile.space<global>>
  return
}

// -----

func.func @store_out_of_tile(%n: index, %x: f32) {
  %m1 = arith.constant -1 : index
  tile.kernel (%b) in (%n) threads [32] {
    // expected-note @+1 {{'s' is allocated here}}
    %a = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
    // expected-error @+1 {{index -1 is out of bounds for dimension 0 of 's' (8 float32)}}
    tile.store %x, %a[%m1] : memref<8xf32, #tile.space<shared>>
  }
  return
}

// -----

func.func @store_type(%a: memref<4xui8, #tile.space<global>>, %x: f32, %i: index) {
  // expected-error @+1 {{'tile.store' op failed to verify that value is the scalar of the buffer's element type}}
  "tile.store"(%x, %a, %i) : (f32, memref<4xui8, #tile.space<global>>, index) -> ()
  return
}
