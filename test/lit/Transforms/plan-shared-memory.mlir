// RUN: tw-opt %s -tile-plan-shared-memory=arch=sm_80 -split-input-file -verify-diagnostics | FileCheck %s
// Offsets are aligned to 128 bytes, padding of a layout counts, and the limit names each tile.

// CHECK-LABEL: func.func @offsets
func.func @offsets() {
  %c1 = arith.constant 1 : index
  // CHECK: tile.kernel {{.*}} attributes {tile.shared_bytes = 1792 : i64}
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: tile.alloc "a" {tile.offset = 0 : i64}
    %a = tile.alloc "a" : memref<30xf32, #tile.space<shared>>
    // 8 rows of 33 float32: 1056 bytes.
    // CHECK: tile.alloc "b" {tile.offset = 128 : i64
    %b = tile.alloc "b" {tile.placement = #tile.layout<[8, 32], "(i, j) -> (i * 33 + j)">} : memref<8x32xf32, #tile.space<shared>>
    // CHECK: tile.alloc "c" {tile.offset = 1280 : i64}
    %c = tile.alloc "c" : memref<128xf32, #tile.space<shared>>
  }
  return
}

// -----

func.func @too_much() {
  %c1 = arith.constant 1 : index
  // expected-error @below {{kernel needs 262144 bytes of shared memory, sm_80 allows 166912; lower num_stages or a tile}}
  tile.kernel (%bx) in (%c1) threads [32] {
    // expected-note @below {{'K_shared' takes 131072 bytes}}
    %a = tile.alloc "K_shared" : memref<256x128xf32, #tile.space<shared>>
    // expected-note @below {{'V_shared' takes 131072 bytes}}
    %b = tile.alloc "V_shared" : memref<256x128xf32, #tile.space<shared>>
  }
  return
}
