// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 -split-input-file | FileCheck %s
// Forms of an atomic update.

#global = #tile.space<global>
#shared = #tile.space<shared>

// An element of a tensor: one instruction where there is one, with its order.
// CHECK-LABEL: llvm.func internal @instructions.kernel0
func.func @instructions(%F: memref<4xf32, #global>, %I: memref<4xi32, #global>, %x: f32, %i: i32) {
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    // CHECK: llvm.atomicrmw fadd %{{.*}}, %{{.*}} monotonic {{.*}} f32
    // CHECK: llvm.atomicrmw max %{{.*}}, %{{.*}} acq_rel {{.*}} i32
    // CHECK: llvm.atomicrmw xchg %{{.*}}, %{{.*}} seq_cst {{.*}} i32
    %0 = tile.atomic_element add %x, %F[%bx] : memref<4xf32, #global>
    %1 = tile.atomic_element max %i, %I[%bx] order acq_rel : memref<4xi32, #global>
    %2 = tile.atomic_element exchange %i, %I[%bx] order seq_cst : memref<4xi32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// No instruction adds float16: exchanges until nothing came between.
// CHECK-LABEL: llvm.func internal @exchange.kernel0
func.func @exchange(%H: memref<4xf16, #global>, %x: f16) {
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    // CHECK: llvm.load {{.*}} atomic monotonic
    // CHECK: scf.while
    // CHECK: llvm.cmpxchg %{{.*}}, %{{.*}}, %{{.*}} release monotonic
    %0 = tile.atomic_element add %x, %H[%bx] order release : memref<4xf16, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// An element that may not exist: nothing is updated, and the previous value is the safe one.
// CHECK-LABEL: llvm.func internal @outside.kernel0
func.func @outside(%F: memref<4xf32, #global>, %x: f32) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [32] {
    // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %c4
    // CHECK: scf.if %[[INSIDE]] -> (f32) {
    // CHECK: llvm.atomicrmw
    // CHECK: } else {
    %0 = tile.atomic_element add %x, %F[%bx] : memref<4xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

// A tile belongs to one block: a plain load and store.
// CHECK-LABEL: llvm.func internal @on_chip.kernel0
func.func @on_chip(%x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : memref<16xf32, #shared>
    // CHECK-NOT: llvm.atomicrmw
    // CHECK: llvm.load {{.*}} -> f32
    // CHECK: arith.addf
    // CHECK: llvm.store {{.*}} : f32
    tile.atomic add %x, %t : f32, memref<16xf32, #shared>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

// A whole tile: element by element, or, if the plan says so, row by row under locks.
// CHECK-LABEL: llvm.func internal @tile.kernel0
func.func @tile(%D: memref<64x32xf32, #global>, %E: memref<64x32xf32, #global>) {
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    %t = tile.alloc "t" : memref<16x32xf32, #shared>
    %row = arith.muli %bx, %c16 : index
    %d = tile.slice %D[%row, 0] [16, 32] [1, 1] : memref<64x32xf32, #global> to memref<16x32xf32, #global>
    %e = tile.slice %E[%row, 0] [16, 32] [1, 1] : memref<64x32xf32, #global> to memref<16x32xf32, #global>
    // CHECK: scf.for
    // CHECK: scf.for
    // CHECK: llvm.atomicrmw fadd
    tile.atomic add %t, %d : memref<16x32xf32, #shared>, memref<16x32xf32, #global>
    // The lock of the row is the sixth service, the unlock the seventh.
    // CHECK: scf.for
    // CHECK: llvm.getelementptr %arg5[5]
    // CHECK: scf.for
    // CHECK-NOT: llvm.atomicrmw
    // CHECK: llvm.store {{.*}}access_groups{{.*}} : f32
    // CHECK: llvm.getelementptr %arg5[6]
    tile.atomic add %t, %e {tile.locks_rows} : memref<16x32xf32, #shared>, memref<16x32xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

// Under a layout whose 8 x 8 boxes lie in one piece, boxes are updated by vectors of the tensor.
// CHECK-LABEL: llvm.func internal @boxes.kernel0
func.func @boxes(%D: memref<64x32xf32, #global>) {
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    tile.annotate_layout %D : memref<64x32xf32, #global> is #tile.layout<[64, 32], "(i, j) -> (i // 8 * 256 + j // 8 * 64 + i % 8 * 8 + j % 8)">
    %t = tile.alloc "t" : memref<16x32xf32, #shared>
    %row = arith.muli %bx, %c16 : index
    %d = tile.slice %D[%row, 0] [16, 32] [1, 1] : memref<64x32xf32, #global> to memref<16x32xf32, #global>
    // CHECK: llvm.getelementptr %arg5[5]
    // CHECK: vector.shuffle
    // CHECK: arith.addf {{.*}} : vector<16xf32>
    // CHECK: llvm.store {{.*}} : vector<16xf32>
    // CHECK: llvm.getelementptr %arg5[6]
    tile.atomic add %t, %d {tile.locks_rows} : memref<16x32xf32, #shared>, memref<16x32xf32, #global>
  }
  return
}
