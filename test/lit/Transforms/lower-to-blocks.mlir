// RUN: tw-opt %s -tile-lower-to-blocks | FileCheck %s
// RUN: tw-opt %s -tile-lower-to-blocks=rotate-from=1 | FileCheck %s --check-prefix=ROTATED
// Branches in a row, branches inside of loops, and loops that carry values become blocks, in the order of the program.

// CHECK-LABEL: llvm.func @branches
// CHECK:         cf.cond_br %arg0, ^bb1, ^bb2
// CHECK-NEXT:  ^bb1:
// CHECK-NEXT:    llvm.store %arg2, %arg4
// CHECK-NEXT:    cf.br ^bb2
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    cf.cond_br %arg1, ^bb3, ^bb4
// CHECK-NEXT:  ^bb3:
// CHECK-NEXT:    cf.br ^bb5(%arg2 : f32)
// CHECK-NEXT:  ^bb4:
// CHECK-NEXT:    cf.br ^bb5(%arg3 : f32)
// CHECK-NEXT:  ^bb5(%[[CHOICE:.*]]: f32):
// CHECK-NEXT:    cf.br ^bb6
// CHECK-NEXT:  ^bb6:
// CHECK-NEXT:    llvm.store %[[CHOICE]], %arg4
// CHECK-NEXT:    llvm.return
llvm.func @branches(%c: i1, %d: i1, %x: f32, %y: f32, %p: !llvm.ptr) {
  scf.if %c {
    llvm.store %x, %p : f32, !llvm.ptr
  }
  %choice = scf.if %d -> f32 {
    scf.yield %x : f32
  } else {
    scf.yield %y : f32
  }
  llvm.store %choice, %p : f32, !llvm.ptr
  llvm.return
}

// CHECK-LABEL: func.func @loop
// CHECK:         cf.br ^bb1(%arg0, %arg3 : index, f32)
// CHECK-NEXT:  ^bb1(%[[I:.*]]: index, %[[SUM:.*]]: f32):
// CHECK-NEXT:    %[[MORE:.*]] = arith.cmpi slt, %[[I]], %arg1
// CHECK-NEXT:    cf.cond_br %[[MORE]], ^bb2, ^bb5
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    cf.cond_br %arg5, ^bb3, ^bb4
// CHECK-NEXT:  ^bb3:
// CHECK-NEXT:    llvm.store %[[SUM]], %arg4
// CHECK-NEXT:    cf.br ^bb4
// CHECK-NEXT:  ^bb4:
// CHECK-NEXT:    %[[NEXT:.*]] = llvm.fadd %[[SUM]], %arg3
// CHECK-NEXT:    %[[AFTER:.*]] = arith.addi %[[I]], %arg2
// CHECK-NEXT:    cf.br ^bb1(%[[AFTER]], %[[NEXT]] : index, f32)
// CHECK-NEXT:  ^bb5:
// CHECK-NEXT:    llvm.store %[[SUM]], %arg4

// Where loops are many, each tests at its end whether it goes on.
// ROTATED-LABEL: func.func @loop
// ROTATED:         %[[FIRST:.*]] = arith.cmpi slt, %arg0, %arg1
// ROTATED-NEXT:    cf.cond_br %[[FIRST]], ^bb1(%arg0, %arg3 : index, f32), ^bb4(%arg3 : f32)
// ROTATED-NEXT:  ^bb1(%[[I:.*]]: index, %[[SUM:.*]]: f32):
// ROTATED-NEXT:    cf.cond_br %arg5, ^bb2, ^bb3
// ROTATED:       ^bb3:
// ROTATED-NEXT:    %[[NEXT:.*]] = llvm.fadd %[[SUM]], %arg3
// ROTATED-NEXT:    %[[AFTER:.*]] = arith.addi %[[I]], %arg2
// ROTATED-NEXT:    %[[MORE:.*]] = arith.cmpi slt, %[[AFTER]], %arg1
// ROTATED-NEXT:    cf.cond_br %[[MORE]], ^bb1(%[[AFTER]], %[[NEXT]] : index, f32), ^bb4(%[[NEXT]] : f32)
// ROTATED-NEXT:  ^bb4(%[[LAST:.*]]: f32):
// ROTATED-NEXT:    llvm.store %[[LAST]], %arg4
func.func @loop(%lower: index, %upper: index, %step: index, %x: f32, %p: !llvm.ptr, %c: i1) {
  %sum = scf.for %i = %lower to %upper step %step iter_args(%s = %x) -> f32 {
    scf.if %c {
      llvm.store %s, %p : f32, !llvm.ptr
    }
    %next = llvm.fadd %s, %x : f32
    scf.yield %next : f32
  }
  llvm.store %sum, %p : f32, !llvm.ptr
  return
}
