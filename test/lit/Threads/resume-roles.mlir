// RUN: tw-opt %s -tile-merge-roles | FileCheck %s

// Roles for which no order is known: what their machines do at the ends of loops and branches.

#global = #tile.space<global>
#shared = #tile.space<shared>
#local = #tile.space<local>

// Of 32 threads 16 wait, the others write: the other side runs where the condition does not hold.
// CHECK-LABEL: func.func @other_side
// CHECK: tile.alloc "roles"
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: %[[OTHERS:.*]] = arith.xori %{{.*}}, %[[TRUE]]
// CHECK: scf.if %[[OTHERS]] {
// CHECK:   tile.store
func.func @other_side(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      %some = arith.cmpi slt, %t, %c16 : index
      scf.if %some {
        tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
      } else {
        tile.store %one, %a[%t] : memref<64xf32, #global>
      }
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// A pipelined loop takes one step after another. At the end of an iteration of the outer loop the
// role gives its turn away, at that of the inner one it does not.
// CHECK-LABEL: func.func @loops(
// CHECK: %roles = tile.alloc "roles" : memref<4xi32
// CHECK: arith.addi
// CHECK-NOT: tile.store %{{.*}}, %roles[%c2
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT: arith.addi %{{.*}}, %[[ONE]]
// CHECK: tile.store %c0_i32{{.*}}, %roles[%c2
func.func @loops(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.pipelined %k = %c0 to %n stages 2 {
        scf.for %j = %c0 to %n step %c1 {
          tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
        }
      }
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// The same for loops on conditions.
// CHECK-LABEL: func.func @loops_on_conditions(
// CHECK: %roles = tile.alloc "roles" : memref<4xi32
// CHECK: tile.load %arg0[%c1]
// CHECK: tile.store %c3_i32{{.*}}, %roles[%c0
// CHECK-NOT: tile.store %{{.*}}, %roles[%c2
// CHECK: tile.store %c1_i32{{.*}}, %roles[%c0
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tile.store %c1_i32{{.*}}, %roles[%c3
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tile.store %c0_i32{{.*}}, %roles[%c2
func.func @loops_on_conditions(%i: memref<2xi32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      scf.while : () -> () {
        %v = tile.load %i[%c0] : memref<2xi32, #global>
        %more = arith.cmpi ne, %v, %zero : i32
        scf.condition(%more)
      } do {
        scf.while : () -> () {
          %v = tile.load %i[%c1] : memref<2xi32, #global>
          %more = arith.cmpi ne, %v, %zero : i32
          scf.condition(%more)
        } do {
          tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
          scf.yield
        }
        scf.yield
      }
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// A loop that hands values over, a branch that gives one, and a loop whose end each thread decides
// have no such form: the waits stay.
// CHECK-LABEL: func.func @values_of_a_loop
// CHECK-NOT: tile.alloc "roles"
// CHECK: tile.barrier_wait
func.func @values_of_a_loop(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%v = %one) -> (f32) {
        tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
        %w = arith.addf %v, %one : f32
        scf.yield %w : f32
      }
      tile.store %sum, %a[%c0] : memref<64xf32, #global>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// CHECK-LABEL: func.func @value_of_a_branch
// CHECK-NOT: tile.alloc "roles"
// CHECK: tile.barrier_wait
func.func @value_of_a_branch(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    %more = arith.cmpi slt, %b, %c32 : index
    scf.if %first {
      %v = scf.if %more -> (f32) {
        tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
        scf.yield %one : f32
      } else {
        scf.yield %two : f32
      }
      tile.store %v, %a[%c0] : memref<64xf32, #global>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// CHECK-LABEL: func.func @each_thread_decides
// CHECK-NOT: tile.alloc "roles"
// CHECK: tile.barrier_wait
func.func @each_thread_decides(%i: memref<64xi32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      scf.while : () -> () {
        %v = tile.load %i[%t] : memref<64xi32, #global>
        %more = arith.cmpi ne, %v, %zero : i32
        scf.condition(%more)
      } do {
        tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
        scf.yield
      }
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}
