// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// T.Parallel: who runs which iteration.

// Fewer iterations than threads: a prefix of the threads runs.
// CHECK-LABEL: llvm.func @predicated_kernel
// CHECK: %[[T:.*]] = nvvm.read.ptx.sreg.tid.x range <i32, 0, 32>
// CHECK: %[[HAS:.*]] = arith.cmpi ult, %{{.*}}, %c{{[0-9]+}}
// CHECK: scf.if %[[HAS]] {
// CHECK: llvm.store
func.func @predicated(%a: memref<20xf32, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (20) {
      tile.store %x, %a[%i] : memref<20xf32, #tile.space<global>>
    }
  }
  return
}

// Slots of one access go together, op by op.
// CHECK-LABEL: llvm.func @vectorised_kernel
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-4: arith.mulf
// CHECK: llvm.store {{.*}} vector<4xf32>
func.func @vectorised(%a: memref<128xf32, #tile.space<global>>, %b: memref<128xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (128) {
      %v = tile.load %a[%i] : memref<128xf32, #tile.space<global>>
      %w = arith.mulf %v, %v : f32
      tile.store %w, %b[%i] : memref<128xf32, #tile.space<global>>
    }
  }
  return
}

// Without registers a long loop stays one.
// CHECK-LABEL: llvm.func @long_loop_kernel
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-4: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: llvm.return
func.func @long_loop(%a: memref<65536xf32, #tile.space<global>>, %b: memref<65536xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (65536) {
      %v = tile.load %a[%i] : memref<65536xf32, #tile.space<global>>
      %w = arith.mulf %v, %v : f32
      tile.store %w, %b[%i] : memref<65536xf32, #tile.space<global>>
    }
  }
  return
}

// Threads take iterations in turn.
// CHECK-LABEL: llvm.func @run_time_extent_kernel
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c32
// CHECK: arith.cmpi ult, %[[I]], %c64
// CHECK: llvm.store
func.func @run_time_extent(%a: memref<64xf32, #tile.space<global>>, %x: f32, %n: index) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (%n) {
      tile.store %x, %a[%i] : memref<64xf32, #tile.space<global>>
    }
  }
  return
}

// Slots that an access takes together take a branch together.
// CHECK-LABEL: llvm.func @one_branch_for_a_group_kernel
// CHECK: scf.if
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-NOT: scf.if
// CHECK: llvm.return
func.func @one_branch_for_a_group(%a: memref<128xf32, #tile.space<global>>, %b: memref<128xf32, #tile.space<global>>, %flag: i1) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (128) {
      scf.if %flag {
        %v = tile.load %a[%i] : memref<128xf32, #tile.space<global>>
        tile.store %v, %b[%i] : memref<128xf32, #tile.space<global>>
      }
    }
  }
  return
}

// Of two extents one is only known when it runs.
// CHECK-LABEL: llvm.func @mixed_extents_kernel
// CHECK: %[[TOTAL:.*]] = arith.muli %{{.*}}, %c4{{.*}} : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TOTAL]] step %c32
func.func @mixed_extents(%a: memref<4x64xf32, #tile.space<global>>, %n: index, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i, %j) in (4, %n) {
      tile.store %x, %a[%i, %j] : memref<4x64xf32, #tile.space<global>>
    }
  }
  return
}
