// RUN: tw-opt %s -tile-check-bounds -split-input-file -verify-diagnostics
// An access that certainly leaves its on-chip tile is refused; one that may stay inside is not.

func.func @certain(%x: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<8x16xf32, #tile.space<shared>>
    tile.parallel (%i, %j) in (8, 16) {
      %k = arith.addi %j, %c2 : index
      // expected-error @+1 {{write to 's' at [0, 16] is outside its extents (8, 16), in iteration (0, 14); correct the index, or put the access under a condition}}
      tile.store %x, %s[%i, %k] : memref<8x16xf32, #tile.space<shared>>
    }
  }
  return
}

// -----

// The branch leaves the iterations that stay inside.
func.func @under_a_condition(%x: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<8x16xf32, #tile.space<shared>>
    tile.parallel (%i, %j) in (8, 16) {
      %k = arith.addi %j, %c2 : index
      %inside = arith.cmpi slt, %k, %c16 : index
      scf.if %inside {
        tile.store %x, %s[%i, %k] : memref<8x16xf32, #tile.space<shared>>
      }
    }
  }
  return
}

// -----

// Some thread gets there, and the branch does not keep it away.
func.func @of_a_thread(%x: f32) {
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.thread_id 0
    %s = tile.alloc "s" : memref<16xf32, #tile.space<shared>>
    %few = arith.cmpi slt, %t, %c20 : index
    scf.if %few {
      // expected-error @+1 {{write to 's' at [16] is outside its extents (16), in thread (16); correct the index, or put the access under a condition}}
      tile.store %x, %s[%t] : memref<16xf32, #tile.space<shared>>
    }
  }
  return
}

// -----

// What data decides is not certain, and an assertion may come first.
func.func @not_certain(%I: memref<8xi32, #tile.space<global>>, %x: f32, %b: i1) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
    tile.parallel (%i) in (8) {
      %v = tile.load %I[%i] : memref<8xi32, #tile.space<global>>
      %k = tile.cast %v from i32 to index
      tile.store %x, %s[%k] : memref<8xf32, #tile.space<shared>>
      %next = arith.addi %i, %c2 : index
      scf.if %b {
        tile.store %x, %s[%next] : memref<8xf32, #tile.space<shared>>
      }
    }
  }
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
    tile.assert %b, "never"
    tile.parallel (%i) in (8) {
      %next = arith.addi %i, %c2 : index
      tile.store %x, %s[%next] : memref<8xf32, #tile.space<shared>>
    }
  }
  return
}

// -----

// Slices of slices add up; a view has extents of its own.
func.func @slices_and_views() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<8x16xf32, #tile.space<shared>>
    %flat = tile.view %s : memref<8x16xf32, #tile.space<shared>> to memref<128xf32, #tile.space<shared>>
    scf.for %k = %c0 to %c3 step %c1 {
      %from = arith.muli %k, %c8 : index
      %inFlat = tile.slice %flat[%from] [8] [1] : memref<128xf32, #tile.space<shared>> to memref<8xf32, #tile.space<shared>>
      tile.fill %zero, %inFlat : f32, memref<8xf32, #tile.space<shared>>
      %part = tile.slice %s[0, %from] [8, 8] [1, 1] : memref<8x16xf32, #tile.space<shared>> to memref<8x8xf32, #tile.space<shared>>
      // expected-error @+1 {{write to 's' at [0, 16] is outside its extents (8, 16), in iteration (2); correct the index, or put the access under a condition}}
      tile.fill %zero, %part : f32, memref<8x8xf32, #tile.space<shared>>
    }
  }
  return
}

// -----

// Too many iterations to try them all: the corners are tried.
func.func @last_of_many(%x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<382xf32, #tile.space<shared>>
    tile.parallel (%i, %j) in (256, 128) {
      %k = arith.addi %i, %j : index
      // expected-error @+1 {{write to 's' at [382] is outside its extents (382), in iteration (255, 127); correct the index, or put the access under a condition}}
      tile.store %x, %s[%k] : memref<382xf32, #tile.space<shared>>
    }
  }
  return
}

// -----

// Two reads of a thread's number give the same.
func.func @one_thread_read_twice(%x: f32) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.thread_id 0
    %u = tile.thread_id 0
    %s = tile.alloc "s" : memref<16xf32, #tile.space<shared>>
    %few = arith.cmpi slt, %t, %c16 : index
    scf.if %few {
      tile.store %x, %s[%u] : memref<16xf32, #tile.space<shared>>
    }
  }
  return
}

// -----

// Conditions on negative numbers.
func.func @below_zero(%x: f32) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %least = arith.constant -3 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<16xf32, #tile.space<shared>>
    tile.parallel (%i) in (8) {
      %below = arith.subi %i, %c4 : index
      %is = arith.cmpi eq, %below, %least : index
      scf.if %is {
        %k = arith.addi %i, %c16 : index
        // expected-error @+1 {{write to 's' at [17] is outside its extents (16), in iteration (1); correct the index, or put the access under a condition}}
        tile.store %x, %s[%k] : memref<16xf32, #tile.space<shared>>
      }
    }
  }
  return
}
