// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-check-plans=arch=sm_90a -tile-plan-shared-memory=arch=sm_90a -tile-insert-orderings 2>/dev/null | FileCheck %s
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90 2>/dev/null | FileCheck %s --check-prefix=SM90
// Gemms that wgmma computes: how warpgroups share them, what their operands' descriptors are, and the
// fence between threads that write a tile and the asynchronous proxy that reads it.

// The groups divide M: 2 x (64 x 256) reads fewer bytes than 128 x 128 twice.
// CHECK-LABEL: func.func @groups_along_m
// CHECK: tile.alloc "a" {tile.alignment = 1024 : i64
// CHECK: tile.barrier {tile.proxy_fence}
// CHECK-NEXT: tile.gemm
// CHECK-SAME: tile.groups = array<i64: 2, 1>
// CHECK-SAME: tile.operand_a = #tile.operand<swizzle = 128 k_major = true leading = 0 stride = 1024 panel = 0>
// CHECK-SAME: tile.operand_b = #tile.operand<swizzle = 128 k_major = true leading = 0 stride = 1024 panel = 0>
// REMARK-DAG: 'T.gemm': 4 x wgmma.m64n256k16 on each of 2 x 1 warpgroups, A from shared memory
// SM90-LABEL: func.func @groups_along_m
// SM90: tile.gemm
// SM90-SAME: tile.warps
func.func @groups_along_m(%A: memref<128x64xf16, #tile.space<global>>, %B: memref<256x64xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [256] {
    %a = tile.alloc "a" : memref<128x64xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<256x64xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<128x256xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<128x64xf16, #tile.space<global>> to memref<128x64xf16, #tile.space<shared>>
    tile.copy %B, %b : memref<256x64xf16, #tile.space<global>> to memref<256x64xf16, #tile.space<shared>>
    tile.gemm %a, %b, %c transpose_b : memref<128x64xf16, #tile.space<shared>>, memref<256x64xf16, #tile.space<shared>>, memref<128x256xf32, #tile.space<fragment>>
  }
  return
}

// A tile of K x N is read along N: spans of 128 bytes lie `leading` bytes apart.
// CHECK-LABEL: func.func @along_n
// CHECK: tile.operand_b = #tile.operand<swizzle = 128 k_major = false leading = 4096 stride = 1024 panel = 0>
func.func @along_n(%A: memref<64x32xbf16, #tile.space<global>>, %B: memref<32x128xbf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xbf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<32x128xbf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<64x128xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<64x32xbf16, #tile.space<global>> to memref<64x32xbf16, #tile.space<shared>>
    tile.copy %B, %b : memref<32x128xbf16, #tile.space<global>> to memref<32x128xbf16, #tile.space<shared>>
    tile.gemm %a, %b, %c : memref<64x32xbf16, #tile.space<shared>>, memref<32x128xbf16, #tile.space<shared>>, memref<64x128xf32, #tile.space<fragment>>
  }
  return
}

// The user's layout has no descriptor, so mma.sync reads the tile.
// CHECK-LABEL: func.func @row_major
// CHECK: tile.gemm
// CHECK-NOT: tile.groups
// REMARK-DAG: 'T.gemm' runs on mma.sync: 'b': element (1, 0) lies at byte 128, wgmma reads it at byte 144
func.func @row_major(%A: memref<64x64xf16, #tile.space<global>>, %B: memref<64x64xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x64xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<64x64xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<64x64xf32, #tile.space<fragment>>
    tile.annotate_layout %b : memref<64x64xf16, #tile.space<shared>> is #tile.layout<[64, 64], "(i, j) -> (i, j)">
    tile.copy %A, %a : memref<64x64xf16, #tile.space<global>> to memref<64x64xf16, #tile.space<shared>>
    tile.copy %B, %b : memref<64x64xf16, #tile.space<global>> to memref<64x64xf16, #tile.space<shared>>
    tile.gemm %a, %b, %c transpose_b : memref<64x64xf16, #tile.space<shared>>, memref<64x64xf16, #tile.space<shared>>, memref<64x64xf32, #tile.space<fragment>>
  }
  return
}
