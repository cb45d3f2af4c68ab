// RUN: tw-opt %s -tile-clear-products | FileCheck %s
// Zeros in front of a product are not written: the product ignores its sums.

!a = memref<128x64xf16, #tile.space<shared>>
!b = memref<64x64xf16, #tile.space<shared>>
!sums = memref<128x64xf32, #tile.space<fragment>>

// The second loop writes a choice that is known to be zero (tile-peel-masks).
// CHECK-LABEL: func.func @cleared
// CHECK-NOT: tile.parallel
// CHECK: tile.gemm %a, %b, %s clear %true
// CHECK-NOT: tile.store
// CHECK: tile.gemm %a, %b, %t clear %true
func.func @cleared() {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %yes = arith.constant true
  tile.kernel (%bx) in (%c1) threads [256] {
    %a = tile.alloc "a" : !a
    %b = tile.alloc "b" : !b
    %s = tile.alloc "s" : !sums
    %t = tile.alloc "t" : !sums
    tile.parallel (%i, %j) in (128, 64) {
      tile.store %zero, %s[%i, %j] : !sums
    }
    tile.parallel (%i, %j) in (128, 64) {
      %x = arith.select %yes, %zero, %one : f32
      tile.store %x, %t[%i, %j] : !sums
    }
    tile.gemm %a, %b, %s {tile.groups = array<i64: 2, 1>} : !a, !b, !sums
    tile.gemm %a, %b, %t {tile.groups = array<i64: 2, 1>} : !a, !b, !sums
  }
  return
}

// A part of the sums, a zero with a sign, another statement between, and a gemm of mma.sync.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-5: tile.parallel
// CHECK-NOT: clear %
func.func @kept() {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %negative = arith.constant -0.0 : f32
  tile.kernel (%bx) in (%c1) threads [256] {
    %a = tile.alloc "a" : !a
    %b = tile.alloc "b" : !b
    %s = tile.alloc "s" : !sums
    %t = tile.alloc "t" : !sums
    %u = tile.alloc "u" : !sums
    %v = tile.alloc "v" : !sums
    tile.parallel (%i, %j) in (64, 64) {
      tile.store %zero, %s[%i, %j] : !sums
    }
    tile.gemm %a, %b, %s {tile.groups = array<i64: 2, 1>} : !a, !b, !sums
    tile.parallel (%i, %j) in (128, 64) {
      tile.store %negative, %t[%i, %j] : !sums
    }
    tile.gemm %a, %b, %t {tile.groups = array<i64: 2, 1>} : !a, !b, !sums
    tile.parallel (%i, %j) in (128, 64) {
      tile.store %zero, %u[%i, %j] : !sums
    }
    tile.parallel (%i, %j) in (128, 64) {
      %x = tile.load %u[%i, %j] : !sums
      tile.store %x, %u[%i, %j] : !sums
    }
    tile.gemm %a, %b, %u {tile.groups = array<i64: 2, 1>} : !a, !b, !sums
    tile.parallel (%i, %j) in (128, 64) {
      tile.store %zero, %v[%i, %j] : !sums
    }
    tile.gemm %a, %b, %v : !a, !b, !sums
  }
  return
}
