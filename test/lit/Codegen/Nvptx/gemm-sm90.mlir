// RUN: tw-opt %s -tile-plan-gpu=arch=sm_90 -tile-lower-to-threads=arch=sm_90 | FileCheck %s
// 8-bit floats on tensor cores, which MLIR has no operation for.

// CHECK-LABEL: llvm.func @e4m3_kernel
// CHECK: "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
func.func @e4m3(%A: memref<16x32xf8E4M3FN, #tile.space<global>>, %B: memref<16x32xf8E4M3FN, #tile.space<global>>, %C: memref<16x16xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x32xf8E4M3FN, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x32xf8E4M3FN, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x16xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<16x32xf8E4M3FN, #tile.space<global>> to memref<16x32xf8E4M3FN, #tile.space<shared>>
    tile.copy %B, %b : memref<16x32xf8E4M3FN, #tile.space<global>> to memref<16x32xf8E4M3FN, #tile.space<shared>>
    tile.copy %C, %c : memref<16x16xf32, #tile.space<global>> to memref<16x16xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<16x32xf8E4M3FN, #tile.space<shared>>, memref<16x32xf8E4M3FN, #tile.space<shared>>, memref<16x16xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<16x16xf32, #tile.space<fragment>> to memref<16x16xf32, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @e5m2_kernel
// CHECK: "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32
func.func @e5m2(%A: memref<16x32xf8E5M2, #tile.space<global>>, %B: memref<16x32xf8E5M2, #tile.space<global>>, %C: memref<16x16xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x32xf8E5M2, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x32xf8E5M2, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x16xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<16x32xf8E5M2, #tile.space<global>> to memref<16x32xf8E5M2, #tile.space<shared>>
    tile.copy %B, %b : memref<16x32xf8E5M2, #tile.space<global>> to memref<16x32xf8E5M2, #tile.space<shared>>
    tile.copy %C, %c : memref<16x16xf32, #tile.space<global>> to memref<16x16xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<16x32xf8E5M2, #tile.space<shared>>, memref<16x32xf8E5M2, #tile.space<shared>>, memref<16x16xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<16x16xf32, #tile.space<fragment>> to memref<16x16xf32, #tile.space<global>>
  }
  return
}
