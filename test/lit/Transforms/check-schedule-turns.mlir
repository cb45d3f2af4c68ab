// RUN: tw-opt %s -tile-check-schedule -split-input-file -verify-diagnostics
// Warpgroups that take turns: right once, with the turn over the end of an iteration, and then broken.

!row = memref<2xi64, #tile.space<shared>>
!tile = memref<2x128xf32, #tile.space<shared>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @right(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [256] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [8, 8] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.turn open of 2 at 2
    tile.turn take of 2 at 2
    tile.pipelined %k = %c0 to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      tile.turn pass of 2 at 2
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      tile.turn take of 2 at 2
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.turn pass of 2 at 2
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
    tile.turn close of 2 at 2
  }
  return
}

// -----

// One version: who has the turn waits for a copy into what the other one releases after its turn.
!row = memref<1xi64, #tile.space<shared>>
!tile = memref<128xf32, #tile.space<shared>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @one_version(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [256] {
    %full = tile.barrier_alloc "full" arrivals [1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [8] : !row
    %s = tile.alloc "s" : !tile
    tile.turn open of 2 at 2
    tile.turn take of 2 at 2
    tile.pipelined %k = %c0 to %n stages 1 {
      %p = tile.phase %k from %c0 ahead 0 of 1
      tile.barrier_wait %full[%c0] parity %p : !row
      tile.turn pass of 2 at 2
      tile.copy %s, %B : !tile to memref<128xf32, #tile.space<global>>
      tile.turn take of 2 at 2
      tile.barrier_arrive %empty[%c0] by_warp : !row
    }
    tile.turn pass of 2 at 2
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 1 {
        %v = tile.version %k from %c0 ahead 0 of 1
        %p = tile.phase %k from %c0 ahead 1 of 1
        tile.barrier_wait %empty[%v] parity %p : !row
        // expected-error @below {{internal error: the schedule is wrong: roles wait for each other for ever}}
        tile.async_group %k below %n on %full[%v] : !row {
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %s[%i] : !tile
          }
        }
      }
    }
    tile.turn close of 2 at 2
  }
  return
}

// -----

func.func @meet_in_a_turn(%n: index) {
  tile.kernel (%bx) in (%n) threads [256] {
    tile.turn open of 2 at 2
    tile.turn take of 2 at 2
    // expected-error @below {{internal error: the schedule is wrong: threads meet while one warpgroup has the turn}}
    tile.barrier
    tile.turn pass of 2 at 2
    tile.role "producer" threads 32 {
    }
    tile.turn close of 2 at 2
  }
  return
}

// -----

func.func @taken_twice(%n: index) {
  tile.kernel (%bx) in (%n) threads [256] {
    tile.turn open of 2 at 2
    tile.turn take of 2 at 2
    // expected-error @below {{internal error: the schedule is wrong: it takes a turn that it has, or before turns are opened}}
    tile.turn take of 2 at 2
    tile.role "producer" threads 32 {
    }
    tile.turn close of 2 at 2
  }
  return
}

// -----

func.func @passed_before(%n: index) {
  tile.kernel (%bx) in (%n) threads [256] {
    tile.turn open of 2 at 2
    // expected-error @below {{internal error: the schedule is wrong: it passes a turn that it does not have}}
    tile.turn pass of 2 at 2
    tile.role "producer" threads 32 {
    }
    tile.turn close of 2 at 2
  }
  return
}

// -----

func.func @taken_in_a_branch(%n: index, %c: i1) {
  tile.kernel (%bx) in (%n) threads [256] {
    tile.turn open of 2 at 2
    // expected-error @below {{internal error: the schedule is wrong: it takes or passes a turn on one of its ways}}
    scf.if %c {
      tile.turn take of 2 at 2
    }
    tile.turn pass of 2 at 2
    tile.role "producer" threads 32 {
    }
    tile.turn close of 2 at 2
  }
  return
}

// -----

func.func @not_closed(%n: index) {
  // expected-error @below {{internal error: the schedule is wrong: a turn is not over when the kernel ends, or another role's}}
  tile.kernel (%bx) in (%n) threads [256] {
    tile.turn open of 2 at 2
    tile.role "producer" threads 32 {
    }
  }
  return
}

// -----

func.func @closed_in_a_turn(%n: index) {
  tile.kernel (%bx) in (%n) threads [256] {
    tile.turn open of 2 at 2
    tile.turn take of 2 at 2
    tile.role "producer" threads 32 {
    }
    // expected-error @below {{internal error: the schedule is wrong: turns are closed while somebody has one}}
    tile.turn close of 2 at 2
  }
  return
}

// -----

func.func @opened_twice(%n: index) {
  tile.kernel (%bx) in (%n) threads [256] {
    tile.turn open of 2 at 2
    // expected-error @below {{internal error: the schedule is wrong: turns are opened twice, or in a part of the kernel}}
    tile.turn open of 2 at 2
    tile.role "producer" threads 32 {
    }
    tile.turn close of 2 at 2
  }
  return
}

// -----

func.func @other_barriers(%n: index) {
  tile.kernel (%bx) in (%n) threads [256] {
    tile.turn open of 2 at 2
    // expected-error @below {{internal error: the schedule is wrong: this is another turn than the one that was opened}}
    tile.turn take of 2 at 4
    tile.turn pass of 2 at 4
    tile.role "producer" threads 32 {
    }
    tile.turn close of 2 at 2
  }
  return
}

// -----

func.func @in_another_role(%n: index) {
  // expected-error @below {{internal error: the schedule is wrong: a turn is not over when the kernel ends, or another role's}}
  tile.kernel (%bx) in (%n) threads [256] {
    tile.turn open of 2 at 2
    tile.role "producer" threads 32 {
      tile.turn take of 2 at 2
      tile.turn pass of 2 at 2
    }
    tile.turn close of 2 at 2
  }
  return
}

// -----

// The program's own barriers by number would be mistaken for those of the turns.
func.func @numbers_in_use(%n: index) {
  // expected-error @below {{internal error: the schedule is wrong: turns use the program's barriers by number}}
  tile.kernel (%bx) in (%n) threads [256] {
    %named = tile.barrier_alloc "named" arrivals [0, 0, 0] : memref<3xi64, #tile.space<shared>>
    tile.turn open of 2 at 2
    tile.role "producer" threads 32 {
    }
    tile.turn close of 2 at 2
  }
  return
}
