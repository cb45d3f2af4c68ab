// RUN: tw-opt -test-interpret=check=0 %s -o /dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=check=1 %s -o /dev/null 2>/dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=bounds=1 %s -o /dev/null 2>/dev/null | FileCheck %s

#global = #tile.space<global>
#local = #tile.space<local>

// Every block of the grid runs once; an empty grid runs nothing.
// CHECK-LABEL: @grid
// CHECK: B = 0 1 2 10 11 12
func.func @grid(%b: memref<2x3xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<-1> : tensor<2x3xi32>]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  tile.kernel (%bx, %by) in (%c3, %c2) threads [32] {
    %tens = arith.muli %by, %c10 : index
    %sum = arith.addi %tens, %bx : index
    %value = arith.index_cast %sum : index to i32
    tile.store %value, %b[%by, %bx] : memref<2x3xi32, #global>
  }
  tile.kernel (%bx, %by) in (%c0, %c2) threads [32] {
    %none = arith.constant 99 : i32
    tile.store %none, %b[%by, %bx] : memref<2x3xi32, #global>
  }
  return
}

// T.Pipelined is an ordinary loop; scf.for carries values; an empty one passes them on.
// CHECK-LABEL: @loops
// CHECK: B = 9 12 7
func.func @loops(%b: memref<3xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0> : tensor<3xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : i32
  %zero = arith.constant 0 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    // 2 + 3 + 4
    tile.pipelined %k = %c2 to %c5 stages 3 {
      %old = tile.load %b[%c0] : memref<3xi32, #global>
      %i = arith.index_cast %k : index to i32
      %new = arith.addi %old, %i : i32
      tile.store %new, %b[%c0] : memref<3xi32, #global>
    }
    // Swaps a pair and adds 4, three times: l is 4 and n is 12.
    %four = arith.constant 4 : i32
    %l, %r, %n = scf.for %i = %c0 to %c5 step %c2 iter_args(%x = %zero, %y = %four, %m = %zero)
        -> (i32, i32, i32) {
      %more = arith.addi %m, %four : i32
      scf.yield %y, %x, %more : i32, i32, i32
    }
    // 4 + 12 - 4
    %sum = arith.addi %l, %n : i32
    %result = arith.subi %sum, %four : i32
    tile.store %result, %b[%c1] : memref<3xi32, #global>
    %same = scf.for %i = %c5 to %c2 step %c1 iter_args(%x = %c7) -> i32 {
      scf.yield %zero : i32
    }
    tile.store %same, %b[%c2] : memref<3xi32, #global>
  }
  return
}

// Collatz steps from 6: 6 3 10 5 16 8 4 2 1.
// CHECK-LABEL: @while
// CHECK: B = 8
func.func @while(%b: memref<1xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0> : tensor<1xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %six = arith.constant 6 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    %end, %steps = scf.while (%x = %six, %n = %zero) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %x, %one : i32
      scf.condition(%go) %x, %n : i32, i32
    } do {
    ^bb0(%x: i32, %n: i32):
      %odd = tile.floormod %x, %two : i32
      %isOdd = arith.cmpi eq, %odd, %one : i32
      %next = scf.if %isOdd -> i32 {
        %triple = arith.muli %x, %three : i32
        %up = arith.addi %triple, %one : i32
        scf.yield %up : i32
      } else {
        %down = tile.floordiv %x, %two : i32
        scf.yield %down : i32
      }
      %more = arith.addi %n, %one : i32
      scf.yield %next, %more : i32, i32
    }
    tile.store %steps, %b[%c0] : memref<1xi32, #global>
  }
  return
}

// Shapes are expressions of symbols; a workspace lives for the launch.
// CHECK-LABEL: @symbols
// CHECK: B = 0 1 2 3
func.func @symbols(%b: memref<?xi32, #global> {tile.name = "B", tile.shape = #tile.shape<"()[n] -> (2 * n)">},
                   %n: index {tile.symbol = "n"})
    attributes {interp.args = [dense<-1> : tensor<4xi32>, 2 : index]} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = arith.muli %n, %c2 : index
  %w = tile.alloc "w" (%m) : memref<?xi32, #global>
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (%m) {
      %v = arith.index_cast %i : index to i32
      tile.store %v, %w[%i] : memref<?xi32, #global>
    }
  }
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.copy %w, %b : memref<?xi32, #global> to memref<?xi32, #global>
  }
  return
}

// A variable keeps its value between statements.
// CHECK-LABEL: @variables
// CHECK: B = 6
func.func @variables(%b: memref<1xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<-1> : tensor<1xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    %v = tile.alloc "v" : memref<i32, #local>
    tile.store %zero, %v[] : memref<i32, #local>
    scf.for %i = %c0 to %c4 step %c1 {
      %old = tile.load %v[] : memref<i32, #local>
      %x = arith.index_cast %i : index to i32
      %new = arith.addi %old, %x : i32
      tile.store %new, %v[] : memref<i32, #local>
    }
    %sum = tile.load %v[] : memref<i32, #local>
    tile.store %sum, %b[%c0] : memref<1xi32, #global>
  }
  return
}

// CHECK-LABEL: @prints
// CHECK: half 0.5
// CHECK: byte 200
// CHECK: tile {{\[\[}}1, 2], [3, 4]]
// CHECK: done
func.func @prints(%x: memref<2x2xi8, #global>, %u: memref<ui8, #global>)
    attributes {interp.args = [dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>, dense<200> : tensor<ui8>]} {
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f16
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.print "half", %half : f16
    tile.print "byte", %u : memref<ui8, #global>
    tile.print "tile", %x : memref<2x2xi8, #global>
    tile.print "done"
  }
  return
}
