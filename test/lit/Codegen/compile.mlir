// RUN: tw-opt %s -tile-compile=target=cpu | FileCheck %s
// RUN: tw-opt %s -tile-compile=target=sm_80 | FileCheck %s
// RUN: not tw-opt %s -tile-compile=target=sm_20 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// A whole compilation, whose code is thrown away: the module stays as it is.

// CHECK-LABEL: func.func @copy
// CHECK: tile.copy
// UNKNOWN: 'tile-compile' needs a function, and 'cpu' or one of
func.func @copy(%a: memref<64xf32, #tile.space<global>>, %b: memref<64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.copy %a, %b : memref<64xf32, #tile.space<global>> to memref<64xf32, #tile.space<global>>
  }
  return
}
