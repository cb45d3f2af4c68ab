// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// Matrix products: the instruction of the element types, operands by ldmatrix where the plan says so.

// 16 x 16 x 16: two instructions.
// CHECK-LABEL: llvm.func @f16_kernel
// CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4
// CHECK: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>{{.*}}vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.return
func.func @f16(%A: memref<16x16xf16, #tile.space<global>>, %B: memref<16x16xf16, #tile.space<global>>, %C: memref<16x16xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x16xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x16xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x16xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<16x16xf16, #tile.space<global>> to memref<16x16xf16, #tile.space<shared>>
    tile.copy %B, %b : memref<16x16xf16, #tile.space<global>> to memref<16x16xf16, #tile.space<shared>>
    tile.copy %C, %c : memref<16x16xf32, #tile.space<global>> to memref<16x16xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<16x16xf16, #tile.space<shared>>, memref<16x16xf16, #tile.space<shared>>, memref<16x16xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<16x16xf32, #tile.space<fragment>> to memref<16x16xf32, #tile.space<global>>
  }
  return
}

// A right operand with rows along k is transposed on the way.
// CHECK-LABEL: llvm.func @f16_not_transposed_kernel
// CHECK-DAG: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-DAG: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
func.func @f16_not_transposed(%A: memref<16x16xf16, #tile.space<global>>, %B: memref<16x16xf16, #tile.space<global>>, %C: memref<16x16xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x16xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x16xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x16xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<16x16xf16, #tile.space<global>> to memref<16x16xf16, #tile.space<shared>>
    tile.copy %B, %b : memref<16x16xf16, #tile.space<global>> to memref<16x16xf16, #tile.space<shared>>
    tile.copy %C, %c : memref<16x16xf32, #tile.space<global>> to memref<16x16xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c  : memref<16x16xf16, #tile.space<shared>>, memref<16x16xf16, #tile.space<shared>>, memref<16x16xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<16x16xf32, #tile.space<fragment>> to memref<16x16xf32, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @bf16_kernel
// CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>
func.func @bf16(%A: memref<16x16xbf16, #tile.space<global>>, %B: memref<16x16xbf16, #tile.space<global>>, %C: memref<16x16xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x16xbf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x16xbf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x16xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<16x16xbf16, #tile.space<global>> to memref<16x16xbf16, #tile.space<shared>>
    tile.copy %B, %b : memref<16x16xbf16, #tile.space<global>> to memref<16x16xbf16, #tile.space<shared>>
    tile.copy %C, %c : memref<16x16xf32, #tile.space<global>> to memref<16x16xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<16x16xbf16, #tile.space<shared>>, memref<16x16xbf16, #tile.space<shared>>, memref<16x16xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<16x16xf32, #tile.space<fragment>> to memref<16x16xf32, #tile.space<global>>
  }
  return
}

// Digits that a tfloat32 has not are rounded, not cut off.
// CHECK-LABEL: llvm.func @tf32_kernel
// CHECK: "cvt.rna.tf32.f32 $0, $1;"
// CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 8>
func.func @tf32(%A: memref<16x16xtf32, #tile.space<global>>, %B: memref<16x16xtf32, #tile.space<global>>, %C: memref<16x16xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x16xtf32, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x16xtf32, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x16xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<16x16xtf32, #tile.space<global>> to memref<16x16xtf32, #tile.space<shared>>
    tile.copy %B, %b : memref<16x16xtf32, #tile.space<global>> to memref<16x16xtf32, #tile.space<shared>>
    tile.copy %C, %c : memref<16x16xf32, #tile.space<global>> to memref<16x16xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<16x16xtf32, #tile.space<shared>>, memref<16x16xtf32, #tile.space<shared>>, memref<16x16xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<16x16xf32, #tile.space<fragment>> to memref<16x16xf32, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @f64_kernel
// CHECK: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 8, n = 8, k = 4>
func.func @f64(%A: memref<16x16xf64, #tile.space<global>>, %B: memref<16x16xf64, #tile.space<global>>, %C: memref<16x16xf64, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x16xf64, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x16xf64, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x16xf64, #tile.space<fragment>>
    tile.copy %A, %a : memref<16x16xf64, #tile.space<global>> to memref<16x16xf64, #tile.space<shared>>
    tile.copy %B, %b : memref<16x16xf64, #tile.space<global>> to memref<16x16xf64, #tile.space<shared>>
    tile.copy %C, %c : memref<16x16xf64, #tile.space<global>> to memref<16x16xf64, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<16x16xf64, #tile.space<shared>>, memref<16x16xf64, #tile.space<shared>>, memref<16x16xf64, #tile.space<fragment>>
    tile.copy %c, %C : memref<16x16xf64, #tile.space<fragment>> to memref<16x16xf64, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @s8_kernel
// CHECK: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.*}}multiplicandAPtxType = #nvvm.mma_type<s8>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 32>
func.func @s8(%A: memref<16x32xi8, #tile.space<global>>, %B: memref<16x32xi8, #tile.space<global>>, %C: memref<16x16xi32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x32xi8, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x32xi8, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x16xi32, #tile.space<fragment>>
    tile.copy %A, %a : memref<16x32xi8, #tile.space<global>> to memref<16x32xi8, #tile.space<shared>>
    tile.copy %B, %b : memref<16x32xi8, #tile.space<global>> to memref<16x32xi8, #tile.space<shared>>
    tile.copy %C, %c : memref<16x16xi32, #tile.space<global>> to memref<16x16xi32, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<16x32xi8, #tile.space<shared>>, memref<16x32xi8, #tile.space<shared>>, memref<16x16xi32, #tile.space<fragment>>
    tile.copy %c, %C : memref<16x16xi32, #tile.space<fragment>> to memref<16x16xi32, #tile.space<global>>
  }
  return
}

// CHECK-LABEL: llvm.func @half_sums_kernel
// CHECK: nvvm.mma.sync {{.*}} -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
func.func @half_sums(%A: memref<16x16xf16, #tile.space<global>>, %B: memref<16x16xf16, #tile.space<global>>, %C: memref<16x16xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x16xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x16xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x16xf16, #tile.space<fragment>>
    tile.copy %A, %a : memref<16x16xf16, #tile.space<global>> to memref<16x16xf16, #tile.space<shared>>
    tile.copy %B, %b : memref<16x16xf16, #tile.space<global>> to memref<16x16xf16, #tile.space<shared>>
    tile.copy %C, %c : memref<16x16xf16, #tile.space<global>> to memref<16x16xf16, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<16x16xf16, #tile.space<shared>>, memref<16x16xf16, #tile.space<shared>>, memref<16x16xf16, #tile.space<fragment>>
    tile.copy %c, %C : memref<16x16xf16, #tile.space<fragment>> to memref<16x16xf16, #tile.space<global>>
  }
  return
}

// float32 stays exact: no tensor cores.
// CHECK-LABEL: llvm.func @plain_kernel
// CHECK-NOT: nvvm.mma
// CHECK: scf.for
// CHECK: math.fma
func.func @plain(%A: memref<16x16xf32, #tile.space<global>>, %B: memref<16x16xf32, #tile.space<global>>, %C: memref<16x16xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x16xf32, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x16xf32, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x16xf32, #tile.space<fragment>>
    tile.copy %A, %a : memref<16x16xf32, #tile.space<global>> to memref<16x16xf32, #tile.space<shared>>
    tile.copy %B, %b : memref<16x16xf32, #tile.space<global>> to memref<16x16xf32, #tile.space<shared>>
    tile.copy %C, %c : memref<16x16xf32, #tile.space<global>> to memref<16x16xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c transpose_b : memref<16x16xf32, #tile.space<shared>>, memref<16x16xf32, #tile.space<shared>>, memref<16x16xf32, #tile.space<fragment>>
    tile.copy %c, %C : memref<16x16xf32, #tile.space<fragment>> to memref<16x16xf32, #tile.space<global>>
  }
  return
}
