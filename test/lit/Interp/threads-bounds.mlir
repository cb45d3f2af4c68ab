// RUN: tw-opt -test-interpret=bounds=1 %s -o /dev/null | FileCheck %s --check-prefixes=CHECK,TRACED
// RUN: tw-opt -tile-split-grid -tile-merge-roles -tile-count-arrivals -tile-spread-threads \
// RUN:   -test-interpret=bounds=1 %s -o /dev/null | FileCheck %s
// Error radii of programs that name their threads: as they were traced, and after the passes that
// rewrite them. inf marks an undecided element.

#global = #tile.space<global>
#shared = #tile.space<shared>

// Each thread rounds once (u * 2x, u = 2^-24), and hands its value with the radius to another.
// CHECK-LABEL: @rounding
// CHECK: A = 4 2
// CHECK-NEXT: radii of 0 = 2.38e-07 1.19e-07
func.func @rounding(%a: memref<2xf32, #global> {tile.name = "A"})
    attributes {interp.args = [dense<[1.0, 2.0]> : tensor<2xf32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%b) in (%c1) threads [2] {
    %s = tile.alloc "s" : memref<2xf32, #shared>
    %t = tile.thread_id 0
    %v = tile.load %a[%t] : memref<2xf32, #global>
    %double = arith.addf %v, %v : f32
    tile.store %double, %s[%t] : memref<2xf32, #shared>
    %u = arith.subi %c1, %t : index
    %x = tile.load %s[%u] : memref<2xf32, #shared>
    tile.store %x, %a[%t] : memref<2xf32, #global>
  }
  return
}

// Thread 0 compares 1, which it has rounded, with 1: what it stores is undecided, and so is what it
// would have stored. Thread 1 compares 3: its decision stands.
// CHECK-LABEL: @decisions
// CHECK: B = 0 6 7 0
// CHECK-NEXT: radii of 1 = inf 0 inf 0
func.func @decisions(%a: memref<2xf32, #global>, %b: memref<4xf32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<[0.5, 1.5]> : tensor<2xf32>, dense<0.0> : tensor<4xf32>]} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %f1 = arith.constant 1.0 : f32
  %f6 = arith.constant 6.0 : f32
  %f7 = arith.constant 7.0 : f32
  tile.kernel (%block) in (%c1) threads [2] {
    %t = tile.thread_id 0
    %v = tile.load %a[%t] : memref<2xf32, #global>
    %x = arith.addf %v, %v : f32
    %isGreater = arith.cmpf ogt, %x, %f1 : f32
    scf.if %isGreater {
      tile.store %f6, %b[%t] : memref<4xf32, #global>
    } else {
      %other = arith.addi %t, %c2 : index
      tile.store %f7, %b[%other] : memref<4xf32, #global>
    }
  }
  return
}

// Which thread arrives depends on a rounded number, and with it the order of all: nothing is decided.
// TRACED-LABEL: @order
// TRACED: B = 5
// TRACED-NEXT: radii of 1 = inf
func.func @order(%a: memref<1xf32, #global>, %b: memref<1xf32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0.5> : tensor<1xf32>, dense<0.0> : tensor<1xf32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f1 = arith.constant 1.0 : f32
  %f5 = arith.constant 5.0 : f32
  tile.kernel (%block) in (%c1) threads [1] {
    %ready = tile.barrier_alloc "ready" arrivals [1] : memref<1xi64, #shared>
    %v = tile.load %a[%c0] : memref<1xf32, #global>
    %x = arith.addf %v, %v : f32
    %isGreater = arith.cmpf oge, %x, %f1 : f32
    scf.if %isGreater {
      tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    }
    tile.store %f5, %b[%c0] : memref<1xf32, #global>
  }
  return
}
