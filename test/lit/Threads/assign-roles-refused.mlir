// RUN: tw-opt %s -tile-assign-roles -verify-diagnostics | FileCheck %s

// Why roles are left to tile-merge-roles: one program for each reason. What is proved of the others
// stands in assign-roles.mlir.
// CHECK-NOT: tile.role

#global = #tile.space<global>
#shared = #tile.space<shared>
#local = #tile.space<local>
#fragment = #tile.space<fragment>

// A barrier of all threads after them.
func.func @after_the_roles(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
    // expected-remark@below {{roles take turns instead of running at once: a barrier is used after the roles have ended}}
    tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
  }
  return
}

// Of 32 threads 16 arrive.
func.func @half_a_warp(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    %c16 = arith.constant 16 : index
    %half = arith.cmpi slt, %t, %c16 : index
    scf.if %first {
      // expected-remark@below {{roles take turns instead of running at once: some threads of a role come to a barrier, others do not}}
      scf.if %half {
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      }
      tile.fill %one, %s : f32, memref<64xf32, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// A loop whose values go on.
func.func @values_of_a_loop(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    // expected-remark@below {{roles take turns instead of running at once: a loop with barriers hands values over}}
    %last = scf.for %k = %c0 to %n step %c1 iter_args(%v = %c0) -> (index) {
      scf.if %first {
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      } else {
        tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
      }
      %w = arith.addi %v, %k : index
      scf.yield %w : index
    }
  }
  return
}

// A loop whose end only the run knows.
func.func @while_of_roles(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    // expected-remark@below {{roles take turns instead of running at once: roles stand in a loop whose end only the run knows}}
    scf.while : () -> () {
      %v = tile.load %i[%c0] : memref<4xi64, #global>
      %zero = arith.constant 0 : i64
      %more = arith.cmpi ne, %v, %zero : i64
      scf.condition(%more)
    } do {
      scf.if %first {
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      } else {
        tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
      }
      scf.yield
    }
  }
  return
}

// A statement of all threads between those of roles.
func.func @whole_block_between(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
    // expected-remark@below {{roles take turns instead of running at once: a statement of the whole block stands between those of roles}}
    tile.copy %a, %s : memref<64xf32, #global> to memref<64xf32, #shared>
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// What a thread has read before the roles start is in its registers.
func.func @read_before(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    %v = tile.load %a[%t] : memref<64xf32, #global>
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      // expected-remark@below {{roles take turns instead of running at once: it uses what a thread has read before the roles start}}
      tile.store %v, %s[%t] : memref<64xf32, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// Which barrier is a number of a tensor.
func.func @unknown_barrier(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32, 32] : memref<2xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      %loaded = tile.load %i[%c0] : memref<4xi64, #global>
      %number = arith.index_cast %loaded : i64 to index
      // expected-remark@below {{roles take turns instead of running at once: which barrier this is is only known when it runs}}
      tile.barrier_arrive %ready[%number] : memref<2xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<2xi64, #shared>
    }
  }
  return
}

// A row of two has no element 2.
func.func @no_such_barrier(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32, 32] : memref<2xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      %far = arith.addi %c1, %c1 : index
      // expected-remark@below {{roles take turns instead of running at once: there is no barrier 2 in a row of 2}}
      tile.barrier_arrive %ready[%far] : memref<2xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<2xi64, #shared>
    }
  }
  return
}

// Which phase is a number of a tensor.
func.func @unknown_parity(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      %loaded = tile.load %i[%c0] : memref<4xi64, #global>
      %number = arith.index_cast %loaded : i64 to index
      // expected-remark@below {{roles take turns instead of running at once: which phase this waits for is only known when it runs}}
      tile.barrier_wait %ready[%c0] parity %number : memref<1xi64, #shared>
    }
  }
  return
}

// How far a loop goes on at once is an argument.
func.func @unknown_step(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      // expected-remark@below {{roles take turns instead of running at once: the step of this loop is only known when it runs}}
      scf.for %k = %c0 to %c2 step %n {
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      }
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// Where a loop starts is an argument.
func.func @unknown_start(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      // expected-remark@below {{roles take turns instead of running at once: where this loop starts is only known when it runs}}
      scf.for %k = %n to %c2 step %c1 {
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      }
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// Whether a role arrives is a number of a tensor.
func.func @unknown_branch(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      %loaded = tile.load %i[%c0] : memref<4xi64, #global>
      %number = arith.index_cast %loaded : i64 to index
      %does = arith.cmpi eq, %number, %c0 : index
      // expected-remark@below {{roles take turns instead of running at once: whether a role comes to a barrier in this branch is only known when it runs}}
      scf.if %does {
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      }
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// How often a role arrives is decided by a tensor.
func.func @unknown_times(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      // expected-remark@below {{roles take turns instead of running at once: how often a role comes to a barrier in here is only known when it runs}}
      scf.while : () -> () {
        %v = tile.load %i[%c0] : memref<4xi64, #global>
        %zero = arith.constant 0 : i64
        %more = arith.cmpi ne, %v, %zero : i64
        scf.condition(%more)
      } do {
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
        scf.yield
      }
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// Two million arrivals.
func.func @too_long(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      %many = arith.constant 2000000 : index
      scf.for %k = %c0 to %many step %c1 {
        // expected-remark@below {{roles take turns instead of running at once: its roles do too much to be checked}}
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      }
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// The second role arrives without having waited for what the first one did.
func.func @never_ordered(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      // expected-remark@below {{roles take turns instead of running at once: nothing orders this arrival after the phase before}}
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    }
  }
  return
}

// Twice 32 threads where 48 end a phase.
func.func @too_many(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [48] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      // expected-remark@below {{roles take turns instead of running at once: more threads arrive here than end a phase}}
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// The next phase may end before the second role looks.
func.func @overtaken(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %here = tile.barrier_alloc "here" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      tile.barrier_wait %here[%c0] parity %c0 : memref<1xi64, #shared>
      // expected-remark@below {{roles take turns instead of running at once: nothing keeps this phase from ending while a role may still wait for the one before}}
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_arrive %here[%c0] : memref<1xi64, #shared>
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// When the second role waits, two phases may be over.
func.func @two_phases(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      // expected-remark@below {{roles take turns instead of running at once: the phase that this waits for may be two phases ago}}
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// All threads wait for what no role has begun.
func.func @waits_before(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    // expected-remark@below {{roles take turns instead of running at once: this wait is never met}}
    tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// Three loops whose lengths are numbers of a tensor.
func.func @three_bounds(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  // expected-remark@below {{roles take turns instead of running at once: the bounds of more than two loops are only known when it runs}}
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      %v0 = tile.load %i[%c0] : memref<4xi64, #global>
      %n0 = arith.index_cast %v0 : i64 to index
      scf.for %k = %c0 to %n0 step %c1 {
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      }
      %v1 = tile.load %i[%c1] : memref<4xi64, #global>
      %n1 = arith.index_cast %v1 : i64 to index
      scf.for %k = %c0 to %n1 step %c1 {
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      }
      %v2 = tile.load %i[%c2] : memref<4xi64, #global>
      %n2 = arith.index_cast %v2 : i64 to index
      scf.for %k = %c0 to %n2 step %c1 {
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      }
    } else {
      tile.fill %one, %s : f32, memref<64xf32, #shared>
    }
  }
  return
}

// A fragment is in the registers of one role.
func.func @shared_fragment(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    // expected-remark@below {{roles share the fragment 'f', which is in the registers of one of them}}
    %f = tile.alloc "f" : memref<64xf32, #fragment>
    scf.if %first {
      tile.fill %one, %f : f32, memref<64xf32, #fragment>
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
      tile.copy %f, %a : memref<64xf32, #fragment> to memref<64xf32, #global>
    }
  }
  return
}

// Nine tiles that no barrier orders; eight are mended.
func.func @nine_repairs(%a: memref<64xf32, #global>, %i: memref<4xi64, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    %u0 = tile.alloc "u0" : memref<64xf32, #shared>
    %u1 = tile.alloc "u1" : memref<64xf32, #shared>
    %u2 = tile.alloc "u2" : memref<64xf32, #shared>
    %u3 = tile.alloc "u3" : memref<64xf32, #shared>
    %u4 = tile.alloc "u4" : memref<64xf32, #shared>
    %u5 = tile.alloc "u5" : memref<64xf32, #shared>
    %u6 = tile.alloc "u6" : memref<64xf32, #shared>
    %u7 = tile.alloc "u7" : memref<64xf32, #shared>
    %u8 = tile.alloc "u8" : memref<64xf32, #shared>
    scf.if %first {
      tile.fill %one, %u0 : f32, memref<64xf32, #shared>
      tile.fill %one, %u1 : f32, memref<64xf32, #shared>
      tile.fill %one, %u2 : f32, memref<64xf32, #shared>
      tile.fill %one, %u3 : f32, memref<64xf32, #shared>
      tile.fill %one, %u4 : f32, memref<64xf32, #shared>
      tile.fill %one, %u5 : f32, memref<64xf32, #shared>
      tile.fill %one, %u6 : f32, memref<64xf32, #shared>
      tile.fill %one, %u7 : f32, memref<64xf32, #shared>
      tile.fill %one, %u8 : f32, memref<64xf32, #shared>
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.fill %one, %u0 : f32, memref<64xf32, #shared>
      tile.fill %one, %u1 : f32, memref<64xf32, #shared>
      tile.fill %one, %u2 : f32, memref<64xf32, #shared>
      tile.fill %one, %u3 : f32, memref<64xf32, #shared>
      tile.fill %one, %u4 : f32, memref<64xf32, #shared>
      tile.fill %one, %u5 : f32, memref<64xf32, #shared>
      tile.fill %one, %u6 : f32, memref<64xf32, #shared>
      tile.fill %one, %u7 : f32, memref<64xf32, #shared>
      // expected-remark@below {{no barrier orders what roles do to 'u8'; TileLang would race here}}
      tile.fill %one, %u8 : f32, memref<64xf32, #shared>
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// A branch of all threads is a statement of the whole block, too.
func.func @whole_branch_between(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    %more = arith.cmpi slt, %x, %c32 : index
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    }
    scf.if %more {
      // expected-remark@below {{roles take turns instead of running at once: a statement of the whole block stands between those of roles}}
      tile.copy %a, %s : memref<64xf32, #global> to memref<64xf32, #shared>
    }
    scf.if %first {
      tile.fill %one, %s : f32, memref<64xf32, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// Threads of the second role may not have arrived yet when the first one goes on.
func.func @arrived_before(%n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      // expected-remark@below {{roles take turns instead of running at once: nothing orders this arrival after the phase before}}
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
    }
  }
  return
}

// Two roles end a phase together, a third one the next by itself.
func.func @together_then_alone(%n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%x) in (%n) threads [128] {
    %ready = tile.barrier_alloc "ready" arrivals [64] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    %second = arith.cmpi slt, %t, %c64 : index
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      scf.if %second {
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      } else {
        // expected-remark@below {{roles take turns instead of running at once: nothing orders this arrival after the phase before}}
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      }
    }
  }
  return
}
