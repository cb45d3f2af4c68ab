// RUN: tw-opt %s -tile-keep-tiles | FileCheck %s

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
#local = #tile.space<local>

// A slice of a workspace holds the tile of each block, whose number a launch knows.
// CHECK-LABEL: func.func @saved
// CHECK: %[[W:.*]] = tile.alloc "sums"(%{{.*}}) : memref<?x2x64xf32, #tile.space<global>>
// CHECK: tile.kernel (%[[X:.*]], %[[Y:.*]]) in
// CHECK: %[[SUMS:.*]] = tile.alloc "sums" : memref<64xf32, #tile.space<shared>>
// CHECK: %[[TO:.*]] = tile.slice %[[W]][%[[X]], %[[Y]], 0] [1, 1, 64] [1, 1, 1] drop [0, 1]
// CHECK-NEXT: tile.copy %[[SUMS]], %[[TO]]
// CHECK-NEXT: tile.grid_sync
// CHECK-NEXT: %[[FROM:.*]] = tile.slice %[[W]][%[[X]], %[[Y]], 0] [1, 1, 64] [1, 1, 1] drop [0, 1]
// CHECK-NEXT: tile.copy %[[FROM]], %[[SUMS]]
func.func @saved(%x: memref<64xf32, #global>, %n: index) {
  %two = arith.constant 2 : index
  tile.kernel (%bx, %by) in (%n, %two) threads [64] {
    %sums = tile.alloc "sums" : memref<64xf32, #shared>
    tile.copy %x, %sums : memref<64xf32, #global> to memref<64xf32, #shared>
    tile.grid_sync
    tile.copy %sums, %x : memref<64xf32, #shared> to memref<64xf32, #global>
  }
  return
}

// What is written before it is read needs no room.
// CHECK-LABEL: func.func @written_again
// CHECK-NOT: tile.slice
func.func @written_again(%x: memref<64xf32, #global>, %n: index) {
  tile.kernel (%b) in (%n) threads [64] {
    %t = tile.alloc "t" : memref<64xf32, #shared>
    tile.copy %x, %t : memref<64xf32, #global> to memref<64xf32, #shared>
    tile.grid_sync
    tile.copy %x, %t : memref<64xf32, #global> to memref<64xf32, #shared>
    tile.copy %t, %x : memref<64xf32, #shared> to memref<64xf32, #global>
  }
  return
}

// A fragment that threads use element by element may be an array of each of them.
// CHECK-LABEL: func.func @array_of_threads
// CHECK-NOT: tile.slice
func.func @array_of_threads(%x: memref<64xf32, #global>, %n: index) {
  %zero = arith.constant 0 : index
  tile.kernel (%b) in (%n) threads [64] {
    %t = tile.thread_id 0
    %mine = tile.alloc "mine" : memref<1xf32, #fragment>
    %v = tile.load %x[%t] : memref<64xf32, #global>
    tile.store %v, %mine[%zero] : memref<1xf32, #fragment>
    tile.grid_sync
    %w = tile.load %mine[%zero] : memref<1xf32, #fragment>
    tile.store %w, %x[%t] : memref<64xf32, #global>
  }
  return
}
