// RUN: tw-opt %s -tile-shrink-loops | FileCheck %s

// CHECK-LABEL: func.func @part
func.func @part(%A: memref<32x8xf32, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: tile.parallel (%[[I:.*]], %[[J:.*]]) in (16, 5) {
    // CHECK: %[[SHIFTED:.*]] = arith.addi %[[J]], %{{.*}} : index
    // CHECK: tile.store %{{.*}}, %{{.*}}[%[[I]], %[[SHIFTED]]]
    tile.parallel (%i, %j) in (32, 8) {
      %below = arith.cmpi sgt, %c16, %i : index
      %above = arith.cmpi sgt, %j, %c2 : index
      %both = arith.andi %below, %above : i1
      scf.if %both {
        tile.store %x, %A[%i, %j] : memref<32x8xf32, #tile.space<global>>
      }
    }
    // An iteration that does something stays: another way, another statement, a bound that is no number.
    // CHECK: tile.parallel (%{{.*}}) in (32) {
    tile.parallel (%i) in (32) {
      %below = arith.cmpi slt, %i, %c16 : index
      scf.if %below {
        tile.store %x, %A[%i, %c1] : memref<32x8xf32, #tile.space<global>>
      } else {
        tile.store %x, %A[%i, %c2] : memref<32x8xf32, #tile.space<global>>
      }
    }
    // CHECK: tile.parallel (%{{.*}}) in (32) {
    tile.parallel (%i) in (32) {
      %below = arith.cmpi slt, %i, %c16 : index
      scf.if %below {
        tile.store %x, %A[%i, %c1] : memref<32x8xf32, #tile.space<global>>
      }
      tile.store %x, %A[%i, %c2] : memref<32x8xf32, #tile.space<global>>
    }
    // CHECK: tile.parallel (%{{.*}}) in (32) {
    tile.parallel (%i) in (32) {
      %below = arith.cmpi slt, %i, %bx : index
      scf.if %below {
        tile.store %x, %A[%i, %c1] : memref<32x8xf32, #tile.space<global>>
      }
    }
    // Of two branches, each leaves other iterations.
    // CHECK: tile.parallel (%{{.*}}) in (32) {
    tile.parallel (%i) in (32) {
      %above = arith.cmpi sge, %i, %c16 : index
      scf.if %above {
        tile.store %x, %A[%i, %c2] : memref<32x8xf32, #tile.space<global>>
      }
      %below = arith.cmpi slt, %i, %c16 : index
      scf.if %below {
        tile.store %x, %A[%i, %c1] : memref<32x8xf32, #tile.space<global>>
      }
    }
    // Nothing is left.
    // CHECK: tile.parallel (%{{.*}}) in (0) {
    tile.parallel (%i) in (8) {
      %never = arith.cmpi sge, %i, %c16 : index
      scf.if %never {
        tile.store %x, %A[%i, %c1] : memref<32x8xf32, #tile.space<global>>
      }
    }
  }
  return
}
