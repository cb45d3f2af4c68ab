// RUN: tw-opt -test-interpret=check=0 %s -o /dev/null | FileCheck %s
// RUN: tw-opt -test-interpret %s -o /dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=order=1 %s -o /dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=order=7 %s -o /dev/null | FileCheck %s
// RUN: tw-opt -tile-place-iteration-arrays -tile-keep-tiles -tile-split-grid -tile-merge-roles \
// RUN:   -tile-count-arrivals -tile-spread-threads -test-interpret %s -o /dev/null | FileCheck %s
// Programs that name their threads, as they were traced, in any order of the roles, and after the
// passes that rewrite them: one meaning.

#global = #tile.space<global>
#shared = #tile.space<shared>
#local = #tile.space<local>
#fragment = #tile.space<fragment>

// All threads have written before one reads.
// CHECK-LABEL: @statement_by_statement
// CHECK: A = 4 3 2 1
func.func @statement_by_statement(%a: memref<4xi32, #global> {tile.name = "A"})
    attributes {interp.args = [dense<[1, 2, 3, 4]> : tensor<4xi32>]} {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  tile.kernel (%b) in (%c1) threads [4] {
    %s = tile.alloc "s" : memref<4xi32, #shared>
    %t = tile.thread_id 0
    %v = tile.load %a[%t] : memref<4xi32, #global>
    tile.store %v, %s[%t] : memref<4xi32, #shared>
    %u = arith.subi %c3, %t : index
    %w = tile.load %s[%u] : memref<4xi32, #shared>
    tile.store %w, %a[%t] : memref<4xi32, #global>
  }
  return
}

// Threads leave a loop at different times and meet after it; a variable is each thread's own. The
// sum that each thread has made is read by its neighbour.
// CHECK-LABEL: @loops_of_threads
// CHECK: A = 6 0 0 1 3
func.func @loops_of_threads(%a: memref<5xi32, #global> {tile.name = "A"})
    attributes {interp.args = [dense<0> : tensor<5xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0 : i32
  tile.kernel (%b) in (%c1) threads [5] {
    %s = tile.alloc "s" : memref<5xi32, #shared>
    %sum = tile.alloc "sum" : memref<i32, #local>
    %t = tile.thread_id 0
    tile.store %zero, %sum[] : memref<i32, #local>
    scf.for %i = %c0 to %t step %c1 {
      %old = tile.load %sum[] : memref<i32, #local>
      %x = arith.index_cast %i : index to i32
      %new = arith.addi %old, %x : i32
      tile.store %new, %sum[] : memref<i32, #local>
    }
    %mine = tile.load %sum[] : memref<i32, #local>
    tile.store %mine, %s[%t] : memref<5xi32, #shared>
    %next = arith.addi %t, %c1 : index
    %at = tile.floormod %next, %c5 : index
    %v = tile.load %s[%t] : memref<5xi32, #shared>
    tile.store %v, %a[%at] : memref<5xi32, #global>
  }
  return
}

// A producer and a consumer in loops of their own, of three iterations: the tile is handed over
// each time. The consumer stands first in the text.
// CHECK-LABEL: @roles
// CHECK: B = 1 1 2 2 3 3
func.func @roles(%a: memref<3x2xi32, #global>, %b: memref<3x2xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<[[1, 1], [2, 2], [3, 3]]> : tensor<3x2xi32>,
                               dense<0> : tensor<3x2xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  tile.kernel (%x) in (%c1) threads [4] {
    %ready = tile.barrier_alloc "ready" arrivals [2] : memref<1xi64, #shared>
    %free = tile.barrier_alloc "free" arrivals [2] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<2xi32, #shared>
    %t = tile.thread_id 0
    %consumer = arith.cmpi slt, %t, %c2 : index
    scf.if %consumer {
      scf.for %k = %c0 to %c3 step %c1 {
        %p = tile.floormod %k, %c2 : index
        tile.barrier_wait %ready[%c0] parity %p : memref<1xi64, #shared>
        %to = tile.slice %b[%k, 0] [1, 2] [1, 1] drop [0] : memref<3x2xi32, #global> to memref<2xi32, #global>
        tile.copy %s, %to : memref<2xi32, #shared> to memref<2xi32, #global>
        tile.barrier_arrive %free[%c0] : memref<1xi64, #shared>
      }
    } else {
      scf.for %k = %c0 to %c3 step %c1 {
        %n = arith.addi %k, %c1 : index
        %p = tile.floormod %n, %c2 : index
        tile.barrier_wait %free[%c0] parity %p : memref<1xi64, #shared>
        %from = tile.slice %a[%k, 0] [1, 2] [1, 1] drop [0] : memref<3x2xi32, #global> to memref<2xi32, #global>
        tile.copy %from, %s : memref<2xi32, #global> to memref<2xi32, #shared>
        tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
      }
    }
  }
  return
}

// A barrier by number, at which all threads of a branch meet, twice.
// CHECK-LABEL: @by_number
// CHECK: A = 3 4 1 2
func.func @by_number(%a: memref<4xi32, #global> {tile.name = "A"})
    attributes {interp.args = [dense<[1, 2, 3, 4]> : tensor<4xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%x) in (%c1) threads [6] {
    %named = tile.barrier_alloc "named" arrivals [0] : memref<1xi64, #shared>
    %s = tile.alloc "s" : memref<4xi32, #shared>
    %t = tile.thread_id 0
    %some = arith.cmpi slt, %t, %c4 : index
    scf.if %some {
      %v = tile.load %a[%t] : memref<4xi32, #global>
      tile.store %v, %s[%t] : memref<4xi32, #shared>
      tile.barrier_arrive %named[%c0] count 4 : memref<1xi64, #shared>
      tile.barrier_wait %named[%c0] count 4 : memref<1xi64, #shared>
      %u = arith.addi %t, %c2 : index
      %at = tile.floormod %u, %c4 : index
      %w = tile.load %s[%at] : memref<4xi32, #shared>
      tile.barrier_arrive %named[%c0] count 4 : memref<1xi64, #shared>
      tile.barrier_wait %named[%c0] count 4 : memref<1xi64, #shared>
      tile.store %w, %a[%t] : memref<4xi32, #global>
    }
  }
  return
}

// Blocks meet: each reads what the other has written. The number from before is kept.
// CHECK-LABEL: @grid
// CHECK: B = 20 10
func.func @grid(%a: memref<2xi32, #global>, %b: memref<2xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0> : tensor<2xi32>, dense<0> : tensor<2xi32>]} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ten = arith.constant 10 : i32
  tile.kernel (%x) in (%c2) threads [1] {
    %n = arith.addi %x, %c1 : index
    %other = arith.subi %c1, %x : index
    %i = arith.index_cast %n : index to i32
    %v = arith.muli %i, %ten : i32
    tile.store %v, %a[%x] : memref<2xi32, #global>
    tile.grid_sync
    %w = tile.load %a[%other] : memref<2xi32, #global>
    tile.store %w, %b[%x] : memref<2xi32, #global>
  }
  return
}

// The blocks of a grid meet, and each finds in its tiles what it left there: a shared tile that only
// threads use, and a fragment of the block.
// CHECK-LABEL: @tiles_stay
// CHECK: A = 12 11 22 21
// CHECK: B = 2 1 4 3
func.func @tiles_stay(%a: memref<4xi32, #global> {tile.name = "A"},
                      %b: memref<4xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<[1, 2, 3, 4]> : tensor<4xi32>, dense<0> : tensor<4xi32>]} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ten = arith.constant 10 : i32
  tile.kernel (%x) in (%c2) threads [2] {
    %s = tile.alloc "s" : memref<2xi32, #shared>
    %f = tile.alloc "f" : memref<2xi32, #fragment>
    %t = tile.thread_id 0
    %first = arith.muli %x, %c2 : index
    %at = arith.addi %first, %t : index
    %v = tile.load %a[%at] : memref<4xi32, #global>
    %u = arith.subi %c1, %t : index
    tile.store %v, %s[%u] : memref<2xi32, #shared>
    %part = tile.slice %a[%first] [2] [1] : memref<4xi32, #global> to memref<2xi32, #global>
    tile.copy %part, %f : memref<2xi32, #global> to memref<2xi32, #fragment>
    tile.grid_sync
    %block = arith.index_cast %x : index to i32
    %one = arith.constant 1 : i32
    %number = arith.addi %block, %one : i32
    %tens = arith.muli %number, %ten : i32
    %w = tile.load %s[%t] : memref<2xi32, #shared>
    tile.store %w, %b[%at] : memref<4xi32, #global>
    %half = arith.constant 2 : i32
    tile.parallel (%i) in (2) {
      %from = arith.subi %c1, %i : index
      %y = tile.load %f[%from] : memref<2xi32, #fragment>
      %less = arith.muli %block, %half : i32
      %z = arith.subi %y, %less : i32
      %sum = arith.addi %z, %tens : i32
      %to = arith.addi %first, %i : index
      tile.store %sum, %a[%to] : memref<4xi32, #global>
    }
  }
  return
}

// An array that one T.Parallel uses is new in each iteration: what the last one left is not read.
// CHECK-LABEL: @array_of_an_iteration
// CHECK: A = 1 10 3 10
func.func @array_of_an_iteration(%a: memref<4xi32, #global> {tile.name = "A"})
    attributes {interp.args = [dense<[1, 2, 3, 4]> : tensor<4xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ten = arith.constant 10 : i32
  tile.kernel (%x) in (%c1) threads [2] {
    %own = tile.alloc "own" : memref<2xi32, #local>
    tile.parallel (%i) in (4) {
      tile.store %ten, %own[%c1] : memref<2xi32, #local>
      %v = tile.load %a[%i] : memref<4xi32, #global>
      tile.store %v, %own[%c0] : memref<2xi32, #local>
      %at = tile.floormod %i, %c2 : index
      %w = tile.load %own[%at] : memref<2xi32, #local>
      tile.store %w, %a[%i] : memref<4xi32, #global>
    }
  }
  return
}
