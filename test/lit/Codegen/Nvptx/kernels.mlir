// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// The function of a kernel: parameters, thread and block numbers, workspaces, rasterisation.

// What is read and not written may be read past the caches' coherence; what is written is not alone.
// CHECK-LABEL: llvm.func @parameters_kernel
// CHECK-SAME: %arg0: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME: %arg1: !llvm.ptr<1> {llvm.align = 16 : i64}
// CHECK-SAME: %arg2: i64
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.maxntid = array<i32: 32>
// CHECK: nvvm.read.ptx.sreg.tid.x range <i32, 0, 32>
// CHECK: nvvm.read.ptx.sreg.ctaid.x range <i32, 0, 4>
func.func @parameters(%a: memref<4x32xf32, #tile.space<global>>, %b: memref<4x32xf32, #tile.space<global>>, %n: index) {
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    tile.parallel (%i) in (32) {
      %v = tile.load %a[%bx, %i] : memref<4x32xf32, #tile.space<global>>
      tile.store %v, %b[%bx, %i] : memref<4x32xf32, #tile.space<global>>
    }
  }
  return
}

// Only one thread writes outside of T.Parallel.
// CHECK-LABEL: llvm.func @one_thread_kernel
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: scf.if %[[FIRST]] {
// CHECK: llvm.store
func.func @one_thread(%a: memref<4xf32, #tile.space<global>>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.store %x, %a[%c0] : memref<4xf32, #tile.space<global>>
  }
  return
}

// A barrier of the user's IR is one instruction.
// CHECK-LABEL: llvm.func @barriers_kernel
// CHECK: nvvm.barrier
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.return
func.func @barriers(%n: index) {
  tile.kernel (%bx) in (%n) threads [64] {
    tile.barrier
  }
  return
}

// Two kernels of a function are two functions.
// CHECK-LABEL: llvm.func @two_kernel(
// CHECK-LABEL: llvm.func @two_kernel1(
func.func @two(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
  }
  tile.kernel (%bx) in (%n) threads [32] {
  }
  return
}

// Panels of blocks: a renumbering by division and remainder.
// CHECK-LABEL: llvm.func @swizzled_kernel
// CHECK: arith.divui
// CHECK: arith.remui
// CHECK: arith.select
func.func @swizzled(%a: memref<8x8xf32, #tile.space<global>>, %x: f32) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [32] {
    tile.use_swizzle panel 4 row
    tile.store %x, %a[%by, %bx] : memref<8x8xf32, #tile.space<global>>
  }
  return
}
