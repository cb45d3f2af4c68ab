// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// Elements seen through another element type: pieces that no element on the way splits.

// Four bytes make an int32.
// CHECK-LABEL: llvm.func @wider_kernel
// CHECK-COUNT-4: llvm.load {{.*}} -> i8
// CHECK: llvm.store {{.*}} : i32
func.func @wider(%a: memref<64xi8, #tile.space<global>>, %b: memref<16xi32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %w = tile.view %a : memref<64xi8, #tile.space<global>> to memref<16xi32, #tile.space<global>>
    tile.copy %w, %b : memref<16xi32, #tile.space<global>> to memref<16xi32, #tile.space<global>>
  }
  return
}

// A byte of an int32.
// CHECK-LABEL: llvm.func @narrower_kernel
// CHECK: llvm.load {{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
func.func @narrower(%a: memref<16xi32, #tile.space<global>>, %b: memref<64xi8, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %n = tile.view %a : memref<16xi32, #tile.space<global>> to memref<64xi8, #tile.space<global>>
    tile.copy %n, %b : memref<64xi8, #tile.space<global>> to memref<64xi8, #tile.space<global>>
  }
  return
}

// Another shape of the same elements is renumbered, not taken apart.
// CHECK-LABEL: llvm.func @reshaped_kernel
// CHECK: llvm.load {{.*}} -> {{vector<4xf32>|f32}}
// CHECK-NOT: i8
// CHECK: llvm.return
func.func @reshaped(%a: memref<16x8xf32, #tile.space<global>>, %b: memref<128xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %n = tile.view %a : memref<16x8xf32, #tile.space<global>> to memref<128xf32, #tile.space<global>>
    tile.copy %n, %b : memref<128xf32, #tile.space<global>> to memref<128xf32, #tile.space<global>>
  }
  return
}
