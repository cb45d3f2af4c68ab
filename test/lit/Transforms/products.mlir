// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a "-tile-plan-accesses=arch=sm_90a bulk=false" -tile-check-plans=arch=sm_90a -tile-plan-shared-memory=arch=sm_90a -tile-insert-orderings 2>/dev/null | FileCheck %s
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

// 32 rows and 128 columns: the product computes C^T, 128 rows of B^T by 32 columns of A^T, both read along
// what is contiguous in memory. C lives where its transpose does: neighbouring slots hold neighbouring rows.
// CHECK-LABEL: func.func @few_rows
// CHECK: tile.alloc "a" {tile.alignment = 512 : i64
// CHECK: tile.alloc "b" {tile.alignment = 1024 : i64
// CHECK: tile.gemm
// CHECK-SAME: tile.async
// CHECK-SAME: tile.groups = array<i64: 2, 1>
// CHECK-SAME: tile.operand_a = #tile.operand<swizzle = 64 k_major = false leading = 0 stride = 512 panel = 0>
// CHECK-SAME: tile.swapped
// REMARK-DAG: 'T.gemm': 4 x wgmma.m64n32k16 on each of 2 x 1 warpgroups, transposed, B from shared memory
func.func @few_rows(%A: memref<64x32xf16, #tile.space<global>>, %B: memref<64x128xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [256] {
    %a = tile.alloc "a" : memref<64x32xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<64x128xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<32x128xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<64x32xf16, #tile.space<global>> to memref<64x32xf16, #tile.space<shared>>
    tile.copy %B, %b : memref<64x128xf16, #tile.space<global>> to memref<64x128xf16, #tile.space<shared>>
    tile.gemm %a, %b, %c transpose_a : memref<64x32xf16, #tile.space<shared>>, memref<64x128xf16, #tile.space<shared>>, memref<32x128xf32, #tile.space<fragment>>
  }
  return
}

// Sums of 8-bit floats are promoted in the statement, so nothing is left open.
// CHECK-LABEL: func.func @float8
// CHECK: tile.gemm
// CHECK-NOT: tile.async
// CHECK-SAME: tile.groups = array<i64: 1, 1>
// REMARK-DAG: 'T.gemm': 8 x wgmma.m64n64k32 on each of 1 x 1 warpgroup, A from shared memory, partial sums added in float32 every 128 of K
func.func @float8(%A: memref<64x256xf8E4M3FN, #tile.space<global>>, %B: memref<64x256xf8E5M2, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x256xf8E4M3FN, #tile.space<shared>>
    %b = tile.alloc "b" : memref<64x256xf8E5M2, #tile.space<shared>>
    %c = tile.alloc "c" : memref<64x64xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<64x256xf8E4M3FN, #tile.space<global>> to memref<64x256xf8E4M3FN, #tile.space<shared>>
    tile.copy %B, %b : memref<64x256xf8E5M2, #tile.space<global>> to memref<64x256xf8E5M2, #tile.space<shared>>
    tile.gemm %a, %b, %c transpose_b : memref<64x256xf8E4M3FN, #tile.space<shared>>, memref<64x256xf8E5M2, #tile.space<shared>>, memref<64x64xf32, #tile.space<fragment>>
  }
  return
}

// Sums go to shared memory by rows of 16 bytes that four lanes bring.
// CHECK-LABEL: func.func @staged
// CHECK: tile.store %{{.*}}, %staged
// CHECK-SAME: tile.matrix_rows = #tile.access<width = 8 slots = [0, 1, 2, 3, 4, 5, 6, 7]
// REMARK-DAG: staged: 1 x stmatrix of four 8 x 8 matrices
func.func @staged(%A: memref<64x32xf16, #tile.space<global>>, %B: memref<16x32xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x32xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<64x16xf16, #tile.space<fragment>>
    %staged = tile.alloc "staged" : memref<64x16xf16, #tile.space<shared>>
    tile.copy %A, %a : memref<64x32xf16, #tile.space<global>> to memref<64x32xf16, #tile.space<shared>>
    tile.copy %B, %b : memref<16x32xf16, #tile.space<global>> to memref<16x32xf16, #tile.space<shared>>
    tile.gemm %a, %b, %c transpose_b : memref<64x32xf16, #tile.space<shared>>, memref<16x32xf16, #tile.space<shared>>, memref<64x16xf16, #tile.space<fragment>>
    tile.copy %c, %staged : memref<64x16xf16, #tile.space<fragment>> to memref<64x16xf16, #tile.space<shared>>
  }
  return
}

// Where the operands trade places, one in registers cannot: the product goes without wgmma.
// CHECK-LABEL: func.func @swapped_from_registers
// CHECK: tile.gemm
func.func @swapped_from_registers(%A: memref<8x64xf16, #tile.space<global>>, %B: memref<64x64xf16, #tile.space<global>>, %C: memref<8x64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<8x64xf16, #tile.space<fragment>>
    %b = tile.alloc "b" : memref<64x64xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<8x64xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<8x64xf16, #tile.space<global>> to memref<8x64xf16, #tile.space<fragment>>
    tile.copy %B, %b : memref<64x64xf16, #tile.space<global>> to memref<64x64xf16, #tile.space<shared>>
    tile.gemm %a, %b, %c transpose_b : memref<8x64xf16, #tile.space<fragment>>, memref<64x64xf16, #tile.space<shared>>, memref<8x64xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<8x64xf32, #tile.space<fragment>> to memref<8x64xf32, #tile.space<global>>
  }
  return
}
