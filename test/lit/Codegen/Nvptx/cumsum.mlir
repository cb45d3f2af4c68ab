// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// Running sums: lanes shift upwards; the last lane carries the sum of the chunk on.

// CHECK-LABEL: llvm.func @row_of_a_warp_kernel
// CHECK: nvvm.shfl.sync  up
// CHECK: arith.select
// CHECK: nvvm.shfl.sync  idx
// CHECK: scf.yield
func.func @row_of_a_warp(%A: memref<8x128xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %a = tile.alloc "a" : memref<8x128xf32, #tile.space<shared>>
    tile.copy %A, %a : memref<8x128xf32, #tile.space<global>> to memref<8x128xf32, #tile.space<shared>>
    tile.cumsum %a, %a dim 1 : memref<8x128xf32, #tile.space<shared>> to memref<8x128xf32, #tile.space<shared>>
    tile.copy %a, %A : memref<8x128xf32, #tile.space<shared>> to memref<8x128xf32, #tile.space<global>>
  }
  return
}

// Warps first leave the sums of their parts.
// CHECK-LABEL: llvm.func @row_of_several_warps_kernel
// CHECK: nvvm.shfl.sync  bfly
// CHECK: nvvm.barrier
// CHECK: nvvm.shfl.sync  up
func.func @row_of_several_warps(%A: memref<1x1024xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<1x1024xf32, #tile.space<shared>>
    tile.copy %A, %a : memref<1x1024xf32, #tile.space<global>> to memref<1x1024xf32, #tile.space<shared>>
    tile.cumsum %a, %a dim 1 : memref<1x1024xf32, #tile.space<shared>> to memref<1x1024xf32, #tile.space<shared>>
    tile.copy %a, %A : memref<1x1024xf32, #tile.space<shared>> to memref<1x1024xf32, #tile.space<global>>
  }
  return
}

// From the end.
// CHECK-LABEL: llvm.func @backwards_kernel
// CHECK: arith.subi %c127
func.func @backwards(%A: memref<8x128xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %a = tile.alloc "a" : memref<8x128xf32, #tile.space<shared>>
    tile.copy %A, %a : memref<8x128xf32, #tile.space<global>> to memref<8x128xf32, #tile.space<shared>>
    tile.cumsum %a, %a dim 1 reverse : memref<8x128xf32, #tile.space<shared>> to memref<8x128xf32, #tile.space<shared>>
    tile.copy %a, %A : memref<8x128xf32, #tile.space<shared>> to memref<8x128xf32, #tile.space<global>>
  }
  return
}

// Sums have the type of the result.
// CHECK-LABEL: llvm.func @wider_sums_kernel
// CHECK: arith.extsi %{{.*}} : i32 to i64
// CHECK: arith.addi %{{.*}}, %{{.*}} : i64
// CHECK-NOT: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: llvm.store %{{.*}} : i64
func.func @wider_sums(%A: memref<1x32xi32, #tile.space<global>>, %B: memref<1x32xi64, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<1x32xi32, #tile.space<shared>>
    %b = tile.alloc "b" : memref<1x32xi64, #tile.space<shared>>
    tile.copy %A, %a : memref<1x32xi32, #tile.space<global>> to memref<1x32xi32, #tile.space<shared>>
    tile.cumsum %a, %b dim 1 : memref<1x32xi32, #tile.space<shared>> to memref<1x32xi64, #tile.space<shared>>
    tile.copy %b, %B : memref<1x32xi64, #tile.space<shared>> to memref<1x32xi64, #tile.space<global>>
  }
  return
}
