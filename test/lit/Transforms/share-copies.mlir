// RUN: tw-opt %s -tile-share-copies -tile-check-schedule -verify-diagnostics | FileCheck %s
// One block of a cluster copies what all of them, or those that the program names, read in the same iterations.

!row = memref<2xi64, #tile.space<shared>>
!tile = memref<2x128xf32, #tile.space<shared>>
!big = memref<2x16384xf32, #tile.space<shared>>
!one = memref<128xf32, #tile.space<shared>>
!t = memref<1024xf32, #tile.space<global>>
!count = memref<i64, #tile.space<local>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

// A is the same for both blocks along x, B is not; both versions are released together.
// CHECK-LABEL: func.func @shared
// CHECK: tile.barrier_alloc "empty" arrivals [4, 4]
// CHECK: tile.barrier_arrive %empty{{.*}} {tile.multicast = array<i64: 0>}
// CHECK: tile.role "producer"
// CHECK: tile.barrier_wait %empty{{.*}} {tile.multicast = array<i64: 0>}
// CHECK: tile.parallel {{.*}} tile.multicast = array<i64: 0>
// CHECK: tile.parallel
// CHECK-NOT: tile.multicast
func.func @shared(%A: !t, %B: !t, %C: !one, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx, %by) in (%c2, %c2) threads [64] attributes {tile.cluster = array<i64: 2, 1, 1>} {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %a = tile.alloc "a" {tile.versions = 2 : i64} : !big
    %b = tile.alloc "b" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !big to !one
      %y = tile.slice %b[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
      tile.copy %x, %y : !one to !one
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !big to !one
          // expected-remark @below {{a: one of 2 blocks copies it for all of them (multicast); predicted: 1040 cycles an iteration, 2064 if each copied its own; they pass through copies}}
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %j = arith.addi %i, %by : index
            %e = tile.load %A[%j] : !t
            tile.store %e, %x[%i] : !one
          }
          %y = tile.slice %b[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
          // expected-remark @below {{b: each block of the cluster copies its own}}
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %j = arith.addi %i, %bx : index
            %e = tile.load %B[%j] : !t
            tile.store %e, %y[%i] : !one
          }
        }
      }
    }
  }
  return
}

// Small tiles take the time that they are under way, and that gets longer: each block copies its own.
// CHECK-LABEL: func.func @latency
// CHECK-NOT: tile.multicast
func.func @latency(%A: !t, %B: !t, %C: !one, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx, %by) in (%c2, %c2) threads [64] attributes {tile.cluster = array<i64: 2, 1, 1>} {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %a = tile.alloc "a" {tile.versions = 2 : i64} : !tile
    %b = tile.alloc "b" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
      %y = tile.slice %b[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
      tile.copy %x, %y : !one to !one
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
          // expected-remark @below {{a: each block of the cluster copies its own; predicted: 236 cycles an iteration, 327 if one copied for all}}
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %j = arith.addi %i, %by : index
            %e = tile.load %A[%j] : !t
            tile.store %e, %x[%i] : !one
          }
          %y = tile.slice %b[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
          // expected-remark @below {{b: each block of the cluster copies its own}}
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %j = arith.addi %i, %bx : index
            %e = tile.load %B[%j] : !t
            tile.store %e, %y[%i] : !one
          }
        }
      }
    }
  }
  return
}

// Blocks that run different iterations share nothing.
// CHECK-LABEL: func.func @uneven
// CHECK: tile.barrier_alloc "empty" arrivals [2, 2]
// CHECK-NOT: tile.multicast
func.func @uneven(%A: !t, %C: !one) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c2) threads [64] attributes {tile.cluster = array<i64: 2, 1, 1>} {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %a = tile.alloc "a" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %bx stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
      tile.copy %x, %x : !one to !one
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %bx stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %bx on %full[%v] : !row {
          %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
          // expected-remark @below {{a: each block of the cluster copies its own}}
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %e = tile.load %A[%i] : !t
            tile.store %e, %x[%i] : !one
          }
        }
      }
    }
  }
  return
}

// A variable counts as far as the block's number: what it selects differs.
// CHECK-LABEL: func.func @counted
// CHECK-NOT: tile.multicast
func.func @counted(%A: !t, %C: !one, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i64
  %step = arith.constant 1 : i64
  tile.kernel (%bx) in (%c2) threads [64] attributes {tile.cluster = array<i64: 2, 1, 1>} {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %a = tile.alloc "a" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
      tile.copy %x, %x : !one to !one
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {
      %t = tile.alloc "t" : !count
      tile.store %zero, %t[] : !count
      scf.while : () -> () {
        %now = tile.load %t[] : !count
        %last = arith.index_cast %bx : index to i64
        %more = arith.cmpi slt, %now, %last : i64
        scf.condition(%more)
      } do {
        %was = tile.load %t[] : !count
        %next = arith.addi %was, %step : i64
        tile.store %next, %t[] : !count
        scf.yield
      }
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        %count = tile.load %t[] : !count
        %from = arith.index_cast %count : i64 to index
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
          // expected-remark @below {{a: each block of the cluster copies its own}}
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %j = arith.addi %i, %from : index
            %e = tile.load %A[%j] : !t
            tile.store %e, %x[%i] : !one
          }
        }
      }
    }
  }
  return
}

// Blocks with other numbers than the cluster's.
// CHECK-LABEL: func.func @renumbered
// CHECK-NOT: tile.multicast
func.func @renumbered(%A: !t, %C: !one, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // expected-remark @below {{the blocks of a cluster copy nothing for each other: T.use_swizzle renumbers the blocks}}
  tile.kernel (%bx, %by) in (%c2, %c2) threads [64] attributes {tile.cluster = array<i64: 2, 1, 1>} {
    tile.use_swizzle panel 2 row
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %a = tile.alloc "a" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
      tile.copy %x, %x : !one to !one
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %e = tile.load %A[%i] : !t
            tile.store %e, %x[%i] : !one
          }
        }
      }
    }
  }
  return
}

// The program names the blocks: ranks 0 and 1 of four read what rank 0 would, the others their own, all from the same
// place on. The copy stands in front of every other use of its memory, so nothing has to be released.
// CHECK-LABEL: func.func @named_blocks
// CHECK: tile.parallel {{.*}} tile.cluster_mask = 3 : i64{{.*}} tile.multicast = array<i64: 0>
func.func @named_blocks(%A: !t, %C: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [64] attributes {tile.cluster = array<i64: 4, 1, 1>} {
    %full = tile.barrier_alloc "full" arrivals [1] : memref<1xi64, #tile.space<shared>>
    %a = tile.alloc "a" {tile.offset = 0 : i64} : !one
    %rank = tile.floormod %bx, %c4 : index
    %cluster = tile.floordiv %bx, %c4 : index
    %base = arith.muli %cluster, %c4 : index
    %far = arith.subi %rank, %c1 : index
    %from = arith.maxsi %far, %c0 : index
    %outside = arith.minsi %from, %c1 : index
    %own = arith.muli %rank, %outside : index
    %theirs = arith.addi %base, %own : index
    %row = arith.muli %theirs, %c8 : index
    %start = arith.addi %row, %n : index
    %x = tile.slice %A[%start] [128] [1] : !t to memref<128xf32, #tile.space<global>>
    tile.async_group %c0 below %c1 on %full[%c0] : memref<1xi64, #tile.space<shared>> {
      // expected-remark @below {{a: one of 2 blocks copies it for all of them (multicast)}}
      tile.parallel (%i) in (128) attributes {tile.bulk = #bulk, tile.cluster_mask = 3 : i64} {
        %e = tile.load %x[%i] : memref<128xf32, #tile.space<global>>
        tile.store %e, %a[%i] : !one
      }
    }
    tile.barrier_wait %full[%c0] parity %c0 : memref<1xi64, #tile.space<shared>>
  }
  return
}

// A block of the mask that reads something else copies for itself; so does one whose memory was in use.
// CHECK-LABEL: func.func @each_its_own
// CHECK-NOT: tile.multicast
func.func @each_its_own(%A: !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c8) threads [64] attributes {tile.cluster = array<i64: 4, 1, 1>} {
    %full = tile.barrier_alloc "full" arrivals [1] : memref<1xi64, #tile.space<shared>>
    %other = tile.barrier_alloc "other" arrivals [1] : memref<1xi64, #tile.space<shared>>
    %a = tile.alloc "a" {tile.offset = 0 : i64} : !one
    %b = tile.alloc "b" {tile.offset = 256 : i64} : !one
    tile.async_group %c0 below %c1 on %full[%c0] : memref<1xi64, #tile.space<shared>> {
      // expected-remark @below {{a: each block of the cluster copies its own}}
      tile.parallel (%i) in (128) attributes {tile.bulk = #bulk, tile.cluster_mask = 3 : i64} {
        %j = arith.addi %i, %bx : index
        %e = tile.load %A[%j] : !t
        tile.store %e, %a[%i] : !one
      }
    }
    tile.barrier_wait %full[%c0] parity %c0 : memref<1xi64, #tile.space<shared>>
    tile.async_group %c0 below %c1 on %other[%c0] : memref<1xi64, #tile.space<shared>> {
      tile.parallel (%i) in (128) attributes {tile.bulk = #bulk, tile.cluster_mask = 3 : i64} {
        %e = tile.load %A[%i] : !t
        tile.store %e, %b[%i] : !one
      }
    }
    tile.barrier_wait %other[%c0] parity %c0 : memref<1xi64, #tile.space<shared>>
  }
  return
}

// The blocks read the same, but keep it in other places.
// CHECK-LABEL: func.func @other_places
// CHECK-NOT: tile.multicast
func.func @other_places(%A: !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [64] attributes {tile.cluster = array<i64: 4, 1, 1>} {
    %full = tile.barrier_alloc "full" arrivals [1] : memref<1xi64, #tile.space<shared>>
    %a = tile.alloc "a" {tile.offset = 0 : i64} : !tile
    %row = tile.floormod %bx, %c2 : index
    %x = tile.slice %a[%row, 0] [1, 128] [1, 1] drop [0] : !tile to !one
    tile.async_group %c0 below %c1 on %full[%c0] : memref<1xi64, #tile.space<shared>> {
      // expected-remark @below {{a: each block of the cluster copies its own}}
      tile.parallel (%i) in (128) attributes {tile.bulk = #bulk, tile.cluster_mask = 3 : i64} {
        %e = tile.load %A[%i] : !t
        tile.store %e, %x[%i] : !one
      }
    }
    tile.barrier_wait %full[%c0] parity %c0 : memref<1xi64, #tile.space<shared>>
  }
  return
}

// How often a loop on a condition runs may differ between blocks.
// CHECK-LABEL: func.func @while_a_number_holds
// CHECK: tile.barrier_alloc "empty" arrivals [2, 2]
// CHECK-NOT: tile.multicast
func.func @while_a_number_holds(%A: !t, %I: memref<2xi32, #tile.space<global>>, %C: !one, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  tile.kernel (%bx) in (%c2) threads [64] attributes {tile.cluster = array<i64: 2, 1, 1>} {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %a = tile.alloc "a" {tile.versions = 2 : i64} : !big
    scf.while : () -> () {
      %number = tile.load %I[%bx] : memref<2xi32, #tile.space<global>>
      %more = arith.cmpi ne, %number, %zero : i32
      scf.condition(%more)
    } do {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 0 of 2
        tile.barrier_wait %full[%v] parity %p : !row
        %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !big to !one
        tile.copy %x, %x : !one to !one
        tile.barrier_arrive %empty[%v] by_warp : !row
      }
      scf.yield
    }
    tile.role "producer" threads 32 {
      scf.while : () -> () {
        %number = tile.load %I[%bx] : memref<2xi32, #tile.space<global>>
        %more = arith.cmpi ne, %number, %zero : i32
        scf.condition(%more)
      } do {
        tile.pipelined %k = %c0 to %n stages 2 {
          %v = tile.version %k from %c0 ahead 0 of 2
          %p = tile.phase %k from %c0 ahead 2 of 2
          tile.barrier_wait %empty[%v] parity %p : !row
          tile.async_group %k below %n on %full[%v] : !row {
            %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !big to !one
            // expected-remark @below {{a: each block of the cluster copies its own}}
            tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
              %e = tile.load %A[%i] : !t
              tile.store %e, %x[%i] : !one
            }
          }
        }
        scf.yield
      }
    }
  }
  return
}
