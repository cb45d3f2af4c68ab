// RUN: tw-opt -test-interpret -verify-diagnostics %s -o /dev/null | FileCheck %s
// Iterations of a T.Parallel may not touch what another one writes; each case stands beside its
// fixed twin.

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
#local = #tile.space<local>

// CHECK-LABEL: @accumulates
func.func @accumulates(%x: memref<2x2xi32, #global>)
    attributes {interp.args = [dense<1> : tensor<2x2xi32>]} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<2xi32, #fragment>
    tile.fill %zero, %s : i32, memref<2xi32, #fragment>
    tile.parallel (%i, %j) in (2, 2) {
      // expected-remark @below {{finding: iteration (0, 1) reads element [0] of 's', which iteration (0, 0) writes; block (0), 2 times [parallel_conflict]}}
      %old = tile.load %s[%i] : memref<2xi32, #fragment>
      %v = tile.load %x[%i, %j] : memref<2x2xi32, #global>
      %new = arith.addi %old, %v : i32
      // expected-remark @below {{finding: iteration (0, 1) writes element [0] of 's', which iteration (0, 0) reads; block (0), 2 times [parallel_conflict]}}
      tile.store %new, %s[%i] : memref<2xi32, #fragment>
    }
  }
  return
}

// Atomics go together.
// CHECK-LABEL: @accumulates_fixed
// CHECK: B = 2 2
func.func @accumulates_fixed(%x: memref<2x2xi32, #global>, %b: memref<2xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<1> : tensor<2x2xi32>, dense<0> : tensor<2xi32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i, %j) in (2, 2) {
      %v = tile.load %x[%i, %j] : memref<2x2xi32, #global>
      %old = tile.atomic_element add %v, %b[%i] : memref<2xi32, #global>
    }
  }
  return
}

// Different values in one element; the same value is only noted.
// CHECK-LABEL: @writes
func.func @writes(%b: memref<1xi32, #global> {tile.name = "B"}, %c: memref<1xi32, #global> {tile.name = "C"})
    attributes {interp.args = [dense<9> : tensor<1xi32>, dense<9> : tensor<1xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (3) {
      %v = arith.index_cast %i : index to i32
      // expected-remark @below {{finding: iteration (1) writes element [0] of 'B', which iteration (0) writes; block (0), 2 times [parallel_conflict]}}
      tile.store %v, %b[%c0] : memref<1xi32, #global>
      // expected-remark @below {{note: iteration (1) writes element [0] of 'C', which iteration (0) writes with the same value; block (0), 2 times [same_value]}}
      tile.store %seven, %c[%c0] : memref<1xi32, #global>
    }
  }
  return
}

// A shift by one inside one loop reads what the neighbour writes; through a second tile it does not.
// CHECK-LABEL: @shifts
func.func @shifts(%b: memref<4xi32, #global>)
    attributes {interp.args = [dense<9> : tensor<4xi32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<4xi32, #shared>
    %t = tile.alloc "t" : memref<3xi32, #shared>
    tile.copy %b, %s : memref<4xi32, #global> to memref<4xi32, #shared>
    tile.parallel (%i) in (3) {
      %next = arith.addi %i, %c1 : index
      %v = tile.load %s[%next] : memref<4xi32, #shared>
      // expected-remark @below {{finding: iteration (1) writes element [1] of 's', which iteration (0) reads; block (0), 2 times [parallel_conflict]}}
      tile.store %v, %s[%i] : memref<4xi32, #shared>
    }
    tile.parallel (%i) in (3) {
      %next = arith.addi %i, %c1 : index
      %v = tile.load %s[%next] : memref<4xi32, #shared>
      tile.store %v, %t[%i] : memref<3xi32, #shared>
    }
    // The next loop is another one: it may overwrite what this one read.
    tile.parallel (%i) in (3) {
      %v = tile.load %t[%i] : memref<3xi32, #shared>
      tile.store %v, %s[%i] : memref<4xi32, #shared>
    }
  }
  return
}

// A variable assigned before it is read belongs to the iteration. What it holds after the loop
// nobody can say.
// CHECK-LABEL: @private_variable
// CHECK: B = 0 3 6
func.func @private_variable(%b: memref<3xi32, #global> {tile.name = "B"}, %c: memref<1xi32, #global> {tile.name = "C"})
    attributes {interp.args = [dense<9> : tensor<3xi32>, dense<9> : tensor<1xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %three = arith.constant 3 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    %v = tile.alloc "v" : memref<i32, #local>
    tile.store %three, %v[] : memref<i32, #local>
    tile.parallel (%i) in (3) {
      %x = arith.index_cast %i : index to i32
      %y = arith.muli %x, %three : i32
      tile.store %y, %v[] : memref<i32, #local>
      %z = tile.load %v[] : memref<i32, #local>
      tile.store %z, %b[%i] : memref<3xi32, #global>
    }
    %after = tile.load %v[] : memref<i32, #local>
    // expected-remark @below {{finding: the value stored to 'C' at [0] depends on an element that was never written; block (0) [uninitialized]}}
    tile.store %after, %c[%c0] : memref<1xi32, #global>
  }
  return
}

// One that is read first is shared, and a conflict.
// CHECK-LABEL: @shared_variable
func.func @shared_variable(%b: memref<3xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<9> : tensor<3xi32>]} {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    %v = tile.alloc "v" : memref<i32, #local>
    tile.store %one, %v[] : memref<i32, #local>
    tile.parallel (%i) in (3) {
      // expected-remark @below {{finding: iteration (1) reads element [] of 'v', which iteration (0) writes; block (0), 2 times [parallel_conflict]}}
      %x = tile.load %v[] : memref<i32, #local>
      %y = arith.addi %x, %one : i32
      // expected-remark @below {{finding: iteration (1) writes element [] of 'v', which iteration (0) reads; block (0), 2 times [parallel_conflict]}}
      tile.store %y, %v[] : memref<i32, #local>
    }
  }
  return
}

// A variable and a tile allocated inside an iteration are its own; a loop inside an iteration belongs
// to that iteration, so that it may sum up.
// CHECK-LABEL: @own_allocations
// CHECK: B = 6 6
func.func @own_allocations(%b: memref<2xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<9> : tensor<2xi32>]} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (2) {
      %v = tile.alloc "v" : memref<i32, #local>
      tile.store %zero, %v[] : memref<i32, #local>
      tile.parallel (%j) in (4) {
        %old = tile.load %v[] : memref<i32, #local>
        %x = arith.index_cast %j : index to i32
        %new = arith.addi %old, %x : i32
        tile.store %new, %v[] : memref<i32, #local>
      }
      %sum = tile.load %v[] : memref<i32, #local>
      tile.store %sum, %b[%i] : memref<2xi32, #global>
    }
  }
  return
}

// Elements that lie side by side in one wider element are different ones.
// CHECK-LABEL: @halves
// CHECK: B = 131072
func.func @halves(%b: memref<1xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<9> : tensor<1xi32>]} {
  %c1 = arith.constant 1 : index
  %two = arith.constant 2 : i16
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<1xi32, #shared>
    %halves = tile.view %s : memref<1xi32, #shared> to memref<2xi16, #shared>
    tile.parallel (%i) in (2) {
      %x = arith.index_cast %i : index to i16
      %y = arith.muli %x, %two : i16
      tile.store %y, %halves[%i] : memref<2xi16, #shared>
    }
    tile.copy %s, %b : memref<1xi32, #shared> to memref<1xi32, #global>
  }
  return
}
