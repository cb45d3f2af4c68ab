// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// A fragment that changes its layout inside a warp: words go from lane to lane.

// CHECK-LABEL: llvm.func @transposed_kernel
// CHECK: nvvm.shfl.sync  idx
// CHECK-NOT: nvvm.barrier
// CHECK-NOT: !llvm.ptr<3>
// CHECK: llvm.return
func.func @transposed(%A: memref<32x8xf32, #tile.space<global>>, %B: memref<32x8xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<32x8xf32, #tile.space<fragment>>
    %b = tile.alloc "b" : memref<32x8xf32, #tile.space<fragment>>
    tile.annotate_layout %a : memref<32x8xf32, #tile.space<fragment>> is #tile.fragment<[32, 8], "(i, j) -> thread i, slot j">
    tile.annotate_layout %b : memref<32x8xf32, #tile.space<fragment>> is #tile.fragment<[32, 8], "(i, j) -> thread i // 8 * 8 + j, slot i % 8">
    tile.copy %A, %a : memref<32x8xf32, #tile.space<global>> to memref<32x8xf32, #tile.space<fragment>>
    tile.copy %a, %b : memref<32x8xf32, #tile.space<fragment>> to memref<32x8xf32, #tile.space<fragment>>
    tile.copy %b, %B : memref<32x8xf32, #tile.space<fragment>> to memref<32x8xf32, #tile.space<global>>
  }
  return
}

// Elements that change their warp go through shared memory.
// CHECK-LABEL: llvm.func @through_memory_kernel
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: llvm.load {{.*}} !llvm.ptr<3>
func.func @through_memory(%A: memref<64x8xf32, #tile.space<global>>, %B: memref<64x8xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %a = tile.alloc "a" : memref<64x8xf32, #tile.space<fragment>>
    %b = tile.alloc "b" : memref<64x8xf32, #tile.space<fragment>>
    tile.annotate_layout %a : memref<64x8xf32, #tile.space<fragment>> is #tile.fragment<[64, 8], "(i, j) -> thread i, slot j">
    tile.annotate_layout %b : memref<64x8xf32, #tile.space<fragment>> is #tile.fragment<[64, 8], "(i, j) -> thread 63 - i, slot j">
    tile.copy %A, %a : memref<64x8xf32, #tile.space<global>> to memref<64x8xf32, #tile.space<fragment>>
    tile.copy %a, %b : memref<64x8xf32, #tile.space<fragment>> to memref<64x8xf32, #tile.space<fragment>>
    tile.copy %b, %B : memref<64x8xf32, #tile.space<fragment>> to memref<64x8xf32, #tile.space<global>>
  }
  return
}
