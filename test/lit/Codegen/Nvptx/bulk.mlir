// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline -tile-plan-shared-memory=arch=sm_90a -tile-split-roles -tile-insert-orderings -tile-lower-to-threads=arch=sm_90a 2>/dev/null | FileCheck %s
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline=roles=false -tile-plan-shared-memory=arch=sm_90a -tile-split-roles -tile-insert-orderings -tile-lower-to-threads=arch=sm_90a 2>/dev/null | FileCheck %s --check-prefix=ALONE
// Tensor maps are parameters; one thread fills a version, all others wait for its barrier.

!a = memref<64x512xf16, #tile.space<global>>
!tile = memref<64x64xf16, #tile.space<shared>>
!sums = memref<64x64xf32, #tile.space<fragment>>

// CHECK-LABEL: llvm.func @gemm_kernel
// CHECK-SAME: %[[MAP:arg[0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// CHECK-SAME: nvvm.maxntid = array<i32: 256>
// CHECK-COUNT-4: "mbarrier.init.shared::cta.b64 [$0], $1;"
// CHECK: "fence.mbarrier_init.release.cluster;"
// CHECK: nvvm.barrier0
// The producer: one lane of one warp.
// CHECK: scf.if
// CHECK: nvvm.elect.sync
// CHECK: scf.for
// CHECK: mbarrier.try_wait.parity.shared::cta.b64
// CHECK: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;"
// CHECK-COUNT-2: "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4}], [$2];", "r,l,r,r,r,~{memory}"
// The program's threads.
// CHECK: } else {
// CHECK: scf.for
// CHECK: mbarrier.try_wait.parity.shared::cta.b64
// CHECK: wgmma.mma_async
// CHECK-NOT: nvvm.bar.warp.sync
// CHECK: @first mbarrier.arrive.shared::cta.b64 _, [$0];

// ALONE-LABEL: llvm.func @gemm_kernel
// ALONE-COUNT-2: "mbarrier.init
// ALONE-NOT: "mbarrier.init
// ALONE: nvvm.elect.sync
// ALONE: cp.async.bulk.tensor
// ALONE: scf.for
// ALONE: mbarrier.try_wait.parity
// ALONE: wgmma.mma_async
// ALONE: wgmma.wait_group.sync.aligned 1
// ALONE: nvvm.barrier0
// ALONE: cp.async.bulk.tensor
// ALONE-NOT: mbarrier.arrive.shared
func.func @gemm(%A: !a, %B: !a, %C: memref<64x64xf32, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : !tile
    %b = tile.alloc "b" : !tile
    %c = tile.alloc "c" : !sums
    tile.pipelined %k = %c0 to %c8 stages 2 {
      %depth = arith.muli %k, %c64 : index
      %from = tile.slice %A[0, %depth] [64, 64] [1, 1] : !a to memref<64x64xf16, #tile.space<global>>
      %other = tile.slice %B[0, %depth] [64, 64] [1, 1] : !a to memref<64x64xf16, #tile.space<global>>
      tile.copy %from, %a : memref<64x64xf16, #tile.space<global>> to !tile
      tile.copy %other, %b : memref<64x64xf16, #tile.space<global>> to !tile
      tile.gemm %a, %b, %c transpose_b : !tile, !tile, !sums
    }
    tile.copy %c, %C : !sums to memref<64x64xf32, #tile.space<global>>
  }
  return
}
