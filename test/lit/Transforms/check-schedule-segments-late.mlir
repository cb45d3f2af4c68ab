// RUN: tw-opt %s -tile-check-schedule -split-input-file -verify-diagnostics
// Segments that stand for iterations one before their own: the first one has none before it. Right once, and then
// without the question, with the wrong one, with a reader outside of it, in another order than the loop has, without
// the last iteration, and with a product that is open when its tile is released.

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x128xf32, #tile.space<shared>>
!now = memref<128xf32, #tile.space<shared>>
!out = memref<128xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @right(%A: memref<1024xf32, #tile.space<global>>, %B: !out, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
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
        %later = arith.cmpi ne, %end, %first : index
        %v0 = tile.version %begin from %c0 ahead 2 of 3
        %p0 = tile.phase %begin from %c0 ahead 5 of 3
        scf.if %later {
          tile.barrier_wait %full[%v0] parity %p0 : !row
          %y = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %y, %B : !now to !out
        }
        scf.if %later {
          tile.barrier_arrive %empty[%v0] by_warp : !row
        }
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 3 {
          %v = tile.version %k from %c0 ahead 2 of 3
          %p = tile.phase %k from %c0 ahead 5 of 3
          tile.barrier_wait %full[%v] parity %p : !row
          %x = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %x, %B : !now to !out
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
      %v1 = tile.version %n from %c0 ahead 2 of 3
      %p1 = tile.phase %n from %c0 ahead 5 of 3
      tile.barrier_wait %full[%v1] parity %p1 : !row
      %z = tile.slice %s[%v1, 0] [1, 128] [1, 1] drop [0] : !tile to !now
      tile.copy %z, %B : !now to !out
      tile.barrier_arrive %empty[%v1] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : !now
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x128xf32, #tile.space<shared>>
!now = memref<128xf32, #tile.space<shared>>
!out = memref<128xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @no_question(%A: memref<1024xf32, #tile.space<global>>, %B: !out, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
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
        %later = arith.cmpi ne, %end, %first : index
        %v0 = tile.version %begin from %c0 ahead 2 of 3
        %p0 = tile.phase %begin from %c0 ahead 5 of 3
          // expected-error @below {{internal error: the schedule is wrong: segments leave iterations out, or repeat them}}
          tile.barrier_wait %full[%v0] parity %p0 : !row
          %y = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %y, %B : !now to !out
          tile.barrier_arrive %empty[%v0] by_warp : !row
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 3 {
          %v = tile.version %k from %c0 ahead 2 of 3
          %p = tile.phase %k from %c0 ahead 5 of 3
          tile.barrier_wait %full[%v] parity %p : !row
          %x = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %x, %B : !now to !out
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
      %v1 = tile.version %n from %c0 ahead 2 of 3
      %p1 = tile.phase %n from %c0 ahead 5 of 3
      tile.barrier_wait %full[%v1] parity %p1 : !row
      %z = tile.slice %s[%v1, 0] [1, 128] [1, 1] drop [0] : !tile to !now
      tile.copy %z, %B : !now to !out
      tile.barrier_arrive %empty[%v1] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : !now
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x128xf32, #tile.space<shared>>
!now = memref<128xf32, #tile.space<shared>>
!out = memref<128xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @wrong_question(%A: memref<1024xf32, #tile.space<global>>, %B: !out, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
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
        %later = arith.cmpi ne, %end, %first : index
        %v0 = tile.version %begin from %c0 ahead 2 of 3
        %p0 = tile.phase %begin from %c0 ahead 5 of 3
        scf.if %is {
          // expected-error @below {{internal error: the schedule is wrong: the loop's other iterations stand in another block}}
          tile.barrier_wait %full[%v0] parity %p0 : !row
          %y = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %y, %B : !now to !out
        }
        scf.if %later {
          tile.barrier_arrive %empty[%v0] by_warp : !row
        }
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 3 {
          %v = tile.version %k from %c0 ahead 2 of 3
          %p = tile.phase %k from %c0 ahead 5 of 3
          tile.barrier_wait %full[%v] parity %p : !row
          %x = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %x, %B : !now to !out
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
      %v1 = tile.version %n from %c0 ahead 2 of 3
      %p1 = tile.phase %n from %c0 ahead 5 of 3
      tile.barrier_wait %full[%v1] parity %p1 : !row
      %z = tile.slice %s[%v1, 0] [1, 128] [1, 1] drop [0] : !tile to !now
      tile.copy %z, %B : !now to !out
      tile.barrier_arrive %empty[%v1] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : !now
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x128xf32, #tile.space<shared>>
!now = memref<128xf32, #tile.space<shared>>
!out = memref<128xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @reader_outside(%A: memref<1024xf32, #tile.space<global>>, %B: !out, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
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
        %later = arith.cmpi ne, %end, %first : index
        %v0 = tile.version %begin from %c0 ahead 2 of 3
        %p0 = tile.phase %begin from %c0 ahead 5 of 3
        scf.if %later {
          tile.barrier_wait %full[%v0] parity %p0 : !row
        }
          %y = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          // expected-error @below {{internal error: the schedule is wrong: it touches 's' outside of the wait for it and its release}}
          tile.copy %y, %B : !now to !out
        scf.if %later {
          tile.barrier_arrive %empty[%v0] by_warp : !row
        }
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 3 {
          %v = tile.version %k from %c0 ahead 2 of 3
          %p = tile.phase %k from %c0 ahead 5 of 3
          tile.barrier_wait %full[%v] parity %p : !row
          %x = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %x, %B : !now to !out
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
      %v1 = tile.version %n from %c0 ahead 2 of 3
      %p1 = tile.phase %n from %c0 ahead 5 of 3
      tile.barrier_wait %full[%v1] parity %p1 : !row
      %z = tile.slice %s[%v1, 0] [1, 128] [1, 1] drop [0] : !tile to !now
      tile.copy %z, %B : !now to !out
      tile.barrier_arrive %empty[%v1] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : !now
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x128xf32, #tile.space<shared>>
!now = memref<128xf32, #tile.space<shared>>
!out = memref<128xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @reader_after_release(%A: memref<1024xf32, #tile.space<global>>, %B: !out, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
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
        %later = arith.cmpi ne, %end, %first : index
        %v0 = tile.version %begin from %c0 ahead 2 of 3
        %p0 = tile.phase %begin from %c0 ahead 5 of 3
        scf.if %later {
          tile.barrier_wait %full[%v0] parity %p0 : !row
          tile.barrier_arrive %empty[%v0] by_warp : !row
          %y = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          // expected-error @below {{internal error: the schedule is wrong: it touches 's' outside of the wait for it and its release}}
          tile.copy %y, %B : !now to !out
        }
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 3 {
          %v = tile.version %k from %c0 ahead 2 of 3
          %p = tile.phase %k from %c0 ahead 5 of 3
          tile.barrier_wait %full[%v] parity %p : !row
          %x = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %x, %B : !now to !out
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
      %v1 = tile.version %n from %c0 ahead 2 of 3
      %p1 = tile.phase %n from %c0 ahead 5 of 3
      tile.barrier_wait %full[%v1] parity %p1 : !row
      %z = tile.slice %s[%v1, 0] [1, 128] [1, 1] drop [0] : !tile to !now
      tile.copy %z, %B : !now to !out
      tile.barrier_arrive %empty[%v1] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : !now
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x128xf32, #tile.space<shared>>
!now = memref<128xf32, #tile.space<shared>>
!out = memref<128xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @no_last_iteration(%A: memref<1024xf32, #tile.space<global>>, %B: !out, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2, 2] : !row
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
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
        %later = arith.cmpi ne, %end, %first : index
        %v0 = tile.version %begin from %c0 ahead 2 of 3
        %p0 = tile.phase %begin from %c0 ahead 5 of 3
        scf.if %later {
          // expected-error @below {{internal error: the schedule is wrong: it is not done for the iterations of its copies}}
          tile.barrier_wait %full[%v0] parity %p0 : !row
          %y = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %y, %B : !now to !out
        }
        scf.if %later {
          tile.barrier_arrive %empty[%v0] by_warp : !row
        }
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 3 {
          %v = tile.version %k from %c0 ahead 2 of 3
          %p = tile.phase %k from %c0 ahead 5 of 3
          tile.barrier_wait %full[%v] parity %p : !row
          %x = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %x, %B : !now to !out
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : !now
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x128xf32, #tile.space<shared>>
!now = memref<128xf32, #tile.space<shared>>
!out = memref<128xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @two_channels(%A: memref<1024xf32, #tile.space<global>>, %B: !out, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2, 2] : !row
    %tfull = tile.barrier_alloc "tfull" arrivals [1, 1, 1] : !row
    %tempty = tile.barrier_alloc "tempty" arrivals [2, 2, 2] : !row
    %t = tile.alloc "t" {tile.versions = 3 : i64} : !tile
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
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
        %later = arith.cmpi ne, %end, %first : index
        %v0 = tile.version %begin from %c0 ahead 2 of 3
        %p0 = tile.phase %begin from %c0 ahead 5 of 3
        %wbegin = tile.version %begin from %c0 ahead 0 of 3
        %qbegin = tile.phase %begin from %c0 ahead 0 of 3
        tile.barrier_wait %tfull[%wbegin] parity %qbegin : !row
        scf.if %later {
          tile.barrier_wait %full[%v0] parity %p0 : !row
          %y = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %y, %B : !now to !out
        }
        %rbegin = tile.slice %t[%wbegin, 0] [1, 128] [1, 1] drop [0] : !tile to !now
        tile.copy %rbegin, %B : !now to !out
        tile.barrier_arrive %tempty[%wbegin] by_warp : !row
        scf.if %later {
          tile.barrier_arrive %empty[%v0] by_warp : !row
        }
        %next = arith.addi %begin, %c1 : index
        tile.pipelined %k = %next to %end stages 3 {
          %wk = tile.version %k from %c0 ahead 0 of 3
          %qk = tile.phase %k from %c0 ahead 0 of 3
          tile.barrier_wait %tfull[%wk] parity %qk : !row
          %v = tile.version %k from %c0 ahead 2 of 3
          %p = tile.phase %k from %c0 ahead 5 of 3
          tile.barrier_wait %full[%v] parity %p : !row
          %x = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %x, %B : !now to !out
          %rk = tile.slice %t[%wk, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %rk, %B : !now to !out
          tile.barrier_arrive %tempty[%wk] by_warp : !row
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
      %v1 = tile.version %n from %c0 ahead 2 of 3
      %p1 = tile.phase %n from %c0 ahead 5 of 3
      tile.barrier_wait %full[%v1] parity %p1 : !row
      %z = tile.slice %s[%v1, 0] [1, 128] [1, 1] drop [0] : !tile to !now
      tile.copy %z, %B : !now to !out
      tile.barrier_arrive %empty[%v1] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %tempty[%v] parity %p : !row
        tile.async_group %k below %n on %tfull[%v] : !row {
          %to = tile.slice %t[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : !now
          }
        }
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : !now
          }
        }
      }
    }
  }
  return
}

// -----

!row = memref<3xi64, #tile.space<shared>>
!tile = memref<3x128xf32, #tile.space<shared>>
!now = memref<128xf32, #tile.space<shared>>
!out = memref<128xf32, #tile.space<global>>
#bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [128] swizzle = 0 origins = [0] offsets = [0]>

func.func @other_order(%A: memref<1024xf32, #tile.space<global>>, %B: !out, %n: index, %split: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %full = tile.barrier_alloc "full" arrivals [1, 1, 1] : !row
    %empty = tile.barrier_alloc "empty" arrivals [2, 2, 2] : !row
    %tfull = tile.barrier_alloc "tfull" arrivals [1, 1, 1] : !row
    %tempty = tile.barrier_alloc "tempty" arrivals [2, 2, 2] : !row
    %t = tile.alloc "t" {tile.versions = 3 : i64} : !tile
    %s = tile.alloc "s" {tile.versions = 3 : i64} : !tile
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
        %later = arith.cmpi ne, %end, %first : index
        %v0 = tile.version %begin from %c0 ahead 2 of 3
        %p0 = tile.phase %begin from %c0 ahead 5 of 3
        %wbegin = tile.version %begin from %c0 ahead 0 of 3
        %qbegin = tile.phase %begin from %c0 ahead 0 of 3
        tile.barrier_wait %tfull[%wbegin] parity %qbegin : !row
        scf.if %later {
          tile.barrier_wait %full[%v0] parity %p0 : !row
          %y = tile.slice %s[%v0, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %y, %B : !now to !out
        }
        %rbegin = tile.slice %t[%wbegin, 0] [1, 128] [1, 1] drop [0] : !tile to !now
        tile.copy %rbegin, %B : !now to !out
        scf.if %later {
          tile.barrier_arrive %empty[%v0] by_warp : !row
        }
        tile.barrier_arrive %tempty[%wbegin] by_warp : !row
        %next = arith.addi %begin, %c1 : index
        // expected-error @below {{internal error: the schedule is wrong: it meets the producer in another order than the one before}}
        tile.pipelined %k = %next to %end stages 3 {
          %wk = tile.version %k from %c0 ahead 0 of 3
          %qk = tile.phase %k from %c0 ahead 0 of 3
          tile.barrier_wait %tfull[%wk] parity %qk : !row
          %v = tile.version %k from %c0 ahead 2 of 3
          %p = tile.phase %k from %c0 ahead 5 of 3
          tile.barrier_wait %full[%v] parity %p : !row
          %x = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %x, %B : !now to !out
          %rk = tile.slice %t[%wk, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.copy %rk, %B : !now to !out
          tile.barrier_arrive %tempty[%wk] by_warp : !row
          tile.barrier_arrive %empty[%v] by_warp : !row
        }
      } {tile.segments}
      %v1 = tile.version %n from %c0 ahead 2 of 3
      %p1 = tile.phase %n from %c0 ahead 5 of 3
      tile.barrier_wait %full[%v1] parity %p1 : !row
      %z = tile.slice %s[%v1, 0] [1, 128] [1, 1] drop [0] : !tile to !now
      tile.copy %z, %B : !now to !out
      tile.barrier_arrive %empty[%v1] by_warp : !row
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %n stages 3 {
        %v = tile.version %k from %c0 ahead 0 of 3
        %p = tile.phase %k from %c0 ahead 3 of 3
        tile.barrier_wait %tempty[%v] parity %p : !row
        tile.async_group %k below %n on %tfull[%v] : !row {
          %to = tile.slice %t[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : !now
          }
        }
        tile.barrier_wait %empty[%v] parity %p : !row
        tile.async_group %k below %n on %full[%v] : !row {
          %to = tile.slice %s[%v, 0] [1, 128] [1, 1] drop [0] : !tile to !now
          tile.parallel (%i) in (128) attributes {tile.bulk = #bulk} {
            %x = tile.load %A[%i] : memref<1024xf32, #tile.space<global>>
            tile.store %x, %to[%i] : !now
          }
        }
      }
    }
  }
  return
}
