// RUN: tw-opt %s -tile-unroll-fragment-loops | FileCheck %s
// A register has no address: a serial loop of constant bounds that indexes a fragment is written out. One
// that indexes a shared tile, or whose bounds are known only at run time, stays.

!f = memref<2xf32, #tile.space<fragment>>
!s = memref<2xf32, #tile.space<shared>>

// CHECK-LABEL: func.func @constant_bounds
// CHECK-NOT:     scf.for
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:         tile.store %{{.*}}, %f[%[[ZERO]]]
// CHECK:         tile.store %{{.*}}, %f[
// CHECK-NOT:     tile.store
func.func @constant_bounds(%x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %f = tile.alloc "f" : !f
    scf.for %k = %c0 to %c2 step %c1 {
      tile.store %x, %f[%k] : !f
    }
  }
  return
}

// CHECK-LABEL: func.func @stays
// CHECK:         scf.for
// CHECK:           tile.store %{{.*}}, %s[
// CHECK:         scf.for
// CHECK:           tile.store %{{.*}}, %f[
func.func @stays(%x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : !s
    %f = tile.alloc "f" : !f
    scf.for %k = %c0 to %c2 step %c1 {
      tile.store %x, %s[%k] : !s
    }
    scf.for %k = %c0 to %n step %c1 {
      tile.store %x, %f[%k] : !f
    }
  }
  return
}
