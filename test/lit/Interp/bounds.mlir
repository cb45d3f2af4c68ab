// RUN: tw-opt -test-interpret=bounds=1 %s -o /dev/null | FileCheck %s
// Error radii. u of float32 is 2^-24 = 5.96e-08; inf marks an undecided element.

#global = #tile.space<global>
#local = #tile.space<local>

// Copies of exact inputs are exact, conversions of exact values too; a sum of 1 and 2 is rounded once
// (u * 3 = 1.79e-07), and the radius passes through a second copy.
// CHECK-LABEL: @rounding
// CHECK: B = 3 3 1
// CHECK-NEXT: radii of 1 = 1.79e-07 1.79e-07 0
func.func @rounding(%a: memref<2xf32, #global>, %b: memref<3xf32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<[1.0, 2.0]> : tensor<2xf32>, dense<9.0> : tensor<3xf32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %x = tile.load %a[%c0] : memref<2xf32, #global>
    %y = tile.load %a[%c1] : memref<2xf32, #global>
    %sum = arith.addf %x, %y : f32
    tile.store %sum, %b[%c0] : memref<3xf32, #global>
    %from = tile.slice %b[0] [1] [1] : memref<3xf32, #global> to memref<1xf32, #global>
    %to = tile.slice %b[1] [1] [1] : memref<3xf32, #global> to memref<1xf32, #global>
    tile.copy %from, %to : memref<1xf32, #global> to memref<1xf32, #global>
    tile.store %x, %b[%c2] : memref<3xf32, #global>
  }
  return
}

// A product of exact matrices: gamma(3) * 2 with u = 2^-22 on tensor cores (float16 operands) and
// u = 2^-24 without; a float sum of three terms of magnitude 6: gamma(4) * 6.
// CHECK-LABEL: @sums
// CHECK: C = 2
// CHECK-NEXT: radii of 2 = 1.43e-06
// CHECK: D = 2
// CHECK-NEXT: radii of 5 = 3.58e-07
// CHECK: S = 2
// CHECK-NEXT: radii of 7 = 1.43e-06
func.func @sums(%a: memref<1x2xf16, #global>, %b: memref<2x1xf16, #global>,
                %c: memref<1x1xf32, #global> {tile.name = "C"}, %x: memref<1x2xf32, #global>,
                %y: memref<2x1xf32, #global>, %d: memref<1x1xf32, #global> {tile.name = "D"},
                %t: memref<3xf32, #global>, %s: memref<1xf32, #global> {tile.name = "S"})
    attributes {interp.args = [dense<1.0> : tensor<1x2xf16>, dense<1.0> : tensor<2x1xf16>,
                               dense<0.0> : tensor<1x1xf32>, dense<1.0> : tensor<1x2xf32>,
                               dense<1.0> : tensor<2x1xf32>, dense<0.0> : tensor<1x1xf32>,
                               dense<[4.0, -2.0, 0.0]> : tensor<3xf32>, dense<0.0> : tensor<1xf32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.gemm %a, %b, %c : memref<1x2xf16, #global>, memref<2x1xf16, #global>, memref<1x1xf32, #global>
    tile.gemm %x, %y, %d : memref<1x2xf32, #global>, memref<2x1xf32, #global>, memref<1x1xf32, #global>
    tile.reduce sum %t, %s dim 0 clear : memref<3xf32, #global> to memref<1xf32, #global>
  }
  return
}

// Four atomic additions of 1 to 0: gamma(4) * 4.
// CHECK-LABEL: @atomics
// CHECK: B = 4
// CHECK-NEXT: radii of 0 = 9.54e-07
func.func @atomics(%b: memref<1xf32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<0.0> : tensor<1xf32>]} {
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%bx) in (%c4) threads [32] {
    tile.atomic add %one, %b : f32, memref<1xf32, #global>
  }
  return
}

// x is 1 with a radius. Compared with 2 it decides; compared with 1 it does not: the branch taken
// and the one not taken both leave undecided elements, a select spans both sides, and a conversion
// to an integer is undecided only where a whole number lies in the interval.
// CHECK-LABEL: @decisions
// CHECK: B = 5 9 7 8 10
// CHECK-NEXT: radii of 1 = 0 inf inf 0 3
// CHECK: I = 0 1
// CHECK-NEXT: radii of 2 = inf 0
func.func @decisions(%a: memref<1xf32, #global>, %b: memref<5xf32, #global> {tile.name = "B"},
                     %n: memref<2xi32, #global> {tile.name = "I"})
    attributes {interp.args = [dense<0.5> : tensor<1xf32>,
                               dense<[9.0, 9.0, 9.0, 8.0, 9.0]> : tensor<5xf32>,
                               dense<9> : tensor<2xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %f1 = arith.constant 1.0 : f32
  %f2 = arith.constant 2.0 : f32
  %f5 = arith.constant 5.0 : f32
  %f6 = arith.constant 6.0 : f32
  %f7 = arith.constant 7.0 : f32
  %f10 = arith.constant 10.0 : f32
  %half = arith.constant 0.5 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %y = tile.load %a[%c0] : memref<1xf32, #global>
    %x = arith.addf %y, %y : f32
    %sure = arith.cmpf olt, %x, %f2 : f32
    scf.if %sure {
      tile.store %f5, %b[%c0] : memref<5xf32, #global>
    }
    %unsure = arith.cmpf olt, %x, %f1 : f32
    scf.if %unsure {
      tile.store %f6, %b[%c1] : memref<5xf32, #global>
    } else {
      tile.store %f7, %b[%c2] : memref<5xf32, #global>
    }
    %chosen = arith.select %unsure, %f7, %f10 : f32
    tile.store %chosen, %b[%c4] : memref<5xf32, #global>
    %below = arith.subf %x, %f1 : f32
    %zero = tile.cast %below from f32 to i32
    %up = arith.addf %x, %half : f32
    %one = tile.cast %up from f32 to i32
    %minus = arith.subf %f2, %x : f32
    %whole = tile.cast %minus from f32 to i32
    %undecided = arith.subi %one, %whole : i32
    tile.store %undecided, %n[%c0] : memref<2xi32, #global>
    tile.store %one, %n[%c1] : memref<2xi32, #global>
  }
  return
}

// exp2 is steep: a radius of r at 10 becomes about 2^10 * ln 2 * r.  10 = 5 + 5 has r = 5.96e-07,
// so the spread is 4.23e-04, and the function's own 2 ulp at 1024 add 2.44e-04.
// CHECK-LABEL: @functions
// CHECK: B = 1024 3
// CHECK-NEXT: radii of 0 = 0.000667 1
func.func @functions(%b: memref<2xf32, #global> {tile.name = "B"}, %five: f32)
    attributes {interp.args = [dense<0.0> : tensor<2xf32>, 5.0 : f32]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %third = arith.constant 0.3 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %ten = arith.addf %five, %five : f32
    %power = math.exp2 %ten : f32
    tile.store %power, %b[%c0] : memref<2xf32, #global>
    // 3 with a radius: its floor may be 2.
    %three = arith.mulf %ten, %third : f32
    %floor = math.floor %three : f32
    tile.store %floor, %b[%c1] : memref<2xf32, #global>
  }
  return
}
