// RUN: tw-opt %s -tile-check-schedule -split-input-file -verify-diagnostics
// A loop over segments of the iterations: right once, and then with iterations that are left out or repeated, or with
// a segment where there is no iteration.

!row = memref<2xi64, #tile.space<shared>>
!tile = memref<2x128xf32, #tile.space<shared>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @right(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %least = arith.minsi %n, %split : index
      %second = arith.addi %c0, %c1 : index
      %first = arith.maxsi %second, %least : index
      %past = arith.addi %n, %c1 : index
      scf.for %end = %first to %past step %c1 {
        %is = arith.cmpi eq, %end, %first : index
        %before = arith.subi %end, %c1 : index
        %begin = arith.select %is, %c0, %before : index
        %v0 = tile.version %begin from %c0 ahead 0 of 2
        %p0 = tile.phase %begin from %c0 ahead 0 of 2
        tile.barrier_wait %full[%v0] parity %p0 : !row
        %one = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
        tile.copy %one, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
        tile.barrier_arrive %empty[%v0] by_warp : !row
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 2 {
          %v = tile.version %k from %c0 ahead 0 of 2
          %p = tile.phase %k from %c0 ahead 0 of 2
          tile.barrier_wait %full[%v] parity %p : !row
          %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
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

func.func @empty_first_segment(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %least = arith.minsi %n, %split : index
      %second = arith.addi %c0, %c0 : index
      %first = arith.maxsi %second, %least : index
      %past = arith.addi %n, %c1 : index
      scf.for %end = %first to %past step %c1 {
        %is = arith.cmpi eq, %end, %first : index
        %before = arith.subi %end, %c1 : index
        %begin = arith.select %is, %c0, %before : index
        %v0 = tile.version %begin from %c0 ahead 0 of 2
        %p0 = tile.phase %begin from %c0 ahead 0 of 2
        // expected-error @below {{internal error: the schedule is wrong: segments leave iterations out, or repeat them}}
        tile.barrier_wait %full[%v0] parity %p0 : !row
        %one = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
        tile.copy %one, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
        tile.barrier_arrive %empty[%v0] by_warp : !row
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 2 {
          %v = tile.version %k from %c0 ahead 0 of 2
          %p = tile.phase %k from %c0 ahead 0 of 2
          tile.barrier_wait %full[%v] parity %p : !row
          %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
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

func.func @first_segment_beyond_the_end(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %least = arith.minsi %n, %split : index
      %second = arith.addi %c0, %c1 : index
      %first = arith.maxsi %second, %split : index
      %past = arith.addi %n, %c1 : index
      scf.for %end = %first to %past step %c1 {
        %is = arith.cmpi eq, %end, %first : index
        %before = arith.subi %end, %c1 : index
        %begin = arith.select %is, %c0, %before : index
        %v0 = tile.version %begin from %c0 ahead 0 of 2
        %p0 = tile.phase %begin from %c0 ahead 0 of 2
        // expected-error @below {{internal error: the schedule is wrong: segments leave iterations out, or repeat them}}
        tile.barrier_wait %full[%v0] parity %p0 : !row
        %one = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
        tile.copy %one, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
        tile.barrier_arrive %empty[%v0] by_warp : !row
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 2 {
          %v = tile.version %k from %c0 ahead 0 of 2
          %p = tile.phase %k from %c0 ahead 0 of 2
          tile.barrier_wait %full[%v] parity %p : !row
          %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
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

func.func @no_last_iteration(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %least = arith.minsi %n, %split : index
      %second = arith.addi %c0, %c1 : index
      %first = arith.maxsi %second, %least : index
      %past = arith.addi %n, %c0 : index
      scf.for %end = %first to %past step %c1 {
        %is = arith.cmpi eq, %end, %first : index
        %before = arith.subi %end, %c1 : index
        %begin = arith.select %is, %c0, %before : index
        %v0 = tile.version %begin from %c0 ahead 0 of 2
        %p0 = tile.phase %begin from %c0 ahead 0 of 2
        // expected-error @below {{internal error: the schedule is wrong: segments leave iterations out, or repeat them}}
        tile.barrier_wait %full[%v0] parity %p0 : !row
        %one = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
        tile.copy %one, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
        tile.barrier_arrive %empty[%v0] by_warp : !row
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 2 {
          %v = tile.version %k from %c0 ahead 0 of 2
          %p = tile.phase %k from %c0 ahead 0 of 2
          tile.barrier_wait %full[%v] parity %p : !row
          %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
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

func.func @two_steps(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %least = arith.minsi %n, %split : index
      %second = arith.addi %c0, %c1 : index
      %first = arith.maxsi %second, %least : index
      %past = arith.addi %n, %c1 : index
      scf.for %end = %first to %past step %c2 {
        %is = arith.cmpi eq, %end, %first : index
        %before = arith.subi %end, %c1 : index
        %begin = arith.select %is, %c0, %before : index
        %v0 = tile.version %begin from %c0 ahead 0 of 2
        %p0 = tile.phase %begin from %c0 ahead 0 of 2
        // expected-error @below {{internal error: the schedule is wrong: segments leave iterations out, or repeat them}}
        tile.barrier_wait %full[%v0] parity %p0 : !row
        %one = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
        tile.copy %one, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
        tile.barrier_arrive %empty[%v0] by_warp : !row
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 2 {
          %v = tile.version %k from %c0 ahead 0 of 2
          %p = tile.phase %k from %c0 ahead 0 of 2
          tile.barrier_wait %full[%v] parity %p : !row
          %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
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

func.func @repeated(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %least = arith.minsi %n, %split : index
      %second = arith.addi %c0, %c1 : index
      %first = arith.maxsi %second, %least : index
      %past = arith.addi %n, %c1 : index
      scf.for %end = %first to %past step %c1 {
        %is = arith.cmpi eq, %end, %first : index
        %before = arith.subi %end, %c2 : index
        %begin = arith.select %is, %c0, %before : index
        %v0 = tile.version %begin from %c0 ahead 0 of 2
        %p0 = tile.phase %begin from %c0 ahead 0 of 2
        // expected-error @below {{internal error: the schedule is wrong: segments leave iterations out, or repeat them}}
        tile.barrier_wait %full[%v0] parity %p0 : !row
        %one = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
        tile.copy %one, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
        tile.barrier_arrive %empty[%v0] by_warp : !row
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 2 {
          %v = tile.version %k from %c0 ahead 0 of 2
          %p = tile.phase %k from %c0 ahead 0 of 2
          tile.barrier_wait %full[%v] parity %p : !row
          %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
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

func.func @starts_late(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %least = arith.minsi %n, %split : index
      %second = arith.addi %c0, %c1 : index
      %first = arith.maxsi %second, %least : index
      %past = arith.addi %n, %c1 : index
      scf.for %end = %first to %past step %c1 {
        %is = arith.cmpi eq, %end, %first : index
        %before = arith.subi %end, %c1 : index
        %begin = arith.select %is, %c1, %before : index
        %v0 = tile.version %begin from %c0 ahead 0 of 2
        %p0 = tile.phase %begin from %c0 ahead 0 of 2
        // expected-error @below {{internal error: the schedule is wrong: segments leave iterations out, or repeat them}}
        tile.barrier_wait %full[%v0] parity %p0 : !row
        %one = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
        tile.copy %one, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
        tile.barrier_arrive %empty[%v0] by_warp : !row
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 2 {
          %v = tile.version %k from %c0 ahead 0 of 2
          %p = tile.phase %k from %c0 ahead 0 of 2
          tile.barrier_wait %full[%v] parity %p : !row
          %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
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

func.func @ends_late(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %least = arith.minsi %n, %split : index
      %second = arith.addi %c0, %c1 : index
      %first = arith.maxsi %second, %least : index
      %past = arith.addi %n, %c1 : index
      scf.for %end = %first to %past step %c1 {
        %is = arith.cmpi eq, %end, %first : index
        %before = arith.subi %end, %c1 : index
        %begin = arith.select %is, %c0, %before : index
        %v0 = tile.version %begin from %c0 ahead 0 of 2
        %p0 = tile.phase %begin from %c0 ahead 0 of 2
        // expected-error @below {{internal error: the schedule is wrong: segments leave iterations out, or repeat them}}
        tile.barrier_wait %full[%v0] parity %p0 : !row
        %one = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
        tile.copy %one, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
        tile.barrier_arrive %empty[%v0] by_warp : !row
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %past stages 2 {
          %v = tile.version %k from %c0 ahead 0 of 2
          %p = tile.phase %k from %c0 ahead 0 of 2
          tile.barrier_wait %full[%v] parity %p : !row
          %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
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

func.func @no_question(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    %any = arith.cmpi slt, %c0, %n : index
    %some = arith.cmpi sle, %c0, %n : index
    scf.if %some {
      %least = arith.minsi %n, %split : index
      %second = arith.addi %c0, %c1 : index
      %first = arith.maxsi %second, %least : index
      %past = arith.addi %n, %c1 : index
      scf.for %end = %first to %past step %c1 {
        %is = arith.cmpi eq, %end, %first : index
        %before = arith.subi %end, %c1 : index
        %begin = arith.select %is, %c0, %before : index
        %v0 = tile.version %begin from %c0 ahead 0 of 2
        %p0 = tile.phase %begin from %c0 ahead 0 of 2
        // expected-error @below {{internal error: the schedule is wrong: it stands for an iteration that may not exist}}
        tile.barrier_wait %full[%v0] parity %p0 : !row
        %one = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
        tile.copy %one, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
        tile.barrier_arrive %empty[%v0] by_warp : !row
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 2 {
          %v = tile.version %k from %c0 ahead 0 of 2
          %p = tile.phase %k from %c0 ahead 0 of 2
          tile.barrier_wait %full[%v] parity %p : !row
          %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
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

func.func @read_after_the_loop(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    %any = arith.cmpi slt, %c0, %n : index
    scf.if %any {
      %least = arith.minsi %n, %split : index
      %second = arith.addi %c0, %c1 : index
      %first = arith.maxsi %second, %least : index
      %past = arith.addi %n, %c1 : index
      scf.for %end = %first to %past step %c1 {
        %is = arith.cmpi eq, %end, %first : index
        %before = arith.subi %end, %c1 : index
        %begin = arith.select %is, %c0, %before : index
        %v0 = tile.version %begin from %c0 ahead 0 of 2
        %p0 = tile.phase %begin from %c0 ahead 0 of 2
        tile.barrier_wait %full[%v0] parity %p0 : !row
        %one = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
        tile.copy %one, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
        tile.barrier_arrive %empty[%v0] by_warp : !row
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 2 {
          %v = tile.version %k from %c0 ahead 0 of 2
          %p = tile.phase %k from %c0 ahead 0 of 2
          tile.barrier_wait %full[%v] parity %p : !row
          %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
          tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
      %v1 = tile.version %c0 from %c0 ahead 0 of 2
      %late = tile.slice %s[%v1, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      // expected-error @below {{internal error: the schedule is wrong: it touches 's' outside of the wait for it and its release}}
      tile.copy %late, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
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

func.func @two_loops_out_of_step(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %split stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.pipelined %k = %split to %n stages 2 {
      %v = tile.version %k from %c0 ahead 1 of 2
      %p = tile.phase %k from %c0 ahead 1 of 2
      // expected-error @below {{internal error: the schedule is wrong: its iteration is another one than in the loop before}}
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      // expected-error @below {{internal error: the schedule is wrong: its iteration is another one than in the loop before}}
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

func.func @two_loops_with_a_gap(%A: memref<1024xf32, #tile.space<global>>, %B: memref<128xf32, #tile.space<global>>, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 2 : i64} : !tile
    tile.pipelined %k = %c0 to %split stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : !row
      %now = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to memref<128xf32, #tile.space<shared>>
      tile.copy %now, %B : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
      tile.barrier_arrive %empty[%v] by_warp : !row
    }
    tile.pipelined %k = %split to %n stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      // expected-error @below {{internal error: the schedule is wrong: iterations are left out or come twice}}
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
