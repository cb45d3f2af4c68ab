// RUN: tw-opt %s -tile-plan-cpu-updates -verify-diagnostics -split-input-file | FileCheck %s
// RUN: tw-opt %s -tile-plan-cpu-updates=disjoint=false -split-input-file 2>/dev/null | FileCheck %s --check-prefix=OVERLAP

!tensor = memref<256x64xf32, #tile.space<global>>
!part = memref<64x64xf32, #tile.space<global>>
!tile = memref<64x64xf32, #tile.space<fragment>>

// All that the kernel does with D are relaxed updates of rows.
// CHECK-LABEL: func.func @only_updates
// OVERLAP-LABEL: func.func @only_updates
func.func @only_updates(%D: !tensor {tile.name = "D"}) {
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c4) threads [128] {
    %t = tile.alloc "t" : !tile
    %row = arith.muli %bx, %c64 : index
    %part = tile.slice %D[%row, 0] [64, 64] [1, 1] : !tensor to !part
    // CHECK: tile.atomic add %t, %{{.*}} {tile.locks_rows}
    // OVERLAP-NOT: tile.locks_rows
    // expected-remark @+1 {{'D' is updated row by row under locks}}
    tile.atomic add %t, %part : !tile, !part
  }
  return
}

// -----

!tensor = memref<64x64xf32, #tile.space<global>>
!tile = memref<64x64xf32, #tile.space<fragment>>

// A copy reads D meanwhile, and E is updated in an order that others rely on.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tile.locks_rows
func.func @others(%D: !tensor, %E: !tensor) {
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [128] {
    %t = tile.alloc "t" : !tile
    tile.copy %D, %t : !tensor to !tile
    tile.atomic add %t, %D : !tile, !tensor
    tile.atomic add %t, %E order release : !tile, !tensor
  }
  return
}
