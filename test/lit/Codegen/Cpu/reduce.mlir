// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 -split-input-file | FileCheck %s
// Forms of a reduction, and running sums.

#fragment = #tile.space<fragment>

// Along rows: four vectors of partial results, combined, then folded.
// CHECK-LABEL: llvm.func internal @rows.kernel0
func.func @rows() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : memref<4x256xf32, #fragment>
    %s = tile.alloc "s" : memref<4xf32, #fragment>
    // CHECK: scf.for
    // CHECK: scf.for {{.*}} step %c64{{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
    // CHECK-COUNT-3: arith.addf {{.*}} : vector<16xf32>
    // CHECK: vector.shuffle
    // CHECK: llvm.store {{.*}} : f32
    tile.reduce sum %t, %s dim 1 clear : memref<4x256xf32, #fragment> to memref<4xf32, #fragment>
  }
  return
}

// -----

#fragment = #tile.space<fragment>

// Down columns: four vectors of neighbouring columns, then one. What the destination held takes part.
// CHECK-LABEL: llvm.func internal @columns.kernel0
func.func @columns() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : memref<64x80xf32, #fragment>
    %s = tile.alloc "s" : memref<80xf32, #fragment>
    // CHECK: scf.for {{.*}} step %c64
    // CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
    // CHECK-COUNT-5: llvm.load {{.*}} -> vector<16xf32>
    // CHECK-COUNT-4: llvm.store {{.*}} : vector<16xf32>
    // CHECK: scf.for {{.*}} step %c16
    // CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>)
    // CHECK: llvm.load {{.*}} -> vector<16xf32>
    // CHECK: llvm.load {{.*}} -> vector<16xf32>
    // CHECK: llvm.store {{.*}} : vector<16xf32>
    tile.reduce sum %t, %s dim 0 : memref<64x80xf32, #fragment> to memref<80xf32, #fragment>
  }
  return
}

// -----

#global = #tile.space<global>
#fragment = #tile.space<fragment>

// A tensor that a slice may leave: element by element, each checked.
// CHECK-LABEL: llvm.func internal @checked.kernel0
func.func @checked(%A: memref<30xi32, #global>) {
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c2) threads [32] {
    %s = tile.alloc "s" : memref<1xi32, #fragment>
    %first = arith.muli %bx, %c16 : index
    %part = tile.slice %A[%first] [16] [1] : memref<30xi32, #global> to memref<16xi32, #global>
    // CHECK: scf.for {{.*}} iter_args({{.*}}) -> (i64)
    // CHECK: scf.if
    // CHECK: arith.maxsi {{.*}} : i64
    tile.reduce max %part, %s dim 0 clear : memref<16xi32, #global> to memref<1xi32, #fragment>
  }
  return
}

// -----

#fragment = #tile.space<fragment>

// Running sums, from the end.
// CHECK-LABEL: llvm.func internal @running.kernel0
func.func @running() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : memref<4x32xf32, #fragment>
    %s = tile.alloc "s" : memref<4x32xf32, #fragment>
    // CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4
    // CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32)
    // CHECK: arith.subi %c31{{.*}}, %[[I]]
    // CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %{{.*}} : f32
    // CHECK: llvm.store %[[NEXT]]
    // CHECK: scf.yield %[[NEXT]] : f32
    tile.cumsum %t, %s dim 1 reverse : memref<4x32xf32, #fragment> to memref<4x32xf32, #fragment>
  }
  return
}

// -----

#global = #tile.space<global>

// The largest magnitude of no elements is 0.
// CHECK-LABEL: llvm.func internal @run_time.kernel0
// CHECK: %[[EMPTY:.*]] = arith.cmpi sle, %{{.*}}, %c0{{.*}} : index
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: arith.select %[[EMPTY]], %[[ZERO]]
func.func @run_time(%A: memref<4x?xf32, #global> {tile.shape = #tile.shape<"()[n] -> (4, n)">}, %B: memref<4xf32, #global>, %n: index {tile.symbol = "n"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.reduce absmax %A, %B dim 1 clear : memref<4x?xf32, #global> to memref<4xf32, #global>
  }
  return
}
