// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts -verify-diagnostics | FileCheck %s
// A use that its fragment's layout does not serve works on a copy: exchanged between lanes where that
// is cheap, else in memory for this statement alone.

#rows = #tile.fragment<[32, 4], "(i, j) -> thread i, slot j">
#columns = #tile.fragment<[32, 4], "(i, j) -> thread i // 4 * 4 + j, slot i % 4">
#apart = #tile.fragment<[64, 4], "(i, j) -> thread i, slot j">
#rotated = #tile.fragment<[64, 4], "(i, j) -> thread i ^ 32, slot j">

// CHECK-LABEL: func.func @lanes_exchange
func.func @lanes_exchange() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<32x4xf32, #tile.space<fragment>>
    %b = tile.alloc "b" : memref<32x4xf32, #tile.space<fragment>>
    tile.annotate_layout %a : memref<32x4xf32, #tile.space<fragment>> is #rows
    tile.annotate_layout %b : memref<32x4xf32, #tile.space<fragment>> is #columns
    // CHECK: %[[COPY:.*]] = tile.alloc "a" {tile.placement = #tile.fragment<[32, 4], "(i, j) -> thread i // 4 * 4 + j
    // CHECK: tile.parallel {{.*}} attributes {{.*}}tile.exchange
    // CHECK-NEXT: %[[V:.*]] = tile.load
    // CHECK-NEXT: tile.store %[[V]], %[[COPY]]
    // CHECK: tile.parallel
    // CHECK-NEXT: tile.load %[[COPY]]
    // expected-remark @+1 {{'a' is needed by other lanes: 3 shuffles and 16 selections in each thread}}
    tile.parallel (%i, %j) in (32, 4) {
      %x = tile.load %a[%i, %j] : memref<32x4xf32, #tile.space<fragment>>
      tile.store %x, %b[%i, %j] : memref<32x4xf32, #tile.space<fragment>>
    }
  }
  return
}

// CHECK-LABEL: func.func @warps_meet_in_memory
func.func @warps_meet_in_memory() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [64] {
    %a = tile.alloc "a" : memref<64x4xf32, #tile.space<fragment>>
    %b = tile.alloc "b" : memref<64x4xf32, #tile.space<fragment>>
    tile.annotate_layout %a : memref<64x4xf32, #tile.space<fragment>> is #apart
    tile.annotate_layout %b : memref<64x4xf32, #tile.space<fragment>> is #rotated
    // CHECK: %[[COPY:.*]] = tile.alloc "a" {{.*}} : memref<64x4xf32, #tile.space<shared>>
    // CHECK-NOT: tile.exchange
    // expected-remark @+1 {{'a' passes through shared memory: threads of a loop need elements that other threads hold}}
    tile.parallel (%i, %j) in (64, 4) {
      %x = tile.load %a[%i, %j] : memref<64x4xf32, #tile.space<fragment>>
      tile.store %x, %b[%i, %j] : memref<64x4xf32, #tile.space<fragment>>
    }
  }
  return
}

// The accumulator stays in registers; the scan has it in memory.
// CHECK-LABEL: func.func @a_scan_borrows
func.func @a_scan_borrows() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x16xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x8xf16, #tile.space<shared>>
    // CHECK: tile.alloc "c" {tile.placement = #tile.fragment
    %c = tile.alloc "c" : memref<16x8xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c : memref<16x16xf16, #tile.space<shared>>, memref<16x8xf16, #tile.space<shared>>, memref<16x8xf32, #tile.space<fragment>>
    // CHECK: %[[COPY:.*]] = tile.alloc "c" {{.*}} : memref<16x8xf32, #tile.space<shared>>
    // CHECK: tile.cumsum %[[COPY]], %[[COPY]]
    // expected-remark @+1 {{'c' passes through shared memory: a scan or print reads it in order}}
    tile.cumsum %c, %c dim 1 : memref<16x8xf32, #tile.space<fragment>> to memref<16x8xf32, #tile.space<fragment>>
  }
  return
}
