// RUN: tw-opt %s | tw-opt | FileCheck %s
// RUN: tw-opt %s -mlir-print-op-generic | tw-opt | FileCheck %s

// CHECK-LABEL: func.func @barrier
func.func @barrier() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: tile.barrier
    tile.barrier
  }
  return
}
