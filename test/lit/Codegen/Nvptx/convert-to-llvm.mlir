// RUN: tw-opt %s -tile-convert-to-llvm | FileCheck %s
// What is left of a thread's code once scf is gone, in one conversion.

// CHECK-LABEL: llvm.func @branches
// CHECK: llvm.add %{{.*}}, %{{.*}} : i32
// CHECK: llvm.intr.sqrt
// CHECK: llvm.cond_br
// CHECK-NOT: {{arith|cf|math}}.
// CHECK: llvm.return
llvm.func @branches(%a: i32, %x: f32, %p: i1) -> f32 {
  %b = arith.addi %a, %a : i32
  %y = math.sqrt %x : f32
  cf.cond_br %p, ^one, ^two
^one:
  llvm.inline_asm has_side_effects "", "r" %b : (i32) -> ()
  cf.br ^two
^two:
  llvm.return %y : f32
}
