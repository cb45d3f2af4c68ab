// RUN: tw-opt %s -tile-place-iteration-arrays | FileCheck %s

#global = #tile.space<global>
#local = #tile.space<local>

// Each iteration of both loops has a row.
// CHECK-LABEL: func.func @rows
// CHECK: tile.kernel
// CHECK-NEXT: %[[A:.*]] = tile.alloc "a" : memref<4x16x8xf32, #tile.space<fragment>>
// CHECK-NEXT: tile.parallel (%[[I:.*]], %[[J:.*]]) in (4, 16)
// CHECK-NOT: tile.alloc
// CHECK: tile.store %{{.*}}, %[[A]][%[[I]], %[[J]], %{{.*}}]
// CHECK: tile.load %[[A]][%[[I]], %[[J]], %{{.*}}]
func.func @rows(%x: memref<4x16xf32, #global>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  tile.kernel (%b) in (%one) threads [64] {
    tile.parallel (%i, %j) in (4, 16) {
      %a = tile.alloc "a" : memref<8xf32, #local>
      %v = tile.load %x[%i, %j] : memref<4x16xf32, #global>
      tile.store %v, %a[%zero] : memref<8xf32, #local>
      %w = tile.load %a[%zero] : memref<8xf32, #local>
      tile.store %w, %x[%i, %j] : memref<4x16xf32, #global>
    }
  }
  return
}
