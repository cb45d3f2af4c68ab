// RUN: tw-opt %s -tile-spread-threads -split-input-file -verify-diagnostics
// RUN: not tw-opt %s -tile-spread-threads -split-input-file > %t 2>&1

#global = #tile.space<global>

func.func @atomic(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    %t = tile.thread_id 0
    // expected-error @+1 {{in a kernel that names its threads, an atomic outside a condition on the thread index does not say how often it runs; write 'if tx == 0:' around it}}
    tile.atomic_element add %one, %a[%c0] : memref<64xf32, #global>
    tile.store %one, %a[%t] : memref<64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

func.func @data(%a: memref<64xf32, #global>, %n: index) {
  %zero = arith.constant 0.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %x = tile.load %a[%t] : memref<64xf32, #global>
    %c = arith.cmpf ogt, %x, %zero : f32
    scf.if %c {
      // expected-error @+1 {{a tile statement is the whole block's, but whether it runs depends on values of single threads; only conditions on the thread index and constants may decide that}}
      tile.fill %zero, %s : f32, memref<64xf32, #shared>
    }
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

func.func @loop(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    // expected-error @+1 {{threads leave this loop at different times, but statements in it need all of them (they touch what other threads write, or are tile statements); give all threads the same bounds}}
    scf.for %i = %c0 to %t step %c1 {
      tile.fill %zero, %s : f32, memref<64xf32, #shared>
    }
  }
  return
}

// -----

// A branch of all threads says as little.
#global = #tile.space<global>

func.func @atomic_in_a_branch(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    %t = tile.thread_id 0
    %more = arith.cmpi slt, %b, %c4 : index
    scf.if %more {
      // expected-error @+1 {{an atomic outside a condition on the thread index does not say how often it runs}}
      tile.atomic_element add %one, %a[%c0] : memref<64xf32, #global>
    }
    tile.store %one, %a[%t] : memref<64xf32, #global>
  }
  return
}
