// RUN: tw-opt %s -tile-lower-to-threads=arch=sm_90a | FileCheck %s --check-prefixes=CHECK,NEW
// RUN: tw-opt %s -tile-lower-to-threads=arch=sm_80 | FileCheck %s --check-prefixes=CHECK,OLD
// Barriers of programs: in shared memory, by the instructions that the architecture has, or by number.

!bars = memref<1xi64, #tile.space<shared>>

// Each thread arrives, or one for all of them; a wait is a loop.
// CHECK-LABEL: llvm.func @arrivals_kernel
// NEW: "mbarrier.init.shared::cta.b64 [$0], $1;"
// NEW: "fence.mbarrier_init.release.cluster;"
// OLD: "mbarrier.init.shared.b64 [$0], $1;"
// CHECK: nvvm.barrier0
// NEW: "mbarrier.arrive.shared::cta.b64 _, [$0];"
// NEW: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;{{.*}}bra.uni wait
// OLD: mbarrier.arrive.shared.b64 state, [$0];
// OLD: mbarrier.test_wait.parity.shared.b64 done, [$0], $1;{{.*}}bra.uni wait
// CHECK: %[[FIRST:.*]] = arith.cmpi eq
// CHECK: scf.if %[[FIRST]]
// CHECK-NEXT: mbarrier.arrive
func.func @arrivals() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %b = tile.barrier_alloc "b" arrivals [128] {tile.offset = 0 : i64} : !bars
    tile.barrier_arrive %b[%c0] : !bars
    tile.barrier_wait %b[%c0] parity %c0 : !bars
    tile.barrier_arrive %b[%c0] once : !bars
  }
  return
}

// By number: no memory. Threads that arrive and wait at once do both in one instruction.
// CHECK-LABEL: llvm.func @by_number_kernel
// CHECK-NOT: mbarrier
// CHECK: "barrier.arrive $0, $1;", "r,r,~{memory}"
// CHECK-NOT: barrier.arrive
// CHECK: "barrier.sync $0, $1;", "r,r,~{memory}"
func.func @by_number() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %b = tile.barrier_alloc "b" arrivals [0, 0, 0] : memref<3xi64, #tile.space<shared>>
    tile.barrier_arrive %b[%c1] count 128 : memref<3xi64, #tile.space<shared>>
    tile.barrier_arrive %b[%c2] count 128 {tile.at_wait} : memref<3xi64, #tile.space<shared>>
    tile.barrier_wait %b[%c2] count 128 : memref<3xi64, #tile.space<shared>>
  }
  return
}
