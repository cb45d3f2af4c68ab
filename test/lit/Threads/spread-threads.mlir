// RUN: tw-opt %s -tile-spread-threads | FileCheck %s

#global = #tile.space<global>
#shared = #tile.space<shared>
#local = #tile.space<local>

// A thread reads what another one has written: the loop over the threads is cut.
// CHECK-LABEL: func.func @cut
// CHECK: tile.parallel (%[[T:.*]]) in (128)
// CHECK:   %[[V:.*]] = tile.load %arg0[%[[T]]]
// CHECK:   tile.store %[[V]], %s[%[[T]]]
// CHECK: }
// CHECK: tile.parallel (%[[U:.*]]) in (128)
// CHECK:   tile.load %s
// CHECK:   tile.store %{{.*}}, %arg0[%[[U]]]
// CHECK-NOT: tile.thread_id
func.func @cut(%a: memref<128xf32, #global>, %n: index) {
  %c127 = arith.constant 127 : index
  tile.kernel (%b) in (%n) threads [128] {
    %s = tile.alloc "s" : memref<128xf32, #shared>
    %t = tile.thread_id 0
    %v = tile.load %a[%t] : memref<128xf32, #global>
    tile.store %v, %s[%t] : memref<128xf32, #shared>
    %u = arith.subi %c127, %t : index
    %w = tile.load %s[%u] : memref<128xf32, #shared>
    tile.store %w, %a[%t] : memref<128xf32, #global>
  }
  return
}

// Memory of a thread is a row of a fragment; a variable of a thread is one element of it.
// CHECK-LABEL: func.func @own
// CHECK-DAG: %[[R:.*]] = tile.alloc "row" : memref<64x2xf32, #tile.space<fragment>>
// CHECK-DAG: %[[V:.*]] = tile.alloc "v" : memref<64xf32, #tile.space<fragment>>
// CHECK: tile.parallel (%[[T:.*]]) in (64)
// CHECK:   tile.store %{{.*}}, %[[R]][%[[T]], %c0]
// CHECK:   tile.store %{{.*}}, %[[V]][%[[T]]]
func.func @own(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.kernel (%b) in (%n) threads [64] {
    %row = tile.alloc "row" : memref<2xf32, #local>
    %v = tile.alloc "v" : memref<f32, #local>
    %t = tile.thread_id 0
    %x = tile.load %a[%t] : memref<64xf32, #global>
    tile.store %x, %row[%c0] : memref<2xf32, #local>
    %y = tile.load %row[%c0] : memref<2xf32, #local>
    tile.store %y, %v[] : memref<f32, #local>
    %z = tile.load %v[] : memref<f32, #local>
    tile.store %z, %a[%t] : memref<64xf32, #global>
  }
  return
}

// An array that all threads fill alike is the block's: a variable for each element.
// CHECK-LABEL: func.func @uniform
// CHECK: %[[AT:.*]] = tile.alloc "at" : memref<i32, #tile.space<local>>
// CHECK: tile.store %{{.*}}, %[[AT]][]
// CHECK-NOT: tile.parallel
func.func @uniform(%n: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  tile.kernel (%b) in (%n) threads [64] {
    %at = tile.alloc "at" : memref<2xi32, #local>
    tile.store %one, %at[%c0] : memref<2xi32, #local>
  }
  return
}

// A tile statement of some threads runs once, where the text has it.
// CHECK-LABEL: func.func @role
// CHECK-NOT: scf.if
// CHECK: tile.copy %arg0, %s
func.func @role(%a: memref<64xf32, #global>, %n: index) {
  %c32 = arith.constant 32 : index
  tile.kernel (%b) in (%n) threads [64] {
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.copy %a, %s : memref<64xf32, #global> to memref<64xf32, #shared>
    }
  }
  return
}

// Threads leave the loop at different times, and read what others write: all of them go round as
// often as the last one. The loop inside moves out of the branch that computes its operand.
// CHECK-LABEL: func.func @uneven_loop
// CHECK: %[[TRIPS:.*]] = tile.alloc "trips" : memref<1xi64, #tile.space<shared>>
// CHECK: tile.parallel
// CHECK:   tile.atomic_element max %{{.*}}, %[[TRIPS]]
// CHECK: %[[N:.*]] = tile.load %[[TRIPS]]
// CHECK: %[[BOUND:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[BOUND]]
// CHECK-NOT: scf.if
// CHECK:   scf.for
// CHECK:     tile.parallel
// CHECK:       scf.if
// CHECK:         tile.load %arg0
// CHECK:     tile.parallel
// CHECK:       scf.if
// CHECK:         tile.store %{{.*}}, %arg0
func.func @uneven_loop(%x: memref<?x3xf32, #tile.space<global>>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %step = arith.constant 32 : index
  tile.kernel (%b) in (%one) threads [32] {
    %t = tile.thread_id 0
    scf.for %i = %t to %n step %step {
      scf.for %j = %zero to %three step %one {
        %v = tile.load %x[%i, %j] : memref<?x3xf32, #tile.space<global>>
        tile.store %v, %x[%i, %zero] : memref<?x3xf32, #tile.space<global>>
      }
    }
  }
  return
}

// Roles that use one array each for itself get one each, which is the same for all their threads:
// it may bound a statement of the whole role.
// CHECK-LABEL: func.func @roles
// CHECK-DAG: %[[A:.*]] = tile.alloc "row" : memref<i32, #tile.space<local>>
// CHECK-DAG: %[[B:.*]] = tile.alloc "row" : memref<i32, #tile.space<local>>
// CHECK: tile.store %{{.*}}, %[[A]][]
// CHECK: tile.store %{{.*}}, %[[B]][]
// CHECK-NOT: memref<128x1xi32
func.func @roles(%a: memref<128xi32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%b) in (%n) threads [128] {
    %row = tile.alloc "row" : memref<1xi32, #local>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c64 : index
    scf.if %first {
      %x = tile.load %a[%b] : memref<128xi32, #global>
      tile.store %x, %row[%c0] : memref<1xi32, #local>
      %y = tile.load %row[%c0] : memref<1xi32, #local>
      tile.store %y, %a[%t] : memref<128xi32, #global>
    } else {
      %x = tile.load %a[%c64] : memref<128xi32, #global>
      tile.store %x, %row[%c0] : memref<1xi32, #local>
      %y = tile.load %row[%c0] : memref<1xi32, #local>
      tile.store %y, %a[%t] : memref<128xi32, #global>
    }
  }
  return
}

// The variable of a role inside a role is the same for all of its threads, though the condition of
// the inner role is computed at each of its uses.
// CHECK-LABEL: func.func @nested_roles
// CHECK: %[[V:.*]] = tile.alloc "v" : memref<i32, #tile.space<local>>
// CHECK: tile.store %{{.*}}, %[[V]][]
// CHECK: tile.parallel (%[[I:.*]]) in (8)
// CHECK:   tile.load %[[V]][]
func.func @nested_roles(%a: memref<8xi32, #global>, %n: index) {
  %c32 = arith.constant 32 : index
  %one = arith.constant 1 : i32
  tile.kernel (%b) in (%n) threads [128] {
    %v = tile.alloc "v" : memref<i32, #local>
    %t = tile.thread_id 0
    %c64 = arith.constant 64 : index
    %outer = arith.cmpi slt, %t, %c64 : index
    scf.if %outer {
      %inner = arith.cmpi slt, %t, %c32 : index
      scf.if %inner {
        tile.store %one, %v[] : memref<i32, #local>
      }
      %again = arith.cmpi slt, %t, %c32 : index
      scf.if %again {
        tile.parallel (%i) in (8) {
          %x = tile.load %v[] : memref<i32, #local>
          tile.store %x, %a[%i] : memref<8xi32, #global>
        }
      }
    }
  }
  return
}

// All warps of the block take part in the product of a role: the policy was about the role's own.
// CHECK-LABEL: func.func @policy_of_a_role
// CHECK: tile.gemm
// CHECK-NOT: policy
// CHECK: tile.gemm {{.*}} policy full_row
func.func @policy_of_a_role(%n: index) {
  tile.kernel (%b) in (%n) threads [384] {
    %a = tile.alloc "a" : memref<64x16xf16, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #tile.space<fragment>>
    %t = tile.thread_id 0
    %c128 = arith.constant 128 : index
    %role = arith.cmpi slt, %t, %c128 : index
    scf.if %role {
      tile.gemm %a, %a, %c transpose_b policy full_row : memref<64x16xf16, #shared>, memref<64x16xf16, #shared>, memref<64x64xf32, #tile.space<fragment>>
    }
    tile.gemm %a, %a, %c transpose_b policy full_row : memref<64x16xf16, #shared>, memref<64x16xf16, #shared>, memref<64x64xf32, #tile.space<fragment>>
  }
  return
}

// A variable of a thread that holds an index has 64 bits.
// CHECK-LABEL: func.func @index_of_a_thread
// CHECK: %[[AT:.*]] = tile.alloc "at" : memref<64xi64, #tile.space<fragment>>
// CHECK: %[[WIDE:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK: tile.store %[[WIDE]], %[[AT]]
func.func @index_of_a_thread(%a: memref<64xf32, #global>, %n: index) {
  %one = arith.constant 1.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    %at = tile.alloc "at" : memref<index, #local>
    %t = tile.thread_id 0
    tile.store %t, %at[] : memref<index, #local>
    %i = tile.load %at[] : memref<index, #local>
    tile.store %one, %a[%i] : memref<64xf32, #global>
  }
  return
}

// The elements of a thread's row are its slots, from 0 on.
// CHECK-LABEL: func.func @slots_of_a_row
// CHECK: tile.annotate_layout %row {{.*}}"(i, j) -> thread i, slot j"
func.func @slots_of_a_row(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.kernel (%b) in (%n) threads [64] {
    %row = tile.alloc "row" : memref<2xf32, #local>
    %t = tile.thread_id 0
    %x = tile.load %a[%t] : memref<64xf32, #global>
    tile.store %x, %row[%c0] : memref<2xf32, #local>
    %y = tile.load %row[%c0] : memref<2xf32, #local>
    tile.store %y, %a[%t] : memref<64xf32, #global>
  }
  return
}

// A copy of one thread converts from the type of its source.
// CHECK-LABEL: func.func @converting_copy
// CHECK: tile.cast %{{.*}} from f32 to f16
func.func @converting_copy(%a: memref<64x2xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.kernel (%b) in (%n) threads [64] {
    %row = tile.alloc "row" : memref<2xf16, #local>
    %t = tile.thread_id 0
    %part = tile.slice %a[%t, 0] [1, 2] [1, 1] drop [0] : memref<64x2xf32, #global> to memref<2xf32, #global>
    tile.copy %part, %row : memref<2xf32, #global> to memref<2xf16, #local>
    %y = tile.load %row[%c0] : memref<2xf16, #local>
    %z = tile.cast %y from f16 to f32
    tile.store %z, %a[%t, %c0] : memref<64x2xf32, #global>
  }
  return
}

// A pipelined loop of single threads runs from its lower bound to its upper one.
// CHECK-LABEL: func.func @pipelined_threads
// CHECK: scf.for %{{.*}} = %c0 to %arg1 step
func.func @pipelined_threads(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.kernel (%b) in (%n) threads [64] {
    %t = tile.thread_id 0
    tile.pipelined %k = %c0 to %n stages 2 {
      %x = tile.load %a[%t] : memref<64xf32, #global>
      %y = arith.addf %x, %x : f32
      tile.store %y, %a[%t] : memref<64xf32, #global>
    }
  }
  return
}

// Each thread of a role updates, though all of them add the same to the same element.
// CHECK-LABEL: func.func @updates_of_a_role
// CHECK: tile.fill
// CHECK: tile.parallel (%{{.*}}) in (64)
// CHECK:   scf.if
// CHECK:     tile.atomic_element add
func.func @updates_of_a_role(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    scf.if %first {
      tile.fill %one, %s : f32, memref<64xf32, #shared>
      tile.atomic_element add %one, %a[%c0] : memref<64xf32, #global>
    }
  }
  return
}

// A value that a branch of all threads gives is the same for all of them.
// CHECK-LABEL: func.func @value_of_a_branch_of_all
// CHECK-NOT: tile.parallel
// CHECK: tile.store
func.func @value_of_a_branch_of_all(%a: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    %t = tile.thread_id 0
    %more = arith.cmpi slt, %b, %c32 : index
    %v = scf.if %more -> (f32) {
      scf.yield %one : f32
    } else {
      scf.yield %two : f32
    }
    tile.store %v, %a[%c0] : memref<64xf32, #global>
  }
  return
}

// An index that one loop over the threads hands to another has 64 bits, too.
// CHECK-LABEL: func.func @index_between_loops
// CHECK: %[[SLOT:.*]] = tile.alloc "value" : memref<64xi64, #tile.space<fragment>>
// CHECK: tile.store %{{.*}}, %[[SLOT]][
func.func @index_between_loops(%a: memref<64xf32, #global>, %u: index, %n: index) {
  %one = arith.constant 1.0 : f32
  tile.kernel (%b) in (%n) threads [64] {
    %at = tile.alloc "at" : memref<index, #local>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    tile.store %t, %at[] : memref<index, #local>
    %i = tile.load %at[] : memref<index, #local>
    tile.store %one, %s[%i] : memref<64xf32, #shared>
    %x = tile.load %s[%u] : memref<64xf32, #shared>
    tile.store %x, %a[%i] : memref<64xf32, #global>
  }
  return
}
