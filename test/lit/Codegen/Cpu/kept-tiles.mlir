// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 -split-input-file | FileCheck %s
// What a copy prepares for products.

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// A kept copy compares the address of its part with the one it remembers in slot 1, and packs only
// if it is another one.
// CHECK-LABEL: llvm.func internal @kept.kernel0
func.func @kept(%A: memref<64x32xf16, #global>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf16, #shared>
    %b = tile.alloc "b" : memref<32x64xf16, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // CHECK: %[[SLOT:.*]] = llvm.getelementptr inbounds %arg4[%c1_i64]
    // CHECK: %[[LAST:.*]] = llvm.load %[[SLOT]]
    // CHECK: %[[OTHER:.*]] = llvm.icmp "ne" %[[NOW:.*]], %[[LAST]]
    // CHECK: scf.if %[[OTHER]] {
    // CHECK: arith.extf
    // CHECK: llvm.store %[[NOW]], %[[SLOT]]
    // CHECK: }
    // CHECK: vector.fma
    tile.copy %A, %a {tile.direct, tile.kept = 1 : i64, tile.prepares = [{form = "left", id = 0 : i64, sum = f32}]} : memref<64x32xf16, #global> to memref<64x32xf16, #shared>
    tile.gemm %a, %b, %c {tile.prepared_a = 0 : i64} : memref<64x32xf16, #shared>, memref<32x64xf16, #shared>, memref<64x64xf32, #fragment>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// Direct copies move nothing: the product reads both tensors.
// CHECK-LABEL: llvm.func internal @direct.kernel0
func.func @direct(%A: memref<64x32xf32, #global>, %B: memref<32x64xf32, #global>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // CHECK-NOT: llvm.store
    // CHECK: scf.for {{.*}} iter_args
    // CHECK: vector.fma
    tile.copy %A, %a {tile.direct, tile.prepares = [{form = "left", id = 0 : i64, sum = f32}]} : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
    tile.copy %B, %b {tile.direct, tile.prepares = [{form = "right", id = 1 : i64, sum = f32}]} : memref<32x64xf32, #global> to memref<32x64xf32, #shared>
    tile.gemm %a, %b, %c {tile.prepared_a = 0 : i64, tile.prepared_b = 1 : i64} : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
  }
  return
}
