// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// Reductions: a thread's own slots, then lanes by shuffles, then warps in scratch memory.

// A row is held by lanes of one warp: no barrier.
// CHECK-LABEL: llvm.func @lanes_kernel
// CHECK: nvvm.shfl.sync  bfly
// CHECK: arith.addf
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.return
func.func @lanes(%A: memref<4x32xf32, #tile.space<global>>, %B: memref<4xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<4x32xf32, #tile.space<fragment>>
    %b = tile.alloc "b" : memref<4xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<4x32xf32, #tile.space<global>> to memref<4x32xf32, #tile.space<fragment>>
    tile.reduce sum %a, %b dim 1 clear : memref<4x32xf32, #tile.space<fragment>> to memref<4xf32, #tile.space<fragment>>
    tile.copy %b, %B : memref<4xf32, #tile.space<fragment>> to memref<4xf32, #tile.space<global>>
  }
  return
}

// A row over four warps: parts meet in scratch memory.
// CHECK-LABEL: llvm.func @warps_kernel
// CHECK: nvvm.shfl.sync  bfly
// CHECK: arith.maxnumf
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: llvm.load {{.*}} !llvm.ptr<3>
// CHECK: arith.maxnumf
func.func @warps(%A: memref<1x512xf32, #tile.space<global>>, %B: memref<1xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<1x512xf32, #tile.space<fragment>>
    %b = tile.alloc "b" : memref<1xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<1x512xf32, #tile.space<global>> to memref<1x512xf32, #tile.space<fragment>>
    tile.reduce max %a, %b dim 1 clear : memref<1x512xf32, #tile.space<fragment>> to memref<1xf32, #tile.space<fragment>>
    tile.copy %b, %B : memref<1xf32, #tile.space<fragment>> to memref<1xf32, #tile.space<global>>
  }
  return
}

// Of a tile in shared memory: a warp takes a row.
// CHECK-LABEL: llvm.func @memory_kernel
// CHECK: nvvm.shfl.sync  bfly
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
func.func @memory(%A: memref<8x256xf32, #tile.space<global>>, %B: memref<8xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %a = tile.alloc "a" : memref<8x256xf32, #tile.space<shared>>
    %b = tile.alloc "b" : memref<8xf32, #tile.space<shared>>
    tile.copy %A, %a : memref<8x256xf32, #tile.space<global>> to memref<8x256xf32, #tile.space<shared>>
    tile.reduce sum %a, %b dim 1 clear : memref<8x256xf32, #tile.space<shared>> to memref<8xf32, #tile.space<shared>>
    tile.copy %b, %B : memref<8xf32, #tile.space<shared>> to memref<8xf32, #tile.space<global>>
  }
  return
}

// Narrow floats are summed in float32 and rounded once.
// CHECK-LABEL: llvm.func @narrow_kernel
// CHECK: arith.extf {{.*}} f16 to f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf {{.*}} f32 to f16
func.func @narrow(%A: memref<4x32xf16, #tile.space<global>>, %B: memref<4xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<4x32xf16, #tile.space<fragment>>
    %b = tile.alloc "b" : memref<4xf16, #tile.space<fragment>>
    tile.copy %A, %a : memref<4x32xf16, #tile.space<global>> to memref<4x32xf16, #tile.space<fragment>>
    tile.reduce sum %a, %b dim 1 clear : memref<4x32xf16, #tile.space<fragment>> to memref<4xf16, #tile.space<fragment>>
    tile.copy %b, %B : memref<4xf16, #tile.space<fragment>> to memref<4xf16, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @magnitudes_kernel
// CHECK: math.absf
// CHECK: arith.maxnumf
func.func @magnitudes(%A: memref<4x32xf32, #tile.space<global>>, %B: memref<4xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<4x32xf32, #tile.space<fragment>>
    %b = tile.alloc "b" : memref<4xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<4x32xf32, #tile.space<global>> to memref<4x32xf32, #tile.space<fragment>>
    tile.reduce absmax %a, %b dim 1 clear : memref<4x32xf32, #tile.space<fragment>> to memref<4xf32, #tile.space<fragment>>
    tile.copy %b, %B : memref<4xf32, #tile.space<fragment>> to memref<4xf32, #tile.space<global>>
  }
  return
}
