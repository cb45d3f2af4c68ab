// RUN: tw-opt %s | tw-opt | FileCheck %s
// RUN: tw-opt %s -o %t.first && tw-opt %t.first -o %t.second && diff %t.first %t.second
// Attributes print in one normal form, whatever names their indices had.

// CHECK-LABEL: func.func @spaces
// CHECK-SAME: global = #tile.space<global>, local = #tile.space<local>
// CHECK-SAME: registers = #tile.space<fragment>, shared = #tile.space<shared>
func.func @spaces() attributes {
    global = #tile.space<global>, shared = #tile.space<shared>, registers = #tile.space<fragment>,
    local = #tile.space<local>} {
  return
}

// CHECK-LABEL: func.func @layouts
// CHECK-SAME: constant = #tile.layout<[], "() -> (7)">
// CHECK-SAME: dynamic = #tile.layout<[?, 4], "(i, j) -> (4 * i + j)">
// CHECK-SAME: every_op = #tile.layout<[8, 8], "(i, j) -> ((i + j - 1) * 2 // 3 % 5, i ^ j, min(i, j), max(i, 3))">
// CHECK-SAME: scaled = #tile.layout<[4, 4], "(i, j)[s0] -> (i * s0 + j)">
// CHECK-SAME: swizzle = #tile.layout<[8, 32], "(i, j) -> (i, j ^ 4 * (i % 8))">
func.func @layouts() attributes {
    swizzle = #tile.layout<[8, 32], "(row, col) -> (row, col ^ 4 * (row % 8))">,
    constant = #tile.layout<[], "() -> (7)">,
    dynamic = #tile.layout<[?, 4], "(i, j) -> (4 * i + j)">,
    scaled = #tile.layout<[4, 4], "(i, j)[n] -> (i * n + j)">,
    every_op = #tile.layout<[8, 8], "(i, j) -> (((i + j - 1) * 2 // 3) % 5, i ^ j, min(i, j), max(i, 3))">} {
  return
}

// CHECK-LABEL: func.func @fragments
// CHECK-SAME: plain = #tile.fragment<[8, 4], "(i, j) -> thread 4 * i + j, slot 0">
// CHECK-SAME: replicated = #tile.fragment<[8], "(i) rep r of 4 -> thread 4 * i + r, slot 0">
func.func @fragments() attributes {
    plain = #tile.fragment<[8, 4], "(a, b) -> thread 4 * a + b, slot 0">,
    replicated = #tile.fragment<[8], "(i) rep copy of 4 -> thread 4 * i + copy, slot 0">} {
  return
}

// The shape of a tensor in terms of the function's symbols.
// CHECK-LABEL: func.func @shapes
// CHECK-SAME: {tile.name = "A", tile.shape = #tile.shape<"()[n, m] -> (2 * n, m, 64)">}
// CHECK-SAME: {tile.dtype = ui8, tile.name = "count"}
// CHECK-SAME: index {tile.symbol = "n"}, %{{.*}}: index {tile.symbol = "m"}
func.func @shapes(
    %A: memref<?x?x64xf32, #tile.space<global>>
        {tile.name = "A", tile.shape = #tile.shape<"()[n, m] -> (2 * n, m, 64)">},
    %count: i8 {tile.name = "count", tile.dtype = ui8},
    %n: index {tile.symbol = "n"}, %m: index {tile.symbol = "m"}) {
  return
}

// Notes on loops and functions.
// CHECK-LABEL: func.func @flags
// CHECK-SAME: attributes {tile.fast_math}
func.func @flags(%n: index) attributes {tile.fast_math} {
  // CHECK: {tile.unroll}
  scf.for %i = %n to %n step %n {
  } {tile.unroll}
  // CHECK: {tile.vectorized}
  scf.for %i = %n to %n step %n {
  } {tile.vectorized}
  return
}

// What a launcher needs to make a tensor map; the innermost dimension first.
// CHECK-LABEL: func.func @tensor_maps
// CHECK: tile.kernel {{.*}} attributes {tile.tensor_maps = [
// CHECK-SAME: #tile.tensor_map<argument = 0 type = f16 extents = <"()[n] -> (64, n)"> strides = <"() -> (128)"> box = [64, 32] steps = [1, 1] swizzle = 128 promotion = 256>,
// CHECK-SAME: #tile.tensor_map<argument = 0 type = f16 extents = <"()[n] -> (64 * n)"> strides = <"() -> ()"> box = [64] steps = [1] swizzle = 0 fills_nan = true>
func.func @tensor_maps(
    %A: memref<?x64xf16, #tile.space<global>> {tile.shape = #tile.shape<"()[n] -> (n, 64)">},
    %n: index {tile.symbol = "n"}) {
  tile.kernel (%bx) in (%n) threads [128] attributes {tile.tensor_maps = [
      #tile.tensor_map<argument = 0 type = f16 extents = <"()[n] -> (64, n)"> strides = <"() -> (128)"> box = [64, 32] steps = [1, 1] swizzle = 128 promotion = 256>,
      #tile.tensor_map<argument = 0 type = f16 extents = <"()[n] -> (64 * n)"> strides = <"() -> ()"> box = [64] steps = [1] swizzle = 0 fills_nan = true>]} {
  }
  return
}
