// RUN: tw-opt %s -tile-insert-orderings | FileCheck %s
// A barrier stands between conflicting statements, back edges included, and nowhere else.

// CHECK-LABEL: func.func @write_then_read
func.func @write_then_read(%A: memref<32xf32, #tile.space<global>>, %B: memref<32xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<32xf32, #tile.space<shared>>
    // CHECK: tile.copy
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.copy
    tile.copy %A, %s : memref<32xf32, #tile.space<global>> to memref<32xf32, #tile.space<shared>>
    tile.copy %s, %B : memref<32xf32, #tile.space<shared>> to memref<32xf32, #tile.space<global>>
  }
  return
}

// Two tiles that do not meet need no barrier.
// CHECK-LABEL: func.func @independent
func.func @independent(%A: memref<32xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<32xf32, #tile.space<shared>>
    %t = tile.alloc "t" : memref<32xf32, #tile.space<shared>>
    // CHECK-NOT: tile.barrier
    tile.copy %A, %s : memref<32xf32, #tile.space<global>> to memref<32xf32, #tile.space<shared>>
    tile.copy %A, %t : memref<32xf32, #tile.space<global>> to memref<32xf32, #tile.space<shared>>
  }
  return
}

// The next iteration may not overwrite what this one still reads.
// CHECK-LABEL: func.func @back_edge
func.func @back_edge(%A: memref<32xf32, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<32xf32, #tile.space<shared>>
    %f = tile.alloc "f" : memref<32xf32, #tile.space<fragment>>
    // CHECK: tile.pipelined
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.copy %{{.*}}, %[[S:[^ ]*]] : memref<32xf32, #tile.space<global>>
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.copy %[[S]]
    tile.pipelined %k = %c0 to %c4 stages 0 {
      tile.copy %A, %s : memref<32xf32, #tile.space<global>> to memref<32xf32, #tile.space<shared>>
      tile.copy %s, %f : memref<32xf32, #tile.space<shared>> to memref<32xf32, #tile.space<fragment>>
    }
  }
  return
}

// A barrier in a loop that may run zero times is not on every path.
// CHECK-LABEL: func.func @loop_of_zero_trips
func.func @loop_of_zero_trips(%A: memref<32xf32, #tile.space<global>>, %B: memref<32xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<32xf32, #tile.space<shared>>
    %t = tile.alloc "t" : memref<32xf32, #tile.space<shared>>
    tile.copy %A, %s : memref<32xf32, #tile.space<global>> to memref<32xf32, #tile.space<shared>>
    // CHECK: scf.for
    scf.for %k = %c0 to %n step %c1 {
      // CHECK: tile.barrier
      // CHECK-NEXT: tile.cumsum
      tile.cumsum %t, %t dim 0 : memref<32xf32, #tile.space<shared>> to memref<32xf32, #tile.space<shared>>
    }
    // CHECK: }
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.copy
    tile.copy %s, %B : memref<32xf32, #tile.space<shared>> to memref<32xf32, #tile.space<global>>
  }
  return
}

// Updates that commute may meet; a read of their result may not.
// CHECK-LABEL: func.func @atomics
func.func @atomics(%A: memref<32xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<32xf32, #tile.space<shared>>
    // CHECK: tile.fill
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.atomic
    // CHECK-NEXT: tile.atomic
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.copy
    tile.fill %one, %s : f32, memref<32xf32, #tile.space<shared>>
    tile.atomic add %one, %s : f32, memref<32xf32, #tile.space<shared>>
    tile.atomic add %one, %s : f32, memref<32xf32, #tile.space<shared>>
    tile.copy %s, %A : memref<32xf32, #tile.space<shared>> to memref<32xf32, #tile.space<global>>
  }
  return
}

// Updates of different kinds do not commute, nor do those that ask for what was there before.
// CHECK-LABEL: func.func @ordered_atomics
func.func @ordered_atomics(%A: memref<32xi32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<32xi32, #tile.space<shared>>
    // CHECK: tile.atomic add
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.atomic max
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.parallel
    // CHECK: tile.atomic_element max
    tile.atomic add %one, %s : i32, memref<32xi32, #tile.space<shared>>
    tile.atomic max %one, %s : i32, memref<32xi32, #tile.space<shared>>
    tile.parallel (%i) in (32) {
      %before = tile.atomic_element max %one, %s[%i] : memref<32xi32, #tile.space<shared>>
      tile.store %before, %A[%i] : memref<32xi32, #tile.space<global>>
    }
    // CHECK: tile.barrier
    // CHECK-NEXT: tile.atomic max
    tile.atomic max %one, %s : i32, memref<32xi32, #tile.space<shared>>
  }
  return
}

// Tiles with common bytes conflict like one tile; tiles beside each other do not.
// CHECK-LABEL: func.func @overlay
func.func @overlay(%A: memref<32xf32, #tile.space<global>>, %B: memref<32xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" {tile.offset = 0} : memref<32xf32, #tile.space<shared>>
    %t = tile.alloc "t" {tile.offset = 64} : memref<32xf32, #tile.space<shared>>
    %u = tile.alloc "u" {tile.offset = 256} : memref<32xf32, #tile.space<shared>>
    // CHECK: tile.copy %arg0, %s
    // CHECK-NEXT: tile.copy %arg0, %u
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.copy %arg0, %t
    tile.copy %A, %s : memref<32xf32, #tile.space<global>> to memref<32xf32, #tile.space<shared>>
    tile.copy %A, %u : memref<32xf32, #tile.space<global>> to memref<32xf32, #tile.space<shared>>
    tile.copy %A, %t : memref<32xf32, #tile.space<global>> to memref<32xf32, #tile.space<shared>>
  }
  return
}

// Threads that arrive at a barrier by number and wait right after do both in one instruction.
// CHECK-LABEL: func.func @arrive_and_wait
// CHECK: tile.barrier_arrive %{{.*}}[%c1] count 32 : memref
// CHECK: tile.barrier_arrive %{{.*}}[%c2] count 32 {tile.at_wait} : memref
// CHECK-NEXT: tile.barrier_wait %{{.*}}[%c2] count 32
func.func @arrive_and_wait() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %b = tile.barrier_alloc "b" arrivals [0, 0, 0] : memref<3xi64, #tile.space<shared>>
    tile.barrier_arrive %b[%c1] count 32 : memref<3xi64, #tile.space<shared>>
    tile.barrier_arrive %b[%c2] count 32 : memref<3xi64, #tile.space<shared>>
    tile.barrier_wait %b[%c2] count 32 : memref<3xi64, #tile.space<shared>>
  }
  return
}
