// RUN: tw-opt %s -tile-plan-cpu-rows -verify-diagnostics | FileCheck %s

!large = memref<4096x4096xf32, #tile.space<global>>
!small = memref<16x4096xf32, #tile.space<global>>
!row = memref<4096xf32, #tile.space<fragment>>

// Rows of 64 MiB are read ahead and written past the caches; those of 256 KiB are not. The second
// loop has time to prefetch the next row.
// CHECK-LABEL: func.func @sizes
func.func @sizes(%X: !large, %Y: !large, %Z: !small) {
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c16) threads [128] {
    // CHECK: tile.parallel (%i) in (4096) attributes {tile.next_rows_in = 0 : i64, tile.streams_rows}
    // CHECK: tile.load %{{.*}} {tile.streamed}
    // CHECK: tile.store %{{.*}} {tile.streamed}
    // expected-remark @+1 {{streams rows of tensors larger than the caches: 1 read ahead, 1 written past the caches}}
    tile.parallel (%j) in (4096) {
      %v = tile.load %X[%bx, %j] : !large
      tile.store %v, %Y[%bx, %j] : !large
    }
    // CHECK-NOT: tile.stream
    tile.parallel (%j) in (4096) {
      %v = tile.load %Z[%bx, %j] : !small
      tile.store %v, %Z[%bx, %j] : !small
    }
  }
  return
}

// The second loop finds X in the caches. A tensor that the loop reads is not written past them. It
// reads nothing from memory, and prefetches the next row.
// CHECK-LABEL: func.func @chain
func.func @chain(%X: !large) {
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c16) threads [128] {
    %r = tile.alloc "r" : !row
    %s = tile.alloc "s" : !row
    // CHECK: tile.parallel (%i) in (4096) attributes {tile.next_rows_in = 1 : i64, tile.streams_rows}
    // CHECK: tile.load %{{.*}} {tile.streamed}
    // expected-remark @+1 {{1 read ahead, 0 written past the caches; a later loop prefetches the next row}}
    tile.parallel (%j) in (4096) {
      %v = tile.load %X[%bx, %j] : !large
      tile.store %v, %r[%j] : !row
    }
    // CHECK: tile.parallel (%i) in (4096) attributes {tile.prefetches_rows = 1 : i64, tile.streams_rows}
    // CHECK: tile.load %{{[^{]*}} : memref<4096x4096xf32
    // CHECK: tile.store %{{[^{]*}} : memref<4096x4096xf32
    // expected-remark @+1 {{0 read ahead, 0 written past the caches}}
    tile.parallel (%j) in (4096) {
      %v = tile.load %X[%bx, %j] : !large
      tile.store %v, %X[%bx, %j] : !large
    }
    tile.parallel (%j) in (4096) {
      %v = tile.load %r[%j] : !row
      tile.store %v, %s[%j] : !row
    }
  }
  return
}
