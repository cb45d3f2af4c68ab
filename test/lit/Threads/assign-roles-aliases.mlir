// RUN: tw-opt %s -tile-assign-roles=disjoint=false -verify-diagnostics | FileCheck %s

// Tensors may share memory: a read of one comes before a write of the other, as the text has them.
#global = #tile.space<global>
#shared = #tile.space<shared>

// CHECK-LABEL: func.func @read_then_write
// CHECK: tile.role
// CHECK:   tile.copy %arg0, %s
// CHECK:   tile.barrier_arrive %[[ORDER:order_.*]][
// CHECK: tile.role
// CHECK:   tile.barrier_wait %[[ORDER]][
// CHECK:   tile.copy %u, %arg1
func.func @read_then_write(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%x) in (%n) threads [64] {
    %ready = tile.barrier_alloc "ready" arrivals [32] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<64xf32, #shared>
    %u = tile.alloc "u" : memref<64xf32, #shared>
    %t = tile.thread_id 0
    %first = arith.cmpi slt, %t, %c32 : index
    // expected-remark@below {{2 roles run at once}}
    scf.if %first {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      // expected-note@below {{the other role is here}}
      tile.copy %a, %s : memref<64xf32, #global> to memref<64xf32, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
      // expected-remark@below {{a barrier is added in front of this statement}}
      tile.copy %u, %b : memref<64xf32, #shared> to memref<64xf32, #global>
    }
  }
  return
}
