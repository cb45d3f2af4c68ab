// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 | FileCheck %s

#global = #tile.space<global>
#shared = #tile.space<shared>

// Patches of an image: what lies in the padding is zero.
// CHECK-LABEL: llvm.func internal @patches.kernel0
func.func @patches(%image: memref<2x8x8x4xf16, #global>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    %t = tile.alloc "t" : memref<32x36xf16, #shared>
    // CHECK: scf.for
    // CHECK: scf.for
    // CHECK: scf.if {{.*}} -> (f16) {
    // CHECK: llvm.load {{.*}} -> f16
    // CHECK: } else {
    // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f16
    // CHECK-NEXT: scf.yield %[[ZERO]] : f16
    tile.im2col %image, %t at (%bx, %c0) kernel 3 stride 1 dilation 1 pad 1
        : memref<2x8x8x4xf16, #global> to memref<32x36xf16, #shared>
  }
  return
}
