// RUN: tw-opt %s | tw-opt | FileCheck %s
// RUN: tw-opt %s -o %t.first && tw-opt %t.first -o %t.second && diff %t.first %t.second
// RUN: tw-opt %s -mlir-print-op-generic | tw-opt | FileCheck %s
// Statements on whole tiles, with each of their options.

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// CHECK-LABEL: func.func @movement
func.func @movement(%A: memref<1x8x16xf16, #global>, %n: index, %x: f32, %b: i8) {
  tile.kernel (%bx) in (%n) threads [128] {
    %s = tile.alloc "s" : memref<8x16xf32, #shared>
    %u = tile.alloc "u" : memref<8xui8, #shared>
    // Unit dimensions do not count, and the element type may change.
    // CHECK: tile.copy %{{.*}}, %s : memref<1x8x16xf16, #tile.space<global>> to memref<8x16xf32, #tile.space<shared>>
    tile.copy %A, %s : memref<1x8x16xf16, #global> to memref<8x16xf32, #shared>
    // CHECK: tile.copy %s, %{{.*}} {coalescedWidth = 2 : i64, disable_tma = true, loopLayout = #tile.fragment<[8, 16], "(i, j) -> thread j, slot i">}
    tile.copy %s, %A {coalescedWidth = 2 : i64, disable_tma = true,
                      loopLayout = #tile.fragment<[8, 16], "(i, j) -> thread j, slot i">}
        : memref<8x16xf32, #shared> to memref<1x8x16xf16, #global>
    // CHECK: tile.fill %{{.*}}, %s : f32, memref<8x16xf32, #tile.space<shared>>
    tile.fill %x, %s : f32, memref<8x16xf32, #shared>
    // CHECK: tile.fill %{{.*}}, %u : i8, memref<8xui8, #tile.space<shared>>
    tile.fill %b, %u : i8, memref<8xui8, #shared>
  }
  return
}

// CHECK-LABEL: func.func @gemm
func.func @gemm(%n: index, %first: i1) {
  tile.kernel (%bx) in (%n) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf16, #shared>
    %b = tile.alloc "b" : memref<32x16xf16, #shared>
    %bt = tile.alloc "bt" : memref<1x16x32xf16, #shared>
    %c = tile.alloc "c" : memref<64x16xf32, #fragment>
    // CHECK: tile.gemm %a, %b, %c : memref<64x32xf16, #tile.space<shared>>, memref<32x16xf16, #tile.space<shared>>, memref<64x16xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c
        : memref<64x32xf16, #shared>, memref<32x16xf16, #shared>, memref<64x16xf32, #fragment>
    // CHECK: tile.gemm %a, %bt, %c transpose_b policy full_row k_pack 2 clear %{{.*}} :
    tile.gemm %a, %bt, %c transpose_b policy full_row k_pack 2 clear %first
        : memref<64x32xf16, #shared>, memref<1x16x32xf16, #shared>, memref<64x16xf32, #fragment>
    %at = tile.alloc "at" : memref<32x64xf16, #shared>
    // CHECK: tile.gemm %at, %b, %c transpose_a policy full_col :
    tile.gemm %at, %b, %c transpose_a policy full_col
        : memref<32x64xf16, #shared>, memref<32x16xf16, #shared>, memref<64x16xf32, #fragment>
    // Eight-bit operands may differ in kind.
    %e4 = tile.alloc "e4" : memref<64x32xf8E4M3FN, #shared>
    %e5 = tile.alloc "e5" : memref<32x16xf8E5M2, #shared>
    // CHECK: tile.gemm %e4, %e5, %c :
    tile.gemm %e4, %e5, %c
        : memref<64x32xf8E4M3FN, #shared>, memref<32x16xf8E5M2, #shared>, memref<64x16xf32, #fragment>
  }
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%n: index) {
  tile.kernel (%bx) in (%n) threads [128] {
    %s = tile.alloc "s" : memref<8x16xf32, #fragment>
    %row = tile.alloc "row" : memref<8xf32, #fragment>
    %kept = tile.alloc "kept" : memref<1x16xf32, #fragment>
    %i = tile.alloc "i" : memref<4xi32, #fragment>
    %one = tile.alloc "one" : memref<1xi32, #fragment>
    // CHECK: tile.reduce max %s, %row dim 1 clear : memref<8x16xf32, #tile.space<fragment>> to memref<8xf32, #tile.space<fragment>>
    tile.reduce max %s, %row dim 1 clear : memref<8x16xf32, #fragment> to memref<8xf32, #fragment>
    // CHECK: tile.reduce absmax %s, %kept dim 0 nan_propagate :
    tile.reduce absmax %s, %kept dim 0 nan_propagate
        : memref<8x16xf32, #fragment> to memref<1x16xf32, #fragment>
    // CHECK: tile.reduce sum %i, %one dim 0 :
    // CHECK: tile.reduce min %i, %one dim 0 :
    // CHECK: tile.reduce abssum %i, %one dim 0 :
    // CHECK: tile.reduce and %i, %one dim 0 :
    // CHECK: tile.reduce or %i, %one dim 0 :
    // CHECK: tile.reduce xor %i, %one dim 0 clear nan_propagate :
    tile.reduce sum %i, %one dim 0 : memref<4xi32, #fragment> to memref<1xi32, #fragment>
    tile.reduce min %i, %one dim 0 : memref<4xi32, #fragment> to memref<1xi32, #fragment>
    tile.reduce abssum %i, %one dim 0 : memref<4xi32, #fragment> to memref<1xi32, #fragment>
    tile.reduce and %i, %one dim 0 : memref<4xi32, #fragment> to memref<1xi32, #fragment>
    tile.reduce or %i, %one dim 0 : memref<4xi32, #fragment> to memref<1xi32, #fragment>
    tile.reduce xor %i, %one dim 0 clear nan_propagate
        : memref<4xi32, #fragment> to memref<1xi32, #fragment>
    // CHECK: tile.cumsum %s, %s dim 1 reverse : memref<8x16xf32, #tile.space<fragment>> to
    tile.cumsum %s, %s dim 1 reverse : memref<8x16xf32, #fragment> to memref<8x16xf32, #fragment>
    // CHECK: tile.cumsum %s, %s dim 0 : memref
    tile.cumsum %s, %s dim 0 : memref<8x16xf32, #fragment> to memref<8x16xf32, #fragment>
  }
  return
}

// CHECK-LABEL: func.func @atomics
func.func @atomics(%D: memref<8x16xf32, #global>, %I: memref<4xui32, #global>, %n: index, %x: f32,
                   %i: i32) {
  tile.kernel (%bx) in (%n) threads [128] {
    %s = tile.alloc "s" : memref<8x16xf16, #shared>
    // CHECK: tile.atomic add %s, %{{.*}} : memref<8x16xf16, #tile.space<shared>>, memref<8x16xf32, #tile.space<global>>
    tile.atomic add %s, %D : memref<8x16xf16, #shared>, memref<8x16xf32, #global>
    // CHECK: tile.atomic max %{{.*}}, %{{.*}} order acq_rel : f32, memref<8x16xf32, #tile.space<global>>
    tile.atomic max %x, %D order acq_rel : f32, memref<8x16xf32, #global>
    // CHECK: tile.atomic_element add %{{.*}}, %{{.*}}[%bx] : memref<4xui32, #tile.space<global>>
    // CHECK: tile.atomic_element min %{{.*}}, %{{.*}}[%bx] order consume :
    // CHECK: tile.atomic_element and %{{.*}}, %{{.*}}[%bx] order acquire :
    // CHECK: tile.atomic_element or %{{.*}}, %{{.*}}[%bx] order release :
    // CHECK: tile.atomic_element xor %{{.*}}, %{{.*}}[%bx] order seq_cst :
    // CHECK: %[[P:.*]] = tile.atomic_element exchange %{{.*}}, %{{.*}}[%bx] :
    // CHECK: tile.atomic_element add %[[P]], %{{.*}}[%bx] :
    %0 = tile.atomic_element add %i, %I[%bx] : memref<4xui32, #global>
    %1 = tile.atomic_element min %i, %I[%bx] order consume : memref<4xui32, #global>
    %2 = tile.atomic_element and %i, %I[%bx] order acquire : memref<4xui32, #global>
    %3 = tile.atomic_element or %i, %I[%bx] order release : memref<4xui32, #global>
    %4 = tile.atomic_element xor %i, %I[%bx] order seq_cst : memref<4xui32, #global>
    %5 = tile.atomic_element exchange %i, %I[%bx] : memref<4xui32, #global>
    %6 = tile.atomic_element add %5, %I[%bx] : memref<4xui32, #global>
  }
  return
}

// CHECK-LABEL: func.func @reducers
func.func @reducers(%n: index, %x: f32) {
  tile.kernel (%bx) in (%n) threads [128] {
    %r = tile.alloc "r" reducer sum : memref<8xf32, #fragment>
    %s = tile.alloc "s" : memref<8xf32, #fragment>
    // CHECK: tile.reducer_update %{{.*}}, %r[%bx] : memref<8xf32, #tile.space<fragment>>
    tile.reducer_update %x, %r[%bx] : memref<8xf32, #fragment>
    // CHECK: tile.finalize_reducer %r, %s : memref<8xf32, #tile.space<fragment>> to memref<8xf32, #tile.space<fragment>>
    tile.finalize_reducer %r, %s : memref<8xf32, #fragment> to memref<8xf32, #fragment>
  }
  return
}

// CHECK-LABEL: func.func @im2col
func.func @im2col(%image: memref<?x32x32x16xf16, #global>, %n: index) {
  tile.kernel (%bx) in (%n) threads [128] {
    %s = tile.alloc "s" : memref<64x32xf16, #shared>
    // CHECK: tile.im2col %{{.*}}, %s at(%bx, %{{.*}}) kernel 3 stride 1 dilation 2 pad 0 :
    tile.im2col %image, %s at (%bx, %n) kernel 3 stride 1 dilation 2 pad 0
        : memref<?x32x32x16xf16, #global> to memref<64x32xf16, #shared>
  }
  return
}
