// RUN: tw-opt %s | tw-opt | FileCheck %s
// RUN: tw-opt %s -mlir-print-op-generic | tw-opt | FileCheck %s

// CHECK-LABEL: func.func @threads
func.func @threads(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%n) threads [64, 4] {
    // CHECK: %[[TY:.*]] = tile.thread_id 1
    %ty = tile.thread_id 1
    // CHECK: %ready = tile.barrier_alloc "ready" arrivals [128, 256] : memref<2xi64, #tile.space<shared>>
    %ready = tile.barrier_alloc "ready" arrivals [128, 256] : memref<2xi64, #tile.space<shared>>
    // CHECK: %named = tile.barrier_alloc "named" arrivals [0, 0]
    %named = tile.barrier_alloc "named" arrivals [0, 0] : memref<2xi64, #tile.space<shared>>
    // CHECK: tile.barrier_arrive %ready[%c1] : memref<2xi64, #tile.space<shared>>
    tile.barrier_arrive %ready[%c1] : memref<2xi64, #tile.space<shared>>
    // CHECK: tile.barrier_arrive %ready[%c0] once expect_bytes %arg0
    tile.barrier_arrive %ready[%c0] once expect_bytes %n : memref<2xi64, #tile.space<shared>>
    // CHECK: tile.barrier_wait %ready[%c1] parity %[[TY]]
    tile.barrier_wait %ready[%c1] parity %ty : memref<2xi64, #tile.space<shared>>
    // CHECK: tile.barrier_arrive %named[%[[TY]]] count 64
    tile.barrier_arrive %named[%ty] count 64 : memref<2xi64, #tile.space<shared>>
    // CHECK: tile.barrier_wait %named[%[[TY]]] count 64
    tile.barrier_wait %named[%ty] count 64 : memref<2xi64, #tile.space<shared>>
    // CHECK: tile.grid_sync
    tile.grid_sync
  }
  return
}
