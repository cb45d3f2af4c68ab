// RUN: tw-opt %s -tile-guard-blocks | FileCheck %s
// Blocks that race are an error of each launch that has them.

!A = memref<?x64xf32, #tile.space<global>>
!B = memref<64xf32, #tile.space<global>>

// CHECK-LABEL: func.func @as_many_as_a_launch_has
func.func @as_many_as_a_launch_has(%A: !A {tile.name = "A"}, %B: !B {tile.name = "B"}, %n: index) {
  // CHECK: tile.kernel
  // CHECK: %[[ONE:.*]] = arith.constant 1
  // CHECK: %[[HOLDS:.*]] = arith.cmpi sle, %arg2, %[[ONE]]
  // CHECK: tile.assert %[[HOLDS]], "blocks (0) and (1) both write 'B'[0], each with a value of its own; index it by the block, or use T.atomic_add"
  tile.kernel (%bx) in (%n) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    tile.copy %row, %B : !B to !B
  }
  return
}

// CHECK-LABEL: func.func @third_block
func.func @third_block(%A: !A {tile.name = "A"}, %B: !B {tile.name = "B"}, %n: index) {
  %c1 = arith.constant 1 : index
  // CHECK: tile.kernel
  // CHECK: %[[TWO:.*]] = arith.constant 2
  // CHECK: arith.cmpi sle, %arg2, %[[TWO]]
  // CHECK: tile.assert {{.*}} "blocks (1) and (2) both write
  tile.kernel (%bx) in (%n) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    %later = arith.cmpi sge, %bx, %c1 : index
    scf.if %later {
      tile.copy %row, %B : !B to !B
    }
  }
  return
}

// A row for each block; updates; constant grids are refused when the program is compiled.
// CHECK-LABEL: func.func @no_assertion
func.func @no_assertion(%A: !A {tile.name = "A"}, %B: !B {tile.name = "B"}, %C: !A {tile.name = "C"},
                        %n: index) {
  // CHECK-NOT: tile.assert
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%n) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    %own = tile.slice %C[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    tile.copy %row, %own : !B to !B
    tile.atomic add %row, %B : !B, !B
  }
  tile.kernel (%bx) in (%c8) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    tile.copy %row, %B : !B to !B
  }
  return
}
