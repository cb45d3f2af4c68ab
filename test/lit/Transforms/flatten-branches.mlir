// RUN: tw-opt %s -tile-flatten-branches | FileCheck %s

// CHECK-LABEL: func.func @choices
func.func @choices(%X: memref<64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<16x32xf32, #tile.space<fragment>>
    %zero = arith.constant 0.0 : f32
    // CHECK: tile.parallel
    tile.parallel (%i, %j) in (16, 32) {
      %c = arith.cmpi sle, %i, %j : index
      // CHECK: %[[A:.*]] = tile.load %{{.*}}[%[[I:.*]], %[[J:.*]]]
      // CHECK-NEXT: %[[X:.*]] = arith.select %{{.*}}, %[[A]], %{{.*}} : f32
      // CHECK-NEXT: tile.store %[[X]]
      %x = scf.if %c -> (f32) {
        %a = tile.load %s[%i, %j] : memref<16x32xf32, #tile.space<fragment>>
        scf.yield %a : f32
      } else {
        scf.yield %zero : f32
      }
      tile.store %x, %s[%i, %j] : memref<16x32xf32, #tile.space<fragment>>
    }
    // An element that may not exist is loaded only if it is chosen.
    // CHECK: tile.parallel
    tile.parallel (%i, %j) in (16, 32) {
      %up = arith.addi %i, %c8 : index
      %c = arith.cmpi sle, %i, %j : index
      // CHECK: scf.if
      // CHECK-NEXT: tile.load
      %x = scf.if %c -> (f32) {
        %a = tile.load %s[%up, %j] : memref<16x32xf32, #tile.space<fragment>>
        scf.yield %a : f32
      } else {
        scf.yield %zero : f32
      }
      tile.store %x, %s[%i, %j] : memref<16x32xf32, #tile.space<fragment>>
    }
    // So is one of a tensor, and a function is not evaluated for nothing.
    // CHECK: tile.parallel
    tile.parallel (%i) in (16) {
      %c = arith.cmpi sle, %i, %c8 : index
      // CHECK: scf.if
      // CHECK-NEXT: tile.load
      %x = scf.if %c -> (f32) {
        %a = tile.load %X[%i] : memref<64xf32, #tile.space<global>>
        scf.yield %a : f32
      } else {
        scf.yield %zero : f32
      }
      // CHECK: scf.if
      // CHECK-NEXT: math.exp2
      %y = scf.if %c -> (f32) {
        %e = math.exp2 %x : f32
        scf.yield %e : f32
      } else {
        scf.yield %zero : f32
      }
      tile.store %y, %X[%i] : memref<64xf32, #tile.space<global>>
    }
  }
  return
}
