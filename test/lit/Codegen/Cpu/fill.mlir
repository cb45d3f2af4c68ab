// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 -split-input-file | FileCheck %s

#shared = #tile.space<shared>

// A tile: one marked loop. A bool is stored as a byte.
// CHECK-LABEL: llvm.func internal @tile.kernel0
func.func @tile(%flag: i1) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : memref<64xi1, #shared>
    // CHECK: %[[BYTE:.*]] = arith.extui %{{.*}} : i1 to i8
    // CHECK: scf.for
    // CHECK: llvm.store %[[BYTE]], {{.*}}access_groups
    tile.fill %flag, %t : i1, memref<64xi1, #shared>
  }
  return
}

// -----

#global = #tile.space<global>

// A part that may leave its tensor is clipped, not checked.
// CHECK-LABEL: llvm.func internal @clipped.kernel0
func.func @clipped(%A: memref<30xf32, #global>, %x: f32) {
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c2) threads [32] {
    %first = arith.muli %bx, %c16 : index
    %part = tile.slice %A[%first] [16] [1] : memref<30xf32, #global> to memref<16xf32, #global>
    // CHECK: %[[FIRST:.*]] = arith.minsi %{{.*}}, %c16
    // CHECK: %[[PAST:.*]] = arith.minsi %{{.*}}, %c16
    // CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[PAST]] step
    // CHECK-NOT: scf.if
    // CHECK: llvm.store
    tile.fill %x, %part : f32, memref<16xf32, #global>
  }
  return
}
