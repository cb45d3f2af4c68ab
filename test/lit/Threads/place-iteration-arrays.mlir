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

// So has an array that one loop uses, wherever it is allocated: a row for each iteration of the
// innermost loop that holds all uses.
// CHECK-LABEL: func.func @used_in_one_loop
// CHECK: tile.kernel
// CHECK-NEXT: scf.for
// CHECK-NEXT: %[[A:.*]] = tile.alloc "a" : memref<2x8xf32, #tile.space<fragment>>
// CHECK-NEXT: tile.parallel (%[[J:.*]]) in (2)
// CHECK-NOT: tile.alloc
// CHECK: tile.store %{{.*}}, %[[A]][%[[J]], %{{.*}}]
func.func @used_in_one_loop(%x: memref<4x2xf32, #global>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  tile.kernel (%b) in (%one) threads [64] {
    %a = tile.alloc "a" : memref<8xf32, #local>
    scf.for %i = %zero to %two step %one {
      tile.parallel (%j) in (2) {
        %v = tile.load %x[%i, %j] : memref<4x2xf32, #global>
        tile.store %v, %a[%zero] : memref<8xf32, #local>
        %w = tile.load %a[%zero] : memref<8xf32, #local>
        tile.store %w, %x[%i, %j] : memref<4x2xf32, #global>
      }
    }
  }
  return
}

// An array of two loops is no iteration's.
// CHECK-LABEL: func.func @used_in_two_loops
// CHECK: tile.alloc "a" : memref<8xf32, #tile.space<local>>
func.func @used_in_two_loops(%x: memref<4xf32, #global>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  tile.kernel (%b) in (%one) threads [64] {
    %a = tile.alloc "a" : memref<8xf32, #local>
    tile.parallel (%i) in (4) {
      %v = tile.load %x[%i] : memref<4xf32, #global>
      tile.store %v, %a[%zero] : memref<8xf32, #local>
    }
    tile.parallel (%i) in (4) {
      %w = tile.load %a[%zero] : memref<8xf32, #local>
      tile.store %w, %x[%i] : memref<4xf32, #global>
    }
  }
  return
}
