// RUN: tw-opt %s -split-input-file -verify-diagnostics

func.func @outside() {
  // expected-error @+1 {{the index of a thread stands inside 'with T.Kernel(...)'}}
  %t = tile.thread_id 0
  return
}

// -----

func.func @dimension(%n: index) {
  tile.kernel (%bx) in (%n) threads [64, 2] {
    // expected-error @+1 {{expected a thread dimension below 2, got 2}}
    %t = tile.thread_id 2
  }
  return
}

// -----

func.func @parallel(%n: index) {
  tile.kernel (%bx) in (%n) threads [64] {
    tile.parallel (%i) in (8) {
      // expected-error @+1 {{'T.Parallel' deals its iterations to the threads itself, so its body has no thread index; write a serial loop}}
      %t = tile.thread_id 0
    }
  }
  return
}

// -----

func.func @number_of_barriers(%n: index) {
  tile.kernel (%bx) in (%n) threads [64] {
    // expected-error @+1 {{'tile.barrier_alloc' op of 2 barriers: expected a buffer of 2 int64 in shared memory, got 'memref<3xi64, #tile.space<shared>>'}}
    %b = tile.barrier_alloc "b" arrivals [1, 1] : memref<3xi64, #tile.space<shared>>
  }
  return
}

// -----

func.func @no_barrier(%n: index) {
  tile.kernel (%bx) in (%n) threads [64] {
    // expected-error @+1 {{'T.alloc_barrier' needs at least one count}}
    %b = tile.barrier_alloc "b" arrivals [] : memref<0xi64, #tile.space<shared>>
  }
  return
}

// -----

func.func @negative(%n: index) {
  tile.kernel (%bx) in (%n) threads [64] {
    // expected-error @+1 {{'T.alloc_barrier': a count is a positive integer, got -1}}
    %b = tile.barrier_alloc "b" arrivals [-1] : memref<1xi64, #tile.space<shared>>
  }
  return
}

// -----

func.func @barriers_outside() {
  // expected-error @+1 {{a barrier stands inside 'with T.Kernel(...)'}}
  %b = tile.barrier_alloc "b" arrivals [1] : memref<1xi64, #tile.space<shared>>
  return
}

// -----

func.func @another_use(%n: index) {
  %zero = arith.constant 0 : i64
  tile.kernel (%bx) in (%n) threads [64] {
    // expected-note @+1 {{'b' is allocated here}}
    %b = tile.barrier_alloc "b" arrivals [1] : memref<1xi64, #tile.space<shared>>
    // expected-error @+1 {{'tile.fill' op uses the barriers 'b', which only arrivals and waits may touch}}
    tile.fill %zero, %b : i64, memref<1xi64, #tile.space<shared>>
  }
  return
}

// -----

func.func @not_a_barrier(%n: index) {
  %c0 = arith.constant 0 : index
  tile.kernel (%bx) in (%n) threads [64] {
    %t = tile.alloc "t" : memref<1xi64, #tile.space<shared>>
    // expected-error @+1 {{'tile.barrier_arrive' op needs barriers of 'tile.barrier_alloc'}}
    tile.barrier_arrive %t[%c0] : memref<1xi64, #tile.space<shared>>
  }
  return
}

// -----

func.func @out_of_bounds(%n: index) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%n) threads [64] {
    // expected-note @+1 {{'b' is allocated here}}
    %b = tile.barrier_alloc "b" arrivals [1] : memref<1xi64, #tile.space<shared>>
    // expected-error @+1 {{index 1 is out of bounds for dimension 0 of 'b' (1 int64)}}
    tile.barrier_wait %b[%c1] parity %c1 : memref<1xi64, #tile.space<shared>>
  }
  return
}

// -----

func.func @no_count(%n: index) {
  %c0 = arith.constant 0 : index
  tile.kernel (%bx) in (%n) threads [64] {
    %b = tile.barrier_alloc "b" arrivals [0] : memref<1xi64, #tile.space<shared>>
    // expected-error @+1 {{'tile.barrier_wait' op says no count, and neither does the allocation of 'b'}}
    tile.barrier_wait %b[%c0] : memref<1xi64, #tile.space<shared>>
  }
  return
}

// -----

func.func @count(%n: index) {
  %c0 = arith.constant 0 : index
  tile.kernel (%bx) in (%n) threads [64] {
    %b = tile.barrier_alloc "b" arrivals [0] : memref<1xi64, #tile.space<shared>>
    // expected-error @+1 {{a number of threads is a positive integer, got 0}}
    tile.barrier_arrive %b[%c0] count 0 : memref<1xi64, #tile.space<shared>>
  }
  return
}

// -----

func.func @different_counts(%n: index) {
  tile.kernel (%bx) in (%n) threads [64] {
    %b = tile.barrier_alloc "b" arrivals [1, 2] : memref<2xi64, #tile.space<shared>>
    // expected-error @+1 {{a barrier is picked at run time among some with different arrive counts}}
    tile.barrier_arrive %b[%n] : memref<2xi64, #tile.space<shared>>
  }
  return
}

// -----

func.func @in_parallel(%n: index) {
  tile.kernel (%bx) in (%n) threads [64] {
    %b = tile.barrier_alloc "b" arrivals [1] : memref<1xi64, #tile.space<shared>>
    // expected-note @+1 {{the flow of threads divides here}}
    tile.parallel (%i) in (1) {
      // expected-error @+1 {{a barrier inside 'T.Parallel'}}
      tile.barrier_arrive %b[%i] : memref<1xi64, #tile.space<shared>>
    }
  }
  return
}

// -----

func.func @grid_sync_in_a_loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%n) threads [64] {
    scf.for %i = %c0 to %n step %c1 {
      // expected-error @+1 {{'tile.grid_sync' op expects parent op 'tile.kernel'}}
      tile.grid_sync
    }
  }
  return
}
