// RUN: tw-opt %s -tile-guard-tiles | FileCheck %s
// An access of a tile is tested where nothing proves that it stays inside, and nowhere else.

// CHECK-LABEL: func.func @proved
// CHECK-NOT:     tile.assert
func.func @proved(%U: memref<?xui8, #tile.space<global>>, %n: index {tile.symbol = "n"}, %x: f32, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c15_i8 = arith.constant 15 : i8
  tile.kernel (%bx) in (%n) threads [32] {
    %s = tile.alloc "s" : memref<16xf32, #tile.space<shared>>
    tile.parallel (%i) in (16) {
      %v = tile.load %U[%i] : memref<?xui8, #tile.space<global>>
      %low = arith.andi %v, %c15_i8 : i8
      %k = tile.cast %low from ui8 to index
      tile.store %x, %s[%k] : memref<16xf32, #tile.space<shared>>
      %at = arith.addi %i, %m : index
      %least = arith.cmpi sge, %at, %c0 : index
      %both = scf.if %least -> i1 {
        %most = arith.cmpi slt, %at, %c16 : index
        scf.yield %most : i1
      } else {
        %false = arith.constant false
        scf.yield %false : i1
      }
      scf.if %both {
        tile.store %x, %s[%at] : memref<16xf32, #tile.space<shared>>
      }
    }
    %isOne = arith.cmpi eq, %m, %c1 : index
    scf.if %isOne {
      tile.store %x, %s[%m] : memref<16xf32, #tile.space<shared>>
    }
    %few = arith.cmpi sle, %n, %c16 : index
    tile.assume %few
    scf.for %k = %c0 to %n step %c1 {
      tile.store %x, %s[%k] : memref<16xf32, #tile.space<shared>>
    }
  }
  return
}

// CHECK-LABEL: func.func @loaded
// CHECK:         %[[K:.*]] = tile.cast
// CHECK:         %[[HOLDS:.*]] = arith.cmpi ult, %[[K]], %c16
// CHECK-NEXT:    tile.assert %[[HOLDS]], "an index of 's' is out of bounds for dimension 1, which has 16 elements"
// CHECK-NEXT:    tile.store
// CHECK-NOT:     tile.assert
func.func @loaded(%I: memref<8xi32, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<8x16xf32, #tile.space<shared>>
    tile.parallel (%i) in (8) {
      %v = tile.load %I[%i] : memref<8xi32, #tile.space<global>>
      %k = tile.cast %v from i32 to index
      tile.store %x, %s[%i, %k] : memref<8x16xf32, #tile.space<shared>>
    }
  }
  return
}

// A masked value may be zero.
// CHECK-LABEL: func.func @before_masked
// CHECK:         tile.assert
// CHECK-NEXT:    tile.store
func.func @before_masked(%U: memref<8xui8, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c15_i8 = arith.constant 15 : i8
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<16xf32, #tile.space<shared>>
    tile.parallel (%i) in (8) {
      %v = tile.load %U[%i] : memref<8xui8, #tile.space<global>>
      %low = arith.andi %v, %c15_i8 : i8
      %k = tile.cast %low from ui8 to index
      %before = arith.subi %k, %c1 : index
      tile.store %x, %s[%before] : memref<16xf32, #tile.space<shared>>
    }
  }
  return
}

// First and last element of a slice, unless it is empty.
// CHECK-LABEL: func.func @sliced
// CHECK:         arith.cmpi ult, %arg0
// CHECK:         arith.cmpi ult
// CHECK:         arith.cmpi sle
// CHECK:         tile.assert
func.func @sliced(%from: index, %count: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<16xf32, #tile.space<shared>>
    %part = tile.slice %s[%from] [%count] [1] : memref<16xf32, #tile.space<shared>> to memref<?xf32, #tile.space<shared>>
    tile.fill %zero, %part : f32, memref<?xf32, #tile.space<shared>>
  }
  return
}
