// RUN: tw-opt %s -tile-plan-gpu=arch=sm_90a -tile-lower-to-threads=arch=sm_90a 2>/dev/null | FileCheck %s
// Products of warpgroups. Registers that wgmma reads or writes are operands and results of the group of instructions,
// one statement to LLVM, and of the wait after it, so that LLVM cannot use them in between.

// CHECK-LABEL: llvm.func @two_steps_kernel
// The warp's number, the same in all its lanes, once for all products.
// CHECK: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK: nvvm.fence.proxy
// CHECK-NEXT: nvvm.barrier0
// CHECK: "wgmma.fence.sync.aligned;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $8, $9, 1, 1, 1, 0, 0;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $10, $11, 1, 1, 1, 0, 0;
// CHECK-SAME: wgmma.commit_group.sync.aligned;", "=&f,=&f,=&f,=&f,0,1,2,3,l,l,l,l,~{memory}"
// CHECK: "wgmma.wait_group.sync.aligned 0;", "=&f,=&f,=&f,=&f,0,1,2,3,~{memory}"
func.func @two_steps(%A: memref<64x32xf16, #tile.space<global>>, %B: memref<8x32xf16, #tile.space<global>>, %C: memref<64x8xf32, #tile.space<global>>) attributes {tile.no_bulk} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<8x32xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<64x8xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<64x32xf16, #tile.space<global>> to memref<64x32xf16, #tile.space<shared>>
    tile.copy %B, %b : memref<8x32xf16, #tile.space<global>> to memref<8x32xf16, #tile.space<shared>>
    tile.copy %C, %c : memref<64x8xf32, #tile.space<global>> to memref<64x8xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<64x32xf16, #tile.space<shared>>, memref<8x32xf16, #tile.space<shared>>, memref<64x8xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<64x8xf32, #tile.space<fragment>> to memref<64x8xf32, #tile.space<global>>
  }
  return
}

// A cleared product brings no sums; B is K x N, so it is read along N. Integers have no signs to give.
// CHECK-LABEL: llvm.func @cleared_kernel
// CHECK: "wgmma.fence.sync.aligned;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, $32, $33, 0, 1, 1, 0, 1;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, $34, $35, 1, 1, 1, 0, 1;
// CHECK-SAME: "=&f,{{[=&f,]*}},l,l,l,l,~{memory}"
func.func @cleared(%A: memref<64x32xbf16, #tile.space<global>>, %B: memref<32x64xbf16, #tile.space<global>>, %C: memref<64x64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xbf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<32x64xbf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<64x64xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<64x32xbf16, #tile.space<global>> to memref<64x32xbf16, #tile.space<shared>>
    tile.copy %B, %b : memref<32x64xbf16, #tile.space<global>> to memref<32x64xbf16, #tile.space<shared>>
    tile.gemm %a, %b, %c clear %true : memref<64x32xbf16, #tile.space<shared>>, memref<32x64xbf16, #tile.space<shared>>, memref<64x64xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<64x64xf32, #tile.space<fragment>> to memref<64x64xf32, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @integers_kernel
// CHECK: wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.u8 {{.*}}, $16, $17, 1;{{.*}}", "=&r,{{.*}},l,l,~{memory}"
func.func @integers(%A: memref<64x32xi8, #tile.space<global>>, %B: memref<16x32xui8, #tile.space<global>>, %C: memref<64x16xi32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xi8, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x32xui8, #tile.space<shared>>
    %c = tile.alloc "c" : memref<64x16xi32, #tile.space<fragment>>
    tile.copy %A, %a : memref<64x32xi8, #tile.space<global>> to memref<64x32xi8, #tile.space<shared>>
    tile.copy %B, %b : memref<16x32xui8, #tile.space<global>> to memref<16x32xui8, #tile.space<shared>>
    tile.copy %C, %c : memref<64x16xi32, #tile.space<global>> to memref<64x16xi32, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<64x32xi8, #tile.space<shared>>, memref<16x32xui8, #tile.space<shared>>, memref<64x16xi32, #tile.space<fragment>>
    tile.copy %c, %C : memref<64x16xi32, #tile.space<fragment>> to memref<64x16xi32, #tile.space<global>>
  }
  return
}

// A from registers: the words of A go through the group and the wait as well.
// CHECK-LABEL: llvm.func @registers_kernel
// CHECK: "wgmma.fence.sync.aligned;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, {$4, $5, $6, $7}, $16, 1, 1, 1, 0;
// CHECK-SAME: "=&f,=&f,=&f,=&f,=&r,=&r,=&r,=&r,0,1,2,3,4,5,6,7,l,~{memory}"
// CHECK: "wgmma.wait_group.sync.aligned 0;", "=&f,=&f,=&f,=&f,=&r,=&r,=&r,=&r,0,1,2,3,4,5,6,7,~{memory}"
func.func @registers(%A: memref<64x16xf16, #tile.space<global>>, %B: memref<8x16xf16, #tile.space<global>>, %C: memref<64x8xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x16xf16, #tile.space<fragment>>
    %b = tile.alloc "b" : memref<8x16xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<64x8xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<64x16xf16, #tile.space<global>> to memref<64x16xf16, #tile.space<fragment>>
    tile.copy %B, %b : memref<8x16xf16, #tile.space<global>> to memref<8x16xf16, #tile.space<shared>>
    tile.copy %C, %c : memref<64x8xf32, #tile.space<global>> to memref<64x8xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<64x16xf16, #tile.space<fragment>>, memref<8x16xf16, #tile.space<shared>>, memref<64x8xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<64x8xf32, #tile.space<fragment>> to memref<64x8xf32, #tile.space<global>>
  }
  return
}

// Tensor cores keep few digits of sums of 8-bit floats: the product starts from 0, and is added in float32.
// CHECK-LABEL: llvm.func @bytes_kernel
// CHECK: wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {$0, $1, $2, $3}, $4, $5, 0, 1, 1;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {$0, $1, $2, $3}, $6, $7, 1, 1, 1;
// CHECK-SAME: wgmma.wait_group.sync.aligned 0;", "=&f,=&f,=&f,=&f,l,l,l,l,~{memory}"
// CHECK-COUNT-4: arith.addf
func.func @bytes(%A: memref<64x64xf8E4M3FN, #tile.space<global>>, %B: memref<8x64xf8E4M3FN, #tile.space<global>>, %C: memref<64x8xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x64xf8E4M3FN, #tile.space<shared>>
    %b = tile.alloc "b" : memref<8x64xf8E4M3FN, #tile.space<shared>>
    %c = tile.alloc "c" : memref<64x8xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<64x64xf8E4M3FN, #tile.space<global>> to memref<64x64xf8E4M3FN, #tile.space<shared>>
    tile.copy %B, %b : memref<8x64xf8E4M3FN, #tile.space<global>> to memref<8x64xf8E4M3FN, #tile.space<shared>>
    tile.copy %C, %c : memref<64x8xf32, #tile.space<global>> to memref<64x8xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<64x64xf8E4M3FN, #tile.space<shared>>, memref<8x64xf8E4M3FN, #tile.space<shared>>, memref<64x8xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<64x8xf32, #tile.space<fragment>> to memref<64x8xf32, #tile.space<global>>
  }
  return
}

// Two sums in float16 share a register.
// CHECK-LABEL: llvm.func @half_sums_kernel
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {$0, $1}, $4, $5, 1, 1, 1, 0, 0;{{.*}}", "=&r,=&r,0,1,l,l,~{memory}"
func.func @half_sums(%A: memref<64x16xf16, #tile.space<global>>, %B: memref<8x16xf16, #tile.space<global>>, %C: memref<64x8xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x16xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<8x16xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<64x8xf16, #tile.space<fragment>>
    tile.copy %A, %a : memref<64x16xf16, #tile.space<global>> to memref<64x16xf16, #tile.space<shared>>
    tile.copy %B, %b : memref<8x16xf16, #tile.space<global>> to memref<8x16xf16, #tile.space<shared>>
    tile.copy %C, %c : memref<64x8xf16, #tile.space<global>> to memref<64x8xf16, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<64x16xf16, #tile.space<shared>>, memref<8x16xf16, #tile.space<shared>>, memref<64x8xf16, #tile.space<fragment>>
    tile.copy %c, %C : memref<64x8xf16, #tile.space<fragment>> to memref<64x8xf16, #tile.space<global>>
  }
  return
}

// Each warpgroup reads rows of its own: the start in its descriptor depends on its number.
// CHECK-LABEL: llvm.func @two_groups_kernel
// CHECK: %[[NUMBER:.*]] = arith.remui %{{.*}}, %c2_i32 : i32
// CHECK: arith.muli %[[NUMBER]], %{{.*}} : i32
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16
func.func @two_groups(%A: memref<128x16xf16, #tile.space<global>>, %B: memref<8x16xf16, #tile.space<global>>, %C: memref<128x8xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [256] {
    %a = tile.alloc "a" : memref<128x16xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<8x16xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<128x8xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<128x16xf16, #tile.space<global>> to memref<128x16xf16, #tile.space<shared>>
    tile.copy %B, %b : memref<8x16xf16, #tile.space<global>> to memref<8x16xf16, #tile.space<shared>>
    tile.copy %C, %c : memref<128x8xf32, #tile.space<global>> to memref<128x8xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<128x16xf16, #tile.space<shared>>, memref<8x16xf16, #tile.space<shared>>, memref<128x8xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<128x8xf32, #tile.space<fragment>> to memref<128x8xf32, #tile.space<global>>
  }
  return
}

// Elements of 32 bits, of which the tensor cores read 19: the store rounded them.
// CHECK-LABEL: llvm.func @rounded_kernel
// CHECK: cvt.rna.tf32.f32
// CHECK: wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0, $1, $2, $3}, $4, $5, 0, 1, 1;
func.func @rounded(%A: memref<64x8xf32, #tile.space<global>>, %B: memref<8x8xf32, #tile.space<global>>, %C: memref<64x8xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x8xtf32, #tile.space<shared>>
    %b = tile.alloc "b" : memref<8x8xtf32, #tile.space<shared>>
    %c = tile.alloc "c" : memref<64x8xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<64x8xf32, #tile.space<global>> to memref<64x8xtf32, #tile.space<shared>>
    tile.copy %B, %b : memref<8x8xf32, #tile.space<global>> to memref<8x8xtf32, #tile.space<shared>>
    tile.gemm %a, %b, %c transpose_b clear %true : memref<64x8xtf32, #tile.space<shared>>, memref<8x8xtf32, #tile.space<shared>>, memref<64x8xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<64x8xf32, #tile.space<fragment>> to memref<64x8xf32, #tile.space<global>>
  }
  return
}

// B is a part of its tile, and starts where that part does: 8 rows of 64 bytes further down.
// CHECK-LABEL: llvm.func @part_of_a_tile_kernel
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16
func.func @part_of_a_tile(%A: memref<64x32xf16, #tile.space<global>>, %B: memref<2x8x32xf16, #tile.space<global>>, %C: memref<64x8xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<2x8x32xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<64x8xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<64x32xf16, #tile.space<global>> to memref<64x32xf16, #tile.space<shared>>
    tile.copy %B, %b : memref<2x8x32xf16, #tile.space<global>> to memref<2x8x32xf16, #tile.space<shared>>
    tile.copy %C, %c : memref<64x8xf32, #tile.space<global>> to memref<64x8xf32, #tile.space<fragment>>
    %part = tile.slice %b[1, 0, 0] [1, 8, 32] [1, 1, 1] drop [0] : memref<2x8x32xf16, #tile.space<shared>> to memref<8x32xf16, #tile.space<shared>>
    tile.gemm %a, %part, %c transpose_b : memref<64x32xf16, #tile.space<shared>>, memref<8x32xf16, #tile.space<shared>>, memref<64x8xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<64x8xf32, #tile.space<fragment>> to memref<64x8xf32, #tile.space<global>>
  }
  return
}
