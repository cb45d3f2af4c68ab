// RUN: tw-opt %s -tile-plan-gpu=arch=sm_90a -tile-lower-to-threads=arch=sm_90a 2>/dev/null | FileCheck %s
// Roles that run at once: each is a branch on the number of the warp, numbers its threads from 0, and
// meets at a barrier of its own.

#global = #tile.space<global>
#shared = #tile.space<shared>

// CHECK-LABEL: llvm.func @at_once_kernel
// CHECK: %[[THREAD:.*]] = arith.index_castui
// CHECK-COUNT-2: "mbarrier.init.shared::cta.b64 [$0], $1;"
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[WARP:.*]], %c1_i32 : i32
// CHECK: scf.if %[[FIRST]]
// CHECK: mbarrier.try_wait
// CHECK: nvvm.barrier id = %c1_i32 number_of_threads = %c32_i32
// CHECK: llvm.store {{.*}}, !llvm.ptr<3>
// CHECK: "mbarrier.arrive.shared::cta.b64 _, [$0];"
// CHECK: %[[OWN:.*]] = arith.subi %[[WARP]], %c1_i32 : i32
// CHECK: arith.cmpi ult, %[[OWN]], %c1_i32 : i32
// CHECK: arith.subi %[[THREAD]], %c32 : index
// CHECK: mbarrier.try_wait
// CHECK: nvvm.barrier id = %c2_i32 number_of_threads = %c32_i32
// CHECK: llvm.load {{.*}} : !llvm.ptr<3>
func.func @at_once(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %free = tile.barrier_alloc "free" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.for %k = %c0 to %n step %c1 {
      %p = tile.floormod %k, %c2 : index
      %q0 = arith.addi %k, %c1 : index
      %q = tile.floormod %q0, %c2 : index
      scf.if %first {
        tile.barrier_wait %free[%c0] parity %q : memref<1xi64, #shared>
        tile.copy %a, %s : memref<64xf32, #global> to memref<64xf32, #shared>
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      } else {
        tile.barrier_wait %ready[%c0] parity %p : memref<1xi64, #shared>
        tile.copy %s, %b : memref<64xf32, #shared> to memref<64xf32, #global>
        tile.barrier_arrive %free[%c0] : memref<1xi64, #shared>
      }
    }
  }
  return
}

// Registers go from one role to the other.
// CHECK-LABEL: llvm.func @registers_kernel
// CHECK: nvvm.setmaxregister  decrease 24
// CHECK: nvvm.setmaxregister  increase 240
func.func @registers(%n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  tile.kernel (%x) in (%n) threads [384] {
    %ready = tile.barrier_alloc "ready" arrivals [128] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c128 : index
    scf.if %first {
      tile.hint "set_max_nreg" {count = 24 : i64, inc = 0 : i64}
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.hint "set_max_nreg" {count = 240 : i64, inc = 1 : i64}
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}
