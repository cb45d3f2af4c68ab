// RUN: tw-opt %s -tile-expand-statements -tile-stage-stores=arch=sm_90a -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline -tile-start-bulk -tile-plan-shared-memory=arch=sm_90a -tile-insert-orderings -tile-split-roles -tile-lower-to-threads=arch=sm_90a 2>/dev/null | FileCheck %s
// One thread starts stores and additions, commits them as a group, and waits before the block ends.

!piece = memref<64x64xf16, #tile.space<global>>
!tile = memref<64x64xf16, #tile.space<shared>>
!sums = memref<64x64xf32, #tile.space<fragment>>

// The result goes through shared memory: stmatrix, fence, barrier, one store.
// CHECK-LABEL: llvm.func @store_kernel
// CHECK: nvvm.stmatrix
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT: nvvm.barrier0
// CHECK: nvvm.elect.sync
// CHECK: "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$1, {$2, $3}], [$0];", "r,l,r,r,~{memory}"
// CHECK: "cp.async.bulk.commit_group;"
// CHECK: "cp.async.bulk.wait_group.read 0;"
func.func @store(%A: !piece, %C: memref<64x128xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : !tile
    %c = tile.alloc "c" : !sums
    tile.copy %A, %a : !piece to !tile
    tile.gemm %a, %a, %c transpose_b : !tile, !tile, !sums
    %to = tile.slice %C[0, 64] [64, 64] [1, 1] : memref<64x128xf16, #tile.space<global>> to !piece
    tile.copy %c, %to : !sums to !piece
  }
  return
}

// Neighbours in memory: an address and a size.
// CHECK-LABEL: llvm.func @span_kernel
// CHECK: "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;", "l,r,r,~{memory}"
// CHECK: "cp.async.bulk.commit_group;"
// CHECK: "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [$0], [$1], $2;", "l,r,r,~{memory}"
// CHECK: "cp.async.bulk.commit_group;"
// CHECK: "cp.async.bulk.wait_group.read 0;"
func.func @span(%C: memref<256xf32, #tile.space<global>>, %D: memref<256xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : memref<256xf32, #tile.space<shared>>
    tile.fill %zero, %s : f32, memref<256xf32, #tile.space<shared>>
    tile.copy %s, %C : memref<256xf32, #tile.space<shared>> to memref<256xf32, #tile.space<global>>
    tile.atomic add %s, %D : memref<256xf32, #tile.space<shared>>, memref<256xf32, #tile.space<global>>
  }
  return
}

// An addition through a map, whose element type it takes.
// CHECK-LABEL: llvm.func @addition_kernel
// CHECK: "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [$1, {$2, $3}], [$0];", "r,l,r,r,~{memory}"
func.func @addition(%C: memref<64x128xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : memref<64x32xf32, #tile.space<shared>>
    tile.fill %zero, %s : f32, memref<64x32xf32, #tile.space<shared>>
    %to = tile.slice %C[0, 32] [64, 32] [1, 1] : memref<64x128xf32, #tile.space<global>> to memref<64x32xf32, #tile.space<global>>
    tile.atomic add %s, %to : memref<64x32xf32, #tile.space<shared>>, memref<64x32xf32, #tile.space<global>>
  }
  return
}
