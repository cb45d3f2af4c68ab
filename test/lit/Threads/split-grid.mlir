// RUN: tw-opt %s -tile-split-grid | FileCheck %s

#global = #tile.space<global>
#shared = #tile.space<shared>

// The second launch has a tile of its own and computes the numbers it needs again; a tile that only
// the first part uses is not in it.
// CHECK-LABEL: func.func @two_parts
// CHECK: tile.kernel (%[[B:.*]]) in (%arg2) threads [64]
// CHECK:   %[[A:.*]] = tile.alloc "a"
// CHECK:   %[[S:.*]] = tile.slice %arg0[%[[B]]]
// CHECK:   tile.copy %[[S]], %[[A]]
// CHECK:   tile.copy %[[A]], %[[S]]
// CHECK-NOT: tile.grid_sync
// CHECK: tile.kernel (%[[B2:.*]]) in (%arg2) threads [64]
// CHECK-NOT: tile.alloc "a"
// CHECK:   %[[BB:.*]] = tile.alloc "b"
// CHECK:   %[[S2:.*]] = tile.slice %arg0[%[[B2]]]
// CHECK:   tile.copy %[[S2]], %[[BB]]
// CHECK-NOT: tile.grid_sync
func.func @two_parts(%x: memref<?xf32, #global>, %y: memref<?xf32, #global>, %n: index) {
  tile.kernel (%b) in (%n) threads [64] {
    %a = tile.alloc "a" : memref<64xf32, #shared>
    %bb = tile.alloc "b" : memref<64xf32, #shared>
    %s = tile.slice %x[%b] [64] [1] : memref<?xf32, #global> to memref<64xf32, #global>
    tile.copy %s, %a : memref<64xf32, #global> to memref<64xf32, #shared>
    tile.copy %a, %s : memref<64xf32, #shared> to memref<64xf32, #global>
    tile.grid_sync
    tile.copy %s, %bb : memref<64xf32, #global> to memref<64xf32, #shared>
    %t = tile.slice %y[%b] [64] [1] : memref<?xf32, #global> to memref<64xf32, #global>
    tile.copy %bb, %t : memref<64xf32, #shared> to memref<64xf32, #global>
  }
  return
}

// CHECK-LABEL: func.func @three_parts
// CHECK-COUNT-3: tile.kernel
// CHECK-NOT: tile.kernel
func.func @three_parts(%x: memref<64xf32, #global>, %n: index) {
  %zero = arith.constant 0.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    tile.fill %zero, %x : f32, memref<64xf32, #global>
    tile.grid_sync
    tile.fill %zero, %x : f32, memref<64xf32, #global>
    tile.grid_sync
    tile.fill %zero, %x : f32, memref<64xf32, #global>
  }
  return
}
