// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline | FileCheck %s --check-prefix=PLAN
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline=roles=false | FileCheck %s --check-prefix=ALONE
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline -tile-check-plans=arch=sm_90a -tile-plan-shared-memory=arch=sm_90a -tile-split-roles -tile-insert-orderings -tile-check-schedule | FileCheck %s
// The bulk copies of a loop form a channel; where products read them, a producer issues them.

!a = memref<256x512xf16, #tile.space<global>>
!c = memref<256x256xf32, #tile.space<global>>
!tile = memref<128x64xf16, #tile.space<shared>>
!sums = memref<128x128xf32, #tile.space<fragment>>

// The copies stand where they were, after the barrier of their readers.
// PLAN-LABEL: func.func @gemm
// PLAN-DAG: %[[EMPTY:.*]] = tile.barrier_alloc "a_empty" arrivals [8, 8, 8]
// PLAN-DAG: %[[FULL:.*]] = tile.barrier_alloc "a_full" arrivals [1, 1, 1]
// PLAN-NOT: tile.async_group
// PLAN: tile.pipelined %[[K:.*]] = %[[LOWER:.*]] to
// PLAN: tile.async_group %[[K]] below %{{.*}} on %[[FULL]][%{{.*}}] : memref<3xi64, #tile.space<shared>> after %[[EMPTY]]
// PLAN-COUNT-2: tile.bulk
// PLAN: %[[PHASE:.*]] = tile.phase %[[K]] from %[[LOWER]] ahead 0 of 3
// PLAN: tile.barrier_wait %[[FULL]][%[[NOW:.*]]] parity %[[PHASE]]
// PLAN-NEXT: tile.gemm
// PLAN-NEXT: tile.barrier_arrive %[[EMPTY]][%[[NOW]]] by_warp

// Without roles, a thread of the program issues them two iterations ahead.
// ALONE-LABEL: func.func @gemm
// ALONE-NOT: _empty
// ALONE-COUNT-2: tile.async_group {{.*}} on %a_full
// ALONE: tile.pipelined
// ALONE: tile.version %{{.*}} ahead 2 of 3
// ALONE: tile.async_group {{.*}} on %a_full
// ALONE: tile.barrier_wait %a_full
// ALONE-NOT: tile.barrier_arrive

// The program's threads keep the wait and the release; the block's barrier is gone from the loop.
// CHECK-LABEL: func.func @gemm
// CHECK: tile.extra_threads = 32
// CHECK: tile.pipelined
// CHECK-NOT: tile.async_group
// CHECK-NOT: tile.barrier{{$}}
// CHECK: tile.barrier_wait %a_full
// CHECK-NEXT: tile.gemm
// CHECK-NEXT: tile.product_wait 0
// CHECK-NEXT: tile.barrier_arrive %a_empty
// CHECK: tile.role "producer" threads 32 {
// CHECK: tile.pipelined %[[K:.*]] = %[[LOWER:.*]] to %[[UPPER:.*]] stages 3 {
// CHECK: %[[V:.*]] = tile.version %[[K]] from %[[LOWER]] ahead 0 of 3
// CHECK: %[[P:.*]] = tile.phase %[[K]] from %[[LOWER]] ahead 3 of 3
// CHECK-NEXT: tile.barrier_wait %a_empty[%[[V]]] parity %[[P]]
// CHECK-NEXT: tile.async_group %[[K]] below %[[UPPER]] on %a_full[%[[V]]]
// CHECK-NOT: tile.gemm
func.func @gemm(%A: !a, %B: !a, %C: !c) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  tile.kernel (%bx, %by) in (%c2, %c2) threads [256] {
    %a = tile.alloc "a" : !tile
    %b = tile.alloc "b" : !tile
    %c = tile.alloc "c" : !sums
    %row = arith.muli %by, %c128 : index
    %column = arith.muli %bx, %c128 : index
    tile.pipelined %k = %c0 to %c8 stages 3 {
      %depth = arith.muli %k, %c64 : index
      %from = tile.slice %A[%row, %depth] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
      %other = tile.slice %B[%column, %depth] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
      tile.copy %from, %a : memref<128x64xf16, #tile.space<global>> to !tile
      tile.copy %other, %b : memref<128x64xf16, #tile.space<global>> to !tile
      tile.gemm %a, %b, %c transpose_b : !tile, !tile, !sums
    }
    %to = tile.slice %C[%row, %column] [128, 128] [1, 1] : !c to memref<128x128xf32, #tile.space<global>>
    tile.copy %c, %to : !sums to memref<128x128xf32, #tile.space<global>>
  }
  return
}

// A loop inside another goes on counting: both roles have a variable of their own.
// CHECK-LABEL: func.func @rounds
// CHECK: tile.alloc "iterations" {tile.iteration_count}
// CHECK: scf.for
// CHECK: tile.barrier_wait %a_full
// CHECK: tile.role "producer"
// CHECK: tile.alloc "iterations" {tile.iteration_count}
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.pipelined
// CHECK: tile.store
func.func @rounds(%A: !a, %B: !a, %C: !c, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c1, %c1) threads [256] {
    %a = tile.alloc "a" : !tile
    %b = tile.alloc "b" : !tile
    %c = tile.alloc "c" : !sums
    scf.for %i = %c0 to %n step %c1 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %depth = arith.muli %k, %c64 : index
        %from = tile.slice %A[%i, %depth] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
        %other = tile.slice %B[%i, %depth] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
        tile.copy %from, %a : memref<128x64xf16, #tile.space<global>> to !tile
        tile.copy %other, %b : memref<128x64xf16, #tile.space<global>> to !tile
        tile.gemm %a, %b, %c transpose_b : !tile, !tile, !sums
      }
    }
    %to = tile.slice %C[0, 0] [128, 128] [1, 1] : !c to memref<128x128xf32, #tile.space<global>>
    tile.copy %c, %to : !sums to memref<128x128xf32, #tile.space<global>>
  }
  return
}

// A loop over a variable: the producer has one of its own, which it sets as the program does.
// CHECK-LABEL: func.func @variable
// CHECK: tile.role "producer" threads 32 {
// CHECK: %[[OWN:.*]] = tile.alloc "tile" : memref<i64, #tile.space<local>>
// CHECK: tile.store %{{.*}}, %[[OWN]][]
// CHECK: scf.while
// CHECK: tile.load %[[OWN]][]
// CHECK: scf.condition
// CHECK: tile.load %[[OWN]][]
// CHECK: tile.pipelined
// CHECK: tile.async_group
// CHECK: tile.load %[[OWN]][]
// CHECK: tile.store %{{.*}}, %[[OWN]][]
func.func @variable(%A: !a, %B: !a, %C: !c, %n: i64) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  tile.kernel (%bx) in (%c2) threads [256] {
    %a = tile.alloc "a" : !tile
    %b = tile.alloc "b" : !tile
    %c = tile.alloc "c" : !sums
    %t = tile.alloc "tile" : memref<i64, #tile.space<local>>
    tile.store %zero, %t[] : memref<i64, #tile.space<local>>
    scf.while : () -> () {
      %now = tile.load %t[] : memref<i64, #tile.space<local>>
      %more = arith.cmpi slt, %now, %n : i64
      scf.condition(%more)
    } do {
      tile.pipelined %k = %c0 to %c8 stages 3 {
        %now = tile.load %t[] : memref<i64, #tile.space<local>>
        %number = arith.index_cast %now : i64 to index
        %row = arith.muli %number, %c128 : index
        %depth = arith.muli %k, %c64 : index
        %fromA = tile.slice %A[%row, %depth] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
        tile.copy %fromA, %a : memref<128x64xf16, #tile.space<global>> to !tile
        %fromB = tile.slice %B[0, %depth] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
        tile.copy %fromB, %b : memref<128x64xf16, #tile.space<global>> to !tile
        tile.gemm %a, %b, %c transpose_b : !tile, !tile, !sums
      }
      %now = tile.load %t[] : memref<i64, #tile.space<local>>
      %next = arith.addi %now, %one : i64
      tile.store %next, %t[] : memref<i64, #tile.space<local>>
      scf.yield
    }
    %to = tile.slice %C[0, 0] [128, 128] [1, 1] : !c to memref<128x128xf32, #tile.space<global>>
    tile.copy %c, %to : !sums to memref<128x128xf32, #tile.space<global>>
  }
  return
}

// A loop as long as a number that the block has computed: no producer knows it.
// CHECK-LABEL: func.func @computed_bound
// CHECK-NOT: tile.role
func.func @computed_bound(%A: !a, %B: !a, %C: !c, %x: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c1, %c1) threads [256] {
    %a = tile.alloc "a" : !tile
    %b = tile.alloc "b" : !tile
    %c = tile.alloc "c" : !sums
    %count = tile.alloc "count" : memref<1xi64, #tile.space<shared>>
    tile.fill %x, %count : i64, memref<1xi64, #tile.space<shared>>
    %number = tile.load %count[%c0] : memref<1xi64, #tile.space<shared>>
    %n = arith.index_cast %number : i64 to index
    tile.pipelined %k = %c0 to %n stages 2 {
      %depth = arith.muli %k, %c64 : index
      %from = tile.slice %A[0, %depth] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
      %other = tile.slice %B[0, %depth] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
      tile.copy %from, %a : memref<128x64xf16, #tile.space<global>> to !tile
      tile.copy %other, %b : memref<128x64xf16, #tile.space<global>> to !tile
      tile.gemm %a, %b, %c transpose_b : !tile, !tile, !sums
    }
    %to = tile.slice %C[0, 0] [128, 128] [1, 1] : !c to memref<128x128xf32, #tile.space<global>>
    tile.copy %c, %to : !sums to memref<128x128xf32, #tile.space<global>>
  }
  return
}
