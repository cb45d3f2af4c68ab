// RUN: tw-opt -test-interpret -verify-diagnostics %s -o /dev/null | FileCheck %s
// Blocks are independent: two of them may not touch a global element that one writes, unless both
// update it atomically.

#global = #tile.space<global>

// CHECK-LABEL: @plain_sum
func.func @plain_sum(%b: memref<2xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0> : tensor<2xi32>]} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx, %by) in (%c2, %c2) threads [32] {
    // expected-remark @below {{finding: block (1, 0) reads element [1] of 'B', which block (0, 0) writes; block (1, 0), 3 times [race]}}
    %old = tile.load %b[%c1] : memref<2xi32, #global>
    %new = arith.addi %old, %one : i32
    // expected-remark @below {{finding: block (1, 0) writes element [1] of 'B', which block (0, 0) reads; block (1, 0), 3 times [race]}}
    tile.store %new, %b[%c1] : memref<2xi32, #global>
  }
  return
}

// CHECK-LABEL: @atomic_sum
// CHECK: B = 0 4
func.func @atomic_sum(%b: memref<2xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0> : tensor<2xi32>]} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx, %by) in (%c2, %c2) threads [32] {
    %old = tile.atomic_element add %one, %b[%c1] : memref<2xi32, #global>
  }
  return
}

// Reading an element that other blocks update is a race; in the next kernel it is not.
// CHECK-LABEL: @reads_a_sum
func.func @reads_a_sum(%b: memref<1xi32, #global> {tile.name = "B"}, %c: memref<2xi32, #global> {tile.name = "C"})
    attributes {interp.args = [dense<0> : tensor<1xi32>, dense<0> : tensor<2xi32>]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx) in (%c2) threads [32] {
    // expected-remark @below {{finding: block (1) atomically updates element [0] of 'B', which block (0) reads; block (1) [race]}}
    %old = tile.atomic_element add %one, %b[%c0] : memref<1xi32, #global>
    // expected-remark @below {{finding: block (1) reads element [0] of 'B', which block (0) atomically updates; block (1) [race]}}
    %x = tile.load %b[%c0] : memref<1xi32, #global>
    tile.store %x, %c[%bx] : memref<2xi32, #global>
  }
  tile.kernel (%bx) in (%c2) threads [32] {
    %x = tile.load %b[%c0] : memref<1xi32, #global>
    tile.store %x, %c[%bx] : memref<2xi32, #global>
  }
  return
}

// Every block writes the same bits, and nobody reads them.
// CHECK-LABEL: @same_value
// CHECK: B = 7
func.func @same_value(%b: memref<1xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0> : tensor<1xi32>]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %seven = arith.constant 7 : i32
  tile.kernel (%bx) in (%c2) threads [32] {
    // expected-remark @below {{note: block (1) writes element [0] of 'B', which block (0) writes with the same value; block (1) [same_value]}}
    tile.store %seven, %b[%c0] : memref<1xi32, #global>
  }
  return
}

// Blocks that order themselves are not judged.
// CHECK-LABEL: @ordered
func.func @ordered(%b: memref<1xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0> : tensor<1xi32>]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i32
  // expected-remark @below {{note: blocks of this kernel order themselves by atomics; races between them are not watched [race]}}
  tile.kernel (%bx) in (%c2) threads [32] {
    %old = tile.atomic_element add %one, %b[%c0] order acq_rel : memref<1xi32, #global>
    %x = tile.load %b[%c0] : memref<1xi32, #global>
  }
  return
}
