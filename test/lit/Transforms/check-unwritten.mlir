// RUN: tw-opt %s -split-input-file -tile-check-unwritten -verify-diagnostics
// A read is an error where no path to its first execution has a write of the tile.

!g = memref<64x64xf16, #tile.space<global>>
!s = memref<64x64xf16, #tile.space<shared>>
!f = memref<64x64xf32, #tile.space<fragment>>

// The gemm of an iteration finds what the one before left, but the first finds nothing.
func.func @missing_clear(%A: !g) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : !s
    // expected-note @below {{'c' is allocated here}}
    %c = tile.alloc "c" : !f
    tile.pipelined %k = %c0 to %c4 stages 2 {
      tile.copy %A, %a : !g to !s
      // expected-error @below {{'c' is read before anything writes it; T.gemm accumulates into it: add T.clear(c) or pass clear_accum=True}}
      tile.gemm %a, %a, %c : !s, !s, !f
    }
  }
  return
}

// -----

!g = memref<64x64xf16, #tile.space<global>>
!s = memref<64x64xf16, #tile.space<shared>>
!f = memref<64x64xf32, #tile.space<fragment>>

// `clear` may be decided by the iteration.
func.func @cleared_by_the_first_iteration(%A: !g) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : !s
    %c = tile.alloc "c" : !f
    tile.pipelined %k = %c0 to %c4 stages 2 {
      tile.copy %A, %a : !g to !s
      %first = arith.cmpi eq, %k, %c0 : index
      tile.gemm %a, %a, %c clear %first : !s, !s, !f
    }
  }
  return
}

// -----

!s = memref<64xf32, #tile.space<shared>>

// The first iteration writes what the others read.
func.func @written_by_an_earlier_iteration(%A: memref<64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %p = tile.alloc "p" : !s
    %q = tile.alloc "q" : !s
    scf.for %k = %c0 to %c4 step %c1 {
      %later = arith.cmpi ne, %k, %c0 : index
      scf.if %later {
        tile.copy %p, %q : !s to !s
      }
      tile.copy %A, %p : memref<64xf32, #tile.space<global>> to !s
    }
    tile.copy %q, %A : !s to memref<64xf32, #tile.space<global>>
  }
  return
}

// -----

!s = memref<64xf32, #tile.space<shared>>

// One side of a branch writes: what is read later may have a value.
func.func @written_on_one_side(%A: memref<64xf32, #tile.space<global>>, %w: i1) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %p = tile.alloc "p" : !s
    scf.if %w {
      tile.copy %A, %p : memref<64xf32, #tile.space<global>> to !s
    }
    tile.copy %p, %A : !s to memref<64xf32, #tile.space<global>>
  }
  return
}

// -----

!s = memref<64xf32, #tile.space<shared>>

// The side that reads is not the side that writes; the second read follows the first and is not told.
func.func @written_on_the_other_side(%A: memref<64xf32, #tile.space<global>>, %w: i1) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    // expected-note @below {{'p' is allocated here}}
    %p = tile.alloc "p" : !s
    scf.if %w {
      tile.copy %A, %p : memref<64xf32, #tile.space<global>> to !s
    } else {
      // expected-error @below {{'p' is read before anything writes it; copy or store something into it first}}
      tile.copy %p, %A : !s to memref<64xf32, #tile.space<global>>
      tile.copy %p, %A : !s to memref<64xf32, #tile.space<global>>
    }
  }
  return
}

// -----

// Element by element, the first iteration of `s[i] += x` reads what nothing has written; a part of
// a tile through a view is a part of the tile.
func.func @elements_and_views(%A: memref<64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    // expected-note @below {{'s' is allocated here}}
    %s = tile.alloc "s" : memref<64xf32, #tile.space<shared>>
    %t = tile.alloc "t" : memref<64xf32, #tile.space<shared>>
    %v = tile.view %t : memref<64xf32, #tile.space<shared>> to memref<8x8xf32, #tile.space<shared>>
    %zero = arith.constant 0.0 : f32
    tile.fill %zero, %v : f32, memref<8x8xf32, #tile.space<shared>>
    tile.parallel (%i) in (64) {
      %y = tile.load %t[%i] : memref<64xf32, #tile.space<shared>>
      // expected-error @below {{'s' is read before anything writes it; copy or store something into it first}}
      %x = tile.load %s[%i] : memref<64xf32, #tile.space<shared>>
      %z = arith.addf %x, %y : f32
      tile.store %z, %s[%i] : memref<64xf32, #tile.space<shared>>
    }
  }
  return
}

// -----

// What follows an assertion may never run.
func.func @after_an_assertion(%A: memref<64xf32, #tile.space<global>>, %met: i1) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : memref<64xf32, #tile.space<shared>>
    tile.assert %met, "this wait is not met"
    tile.copy %s, %A : memref<64xf32, #tile.space<shared>> to memref<64xf32, #tile.space<global>>
  }
  return
}

// -----

// The condition of a `while` runs before its body, and the body before the next condition.
func.func @while_loops(%A: memref<8xi32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    // expected-note @below {{'n' is allocated here}}
    %n = tile.alloc "n" : memref<i32, #tile.space<local>>
    %m = tile.alloc "m" : memref<i32, #tile.space<local>>
    scf.while : () -> () {
      tile.store %one, %m[] : memref<i32, #tile.space<local>>
      // expected-error @below {{'n' is read before anything writes it; copy or store something into it first}}
      %v = tile.load %n[] : memref<i32, #tile.space<local>>
      %more = arith.cmpi slt, %v, %one : i32
      scf.condition(%more)
    } do {
      %w = tile.load %m[] : memref<i32, #tile.space<local>>
      tile.store %w, %n[] : memref<i32, #tile.space<local>>
      scf.yield
    }
  }
  return
}

// -----

// Loops without iterations are on no path.
func.func @loops_that_never_run(%A: memref<64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    // expected-note @below {{'s' is allocated here}}
    %s = tile.alloc "s" : memref<64xf32, #tile.space<shared>>
    scf.for %i = %c1 to %c0 step %c1 {
      tile.copy %A, %s : memref<64xf32, #tile.space<global>> to memref<64xf32, #tile.space<shared>>
    }
    tile.pipelined %k = %c0 to %c0 stages 2 {
      tile.copy %s, %A : memref<64xf32, #tile.space<shared>> to memref<64xf32, #tile.space<global>>
      tile.copy %A, %s : memref<64xf32, #tile.space<global>> to memref<64xf32, #tile.space<shared>>
    }
    // expected-error @below {{'s' is read before anything writes it; copy or store something into it first}}
    tile.copy %s, %A : memref<64xf32, #tile.space<shared>> to memref<64xf32, #tile.space<global>>
  }
  return
}
