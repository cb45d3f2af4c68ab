// RUN: tw-opt %s -tile-count-arrivals | FileCheck %s

#shared = #tile.space<shared>

// CHECK-LABEL: func.func @counts
// CHECK: %[[B:.*]] = tile.alloc "b" : memref<1xi32, #tile.space<shared>>
// CHECK: tile.fill %{{.*}}, %[[B]]
// Each thread counts one.
// CHECK: %[[T:.*]] = tile.thread_id 0
// CHECK: %[[EACH:.*]] = arith.cmpi sge, %[[T]]
// CHECK: scf.if %[[EACH]] {
// CHECK:   tile.atomic_element add %{{.*}}, %[[B]][%c0]
// An arrival for all is one increment.
// CHECK: %[[OLD:.*]] = tile.load %[[B]][%c0]
// CHECK: %[[NEW:.*]] = arith.addi %[[OLD]]
// CHECK: tile.store %[[NEW]], %[[B]][%c0]
// CHECK: %[[COUNT:.*]] = tile.load %[[B]][%c0]
// CHECK: %[[PHASE:.*]] = tile.floordiv %[[COUNT]]
// CHECK: %[[EVEN:.*]] = tile.floormod %[[PHASE]]
// CHECK: %[[MET:.*]] = arith.cmpi ne, %[[EVEN]]
// CHECK: tile.assert %[[MET]], "this wait is not met: the arrivals that it waits for come later or never; roles take turns at waits, and in loops only where these have the same bounds"
// CHECK-NOT: tile.barrier
func.func @counts(%n: index, %p: index) {
  %c0 = arith.constant 0 : index
  tile.kernel (%x) in (%n) threads [64] {
    %b = tile.barrier_alloc "b" arrivals [65] : memref<1xi64, #shared>
    tile.barrier_arrive %b[%c0] : memref<1xi64, #shared>
    tile.barrier_arrive %b[%c0] once : memref<1xi64, #shared>
    tile.barrier_wait %b[%c0] parity %p : memref<1xi64, #shared>
  }
  return
}

// CHECK-LABEL: func.func @by_number
// CHECK: %[[COUNT:.*]] = tile.load
// CHECK: %[[REST:.*]] = tile.floormod %[[COUNT]], %c64_i32
// CHECK: %[[MET:.*]] = arith.cmpi eq, %[[REST]], %c0_i32
// CHECK: tile.assert %[[MET]], "this wait is not met: the threads that it waits for come later or never;
func.func @by_number(%n: index) {
  %c0 = arith.constant 0 : index
  tile.kernel (%x) in (%n) threads [64] {
    %b = tile.barrier_alloc "b" arrivals [0] : memref<1xi64, #shared>
    tile.barrier_wait %b[%c0] count 64 : memref<1xi64, #shared>
  }
  return
}
