// RUN: tw-opt %s -tile-lower-math | FileCheck %s
// RUN: tw-opt %s -tile-lower-math=fast-math | FileCheck %s --check-prefix=FAST

// CHECK: llvm.func @__tw_exp_f32(f32) -> f32

// A function without a precise instruction is the library's; fast math takes the approximate one.
// CHECK-LABEL: llvm.func @functions
// CHECK: llvm.call @__tw_exp_f32
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.f32"
// CHECK: llvm.call @__tw_tanh_f64
// FAST-LABEL: llvm.func @functions
// FAST: %[[SCALED:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// FAST: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[SCALED]])
// FAST: llvm.call @__tw_tanh_f64
llvm.func @functions(%x: f32, %y: f64) -> f64 {
  %a = math.exp %x : f32
  %b = math.exp2 %a : f32
  %c = arith.extf %b : f32 to f64
  %d = math.tanh %c : f64
  llvm.return %d : f64
}

// Only fast math permits that a product is rounded together with the sum.
// CHECK-LABEL: llvm.func @contraction
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// FAST-LABEL: llvm.func @contraction
// FAST: arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
llvm.func @contraction(%x: f32, %y: f32) -> f32 {
  %p = arith.mulf %x, %x : f32
  %s = arith.addf %p, %y : f32
  llvm.return %s : f32
}

// A NaN loses, and -0 is less than +0; or a NaN wins.
// CHECK-LABEL: llvm.func @extremes
// CHECK: llvm.intr.maxnum
// CHECK: llvm.intr.minimum
llvm.func @extremes(%x: f32, %y: f32) -> f32 {
  %a = arith.maxnumf %x, %y : f32
  %b = arith.minimumf %a, %y : f32
  llvm.return %b : f32
}

// Small whole exponents are products; the quotient of index values is Python's.
// CHECK-LABEL: llvm.func @powers
// CHECK: arith.mulf %[[X:.*]], %[[X]] : f32
// CHECK-NOT: math.powf
// CHECK: arith.divsi
// CHECK: arith.select
llvm.func @powers(%x: f32, %i: i64, %j: i64) -> i64 {
  %two = arith.constant 2.0 : f32
  %a = math.powf %x, %two : f32
  %q = arith.floordivsi %i, %j : i64
  llvm.inline_asm has_side_effects "", "f" %a : (f32) -> ()
  llvm.return %q : i64
}

// The approximation is to base 2: only another base takes a factor.
// FAST-LABEL: llvm.func @logarithms
// FAST: %[[BINARY:.*]] = llvm.inline_asm "lg2.approx.f32 $0, $1;", "=f,f" %{{.*}}
// FAST-NEXT: llvm.inline_asm "lg2.approx.f32 $0, $1;", "=f,f" %[[BINARY]]
// FAST: %[[LN:.*]] = arith.mulf
// FAST-NEXT: llvm.return %[[LN]]
llvm.func @logarithms(%x: f32) -> f32 {
  %a = math.log2 %x : f32
  %b = math.log %a : f32
  llvm.return %b : f32
}
