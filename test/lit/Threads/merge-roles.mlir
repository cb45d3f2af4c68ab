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
