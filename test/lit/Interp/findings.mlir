// RUN: tw-opt -test-interpret -verify-diagnostics %s -o /dev/null | FileCheck %s
// Division by zero, index overflow, assumptions, assertions and run-time extents.

#global = #tile.space<global>

// CHECK-LABEL: @division
// CHECK: B = 0 7
func.func @division(%b: memref<2xi32, #global> {tile.name = "B"}, %x: i32, %y: i32)
    attributes {interp.args = [dense<9> : tensor<2xi32>, 7 : i32, 0 : i32]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // expected-remark @below {{note: division of 7 by zero; x // 0 is 0 and x % 0 is x; block (0) [division_by_zero]}}
    %q = tile.floordiv %x, %y : i32
    // expected-remark @below {{note: division of 7 by zero; x // 0 is 0 and x % 0 is x; block (0) [division_by_zero]}}
    %r = tile.floormod %x, %y : i32
    tile.store %q, %b[%c0] : memref<2xi32, #global>
    tile.store %r, %b[%c1] : memref<2xi32, #global>
  }
  return
}

// An index is a mathematical integer; an int64 of the program wraps.
// CHECK-LABEL: @index_overflow
// CHECK: B = -9223372036854775808
func.func @index_overflow(%b: memref<1xi64, #global> {tile.name = "B"}, %i: index, %x: i64)
    attributes {interp.args = [dense<9> : tensor<1xi64>, 9223372036854775807 : index,
                               9223372036854775807 : i64]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  tile.kernel (%bx) in (%c1) threads [32] {
    %wrapped = arith.addi %x, %one : i64
    tile.store %wrapped, %b[%c0] : memref<1xi64, #global>
    // expected-remark @below {{error: index value 9223372036854775807 + 1 leaves 64 bits; block (0) [index_overflow]}}
    %j = arith.addi %i, %c1 : index
    tile.store %one, %b[%c0] : memref<1xi64, #global>
  }
  return
}

// CHECK-LABEL: @facts
// CHECK: B = 1
func.func @facts(%b: memref<1xi32, #global> {tile.name = "B"}, %yes: i1, %no: i1)
    attributes {interp.args = [dense<9> : tensor<1xi32>, true, false]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.assume %yes
    tile.assert %yes, "holds"
    // expected-remark @below {{finding: an assumption does not hold; block (0) [assume]}}
    tile.assume %no
    tile.store %one, %b[%c0] : memref<1xi32, #global>
    // expected-remark @below {{error: assertion failed: n is even; block (0) [assert]}}
    tile.assert %no, "n is even"
    tile.store %two, %b[%c0] : memref<1xi32, #global>
  }
  return
}

// CHECK-LABEL: @extents
func.func @extents(%a: memref<4xi32, #global> {tile.name = "A"}, %b: memref<4xi32, #global> {tile.name = "B"},
                   %n: index, %m: index)
    attributes {interp.args = [dense<9> : tensor<4xi32>, dense<9> : tensor<4xi32>, 2 : index, 3 : index]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.slice %a[0] [%n] [1] : memref<4xi32, #global> to memref<?xi32, #global>
    %t = tile.slice %b[0] [%m] [1] : memref<4xi32, #global> to memref<?xi32, #global>
    // expected-remark @below {{error: expected equal extents, got (2) of 'A' and (3) of 'B'; block (0) [bad_extent]}}
    tile.copy %s, %t : memref<?xi32, #global> to memref<?xi32, #global>
  }
  return
}

// CHECK-LABEL: @negative_grid
func.func @negative_grid(%n: index) attributes {interp.args = [-1 : index]} {
  // expected-remark @below {{error: grid extent -1 is not between 0 and 2147483647 [bad_extent]}}
  tile.kernel (%bx) in (%n) threads [32] {
  }
  return
}

// CHECK-LABEL: @endless
func.func @endless(%a: memref<4xi32, #global> {tile.name = "A"}, %n: index)
    attributes {interp.args = [dense<9> : tensor<4xi32>, 9223372036854775807 : index]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // expected-remark @below {{error: a slice of 'A' cannot have the extents (9223372036854775807); block (0) [bad_extent]}}
    %s = tile.slice %a[0] [%n] [1] : memref<4xi32, #global> to memref<?xi32, #global>
    tile.copy %s, %s : memref<?xi32, #global> to memref<?xi32, #global>
  }
  return
}

// Rows 3 apart need 3 * 3 + 2 elements, the caller's array has 8.
// CHECK-LABEL: @too_small_for_its_layout
func.func @too_small_for_its_layout(%a: memref<4x2xi32, #global> {tile.name = "A"})
    attributes {interp.args = [dense<9> : tensor<4x2xi32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // expected-remark @below {{error: 'A': its layout needs 11 elements of memory, got 8 [bad_extent]}}
    tile.annotate_layout %a : memref<4x2xi32, #global> is #tile.layout<[4, 2], "(i, j) -> (3 * i + j)">
  }
  return
}
