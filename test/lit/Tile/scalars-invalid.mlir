// RUN: tw-opt %s -split-input-file -verify-diagnostics

func.func @unsigned_type(%a: ui8) {
  // expected-error @+1 {{'tile.floordiv' op operand #0 must be signless integer or index, but got 'ui8'}}
  %0 = tile.floordiv %a, %a : ui8
  return
}

// -----

func.func @mixed_types(%a: i32, %b: i64) {
  // expected-error @+1 {{'tile.shl' op requires the same type for all operands and results}}
  %0 = "tile.shl"(%a, %b) : (i32, i64) -> i32
  return
}

// -----

func.func @cast_from(%a: i32) {
  // expected-error @+1 {{expected an element type}}
  %0 = tile.cast %a from i7 to f32
  return
}

// -----

func.func @cast_to(%a: i32) {
  // expected-error @+1 {{expected an element type}}
  %0 = tile.cast %a from i32 to vector<4xf32>
  return
}

// -----

func.func @cast_rounding_name(%a: f32) {
  // expected-error @+1 {{unknown rounding 'sideways'}}
  %0 = tile.cast %a from f32 to f16 rounding sideways
  return
}

// -----

func.func @cast_odd_type(%a: i32) {
  // expected-error @+1 {{'tile.cast' op 'tensor<i32>' is not an element type}}
  %0 = "tile.cast"(%a) <{from = i32, to = tensor<i32>}> : (i32) -> i32
  return
}

// -----

func.func @cast_types(%a: i32) {
  // expected-error @+1 {{'tile.cast' op from 'i32' to 'f32' has types 'i32' and 'f16'}}
  %0 = "tile.cast"(%a) <{from = i32, to = f32}> : (i32) -> f16
  return
}

// -----

func.func @cast_rounding(%a: f32) {
  // expected-error @+1 {{'tile.cast' op has a rounding but gives no float}}
  %0 = tile.cast %a from f32 to i32 rounding toward_zero
  return
}

// -----

func.func @cast_saturate(%a: f32) {
  // expected-error @+1 {{'tile.cast' op saturates but gives no float}}
  %0 = tile.cast %a from f32 to i32 saturate
  return
}

// -----

func.func @bitcast_width(%a: f32) {
  // expected-error @+1 {{bits of float32 are not those of int16: the widths differ}}
  %0 = tile.bitcast %a : f32 to i16
  return
}

// -----

// A bool has one bit, although it takes a byte of memory.
func.func @bitcast_bool(%a: i8) {
  // expected-error @+1 {{bits of int8 are not those of bool: the widths differ}}
  %0 = tile.bitcast %a : i8 to i1
  return
}

// -----

func.func @bitcast_index(%a: index) {
  // expected-error @+1 {{bits of index are not those of int64: the widths differ}}
  %0 = tile.bitcast %a : index to i64
  return
}
