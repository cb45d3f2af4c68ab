// RUN: tw-opt %s -tile-plan-cpu-prefetches -verify-diagnostics | FileCheck %s

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// The gemm prefetches the rows that the next iteration copies; in the last one they are the same.
// CHECK-LABEL: func.func @by_gemm
func.func @by_gemm(%A: memref<64x512xf32, #global> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // CHECK: tile.pipelined %[[K:.*]] = %{{.*}} to %[[N:.*]] stages
    // CHECK: %[[LAST:.*]] = arith.subi %[[N]], %[[ONE:.*]] : index
    // CHECK: %[[AFTER:.*]] = arith.addi %[[K]], %[[ONE]] : index
    // CHECK: %[[NEXT:.*]] = arith.minsi %[[AFTER]], %[[LAST]] : index
    tile.pipelined %k = %c0 to %c16 stages 2 {
      %column = arith.muli %k, %c32 : index
      %part = tile.slice %A[0, %column] [64, 32] [1, 1] : memref<64x512xf32, #global> to memref<64x32xf32, #global>
      // CHECK: %[[COLUMN:.*]] = arith.muli %[[NEXT]], %{{.*}} : index
      // CHECK: tile.slice %{{.*}}[0, %[[COLUMN]]] [64, 32] [1, 1] {tile.id = 0 : i64}
      // CHECK: tile.copy %{{.*}}, %a {tile.prefetched}
      // expected-remark @+1 {{the next iteration's part of 'A' is prefetched during the gemm that reads it}}
      tile.copy %part, %a : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
      // CHECK: tile.gemm %a, %b, %c {tile.prefetches = array<i64: 0>}
      tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    }
  }
  return
}

// Without a gemm the copy does, unless its rows lie one after the other: then it reads ahead.
// CHECK-LABEL: func.func @by_copy
func.func @by_copy(%A: memref<64x512xf32, #global> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %r = tile.alloc "r" : memref<4x512xf32, #shared>
    tile.pipelined %k = %c0 to %c16 stages 2 {
      %c32 = arith.constant 32 : index
      %column = arith.muli %k, %c32 : index
      %part = tile.slice %A[0, %column] [64, 32] [1, 1] : memref<64x512xf32, #global> to memref<64x32xf32, #global>
      // CHECK: tile.copy %{{.*}}, %a {tile.prefetches = array<i64: 1>}
      // expected-remark @+1 {{the next iteration's part of 'A' is prefetched after the copy}}
      tile.copy %part, %a : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
      %row = arith.muli %k, %c4 : index
      %rows = tile.slice %A[%row, 0] [4, 512] [1, 1] : memref<64x512xf32, #global> to memref<4x512xf32, #global>
      // CHECK: tile.copy %{{.*}}, %r : memref
      tile.copy %rows, %r : memref<4x512xf32, #global> to memref<4x512xf32, #shared>
    }
  }
  return
}

// What the sums are added to afterwards is sliced before the gemm, which prefetches it.
// CHECK-LABEL: func.func @updated
func.func @updated(%D: memref<256x64xf32, #global> {tile.name = "D"}) {
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // CHECK: tile.slice %{{.*}} {tile.id = 2 : i64}
    // CHECK-NEXT: tile.gemm %a, %b, %c {tile.prefetches = array<i64: 2>}
    // expected-remark @+1 {{prefetches the part of 'D' that its result is added to}}
    tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    %c64 = arith.constant 64 : index
    %row = arith.muli %bx, %c64 : index
    %part = tile.slice %D[%row, 0] [64, 64] [1, 1] : memref<256x64xf32, #global> to memref<64x64xf32, #global>
    tile.atomic add %c, %part : memref<64x64xf32, #fragment>, memref<64x64xf32, #global>
  }
  return
}

// One iteration has no next one, and a tensor that a slice may leave has no rows to prefetch.
// CHECK-LABEL: func.func @neither
func.func @neither(%A: memref<64x500xf32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    // CHECK-NOT: tile.prefetch
    tile.pipelined %k = %c0 to %c1 stages 2 {
      %column = arith.muli %k, %c32 : index
      %part = tile.slice %A[0, %column] [64, 32] [1, 1] : memref<64x500xf32, #global> to memref<64x32xf32, #global>
      tile.copy %part, %a : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
    }
    tile.pipelined %k = %c0 to %c16 stages 2 {
      %column = arith.muli %k, %c32 : index
      %part = tile.slice %A[0, %column] [64, 32] [1, 1] : memref<64x500xf32, #global> to memref<64x32xf32, #global>
      tile.copy %part, %a : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
    }
  }
  return
}
