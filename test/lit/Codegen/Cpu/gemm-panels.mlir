// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 -split-input-file | FileCheck %s
// Operands that the product packs itself (Panels.h).

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// The first block, of 6 rows, widens B on its way and leaves it for the others, whose rows of A are
// widened just before. 4 rows are left.
// CHECK-LABEL: llvm.func internal @widened.kernel0
func.func @widened(%A: memref<28x32xf16, #global>, %B: memref<32x64xf16, #global>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<28x32xf16, #shared>
    %b = tile.alloc "b" : memref<32x64xf16, #shared>
    %c = tile.alloc "c" : memref<28x64xf32, #fragment>
    tile.copy %A, %a {tile.direct, tile.prepares = [{form = "left panels", id = 0 : i64, sum = f32}]} : memref<28x32xf16, #global> to memref<28x32xf16, #shared>
    tile.copy %B, %b {tile.direct, tile.prepares = [{form = "right panels", id = 1 : i64, sum = f32}]} : memref<32x64xf16, #global> to memref<32x64xf16, #shared>
    // CHECK-NOT: vector.fma
    // CHECK-COUNT-6: arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
    // CHECK: iter_args
    // CHECK-COUNT-4: arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
    // CHECK-COUNT-24: vector.fma
    // CHECK: scf.yield
    // CHECK-COUNT-6: arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
    // CHECK: iter_args
    // CHECK-NOT: arith.extf
    // CHECK-COUNT-24: vector.fma
    // CHECK: scf.yield
    // CHECK-COUNT-4: arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
    // CHECK: iter_args
    // CHECK-NOT: arith.extf
    // CHECK-COUNT-16: vector.fma
    // CHECK-NOT: vector.fma
    tile.gemm %a, %b, %c {tile.prepared_a = 0 : i64, tile.prepared_b = 1 : i64} : memref<28x32xf16, #shared>, memref<32x64xf16, #shared>, memref<28x64xf32, #fragment>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// A plan that does not fit the matrices (40 columns are no whole vectors) is carried out otherwise.
// CHECK-LABEL: llvm.func internal @refused.kernel0
func.func @refused(%B: memref<32x40xf16, #global>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<28x32xf16, #shared>
    %b = tile.alloc "b" : memref<32x40xf16, #shared>
    %c = tile.alloc "c" : memref<28x40xf32, #fragment>
    tile.copy %B, %b {tile.direct, tile.prepares = [{form = "right panels", id = 0 : i64, sum = f32}]} : memref<32x40xf16, #global> to memref<32x40xf16, #shared>
    // CHECK-COUNT-2: arith.extf {{.*}} : f16 to f32
    // CHECK-NOT: arith.extf
    // CHECK: vector.fma
    tile.gemm %a, %b, %c {tile.prepared_b = 0 : i64} : memref<28x32xf16, #shared>, memref<32x40xf16, #shared>, memref<28x40xf32, #fragment>
  }
  return
}
