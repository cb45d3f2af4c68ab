// RUN: tw-opt %s -tile-check-parallel -split-input-file -verify-diagnostics
// Loops whose iterations are not independent; the accepted twins are in check-parallel.mlir.

#global = #tile.space<global>

func.func @halved_index(%A: memref<64xf32, #global>, %B: memref<32xf32, #global> {tile.name = "B"}) {
  %c2 = arith.constant 2 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    %h = tile.floordiv %i, %c2 : index
    %x = tile.load %A[%i] : memref<64xf32, #global>
    // expected-error @+1 {{'T.Parallel' iterations are not independent: (0) writes and (1) writes the same element of 'B'[0] with another value; use an atomic, a reduction, or two loops}}
    tile.store %x, %B[%h] : memref<32xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// The column is lost; the first colliding pair is shown.
func.func @lost_column(%A: memref<4x8xf32, #global>, %B: memref<4xf32, #global> {tile.name = "B"}) {
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i, %j) in (4, 8) {
    %x = tile.load %A[%i, %j] : memref<4x8xf32, #global>
    // expected-error @+1 {{(0, 0) writes and (0, 1) writes the same element of 'B'[0] with another value}}
    tile.store %x, %B[%i] : memref<4xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// The guard is too wide: iterations 38 and 39 both write element 19.
func.func @guarded(%A: memref<64xf32, #global>, %B: memref<32xf32, #global> {tile.name = "B"}) {
  %c2 = arith.constant 2 : index
  %c38 = arith.constant 38 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    %h = tile.floordiv %i, %c2 : index
    %high = arith.cmpi sge, %i, %c38 : index
    %x = tile.load %A[%i] : memref<64xf32, #global>
    scf.if %high {
      // expected-error @+1 {{(38) writes and (39) writes the same element of 'B'[19] with another value}}
      tile.store %x, %B[%h] : memref<32xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>

// Not (i < 60 or j-like) in the else branch: the negation of a disjunction is known.
func.func @guarded_else(%A: memref<64xf32, #global>, %B: memref<32xf32, #global> {tile.name = "B"}) {
  %c2 = arith.constant 2 : index
  %c60 = arith.constant 60 : index
  %c62 = arith.constant 62 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    %h = tile.floordiv %i, %c2 : index
    %low = arith.cmpi slt, %i, %c60 : index
    %edge = arith.cmpi sge, %i, %c62 : index
    %either = arith.ori %low, %edge : i1
    %x = tile.load %A[%i] : memref<64xf32, #global>
    scf.if %either {
    } else {
      // expected-error @+1 {{(60) writes and (61) writes the same element of 'B'[30] with another value}}
      tile.store %x, %B[%h] : memref<32xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>

// Runs of four that start three apart.
func.func @inner_loop(%A: memref<64xf32, #global> {tile.name = "A"}, %X: memref<64xf32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (16) {
    %x = tile.load %X[%i] : memref<64xf32, #global>
    scf.for %k = %c0 to %c4 step %c1 {
      %base = arith.muli %i, %c3 : index
      %at = arith.addi %base, %k : index
      // expected-error @+1 {{(0) writes and (1) writes the same element of 'A'[3] with another value}}
      tile.store %x, %A[%at] : memref<64xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>

// A step that is not 1 and a start that is not 0: elements 5, 9, 13 of iteration 0 meet 9 of 2.
func.func @inner_loop_step(%A: memref<64xf32, #global> {tile.name = "A"},
                           %X: memref<64xf32, #global>) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c14 = arith.constant 14 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (16) {
    %x = tile.load %X[%i] : memref<64xf32, #global>
    scf.for %k = %c5 to %c14 step %c4 {
      %base = arith.muli %i, %c2 : index
      %at = arith.addi %base, %k : index
      // expected-error @+1 {{(0) writes and (2) writes the same element of 'A'[9] with another value}}
      tile.store %x, %A[%at] : memref<64xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>

// The value depends on the lost bit.
func.func @other_value(%C: memref<32xi32, #global> {tile.name = "C"}) {
  %c2 = arith.constant 2 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    %h = tile.floordiv %i, %c2 : index
    %number = tile.cast %i from index to i32
    // expected-error @+1 {{(0) writes and (1) writes the same element of 'C'[0] with another value}}
    tile.store %number, %C[%h] : memref<32xi32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// What is read depends on the iteration through the part that is read.
func.func @other_value_of_part(%A: memref<64xf32, #global>,
                               %B: memref<1xf32, #global> {tile.name = "B"}) {
  %c0 = arith.constant 0 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    %p = tile.slice %A[%i] [1] [1] : memref<64xf32, #global> to memref<1xf32, #global>
    %x = tile.load %p[%c0] : memref<1xf32, #global>
    // expected-error @+1 {{(0) writes and (1) writes the same element of 'B'[0] with another value}}
    tile.store %x, %B[%c0] : memref<1xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#local = #tile.space<local>

// A variable that is assigned under a condition on the iteration.
func.func @other_value_through_variable(%B: memref<1xf32, #global> {tile.name = "B"}, %x: f32,
                                        %y: f32) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    %v = tile.alloc "v" : memref<f32, #local>
    %low = arith.cmpi slt, %i, %c4 : index
    tile.store %x, %v[] : memref<f32, #local>
    scf.if %low {
      tile.store %y, %v[] : memref<f32, #local>
    }
    %z = tile.load %v[] : memref<f32, #local>
    // expected-error @+1 {{(0) writes and (1) writes the same element of 'B'[0] with another value}}
    tile.store %z, %B[%c0] : memref<1xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// One tile, stored at shifted places: equal sources are not equal values of an element.
func.func @shifted_copy(%A: memref<4xf32, #global>, %B: memref<64xf32, #global> {tile.name = "B"}) {
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (8) {
    %p = tile.slice %B[%i] [4] [1] : memref<64xf32, #global> to memref<4xf32, #global>
    // expected-error @+1 {{(0) writes and (1) writes the same element of 'B'[1] with another value}}
    tile.copy %A, %p : memref<4xf32, #global> to memref<4xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

func.func @store_beside_update(%A: memref<64xf32, #global>,
                               %B: memref<1xf32, #global> {tile.name = "B"}, %n: f32) {
  %c0 = arith.constant 0 : index
  %c63 = arith.constant 63 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    %last = arith.cmpi eq, %i, %c63 : index
    // expected-note @+1 {{the other access is here}}
    %p = tile.atomic_element add %n, %B[%c0] : memref<1xf32, #global>
    scf.if %last {
      // expected-error @+1 {{(63) writes and (0) updates the same element of 'B'[0]; use an atomic, a reduction, or two loops}}
      tile.store %n, %B[%c0] : memref<1xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>

func.func @read_beside_update(%B: memref<64xf32, #global> {tile.name = "B"}, %n: f32) {
  %c0 = arith.constant 0 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    // expected-note @+1 {{the other access is here}}
    %x = tile.load %B[%i] : memref<64xf32, #global>
    // expected-error @+1 {{(1) updates and (0) reads the same element of 'B'[0]; use an atomic, a reduction, or two loops}}
    %p = tile.atomic_element add %x, %B[%c0] : memref<64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

func.func @neighbours(%A: memref<64xf32, #global> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (63) {
    %next = arith.addi %i, %c1 : index
    // expected-note @+1 {{the other access is here}}
    %x = tile.load %A[%next] : memref<64xf32, #global>
    // expected-error @+1 {{(1) writes and (0) reads the same element of 'A'[1]; use an atomic, a reduction, or two loops}}
    tile.store %x, %A[%i] : memref<64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// Overlapping halves.
func.func @halves(%A: memref<64xf32, #global> {tile.name = "A"}) {
  %c31 = arith.constant 31 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (32) {
    %at = arith.addi %i, %c31 : index
    // expected-note @+1 {{the other access is here}}
    %x = tile.load %A[%at] : memref<64xf32, #global>
    // expected-error @+1 {{(31) writes and (0) reads the same element of 'A'[31]}}
    tile.store %x, %A[%i] : memref<64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// A statement on a whole tile inside the loop.
func.func @whole_tile(%A: memref<8x8xf32, #global> {tile.name = "A"}, %B: memref<8x8xf32, #global>) {
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (7) {
    %to = tile.slice %A[%i, 0] [2, 8] [1, 1] : memref<8x8xf32, #global> to memref<2x8xf32, #global>
    %from = tile.slice %B[0, 0] [2, 8] [1, 1] : memref<8x8xf32, #global> to memref<2x8xf32, #global>
    // expected-error @+1 {{(0) writes and (1) writes the same element of 'A'[1, 0] with another value}}
    tile.copy %from, %to : memref<2x8xf32, #global> to memref<2x8xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#local = #tile.space<local>

func.func @carried_variable(%A: memref<64xf32, #global>) {
  %v = tile.alloc "total" : memref<f32, #local>
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    // expected-note @+1 {{the other access is here}}
    %old = tile.load %v[] : memref<f32, #local>
    %x = tile.load %A[%i] : memref<64xf32, #global>
    %new = arith.addf %old, %x : f32
    // expected-error @+1 {{'T.Parallel' iterations are not independent: variable 'total' is read before the iteration assigns it, so it carries a value from another iteration}}
    tile.store %new, %v[] : memref<f32, #local>
  }
  return
}

// -----

#global = #tile.space<global>
#local = #tile.space<local>

// One path does not assign it.
func.func @half_assigned(%A: memref<64xf32, #global>, %n: index) {
  %c4 = arith.constant 4 : index
  %v = tile.alloc "v" : memref<f32, #local>
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (%n) {
    %low = arith.cmpi slt, %i, %c4 : index
    %x = tile.load %A[%i] : memref<64xf32, #global>
    scf.if %low {
      // expected-error @+1 {{variable 'v' is read before the iteration assigns it}}
      tile.store %x, %v[] : memref<f32, #local>
    }
    // expected-note @+1 {{the other access is here}}
    %y = tile.load %v[] : memref<f32, #local>
    tile.store %y, %A[%i] : memref<64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// With a uniform run-time offset the conflict is certain, but not its element.
func.func @uniform_offset(%A: memref<?xf32, #global> {tile.name = "A"}, %n: index) {
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    %at = arith.addi %i, %n : index
    %next = arith.addi %at, %c1 : index
    // expected-note @+1 {{the other access is here}}
    %x = tile.load %A[%next] : memref<?xf32, #global>
    // expected-error @+1 {{(1) writes and (0) reads the same element of 'A'; use an atomic, a reduction, or two loops}}
    tile.store %x, %A[%at] : memref<?xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// Out of bounds of the tensor the write is dropped when it runs; here it is an element like others.
func.func @far_apart(%A: memref<64xf32, #global>, %B: memref<64xf32, #global> {tile.name = "B"}) {
  %c0 = arith.constant 0 : index
  %huge = arith.constant 1000000000000 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i, %j) in (64, 2) {
    %far = arith.muli %i, %huge : index
    %x = tile.load %A[%j] : memref<64xf32, #global>
    // expected-error @+1 {{(0, 0) writes and (0, 1) writes the same element of 'B'[0] with another value}}
    tile.store %x, %B[%far] : memref<64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// Equal values may be stored by many iterations, but not where one of them reads.
func.func @read_beside_same_value(%A: memref<64xf32, #global>,
                                  %B: memref<1xf32, #global> {tile.name = "B"}, %x: f32) {
  %c0 = arith.constant 0 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    %first = arith.cmpi eq, %i, %c0 : index
    // expected-error @+1 {{(1) writes and (0) reads the same element of 'B'[0]; use an atomic, a reduction, or two loops}}
    tile.store %x, %B[%c0] : memref<1xf32, #global>
    scf.if %first {
      // expected-note @+1 {{the other access is here}}
      %y = tile.load %B[%c0] : memref<1xf32, #global>
      tile.store %y, %A[%c0] : memref<64xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>

// A loop inside the loop: what one iteration of it writes, another iteration of the outer one clears.
func.func @nested(%A: memref<256xf32, #global>, %B: memref<256xf32, #global> {tile.name = "B"},
                  %zero: f32) {
  %c16 = arith.constant 16 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (16) {
    // expected-error @+1 {{(1) writes and (0) writes the same element of 'B'[1] with another value; use an atomic, a reduction, or two loops}}
    tile.store %zero, %B[%i] : memref<256xf32, #global>
    tile.parallel (%j) in (16) {
      %row = arith.muli %i, %c16 : index
      %at = arith.addi %row, %j : index
      %x = tile.load %A[%at] : memref<256xf32, #global>
      // expected-note @+1 {{the other access is here}}
      tile.store %x, %B[%at] : memref<256xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>

// Atomic stores do not commute, as other updates do.
func.func @atomic_stores(%B: memref<4xi32, #global> {tile.name = "B"}) {
  %c16 = arith.constant 16 : index
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    %at = tile.floordiv %i, %c16 : index
    %x = arith.index_cast %i : index to i32
    // expected-error @+1 {{(0) and (1) store different values to the same element of 'B'[0] atomically, and which comes last is open; let one of them store it}}
    %old = tile.atomic_element exchange %x, %B[%at] order relaxed : memref<4xi32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

func.func @next_element_through_views(%A: memref<64xf32, #global> {tile.name = "A"}) {
  %c2 = arith.constant 2 : index
  %halves = tile.view %A : memref<64xf32, #global> to memref<128xf16, #global>
  // expected-note @below {{the loop starts here}}
  tile.parallel (%i) in (63) {
    // expected-note @below {{the other access is here}}
    %x = tile.load %A[%i] : memref<64xf32, #global>
    %twice = arith.muli %i, %c2 : index
    %next = arith.addi %twice, %c2 : index
    %h = tile.cast %x from f32 to f16
    // expected-error @below {{'T.Parallel' iterations are not independent: (0) writes and (1) reads the same element of 'A'[1]; use an atomic, a reduction, or two loops}}
    tile.store %h, %halves[%next] : memref<128xf16, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// Stores of one value may meet, and so may atomic stores of it, but not one with the other.
func.func @store_and_atomic_store(%B: memref<4xi32, #global> {tile.name = "B"}) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  // expected-note @+1 {{the loop starts here}}
  tile.parallel (%i) in (64) {
    // expected-error @+1 {{(1) writes and (0) updates the same element of 'B'[0]; use an atomic, a reduction, or two loops}}
    tile.store %one, %B[%c0] : memref<4xi32, #global>
    // expected-note @+1 {{the other access is here}}
    %old = tile.atomic_element exchange %one, %B[%c0] order relaxed : memref<4xi32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

func.func @row_and_column_through_views(%A: memref<8x8xf32, #global> {tile.name = "A"}) {
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c22 = arith.constant 22 : index
  %halves = tile.view %A : memref<8x8xf32, #global> to memref<128xf16, #global>
  // expected-note @below {{the loop starts here}}
  tile.parallel (%i) in (6) {
    // expected-note @below {{the other access is here}}
    %x = tile.load %A[%i, %c3] : memref<8x8xf32, #global>
    %row = arith.muli %i, %c16 : index
    %next = arith.addi %row, %c22 : index
    %h = tile.cast %x from f32 to f16
    // expected-error @below {{(0) writes and (1) reads the same element of 'A'[1, 3]}}
    tile.store %h, %halves[%next] : memref<128xf16, #global>
  }
  return
}
