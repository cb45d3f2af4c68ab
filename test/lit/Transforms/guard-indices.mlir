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
