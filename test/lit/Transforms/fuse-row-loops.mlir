// RUN: tw-opt %s -tile-fuse-row-loops -split-input-file -verify-diagnostics | FileCheck %s

// The chain runs row by row; tiles that only it uses keep one row.
// CHECK-LABEL: func.func @chain
func.func @chain(%X: memref<64x1024xf32, #tile.space<global>>, %Z: memref<64x1024xf32, #tile.space<global>>) {
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    // CHECK: %[[X:.*]] = tile.alloc "x" : memref<1x1024xf32
    // CHECK: %[[T:.*]] = tile.alloc "t" : memref<1xf32
    %x = tile.alloc "x" : memref<16x1024xf32, #tile.space<fragment>>
    %t = tile.alloc "t" : memref<16xf32, #tile.space<fragment>>
    %row = arith.muli %bx, %c16 : index
    %in = tile.slice %X[%row, 0] [16, 1024] [1, 1] : memref<64x1024xf32, #tile.space<global>> to memref<16x1024xf32, #tile.space<global>>
    // CHECK: scf.for %[[R:.*]] = %[[ZERO:.*]] to
    // CHECK-NEXT: tile.parallel (%[[J:.*]]) in (1024) {
    // CHECK-NEXT: tile.load %{{.*}}[%[[R]], %[[J]]]
    // CHECK-NEXT: tile.store %{{.*}}, %[[X]][%[[ZERO]], %[[J]]]
    // CHECK: tile.parallel (%{{.*}}) in (1) {
    // CHECK-NEXT: tile.load %[[X]][%[[ZERO]],
    // CHECK-NEXT: tile.store %{{.*}}, %[[T]][%[[ZERO]]]
    // CHECK: tile.parallel (%[[K:.*]]) in (1024) {
    // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %[[K]]]
    // expected-remark @+1 {{the statements from here on run row by row}}
    tile.copy %in, %x : memref<16x1024xf32, #tile.space<global>> to memref<16x1024xf32, #tile.space<fragment>>
    tile.parallel (%i) in (16) {
      %v = tile.load %x[%i, %c4] : memref<16x1024xf32, #tile.space<fragment>>
      tile.store %v, %t[%i] : memref<16xf32, #tile.space<fragment>>
    }
    tile.parallel (%i, %j) in (16, 1024) {
      %v = tile.load %x[%i, %j] : memref<16x1024xf32, #tile.space<fragment>>
      %s = tile.load %t[%i] : memref<16xf32, #tile.space<fragment>>
      %d = arith.divf %v, %s : f32
      %r = arith.addi %row, %i : index
      tile.store %d, %Z[%r, %j] : memref<64x1024xf32, #tile.space<global>>
    }
  }
  return
}

// -----

// Row 0 needs the last row of what is written before: nothing runs row by row.
// CHECK-LABEL: func.func @otherRows
func.func @otherRows(%X: memref<16x1024xf32, #tile.space<global>>, %Z: memref<16x1024xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %x = tile.alloc "x" : memref<16x1024xf32, #tile.space<shared>>
    // CHECK-NOT: scf.for
    tile.copy %X, %x : memref<16x1024xf32, #tile.space<global>> to memref<16x1024xf32, #tile.space<shared>>
    tile.parallel (%i, %j) in (16, 1024) {
      %r = arith.subi %c15, %i : index
      %v = tile.load %x[%r, %j] : memref<16x1024xf32, #tile.space<shared>>
      tile.store %v, %Z[%i, %j] : memref<16x1024xf32, #tile.space<global>>
    }
  }
  return
}

// -----

// One row writes what all write: the sums of columns need all rows of one statement first.
// CHECK-LABEL: func.func @columns
func.func @columns(%X: memref<16x1024xf32, #tile.space<global>>, %Z: memref<16x1024xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" reducer sum : memref<1024xf32, #tile.space<fragment>>
    tile.fill %zero, %s : f32, memref<1024xf32, #tile.space<fragment>>
    // CHECK-NOT: scf.for
    tile.parallel (%i, %j) in (16, 1024) {
      %v = tile.load %X[%i, %j] : memref<16x1024xf32, #tile.space<global>>
      tile.reducer_update %v, %s[%j] : memref<1024xf32, #tile.space<fragment>>
    }
    tile.parallel (%i, %j) in (16, 1024) {
      %v = tile.load %s[%j] : memref<1024xf32, #tile.space<fragment>>
      tile.store %v, %Z[%i, %j] : memref<16x1024xf32, #tile.space<global>>
    }
  }
  return
}

// -----

// In a loop a tile keeps its rows from turn to turn: the chain runs row by row, the tile stays.
// CHECK-LABEL: func.func @turns
func.func @turns(%X: memref<16x1024xf32, #tile.space<global>>, %Z: memref<16x1024xf32, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: tile.alloc "x" : memref<16x1024xf32
    %x = tile.alloc "x" : memref<16x1024xf32, #tile.space<shared>>
    // CHECK: scf.for
    scf.for %k = %c0 to %c4 step %c1 {
      // CHECK: scf.for
      // expected-remark @+1 {{the statements from here on run row by row}}
      tile.parallel (%i, %j) in (16, 1024) {
        %v = tile.load %x[%i, %j] : memref<16x1024xf32, #tile.space<shared>>
        tile.store %v, %Z[%i, %j] : memref<16x1024xf32, #tile.space<global>>
      }
      tile.copy %X, %x : memref<16x1024xf32, #tile.space<global>> to memref<16x1024xf32, #tile.space<shared>>
    }
  }
  return
}
