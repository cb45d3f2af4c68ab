// RUN: tw-opt %s -split-input-file -verify-diagnostics
// What plans for the CPU leave stands on the ops it is about (Tile/CpuPlan.h).

!tile = memref<16x16xf32, #tile.space<shared>>
func.func @number(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    // expected-error @+1 {{'tile.id' is the number of a 'tile.slice' or 'tile.alloc'}}
    %t = tile.alloc "t" {tile.id = "first"} : !tile
  }
  return
}

// -----

!tile = memref<16x16xf32, #tile.space<shared>>
func.func @operands(%A: memref<16x16xf32, #tile.space<global>>, %n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    %t = tile.alloc "t" : !tile
    // expected-error @+1 {{'tile.prepares' is a list of the operands that a 'tile.copy' prepares, each with 'id', 'form' and 'sum'}}
    tile.copy %A, %t {tile.prepares = [{id = 0 : i64}]} : memref<16x16xf32, #tile.space<global>> to !tile
  }
  return
}

// -----

!tile = memref<16x16xf32, #tile.space<shared>>
func.func @place(%x: f32, %n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    %t = tile.alloc "t" : !tile
    // expected-error @+1 {{'tile.direct' is a unit attribute of 'tile.copy'}}
    tile.fill %x, %t {tile.direct} : f32, !tile
  }
  return
}

// -----

!tile = memref<16x16xf32, #tile.space<shared>>
func.func @end(%x: f32, %n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    %t = tile.alloc "t" : !tile
    // expected-error @+1 {{'tile.prefetches_at_end' is the numbers of slices that a 'tile.gemm' prefetches in the last iteration}}
    tile.fill %x, %t {tile.prefetches_at_end = array<i64: 0>} : f32, !tile
  }
  return
}
