// RUN: tw-opt %s -tile-transpose-tiles -split-input-file | FileCheck %s
// Scores of attention are transposed with all that is touched together with them, or not at all.

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// CHECK-LABEL: func.func @attention
func.func @attention(%Q: memref<64x128xf32, #global> {tile.name = "Q"},
                     %K: memref<512x128xf32, #global> {tile.name = "K"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %q = tile.alloc "q" : memref<64x128xf32, #shared>
    %k = tile.alloc "k" : memref<32x128xf32, #shared>
    // CHECK: %[[S:.*]] = tile.alloc "s" : memref<32x64xf32
    %s = tile.alloc "s" : memref<64x32xf32, #fragment>
    // CHECK: %[[P:.*]] = tile.alloc "p" : memref<32x64xf16
    %p = tile.alloc "p" : memref<64x32xf16, #fragment>
    %m = tile.alloc "m" : memref<64xf32, #fragment>
    // CHECK: tile.alloc "o" : memref<64x128xf32
    %o = tile.alloc "o" : memref<64x128xf32, #fragment>
    %v = tile.alloc "v" : memref<32x128xf16, #shared>
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    tile.copy %Q, %q : memref<64x128xf32, #global> to memref<64x128xf32, #shared>
    tile.pipelined %t = %c0 to %c16 stages 1 {
      %c32 = arith.constant 32 : index
      %first = arith.muli %t, %c32 : index
      %part = tile.slice %K[%first, 0] [32, 128] [1, 1] : memref<512x128xf32, #global> to memref<32x128xf32, #global>
      tile.copy %part, %k : memref<32x128xf32, #global> to memref<32x128xf32, #shared>
      tile.fill %zero, %s : f32, memref<64x32xf32, #fragment>
      // CHECK: tile.gemm %[[K:.*]], %[[Q:.*]], %[[S]] transpose_b : memref<32x128xf32, {{.*}}, memref<64x128xf32, {{.*}}, memref<32x64xf32
      tile.gemm %q, %k, %s transpose_b : memref<64x128xf32, #shared>, memref<32x128xf32, #shared>, memref<64x32xf32, #fragment>
      // CHECK: tile.reduce max %[[S]], %[[M:.*]] dim 0 :
      tile.reduce max %s, %m dim 1 : memref<64x32xf32, #fragment> to memref<64xf32, #fragment>
      // CHECK: tile.parallel (%[[J:.*]], %[[I:.*]]) in (32, 64)
      tile.parallel (%i, %j) in (64, 32) {
        // CHECK: tile.load %[[S]][%[[J]], %[[I]]]
        %x = tile.load %s[%i, %j] : memref<64x32xf32, #fragment>
        // CHECK: tile.load %[[M]][%[[I]]]
        %y = tile.load %m[%i] : memref<64xf32, #fragment>
        %z = arith.subf %x, %y : f32
        // CHECK: tile.store %{{.*}}, %[[S]][%[[J]], %[[I]]]
        tile.store %z, %s[%i, %j] : memref<64x32xf32, #fragment>
      }
      // CHECK: tile.copy %[[S]], %[[P]] : memref<32x64xf32, {{.*}} to memref<32x64xf16
      tile.copy %s, %p : memref<64x32xf32, #fragment> to memref<64x32xf16, #fragment>
      // CHECK: tile.gemm %[[P]], %{{.*}}, %{{.*}} transpose_a :
      tile.gemm %p, %v, %o : memref<64x32xf16, #fragment>, memref<32x128xf16, #shared>, memref<64x128xf32, #fragment>
    }
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// The tensor of biases would be read down its columns.
// CHECK-LABEL: func.func @reads_rows_of_a_tensor
func.func @reads_rows_of_a_tensor(%Q: memref<64x128xf32, #global> {tile.name = "Q"},
                                  %K: memref<512x128xf32, #global> {tile.name = "K"},
                                  %bias: memref<64x32xf32, #global> {tile.name = "bias"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %q = tile.alloc "q" : memref<64x128xf32, #shared>
    %k = tile.alloc "k" : memref<32x128xf32, #shared>
    // CHECK: tile.alloc "s" : memref<64x32xf32
    %s = tile.alloc "s" : memref<64x32xf32, #fragment>
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    tile.copy %Q, %q : memref<64x128xf32, #global> to memref<64x128xf32, #shared>
    tile.pipelined %t = %c0 to %c16 stages 1 {
      %part = tile.slice %K[%t, 0] [32, 128] [1, 1] : memref<512x128xf32, #global> to memref<32x128xf32, #global>
      tile.copy %part, %k : memref<32x128xf32, #global> to memref<32x128xf32, #shared>
      tile.parallel (%i, %j) in (64, 32) {
        %x = tile.load %bias[%i, %j] : memref<64x32xf32, #global>
        tile.store %x, %s[%i, %j] : memref<64x32xf32, #fragment>
      }
      // CHECK: tile.gemm %{{.*}}, %{{.*}}, %{{.*}} transpose_b : memref<64x128xf32
      tile.gemm %q, %k, %s transpose_b : memref<64x128xf32, #shared>, memref<32x128xf32, #shared>, memref<64x32xf32, #fragment>
    }
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// One tile is read both ways, one as the right operand of a product, one is copied to a tensor.
// CHECK-LABEL: func.func @other_uses
func.func @other_uses(%Q: memref<64x128xf32, #global> {tile.name = "Q"},
                      %K: memref<512x128xf32, #global> {tile.name = "K"},
                      %S: memref<64x64xf32, #global> {tile.name = "S"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %q = tile.alloc "q" : memref<64x128xf32, #shared>
    %k = tile.alloc "k" : memref<64x128xf32, #shared>
    // CHECK: tile.alloc "both" : memref<64x64xf32
    // CHECK: tile.gemm %[[Q:.*]], %[[K:.*]], %{{.*}} transpose_b
    // CHECK: tile.gemm %[[Q]], %[[K]], %{{.*}} transpose_b
    // CHECK: tile.gemm %[[Q]], %[[K]], %{{.*}} transpose_b
    %both = tile.alloc "both" : memref<64x64xf32, #fragment>
    %right = tile.alloc "right" : memref<64x64xf32, #fragment>
    %out = tile.alloc "out" : memref<64x64xf32, #fragment>
    %o = tile.alloc "o" : memref<64x64xf32, #fragment>
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    tile.copy %Q, %q : memref<64x128xf32, #global> to memref<64x128xf32, #shared>
    tile.pipelined %t = %c0 to %c8 stages 1 {
      %part = tile.slice %K[%t, 0] [64, 128] [1, 1] : memref<512x128xf32, #global> to memref<64x128xf32, #global>
      tile.copy %part, %k : memref<64x128xf32, #global> to memref<64x128xf32, #shared>
      tile.gemm %q, %k, %both transpose_b : memref<64x128xf32, #shared>, memref<64x128xf32, #shared>, memref<64x64xf32, #fragment>
      tile.gemm %q, %k, %right transpose_b : memref<64x128xf32, #shared>, memref<64x128xf32, #shared>, memref<64x64xf32, #fragment>
      tile.gemm %q, %k, %out transpose_b : memref<64x128xf32, #shared>, memref<64x128xf32, #shared>, memref<64x64xf32, #fragment>
      tile.parallel (%i, %j) in (64, 64) {
        %x = tile.load %both[%i, %j] : memref<64x64xf32, #fragment>
        %y = tile.load %both[%j, %i] : memref<64x64xf32, #fragment>
        %z = arith.addf %x, %y : f32
        tile.store %z, %o[%i, %j] : memref<64x64xf32, #fragment>
      }
      tile.gemm %o, %right, %o : memref<64x64xf32, #fragment>, memref<64x64xf32, #fragment>, memref<64x64xf32, #fragment>
      tile.copy %out, %S : memref<64x64xf32, #fragment> to memref<64x64xf32, #global>
    }
  }
  return
}
