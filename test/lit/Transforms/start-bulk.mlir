// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline -tile-start-bulk=arch=sm_90a 2>/dev/null | FileCheck %s
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline -tile-start-bulk=arch=sm_90a 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// Copies into shared memory outside of pipelines: one group on a barrier of its own, and a wait in front of the
// first statement that reads a tile.

!a = memref<256x64xf32, #tile.space<global>>
!piece = memref<64x64xf32, #tile.space<global>>
!tile = memref<64x64xf32, #tile.space<shared>>
!sums = memref<64x64xf32, #tile.space<fragment>>

// Two copies in a row share the barrier; the fill of another buffer runs meanwhile.
// CHECK-LABEL: func.func @once
// CHECK: %[[FULL:.*]] = tile.barrier_alloc "s_full" arrivals [1]
// CHECK: tile.async_group %{{.*}} below %{{.*}} on %[[FULL]][%[[ZERO:.*]]]
// CHECK-NEXT: tile.parallel {{.*}}tile.{{bulk|span}} =
// CHECK: tile.parallel {{.*}}tile.{{bulk|span}} =
// CHECK: tile.parallel
// CHECK: tile.barrier_wait %[[FULL]][%[[ZERO]]] parity %[[ZERO]]
// CHECK-NEXT: tile.parallel
// CHECK: tile.load %s
// CHECK-NOT: tile.barrier_wait
func.func @once(%A: !a, %B: !a, %C: !piece) {
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c4) threads [128] {
    %s = tile.alloc "s" : !tile
    %t = tile.alloc "t" : !tile
    %c = tile.alloc "c" : !sums
    %row = arith.muli %bx, %c64 : index
    %from = tile.slice %A[%row, 0] [64, 64] [1, 1] : !a to !piece
    tile.copy %from, %s : !piece to !tile
    %other = tile.slice %B[%row, 0] [64, 64] [1, 1] : !a to !piece
    tile.copy %other, %t : !piece to !tile
    tile.fill %zero, %c : f32, !sums
    tile.parallel (%i, %j) in (64, 64) {
      %x = tile.load %s[%i, %j] : !tile
      %y = tile.load %t[%j, %i] : !tile
      %sum = arith.addf %x, %y : f32
      tile.store %sum, %c[%i, %j] : !sums
    }
    tile.copy %c, %C : !sums to !piece
  }
  return
}

// In a loop a variable holds the parity, and each time flips it.
// CHECK-LABEL: func.func @again
// CHECK: %[[PARITY:.*]] = tile.alloc "parity"
// CHECK: scf.for
// CHECK: tile.async_group
// CHECK: %[[NOW:.*]] = tile.load %[[PARITY]][]
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[NOW]]
// CHECK: tile.barrier_wait %{{.*}} parity %[[INDEX]]
// CHECK: %[[NEXT:.*]] = arith.xori %[[NOW]]
// CHECK: tile.store %[[NEXT]], %[[PARITY]][]
// CHECK: tile.load %s
func.func @again(%A: !a, %C: !piece) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !tile
    %c = tile.alloc "c" : !sums
    tile.fill %zero, %c : f32, !sums
    scf.for %r = %c0 to %c4 step %c1 {
      %row = arith.muli %r, %c64 : index
      %from = tile.slice %A[%row, 0] [64, 64] [1, 1] : !a to !piece
      tile.copy %from, %s : !piece to !tile
      tile.parallel (%i, %j) in (64, 64) {
        %x = tile.load %s[%j, %i] : !tile
        %y = tile.load %c[%i, %j] : !sums
        %sum = arith.addf %x, %y : f32
        tile.store %sum, %c[%i, %j] : !sums
      }
    }
    tile.copy %c, %C : !sums to !piece
  }
  return
}

// Copies of which each fills a row would wait for each other.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: tile.async_group
// REMARK: remark: s: not copied by TMA: no statement after it reads 's' in the same block
func.func @rows(%A: !a, %C: !piece) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !tile
    tile.annotate_layout %s : !tile is #tile.layout<[64, 64], "(i, j) -> (i, j)">
    scf.for %r = %c0 to %c64 step %c1 {
      %from = tile.slice %A[%r, 0] [1, 64] [1, 1] : !a to memref<1x64xf32, #tile.space<global>>
      %to = tile.slice %s[%r, 0] [1, 64] [1, 1] : !tile to memref<1x64xf32, #tile.space<shared>>
      tile.copy %from, %to : memref<1x64xf32, #tile.space<global>> to memref<1x64xf32, #tile.space<shared>>
    }
    tile.parallel (%i, %j) in (64, 64) {
      %x = tile.load %s[%j, %i] : !tile
      tile.store %x, %C[%i, %j] : !piece
    }
  }
  return
}
