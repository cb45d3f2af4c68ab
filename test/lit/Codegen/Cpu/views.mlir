// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 -split-input-file | FileCheck %s
// Slices and views: coordinates become addresses.

#global = #tile.space<global>

// The rows of a slice lie as far apart as those of the tensor, also where a dimension is dropped.
// CHECK-LABEL: llvm.func internal @sliced.kernel0
func.func @sliced(%A: memref<4x8x64xf32, #global>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    %part = tile.slice %A[%bx, 2, 16] [1, 4, 32] [1, 1, 1] drop [0] : memref<4x8x64xf32, #global> to memref<4x32xf32, #global>
    // CHECK: arith.muli %{{.*}}, %c8
    // CHECK: arith.muli %{{.*}}, %c64
    // CHECK: %[[ADDRESS:.*]] = llvm.getelementptr inbounds %{{.*}} -> !llvm.ptr, f32
    // CHECK: llvm.store %{{.*}}, %[[ADDRESS]]
    tile.store %x, %part[%c0, %c0] : memref<4x32xf32, #global>
  }
  return
}

// -----

#shared = #tile.space<shared>

// A view has the memory of its source: bytes are read as the words that they make.
// CHECK-LABEL: llvm.func internal @viewed.kernel0
func.func @viewed(%x: i32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : memref<16x4xi8, #shared>
    %words = tile.view %t : memref<16x4xi8, #shared> to memref<16xi32, #shared>
    // CHECK: %[[ADDRESS:.*]] = llvm.getelementptr inbounds %{{.*}} -> !llvm.ptr, i32
    // CHECK: llvm.store %{{.*}}, %[[ADDRESS]] {{.*}} : i32
    tile.store %x, %words[%bx] : memref<16xi32, #shared>
  }
  return
}

// -----

#global = #tile.space<global>

// An index that may leave a tensor is compared: nothing is written outside.
// CHECK-LABEL: llvm.func internal @outside.kernel0
func.func @outside(%A: memref<64xf32, #global>, %i: index, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %c64
    // CHECK: scf.if %[[INSIDE]] {
    // CHECK: llvm.store
    tile.store %x, %A[%i] : memref<64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// A view has as many rows as its source has bytes for.
// CHECK-LABEL: llvm.func internal @run_time_rows.kernel0
// CHECK: %[[ROWS:.*]] = arith.divui %{{.*}}, %c16 : index
// CHECK-NOT: -9223372036854775808
// CHECK: arith.cmpi ugt, %[[ROWS]]
func.func @run_time_rows(%A: memref<?xf32, #global> {tile.shape = #tile.shape<"()[n] -> (n)">}, %x: f32, %n: index {tile.symbol = "n"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %rows = tile.view %A : memref<?xf32, #global> to memref<?x4xf32, #global>
    tile.store %x, %rows[%bx, %c1] : memref<?x4xf32, #global>
  }
  return
}
