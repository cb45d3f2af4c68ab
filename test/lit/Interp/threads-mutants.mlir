// RUN: tw-opt -test-interpret=order=1 %s -o /dev/null -verify-diagnostics | FileCheck %s
// A producer and a consumer that hand a tile over. Without the arrival the consumer never goes on;
// without the wait, the two touch the tile and nothing orders them.

#global = #tile.space<global>
#shared = #tile.space<shared>

// CHECK-LABEL: @whole
// CHECK: B = 5 5
func.func @whole(%a: memref<2xi32, #global>, %b: memref<2xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<5> : tensor<2xi32>, dense<0> : tensor<2xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%x) in (%c1) threads [4] {
    %ready = tile.barrier_alloc "ready" arrivals [2] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<2xi32, #shared>
    %t = tile.thread_id 0
    %producer = arith.cmpi slt, %t, %c2 : index
    scf.if %producer {
      tile.copy %a, %s : memref<2xi32, #global> to memref<2xi32, #shared>
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
      tile.copy %s, %b : memref<2xi32, #shared> to memref<2xi32, #global>
    }
  }
  return
}

func.func @without_the_arrival(%a: memref<2xi32, #global>, %b: memref<2xi32, #global>)
    attributes {interp.args = [dense<5> : tensor<2xi32>, dense<0> : tensor<2xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%x) in (%c1) threads [4] {
    %ready = tile.barrier_alloc "ready" arrivals [2] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<2xi32, #shared>
    %t = tile.thread_id 0
    %producer = arith.cmpi slt, %t, %c2 : index
    scf.if %producer {
      tile.copy %a, %s : memref<2xi32, #global> to memref<2xi32, #shared>
    } else {
      // expected-remark @+1 {{error: this wait is not met: what it waits for never comes; threads 2-3 wait here for barrier 0 of 'ready' (0 of 2 arrivals in phase 0); block (0) [deadlock]}}
      tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
      tile.copy %s, %b : memref<2xi32, #shared> to memref<2xi32, #global>
    }
  }
  return
}

func.func @without_the_wait(%a: memref<2xi32, #global>, %b: memref<2xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<5> : tensor<2xi32>, dense<0> : tensor<2xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%x) in (%c1) threads [4] {
    %ready = tile.barrier_alloc "ready" arrivals [2] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<2xi32, #shared>
    %t = tile.thread_id 0
    %producer = arith.cmpi slt, %t, %c2 : index
    scf.if %producer {
      // expected-remark-re @+1 {{finding: the role of thread 0 writes element [0] of 's', which the role of thread 2 reads at {{.*}}threads-mutants.mlir:{{[0-9]+}}; no barrier orders the two; block (0), 2 times [race]}}
      tile.copy %a, %s : memref<2xi32, #global> to memref<2xi32, #shared>
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    } else {
      // expected-remark @+1 {{the value stored to 'B' at [0] depends on an element that was never written}}
      tile.copy %s, %b : memref<2xi32, #shared> to memref<2xi32, #global>
    }
  }
  return
}

// All wait for each other, and the report names all of them.
func.func @circle()
    attributes {interp.args = []} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%x) in (%c1) threads [4] {
    %first = tile.barrier_alloc "first" arrivals [2] : memref<1xi64, #shared>
    %second = tile.barrier_alloc "second" arrivals [2] : memref<1xi64, #shared>
    %t = tile.thread_id 0
    %low = arith.cmpi slt, %t, %c2 : index
    scf.if %low {
      // expected-remark-re @+1 {{error: this wait is not met: what it waits for never comes; threads 0-1 wait here for barrier 0 of 'first' (0 of 2 arrivals in phase 0), threads 2-3 wait at {{.*}}threads-mutants.mlir:{{[0-9]+}} for barrier 0 of 'second' (0 of 2 arrivals in phase 0); block (0) [deadlock]}}
      tile.barrier_wait %first[%c0] parity %c0 : memref<1xi64, #shared>
      tile.barrier_arrive %second[%c0] : memref<1xi64, #shared>
    } else {
      tile.barrier_wait %second[%c0] parity %c0 : memref<1xi64, #shared>
      tile.barrier_arrive %first[%c0] : memref<1xi64, #shared>
    }
  }
  return
}
