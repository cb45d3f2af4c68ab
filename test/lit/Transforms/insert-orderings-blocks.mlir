// RUN: tw-opt %s -tile-insert-orderings | FileCheck %s
// An atomic with a memory order speaks for all threads of the block: a barrier stands in front of one that
// tells other blocks, and behind one that learns from them.

#global = #tile.space<global>
#fragment = #tile.space<fragment>

// CHECK-LABEL: func.func @tells
func.func @tells(%A: memref<32xf32, #global>, %W: memref<32xf32, #global>, %F: memref<1xi32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: tile.copy
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.atomic_element
    // CHECK-NOT: tile.barrier
    tile.copy %A, %W : memref<32xf32, #global> to memref<32xf32, #global>
    %0 = tile.atomic_element exchange %one, %F[%c0] order release : memref<1xi32, #global>
  }
  return
}

// Nothing writes %A, so that other blocks cannot tell when this one read it.
// CHECK-LABEL: func.func @tells_nothing
func.func @tells_nothing(%A: memref<32xf32, #global>, %F: memref<1xi32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    %f = tile.alloc "f" : memref<32xf32, #fragment>
    // CHECK-NOT: tile.barrier
    tile.copy %A, %f : memref<32xf32, #global> to memref<32xf32, #fragment>
    %0 = tile.atomic_element exchange %one, %F[%c0] order release : memref<1xi32, #global>
  }
  return
}

// CHECK-LABEL: func.func @learns
func.func @learns(%W: memref<32xf32, #global>, %F: memref<1xi32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %x = arith.constant 1.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %f = tile.alloc "f" : memref<32xf32, #fragment>
    // CHECK: tile.atomic_element
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.copy
    %0 = tile.atomic_element add %zero, %F[%c0] order acquire : memref<1xi32, #global>
    tile.copy %W, %f : memref<32xf32, #global> to memref<32xf32, #fragment>
    tile.fill %x, %W : f32, memref<32xf32, #global>
  }
  return
}

// A relaxed atomic says nothing of other tensors.
// CHECK-LABEL: func.func @relaxed
func.func @relaxed(%A: memref<32xf32, #global>, %W: memref<32xf32, #global>, %F: memref<1xi32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK-NOT: tile.barrier
    tile.copy %A, %W : memref<32xf32, #global> to memref<32xf32, #global>
    %0 = tile.atomic_element exchange %one, %F[%c0] : memref<1xi32, #global>
  }
  return
}
