// RUN: tw-opt %s -tile-plan-gpu=arch=sm_90a -tile-lower-to-threads=arch=sm_90a 2>/dev/null | FileCheck %s
// One block of a cluster copies a tile for both; each releases it at the barriers of both.

!a = memref<64x512xf16, #tile.space<global>>
!b = memref<128x512xf16, #tile.space<global>>
!piece = memref<64x64xf16, #tile.space<global>>
!tile = memref<64x64xf16, #tile.space<shared>>
!sums = memref<64x64xf32, #tile.space<fragment>>

// CHECK-LABEL: llvm.func @gemm_kernel
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// Barriers exist in all blocks before one arrives at them.
// CHECK-COUNT-4: "mbarrier.init
// CHECK: "fence.mbarrier_init.release.cluster;"
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// The producer waits for the readers of both blocks; A comes by the first of them, B by each block's own.
// CHECK: nvvm.elect.sync
// CHECK: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64
// CHECK: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;"
// CHECK: nvvm.read.ptx.sreg.cluster.ctaid.x
// CHECK: scf.if
// CHECK: "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [$0], [$1, {$3, $4}], [$2], $5;", "r,l,r,r,r,h,~{memory}"
// CHECK: }
// CHECK: "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4}], [$2];"
// CHECK: mapa.shared::cluster
// CHECK-SAME: mbarrier.arrive.release.cluster.shared::cluster.b64
// No block ends while another one arrives at its barriers.
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
func.func @gemm(%A: !a, %B: !b, %C: memref<64x128xf32, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c2) threads [128] {
    tile.hint "cluster" {x = 2 : i64, y = 1 : i64, z = 1 : i64}
    %a = tile.alloc "a" : !tile
    %b = tile.alloc "b" : !tile
    %c = tile.alloc "c" : !sums
    %zero = arith.constant 0.0 : f32
    tile.fill %zero, %c : f32, !sums
    %column = arith.muli %bx, %c64 : index
    tile.pipelined %k = %c0 to %c8 stages 2 {
      %depth = arith.muli %k, %c64 : index
      %from = tile.slice %A[0, %depth] [64, 64] [1, 1] : !a to !piece
      %other = tile.slice %B[%column, %depth] [64, 64] [1, 1] : !b to !piece
      tile.copy %from, %a : !piece to !tile
      tile.copy %other, %b : !piece to !tile
      tile.gemm %a, %b, %c transpose_b : !tile, !tile, !sums
    }
    %to = tile.slice %C[0, %column] [64, 64] [1, 1] : memref<64x128xf32, #tile.space<global>> to memref<64x64xf32, #tile.space<global>>
    tile.copy %c, %to : !sums to memref<64x64xf32, #tile.space<global>>
  }
  return
}
