// RUN: tw-opt %s -tile-plan-launch=arch=sm_90a -split-input-file -verify-diagnostics | FileCheck %s
// RUN: tw-opt %s -tile-plan-launch=arch=sm_80 -split-input-file | FileCheck %s --check-prefix=OLD
// How blocks start: in clusters, and beside the launch before.

// OLD-NOT: tile.kernel{{.*}}tile.cluster
// OLD-NOT: overlaps_launch

!t = memref<64xf32, #tile.space<global>>
!s = memref<64xf32, #tile.space<shared>>

// CHECK-LABEL: func.func @together
// CHECK: tile.cluster = array<i64: 2, 1, 1>
// CHECK-SAME: tile.overlaps_launch
func.func @together(%A: !t, %B: !t) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx, %by) in (%c4, %c2) threads [64] {
    tile.hint "cluster" {x = 2 : i64, y = 1 : i64, z = 1 : i64}
    %s = tile.alloc "s" : !s
    // expected-remark @below {{this kernel may start while the launch before it runs}}
    tile.hint "pdl_sync"
    tile.copy %A, %s : !t to !s
    tile.copy %s, %B : !s to !t
  }
  return
}

// -----

!t = memref<64xf32, #tile.space<global>>
!s = memref<64xf32, #tile.space<shared>>

// CHECK-LABEL: func.func @apart
// CHECK-NOT: tile.cluster
// CHECK-NOT: overlaps_launch
func.func @apart(%A: !t {tile.name = "A"}, %B: !t, %n: index) {
  // expected-remark @below {{blocks start without a cluster: the grid is not known to be a multiple of it}}
  tile.kernel (%bx) in (%n) threads [64] {
    tile.hint "cluster" {x = 2 : i64, y = 1 : i64, z = 1 : i64}
    %s = tile.alloc "s" : !s
    tile.copy %A, %s : !t to !s
    // expected-remark @below {{this kernel starts after the launch before it: it reads 'A' before T.pdl_sync}}
    tile.hint "pdl_sync"
    tile.copy %s, %B : !s to !t
  }
  return
}

// -----

!t = memref<64xf32, #tile.space<global>>

// CHECK-LABEL: func.func @sometimes
// CHECK-NOT: tile.overlaps_launch
func.func @sometimes(%A: !t, %B: !t, %c: i1) {
  %c16 = arith.constant 16 : index
  // expected-remark @below {{blocks start without a cluster: it has 16 blocks, and every GPU takes 8}}
  tile.kernel (%bx) in (%c16) threads [64] {
    tile.hint "cluster" {x = 16 : i64, y = 1 : i64, z = 1 : i64}
    scf.if %c {
      // expected-remark @below {{this kernel starts after the launch before it: T.pdl_sync stands in a branch or loop}}
      tile.hint "pdl_sync"
    }
    tile.copy %A, %B : !t to !t
  }
  return
}
