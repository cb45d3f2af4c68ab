// RUN: tw-opt %s -tile-lower-to-threads=arch=sm_90a | FileCheck %s
// Each op that orders memory is one instruction, or a short loop around one.

!bars = memref<2xi64, #tile.space<shared>>
!pair_of_sums = memref<256xf32, #tile.space<fragment>>
!pair_of_halves = memref<256xf16, #tile.space<fragment>>
#sums = #tile.fragment<[256], "(i) -> thread (i % 128), slot (i // 128)">

// CHECK-LABEL: llvm.func @groups_kernel
// CHECK: nvvm.cp.async.wait.group 2
// CHECK-NEXT: nvvm.barrier0
// CHECK-NEXT: "wgmma.wait_group.sync.aligned 1;"
// CHECK-NEXT: "cp.async.bulk.wait_group.read 1;"
// CHECK-NEXT: "cp.async.bulk.wait_group 0;"
func.func @groups() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    tile.async_wait 2
    tile.barrier
    tile.product_wait 1
    tile.bulk_wait 1 read
    tile.bulk_wait 0
  }
  return
}

// A wait holds what it names: each sum, and the words in which products keep what they read.
// CHECK-LABEL: llvm.func @held_kernel
// CHECK: %[[WAIT:.*]] = llvm.inline_asm {{.*}}"wgmma.wait_group.sync.aligned 0;", "=&f,=&f,=&r,0,1,2,~{memory}"
// CHECK-SAME: -> !llvm.struct<(f32, f32, i32)>
// CHECK-COUNT-3: llvm.store
func.func @held() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %c = tile.alloc "c" {tile.placement = #sums} : !pair_of_sums
    %a = tile.alloc "a" {tile.placement = #sums} : !pair_of_halves
    tile.product_wait 0 for %c : !pair_of_sums reading %a : !pair_of_halves
  }
  return
}

// Version k mod 2 is waited for by the parity of k / 2, then one lane of each warp arrives.
// CHECK-LABEL: llvm.func @channel_kernel
// CHECK-COUNT-2: "mbarrier.init.shared::cta.b64 [$0], $1;"
// CHECK: scf.for %[[K:.*]] =
// CHECK: arith.andi %[[K]], %c1
// CHECK: %[[ROUND:.*]] = arith.shrsi %[[K]], %c1
// CHECK: arith.andi %[[ROUND]], %c1
// CHECK: mbarrier.try_wait.parity.shared::cta.b64
// CHECK: nvvm.bar.warp.sync %c-1_i32
// CHECK: @first mbarrier.arrive.shared::cta.b64 _, [$0];
func.func @channel() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %b = tile.barrier_alloc "b" arrivals [4, 4] {tile.offset = 0 : i64} : !bars
    scf.for %k = %c0 to %c8 step %c1 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %b[%v] parity %p : !bars
      tile.barrier_arrive %b[%v] by_warp : !bars
    }
  }
  return
}
