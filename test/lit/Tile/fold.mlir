// RUN: tw-opt %s -canonicalize | FileCheck %s
// The corners of integer arithmetic fold to what docs/semantics.md says, and nothing else folds.

// CHECK-LABEL: func.func @division
func.func @division() -> (i32, i32, i32, i32, i32, i32, i32, i32) {
  %m7 = arith.constant -7 : i32
  %c2 = arith.constant 2 : i32
  %0 = tile.floordiv %m7, %c2 : i32
  %1 = tile.floormod %m7, %c2 : i32
  %2 = tile.truncdiv %m7, %c2 : i32
  %3 = tile.truncmod %m7, %c2 : i32
  %m2 = arith.constant -2 : i32
  %c7 = arith.constant 7 : i32
  %4 = tile.floordiv %c7, %m2 : i32
  %5 = tile.floormod %c7, %m2 : i32
  %6 = tile.floordiv %m7, %c2 unsigned : i32
  %7 = tile.floormod %m7, %c2 unsigned : i32
  // CHECK-DAG: %[[M4:.*]] = arith.constant -4 : i32
  // CHECK-DAG: %[[M3:.*]] = arith.constant -3 : i32
  // CHECK-DAG: %[[M1:.*]] = arith.constant -1 : i32
  // CHECK-DAG: %[[P1:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[HALF:.*]] = arith.constant 2147483644 : i32
  // CHECK: return %[[M4]], %[[P1]], %[[M3]], %[[M1]], %[[M4]], %[[M1]], %[[HALF]], %[[P1]] :
  return %0, %1, %2, %3, %4, %5, %6, %7 : i32, i32, i32, i32, i32, i32, i32, i32
}

// CHECK-LABEL: func.func @by_zero
func.func @by_zero() -> (i32, i32, i32, i32, index, index) {
  %m7 = arith.constant -7 : i32
  %c0 = arith.constant 0 : i32
  %0 = tile.floordiv %m7, %c0 : i32
  %1 = tile.floormod %m7, %c0 : i32
  %2 = tile.truncdiv %m7, %c0 unsigned : i32
  %3 = tile.truncmod %m7, %c0 : i32
  %i7 = arith.constant 7 : index
  %i0 = arith.constant 0 : index
  %4 = tile.floordiv %i7, %i0 : index
  %5 = tile.floormod %i7, %i0 : index
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[M7:.*]] = arith.constant -7 : i32
  // CHECK-DAG: %[[I0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[I7:.*]] = arith.constant 7 : index
  // CHECK: return %[[ZERO]], %[[M7]], %[[ZERO]], %[[M7]], %[[I0]], %[[I7]] :
  return %0, %1, %2, %3, %4, %5 : i32, i32, i32, i32, index, index
}

// CHECK-LABEL: func.func @most_negative
func.func @most_negative() -> (i8, i8, i8, i8) {
  %least = arith.constant -128 : i8
  %m1 = arith.constant -1 : i8
  %0 = tile.floordiv %least, %m1 : i8
  %1 = tile.truncdiv %least, %m1 : i8
  %2 = tile.floormod %least, %m1 : i8
  %3 = tile.truncmod %least, %m1 : i8
  // CHECK-DAG: %[[LEAST:.*]] = arith.constant -128 : i8
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i8
  // CHECK: return %[[LEAST]], %[[LEAST]], %[[ZERO]], %[[ZERO]] :
  return %0, %1, %2, %3 : i8, i8, i8, i8
}

// An index that would overflow stays an operation: the interpreter reports it.
// CHECK-LABEL: func.func @index_overflow
func.func @index_overflow() -> (index, index, index) {
  %least = arith.constant -9223372036854775808 : index
  %m1 = arith.constant -1 : index
  %c62 = arith.constant 62 : index
  %c3 = arith.constant 3 : index
  // CHECK: tile.floordiv
  // CHECK: tile.truncdiv
  // CHECK: tile.shl
  %0 = tile.floordiv %least, %m1 : index
  %1 = tile.truncdiv %least, %m1 : index
  %2 = tile.shl %c3, %c62 : index
  return %0, %1, %2 : index, index, index
}

// CHECK-LABEL: func.func @shifts
func.func @shifts() -> (i8, i8, i8, i8, i8, i8, i8, i8) {
  %m3 = arith.constant -3 : i8
  %c1 = arith.constant 1 : i8
  %c7 = arith.constant 7 : i8
  %c8 = arith.constant 8 : i8
  %m1 = arith.constant -1 : i8
  %0 = tile.shl %m3, %c1 : i8
  %1 = tile.shl %m3, %c8 : i8
  %2 = tile.shl %m3, %m1 : i8
  %3 = tile.shr %m3, %c1 : i8
  %4 = tile.shr %m3, %c8 : i8
  %5 = tile.shr %m3, %c7 unsigned : i8
  %6 = tile.shr %m3, %c8 unsigned : i8
  %7 = tile.shr %m3, %m1 unsigned : i8
  // CHECK-DAG: %[[M6:.*]] = arith.constant -6 : i8
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i8
  // CHECK-DAG: %[[M2:.*]] = arith.constant -2 : i8
  // CHECK-DAG: %[[M1:.*]] = arith.constant -1 : i8
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i8
  // CHECK: return %[[M6]], %[[ZERO]], %[[ZERO]], %[[M2]], %[[M1]], %[[ONE]], %[[ZERO]], %[[ZERO]] :
  return %0, %1, %2, %3, %4, %5, %6, %7 : i8, i8, i8, i8, i8, i8, i8, i8
}

// Neutral operands need no constant on the other side.
// CHECK-LABEL: func.func @neutral
// CHECK-SAME: (%[[X:.*]]: i32, %[[F:.*]]: f32)
func.func @neutral(%x: i32, %f: f32) -> (i32, i32, i32, i32, i32, i32, f32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %0 = tile.floordiv %x, %c1 : i32
  %1 = tile.truncdiv %x, %c1 : i32
  %2 = tile.floormod %x, %c1 : i32
  %3 = tile.truncmod %x, %c1 : i32
  %4 = tile.shl %x, %c0 : i32
  %5 = tile.shr %x, %c0 : i32
  %6 = tile.cast %f from f32 to f32
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: return %[[X]], %[[X]], %[[ZERO]], %[[ZERO]], %[[X]], %[[X]], %[[F]] :
  return %0, %1, %2, %3, %4, %5, %6 : i32, i32, i32, i32, i32, i32, f32
}

// The only 1-bit divisor that is not zero is -1 when signed: no neutral element there.
// CHECK-LABEL: func.func @one_bit
func.func @one_bit(%x: i1) -> i1 {
  %true = arith.constant true
  // CHECK: tile.floordiv
  %0 = tile.floordiv %x, %true : i1
  return %0 : i1
}

// CHECK-LABEL: func.func @integer_casts
func.func @integer_casts() -> (i32, i32, i8, i1, i1, index, i64, index) {
  %byte = arith.constant -1 : i8
  %0 = tile.cast %byte from i8 to i32
  %1 = tile.cast %byte from ui8 to i32
  %c300 = arith.constant 300 : i32
  %2 = tile.cast %c300 from i32 to ui8
  %3 = tile.cast %c300 from i32 to i1
  %c0 = arith.constant 0 : i32
  %4 = tile.cast %c0 from i32 to i1
  %true = arith.constant true
  %5 = tile.cast %true from i1 to index
  %6 = tile.cast %byte from ui8 to i64
  %7 = tile.cast %byte from i8 to index
  // CHECK-DAG: %[[M1:.*]] = arith.constant -1 : i32
  // CHECK-DAG: %[[C255:.*]] = arith.constant 255 : i32
  // CHECK-DAG: %[[C44:.*]] = arith.constant 44 : i8
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG: %[[FALSE:.*]] = arith.constant false
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
  // CHECK-DAG: %[[L255:.*]] = arith.constant 255 : i64
  // CHECK-DAG: %[[I1:.*]] = arith.constant -1 : index
  // CHECK: return %[[M1]], %[[C255]], %[[C44]], %[[TRUE]], %[[FALSE]], %[[ONE]], %[[L255]], %[[I1]] :
  return %0, %1, %2, %3, %4, %5, %6, %7 : i32, i32, i8, i1, i1, index, i64, index
}

// Conversions of floats are left to the engines.
// CHECK-LABEL: func.func @float_casts
func.func @float_casts() -> (f16, i32, f32) {
  %x = arith.constant 1.0e9 : f32
  %i = arith.constant 3 : i32
  // CHECK: tile.cast %{{.*}} from f32 to f16
  // CHECK: tile.cast %{{.*}} from f32 to i32
  // CHECK: tile.cast %{{.*}} from i32 to f32
  %0 = tile.cast %x from f32 to f16
  %1 = tile.cast %x from f32 to i32
  %2 = tile.cast %i from i32 to f32
  return %0, %1, %2 : f16, i32, f32
}
