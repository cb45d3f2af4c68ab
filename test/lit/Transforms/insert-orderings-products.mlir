// RUN: tw-opt %s -tile-insert-orderings | FileCheck %s
// Products that run on after their statement: a wait ends those that a later statement is in the way of,
// with as many younger ones still under way as is right. Registers need a wait alone, memory that other
// threads write needs a barrier after it.

!a = memref<64x64xf16, #tile.space<shared>>
!c = memref<64x64xf32, #tile.space<fragment>>
#half = #tile.layout<[64, 64], "(i, j) -> (i, j)">
#sums = #tile.fragment<[64, 64], "(i, j) -> thread (i * 2 + j % 2), slot (j // 2)">

// The first product's sums are used while the second one runs; then the second one's.
// CHECK-LABEL: func.func @younger_ones_run_on
// CHECK: tile.gemm %{{.*}}, %{{.*}}, %[[C:c]]
// CHECK-NOT: tile.barrier
// CHECK: tile.gemm %{{.*}}, %{{.*}}, %[[D:d]]
// CHECK-NEXT: tile.product_wait 1 for %[[C]], %[[D]]
// CHECK-NEXT: tile.fill %{{.*}}, %[[C]]
// CHECK-NEXT: tile.product_wait 0 for %[[D]]
// CHECK-NEXT: tile.fill %{{.*}}, %[[D]]
// CHECK-NOT: tile.product_wait
// CHECK: return
func.func @younger_ones_run_on(%zero: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" {tile.placement = #half} : !a
    %c = tile.alloc "c" {tile.placement = #sums} : !c
    %d = tile.alloc "d" {tile.placement = #sums} : !c
    tile.gemm %a, %a, %c {tile.groups = array<i64: 1, 1>, tile.async} : !a, !a, !c
    tile.gemm %a, %a, %d {tile.groups = array<i64: 1, 1>, tile.async} : !a, !a, !c
    tile.fill %zero, %c : f32, !c
    tile.fill %zero, %d : f32, !c
  }
  return
}

// The next product on the same sums needs nothing; the end of the kernel ends both.
// CHECK-LABEL: func.func @sums_go_on
// CHECK: tile.gemm
// CHECK-NEXT: tile.gemm
// CHECK-NEXT: tile.product_wait 0 for %c
// CHECK-NEXT: }
func.func @sums_go_on() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" {tile.placement = #half} : !a
    %c = tile.alloc "c" {tile.placement = #sums} : !c
    tile.gemm %a, %a, %c {tile.groups = array<i64: 1, 1>, tile.async} : !a, !a, !c
    tile.gemm %a, %a, %c {tile.groups = array<i64: 1, 1>, tile.async} : !a, !a, !c
  }
  return
}

// A product that clears its sums takes other registers, so the first one ends before.
// CHECK-LABEL: func.func @cleared_sums_wait
// CHECK: tile.gemm
// CHECK-NEXT: tile.product_wait 0
// CHECK-NEXT: tile.gemm
func.func @cleared_sums_wait() {
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" {tile.placement = #half} : !a
    %c = tile.alloc "c" {tile.placement = #sums} : !c
    tile.gemm %a, %a, %c {tile.groups = array<i64: 1, 1>, tile.async} : !a, !a, !c
    tile.gemm %a, %a, %c clear %true {tile.groups = array<i64: 1, 1>, tile.async} : !a, !a, !c
  }
  return
}

// What a product reads is written again: its warpgroup waits, then all threads meet.
// CHECK-LABEL: func.func @operands_are_written_again
// CHECK: tile.gemm
// CHECK-NEXT: tile.product_wait 0 for %c
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fill %{{.*}}, %a
func.func @operands_are_written_again(%zero: f16) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" {tile.placement = #half} : !a
    %c = tile.alloc "c" {tile.placement = #sums} : !c
    tile.gemm %a, %a, %c {tile.groups = array<i64: 1, 1>, tile.async} : !a, !a, !c
    tile.fill %zero, %a : f16, !a
  }
  return
}

// A loop that uses the sums in each iteration: one wait, in front of it.
// CHECK-LABEL: func.func @waits_in_front_of_a_loop
// CHECK: tile.gemm
// CHECK-NEXT: tile.product_wait 0
// CHECK-NEXT: scf.for
// CHECK-NOT: tile.product_wait
func.func @waits_in_front_of_a_loop(%zero: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" {tile.placement = #half} : !a
    %c = tile.alloc "c" {tile.placement = #sums} : !c
    tile.gemm %a, %a, %c {tile.groups = array<i64: 1, 1>, tile.async} : !a, !a, !c
    scf.for %i = %c0 to %n step %c1 {
      tile.fill %zero, %c : f32, !c
    }
  }
  return
}

// Versions: the tile that iteration k fills was read by the product of the iteration before; this
// iteration's runs on over the back edge. After the loop everything ends.
// CHECK-LABEL: func.func @one_stays_open_over_the_back_edge
// CHECK: scf.for
// CHECK: tile.gemm
// CHECK-NEXT: tile.product_wait 1 for %c
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fill
// CHECK: }
// CHECK: tile.product_wait 0 for %c
// CHECK-NEXT: tile.fill %{{.*}}, %c
func.func @one_stays_open_over_the_back_edge(%zero: f16, %other: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" {tile.versions = 3, tile.placement = #tile.layout<[3, 64, 64], "(v, i, j) -> (v, i, j)">} : memref<3x64x64xf16, #tile.space<shared>>
    %c = tile.alloc "c" {tile.placement = #sums} : !c
    scf.for %k = %c0 to %n step %c1 {
      %now = tile.version %k from %c0 ahead 0 of 3
      %next = tile.version %k from %c0 ahead 2 of 3
      %current = tile.slice %s[%now, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : memref<3x64x64xf16, #tile.space<shared>> to !a
      %later = tile.slice %s[%next, 0, 0] [1, 64, 64] [1, 1, 1] drop [0] : memref<3x64x64xf16, #tile.space<shared>> to !a
      tile.gemm %current, %current, %c {tile.groups = array<i64: 1, 1>, tile.async} : !a, !a, !c
      tile.fill %zero, %later : f16, !a
    }
    tile.fill %other, %c : f32, !c
  }
  return
}

// The wait tells the registers that a product reads from those that it writes.
// CHECK-LABEL: func.func @a_from_registers
// CHECK: tile.gemm
// CHECK-NEXT: tile.product_wait 0 for %c : memref<64x64xf32, #tile.space<fragment>> reading %a : memref<64x64xf16, #tile.space<fragment>>
func.func @a_from_registers() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" {tile.placement = #sums} : memref<64x64xf16, #tile.space<fragment>>
    %b = tile.alloc "b" {tile.placement = #half} : !a
    %c = tile.alloc "c" {tile.placement = #sums} : !c
    tile.gemm %a, %b, %c {tile.groups = array<i64: 1, 1>, tile.async} : memref<64x64xf16, #tile.space<fragment>>, !a, !c
  }
  return
}
