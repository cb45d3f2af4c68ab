// RUN: tw-opt %s -tile-guard-indices | FileCheck %s
// An index value is checked where its range does not prove that it has 64 bits, and nowhere else.

// The extent of a tensor has at most 2^40 elements, and so all ordinary arithmetic fits.
// CHECK-LABEL: func.func @extents_fit
// CHECK-NOT:     tile.assert
func.func @extents_fit(%A: memref<?xf32, #tile.space<global>>, %n: index {tile.symbol = "n"}, %x: f32) {
  %c64 = arith.constant 64 : index
  %blocks = tile.floordiv %n, %c64 : index
  tile.kernel (%bx) in (%blocks) threads [64] {
    %first = arith.muli %bx, %c64 : index
    tile.parallel (%i) in (64) {
      %at = arith.addi %first, %i : index
      tile.store %x, %A[%at] : memref<?xf32, #tile.space<global>>
    }
  }
  return
}

// A loaded value is any 64-bit number: twice it may not be.
// CHECK-LABEL: func.func @loaded_values_may_not
// CHECK:         arith.muli
// CHECK:         tile.assert
func.func @loaded_values_may_not(%A: memref<8xf32, #tile.space<global>>, %I: memref<8xi64, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    tile.parallel (%i) in (8) {
      %v = tile.load %I[%i] : memref<8xi64, #tile.space<global>>
      %k = tile.cast %v from i64 to index
      %at = arith.muli %k, %c2 : index
      tile.store %x, %A[%at] : memref<8xf32, #tile.space<global>>
    }
  }
  return
}

// What has been checked has 64 bits: half of it and once more half of it is checked no more.
// CHECK-LABEL: func.func @checked_once
// CHECK-COUNT-1: tile.assert
// CHECK-NOT:     tile.assert
func.func @checked_once(%A: memref<8xf32, #tile.space<global>>, %I: memref<8xi64, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    tile.parallel (%i) in (8) {
      %v = tile.load %I[%i] : memref<8xi64, #tile.space<global>>
      %k = tile.cast %v from i64 to index
      %twice = arith.muli %k, %c2 : index
      %half = tile.floordiv %twice, %c2 : index
      %at = arith.addi %half, %half : index
      tile.store %x, %A[%at] : memref<8xf32, #tile.space<global>>
    }
  }
  return
}

// What a launch computes is checked by the launch.
// CHECK-LABEL: func.func @numbers_of_a_launch
// CHECK:         arith.muli
// CHECK:         tile.assert
// CHECK:         tile.kernel
// CHECK-NOT:     tile.assert
func.func @numbers_of_a_launch(%A: memref<?xf32, #tile.space<global>>, %n: index {tile.symbol = "n"}, %x: f32) {
  %c0 = arith.constant 0 : index
  %square = arith.muli %n, %n : index
  tile.kernel (%bx) in (%square) threads [64] {
    tile.store %x, %A[%c0] : memref<?xf32, #tile.space<global>>
  }
  return
}
