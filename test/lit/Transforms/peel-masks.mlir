// RUN: tw-opt %s -tile-peel-masks 2>/dev/null | FileCheck %s
// A loop with products is split where a mask can first fail; the first half does not test.

!row = memref<2xi64, #tile.space<shared>>
!tile = memref<64x64xf16, #tile.space<shared>>
!sums = memref<128x64xf32, #tile.space<fragment>>

// Rows 128 bx + i, columns 64 k + j: all of tile k passes while 64 k <= 128 bx - 63.
// CHECK-LABEL: func.func @causal
// CHECK: %[[SUM:.*]] = arith.addi
// CHECK: %[[BOUND:.*]] = tile.floordiv %[[SUM]], %{{.*}}
// CHECK: %[[LEAST:.*]] = arith.minsi %[[N:.*]], %[[BOUND]]
// CHECK: %[[SPLIT:.*]] = arith.maxsi %[[LOWER:.*]], %[[LEAST]]
// CHECK: tile.pipelined %{{.*}} = %[[LOWER]] to %[[SPLIT]] stages 2 {
// CHECK-NOT: arith.cmpi
// CHECK: arith.constant true
// CHECK: tile.gemm
// CHECK: tile.barrier_arrive
// CHECK: tile.pipelined %{{.*}} = %[[SPLIT]] to %[[N]] stages 2 {
// CHECK: arith.cmpi sge
// CHECK: tile.gemm
// CHECK: tile.role
func.func @causal(%n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  tile.kernel (%bx) in (%c4) threads [256] {
    %empty = tile.barrier_alloc "empty" arrivals [8, 8] : !row
    %a = tile.alloc "a" : memref<128x64xf16, #tile.space<shared>>
    %b = tile.alloc "b" : !tile
    %s = tile.alloc "s" : !sums
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    tile.pipelined %k = %c0 to %n stages 2 {
      tile.parallel (%i, %j) in (128, 64) {
        %r = arith.muli %bx, %c128 : index
        %row = arith.addi %r, %i : index
        %q = arith.muli %k, %c64 : index
        %column = arith.addi %q, %j : index
        %holds = arith.cmpi sge, %row, %column : index
        %x = arith.select %holds, %zero, %one : f32
        tile.store %x, %s[%i, %j] : !sums
      }
      tile.gemm %a, %b, %s {tile.groups = array<i64: 2, 1>} : memref<128x64xf16, #tile.space<shared>>, !tile, !sums
      %v = tile.version %k from %c0 ahead 0 of 2
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {}
  }
  return
}

// A test that begins to hold, and one of what the iteration reads, leave the loop alone.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-1: tile.pipelined
// CHECK-NOT: tile.pipelined
// CHECK: tile.role
func.func @others(%A: memref<64xindex, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [256] {
    %empty = tile.barrier_alloc "empty" arrivals [8, 8] : !row
    %a = tile.alloc "a" : memref<128x64xf16, #tile.space<shared>>
    %b = tile.alloc "b" : !tile
    %s = tile.alloc "s" : !sums
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    tile.pipelined %k = %c0 to %n stages 2 {
      tile.parallel (%i, %j) in (128, 64) {
        %later = arith.cmpi sge, %k, %i : index
        %square = arith.muli %k, %k : index
        %other = arith.cmpi sge, %i, %square : index
        %both = arith.andi %later, %other : i1
        %x = arith.select %both, %zero, %one : f32
        tile.store %x, %s[%i, %j] : !sums
      }
      tile.gemm %a, %b, %s {tile.groups = array<i64: 2, 1>} : memref<128x64xf16, #tile.space<shared>>, !tile, !sums
      %v = tile.version %k from %c0 ahead 0 of 2
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {}
  }
  return
}
