// RUN: tw-opt %s | tw-opt | FileCheck %s
// The text forms of what later passes leave: groups of asynchronous copies, waits, and plans of accesses.

// CHECK-LABEL: func.func @async
func.func @async(%a: memref<64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: %[[V:.*]] = tile.version %{{.*}} from %{{.*}} ahead 2 of 3
    %version = tile.version %bx from %c1 ahead 2 of 3
    // CHECK: tile.async_group %[[V]] below %{{.*}} {
    // CHECK-NEXT: tile.parallel
    tile.async_group %version below %c1 {
      tile.parallel (%i) in (64) {
        %v = tile.load %a[%i] : memref<64xf32, #tile.space<global>>
        tile.store %v, %a[%i] : memref<64xf32, #tile.space<global>>
      }
    }
    // CHECK: tile.async_wait 2
    tile.async_wait 2
    %c = tile.alloc "c" : memref<64x8xf32, #tile.space<fragment>>
    // CHECK: tile.product_wait 1 for %{{.*}} : memref<64x8xf32, #tile.space<fragment>>
    tile.product_wait 1 for %c : memref<64x8xf32, #tile.space<fragment>>
    // CHECK: tile.product_wait 0
    tile.product_wait 0
    tile.parallel (%i) in (64) {
      // CHECK: tile.access = #tile.access<width = 2 slots = [0, 1]>
      %v = tile.load %a[%i] {tile.access = #tile.access<width = 2 slots = [0, 1]>} : memref<64xf32, #tile.space<global>>
      // CHECK: #tile.access<width = 1 slots = [0, 1] sources = [0, 0] anchors = [0, 0] deltas = [0, 32] guarded = [0]>
      tile.store %v, %a[%i] {tile.access = #tile.access<width = 1 slots = [0, 1] sources = [0, 0] anchors = [0, 0] deltas = [0, 32] guarded = [0]>} : memref<64xf32, #tile.space<global>>
      // Each list may stand alone.
      // CHECK: #tile.access<width = 2 slots = [0, 1] guarded = [0]>
      tile.store %v, %a[%i] {tile.access = #tile.access<width = 2 slots = [0, 1] guarded = [0]>} : memref<64xf32, #tile.space<global>>
      // CHECK: #tile.access<width = 2 slots = [0, 1] anchors = [0] deltas = [0]>
      tile.store %v, %a[%i] {tile.access = #tile.access<width = 2 slots = [0, 1] anchors = [0] deltas = [0]>} : memref<64xf32, #tile.space<global>>
    }
  }
  return
}
