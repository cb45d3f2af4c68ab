// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline -tile-start-bulk | FileCheck %s
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_80 -tile-plan-accesses=arch=sm_80 -tile-plan-pipeline -tile-start-bulk | FileCheck %s --check-prefix=OFF
// Stores and additions that TMA does: with a tensor map, or without one where the elements are neighbours.

// OFF-NOT: tile.bulk
// OFF-NOT: tile.span

!c = memref<256x256xf32, #tile.space<global>>
!piece = memref<64x64xf32, #tile.space<global>>
!tile = memref<64x64xf32, #tile.space<shared>>

// Rows of two panels of 128 bytes. The tile is swizzled since nothing but fragments fill it.
// CHECK-LABEL: func.func @boxes
// CHECK: tile.kernel {{.*}}tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f32 extents = <"() -> (32, 256, 8)"> strides = <"() -> (1024, 128)"> box = [32, 64, 2] steps = [1, 1, 1] swizzle = 128 promotion = 128>]
// CHECK: tile.bulk_group {
// CHECK-NEXT: tile.parallel {{.*}}tile.bulk = #tile.bulk<map = 0 dims = [1, 0, 1] divisors = [0, 1, 32] box = [32, 64, 2] swizzle = 128 origins = [0, 0, 0] offsets = [0]>
// CHECK: tile.store
// CHECK: tile.bulk_group {
// CHECK-NEXT: tile.parallel {{.*}}tile.bulk = #tile.bulk<map = 0
// CHECK: tile.atomic_element add
func.func @boxes(%C: !c) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx, %by) in (%c2, %c2) threads [128] {
    %s = tile.alloc "s" : !tile
    tile.fill %zero, %s : f32, !tile
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c64 : index
    %to = tile.slice %C[%row, %column] [64, 64] [1, 1] : !c to !piece
    tile.copy %s, %to : !tile to !piece
    tile.atomic add %s, %to : !tile, !piece
  }
  return
}

// Whole rows, proved inside: one interval of memory.
// CHECK-LABEL: func.func @span
// CHECK-NOT: tile.tensor_maps
// CHECK: tile.bulk_group {
// CHECK-NEXT: tile.parallel {{.*}}tile.span = #tile.span<bytes = 1024>
func.func @span(%C: memref<8x256xf32, #tile.space<global>>) {
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c8) threads [128] {
    %s = tile.alloc "s" : memref<256xf32, #tile.space<shared>>
    tile.fill %zero, %s : f32, memref<256xf32, #tile.space<shared>>
    %to = tile.slice %C[%bx, 0] [1, 256] [1, 1] drop [0] : memref<8x256xf32, #tile.space<global>> to memref<256xf32, #tile.space<global>>
    tile.copy %s, %to : memref<256xf32, #tile.space<shared>> to memref<256xf32, #tile.space<global>>
  }
  return
}

// The order that a layout gives the tensor's elements, if the tile has the same.
// CHECK-LABEL: func.func @relaid
// CHECK: tile.span = #tile.span<bytes = 1024>
func.func @relaid(%C: memref<64x16xf32, #tile.space<global>>) {
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c4) threads [128] {
    tile.annotate_layout %C : memref<64x16xf32, #tile.space<global>> is #tile.layout<[64, 16], "(i, j) -> (i // 8, j, i % 8)">
    %s = tile.alloc "s" : memref<16x16xf32, #tile.space<shared>>
    tile.annotate_layout %s : memref<16x16xf32, #tile.space<shared>> is #tile.layout<[16, 16], "(i, j) -> (i // 8, j, i % 8)">
    tile.fill %zero, %s : f32, memref<16x16xf32, #tile.space<shared>>
    %row = arith.muli %bx, %c16 : index
    %to = tile.slice %C[%row, 0] [16, 16] [1, 1] : memref<64x16xf32, #tile.space<global>> to memref<16x16xf32, #tile.space<global>>
    tile.atomic add %s, %to : memref<16x16xf32, #tile.space<shared>>, memref<16x16xf32, #tile.space<global>>
  }
  return
}

// A row may lie out of bounds, which no interval knows: a tensor map does.
// CHECK-LABEL: func.func @ragged
// CHECK-NOT: tile.span
// CHECK: tile.bulk = #tile.bulk<map = 0
func.func @ragged(%C: memref<60x64xf32, #tile.space<global>>) {
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c4) threads [128] {
    %s = tile.alloc "s" : memref<16x64xf32, #tile.space<shared>>
    tile.fill %zero, %s : f32, memref<16x64xf32, #tile.space<shared>>
    %row = arith.muli %bx, %c16 : index
    %to = tile.slice %C[%row, 0] [16, 64] [1, 1] : memref<60x64xf32, #tile.space<global>> to memref<16x64xf32, #tile.space<global>>
    tile.copy %s, %to : memref<16x64xf32, #tile.space<shared>> to memref<16x64xf32, #tile.space<global>>
  }
  return
}
