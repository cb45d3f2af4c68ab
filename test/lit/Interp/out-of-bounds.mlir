// RUN: tw-opt -test-interpret -verify-diagnostics %s -o /dev/null | FileCheck %s
// At the edge of a global tensor a note; on chip an error that ends the run.

#global = #tile.space<global>
#shared = #tile.space<shared>

// CHECK-LABEL: @global_edge
// CHECK: B = 1 2 0 0
func.func @global_edge(%a: memref<2xi32, #global> {tile.name = "A"},
                       %b: memref<4xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<[1, 2]> : tensor<2xi32>, dense<9> : tensor<4xi32>]} {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.slice %a[0] [4] [1] : memref<2xi32, #global> to memref<4xi32, #global>
    // expected-remark @below {{note: read of 'A' at [2] is outside its extents (2); it gives the safe value; block (0), 2 times [out_of_bounds]}}
    tile.copy %s, %b : memref<4xi32, #global> to memref<4xi32, #global>
    // expected-remark @below {{note: write to 'B' at [7] is outside its extents (4); it is dropped; block (0) [out_of_bounds]}}
    tile.store %zero, %b[%c7] : memref<4xi32, #global>
    // expected-remark @below {{note: atomic update of 'B' at [7] is outside its extents (4); it is dropped; block (0) [out_of_bounds]}}
    %old = tile.atomic_element add %zero, %b[%c7] : memref<4xi32, #global>
  }
  return
}

// Guarded accesses stay inside and give no note.
// CHECK-LABEL: @guarded
// CHECK: B = 1 2 9 9
func.func @guarded(%a: memref<2xi32, #global> {tile.name = "A"},
                   %b: memref<4xi32, #global> {tile.name = "B"}, %n: index)
    attributes {interp.args = [dense<[1, 2]> : tensor<2xi32>, dense<9> : tensor<4xi32>, 2 : index]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (4) {
      %inside = arith.cmpi slt, %i, %n : index
      scf.if %inside {
        %v = tile.load %a[%i] : memref<2xi32, #global>
        tile.store %v, %b[%i] : memref<4xi32, #global>
      }
    }
  }
  return
}

// The run stops: the store behind it does not happen.
// CHECK-LABEL: @on_chip
// CHECK: B = 9 9
func.func @on_chip(%b: memref<2xi32, #global> {tile.name = "B"}, %i: index)
    attributes {interp.args = [dense<9> : tensor<2xi32>, 5 : index]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<2x4xi32, #shared>
    tile.fill %zero, %s : i32, memref<2x4xi32, #shared>
    // expected-remark @below {{error: read of 's' at [1, 5] is outside its extents (2, 4); block (0) [out_of_bounds]}}
    %v = tile.load %s[%c1, %i] : memref<2x4xi32, #shared>
    tile.store %v, %b[%c0] : memref<2xi32, #global>
  }
  return
}

// An element beyond a slice is out of bounds even where the tile goes on.
// CHECK-LABEL: @beyond_a_slice
func.func @beyond_a_slice(%b: memref<1xi32, #global>, %i: index)
    attributes {interp.args = [dense<9> : tensor<1xi32>, 2 : index]} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<4xi32, #shared>
    %half = tile.slice %s[0] [2] [1] : memref<4xi32, #shared> to memref<2xi32, #shared>
    // expected-remark @below {{error: write to 's' at [2] is outside its extents (4); block (0) [out_of_bounds]}}
    tile.store %zero, %half[%i] : memref<2xi32, #shared>
  }
  return
}
