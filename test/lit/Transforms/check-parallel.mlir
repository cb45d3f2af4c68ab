// RUN: tw-opt %s -tile-check-parallel -split-input-file | FileCheck %s
// Loops whose iterations are independent, each beside a refused twin in check-parallel-invalid.mlir.
// The pass changes nothing.

#global = #tile.space<global>

// CHECK-LABEL: func.func @own_element
// CHECK: tile.parallel
func.func @own_element(%A: memref<64xf32, #global>) {
  tile.parallel (%i) in (64) {
    %x = tile.load %A[%i] : memref<64xf32, #global>
    tile.store %x, %A[%i] : memref<64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// i // 2 and i % 2 together are injective.
// CHECK-LABEL: func.func @split_index
func.func @split_index(%A: memref<64xf32, #global>, %B: memref<32x2xf32, #global>) {
  %c2 = arith.constant 2 : index
  tile.parallel (%i) in (64) {
    %h = tile.floordiv %i, %c2 : index
    %l = tile.floormod %i, %c2 : index
    %x = tile.load %A[%i] : memref<64xf32, #global>
    tile.store %x, %B[%h, %l] : memref<32x2xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// The guard leaves one writer of each element.
// CHECK-LABEL: func.func @guarded
func.func @guarded(%A: memref<64xf32, #global>, %B: memref<32xf32, #global>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c40 = arith.constant 40 : index
  tile.parallel (%i) in (64) {
    %h = tile.floordiv %i, %c2 : index
    %l = tile.floormod %i, %c2 : index
    %even = arith.cmpi eq, %l, %c0 : index
    %low = arith.cmpi slt, %i, %c40 : index
    %both = arith.andi %even, %low : i1
    %x = tile.load %A[%i] : memref<64xf32, #global>
    scf.if %both {
      tile.store %x, %B[%h] : memref<32xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>

// The else branch holds the negation: odd iterations, one for each element.
// CHECK-LABEL: func.func @guarded_else
func.func @guarded_else(%A: memref<64xf32, #global>, %B: memref<64xf32, #global>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tile.parallel (%i) in (64) {
    %h = tile.floordiv %i, %c2 : index
    %l = tile.floormod %i, %c2 : index
    %even = arith.cmpi eq, %l, %c0 : index
    %x = tile.load %A[%i] : memref<64xf32, #global>
    scf.if %even {
      tile.store %x, %A[%i] : memref<64xf32, #global>
    } else {
      tile.store %x, %B[%h] : memref<64xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>

// Each iteration owns a run of four.
// CHECK-LABEL: func.func @inner_loop
func.func @inner_loop(%A: memref<64xf32, #global>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.parallel (%i) in (16) {
    scf.for %k = %c0 to %c4 step %c1 {
      %base = arith.muli %i, %c4 : index
      %at = arith.addi %base, %k : index
      tile.store %x, %A[%at] : memref<64xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>

// Equal bits may be stored twice: a constant, a value of outside, one that does not depend on the
// lost variable, what both iterations read from one place.
// CHECK-LABEL: func.func @same_value
func.func @same_value(%A: memref<64xf32, #global>, %B: memref<32xf32, #global>,
                      %C: memref<32xi32, #global>, %x: f32) {
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  tile.parallel (%i) in (64) {
    %h = tile.floordiv %i, %c2 : index
    tile.store %one, %B[%h] : memref<32xf32, #global>
  }
  tile.parallel (%i) in (64) {
    %h = tile.floordiv %i, %c2 : index
    %sum = arith.addf %x, %one : f32
    tile.store %sum, %B[%h] : memref<32xf32, #global>
  }
  tile.parallel (%i) in (64) {
    %h = tile.floordiv %i, %c2 : index
    %number = tile.cast %h from index to i32
    tile.store %number, %C[%h] : memref<32xi32, #global>
  }
  tile.parallel (%i) in (64) {
    %h = tile.floordiv %i, %c2 : index
    %y = tile.load %A[%h] : memref<64xf32, #global>
    tile.store %y, %B[%h] : memref<32xf32, #global>
  }
  // Whole tiles too.
  tile.parallel (%i) in (8) {
    tile.fill %x, %B : f32, memref<32xf32, #global>
  }
  tile.parallel (%i) in (8) {
    %a = tile.slice %A[0] [32] [1] : memref<64xf32, #global> to memref<32xf32, #global>
    tile.copy %a, %B : memref<32xf32, #global> to memref<32xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// Two statements that store one constant.
// CHECK-LABEL: func.func @same_constant
func.func @same_constant(%B: memref<1xf32, #global>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tile.parallel (%i) in (64) {
    %low = arith.cmpi slt, %i, %c4 : index
    %a = arith.constant 1.0 : f32
    %b = arith.constant 1.0 : f32
    scf.if %low {
      tile.store %a, %B[%c0] : memref<1xf32, #global>
    } else {
      tile.store %b, %B[%c0] : memref<1xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>
#local = #tile.space<local>

// A variable is as uniform as what is assigned to it, under uniform conditions.
// CHECK-LABEL: func.func @same_value_through_variable
func.func @same_value_through_variable(%B: memref<1xf32, #global>, %x: f32, %y: f32, %which: i1) {
  %c0 = arith.constant 0 : index
  %outer = tile.alloc "outer" : memref<f32, #local>
  tile.store %x, %outer[] : memref<f32, #local>
  tile.parallel (%i) in (64) {
    %v = tile.load %outer[] : memref<f32, #local>
    tile.store %v, %B[%c0] : memref<1xf32, #global>
  }
  tile.parallel (%i) in (64) {
    %inner = tile.alloc "inner" : memref<f32, #local>
    scf.if %which {
      tile.store %x, %inner[] : memref<f32, #local>
    } else {
      tile.store %y, %inner[] : memref<f32, #local>
    }
    %v = tile.load %inner[] : memref<f32, #local>
    tile.store %v, %B[%c0] : memref<1xf32, #global>
  }
  tile.parallel (%i) in (64) {
    %v = scf.if %which -> f32 {
      scf.yield %x : f32
    } else {
      scf.yield %y : f32
    }
    tile.store %v, %B[%c0] : memref<1xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#fragment = #tile.space<fragment>

// Updates commute.
// CHECK-LABEL: func.func @updates
func.func @updates(%A: memref<64xf32, #global>, %B: memref<1xf32, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.kernel (%bx) in (%n) threads [128] {
    %r = tile.alloc "r" reducer sum : memref<1xf32, #fragment>
    tile.parallel (%i) in (64) {
      %x = tile.load %A[%i] : memref<64xf32, #global>
      %p = tile.atomic_element add %x, %B[%c0] : memref<1xf32, #global>
      tile.reducer_update %x, %r[%c0] : memref<1xf32, #fragment>
    }
  }
  return
}

// -----

#global = #tile.space<global>

// Reads of one buffer, writes of another.
// CHECK-LABEL: func.func @neighbours
func.func @neighbours(%A: memref<64xf32, #global>, %B: memref<64xf32, #global>) {
  %c1 = arith.constant 1 : index
  tile.parallel (%i) in (63) {
    %next = arith.addi %i, %c1 : index
    %x = tile.load %A[%next] : memref<64xf32, #global>
    tile.store %x, %B[%i] : memref<64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// Read and write of one buffer, in halves that do not meet.
// CHECK-LABEL: func.func @halves
func.func @halves(%A: memref<64xf32, #global>) {
  %c32 = arith.constant 32 : index
  tile.parallel (%i) in (32) {
    %at = arith.addi %i, %c32 : index
    %x = tile.load %A[%at] : memref<64xf32, #global>
    tile.store %x, %A[%i] : memref<64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#local = #tile.space<local>

// Each iteration assigns the variable before it reads it, on each path.
// CHECK-LABEL: func.func @private_variable
func.func @private_variable(%A: memref<64xf32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %v = tile.alloc "v" : memref<f32, #local>
  tile.parallel (%i) in (64) {
    %x = tile.load %A[%i] : memref<64xf32, #global>
    tile.store %x, %v[] : memref<f32, #local>
    %y = tile.load %v[] : memref<f32, #local>
    tile.store %y, %A[%i] : memref<64xf32, #global>
  }
  tile.parallel (%i) in (64) {
    %low = arith.cmpi slt, %i, %c4 : index
    %x = tile.load %A[%i] : memref<64xf32, #global>
    scf.if %low {
      tile.store %x, %v[] : memref<f32, #local>
    } else {
      scf.for %k = %c0 to %c4 step %c1 {
        tile.store %x, %v[] : memref<f32, #local>
      }
    }
    scf.for %k = %c0 to %c4 step %c1 {
      %y = tile.load %v[] : memref<f32, #local>
      tile.store %y, %A[%i] : memref<64xf32, #global>
    }
  }
  return
}

// -----

#global = #tile.space<global>
#local = #tile.space<local>

// A variable that the loop only reads, and a loop that runs once.
// CHECK-LABEL: func.func @uniform_variable
func.func @uniform_variable(%A: memref<64xf32, #global>, %one: f32) {
  %v = tile.alloc "v" : memref<f32, #local>
  tile.store %one, %v[] : memref<f32, #local>
  tile.parallel (%i) in (64) {
    %y = tile.load %v[] : memref<f32, #local>
    tile.store %y, %A[%i] : memref<64xf32, #global>
  }
  tile.parallel (%i, %j) in (1, 1) {
    %y = tile.load %v[] : memref<f32, #local>
    tile.store %y, %v[] : memref<f32, #local>
  }
  return
}

// -----

#global = #tile.space<global>

// The same uniform offset on both sides cancels out.
// CHECK-LABEL: func.func @uniform_offset
func.func @uniform_offset(%A: memref<?xf32, #global>, %n: index, %m: index) {
  %c1 = arith.constant 1 : index
  tile.parallel (%i) in (64) {
    %at = arith.addi %i, %n : index
    %x = tile.load %A[%at] : memref<?xf32, #global>
    tile.store %x, %A[%at] : memref<?xf32, #global>
  }
  // Two different uniform offsets may be anywhere: checked when it runs.
  tile.parallel (%i) in (64) {
    %at = arith.addi %i, %n : index
    %from = arith.addi %i, %m : index
    %next = arith.addi %from, %c1 : index
    %x = tile.load %A[%next] : memref<?xf32, #global>
    tile.store %x, %A[%at] : memref<?xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// Left to the run-time check: a loaded index, a loaded condition, a run-time extent, a condition on
// a run-time value, a while loop.
// CHECK-LABEL: func.func @data_dependent
func.func @data_dependent(%A: memref<64xf32, #global>, %I: memref<64xi32, #global>,
                          %F: memref<64xi1, #global>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.parallel (%i) in (64) {
    %k = tile.load %I[%i] : memref<64xi32, #global>
    %at = tile.cast %k from i32 to index
    %x = tile.load %A[%i] : memref<64xf32, #global>
    tile.store %x, %A[%at] : memref<64xf32, #global>
  }
  tile.parallel (%i) in (64) {
    %flag = tile.load %F[%i] : memref<64xi1, #global>
    %x = tile.load %A[%i] : memref<64xf32, #global>
    scf.if %flag {
      tile.store %x, %A[%c0] : memref<64xf32, #global>
    }
  }
  tile.parallel (%i) in (%n) {
    %x = tile.load %A[%i] : memref<64xf32, #global>
    tile.store %x, %A[%c0] : memref<64xf32, #global>
  }
  tile.parallel (%i) in (64) {
    %only = arith.cmpi eq, %i, %n : index
    %x = tile.load %A[%i] : memref<64xf32, #global>
    scf.if %only {
      tile.store %x, %A[%c0] : memref<64xf32, #global>
    }
  }
  tile.parallel (%i) in (64) {
    scf.while : () -> () {
      %flag = tile.load %F[%i] : memref<64xi1, #global>
      scf.condition(%flag)
    } do {
      %x = tile.load %A[%i] : memref<64xf32, #global>
      tile.store %x, %A[%c0] : memref<64xf32, #global>
      scf.yield
    }
  }
  return
}

// -----

#global = #tile.space<global>

// An expression that doubles forty times is not walked 2^40 times.
// CHECK-LABEL: func.func @deep_expression
func.func @deep_expression(%A: memref<64xf32, #global>, %x: f32) {
  %c7 = arith.constant 7 : index
  tile.parallel (%i) in (64) {
    %d1 = arith.minsi %i, %i : index
    %d2 = arith.addi %d1, %d1 : index
    %d3 = arith.minsi %d2, %d2 : index
    %d4 = arith.addi %d3, %d3 : index
    %d5 = arith.minsi %d4, %d4 : index
    %d6 = arith.addi %d5, %d5 : index
    %d7 = arith.minsi %d6, %d6 : index
    %d8 = arith.addi %d7, %d7 : index
    %d9 = arith.minsi %d8, %d8 : index
    %d10 = arith.addi %d9, %d9 : index
    %d11 = arith.minsi %d10, %d10 : index
    %d12 = arith.addi %d11, %d11 : index
    %d13 = arith.minsi %d12, %d12 : index
    %d14 = arith.addi %d13, %d13 : index
    %d15 = arith.minsi %d14, %d14 : index
    %d16 = arith.addi %d15, %d15 : index
    %d17 = arith.minsi %d16, %d16 : index
    %d18 = arith.addi %d17, %d17 : index
    %d19 = arith.minsi %d18, %d18 : index
    %d20 = arith.addi %d19, %d19 : index
    %d21 = arith.minsi %d20, %d20 : index
    %d22 = arith.addi %d21, %d21 : index
    %d23 = arith.minsi %d22, %d22 : index
    %d24 = arith.addi %d23, %d23 : index
    %d25 = arith.minsi %d24, %d24 : index
    %d26 = arith.addi %d25, %d25 : index
    %d27 = arith.minsi %d26, %d26 : index
    %d28 = arith.addi %d27, %d27 : index
    %d29 = arith.minsi %d28, %d28 : index
    %d30 = arith.addi %d29, %d29 : index
    %d31 = arith.minsi %d30, %d30 : index
    %d32 = arith.addi %d31, %d31 : index
    %d33 = arith.minsi %d32, %d32 : index
    %d34 = arith.addi %d33, %d33 : index
    %d35 = arith.minsi %d34, %d34 : index
    %d36 = arith.addi %d35, %d35 : index
    %d37 = arith.minsi %d36, %d36 : index
    %d38 = arith.addi %d37, %d37 : index
    %d39 = arith.minsi %d38, %d38 : index
    %d40 = arith.addi %d39, %d39 : index
    tile.store %x, %A[%d40] : memref<64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// A view of another dtype sees the element itself, and what lies outside of a view is nowhere.
// CHECK-LABEL: func.func @own_element_through_views
func.func @own_element_through_views(%A: memref<64xf32, #global>) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %halves = tile.view %A : memref<64xf32, #global> to memref<128xf16, #global>
  %rows = tile.view %A : memref<64xf32, #global> to memref<32x2xf32, #global>
  tile.parallel (%i) in (32) {
    %low = arith.muli %i, %c2 : index
    %x = tile.load %A[%low] : memref<64xf32, #global>
    %twice = arith.muli %low, %c2 : index
    %last = arith.addi %twice, %c3 : index
    %h = tile.load %halves[%last] : memref<128xf16, #global>
    tile.store %h, %halves[%twice] : memref<128xf16, #global>
    tile.store %x, %rows[%i, %c3] : memref<32x2xf32, #global>
  }
  return
}
