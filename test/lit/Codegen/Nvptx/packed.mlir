// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// float16 and bfloat16: two slots in one instruction.

// CHECK-LABEL: llvm.func @add_kernel
// CHECK: arith.addf {{.*}} : vector<2xf16>
// CHECK-NOT: arith.addf
// CHECK: llvm.return
func.func @add(%a: memref<64xf16, #tile.space<global>>, %b: memref<64xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (64) {
      %v = tile.load %a[%i] : memref<64xf16, #tile.space<global>>
      %w = arith.addf %v, %v : f16
      tile.store %w, %b[%i] : memref<64xf16, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: llvm.func @round_kernel
// CHECK: llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"
func.func @round(%a: memref<64xf32, #tile.space<global>>, %b: memref<64xbf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (64) {
      %v = tile.load %a[%i] : memref<64xf32, #tile.space<global>>
      %w = tile.cast %v from f32 to bf16
      tile.store %w, %b[%i] : memref<64xbf16, #tile.space<global>>
    }
  }
  return
}

// One slot has no partner.
// CHECK-LABEL: llvm.func @alone_kernel
// CHECK: arith.addf {{.*}} : f16
func.func @alone(%a: memref<32xf16, #tile.space<global>>, %b: memref<32xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %v = tile.load %a[%i] : memref<32xf16, #tile.space<global>>
      %w = arith.addf %v, %v : f16
      tile.store %w, %b[%i] : memref<32xf16, #tile.space<global>>
    }
  }
  return
}
