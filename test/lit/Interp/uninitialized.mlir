// RUN: tw-opt -test-interpret -verify-diagnostics %s -o /dev/null | FileCheck %s
// Unwritten elements of a tile may be copied, computed with and discarded. They are a finding where
// they decide a branch, an address or a global value.

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
#local = #tile.space<local>

// CHECK-LABEL: @stored
func.func @stored(%b: memref<4xf32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0.0> : tensor<4xf32>]} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<4xf32, #shared>
    %f = tile.alloc "f" : memref<4xf32, #fragment>
    %head = tile.slice %s[0] [3] [1] : memref<4xf32, #shared> to memref<3xf32, #shared>
    tile.fill %zero, %head : f32, memref<3xf32, #shared>
    tile.copy %s, %f : memref<4xf32, #shared> to memref<4xf32, #fragment>
    // expected-remark @below {{finding: the value stored to 'B' at [3] depends on an element that was never written; block (0) [uninitialized]}}
    tile.copy %f, %b : memref<4xf32, #fragment> to memref<4xf32, #global>
  }
  return
}

// The same with all of the tile written.
// CHECK-LABEL: @stored_fixed
// CHECK: B = 0 0 0 0
func.func @stored_fixed(%b: memref<4xf32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<1.0> : tensor<4xf32>]} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<4xf32, #shared>
    %f = tile.alloc "f" : memref<4xf32, #fragment>
    tile.fill %zero, %s : f32, memref<4xf32, #shared>
    tile.copy %s, %f : memref<4xf32, #shared> to memref<4xf32, #fragment>
    tile.copy %f, %b : memref<4xf32, #fragment> to memref<4xf32, #global>
  }
  return
}

// Computing with it and selecting the other side is no finding; nor is a product whose poisoned row
// is not stored.
// CHECK-LABEL: @discarded
// CHECK: B = 0 0
// CHECK: C = 2 2
func.func @discarded(%b: memref<2xf32, #global> {tile.name = "B"}, %c: memref<1x2xf32, #global> {tile.name = "C"})
    attributes {interp.args = [dense<1.0> : tensor<2xf32>, dense<9.0> : tensor<1x2xf32>]} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %never = arith.constant false
  tile.kernel (%bx) in (%c1) threads [32] {
    %f = tile.alloc "f" : memref<2xf32, #fragment>
    tile.parallel (%i) in (2) {
      %v = tile.load %f[%i] : memref<2xf32, #fragment>
      %w = arith.addf %v, %one : f32
      %x = arith.select %never, %w, %zero : f32
      tile.store %x, %b[%i] : memref<2xf32, #global>
    }
    %p = tile.alloc "p" : memref<2x2xf32, #shared>
    %q = tile.alloc "q" : memref<2x2xf32, #shared>
    %r = tile.alloc "r" : memref<2x2xf32, #fragment>
    %row = tile.slice %p[1, 0] [1, 2] [1, 1] : memref<2x2xf32, #shared> to memref<1x2xf32, #shared>
    tile.fill %one, %row : f32, memref<1x2xf32, #shared>
    tile.fill %one, %q : f32, memref<2x2xf32, #shared>
    tile.fill %zero, %r : f32, memref<2x2xf32, #fragment>
    tile.gemm %p, %q, %r : memref<2x2xf32, #shared>, memref<2x2xf32, #shared>, memref<2x2xf32, #fragment>
    %good = tile.slice %r[1, 0] [1, 2] [1, 1] : memref<2x2xf32, #fragment> to memref<1x2xf32, #fragment>
    tile.copy %good, %c : memref<1x2xf32, #fragment> to memref<1x2xf32, #global>
  }
  return
}

// The poisoned row of a product reaches memory: both its elements, reported once.
// CHECK-LABEL: @product
func.func @product(%c: memref<2x2xf32, #global> {tile.name = "C"})
    attributes {interp.args = [dense<9.0> : tensor<2x2xf32>]} {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %yes = arith.constant true
  tile.kernel (%bx) in (%c1) threads [32] {
    %p = tile.alloc "p" : memref<2x2xf32, #shared>
    %q = tile.alloc "q" : memref<2x2xf32, #shared>
    %r = tile.alloc "r" : memref<2x2xf32, #fragment>
    %row = tile.slice %p[1, 0] [1, 2] [1, 1] : memref<2x2xf32, #shared> to memref<1x2xf32, #shared>
    tile.fill %one, %row : f32, memref<1x2xf32, #shared>
    tile.fill %one, %q : f32, memref<2x2xf32, #shared>
    tile.gemm %p, %q, %r clear %yes : memref<2x2xf32, #shared>, memref<2x2xf32, #shared>, memref<2x2xf32, #fragment>
    // expected-remark @below {{finding: the value stored to 'C' at [0, 0] depends on an element that was never written; block (0), 2 times [uninitialized]}}
    tile.copy %r, %c : memref<2x2xf32, #fragment> to memref<2x2xf32, #global>
  }
  return
}

// CHECK-LABEL: @decides
func.func @decides(%b: memref<4xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0> : tensor<4xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    %v = tile.alloc "v" : memref<i32, #local>
    %x = tile.load %v[] : memref<i32, #local>
    %positive = arith.cmpi sgt, %x, %zero : i32
    // expected-remark @below {{finding: the condition of a branch depends on an element that was never written; block (0) [uninitialized]}}
    scf.if %positive {
      tile.store %zero, %b[%c0] : memref<4xi32, #global>
    }
    %i = arith.index_cast %x : i32 to index
    // expected-remark @below {{finding: an index into 'B' depends on an element that was never written; block (0) [uninitialized]}}
    // expected-remark @below {{note: read of 'B' at [-1]}}
    %y = tile.load %b[%i] : memref<4xi32, #global>
    // expected-remark @below {{finding: the value combined into 'B' at [0] depends on an element that was never written; block (0) [uninitialized]}}
    %old = tile.atomic_element add %x, %b[%c0] : memref<4xi32, #global>
  }
  return
}

// A tile of the next block is not that of this one.
// CHECK-LABEL: @each_block
func.func @each_block(%b: memref<2xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0> : tensor<2xi32>]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx) in (%c2) threads [32] {
    %s = tile.alloc "s" : memref<1xi32, #shared>
    %first = arith.cmpi eq, %bx, %c0 : index
    scf.if %first {
      tile.store %one, %s[%c0] : memref<1xi32, #shared>
    }
    %x = tile.load %s[%c0] : memref<1xi32, #shared>
    // expected-remark @below {{finding: the value stored to 'B' at [1] depends on an element that was never written; block (1) [uninitialized]}}
    tile.store %x, %b[%bx] : memref<2xi32, #global>
  }
  return
}

// Half of a float32 written through a view of float16 leaves the other half unwritten.
// CHECK-LABEL: @through_a_view
func.func @through_a_view(%b: memref<2xf32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0.0> : tensor<2xf32>]} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<2xf32, #shared>
    %halves = tile.view %s : memref<2xf32, #shared> to memref<4xf16, #shared>
    %three = tile.slice %halves[0] [3] [1] : memref<4xf16, #shared> to memref<3xf16, #shared>
    tile.fill %zero, %three : f16, memref<3xf16, #shared>
    // expected-remark @below {{finding: the value stored to 'B' at [1] depends on an element that was never written; block (0) [uninitialized]}}
    tile.copy %s, %b : memref<2xf32, #shared> to memref<2xf32, #global>
  }
  return
}

// An array that one T.Parallel uses is each iteration's own, wherever it is allocated: what the first
// iteration wrote is not there in the second.
// CHECK-LABEL: @array_of_an_iteration
func.func @array_of_an_iteration(%b: memref<2xf32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0.0> : tensor<2xf32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %own = tile.alloc "own" : memref<1xf32, #local>
    tile.parallel (%i) in (2) {
      %isFirst = arith.cmpi eq, %i, %c0 : index
      scf.if %isFirst {
        tile.store %one, %own[%c0] : memref<1xf32, #local>
      }
      %v = tile.load %own[%c0] : memref<1xf32, #local>
      // expected-remark @below {{finding: the value stored to 'B' at [1] depends on an element that was never written; block (0) [uninitialized]}}
      tile.store %v, %b[%i] : memref<2xf32, #global>
    }
  }
  return
}
