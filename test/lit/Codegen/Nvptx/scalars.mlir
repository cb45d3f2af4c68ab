// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// Arithmetic without undefined corners.

// No division by 0 or of the least number by -1.
// CHECK-LABEL: llvm.func @division_kernel
// CHECK: arith.select
// CHECK: arith.divsi
// CHECK: arith.remsi
func.func @division(%a: memref<2xi32, #tile.space<global>>, %x: i32, %y: i32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %q = tile.floordiv %x, %y : i32
    %c0 = arith.constant 0 : index
    tile.store %q, %a[%c0] : memref<2xi32, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @shift_kernel
// CHECK: arith.cmpi uge, %{{.*}}, %c32
// CHECK: arith.shli
func.func @shift(%a: memref<2xi32, #tile.space<global>>, %x: i32, %y: i32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %q = tile.shl %x, %y : i32
    %c0 = arith.constant 0 : index
    tile.store %q, %a[%c0] : memref<2xi32, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @power_of_two_kernel
// CHECK-NOT: arith.divsi
// CHECK: arith.shrsi
func.func @power_of_two(%a: memref<2xi32, #tile.space<global>>, %x: i32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %c8 = arith.constant 8 : i32
    %q = tile.floordiv %x, %c8 : i32
    %c0 = arith.constant 0 : index
    tile.store %q, %a[%c0] : memref<2xi32, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @saturate_kernel
// CHECK: llvm.call_intrinsic "llvm.fptosi.sat.i32.f32"
func.func @saturate(%a: memref<2xi32, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %q = tile.cast %x from f32 to i32
    %c0 = arith.constant 0 : index
    tile.store %q, %a[%c0] : memref<2xi32, #tile.space<global>>
  }
  return
}

// x mod 0 is x; the remainder has the sign of the divisor.
// CHECK-LABEL: llvm.func @floormod_kernel
// CHECK: %[[R:.*]] = arith.remsi
// CHECK: %[[KEPT:.*]] = arith.select %{{.*}}, %arg1, %[[R]]
// CHECK: %[[MOVED:.*]] = arith.addi %[[KEPT]], %arg2
// CHECK: arith.select %{{.*}}, %[[MOVED]], %[[KEPT]]
func.func @floormod(%a: memref<2xi32, #tile.space<global>>, %x: i32, %y: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %q = tile.floormod %x, %y : i32
    tile.store %q, %a[%c0] : memref<2xi32, #tile.space<global>>
  }
  return
}

// x / 0 is 0 and the least number over -1 wraps: neither reaches the machine's division.
// CHECK-LABEL: llvm.func @truncdiv_kernel
// CHECK: %[[DIVISOR:.*]] = arith.select %{{.*}}, %c1_i32, %arg2
// CHECK: arith.divsi %arg1, %[[DIVISOR]]
// CHECK: arith.subi %c0_i32{{.*}}, %arg1
// CHECK-COUNT-2: arith.select
func.func @truncdiv(%a: memref<2xi32, #tile.space<global>>, %x: i32, %y: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %q = tile.truncdiv %x, %y : i32
    tile.store %q, %a[%c0] : memref<2xi32, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @truncmod_kernel
// CHECK: %[[DIVISOR:.*]] = arith.select %{{.*}}, %c1_i32, %arg2
// CHECK: %[[R:.*]] = arith.remsi %arg1, %[[DIVISOR]]
// CHECK: arith.select %{{.*}}, %arg1, %[[R]]
// CHECK-NOT: arith.addi
// CHECK: llvm.return
func.func @truncmod(%a: memref<2xi32, #tile.space<global>>, %x: i32, %y: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %q = tile.truncmod %x, %y : i32
    tile.store %q, %a[%c0] : memref<2xi32, #tile.space<global>>
  }
  return
}

// A shift by the width or more leaves the sign; unsigned, nothing.
// CHECK-LABEL: llvm.func @shr_kernel
// CHECK: %[[FEW:.*]] = arith.select %{{.*}}, %c31_i32, %arg2
// CHECK: arith.shrsi %arg1, %[[FEW]]
// CHECK: %[[U:.*]] = arith.shrui %arg1
// CHECK: arith.select %{{.*}}, %c0_i32{{.*}}, %[[U]]
func.func @shr(%a: memref<2xi32, #tile.space<global>>, %x: i32, %y: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %q = tile.shr %x, %y : i32
    %u = tile.shr %x, %y unsigned : i32
    tile.store %q, %a[%c0] : memref<2xi32, #tile.space<global>>
    tile.store %u, %a[%c1] : memref<2xi32, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @bits_kernel
// CHECK: llvm.bitcast %arg1 : f32 to i32
func.func @bits(%a: memref<2xi32, #tile.space<global>>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %q = tile.bitcast %x : f32 to i32
    tile.store %q, %a[%c0] : memref<2xi32, #tile.space<global>>
  }
  return
}
