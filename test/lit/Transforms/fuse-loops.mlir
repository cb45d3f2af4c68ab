// RUN: tw-opt %s -tile-fuse-loops -split-input-file -verify-diagnostics | FileCheck %s

// A row kernel: what is squared and summed stays in a register, and `y` is not stored at all.
// CHECK-LABEL: func.func @squares
func.func @squares(%X: memref<64x256xf32, #tile.space<global>>, %Z: memref<64xf32, #tile.space<global>>) {
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    %x = tile.alloc "x" : memref<16x256xf32, #tile.space<fragment>>
    // CHECK-NOT: tile.alloc "y"
    %y = tile.alloc "y" : memref<16x256xf32, #tile.space<fragment>>
    %t = tile.alloc "t" : memref<16xf32, #tile.space<fragment>>
    %row = arith.muli %bx, %c16 : index
    %in = tile.slice %X[%row, 0] [16, 256] [1, 1] : memref<64x256xf32, #tile.space<global>> to memref<16x256xf32, #tile.space<global>>
    // CHECK: %[[SUM:.*]] = tile.alloc "t" reducer sum : memref<16xf32
    // CHECK: %[[ZERO:.*]] = arith.constant 0.0
    // CHECK: tile.fill %[[ZERO]], %[[SUM]]
    // CHECK-NEXT: tile.parallel (%[[I:.*]], %[[J:.*]]) in (16, 256) {
    // CHECK: %[[V:.*]] = tile.load %{{.*}}[%[[I]], %[[J]]] : {{.*}}global
    // CHECK-NEXT: %[[SQUARE:.*]] = arith.mulf %[[V]], %[[V]]
    // CHECK-NEXT: tile.reducer_update %[[SQUARE]], %[[SUM]][%[[I]]]
    // CHECK-NEXT: }
    // CHECK-NEXT: tile.finalize_reducer %[[SUM]], %{{.*}}
    // expected-remark @+1 {{the 3 statements from here on run as one loop}}
    tile.copy %in, %x : memref<16x256xf32, #tile.space<global>> to memref<16x256xf32, #tile.space<fragment>>
    tile.parallel (%i, %j) in (16, 256) {
      %v = tile.load %x[%i, %j] : memref<16x256xf32, #tile.space<fragment>>
      %s = arith.mulf %v, %v : f32
      tile.store %s, %y[%i, %j] : memref<16x256xf32, #tile.space<fragment>>
    }
    tile.reduce sum %y, %t dim 1 clear : memref<16x256xf32, #tile.space<fragment>> to memref<16xf32, #tile.space<fragment>>
    %out = tile.slice %Z[%row] [16] [1] : memref<64xf32, #tile.space<global>> to memref<16xf32, #tile.space<global>>
    tile.copy %t, %out : memref<16xf32, #tile.space<fragment>> to memref<16xf32, #tile.space<global>>
  }
  return
}

// -----

// A maximum whose NaNs lose starts from a NaN; one that keeps NaNs is left alone.
// CHECK-LABEL: func.func @extremes
func.func @extremes(%X: memref<16x256xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %x = tile.alloc "x" : memref<16x256xf16, #tile.space<fragment>>
    %t = tile.alloc "t" : memref<16xf16, #tile.space<fragment>>
    // CHECK: %[[SUM:.*]] = tile.alloc "t" reducer max : memref<16xf32
    // CHECK: arith.constant 0x7FC00000 : f32
    // CHECK: tile.parallel
    // CHECK: tile.cast %{{.*}} from f16 to f32
    // expected-remark @+1 {{the 2 statements from here on run as one loop}}
    tile.copy %X, %x : memref<16x256xf16, #tile.space<global>> to memref<16x256xf16, #tile.space<fragment>>
    tile.reduce max %x, %t dim 1 clear : memref<16x256xf16, #tile.space<fragment>> to memref<16xf16, #tile.space<fragment>>
    // CHECK: tile.reduce max {{.*}} nan_propagate
    tile.reduce max %x, %t dim 1 clear nan_propagate : memref<16x256xf16, #tile.space<fragment>> to memref<16xf16, #tile.space<fragment>>
    tile.print "t", %t : memref<16xf16, #tile.space<fragment>>
  }
  return
}

// -----

// A statement that needs elements of other iterations, or a sum before it is complete, starts a loop
// of its own.
// CHECK-LABEL: func.func @neighbours
func.func @neighbours(%X: memref<8x64xf32, #tile.space<global>>, %Z: memref<8x64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %x = tile.alloc "x" : memref<8x64xf32, #tile.space<shared>>
    %t = tile.alloc "t" : memref<8xf32, #tile.space<fragment>>
    // CHECK: tile.copy
    tile.copy %X, %x : memref<8x64xf32, #tile.space<global>> to memref<8x64xf32, #tile.space<shared>>
    // CHECK: tile.parallel
    // expected-remark @+1 {{starts a loop of its own: an iteration needs elements of 'x' of others}}
    tile.parallel (%i, %j) in (8, 64) {
      %v = tile.load %x[%i, %c63] : memref<8x64xf32, #tile.space<shared>>
      tile.store %v, %Z[%i, %j] : memref<8x64xf32, #tile.space<global>>
    }
    // CHECK: tile.parallel
    // CHECK: tile.reducer_update
    // expected-remark @+2 {{starts a loop of its own: an iteration needs elements of 'x' of others}}
    // expected-remark @+1 {{the 2 statements from here on run as one loop}}
    tile.parallel (%i, %j) in (8, 64) {
      %v = tile.load %Z[%i, %j] : memref<8x64xf32, #tile.space<global>>
      tile.store %v, %x[%i, %j] : memref<8x64xf32, #tile.space<shared>>
    }
    tile.reduce sum %x, %t dim 1 clear : memref<8x64xf32, #tile.space<shared>> to memref<8xf32, #tile.space<fragment>>
    // CHECK: tile.parallel
    // expected-remark @+1 {{starts a loop of its own: 't' is complete only after the loop}}
    tile.parallel (%i, %j) in (8, 64) {
      %v = tile.load %x[%i, %j] : memref<8x64xf32, #tile.space<shared>>
      %s = tile.load %t[%i] : memref<8xf32, #tile.space<fragment>>
      %d = arith.divf %v, %s : f32
      tile.store %d, %Z[%i, %j] : memref<8x64xf32, #tile.space<global>>
    }
  }
  return
}

// -----

// Left as they are: elements that may not exist, columns, and what a matrix product reads.
// CHECK-LABEL: func.func @others
func.func @others(%X: memref<60x64xf32, #tile.space<global>>, %Z: memref<64x64xf32, #tile.space<global>>) {
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    %x = tile.alloc "x" : memref<16x64xf32, #tile.space<shared>>
    %y = tile.alloc "y" : memref<64x64xf32, #tile.space<shared>>
    %a = tile.alloc "a" : memref<64x64xf32, #tile.space<shared>>
    %row = arith.muli %bx, %c16 : index
    %in = tile.slice %X[%row, 0] [16, 64] [1, 1] : memref<60x64xf32, #tile.space<global>> to memref<16x64xf32, #tile.space<global>>
    // CHECK: tile.copy
    tile.copy %in, %x : memref<16x64xf32, #tile.space<global>> to memref<16x64xf32, #tile.space<shared>>
    // CHECK-NEXT: tile.parallel
    tile.parallel (%i, %j) in (16, 64) {
      %v = tile.load %x[%i, %j] : memref<16x64xf32, #tile.space<shared>>
      %s = arith.mulf %v, %v : f32
      tile.store %s, %x[%i, %j] : memref<16x64xf32, #tile.space<shared>>
    }
    // CHECK: tile.copy
    tile.copy %Z, %a : memref<64x64xf32, #tile.space<global>> to memref<64x64xf32, #tile.space<shared>>
    // CHECK-NEXT: tile.parallel
    tile.parallel (%i, %j) in (64, 64) {
      %v = tile.load %a[%j, %i] : memref<64x64xf32, #tile.space<shared>>
      tile.store %v, %y[%i, %j] : memref<64x64xf32, #tile.space<shared>>
    }
    // CHECK: tile.gemm
    tile.gemm %a, %a, %y : memref<64x64xf32, #tile.space<shared>>, memref<64x64xf32, #tile.space<shared>>, memref<64x64xf32, #tile.space<shared>>
    tile.print "x", %x : memref<16x64xf32, #tile.space<shared>>
  }
  return
}

// -----

// Inside a loop a tile is read by the next turn: its store stays.
// CHECK-LABEL: func.func @carried
func.func @carried(%Z: memref<64xf32, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %x = tile.alloc "x" : memref<64xf32, #tile.space<fragment>>
    tile.copy %Z, %x : memref<64xf32, #tile.space<global>> to memref<64xf32, #tile.space<fragment>>
    scf.for %k = %c0 to %c4 step %c1 {
      // CHECK: tile.parallel
      // CHECK: %[[D:.*]] = arith.addf
      // CHECK-NEXT: tile.store %[[D]], %{{.*}} : memref<64xf32, #tile.space<fragment>>
      // CHECK-NEXT: tile.store %[[D]], %{{.*}} : memref<64xf32, #tile.space<global>>
      // expected-remark @+1 {{the 2 statements from here on run as one loop}}
      tile.parallel (%j) in (64) {
        %v = tile.load %x[%j] : memref<64xf32, #tile.space<fragment>>
        %d = arith.addf %v, %v : f32
        tile.store %d, %x[%j] : memref<64xf32, #tile.space<fragment>>
      }
      tile.copy %x, %Z : memref<64xf32, #tile.space<fragment>> to memref<64xf32, #tile.space<global>>
    }
  }
  return
}
