// RUN: tw-opt %s | tw-opt | FileCheck %s
// RUN: tw-opt %s -o %t.first && tw-opt %t.first -o %t.second && diff %t.first %t.second
// RUN: tw-opt %s -mlir-print-op-generic | tw-opt | FileCheck %s
// Scalar operations whose corners differ from arith's.

// CHECK-LABEL: func.func @integers
func.func @integers(%a: i32, %b: i32, %i: index, %u: i8) {
  // CHECK: tile.floordiv %{{.*}}, %{{.*}} : i32
  %0 = tile.floordiv %a, %b : i32
  // CHECK: tile.floordiv %{{.*}}, %{{.*}} unsigned : i8
  %1 = tile.floordiv %u, %u unsigned : i8
  // CHECK: tile.floormod %{{.*}}, %{{.*}} : index
  %2 = tile.floormod %i, %i : index
  // CHECK: tile.truncdiv %{{.*}}, %{{.*}} : i32
  %3 = tile.truncdiv %a, %b : i32
  // CHECK: tile.truncmod %{{.*}}, %{{.*}} unsigned {note} : i32
  %4 = tile.truncmod %a, %b unsigned {note} : i32
  // CHECK: tile.shl %{{.*}}, %{{.*}} : i32
  %5 = tile.shl %a, %b : i32
  // CHECK: tile.shr %{{.*}}, %{{.*}} unsigned : i32
  %6 = tile.shr %a, %b unsigned : i32
  return
}

// CHECK-LABEL: func.func @conversions
func.func @conversions(%x: f32, %i: index, %u: i8, %e: f8E4M3FN, %flag: i1) {
  // CHECK: tile.cast %{{.*}} from ui8 to f32
  %0 = tile.cast %u from ui8 to f32
  // CHECK: tile.cast %{{.*}} from i8 to index
  %1 = tile.cast %u from i8 to index
  // CHECK: tile.cast %{{.*}} from f32 to f16 rounding toward_zero
  %2 = tile.cast %x from f32 to f16 rounding toward_zero
  // CHECK: tile.cast %{{.*}} from f32 to bf16 rounding nearest_away saturate {note}
  %3 = tile.cast %x from f32 to bf16 rounding nearest_away saturate {note}
  // CHECK: tile.cast %{{.*}} from f32 to f16 rounding downward
  %down = tile.cast %x from f32 to f16 rounding downward
  // CHECK: tile.cast %{{.*}} from f32 to f16 rounding upward
  %up = tile.cast %x from f32 to f16 rounding upward
  // CHECK: tile.cast %{{.*}} from f32 to f8E5M2 saturate
  %4 = tile.cast %x from f32 to f8E5M2 saturate
  // CHECK: tile.cast %{{.*}} from index to ui64
  %5 = tile.cast %i from index to ui64
  // CHECK: tile.cast %{{.*}} from i1 to tf32
  %6 = tile.cast %flag from i1 to tf32
  // CHECK: tile.bitcast %{{.*}} : f32 to i32
  %7 = tile.bitcast %x : f32 to i32
  // CHECK: tile.bitcast %{{.*}} : f8E4M3FN to f8E5M2
  %8 = tile.bitcast %e : f8E4M3FN to f8E5M2
  return
}
