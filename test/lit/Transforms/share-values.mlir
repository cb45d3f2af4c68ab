// RUN: tw-opt %s -tile-share-values | FileCheck %s
// What is computed twice is computed once; a load is repeated only where something may have been written.

// CHECK-LABEL: llvm.func @sums
// CHECK-NEXT:    %[[SUM:.*]] = llvm.add %arg0, %arg1
// CHECK-NEXT:    llvm.mul %[[SUM]], %[[SUM]]
// CHECK-NEXT:    llvm.return
llvm.func @sums(%a: i64, %b: i64) -> i64 {
  %unused = llvm.sub %a, %b : i64
  %x = llvm.add %a, %b : i64
  %y = llvm.add %a, %b : i64
  %z = llvm.mul %x, %y : i64
  llvm.return %z : i64
}

// CHECK-LABEL: llvm.func @loads
// CHECK-COUNT-1: llvm.load %arg0 :
// CHECK-NOT:     llvm.load %arg0 :
// CHECK:         llvm.store
// CHECK-COUNT-1: llvm.load %arg0 :
// CHECK-NOT:     llvm.load %arg0 :
// CHECK:         llvm.load volatile
// CHECK-COUNT-1: llvm.load %arg0 :
// CHECK-NOT:     llvm.load %arg0 :
// CHECK:         llvm.return
llvm.func @loads(%p: !llvm.ptr, %q: !llvm.ptr) -> f32 {
  %a = llvm.load %p : !llvm.ptr -> f32
  %b = llvm.load %p : !llvm.ptr -> f32
  %c = llvm.fadd %a, %b : f32
  llvm.store %c, %q : f32, !llvm.ptr
  %d = llvm.load %p : !llvm.ptr -> f32
  %e = llvm.load %p : !llvm.ptr -> f32
  %f = llvm.fadd %d, %e : f32
  %v = llvm.load volatile %q : !llvm.ptr -> f32
  %g = llvm.load %p : !llvm.ptr -> f32
  %h = llvm.fadd %f, %g : f32
  %i = llvm.fadd %h, %v : f32
  llvm.return %i : f32
}

// A loop that writes comes between two loads, one that does not is passed. What a region computes is not
// known after it, and what was computed in front of it is known inside.
// CHECK-LABEL: func.func @regions
// CHECK:         %[[SUM:.*]] = arith.addi %arg1, %arg2
// CHECK:         llvm.load %arg0
// CHECK:         scf.for
// CHECK-NOT:     arith.addi
// CHECK:           llvm.load %arg0
// CHECK:           arith.muli
// CHECK:         }
// CHECK-NOT:     llvm.load %arg0
// CHECK:         scf.for
// CHECK:           llvm.store
// CHECK:         }
// CHECK:         llvm.load %arg0
// CHECK:         arith.muli
func.func @regions(%p: !llvm.ptr, %n: index, %m: index) -> (f32, f32, f32, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %x = arith.addi %n, %m : index
  %a = llvm.load %p : !llvm.ptr -> f32
  %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %zero, %u = %c0) -> (f32, index) {
    %y = arith.addi %n, %m : index
    %b = llvm.load %p : !llvm.ptr -> f32
    %product = arith.muli %n, %m : index
    %v = arith.muli %product, %y : index
    %next = arith.addf %t, %b : f32
    scf.yield %next, %v : f32, index
  }
  %c = llvm.load %p : !llvm.ptr -> f32
  scf.for %i = %c0 to %n step %c1 {
    llvm.store %zero, %p : f32, !llvm.ptr
  }
  %d = llvm.load %p : !llvm.ptr -> f32
  %z = arith.muli %n, %m : index
  return %s#0, %c, %d, %x, %z : f32, f32, f32, index, index
}
