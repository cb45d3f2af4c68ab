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
    // CHECK: tile.slice %{{.*}} {tile.id = [[D:[0-9]+]] : i64}
    // CHECK-NEXT: tile.gemm %a, %b, %c {tile.prefetches = array<i64: [[D]]>}
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

// A tile that is copied after a gemm is prefetched by that one; one that is copied before it, for the next
// iteration, by the last gemm. In the last iteration this one prefetches what the next block copies and
// what is written after the loop.
// CHECK-LABEL: func.func @attention
func.func @attention(%Q: memref<256x128xf32, #global> {tile.name = "Q"}, %K: memref<256x128xf32, #global> {tile.name = "K"},
                     %V: memref<256x128xf32, #global> {tile.name = "V"}, %O: memref<256x128xf32, #global> {tile.name = "O"}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  // CHECK: tile.kernel (%[[BX:.*]]) in (%[[GRID:.*]]) threads
  tile.kernel (%bx) in (%c4) threads [128] {
    %q = tile.alloc "q" : memref<64x128xf32, #shared>
    %k = tile.alloc "k" : memref<64x128xf32, #shared>
    %v = tile.alloc "v" : memref<64x128xf32, #shared>
    %s = tile.alloc "s" : memref<64x64xf32, #fragment>
    %o = tile.alloc "o" : memref<64x128xf32, #fragment>
    %first = arith.muli %bx, %c64 : index
    %queries = tile.slice %Q[%first, 0] [64, 128] [1, 1] : memref<256x128xf32, #global> to memref<64x128xf32, #global>
    // expected-remark @+1 {{the next block's part of 'Q' is prefetched during the last gemm of this one}}
    tile.copy %queries, %q : memref<64x128xf32, #global> to memref<64x128xf32, #shared>
    // CHECK: %[[LAST:.*]] = arith.subi %[[GRID]]
    // CHECK: %[[AFTER:.*]] = arith.addi %[[BX]]
    // CHECK: %[[NEXT:.*]] = arith.minsi %[[AFTER]], %[[LAST]]
    // CHECK: %[[ROW:.*]] = arith.muli %[[NEXT]]
    // CHECK: tile.slice %{{.*}}[%[[ROW]], 0] [64, 128] [1, 1] {tile.id = [[Q:[0-9]+]] : i64}
    // CHECK: tile.slice {{.*}} {tile.id = [[O:[0-9]+]] : i64}
    // CHECK: tile.pipelined
    tile.pipelined %n = %c0 to %c4 stages 1 {
      %row = arith.muli %n, %c64 : index
      %keys = tile.slice %K[%row, 0] [64, 128] [1, 1] : memref<256x128xf32, #global> to memref<64x128xf32, #global>
      // CHECK: tile.slice {{.*}} {tile.id = [[K:[0-9]+]] : i64}
      // CHECK: tile.copy %{{.*}}, %k {tile.prefetched}
      // expected-remark @+1 {{the next iteration's part of 'K' is prefetched during the last gemm}}
      tile.copy %keys, %k : memref<64x128xf32, #global> to memref<64x128xf32, #shared>
      // CHECK: tile.slice {{.*}} {tile.id = [[V:[0-9]+]] : i64}
      // CHECK: tile.gemm %q, %k, %s transpose_b {tile.prefetches = array<i64: [[V]]>}
      tile.gemm %q, %k, %s transpose_b : memref<64x128xf32, #shared>, memref<64x128xf32, #shared>, memref<64x64xf32, #fragment>
      %values = tile.slice %V[%row, 0] [64, 128] [1, 1] : memref<256x128xf32, #global> to memref<64x128xf32, #global>
      // CHECK: tile.copy %{{.*}}, %v {tile.prefetched}
      // expected-remark @+1 {{this part of 'V' is prefetched during the gemm before}}
      tile.copy %values, %v : memref<64x128xf32, #global> to memref<64x128xf32, #shared>
      // CHECK: tile.gemm %s, %v, %o {tile.prefetches = array<i64: [[K]]>, tile.prefetches_at_end = array<i64: [[Q]], [[O]]>}
      // expected-remark @+1 {{prefetches the part of 'O' that is written after the loop}}
      tile.gemm %s, %v, %o : memref<64x64xf32, #fragment>, memref<64x128xf32, #shared>, memref<64x128xf32, #fragment>
    }
    %part = tile.slice %O[%first, 0] [64, 128] [1, 1] : memref<256x128xf32, #global> to memref<64x128xf32, #global>
    tile.parallel (%i, %j) in (64, 128) {
      %sum = tile.load %o[%i, %j] : memref<64x128xf32, #fragment>
      %twice = arith.addf %sum, %sum : f32
      tile.store %twice, %part[%i, %j] : memref<64x128xf32, #global>
    }
  }
  return
}
