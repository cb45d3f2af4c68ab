// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 -split-input-file | FileCheck %s
// Messages, assertions, and what has no effect on values.

#shared = #tile.space<shared>

// A tile is printed as doubles, with its extents, by the fifth service.
// CHECK: llvm.mlir.global internal constant @print.text0("here")
// CHECK-LABEL: llvm.func internal @print.kernel0
func.func @print() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : memref<4xf32, #shared>
    // CHECK: llvm.getelementptr %arg5[2]
    // CHECK: arith.extf {{.*}} : f32 to f64
    // CHECK: llvm.getelementptr %arg5[4]
    tile.print "here", %t : memref<4xf32, #shared>
    tile.hint "anything"
  }
  return
}

// -----

// An assertion that fails ends the launch with its message.
// CHECK-DAG: llvm.mlir.global internal constant @assertion.text{{[0-9]}}("assertion failed: too large")
// CHECK-LABEL: llvm.func internal @assertion.kernel0
func.func @assertion(%n: index) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: %[[GOOD:.*]] = arith.cmpi slt
    // CHECK: %[[BAD:.*]] = arith.xori %[[GOOD]], %true
    // CHECK: scf.if %[[BAD]] {
    // CHECK: llvm.getelementptr %arg5[3]
    %good = arith.cmpi slt, %n, %c1 : index
    tile.assert %good, "too large"
    tile.assume %good
  }
  return
}
