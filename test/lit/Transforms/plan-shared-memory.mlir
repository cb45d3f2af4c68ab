// RUN: tw-opt %s -tile-plan-shared-memory=arch=sm_80 -split-input-file -verify-diagnostics | FileCheck %s
// Offsets are aligned to 128 bytes, those of tiles under 16 bytes to 16, padding of a layout counts, the limit names each tile, and tiles
// that are never live together share bytes.

// CHECK-LABEL: func.func @offsets
func.func @offsets() {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: tile.kernel {{.*}} attributes {tile.shared_bytes = 1792 : i64}
  tile.kernel (%bx) in (%c1) threads [32] {
    // The largest first: b, c, a.
    // CHECK: tile.alloc "a" {tile.offset = 1664 : i64}
    %a = tile.alloc "a" : memref<30xf32, #tile.space<shared>>
    // 8 rows of 33 float32: 1056 bytes.
    // CHECK: tile.alloc "b" {tile.offset = 0 : i64
    %b = tile.alloc "b" {tile.placement = #tile.layout<[8, 32], "(i, j) -> (i * 33 + j)">} : memref<8x32xf32, #tile.space<shared>>
    // CHECK: tile.alloc "c" {tile.offset = 1152 : i64}
    %c = tile.alloc "c" : memref<128xf32, #tile.space<shared>>
    tile.fill %zero, %a : f32, memref<30xf32, #tile.space<shared>>
    tile.fill %zero, %b : f32, memref<8x32xf32, #tile.space<shared>>
    tile.fill %zero, %c : f32, memref<128xf32, #tile.space<shared>>
    tile.fill %zero, %a : f32, memref<30xf32, #tile.space<shared>>
    tile.fill %zero, %b : f32, memref<8x32xf32, #tile.space<shared>>
  }
  return
}

// -----

// Numbers that the block keeps take 16 bytes each.
// CHECK-LABEL: func.func @numbers
func.func @numbers() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : i64
  // CHECK: tile.kernel {{.*}} attributes {tile.shared_bytes = 160 : i64}
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: tile.alloc "a" {tile.offset = 128 : i64}
    %a = tile.alloc "a" : memref<1xi64, #tile.space<shared>>
    // CHECK: tile.alloc "b" {tile.offset = 144 : i64}
    %b = tile.alloc "b" : memref<1xf32, #tile.space<shared>>
    // CHECK: tile.alloc "c" {tile.offset = 0 : i64}
    %c = tile.alloc "c" : memref<4xf32, #tile.space<shared>>
    tile.fill %one, %a : i64, memref<1xi64, #tile.space<shared>>
    tile.fill %zero, %b : f32, memref<1xf32, #tile.space<shared>>
    tile.fill %zero, %c : f32, memref<4xf32, #tile.space<shared>>
    tile.fill %one, %a : i64, memref<1xi64, #tile.space<shared>>
    tile.fill %zero, %b : f32, memref<1xf32, #tile.space<shared>>
  }
  return
}

// -----

// A tile that a loop uses is live in all of it; what comes before and behind may lie under it.
// CHECK-LABEL: func.func @overlay
func.func @overlay() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: tile.kernel {{.*}} attributes {tile.shared_bytes = 1024 : i64}
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: tile.alloc "before" {tile.offset = 0 : i64}
    %before = tile.alloc "before" : memref<128xf32, #tile.space<shared>>
    // CHECK: tile.alloc "first" {tile.offset = 0 : i64}
    %first = tile.alloc "first" : memref<128xf32, #tile.space<shared>>
    // CHECK: tile.alloc "second" {tile.offset = 512 : i64}
    %second = tile.alloc "second" : memref<128xf32, #tile.space<shared>>
    // CHECK: tile.alloc "behind" {tile.offset = 0 : i64}
    %behind = tile.alloc "behind" : memref<128xf32, #tile.space<shared>>
    tile.fill %zero, %before : f32, memref<128xf32, #tile.space<shared>>
    scf.for %k = %c0 to %c4 step %c1 {
      tile.fill %zero, %first : f32, memref<128xf32, #tile.space<shared>>
      tile.fill %zero, %second : f32, memref<128xf32, #tile.space<shared>>
    }
    tile.fill %zero, %behind : f32, memref<128xf32, #tile.space<shared>>
  }
  return
}

// -----

func.func @too_much() {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{kernel needs 262144 bytes of shared memory, sm_80 allows 166912; take smaller tiles}}
  tile.kernel (%bx) in (%c1) threads [32] {
    // expected-note @below {{'K_shared' takes 131072 bytes}}
    %a = tile.alloc "K_shared" : memref<256x128xf32, #tile.space<shared>>
    // expected-note @below {{'V_shared' takes 131072 bytes}}
    %b = tile.alloc "V_shared" : memref<256x128xf32, #tile.space<shared>>
    tile.fill %zero, %a : f32, memref<256x128xf32, #tile.space<shared>>
    tile.fill %zero, %b : f32, memref<256x128xf32, #tile.space<shared>>
    tile.fill %zero, %a : f32, memref<256x128xf32, #tile.space<shared>>
  }
  return
}

// -----

// Versions are counted, and what threads exchange through memory.
func.func @versions_and_exchange() {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{bytes of shared memory, sm_80 allows 166912; lower num_stages or a tile}}
  tile.kernel (%bx) in (%c1) threads [64] {
    // expected-note @below {{'K_shared' takes 131072 bytes (4 stages x 32768)}}
    %a = tile.alloc "K_shared" {tile.versions = 4} : memref<4x64x128xf32, #tile.space<shared>>
    // expected-note @below {{'f' takes 65536 bytes: a fragment that lives in shared memory, see the remarks}}
    %f = tile.alloc "f" {tile.placement = #tile.layout<[16384], "(i) -> (i)">} : memref<16384xf32, #tile.space<fragment>>
    tile.fill %zero, %a : f32, memref<4x64x128xf32, #tile.space<shared>>
    tile.fill %zero, %f : f32, memref<16384xf32, #tile.space<fragment>>
    // expected-note @below {{in this statement}}
    tile.cumsum %f, %f dim 0 : memref<16384xf32, #tile.space<fragment>> to memref<16384xf32, #tile.space<fragment>>
    tile.fill %zero, %a : f32, memref<4x64x128xf32, #tile.space<shared>>
  }
  return
}

// -----

// An atomic update of a byte reads its neighbour, which must have a value; wider ones do not.
// CHECK-LABEL: func.func @bytes_that_are_updated
func.func @bytes_that_are_updated(%x: i8, %y: i32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: tile.alloc "counts" {tile.cleared, tile.offset = {{[0-9]+}} : i64} : memref<33xi8
    // CHECK: tile.alloc "sums" {tile.offset = {{[0-9]+}} : i64} : memref<32xi32
    %counts = tile.alloc "counts" : memref<33xi8, #tile.space<shared>>
    %sums = tile.alloc "sums" : memref<32xi32, #tile.space<shared>>
    tile.parallel (%i) in (32) {
      %a = tile.atomic_element add %x, %counts[%i] : memref<33xi8, #tile.space<shared>>
      %b = tile.atomic_element add %y, %sums[%i] : memref<32xi32, #tile.space<shared>>
    }
  }
  return
}

// -----

// Two blocks of 96 KB do not fit on a processor: the wish is dropped. Two of 64 KB do.
// CHECK-LABEL: func.func @blocks
func.func @blocks() {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // expected-remark @below {{2 blocks do not fit on a processor: each needs 98304 bytes of shared memory, and could have 82944}}
  tile.kernel (%bx) in (%c1) threads [64] {
    // CHECK-NOT: tile.hint
    // CHECK: tile.alloc "a"
    tile.hint "min_blocks_per_sm" {count = 2 : i64}
    %a = tile.alloc "a" : memref<192x128xf32, #tile.space<shared>>
    tile.fill %zero, %a : f32, memref<192x128xf32, #tile.space<shared>>
  }
  tile.kernel (%bx) in (%c1) threads [64] {
    // CHECK: tile.hint "min_blocks_per_sm"
    tile.hint "min_blocks_per_sm" {count = 2 : i64}
    %a = tile.alloc "a" : memref<128x128xf32, #tile.space<shared>>
    tile.fill %zero, %a : f32, memref<128x128xf32, #tile.space<shared>>
  }
  return
}

// -----

// A part of a tile is no use of it: where only the part is made, another tile may still lie.
// CHECK-LABEL: func.func @early_slice
// CHECK: tile.kernel {{.*}} attributes {tile.shared_bytes = 512 : i64}
func.func @early_slice() {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<128xf32, #tile.space<shared>>
    %b = tile.alloc "b" : memref<128xf32, #tile.space<shared>>
    %part = tile.slice %a[0] [64] [1] : memref<128xf32, #tile.space<shared>> to memref<64xf32, #tile.space<shared>>
    tile.fill %zero, %b : f32, memref<128xf32, #tile.space<shared>>
    tile.fill %zero, %part : f32, memref<64xf32, #tile.space<shared>>
  }
  return
}
