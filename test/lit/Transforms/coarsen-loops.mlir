// RUN: tw-opt %s -tile-coarsen-loops=max-bytes=131072 -verify-diagnostics | FileCheck %s

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// 32 steps of 16 KiB become 4 of 128 KiB; A is walked along its columns, B, which is transposed, too.
// CHECK-LABEL: func.func @both
func.func @both(%A: memref<64x1024xf32, #global>, %B: memref<64x1024xf32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c34 = arith.constant 34 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    // CHECK: %a = tile.alloc "a" : memref<64x256xf32
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    // CHECK: %b = tile.alloc "b" : memref<64x256xf32
    %b = tile.alloc "b" : memref<64x32xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // CHECK: %[[ZERO:.*]] = arith.constant 0 : index
    // CHECK: %[[COUNT:.*]] = arith.constant 4 : index
    // CHECK: tile.pipelined %[[N:.*]] = %[[ZERO]] to %[[COUNT]] stages 2 {
    // CHECK: %[[SCALED:.*]] = arith.muli %[[N]], %c8{{.*}}
    // CHECK: arith.addi %[[SCALED]], %c2{{.*}}
    tile.pipelined %k = %c2 to %c34 stages 2 {
      // CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c32
      %column = arith.muli %k, %c32 : index
      // CHECK: tile.slice %{{.*}}[0, %[[COLUMN]]] [64, 256] [1, 1]
      %part = tile.slice %A[0, %column] [64, 32] [1, 1] : memref<64x1024xf32, #global> to memref<64x32xf32, #global>
      tile.copy %part, %a : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
      %other = tile.slice %B[0, %column] [64, 32] [1, 1] : memref<64x1024xf32, #global> to memref<64x32xf32, #global>
      tile.copy %other, %b : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
      // expected-remark @+1 {{takes 8 steps of the loop at once: 256 elements along k}}
      tile.gemm %a, %b, %c transpose_b : memref<64x32xf32, #shared>, memref<64x32xf32, #shared>, memref<64x64xf32, #fragment>
    }
  }
  return
}

// None of these loops is changed.
// CHECK-LABEL: func.func @none
// CHECK-NOT: 64x64xf32, #tile.space<shared>
func.func @none(%A: memref<64x1024xf32, #global>, %B: memref<1024x64xf32, #global>,
                %N: memref<64x1024xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // How often is not known.
    tile.pipelined %k = %c0 to %n stages 2 {
      %at = arith.muli %k, %c32 : index
      %part = tile.slice %A[0, %at] [64, 32] [1, 1] : memref<64x1024xf32, #global> to memref<64x32xf32, #global>
      tile.copy %part, %a : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
      %other = tile.slice %B[%at, 0] [32, 64] [1, 1] : memref<1024x64xf32, #global> to memref<32x64xf32, #global>
      tile.copy %other, %b : memref<32x64xf32, #global> to memref<32x64xf32, #shared>
      tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    }
    // Parts of A with gaps between them.
    %d = tile.alloc "d" : memref<64x32xf32, #shared>
    %e = tile.alloc "e" : memref<32x64xf32, #shared>
    tile.pipelined %k = %c0 to %c32 stages 2 {
      %at = arith.muli %k, %c32 : index
      %far = arith.muli %k, %c64 : index
      %part = tile.slice %A[0, %far] [64, 32] [1, 1] : memref<64x1024xf32, #global> to memref<64x32xf32, #global>
      tile.copy %part, %d : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
      %other = tile.slice %B[%at, 0] [32, 64] [1, 1] : memref<1024x64xf32, #global> to memref<32x64xf32, #global>
      tile.copy %other, %e : memref<32x64xf32, #global> to memref<32x64xf32, #shared>
      tile.gemm %d, %e, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    }
    // The sums start anew in each turn.
    %f = tile.alloc "f" : memref<64x32xf32, #shared>
    %g = tile.alloc "g" : memref<32x64xf32, #shared>
    tile.pipelined %k = %c0 to %c32 stages 2 {
      %at = arith.muli %k, %c32 : index
      %part = tile.slice %A[0, %at] [64, 32] [1, 1] : memref<64x1024xf32, #global> to memref<64x32xf32, #global>
      tile.copy %part, %f : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
      %other = tile.slice %B[%at, 0] [32, 64] [1, 1] : memref<1024x64xf32, #global> to memref<32x64xf32, #global>
      tile.copy %other, %g : memref<32x64xf32, #global> to memref<32x64xf32, #shared>
      tile.fill %zero, %c : f32, memref<64x64xf32, #fragment>
      tile.gemm %f, %g, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    }
    // The sums are rounded to float16 in each turn.
    %h = tile.alloc "h" : memref<64x32xf32, #shared>
    %i = tile.alloc "i" : memref<32x64xf32, #shared>
    %r = tile.alloc "r" : memref<64x64xf16, #fragment>
    tile.pipelined %k = %c0 to %c32 stages 2 {
      %at = arith.muli %k, %c32 : index
      %part = tile.slice %A[0, %at] [64, 32] [1, 1] : memref<64x1024xf32, #global> to memref<64x32xf32, #global>
      tile.copy %part, %h : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
      %other = tile.slice %B[%at, 0] [32, 64] [1, 1] : memref<1024x64xf32, #global> to memref<32x64xf32, #global>
      tile.copy %other, %i : memref<32x64xf32, #global> to memref<32x64xf32, #shared>
      tile.gemm %h, %i, %r : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf16, #fragment>
    }
    // Two products add to the same sums: they would no longer take turns.
    %j = tile.alloc "j" : memref<64x32xf32, #shared>
    %l = tile.alloc "l" : memref<32x64xf32, #shared>
    tile.pipelined %k = %c0 to %c32 stages 2 {
      %at = arith.muli %k, %c32 : index
      %part = tile.slice %A[0, %at] [64, 32] [1, 1] : memref<64x1024xf32, #global> to memref<64x32xf32, #global>
      tile.copy %part, %j : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
      %other = tile.slice %B[%at, 0] [32, 64] [1, 1] : memref<1024x64xf32, #global> to memref<32x64xf32, #global>
      tile.copy %other, %l : memref<32x64xf32, #global> to memref<32x64xf32, #shared>
      tile.gemm %j, %l, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
      tile.gemm %j, %l, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    }
    // The kernel writes the tensor.
    %m = tile.alloc "m" : memref<64x32xf32, #shared>
    %o = tile.alloc "o" : memref<32x64xf32, #shared>
    tile.pipelined %k = %c0 to %c32 stages 2 {
      %at = arith.muli %k, %c32 : index
      %part = tile.slice %N[0, %at] [64, 32] [1, 1] : memref<64x1024xf32, #global> to memref<64x32xf32, #global>
      tile.copy %part, %m : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
      %other = tile.slice %B[%at, 0] [32, 64] [1, 1] : memref<1024x64xf32, #global> to memref<32x64xf32, #global>
      tile.copy %other, %o : memref<32x64xf32, #global> to memref<32x64xf32, #shared>
      tile.gemm %m, %o, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    }
    tile.store %zero, %N[%c0, %c0] : memref<64x1024xf32, #global>
  }
  return
}
