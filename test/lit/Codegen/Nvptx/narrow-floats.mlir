// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// Before sm_89 float8 is converted by the device library; tfloat32 everywhere by an instruction.

// CHECK-LABEL: llvm.func @widen_kernel
// CHECK: llvm.call @__tw_widen_f32
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
// CHECK: llvm.call @__tw_narrow_f32
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

// CHECK-LABEL: llvm.func @tf32_kernel
// CHECK: "cvt.rna.tf32.f32 $0, $1;"
func.func @tf32(%a: memref<32xf32, #tile.space<global>>, %b: memref<32xtf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %v = tile.load %a[%i] : memref<32xf32, #tile.space<global>>
      %w = tile.cast %v from f32 to tf32
      tile.store %w, %b[%i] : memref<32xtf32, #tile.space<global>>
    }
  }
  return
}
