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
