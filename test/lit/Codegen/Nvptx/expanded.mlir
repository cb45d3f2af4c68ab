// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// Statements that planning writes as loops, and notes that leave no code.

!global = memref<128xf32, #tile.space<global>>
!tile = memref<128xf32, #tile.space<fragment>>

// A reducer of one element lies in shared memory; each thread adds its four values to it.
// CHECK-LABEL: llvm.func @reducer_kernel
// CHECK: nvvm.barrier0
// CHECK-COUNT-4: "red.relaxed.cta.shared.add.f32 [$0], $1;"
// CHECK: nvvm.barrier0
// CHECK: llvm.store {{.*}} !llvm.ptr<1>
func.func @reducer(%A: !global, %B: memref<1xf32, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %r = tile.alloc "r" reducer sum : memref<1xf32, #tile.space<fragment>>
    tile.fill %zero, %r : f32, memref<1xf32, #tile.space<fragment>>
    tile.parallel (%i) in (128) {
      %v = tile.load %A[%i] : !global
      tile.reducer_update %v, %r[%c0] : memref<1xf32, #tile.space<fragment>>
    }
    %s = tile.alloc "s" : memref<1xf32, #tile.space<fragment>>
    tile.finalize_reducer %r, %s : memref<1xf32, #tile.space<fragment>> to memref<1xf32, #tile.space<fragment>>
    tile.copy %s, %B : memref<1xf32, #tile.space<fragment>> to memref<1xf32, #tile.space<global>>
  }
  return
}

// The sums of a tile are updates of single elements, without their old values.
// CHECK-LABEL: llvm.func @sums_kernel
// CHECK-NOT: atom.
// CHECK-COUNT-4: "red.global.add.f32
func.func @sums(%A: !global) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : !tile
    tile.fill %one, %t : f32, !tile
    tile.atomic add %t, %A : !tile, !global
  }
  return
}

// Elements outside read as the safe value, here 1. A hint and an assumption are no instructions.
// CHECK-LABEL: llvm.func @notes_kernel
// CHECK: arith.constant 1.000000e+00 : f32
// CHECK-NOT: tile.
// CHECK: llvm.return
func.func @notes(%A: memref<30xf32, #tile.space<global>>, %B: !global, %n: index) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.annotate_safe_value %A : memref<30xf32, #tile.space<global>> is 1.0 : f32
    tile.hint "anything"
    %good = arith.cmpi slt, %n, %c1 : index
    tile.assume %good
    tile.parallel (%i) in (128) {
      %v = tile.load %A[%i] : memref<30xf32, #tile.space<global>>
      tile.store %v, %B[%i] : !global
    }
  }
  return
}
