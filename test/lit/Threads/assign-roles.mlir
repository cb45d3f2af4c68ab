// RUN: tw-opt %s -tile-assign-roles -verify-diagnostics | FileCheck %s

#global = #tile.space<global>
#shared = #tile.space<shared>

// Barriers order all that the roles do: each has its own code, and the barriers stay.
// CHECK-LABEL: func.func @at_once
// CHECK: tile.role "ws0" threads 32 {
// CHECK:   scf.for
// CHECK:     tile.barrier_wait %free
// CHECK:     tile.copy %arg0, %s {tile.at_arrival}
// CHECK:     tile.barrier_arrive %ready
// CHECK: } {tile.first_thread = 0 : i64, tile.meeting = 1 : i64}
// CHECK: tile.role "ws0" threads 32 {
// CHECK:     tile.barrier_wait %ready
// CHECK:     tile.copy %s, %arg1
// CHECK:     tile.barrier_arrive %free
// CHECK: } {tile.first_thread = 32 : i64, tile.meeting = 2 : i64}
func.func @at_once(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %free = tile.barrier_alloc "free" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    // expected-remark@below {{2 roles run at once: 32 threads from 0 on, 32 threads from 32 on}}
    scf.for %k = %c0 to %n step %c1 {
      %p = tile.floormod %k, %c2 : index
      %q0 = arith.addi %k, %c1 : index
      %q = tile.floormod %q0, %c2 : index
      scf.if %first {
        tile.barrier_wait %free[%c0] parity %q : memref<1xi64, #shared>
        tile.copy %a, %s : memref<64xf32, #global> to memref<64xf32, #shared>
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      } else {
        tile.barrier_wait %ready[%c0] parity %p : memref<1xi64, #shared>
        tile.copy %s, %b : memref<64xf32, #shared> to memref<64xf32, #global>
        tile.barrier_arrive %free[%c0] : memref<1xi64, #shared>
      }
    }
  }
  return
}

// The second role waits for the wrong parity in later iterations: what it reads may be overwritten.
// CHECK-LABEL: func.func @not_proved
// CHECK-NOT: tile.role
func.func @not_proved(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.for %k = %c0 to %n step %c1 {
      %p = tile.floormod %k, %c2 : index
      scf.if %first {
        tile.copy %a, %s : memref<64xf32, #global> to memref<64xf32, #shared>
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      } else {
        // expected-remark@below {{roles take turns instead of running at once: }}
        tile.barrier_wait %ready[%c0] parity %p : memref<1xi64, #shared>
        tile.copy %s, %b : memref<64xf32, #shared> to memref<64xf32, #global>
      }
    }
  }
  return
}

// Nothing makes the second role wait for the write after the arrival: one more barrier does.
// CHECK-LABEL: func.func @repaired
// CHECK: %order_u = tile.barrier_alloc "order_u" arrivals [32]
// CHECK: tile.role
// CHECK:   tile.barrier_arrive %ready
// CHECK:   tile.fill %{{.*}}, %u
// CHECK:   tile.barrier_arrive %order_u
// CHECK: tile.role
// CHECK:   tile.barrier_wait %order_u
// CHECK:   tile.copy %u, %arg0
func.func @repaired(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %u = tile.alloc "u" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    // expected-remark@below {{2 roles run at once}}
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      // expected-note@below {{the other role is here}}
      tile.fill %one, %u : f32, memref<64xf32, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
      // expected-remark@below {{a barrier is added in front of this statement: no barrier of the program orders it after what another role does before; TileLang would race here}}
      tile.copy %u, %a : memref<64xf32, #shared> to memref<64xf32, #global>
    }
  }
  return
}

// Both roles wait first.
// CHECK-LABEL: func.func @never_met
// CHECK-NOT: tile.role
func.func @never_met(%n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%x) in (%n) threads [64] {
    %here = tile.barrier_alloc "here" arrivals [32] : memref<1xi64, #shared>
    %there = tile.barrier_alloc "there" arrivals [32] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      // expected-remark@below {{roles take turns instead of running at once: this wait is never met: roles wait for each other}}
      tile.barrier_wait %there[%c0] parity %c0 : memref<1xi64, #shared>
      tile.barrier_arrive %here[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %here[%c0] parity %c0 : memref<1xi64, #shared>
      tile.barrier_arrive %there[%c0] : memref<1xi64, #shared>
    }
  }
  return
}

// Roles write parts of a tile that do not meet: nothing is to be ordered.
// CHECK-LABEL: func.func @parts
// CHECK-NOT: order_s
func.func @parts(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    // expected-remark@below {{2 roles run at once}}
    scf.if %first {
      %low = tile.slice %s[0] [32] [1] : memref<64xf32, #shared> to memref<32xf32, #shared>
      tile.fill %one, %low : f32, memref<32xf32, #shared>
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      %high = tile.slice %s[32] [32] [1] : memref<64xf32, #shared> to memref<32xf32, #shared>
      tile.fill %one, %high : f32, memref<32xf32, #shared>
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// Here both write element 32.
// CHECK-LABEL: func.func @parts_that_meet
// CHECK: %order_s = tile.barrier_alloc "order_s"
func.func @parts_that_meet(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    // expected-remark@below {{2 roles run at once}}
    scf.if %first {
      %low = tile.slice %s[0] [33] [1] : memref<64xf32, #shared> to memref<33xf32, #shared>
      // expected-note@below {{the other role is here}}
      tile.fill %one, %low : f32, memref<33xf32, #shared>
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      %high = tile.slice %s[32] [32] [1] : memref<64xf32, #shared> to memref<32xf32, #shared>
      // expected-remark@below {{a barrier is added in front of this statement}}
      tile.fill %one, %high : f32, memref<32xf32, #shared>
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// What all threads do before the roles start counts: the first phase of "begun" is over by then, so that
// the first role's arrivals end the second one.
// CHECK-LABEL: func.func @begun_before
// CHECK: tile.barrier_arrive %begun
// CHECK: tile.barrier_wait %begun
// CHECK: tile.role
// CHECK: tile.role
func.func @begun_before(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %begun = tile.barrier_alloc "begun" arrivals [64] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    tile.barrier_arrive %begun[%c0] : memref<1xi64, #shared>
    tile.barrier_wait %begun[%c0] parity %c0 : memref<1xi64, #shared>
    // expected-remark@below {{2 roles run at once}}
    scf.if %first {
      tile.copy %a, %s : memref<64xf32, #global> to memref<64xf32, #shared>
      tile.barrier_arrive %begun[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_arrive %begun[%c0] : memref<1xi64, #shared>
      tile.barrier_wait %begun[%c0] parity %c1 : memref<1xi64, #shared>
      tile.copy %s, %a : memref<64xf32, #shared> to memref<64xf32, #global>
    }
  }
  return
}

// A branch is a role's, too, if it holds nothing but a statement on a whole tile.
// CHECK-LABEL: func.func @role_without_barriers
// CHECK-COUNT-3: tile.role
func.func @role_without_barriers(%n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [96] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    %third = arith.cmpi sge, %t, %c64 : index
    // expected-remark@below {{3 roles run at once: 32 threads from 0 on, 32 threads from 32 on, 32 threads from 64 on}}
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
      scf.if %third {
        tile.fill %one, %s : f32, memref<64xf32, #shared>
      }
    }
  }
  return
}

// A pipelined loop of roles becomes one that takes one step after another.
// CHECK-LABEL: func.func @pipelined
// CHECK: tile.role
// CHECK: scf.for
// CHECK: tile.role
func.func @pipelined(%n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %free = tile.barrier_alloc "free" arrivals [32] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    // expected-remark@below {{2 roles run at once}}
    tile.pipelined %k = %c0 to %n stages 2 {
      %p = tile.floormod %k, %c2 : index
      scf.if %first {
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
        tile.barrier_wait %free[%c0] parity %p : memref<1xi64, #shared>
      } else {
        tile.barrier_wait %ready[%c0] parity %p : memref<1xi64, #shared>
        tile.barrier_arrive %free[%c0] : memref<1xi64, #shared>
      }
    }
  }
  return
}

// If the second loop has no iterations, nothing orders the copy after what the first one does.
// CHECK-LABEL: func.func @no_iterations
// CHECK: %order_s = tile.barrier_alloc "order_s"
func.func @no_iterations(%a: memref<64xf32, #global>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %free = tile.barrier_alloc "free" arrivals [32] : memref<1xi64, #shared>
    %mine = tile.barrier_alloc "mine" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    // expected-remark@below {{2 roles run at once}}
    scf.if %first {
      scf.for %k = %c0 to %m step %c1 {
        // expected-note@below {{the other role is here}}
        tile.fill %one, %s : f32, memref<64xf32, #shared>
        tile.barrier_arrive %mine[%c0] : memref<1xi64, #shared>
      }
      scf.for %k = %c0 to %n step %c1 {
        %p = tile.floormod %k, %c2 : index
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
        tile.barrier_wait %free[%c0] parity %p : memref<1xi64, #shared>
      }
    } else {
      scf.for %k = %c0 to %n step %c1 {
        %p = tile.floormod %k, %c2 : index
        tile.barrier_wait %ready[%c0] parity %p : memref<1xi64, #shared>
        tile.barrier_arrive %free[%c0] : memref<1xi64, #shared>
      }
      // expected-remark@below {{a barrier is added in front of this statement}}
      tile.copy %s, %a : memref<64xf32, #shared> to memref<64xf32, #global>
    }
  }
  return
}

// The second coordinate of a thread tells its warp.
// CHECK-LABEL: func.func @second_coordinate
// CHECK-COUNT-2: tile.role
func.func @second_coordinate(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%x) in (%n) threads [32, 2] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %t = tile.thread_id 1
    %first = arith.cmpi slt, %t, %c1 : index
    // expected-remark@below {{2 roles run at once: 32 threads from 0 on, 32 threads from 32 on}}
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// Registers change hands between warpgroups: here the second role has two warps.
func.func @half_a_warpgroup(%n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  tile.kernel (%x) in (%n) threads [192] {
    %ready = tile.barrier_alloc "ready" arrivals [128] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c128 : index
    // expected-remark@below {{2 roles run at once: 128 threads from 0 on, 64 threads from 128 on}}
    scf.if %first {
      // expected-remark@below {{roles that change them are whole warpgroups}}
      tile.hint "set_max_nreg" {count = 152 : i64, inc = 1 : i64}
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}
