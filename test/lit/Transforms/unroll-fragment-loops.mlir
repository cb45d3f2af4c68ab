// RUN: tw-opt %s -tile-unroll-fragment-loops | FileCheck %s
// A register has no address: a serial loop of constant bounds that indexes a fragment is written out. One
// that indexes a shared tile, or whose bounds are known only at run time, stays. So is a loop over parts of a
// shared tile that gemms multiply, unless the variable only chooses one of several tiles.

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

!q = memref<64x128xf16, #tile.space<shared>>
!kv = memref<4x64x64xf16, #tile.space<shared>>
!part = memref<64x64xf16, #tile.space<shared>>
!c = memref<64x64xf32, #tile.space<fragment>>

// What is computed from the variable becomes constants: the first gemm is known to be cleared.
// CHECK-LABEL: func.func @parts_of_operands
// CHECK-NOT:     scf.for
// CHECK:         %[[FIRST:.*]] = tile.slice %q[0, %{{.*}}]
// CHECK:         tile.gemm %[[FIRST]], %{{.*}}, %c transpose_b clear %true
// CHECK:         %[[SECOND:.*]] = tile.slice %q[0, %{{.*}}]
// CHECK:         tile.gemm %[[SECOND]], %{{.*}}, %c transpose_b clear %false
// CHECK-NOT:     tile.gemm
func.func @parts_of_operands() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %q = tile.alloc "q" : !q
    %kv = tile.alloc "kv" : !kv
    %c = tile.alloc "c" : !c
    scf.for %k = %c0 to %c2 step %c1 {
      %c64 = arith.constant 64 : index
      %start = arith.muli %k, %c64 : index
      %a = tile.slice %q[0, %start] [64, 64] [1, 1] : !q to !part
      %b = tile.slice %kv[%k, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !kv to !part
      %first = arith.cmpi eq, %k, %c0 : index
      tile.gemm %a, %b, %c transpose_b clear %first : !part, !part, !c
    }
  }
  return
}

// CHECK-LABEL: func.func @whole_tiles_of_a_row
// CHECK:         scf.for
// CHECK:           tile.gemm
// CHECK-NOT:     tile.gemm
func.func @whole_tiles_of_a_row() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %kv = tile.alloc "kv" : !kv
    %c = tile.alloc "c" : !c
    scf.for %k = %c0 to %c4 step %c1 {
      %b = tile.slice %kv[%k, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !kv to !part
      tile.gemm %b, %b, %c transpose_b : !part, !part, !c
    }
  }
  return
}

// CHECK-LABEL: func.func @too_many_gemms
// CHECK:         scf.for
// CHECK:           tile.gemm
// CHECK-NOT:     tile.gemm
func.func @too_many_gemms() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c17 = arith.constant 17 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %q = tile.alloc "q" : !q
    %kv = tile.alloc "kv" : !kv
    %c = tile.alloc "c" : !c
    scf.for %k = %c0 to %c17 step %c1 {
      %a = tile.slice %q[0, %k] [64, 64] [1, 1] : !q to !part
      %b = tile.slice %kv[0, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !kv to !part
      tile.gemm %a, %b, %c transpose_b : !part, !part, !c
    }
  }
  return
}
