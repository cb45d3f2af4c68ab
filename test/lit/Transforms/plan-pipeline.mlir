// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts -tile-plan-accesses -tile-plan-pipeline | FileCheck %s
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts -tile-plan-accesses -tile-plan-pipeline=disjoint=false | FileCheck %s --check-prefix=OVERLAP
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts -tile-plan-accesses -tile-plan-pipeline | FileCheck %s --check-prefix=ORDER
// Copies of pipelined loops run ahead in one loop body; versions follow the stages. The pass orders nothing.

// ORDER-NOT: tile.barrier
// ORDER-NOT: tile.async_wait

!global = memref<256x64xf16, #tile.space<global>>
!shared = memref<64x64xf16, #tile.space<shared>>

// Two stages: two versions, one iteration ahead, a prologue of one group.
// CHECK-LABEL: func.func @two_stages
// CHECK: tile.alloc "s" {{.*}} : memref<2x64x64xf16
// CHECK: tile.async_group
// CHECK: tile.parallel
// CHECK: tile.pipelined
// CHECK-NEXT: %[[NOW:.*]] = tile.version %k from %{{.*}} ahead 0 of 2
// CHECK-NEXT: tile.slice {{.*}}[%[[NOW]], 0, 0]{{.*}} to memref<64x64xf16
// CHECK-NEXT: %[[NEXT:.*]] = tile.version %k from %{{.*}} ahead 1 of 2
// CHECK: tile.async_group %{{.*}} below %{{.*}} {
// CHECK-NEXT: tile.slice {{.*}}[%[[NEXT]], 0, 0]
// CHECK: tile.parallel
// CHECK-NOT: tile.async
// CHECK: tile.store
// OVERLAP-LABEL: func.func @two_stages
// OVERLAP-NOT: tile.async
// OVERLAP: return
func.func @two_stages(%a: !global, %b: !global) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !shared
    tile.pipelined %k = %c0 to %c4 stages 2 {
      %row = arith.muli %k, %c64 : index
      %from = tile.slice %a[%row, 0] [64, 64] [1, 1] : !global to memref<64x64xf16, #tile.space<global>>
      %to = tile.slice %b[%row, 0] [64, 64] [1, 1] : !global to memref<64x64xf16, #tile.space<global>>
      tile.copy %from, %s : memref<64x64xf16, #tile.space<global>> to !shared
      tile.copy %s, %to : !shared to memref<64x64xf16, #tile.space<global>>
    }
  }
  return
}

// One stage: one version; the next copy follows the last reader.
// CHECK-LABEL: func.func @one_stage
// CHECK: tile.alloc "s" {{.*}} : memref<64x64xf16
// CHECK: tile.async_group
// CHECK: tile.pipelined
// CHECK-NOT: tile.version
// CHECK-NOT: tile.async_group
// CHECK: tile.store {{.*}} : memref<64x64xf16, #tile.space<global>>
// CHECK: tile.async_group
// CHECK-NOT: tile.slice %s
// CHECK: tile.parallel
func.func @one_stage(%a: !global, %b: !global) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !shared
    tile.pipelined %k = %c0 to %c4 stages 1 {
      %row = arith.muli %k, %c64 : index
      %from = tile.slice %a[%row, 0] [64, 64] [1, 1] : !global to memref<64x64xf16, #tile.space<global>>
      %to = tile.slice %b[%row, 0] [64, 64] [1, 1] : !global to memref<64x64xf16, #tile.space<global>>
      tile.copy %from, %s : memref<64x64xf16, #tile.space<global>> to !shared
      tile.copy %s, %to : !shared to memref<64x64xf16, #tile.space<global>>
    }
  }
  return
}

// What cannot run ahead stays: the source is written in the loop, or the tile is read after it.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: tile.async
// CHECK: return
func.func @stays(%a: !global, %b: memref<64x64xf16, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !shared
    %t = tile.alloc "t" : !shared
    tile.pipelined %k = %c0 to %c4 stages 2 {
      %row = arith.muli %k, %c64 : index
      %from = tile.slice %a[%row, 0] [64, 64] [1, 1] : !global to memref<64x64xf16, #tile.space<global>>
      tile.copy %from, %s : memref<64x64xf16, #tile.space<global>> to !shared
      tile.copy %s, %from : !shared to memref<64x64xf16, #tile.space<global>>
      tile.copy %b, %t : memref<64x64xf16, #tile.space<global>> to !shared
    }
    tile.copy %t, %b : !shared to memref<64x64xf16, #tile.space<global>>
  }
  return
}

// Readers are followed through views of views: before the copy they forbid it, after it the next copy
// follows them.
// CHECK-LABEL: func.func @read_through_views
// CHECK-NOT: tile.store {{.*}}, %early
// CHECK: tile.pipelined
// CHECK: tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution
// CHECK: tile.store {{.*}}, %early
// CHECK: tile.slice {{.*}}memref<4096xf16
// CHECK: tile.store {{.*}}, %arg1
// CHECK: tile.async_group
// CHECK: tile.store {{.*}}, %late
func.func @read_through_views(%a: !global, %b: memref<4096xf16, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %early = tile.alloc "early" : !shared
    %late = tile.alloc "late" : !shared
    tile.pipelined %k = %c0 to %c4 stages 1 {
      %row = arith.muli %k, %c64 : index
      %from = tile.slice %a[%row, 0] [64, 64] [1, 1] : !global to memref<64x64xf16, #tile.space<global>>
      %seen = tile.view %early : !shared to memref<4096xf16, #tile.space<shared>>
      tile.copy %seen, %b : memref<4096xf16, #tile.space<shared>> to memref<4096xf16, #tile.space<global>>
      tile.copy %from, %early : memref<64x64xf16, #tile.space<global>> to !shared
      tile.copy %from, %late : memref<64x64xf16, #tile.space<global>> to !shared
      %flat = tile.view %late : !shared to memref<4096xf16, #tile.space<shared>>
      %part = tile.slice %flat[0] [4096] [1] : memref<4096xf16, #tile.space<shared>> to memref<4096xf16, #tile.space<shared>>
      tile.copy %part, %b : memref<4096xf16, #tile.space<shared>> to memref<4096xf16, #tile.space<global>>
    }
  }
  return
}
