// RUN: tw-opt %s -tile-merge-roles | FileCheck %s

#global = #tile.space<global>
#shared = #tile.space<shared>

// The first role waits for the second: the second comes first.
// CHECK-LABEL: func.func @in_turns
// CHECK: tile.barrier_arrive %ready
// CHECK: tile.barrier_wait %ready
func.func @in_turns(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
      tile.copy %s, %a : memref<64xf32, #shared> to memref<64xf32, #global>
    } else {
      tile.copy %a, %s : memref<64xf32, #global> to memref<64xf32, #shared>
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    }
  }
  return
}

// Loops of the same bounds in which roles wait for each other become one.
// CHECK-LABEL: func.func @one_loop
// CHECK: scf.for %[[K:.*]] = %c0 to %arg1 step %c1 {
// CHECK:   scf.if
// CHECK:     tile.barrier_wait %free
// CHECK:     tile.copy %arg0, %s
// CHECK:     tile.barrier_arrive %ready
// CHECK:   scf.if
// CHECK:     tile.barrier_wait %ready
// CHECK:     tile.copy %s, %arg0
// CHECK:     tile.barrier_arrive %free
// CHECK-NOT: scf.for
func.func @one_loop(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %free = tile.barrier_alloc "free" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %producer = arith.cmpi slt, %t, %c32 : index
    scf.if %producer {
      scf.for %k = %c0 to %n step %c1 {
        %next = arith.addi %k, %c1 : index
        %p = tile.floormod %next, %c2 : index
        tile.barrier_wait %free[%c0] parity %p : memref<1xi64, #shared>
        tile.copy %a, %s : memref<64xf32, #global> to memref<64xf32, #shared>
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      }
    } else {
      scf.for %k = %c0 to %n step %c1 {
        %p = tile.floormod %k, %c2 : index
        tile.barrier_wait %ready[%c0] parity %p : memref<1xi64, #shared>
        tile.copy %s, %a : memref<64xf32, #shared> to memref<64xf32, #global>
        tile.barrier_arrive %free[%c0] : memref<1xi64, #shared>
      }
    }
  }
  return
}

// No order is right, as nothing arrives: each role becomes a machine that is tried again and again,
// until none has gone on.
// CHECK-LABEL: func.func @never
// CHECK: %[[STATE:.*]] = tile.alloc "roles" : memref<4xi32
// CHECK: tile.fill %{{.*}}, %[[STATE]]
// CHECK: scf.while
// CHECK:   scf.if %{{.*}} {
// CHECK:     scf.while
// CHECK:       scf.if
// CHECK:         arith.select %{{.*}} : i32
// CHECK:         tile.store %{{.*}}, %[[STATE]]
// CHECK:   scf.if %{{.*}} {
// CHECK:     scf.while
// CHECK:   scf.if
// CHECK:     tile.assert %{{.*}}, "this wait is not met: what it waits for comes later or never, and no role can go on"
// CHECK:     tile.assert %{{.*}}, "this wait is not met: what it waits for comes later or never, and no role can go on"
// CHECK-NOT: tile.barrier_wait
func.func @never(%n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// A number that a role computes before it waits is known after the wait.
// CHECK-LABEL: func.func @number_before_a_wait
// CHECK-NOT: tile.alloc "roles"
// CHECK: tile.barrier_arrive %ready
// CHECK: tile.barrier_wait %ready
// CHECK: tile.copy %s
func.func @number_before_a_wait(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<1xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      %next = arith.addi %b, %c1 : index
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
      %part = tile.slice %a[%next] [1] [1] : memref<64xf32, #global> to memref<1xf32, #global>
      tile.copy %s, %part : memref<1xf32, #shared> to memref<1xf32, #global>
    } else {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    }
  }
  return
}

// A branch of all threads is no role: it comes after them.
// CHECK-LABEL: func.func @branch_of_all
// CHECK: tile.barrier_arrive %ready
// CHECK: tile.barrier_wait %ready
// CHECK: tile.copy %s, %arg0
// CHECK: tile.copy %s, %arg1
func.func @branch_of_all(%a: memref<64xf32, #global>, %c: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    %more = arith.cmpi slt, %b, %c32 : index
    scf.if %first {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
      tile.copy %s, %a : memref<64xf32, #shared> to memref<64xf32, #global>
    } else {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    }
    scf.if %more {
      tile.copy %s, %c : memref<64xf32, #shared> to memref<64xf32, #global>
    }
  }
  return
}

// The sides of an inner branch are roles of those threads that come to it.
// CHECK-LABEL: func.func @inner_branch
// CHECK: %[[HIGH:.*]] = arith.cmpi sge, %{{.*}}, %c64
// CHECK: %[[OTHERS:.*]] = arith.xori %[[HIGH]], %{{.*}}
// CHECK: %[[MIDDLE:.*]] = arith.cmpi sge, %{{.*}}, %c32
// CHECK: %[[THEN:.*]] = arith.andi %[[OTHERS]], %[[MIDDLE]]
// CHECK: %[[LOW:.*]] = arith.xori %[[MIDDLE]], %{{.*}}
// CHECK: %[[ELSE:.*]] = arith.andi %[[OTHERS]], %[[LOW]]
// CHECK: scf.if %[[THEN]]
// CHECK: tile.barrier_arrive %ready[%c0]
// CHECK: scf.if %[[ELSE]]
// CHECK: tile.barrier_wait %ready[%c0]
// CHECK: tile.barrier_arrive %ready[%c1]
// CHECK: scf.if %[[HIGH]]
// CHECK: tile.barrier_wait %ready[%c1]
func.func @inner_branch(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%b) in (%n) threads [96] {
    %ready = tile.barrier_alloc "ready" arrivals [32, 32] : memref<2xi64, #shared>
    %t = tile.thread_id 0
    %high = arith.cmpi sge, %t, %c64 : index
    scf.if %high {
      tile.barrier_wait %ready[%c1] parity %c0 : memref<2xi64, #shared>
    } else {
      %middle = arith.cmpi sge, %t, %c32 : index
      scf.if %middle {
        tile.barrier_arrive %ready[%c0] : memref<2xi64, #shared>
      } else {
        tile.barrier_wait %ready[%c0] parity %c0 : memref<2xi64, #shared>
        tile.barrier_arrive %ready[%c1] : memref<2xi64, #shared>
      }
    }
  }
  return
}

// What stands beside the inner branch is of one role with it: 32 threads arrive, not 64.
// CHECK-LABEL: func.func @beside_the_inner_branch
// CHECK-NOT: tile.barrier_arrive
// CHECK: scf.if
// CHECK: tile.barrier_arrive %ready
// CHECK: scf.if
// CHECK: tile.barrier_wait %ready
func.func @beside_the_inner_branch(%n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    %some = arith.cmpi slt, %t, %c48 : index
    scf.if %first {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    } else {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      scf.if %some {
        tile.fill %one, %s : f32, memref<64xf32, #shared>
      }
    }
  }
  return
}

// One role has no others to take turns with: its wait, which is never met, stays.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: tile.alloc "roles"
// CHECK: tile.barrier_wait %ready
func.func @alone(%n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// A pipelined loop is tried for each of its iterations; one thread arrives for its role.
// CHECK-LABEL: func.func @pipelined
// CHECK-NOT: tile.alloc "roles"
// CHECK: tile.pipelined
// CHECK:   tile.barrier_arrive %ready
// CHECK:   tile.barrier_wait %ready
func.func @pipelined(%n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%b) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [1] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    tile.pipelined %k = %c0 to %c3 stages 2 {
      %p = tile.floormod %k, %c2 : index
      scf.if %first {
        tile.barrier_arrive %ready[%c0] once : memref<1xi64, #shared>
      } else {
        tile.barrier_wait %ready[%c0] parity %p : memref<1xi64, #shared>
      }
    }
  }
  return
}
