// RUN: tw-opt %s -tile-flatten-loops | FileCheck %s

// CHECK-LABEL: func.func @vectors
func.func @vectors(%A: memref<32x8xf32, #tile.space<global>>, %I: memref<32xi32, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: tile.parallel (%[[I:.*]], %[[J:.*]], %[[K:.*]]) in (32, 2, 4) {
    // CHECK: scf.if
    // CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[K]]
    // CHECK: tile.atomic_element add %{{.*}}, %{{.*}}[%{{.*}}, %[[COLUMN]]]
    // CHECK-NOT: tile.parallel
    tile.parallel (%i, %j) in (32, 2) {
      %n = tile.load %I[%i] : memref<32xi32, #tile.space<global>>
      %row = tile.cast %n from i32 to index
      %start = arith.muli %j, %c4 : index
      %some = arith.cmpi slt, %i, %c4 : index
      scf.if %some {
        tile.parallel (%e) in (4) {
          %column = arith.addi %start, %e : index
          %p = tile.atomic_element add %x, %A[%row, %column] : memref<32x8xf32, #tile.space<global>>
        }
      }
    }
    // Two statements: the inner loop is written out.
    // CHECK: tile.parallel (%[[I:.*]]) in (32) {
    // CHECK-COUNT-3: tile.store
    // CHECK-NOT: tile.store
    tile.parallel (%i) in (32) {
      tile.parallel (%e) in (2) {
        tile.store %x, %A[%i, %e] : memref<32x8xf32, #tile.space<global>>
      }
      tile.store %x, %A[%i, %c4] : memref<32x8xf32, #tile.space<global>>
    }
    // A run-time number of elements: serial.
    // CHECK: tile.parallel (%[[I:.*]]) in (32) {
    // CHECK: scf.for %[[E:.*]] =
    // CHECK: tile.store %{{.*}}, %{{.*}}[%[[I]], %[[E]]]
    tile.parallel (%i) in (32) {
      tile.parallel (%e) in (%bx) {
        tile.store %x, %A[%i, %e] : memref<32x8xf32, #tile.space<global>>
      }
    }
  }
  return
}
