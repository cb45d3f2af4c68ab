// RUN: tw-opt %s -tile-forward-row-copies -split-input-file -verify-diagnostics | FileCheck %s

!tensor = memref<64x1024xf32, #tile.space<global>>
!row = memref<1x1024xf32, #tile.space<fragment>>

// The second loop reads the tensor; the tile goes.
// CHECK-LABEL: func.func @again
func.func @again(%X: !tensor, %Z: !tensor) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c64) threads [32] {
    // CHECK-NOT: tile.alloc "x"
    %x = tile.alloc "x" : !row
    // CHECK: tile.parallel (%{{.*}}, %[[J:.*]]) in (1, 1024)
    // CHECK: tile.load %arg0[%{{.*}}, %[[J]]]
    // CHECK-NOT: tile.store
    tile.parallel (%i, %j) in (1, 1024) {
      %r = arith.addi %bx, %i : index
      // expected-remark @+1 {{later loops read it here again, without a copy in 'x'}}
      %v = tile.load %X[%r, %j] : !tensor
      tile.store %v, %x[%i, %j] : !row
    }
    // CHECK: tile.parallel (%[[K:.*]]) in (1024)
    // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
    // CHECK: %[[V:.*]] = tile.load %arg0[%[[ROW]], %[[K]]]
    // CHECK: arith.mulf %[[V]], %[[V]]
    tile.parallel (%j) in (1024) {
      %v = tile.load %x[%c0, %j] : !row
      %s = arith.mulf %v, %v : f32
      tile.store %s, %Z[%bx, %j] : !tensor
    }
  }
  return
}

// -----

!tensor = memref<64x1024xf32, #tile.space<global>>
!row = memref<1x1024xf32, #tile.space<fragment>>

// The kernel writes the tensor: the tile keeps what was there before.
// CHECK-LABEL: func.func @written
func.func @written(%X: !tensor) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c64) threads [32] {
    // CHECK: tile.alloc "x"
    %x = tile.alloc "x" : !row
    tile.parallel (%j) in (1024) {
      %v = tile.load %X[%bx, %j] : !tensor
      tile.store %v, %x[%c0, %j] : !row
    }
    tile.parallel (%j) in (1024) {
      %v = tile.load %x[%c0, %j] : !row
      %s = arith.mulf %v, %v : f32
      tile.store %s, %X[%bx, %j] : !tensor
    }
  }
  return
}

// -----

!tensor = memref<64x1024xf32, #tile.space<global>>
!row = memref<1x1024xf32, #tile.space<fragment>>

// An iteration reads what another one stored.
// CHECK-LABEL: func.func @reversed
func.func @reversed(%X: !tensor, %Z: !tensor) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1023 = arith.constant 1023 : index
  tile.kernel (%bx) in (%c64) threads [32] {
    // CHECK: tile.alloc "x"
    %x = tile.alloc "x" : !row
    tile.parallel (%j) in (1024) {
      %v = tile.load %X[%bx, %j] : !tensor
      tile.store %v, %x[%c0, %j] : !row
    }
    tile.parallel (%j) in (1024) {
      %k = arith.subi %c1023, %j : index
      %v = tile.load %x[%c0, %k] : !row
      tile.store %v, %Z[%bx, %j] : !tensor
    }
  }
  return
}

// -----

!tensor = memref<64x1024xf32, #tile.space<global>>
!row = memref<1x1024xf32, #tile.space<fragment>>

// The first turn's read comes before any store, later ones see the row of the turn before.
// CHECK-LABEL: func.func @carried
func.func @carried(%X: !tensor, %Z: !tensor) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: tile.alloc "x"
    %x = tile.alloc "x" : !row
    scf.for %r = %c0 to %c64 step %c1 {
      tile.parallel (%j) in (1024) {
        %v = tile.load %x[%c0, %j] : !row
        tile.store %v, %Z[%r, %j] : !tensor
      }
      tile.parallel (%j) in (1024) {
        %v = tile.load %X[%r, %j] : !tensor
        tile.store %v, %x[%c0, %j] : !row
      }
    }
  }
  return
}

// -----

!tensor = memref<60x1000xf32, #tile.space<global>>
!row = memref<1x1024xf32, #tile.space<fragment>>

// Elements that do not exist read as zeros: the tile holds them once, and nobody asks again.
// CHECK-LABEL: func.func @outside
func.func @outside(%X: !tensor, %Z: !tensor) {
  %c0 = arith.constant 0 : index
  %c60 = arith.constant 60 : index
  tile.kernel (%bx) in (%c60) threads [32] {
    // CHECK: tile.alloc "x"
    %x = tile.alloc "x" : !row
    tile.parallel (%j) in (1024) {
      %v = tile.load %X[%bx, %j] : !tensor
      tile.store %v, %x[%c0, %j] : !row
    }
    tile.parallel (%j) in (1024) {
      %v = tile.load %x[%c0, %j] : !row
      tile.store %v, %Z[%bx, %j] : !tensor
    }
  }
  return
}
