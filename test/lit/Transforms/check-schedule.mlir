// RUN: tw-opt %s -tile-check-schedule -split-input-file -verify-diagnostics
// A schedule of two roles, right once and then broken in each of its parts.

!row = memref<2xi64, #tile.space<shared>>
!tile = memref<2x128xf32, #tile.space<shared>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @right(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : memref<128xf32, #tile.space<shared>>
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
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @counts(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [64, 64] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      // expected-error @below {{internal error: the schedule is wrong: barriers expect another number of arrivals than come}}
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : memref<128xf32, #tile.space<shared>>
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
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @parity_of_a_reader(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 2 of 2
      // expected-error @below {{internal error: the schedule is wrong: it waits for the phase of another round}}
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : memref<128xf32, #tile.space<shared>>
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
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @parity_of_the_producer(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 0 of 2
        // expected-error @below {{internal error: the schedule is wrong: it waits for the phase of another round}}
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : memref<128xf32, #tile.space<shared>>
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
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @no_acquire(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        // expected-error @below {{internal error: the schedule is wrong: it does not wait until its version has been read}}
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : memref<128xf32, #tile.space<shared>>
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
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @no_release(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        // expected-error @below {{internal error: the schedule is wrong: nothing releases what it waits for}}
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : memref<128xf32, #tile.space<shared>>
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
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @other_version(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      // expected-error @below {{internal error: the schedule is wrong: it releases another version than was waited for}}
      tile.barrier_arrive %empty[%c0] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : memref<128xf32, #tile.space<shared>>
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
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @read_after_release(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      tile.barrier_arrive %empty[%v] by_warp : !row
      // expected-error @below {{internal error: the schedule is wrong: it touches 's' outside of the wait for it and its release}}
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : memref<128xf32, #tile.space<shared>>
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
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @other_bounds(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {
      // expected-error @below {{internal error: the schedule is wrong: its bounds differ from those of the readers}}
      tile.pipelined %k = %c0 to %c1 stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %c1 on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : memref<128xf32, #tile.space<shared>>
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
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @twice(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      // expected-error @below {{internal error: the schedule is wrong: a version is released twice in an iteration}}
      tile.barrier_arrive %empty[%v] by_warp : !row
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : memref<128xf32, #tile.space<shared>>
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x64x64xf16, #tile.space<shared>>
!now = memref<64x64xf16, #tile.space<shared>>
!sums = memref<64x64xf32, #tile.space<fragment>>
#bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 0 origins = [0, 0] offsets = [0]>

func.func @released_an_iteration_later(%A: memref<64x1024xf16, #tile.space<global>>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [4, 4, 4] : !row
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
    %c = tile.alloc "c" : !sums
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %v0 = tile.version %c0 from %c0 ahead 0 of 3
      %p0 = tile.phase %c0 from %c0 ahead 0 of 3
      tile.barrier_wait %full[%v0] parity %p0 : !row
      %first = tile.slice %s[%v0, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
      tile.gemm %first, %first, %c {tile.async, tile.groups = array<i64: 1, 1>} : !now, !now, !sums
      tile.pipelined %k = %c1 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 0 of 3
        tile.barrier_wait %full[%v] parity %p : !row
        %now = tile.slice %s[%v, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
        tile.gemm %now, %now, %c {tile.async, tile.groups = array<i64: 1, 1>} : !now, !now, !sums
        tile.product_wait 1 for %c : !sums
        %before = tile.version %k from %c0 ahead 2 of 3
        tile.barrier_arrive %empty[%before] by_warp : !row
      }
      tile.product_wait 0 for %c : !sums
      %lv = tile.version %n from %c0 ahead 2 of 3
      tile.barrier_arrive %empty[%lv] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
          tile.parallel (%i, %j) in (64, 64) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i, %j] : memref<64x1024xf16, #tile.space<global>>
            tile.store %x, %to[%i, %j] : !now
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x64x64xf16, #tile.space<shared>>
!now = memref<64x64xf16, #tile.space<shared>>
!sums = memref<64x64xf32, #tile.space<fragment>>
#bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 0 origins = [0, 0] offsets = [0]>

func.func @not_ended(%A: memref<64x1024xf16, #tile.space<global>>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [4, 4, 4] : !row
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
    %c = tile.alloc "c" : !sums
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %v0 = tile.version %c0 from %c0 ahead 0 of 3
      %p0 = tile.phase %c0 from %c0 ahead 0 of 3
      tile.barrier_wait %full[%v0] parity %p0 : !row
      %first = tile.slice %s[%v0, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
      // expected-error @below {{internal error: the schedule is wrong: it may still read 's' when that is released}}
      tile.gemm %first, %first, %c {tile.async, tile.groups = array<i64: 1, 1>} : !now, !now, !sums
      tile.pipelined %k = %c1 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 0 of 3
        tile.barrier_wait %full[%v] parity %p : !row
        %now = tile.slice %s[%v, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
        tile.gemm %now, %now, %c {tile.async, tile.groups = array<i64: 1, 1>} : !now, !now, !sums
        tile.product_wait 2 for %c : !sums
        %before = tile.version %k from %c0 ahead 2 of 3
        tile.barrier_arrive %empty[%before] by_warp : !row
      }
      tile.product_wait 0 for %c : !sums
      %lv = tile.version %n from %c0 ahead 2 of 3
      tile.barrier_arrive %empty[%lv] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
          tile.parallel (%i, %j) in (64, 64) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i, %j] : memref<64x1024xf16, #tile.space<global>>
            tile.store %x, %to[%i, %j] : !now
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x64x64xf16, #tile.space<shared>>
!now = memref<64x64xf16, #tile.space<shared>>
!sums = memref<64x64xf32, #tile.space<fragment>>
#bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 0 origins = [0, 0] offsets = [0]>

func.func @last_version_kept(%A: memref<64x1024xf16, #tile.space<global>>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [4, 4, 4] : !row
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
    %c = tile.alloc "c" : !sums
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %v0 = tile.version %c0 from %c0 ahead 0 of 3
      %p0 = tile.phase %c0 from %c0 ahead 0 of 3
      tile.barrier_wait %full[%v0] parity %p0 : !row
      %first = tile.slice %s[%v0, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
      tile.gemm %first, %first, %c {tile.async, tile.groups = array<i64: 1, 1>} : !now, !now, !sums
      tile.pipelined %k = %c1 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 0 of 3
        tile.barrier_wait %full[%v] parity %p : !row
        %now = tile.slice %s[%v, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
        tile.gemm %now, %now, %c {tile.async, tile.groups = array<i64: 1, 1>} : !now, !now, !sums
        tile.product_wait 1 for %c : !sums
        %before = tile.version %k from %c0 ahead 2 of 3
        // expected-error @below {{internal error: the schedule is wrong: it is not done for the iterations of its copies}}
tile.barrier_arrive %empty[%before] by_warp : !row
      }
      tile.product_wait 0 for %c : !sums
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
          tile.parallel (%i, %j) in (64, 64) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i, %j] : memref<64x1024xf16, #tile.space<global>>
            tile.store %x, %to[%i, %j] : !now
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x64x64xf16, #tile.space<shared>>
!now = memref<64x64xf16, #tile.space<shared>>
!sums = memref<64x64xf32, #tile.space<fragment>>
#bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 0 origins = [0, 0] offsets = [0]>

func.func @may_not_exist(%A: memref<64x1024xf16, #tile.space<global>>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [4, 4, 4] : !row
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
    %c = tile.alloc "c" : !sums
    %any = arith.cmpi slt, %c0, %m : index
    scf.if %any {
      %v0 = tile.version %c0 from %c0 ahead 0 of 3
      %p0 = tile.phase %c0 from %c0 ahead 0 of 3
      // expected-error @below {{internal error: the schedule is wrong: it stands for an iteration that may not exist}}
tile.barrier_wait %full[%v0] parity %p0 : !row
      %first = tile.slice %s[%v0, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
      tile.gemm %first, %first, %c {tile.async, tile.groups = array<i64: 1, 1>} : !now, !now, !sums
      tile.pipelined %k = %c1 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 0 of 3
        tile.barrier_wait %full[%v] parity %p : !row
        %now = tile.slice %s[%v, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
        tile.gemm %now, %now, %c {tile.async, tile.groups = array<i64: 1, 1>} : !now, !now, !sums
        tile.product_wait 1 for %c : !sums
        %before = tile.version %k from %c0 ahead 2 of 3
        tile.barrier_arrive %empty[%before] by_warp : !row
      }
      tile.product_wait 0 for %c : !sums
      %lv = tile.version %n from %c0 ahead 2 of 3
      tile.barrier_arrive %empty[%lv] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
          tile.parallel (%i, %j) in (64, 64) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i, %j] : memref<64x1024xf16, #tile.space<global>>
            tile.store %x, %to[%i, %j] : !now
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x64x64xf16, #tile.space<shared>>
!now = memref<64x64xf16, #tile.space<shared>>
!sums = memref<64x64xf32, #tile.space<fragment>>
#bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 0 origins = [0, 0] offsets = [0]>

func.func @released_too_soon(%A: memref<64x1024xf16, #tile.space<global>>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [4, 4, 4] : !row
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
    %c = tile.alloc "c" : !sums
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %v0 = tile.version %c0 from %c0 ahead 0 of 3
      %p0 = tile.phase %c0 from %c0 ahead 0 of 3
      tile.barrier_wait %full[%v0] parity %p0 : !row
      %first = tile.slice %s[%v0, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
      tile.gemm %first, %first, %c {tile.async, tile.groups = array<i64: 1, 1>} : !now, !now, !sums
      tile.pipelined %k = %c1 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 0 of 3
        tile.barrier_wait %full[%v] parity %p : !row
        %now = tile.slice %s[%v, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
        tile.gemm %now, %now, %c {tile.async, tile.groups = array<i64: 1, 1>} : !now, !now, !sums
        tile.product_wait 1 for %c : !sums
        %before = tile.version %k from %c0 ahead 0 of 3
        // expected-error @below {{internal error: the schedule is wrong: it is not done for the iterations of its copies}}
tile.barrier_arrive %empty[%before] by_warp : !row
      }
      tile.product_wait 0 for %c : !sums
      %lv = tile.version %n from %c0 ahead 2 of 3
      tile.barrier_arrive %empty[%lv] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
          tile.parallel (%i, %j) in (64, 64) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i, %j] : memref<64x1024xf16, #tile.space<global>>
            tile.store %x, %to[%i, %j] : !now
          }
        }
      }
    }
  }
  return
}

// -----

// The producer's variable takes another way than the program's.
!row = memref<2xi64, #tile.space<shared>>
!tile = memref<2x128xf32, #tile.space<shared>>
!count = memref<i64, #tile.space<local>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @variables(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %m: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    %t = tile.alloc "t" : !count
    tile.store %zero, %t[] : !count
    scf.while : () -> () {
      %now = tile.load %t[] : !count
      %more = arith.cmpi slt, %now, %m : i64
      scf.condition(%more)
    } do {
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 0 of 2
        tile.barrier_wait %full[%v] parity %p : !row
        %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
        tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
        tile.barrier_arrive %empty[%v] by_warp : !row
      }
      %was = tile.load %t[] : !count
      %next = arith.addi %was, %one : i64
      tile.store %next, %t[] : !count
      scf.yield
    }
    tile.role "producer" threads 32 {
      %own = tile.alloc "t" : !count
      tile.store %zero, %own[] : !count
      // expected-error @below {{internal error: the schedule is wrong: it goes on for another time than the loop of the readers}}
      scf.while : () -> () {
        %now = tile.load %own[] : !count
        %more = arith.cmpi slt, %now, %m : i64
        scf.condition(%more)
      } do {
        tile.pipelined %k = %c0 to %n stages 2 {
          %v = tile.version %k from %c0 ahead 0 of 2
          %p = tile.phase %k from %c0 ahead 2 of 2
          tile.barrier_wait %empty[%v] parity %p : !row
          tile.async_group %k below %n on %full[%v] : !row {
            %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
            tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
              %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
              tile.store %x, %to[%i] : memref<128xf32, #tile.space<shared>>
            }
          }
        }
        %was = tile.load %own[] : !count
        %next = arith.addi %was, %two : i64
        tile.store %next, %own[] : !count
        scf.yield
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x64x64xf16, #tile.space<shared>>
!now = memref<64x64xf16, #tile.space<shared>>
!sums = memref<64x64xf32, #tile.space<fragment>>
#bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 0 origins = [0, 0] offsets = [0]>

// The wait comes after the release of the version, in the same iteration.
func.func @ended_too_late(%A: memref<64x1024xf16, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [4, 4, 4] : !row
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
    %c = tile.alloc "c" : !sums
    tile.pipelined %k = %c0 to %n stages 3 {
      %v = tile.version %k from %c0 ahead 0 of 3
      %p = tile.phase %k from %c0 ahead 0 of 3
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
      // expected-error @below {{internal error: the schedule is wrong: it may still read 's' when that is released}}
      tile.gemm %now, %now, %c {tile.async, tile.groups = array<i64: 1, 1>} : !now, !now, !sums
      tile.barrier_arrive %empty[%v] by_warp : !row
      tile.product_wait 0 for %c : !sums
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : !tile to !now
          tile.parallel (%i, %j) in (64, 64) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i, %j] : memref<64x1024xf16, #tile.space<global>>
            tile.store %x, %to[%i, %j] : !now
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
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @deeper_nest(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    scf.for %i0 = %c0 to %n step %c1 {
      scf.for %i1 = %c0 to %n step %c1 {
        scf.for %i2 = %c0 to %n step %c1 {
          scf.for %i3 = %c0 to %n step %c1 {
            scf.for %i4 = %c0 to %n step %c1 {
              tile.pipelined %k = %c0 to %n stages 2 {
                %v = tile.version %k from %c0 ahead 0 of 2
                %p = tile.phase %k from %c0 ahead 0 of 2
                tile.barrier_wait %full[%v] parity %p : !row
                %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
                tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
                tile.barrier_arrive %empty[%v] by_warp : !row
              }
            }
          }
        }
      }
    }
    tile.role "producer" threads 32 {
      // expected-error @below {{internal error: the schedule is wrong: it stands in another nest of loops than its readers}}
      tile.pipelined %k = %c0 to %n stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : memref<128xf32, #tile.space<shared>>
          }
        }
      }
    }
  }
  return
}
