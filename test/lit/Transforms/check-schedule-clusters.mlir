// RUN: tw-opt %s -tile-check-schedule -split-input-file -verify-diagnostics
// Blocks of a cluster that copy for each other, right once and then broken in each part of that.

!row = memref<2xi64, #tile.space<shared>>
!tile = memref<2x128xf32, #tile.space<shared>>
!one = memref<128xf32, #tile.space<shared>>
!t = memref<1024xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @right(%A: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c2) threads [64] attributes {tile.cluster = array<i64: 2, 1, 1>} {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [4, 4] : !row
    %a = tile.alloc "a" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
      tile.copy %x, %x : !one to !one
      tile.barrier_arrive %empty[%v] by_warp {tile.multicast = array<i64: 0>} : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p {tile.multicast = array<i64: 0>} : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk, tile.multicast = array<i64: 0>} {
            %e = tile.load %A[%i] : !t
            tile.store %e, %x[%i] : !one
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<2xi64, #tile.space<shared>>
!tile = memref<2x128xf32, #tile.space<shared>>
!one = memref<128xf32, #tile.space<shared>>
!t = memref<1024xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @count(%A: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
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
      // expected-error @below {{internal error: the schedule is wrong: barriers expect another number of arrivals than come}}
      tile.barrier_arrive %empty[%v] by_warp {tile.multicast = array<i64: 0>} : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p {tile.multicast = array<i64: 0>} : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk, tile.multicast = array<i64: 0>} {
            %e = tile.load %A[%i] : !t
            tile.store %e, %x[%i] : !one
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<2xi64, #tile.space<shared>>
!tile = memref<2x128xf32, #tile.space<shared>>
!one = memref<128xf32, #tile.space<shared>>
!t = memref<1024xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @release_of_one_block(%A: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c2) threads [64] attributes {tile.cluster = array<i64: 2, 1, 1>} {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [4, 4] : !row
    %a = tile.alloc "a" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
      tile.copy %x, %x : !one to !one
      // expected-error @below {{internal error: the schedule is wrong: other blocks release a version than those that wait}}
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p {tile.multicast = array<i64: 0>} : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk, tile.multicast = array<i64: 0>} {
            %e = tile.load %A[%i] : !t
            tile.store %e, %x[%i] : !one
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<2xi64, #tile.space<shared>>
!tile = memref<2x128xf32, #tile.space<shared>>
!one = memref<128xf32, #tile.space<shared>>
!t = memref<1024xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @wait_for_one_block(%A: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
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
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
          // expected-error @below {{internal error: the schedule is wrong: a block copies for another one that it does not wait for}}
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk, tile.multicast = array<i64: 0>} {
            %e = tile.load %A[%i] : !t
            tile.store %e, %x[%i] : !one
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<2xi64, #tile.space<shared>>
!tile = memref<2x128xf32, #tile.space<shared>>
!one = memref<128xf32, #tile.space<shared>>
!t = memref<1024xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @another_box(%A: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c2) threads [64] attributes {tile.cluster = array<i64: 2, 1, 1>} {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [4, 4] : !row
    %a = tile.alloc "a" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
      tile.copy %x, %x : !one to !one
      tile.barrier_arrive %empty[%v] by_warp {tile.multicast = array<i64: 0>} : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p {tile.multicast = array<i64: 0>} : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
          // expected-error @below {{internal error: the schedule is wrong: a block copies for another one that needs something else}}
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk, tile.multicast = array<i64: 0>} {
            %e = tile.load %A[%bx] : !t
            tile.store %e, %x[%i] : !one
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<2xi64, #tile.space<shared>>
!tile = memref<2x128xf32, #tile.space<shared>>
!one = memref<128xf32, #tile.space<shared>>
!t = memref<1024xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @other_iterations(%A: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c2) threads [64] attributes {tile.cluster = array<i64: 2, 1, 1>} {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [4, 4] : !row
    %a = tile.alloc "a" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %bx stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
      tile.copy %x, %x : !one to !one
      tile.barrier_arrive %empty[%v] by_warp {tile.multicast = array<i64: 0>} : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %bx stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p {tile.multicast = array<i64: 0>} : !row
        // expected-error @below {{internal error: the schedule is wrong: blocks copy for each other, but not in the same iterations}}
        tile.async_group %k below %bx on %full[%v] : !row {
          %x = tile.slice %a[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !one
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk, tile.multicast = array<i64: 0>} {
            %e = tile.load %A[%i] : !t
            tile.store %e, %x[%i] : !one
          }
        }
      }
    }
  }
  return
}
