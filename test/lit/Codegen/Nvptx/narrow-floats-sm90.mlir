// RUN: tw-opt %s -tile-plan-gpu=arch=sm_89 -tile-lower-to-threads=arch=sm_89 | FileCheck %s
// RUN: tw-opt %s -tile-plan-gpu=arch=sm_90 -tile-lower-to-threads=arch=sm_90 | FileCheck %s
// From sm_89 on float8 is converted by an instruction, two at a time.

// CHECK-LABEL: llvm.func @widen_kernel
// CHECK: "cvt.rn.f16x2.e4m3x2 $0, $1;"
// CHECK-NOT: @__tw_
// CHECK: llvm.return
func.func @widen(%a: memref<32xf8E4M3FN, #tile.space<global>>, %b: memref<32xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %v = tile.load %a[%i] : memref<32xf8E4M3FN, #tile.space<global>>
      %w = tile.cast %v from f8E4M3FN to f32
      tile.store %w, %b[%i] : memref<32xf32, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: llvm.func @narrow_kernel
// CHECK: "cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;"
func.func @narrow(%a: memref<32xf32, #tile.space<global>>, %b: memref<32xf8E5M2, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %v = tile.load %a[%i] : memref<32xf32, #tile.space<global>>
      %w = tile.cast %v from f32 to f8E5M2
      tile.store %w, %b[%i] : memref<32xf8E5M2, #tile.space<global>>
    }
  }
  return
}
