// RUN: tw-opt %s -tile-plan-gpu=arch=sm_90 -tile-lower-to-threads=arch=sm_90 | FileCheck %s
// sm_90 adds vectors of floats and pairs of bfloat16.

// CHECK-LABEL: llvm.func @add_four_kernel
// CHECK: "red.global.add.v4.f32 [$0], {$1, $2, $3, $4};"
func.func @add_four(%a: memref<128xf32, #tile.space<global>>, %x: memref<128xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (128) {
      %v = tile.load %x[%i] : memref<128xf32, #tile.space<global>>
      %old = tile.atomic_element add %v, %a[%i] : memref<128xf32, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: llvm.func @add_eight_bf16_kernel
// CHECK: "red.global.add.noftz.v4.bf16x2 [$0], {$1, $2, $3, $4};"
func.func @add_eight_bf16(%a: memref<256xbf16, #tile.space<global>>, %x: memref<256xbf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (256) {
      %v = tile.load %x[%i] : memref<256xbf16, #tile.space<global>>
      %old = tile.atomic_element add %v, %a[%i] : memref<256xbf16, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: llvm.func @min_u64_kernel
// CHECK: "red.global.min.u64 [$0], $1;"
func.func @min_u64(%a: memref<32xui64, #tile.space<global>>, %x: i64) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element min %x, %a[%i] : memref<32xui64, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: llvm.func @add_two_kernel
// CHECK: "red.global.add.v2.f32 [$0], {$1, $2};"
func.func @add_two(%a: memref<64xf32, #tile.space<global>>, %x: memref<64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (64) {
      %v = tile.load %x[%i] : memref<64xf32, #tile.space<global>>
      %old = tile.atomic_element add %v, %a[%i] : memref<64xf32, #tile.space<global>>
    }
  }
  return
}

// One half has an instruction of its own.
// CHECK-LABEL: llvm.func @add_f16_kernel
// CHECK: "red.global.add.noftz.f16 [$0], $1;"
func.func @add_f16(%a: memref<32xf16, #tile.space<global>>, %x: f16) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element add %x, %a[%i] : memref<32xf16, #tile.space<global>>
    }
  }
  return
}
