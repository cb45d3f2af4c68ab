// RUN: tw-opt %s -tile-check-plans=arch=sm_90a -split-input-file -verify-diagnostics
// RUN: not tw-opt %s -tile-check-plans=arch=sm_90 -split-input-file 2>&1 | FileCheck %s
// A descriptor of wgmma, right once and then broken in each of its fields.

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#sums = #tile.fragment<[64, 64], "(i, j) -> thread 32 * (i // 16) + 4 * (i % 8) + j % 8 // 2, slot 4 * (j // 8) + 2 * (i // 8 % 2) + j % 2">

func.func @right() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %c = tile.alloc "c" {tile.placement = #sums} : memref<64x64xf32, #tile.space<fragment>>
    // CHECK: sm_90 has no wgmma
    tile.gemm %a, %a, %c transpose_b {tile.groups = array<i64: 1, 1>, tile.operand_a = #tile.operand<swizzle = 128 k_major = true leading = 0 stride = 1024 panel = 0>, tile.operand_b = #tile.operand<swizzle = 128 k_major = true leading = 0 stride = 1024 panel = 0>} : memref<64x64xf16, #tile.space<shared>>, memref<64x64xf16, #tile.space<shared>>, memref<64x64xf32, #tile.space<fragment>>
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#sums = #tile.fragment<[64, 64], "(i, j) -> thread 32 * (i // 16) + 4 * (i % 8) + j % 8 // 2, slot 4 * (j // 8) + 2 * (i // 8 % 2) + j % 2">

func.func @stride() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %c = tile.alloc "c" {tile.placement = #sums} : memref<64x64xf32, #tile.space<fragment>>
    // expected-error @below {{internal error: the plan of this product is wrong: element (8, 0) lies at byte 1024, the descriptor reads byte 2048}}
    tile.gemm %a, %a, %c transpose_b {tile.groups = array<i64: 1, 1>, tile.operand_a = #tile.operand<swizzle = 128 k_major = true leading = 0 stride = 2048 panel = 0>, tile.operand_b = #tile.operand<swizzle = 128 k_major = true leading = 0 stride = 1024 panel = 0>} : memref<64x64xf16, #tile.space<shared>>, memref<64x64xf16, #tile.space<shared>>, memref<64x64xf32, #tile.space<fragment>>
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#sums = #tile.fragment<[64, 64], "(i, j) -> thread 32 * (i // 16) + 4 * (i % 8) + j % 8 // 2, slot 4 * (j // 8) + 2 * (i // 8 % 2) + j % 2">

func.func @swizzle_and_direction() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %c = tile.alloc "c" {tile.placement = #sums} : memref<64x64xf32, #tile.space<fragment>>
    // expected-error @below {{the plan of this product is wrong: element (0, 32) lies at byte 64, the descriptor reads byte 4096}}
    tile.gemm %a, %a, %c transpose_b {tile.groups = array<i64: 1, 1>, tile.operand_a = #tile.operand<swizzle = 64 k_major = true leading = 0 stride = 512 panel = 4096>, tile.operand_b = #tile.operand<swizzle = 128 k_major = true leading = 0 stride = 1024 panel = 0>} : memref<64x64xf16, #tile.space<shared>>, memref<64x64xf16, #tile.space<shared>>, memref<64x64xf32, #tile.space<fragment>>
    // expected-error @below {{the plan of this product is wrong: element (0, 1) lies at byte 2, the descriptor reads byte 144}}
    tile.gemm %a, %a, %c transpose_b {tile.groups = array<i64: 1, 1>, tile.operand_a = #tile.operand<swizzle = 128 k_major = true leading = 0 stride = 1024 panel = 0>, tile.operand_b = #tile.operand<swizzle = 128 k_major = false leading = 0 stride = 1024 panel = 0>} : memref<64x64xf16, #tile.space<shared>>, memref<64x64xf16, #tile.space<shared>>, memref<64x64xf32, #tile.space<fragment>>
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#sums = #tile.fragment<[64, 64], "(i, j) -> thread 32 * (i // 16) + 4 * (i % 8) + j % 8 // 2, slot 4 * (j // 8) + 2 * (i // 8 % 2) + j % 2">

func.func @alignment_plan_and_groups() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" {tile.placement = #swizzled} : memref<64x64xf16, #tile.space<shared>>
    %c = tile.alloc "c" {tile.placement = #sums} : memref<64x64xf32, #tile.space<fragment>>
    // expected-error @below {{its tile does not start on a period of the swizzle}}
    tile.gemm %a, %a, %c transpose_b {tile.groups = array<i64: 1, 1>, tile.operand_a = #tile.operand<swizzle = 128 k_major = true leading = 0 stride = 1024 panel = 0>, tile.operand_b = #tile.operand<swizzle = 128 k_major = true leading = 0 stride = 1024 panel = 0>} : memref<64x64xf16, #tile.space<shared>>, memref<64x64xf16, #tile.space<shared>>, memref<64x64xf32, #tile.space<fragment>>
    // expected-error @below {{an operand in shared memory has no plan, or one in registers has}}
    tile.gemm %a, %a, %c transpose_b {tile.groups = array<i64: 1, 1>} : memref<64x64xf16, #tile.space<shared>>, memref<64x64xf16, #tile.space<shared>>, memref<64x64xf32, #tile.space<fragment>>
    // expected-error @below {{it has no grid of all warpgroups}}
    tile.gemm %a, %a, %c transpose_b {tile.groups = array<i64: 2, 1>} : memref<64x64xf16, #tile.space<shared>>, memref<64x64xf16, #tile.space<shared>>, memref<64x64xf32, #tile.space<fragment>>
  }
  return
}

// -----

// The rows that lanes name in stmatrix: a lane 4 g + t brings two elements of row g. Here they lie eight
// elements apart from those of the next lane.
func.func @torn_rows(%x: f16) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" {tile.placement = #tile.layout<[32, 8], "(i, j) -> (i, j)">} : memref<32x8xf16, #tile.space<shared>>
    tile.parallel (%i, %j) in (32, 8) attributes {tile.distribution = #tile.fragment<[32, 8], "(i, j) -> thread i, slot j">} {
      // expected-error @below {{internal error: the plan of 's' (width 8) is wrong: slots 0, 2 of thread 0 lie 8 elements apart}}
      tile.store %x, %s[%i, %j] {tile.matrix_rows = #tile.access<width = 8 slots = [0, 1, 2, 3, 4, 5, 6, 7] anchors = [0] deltas = [0]>} : memref<32x8xf16, #tile.space<shared>>
    }
  }
  return
}
