// RUN: tw-opt %s -tile-plan-gpu=arch=sm_90a -tile-lower-to-threads=arch=sm_90a -verify-diagnostics | FileCheck %s
// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 2>/dev/null | FileCheck %s --check-prefix=OLD
// The blocks of a cluster start together, where the grid is known to consist of whole clusters.

// OLD-NOT: cluster_dim

// CHECK-LABEL: llvm.func @whole_kernel
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
func.func @whole() {
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    tile.hint "cluster" {x = 2 : i64, y = 1 : i64, z = 1 : i64}
  }
  return
}

// CHECK-LABEL: llvm.func @unknown_kernel
// CHECK-NOT: nvvm.cluster_dim
func.func @unknown(%n: index) {
  // expected-remark @below {{blocks start without a cluster: the grid is not known to be a multiple of it}}
  tile.kernel (%bx) in (%n) threads [32] {
    tile.hint "cluster" {x = 2 : i64, y = 1 : i64, z = 1 : i64}
  }
  return
}

// CHECK-LABEL: llvm.func @large_kernel
// CHECK-NOT: nvvm.cluster_dim
func.func @large() {
  %c16 = arith.constant 16 : index
  // expected-remark @below {{blocks start without a cluster: it has 16 blocks, and every GPU takes 8}}
  tile.kernel (%bx) in (%c16) threads [32] {
    tile.hint "cluster" {x = 16 : i64, y = 1 : i64, z = 1 : i64}
  }
  return
}
