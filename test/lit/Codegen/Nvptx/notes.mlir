// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s --check-prefix=TEXT
// One thread prints; an assertion ends the launch.

// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("x is %lld\0A\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("100%%\0A\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("x is odd\00")

// CHECK-LABEL: llvm.func @notes_kernel
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: scf.if %[[FIRST]] {
// CHECK: llvm.call @vprintf
// CHECK: arith.extsi {{.*}} i32 to i64
// CHECK: llvm.call @vprintf
// CHECK: scf.if
// CHECK: llvm.call @__assertfail
func.func @notes(%x: i32, %ok: i1) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.print "100%"
    tile.print "x is", %x : i32
    tile.assert %ok, "x is odd"
  }
  return
}

// A tile is printed element by element.
// CHECK-LABEL: llvm.func @tile_kernel
// CHECK: scf.for
// CHECK: %[[LATER:.*]] = arith.cmpi ne, %{{.*}}, %c0
// CHECK: scf.if %[[LATER]]
// CHECK: arith.extf {{.*}} f32 to f64
// CHECK: llvm.call @vprintf
func.func @tile(%a: memref<4xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.print "a", %a : memref<4xf32, #tile.space<global>>
  }
  return
}

// Unsigned numbers have no sign.
// TEXT: llvm.mlir.global {{.*}}("%llu\00")
func.func @unsigned(%a: memref<4xui32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.print "a", %a : memref<4xui32, #tile.space<global>>
  }
  return
}
