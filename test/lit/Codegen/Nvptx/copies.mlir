// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// A copy is loads and stores of the planned width.

// The vector that was loaded is stored as it is.
// CHECK-LABEL: llvm.func @four_floats_kernel
// CHECK: %[[V:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: llvm.store %[[V]], %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
func.func @four_floats(%a: memref<128xf32, #tile.space<global>>, %b: memref<128xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.copy %a, %b : memref<128xf32, #tile.space<global>> to memref<128xf32, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @bytes_kernel
// CHECK: llvm.load {{.*}} -> vector<16xi8>
func.func @bytes(%a: memref<512xi8, #tile.space<global>>, %b: memref<512xi8, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.copy %a, %b : memref<512xi8, #tile.space<global>> to memref<512xi8, #tile.space<global>>
  }
  return
}

// Outside of the tensor nothing is read: the safe value stands there.
// CHECK-LABEL: llvm.func @ragged_kernel
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: scf.if %[[IN]] -> (f32) {
// CHECK: llvm.load
// CHECK: } else {
// CHECK: scf.yield %cst
func.func @ragged(%a: memref<20xf32, #tile.space<global>>, %b: memref<32xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.slice %a[%bx] [32] [1] : memref<20xf32, #tile.space<global>> to memref<32xf32, #tile.space<global>>
    tile.copy %t, %b : memref<32xf32, #tile.space<global>> to memref<32xf32, #tile.space<global>>
  }
  return
}

// Elements that do not follow each other go one by one.
// CHECK-LABEL: llvm.func @strided_kernel
// CHECK-NOT: -> vector
// CHECK: llvm.load {{.*}} -> f32
func.func @strided(%a: memref<64x2xf32, #tile.space<global>>, %b: memref<64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.slice %a[0, 1] [64, 1] [1, 1] drop [1] : memref<64x2xf32, #tile.space<global>> to memref<64xf32, #tile.space<global>>
    tile.copy %t, %b : memref<64xf32, #tile.space<global>> to memref<64xf32, #tile.space<global>>
  }
  return
}
