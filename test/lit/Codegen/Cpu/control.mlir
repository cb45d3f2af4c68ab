// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 -split-input-file | FileCheck %s
// The host function, block functions, loops and branches.

#global = #tile.space<global>

// The host sends what a kernel uses, and launches the block function for its grid.
// CHECK-LABEL: llvm.func @launch.entry
// CHECK: %[[A:.*]] = llvm.load {{.*}} -> !llvm.ptr
// CHECK: llvm.store %[[A]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK: %[[BLOCKS:.*]] = llvm.mlir.addressof @launch.kernel0
// CHECK: llvm.call %{{.*}}(%arg0, %[[BLOCKS]],
// CHECK-LABEL: llvm.func internal @launch.kernel0
// CHECK: llvm.load {{.*}}invariant{{.*}} -> !llvm.ptr
// CHECK: scf.for
// CHECK: arith.remui
// CHECK: arith.divui
func.func @launch(%A: memref<64xf32, #global>, %x: f32) {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  tile.kernel (%bx, %by) in (%c4, %c8) threads [32] {
    tile.store %x, %A[%bx] : memref<64xf32, #global>
    tile.store %x, %A[%by] : memref<64xf32, #global>
  }
  return
}

// -----

#shared = #tile.space<shared>

// A pipelined loop of statements polls once an iteration: the eighth service.
// CHECK-LABEL: llvm.func internal @pipelined.kernel0
func.func @pipelined(%x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : memref<16xf32, #shared>
    // CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4
    // CHECK: llvm.getelementptr %arg5[7]
    // CHECK: llvm.store
    tile.pipelined %k = %c0 to %c4 stages 2 {
      tile.fill %x, %t : f32, memref<16xf32, #shared>
    }
  }
  return
}

// -----

#local = #tile.space<local>

// A long loop of short iterations is cut into pieces, between which it polls; a short one is not.
// CHECK-LABEL: llvm.func internal @polled.kernel0
func.func @polled(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %v = tile.alloc "v" : memref<f32, #local>
    // CHECK: scf.for {{.*}} step %c65536
    // CHECK: arith.cmpi sgt
    // CHECK: scf.if
    // CHECK: llvm.getelementptr %arg5[7]
    // CHECK: scf.for
    scf.for %i = %c0 to %n step %c1 {
      tile.store %x, %v[] : memref<f32, #local>
    }
    // CHECK: scf.for {{.*}} to %c100
    // CHECK-NOT: llvm.getelementptr %arg5[7]
    scf.for %i = %c0 to %c100 step %c1 {
      tile.store %x, %v[] : memref<f32, #local>
    }
  }
  return
}

// -----

#global = #tile.space<global>

// A step that may not be positive is checked; values are carried; a while loop polls.
// CHECK-LABEL: llvm.func internal @carried.kernel0
func.func @carried(%A: memref<1xf32, #global>, %step: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: arith.cmpi slt, %{{.*}}, %c1
    // CHECK: llvm.getelementptr %arg5[3]
    // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32)
    %sum = scf.for %i = %c0 to %c8 step %step iter_args(%s = %x) -> (f32) {
      %next = arith.addf %s, %x : f32
      scf.yield %next : f32
    }
    // CHECK: scf.while
    // CHECK: llvm.getelementptr %arg5[7]
    // CHECK: scf.condition
    %last = scf.while (%v = %sum) : (f32) -> f32 {
      %more = arith.cmpf olt, %v, %x : f32
      scf.condition(%more) %v : f32
    } do {
    ^bb0(%v: f32):
      %next = arith.addf %v, %v : f32
      scf.yield %next : f32
    }
    // CHECK: scf.if {{.*}} -> (f32) {
    // CHECK: } else {
    %isSmall = arith.cmpf olt, %last, %x : f32
    %chosen = scf.if %isSmall -> (f32) {
      scf.yield %last : f32
    } else {
      scf.yield %x : f32
    }
    tile.store %chosen, %A[%c0] : memref<1xf32, #global>
  }
  return
}
