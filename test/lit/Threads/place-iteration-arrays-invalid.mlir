// RUN: tw-opt %s -split-input-file -tile-place-iteration-arrays -verify-diagnostics

#global = #tile.space<global>
#local = #tile.space<local>

func.func @run_time_extent(%x: memref<?xf32, #global>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  tile.kernel (%b) in (%one) threads [64] {
    tile.parallel (%i) in (%n) {
      // expected-error @+1 {{'T.alloc_local' in a 'T.Parallel' of a run-time extent: each iteration has an array of its own, and there must be a constant number of them; give the loop constant extents, or use T.alloc_var}}
      %a = tile.alloc "a" : memref<8xf32, #local>
      %v = tile.load %x[%i] : memref<?xf32, #global>
      tile.store %v, %a[%zero] : memref<8xf32, #local>
      %w = tile.load %a[%zero] : memref<8xf32, #local>
      tile.store %w, %x[%i] : memref<?xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>
#local = #tile.space<local>

func.func @whole_array(%x: memref<4xf32, #global>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  tile.kernel (%b) in (%one) threads [64] {
    tile.parallel (%i) in (4) {
      %a = tile.alloc "a" : memref<8xf32, #local>
      // expected-error @+1 {{'a' belongs to an iteration of 'T.Parallel' and is used element by element only; write a loop over its elements}}
      tile.fill %zero, %a : f32, memref<8xf32, #local>
    }
  }
  return
}
