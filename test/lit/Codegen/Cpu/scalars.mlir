// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 -split-input-file | FileCheck %s
// RUN: tw-opt %s -tile-lower-to-host=vector-width=8 -split-input-file | FileCheck %s --check-prefix=SHORT
// Arithmetic with the language's corners.

#global = #tile.space<global>

// x // 0 is 0: the machine divides by 1, and the result is chosen. Indices that cannot be negative
// are divided unsigned.
// CHECK-LABEL: llvm.func internal @division.kernel0
func.func @division(%A: memref<4xi32, #global>, %x: i32, %y: i32) {
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [32] {
    // CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[Y:.*]], %c0_i32
    // CHECK: %[[DIVISOR:.*]] = arith.select %{{.*}}, %c1_i32, %[[Y]]
    // CHECK: arith.divsi %{{.*}}, %[[DIVISOR]]
    // CHECK: arith.select %[[ZERO]], %c0_i32
    %q = tile.floordiv %x, %y : i32
    // CHECK: arith.divui %{{.*}}, %c3{{.*}} : index
    %i = tile.floordiv %bx, %c3 : index
    tile.store %q, %A[%i] : memref<4xi32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// Narrow floats are computed in float32 and rounded; what is stored as it was loaded keeps its bits.
// CHECK-LABEL: llvm.func internal @narrow.kernel0
func.func @narrow(%A: memref<4xf16, #global>) {
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    // CHECK: %[[H:.*]] = llvm.load {{.*}} -> f16
    // CHECK: %[[F:.*]] = arith.extf %[[H]] : f16 to f32
    %v = tile.load %A[%bx] : memref<4xf16, #global>
    // CHECK: llvm.store %[[H]]
    tile.store %v, %A[%bx] : memref<4xf16, #global>
    // CHECK: %[[SUM:.*]] = arith.addf %[[F]], %[[F]] : f32
    // CHECK: arith.truncf %[[SUM]] : f32 to f16
    %s = arith.addf %v, %v : f16
    tile.store %s, %A[%bx] : memref<4xf16, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// exp is straight-line code, with the host's scaling where vectors have it.
// CHECK-LABEL: llvm.func internal @functions.kernel0
// SHORT-LABEL: llvm.func internal @functions.kernel0
func.func @functions(%A: memref<4xf32, #global>, %x: f32) {
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    // CHECK-NOT: math.exp
    // CHECK: math.roundeven
    // CHECK: llvm.ldexp
    // SHORT-NOT: llvm.ldexp
    // SHORT: llvm.return
    %e = math.exp %x : f32
    tile.store %e, %A[%bx] : memref<4xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// A shift by the width or more gives 0: the machine shifts by less, and the result is chosen. The
// sign stays where it is shifted to the right.
// CHECK-LABEL: llvm.func internal @shifts.kernel0
func.func @shifts(%A: memref<4xi32, #global>, %x: i32, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: %[[LESS:.*]] = arith.minui %{{.*}}, %c31_i32
    // CHECK: %[[SHIFTED:.*]] = arith.shli %{{.*}}, %[[LESS]] : i32
    // CHECK: %[[TOO_FAR:.*]] = arith.cmpi ugt, %{{.*}}, %c31_i32
    // CHECK: arith.select %[[TOO_FAR]], %c0_i32{{.*}}, %[[SHIFTED]]
    %l = tile.shl %x, %n : i32
    // CHECK: arith.shrsi
    %r = tile.shr %x, %n : i32
    // CHECK: arith.shrui
    %u = tile.shr %x, %n unsigned : i32
    tile.store %l, %A[%c0] : memref<4xi32, #global>
    tile.store %r, %A[%c0] : memref<4xi32, #global>
    tile.store %u, %A[%c0] : memref<4xi32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// A float becomes an integer by truncation, within the integer's limits; NaN gives 0. An unsigned
// byte is widened without its sign.
// CHECK-LABEL: llvm.func internal @casts.kernel0
func.func @casts(%A: memref<4xi32, #global>, %B: memref<4xui8, #global>, %F: memref<4xf32, #global>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: llvm.fptosi.sat
    %i = tile.cast %x from f32 to i32
    tile.store %i, %A[%c0] : memref<4xi32, #global>
    // CHECK: %[[BYTE:.*]] = llvm.load {{.*}} -> i8
    // CHECK: arith.uitofp %{{.*}} to f32
    %b = tile.load %B[%c0] : memref<4xui8, #global>
    %f = tile.cast %b from ui8 to f32
    // CHECK: arith.bitcast %{{.*}} : f32 to i32
    %bits = tile.bitcast %f : f32 to i32
    tile.store %bits, %A[%c0] : memref<4xi32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

// Remainders are what the quotient leaves: of x and 0 it is x. Rounded down, quotient and remainder
// move by one divisor where the signs differ.
// CHECK-LABEL: llvm.func internal @remainders.kernel0
func.func @remainders(%A: memref<4xi32, #global>, %x: i32, %y: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: %[[Q:.*]] = arith.divsi
    // CHECK: %[[REST:.*]] = arith.subi
    // CHECK: arith.select %{{.*}}, %c0_i32
    %q = tile.truncdiv %x, %y : i32
    tile.store %q, %A[%c0] : memref<4xi32, #global>
    // CHECK: arith.divsi
    // CHECK: %[[REST:.*]] = arith.subi
    // CHECK: arith.select %{{.*}}, %[[X:.*]], %[[REST]]
    %r = tile.truncmod %x, %y : i32
    tile.store %r, %A[%c1] : memref<4xi32, #global>
    // CHECK: arith.divsi
    // CHECK: %[[MOVED:.*]] = arith.addi
    // CHECK: arith.select %{{.*}}, %[[MOVED]]
    %m = tile.floormod %x, %y : i32
    tile.store %m, %A[%c2] : memref<4xi32, #global>
  }
  return
}
