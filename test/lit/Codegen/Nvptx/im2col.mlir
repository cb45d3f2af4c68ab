// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s

#global = #tile.space<global>
#shared = #tile.space<shared>

// Patches of an image: what lies in the padding is zero, and is not read. Four channels are neighbours
// on both sides.
// CHECK-LABEL: llvm.func @patches_kernel
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f16
// CHECK: scf.if {{.*}} -> (f16, f16, f16, f16) {
// CHECK-NEXT: llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xf16>
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : f16, f16, f16, f16
// CHECK: llvm.store {{.*}} {alignment = 8 : i64} : vector<4xf16>, !llvm.ptr<3>
func.func @patches(%image: memref<2x8x8x4xf16, #global>, %out: memref<4x32x36xf16, #global>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    %t = tile.alloc "t" : memref<32x36xf16, #shared>
    tile.im2col %image, %t at (%bx, %c0) kernel 3 stride 1 dilation 1 pad 1
        : memref<2x8x8x4xf16, #global> to memref<32x36xf16, #shared>
    %to = tile.slice %out[%bx, 0, 0] [1, 32, 36] [1, 1, 1] drop [0]
        : memref<4x32x36xf16, #global> to memref<32x36xf16, #global>
    tile.copy %t, %to : memref<32x36xf16, #shared> to memref<32x36xf16, #global>
  }
  return
}
