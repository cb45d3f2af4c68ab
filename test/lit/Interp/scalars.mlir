// RUN: tw-opt -test-interpret=check=0 %s -o /dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=check=1 %s -o /dev/null 2>/dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=bounds=1 %s -o /dev/null 2>/dev/null | FileCheck %s
// The corners of scalar arithmetic (docs/semantics.md). Constants come in as arguments, so that no
// folder sees them.

#global = #tile.space<global>

// CHECK-LABEL: @floor_division
// CHECK: Q = -4 -4 3 0 -128
// CHECK: R = 1 -1 -1 -7 0
func.func @floor_division(%x: memref<5xi8, #global>, %y: memref<5xi8, #global>,
                          %q: memref<5xi8, #global> {tile.name = "Q"},
                          %r: memref<5xi8, #global> {tile.name = "R"})
    attributes {interp.args = [dense<[-7, 7, -7, -7, -128]> : tensor<5xi8>,
                               dense<[2, -2, -2, 0, -1]> : tensor<5xi8>,
                               dense<99> : tensor<5xi8>, dense<99> : tensor<5xi8>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (5) {
      %a = tile.load %x[%i] : memref<5xi8, #global>
      %b = tile.load %y[%i] : memref<5xi8, #global>
      %quotient = tile.floordiv %a, %b : i8
      %remainder = tile.floormod %a, %b : i8
      tile.store %quotient, %q[%i] : memref<5xi8, #global>
      tile.store %remainder, %r[%i] : memref<5xi8, #global>
    }
  }
  return
}

// Shifts by 0, 7, the width, and a negative count; >> of a signed value keeps the sign.
// CHECK-LABEL: @shifts
// CHECK: L = -112 0 0 0
// CHECK: S = -112 -1 -1 -1
// CHECK: U = 144 1 0 0
func.func @shifts(%n: memref<4xi8, #global>, %l: memref<4xi8, #global> {tile.name = "L"},
                  %s: memref<4xi8, #global> {tile.name = "S"},
                  %u: memref<4xui8, #global> {tile.name = "U"}, %x: i8)
    attributes {interp.args = [dense<[0, 7, 8, -1]> : tensor<4xi8>, dense<9> : tensor<4xi8>,
                               dense<9> : tensor<4xi8>, dense<9> : tensor<4xui8>, -112 : i8]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (4) {
      %count = tile.load %n[%i] : memref<4xi8, #global>
      %left = tile.shl %x, %count : i8
      %signed = tile.shr %x, %count : i8
      %unsigned = tile.shr %x, %count unsigned : i8
      tile.store %left, %l[%i] : memref<4xi8, #global>
      tile.store %signed, %s[%i] : memref<4xi8, #global>
      tile.store %unsigned, %u[%i] : memref<4xui8, #global>
    }
  }
  return
}

// A float becomes an integer by truncation and saturates; NaN gives 0.
// CHECK-LABEL: @float_to_integer
// CHECK: I = -2 127 -128 0
// CHECK: U = 0 255 0 0
// CHECK: B = 1 1 1 1
func.func @float_to_integer(%x: memref<4xf32, #global>, %i8: memref<4xi8, #global> {tile.name = "I"},
                            %u8: memref<4xui8, #global> {tile.name = "U"},
                            %b: memref<4xi1, #global> {tile.name = "B"})
    attributes {interp.args = [dense<[-2.9, 1000.0, -1000.0, 0x7FC00000]> : tensor<4xf32>,
                               dense<9> : tensor<4xi8>, dense<9> : tensor<4xui8>,
                               dense<false> : tensor<4xi1>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (4) {
      %v = tile.load %x[%i] : memref<4xf32, #global>
      %s = tile.cast %v from f32 to i8
      %u = tile.cast %v from f32 to ui8
      %t = tile.cast %v from f32 to i1
      tile.store %s, %i8[%i] : memref<4xi8, #global>
      tile.store %u, %u8[%i] : memref<4xui8, #global>
      tile.store %t, %b[%i] : memref<4xi1, #global>
    }
  }
  return
}

// 200 is read by the signedness of the type it comes from.
// CHECK-LABEL: @widening
// CHECK: W = 200 -56 1
func.func @widening(%w: memref<3xi32, #global> {tile.name = "W"}, %x: i8, %t: i1)
    attributes {interp.args = [dense<0> : tensor<3xi32>, -56 : i8, true]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %u = tile.cast %x from ui8 to i32
    %s = tile.cast %x from i8 to i32
    %b = tile.cast %t from i1 to i32
    tile.store %u, %w[%c0] : memref<3xi32, #global>
    tile.store %s, %w[%c1] : memref<3xi32, #global>
    tile.store %b, %w[%c2] : memref<3xi32, #global>
  }
  return
}

// Float16 arithmetic rounds each operation to float16: 2048 + 1 is a tie and stays 2048. Max and
// min lose a NaN unless they propagate it, and order the zeros.
// CHECK-LABEL: @floats
// CHECK: H = 2048 2050 inf
// CHECK: M = 1 nan 0 -0
func.func @floats(%h: memref<3xf16, #global> {tile.name = "H"},
                  %m: memref<4xf32, #global> {tile.name = "M"}, %big: f16, %one: f16, %nan: f32,
                  %negative: f32)
    attributes {interp.args = [dense<0.0> : tensor<3xf16>, dense<9.0> : tensor<4xf32>,
                               2048.0 : f16, 1.0 : f16, 0x7FC00000 : f32, -0.0 : f32]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %f1 = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %tie = arith.addf %big, %one : f16
    %two = arith.addf %one, %one : f16
    %even = arith.addf %big, %two : f16
    %overflow = arith.mulf %big, %big : f16
    tile.store %tie, %h[%c0] : memref<3xf16, #global>
    tile.store %even, %h[%c1] : memref<3xf16, #global>
    tile.store %overflow, %h[%c2] : memref<3xf16, #global>
    %loses = arith.maxnumf %nan, %f1 : f32
    %wins = arith.minimumf %nan, %f1 : f32
    %plus = arith.maxnumf %negative, %zero : f32
    %minus = arith.minnumf %zero, %negative : f32
    tile.store %loses, %m[%c0] : memref<4xf32, #global>
    tile.store %wins, %m[%c1] : memref<4xf32, #global>
    tile.store %plus, %m[%c2] : memref<4xf32, #global>
    tile.store %minus, %m[%c3] : memref<4xf32, #global>
  }
  return
}

// Rounding modes of a conversion: 1 + 2^-11 is a tie of float16.
// CHECK-LABEL: @rounding
// CHECK: R = 1 1 1.00097656 65504 1 1.00097656
func.func @rounding(%r: memref<6xf16, #global> {tile.name = "R"}, %tie: f32, %big: f32)
    attributes {interp.args = [dense<0.0> : tensor<6xf16>, 1.00048828125 : f32, 1.0e9 : f32]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %even = tile.cast %tie from f32 to f16
    %zero = tile.cast %tie from f32 to f16 rounding toward_zero
    %away = tile.cast %tie from f32 to f16 rounding nearest_away
    %clamped = tile.cast %big from f32 to f16 saturate
    %down = tile.cast %tie from f32 to f16 rounding downward
    %up = tile.cast %tie from f32 to f16 rounding upward
    tile.store %even, %r[%c0] : memref<6xf16, #global>
    tile.store %zero, %r[%c1] : memref<6xf16, #global>
    tile.store %away, %r[%c2] : memref<6xf16, #global>
    tile.store %clamped, %r[%c3] : memref<6xf16, #global>
    tile.store %down, %r[%c4] : memref<6xf16, #global>
    tile.store %up, %r[%c5] : memref<6xf16, #global>
  }
  return
}

// Integers of a dtype wrap at its width; comparisons read the sign that they name.
// CHECK-LABEL: @wrapping
// CHECK: W = -128 -2 0 1
func.func @wrapping(%w: memref<4xi8, #global> {tile.name = "W"}, %x: i8, %one: i8)
    attributes {interp.args = [dense<9> : tensor<4xi8>, 127 : i8, 1 : i8]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %sum = arith.addi %x, %one : i8
    %double = arith.addi %x, %x : i8
    %less = arith.cmpi ult, %sum, %one : i8
    %signed = arith.cmpi slt, %sum, %one : i8
    %lessByte = tile.cast %less from i1 to i8
    %signedByte = tile.cast %signed from i1 to i8
    tile.store %sum, %w[%c0] : memref<4xi8, #global>
    tile.store %double, %w[%c1] : memref<4xi8, #global>
    tile.store %lessByte, %w[%c2] : memref<4xi8, #global>
    tile.store %signedByte, %w[%c3] : memref<4xi8, #global>
  }
  return
}

// The bits of 1.0f.
// CHECK-LABEL: @bits
// CHECK: B = 1065353216
func.func @bits(%b: memref<1xi32, #global> {tile.name = "B"}, %x: f32)
    attributes {interp.args = [dense<9> : tensor<1xi32>, 1.0 : f32]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %bits = tile.bitcast %x : f32 to i32
    tile.store %bits, %b[%c0] : memref<1xi32, #global>
  }
  return
}

// Functions at points where the result is known.
// CHECK-LABEL: @functions
// CHECK: F = 8 0.5 3 2 -2 1 0.25
// CHECK: I = 3 5 -8
func.func @functions(%f: memref<7xf32, #global> {tile.name = "F"},
                     %n: memref<3xi32, #global> {tile.name = "I"}, %three: f32, %four: f32, %i: i32)
    attributes {interp.args = [dense<9.0> : tensor<7xf32>, dense<9> : tensor<3xi32>, 3.0 : f32,
                               4.0 : f32, 7 : i32]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %half = arith.constant -2.5 : f32
  %zero = arith.constant 0.0 : f32
  %m1 = arith.constant -1 : i32
  %m2 = arith.constant -2 : i32
  %e3 = arith.constant 3 : i32
  %big = arith.constant -5 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    %exp2 = math.exp2 %three : f32
    %rsqrt = math.rsqrt %four : f32
    %ceil = math.ceil %three : f32
    %sqrt = math.sqrt %four : f32
    %even = math.roundeven %half : f32
    %exp = math.exp %zero : f32
    %power = math.fpowi %four, %m1 : f32, i32
    %ones = math.ctpop %i : i32
    %abs = math.absi %big : i32
    %cube = math.ipowi %m2, %e3 : i32
    tile.store %exp2, %f[%c0] : memref<7xf32, #global>
    tile.store %rsqrt, %f[%c1] : memref<7xf32, #global>
    tile.store %ceil, %f[%c2] : memref<7xf32, #global>
    tile.store %sqrt, %f[%c3] : memref<7xf32, #global>
    tile.store %even, %f[%c4] : memref<7xf32, #global>
    tile.store %exp, %f[%c5] : memref<7xf32, #global>
    tile.store %power, %f[%c6] : memref<7xf32, #global>
    tile.store %ones, %n[%c0] : memref<3xi32, #global>
    tile.store %abs, %n[%c1] : memref<3xi32, #global>
    tile.store %cube, %n[%c2] : memref<3xi32, #global>
  }
  return
}
