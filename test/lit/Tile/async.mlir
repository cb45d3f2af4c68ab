// RUN: tw-opt %s | tw-opt | FileCheck %s
// The text forms of what later passes leave: groups of asynchronous copies, waits, and plans of accesses.

// CHECK-LABEL: func.func @async
func.func @async(%a: memref<64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: %[[V:.*]] = tile.version %{{.*}} from %{{.*}} ahead 2 of 3
    %version = tile.version %bx from %c1 ahead 2 of 3
    // CHECK: tile.async_group %[[V]] below %{{.*}} {
    // CHECK-NEXT: tile.parallel
    tile.async_group %version below %c1 {
      tile.parallel (%i) in (64) {
        %v = tile.load %a[%i] : memref<64xf32, #tile.space<global>>
        tile.store %v, %a[%i] : memref<64xf32, #tile.space<global>>
      }
    }
    // CHECK: tile.async_wait 2
    tile.async_wait 2
    %c = tile.alloc "c" : memref<64x8xf32, #tile.space<fragment>>
    // CHECK: tile.product_wait 1 for %{{.*}} : memref<64x8xf32, #tile.space<fragment>>
    tile.product_wait 1 for %c : memref<64x8xf32, #tile.space<fragment>>
    %f = tile.alloc "f" : memref<64x16xf16, #tile.space<fragment>>
    // CHECK: tile.product_wait 0 reading %{{.*}} : memref<64x16xf16, #tile.space<fragment>>
    tile.product_wait 0 reading %f : memref<64x16xf16, #tile.space<fragment>>
    // CHECK: tile.product_wait 0
    tile.product_wait 0
    // CHECK: tile.bulk_group {
    // CHECK-NEXT: tile.parallel {{.*}}tile.span = #tile.span<bytes = 256>
    tile.bulk_group {
      tile.parallel (%i) in (64) attributes {tile.span = #tile.span<bytes = 256>} {
        %v = tile.load %a[%i] : memref<64xf32, #tile.space<global>>
        tile.store %v, %a[%i] : memref<64xf32, #tile.space<global>>
      }
    }
    // CHECK: tile.bulk_wait 1 read
    // CHECK: tile.bulk_wait 0{{$}}
    tile.bulk_wait 1 read
    tile.bulk_wait 0
    // CHECK: tile.barrier {tile.proxy_fence = "all"}
    tile.barrier {tile.proxy_fence = "all"}
    tile.parallel (%i) in (64) {
      // CHECK: tile.access = #tile.access<width = 2 slots = [0, 1]>
      %v = tile.load %a[%i] {tile.access = #tile.access<width = 2 slots = [0, 1]>} : memref<64xf32, #tile.space<global>>
      // CHECK: #tile.access<width = 1 slots = [0, 1] sources = [0, 0] anchors = [0, 0] deltas = [0, 32] guarded = [0]>
      tile.store %v, %a[%i] {tile.access = #tile.access<width = 1 slots = [0, 1] sources = [0, 0] anchors = [0, 0] deltas = [0, 32] guarded = [0]>} : memref<64xf32, #tile.space<global>>
      // Each list may stand alone.
      // CHECK: #tile.access<width = 2 slots = [0, 1] guarded = [0]>
      tile.store %v, %a[%i] {tile.access = #tile.access<width = 2 slots = [0, 1] guarded = [0]>} : memref<64xf32, #tile.space<global>>
      // CHECK: #tile.access<width = 2 slots = [0, 1] anchors = [0] deltas = [0]>
      tile.store %v, %a[%i] {tile.access = #tile.access<width = 2 slots = [0, 1] anchors = [0] deltas = [0]>} : memref<64xf32, #tile.space<global>>
    }
  }
  return
}

// Bulk copies arrive at barriers; a role waits and copies beside the threads of the program.
// CHECK-LABEL: func.func @bulk
func.func @bulk(%a: memref<64xf32, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: tile.kernel {{.*}} attributes {tile.extra_threads = 128 : i64, tile.registers = 240 : i64}
  tile.kernel (%bx) in (%c1) threads [32] attributes {tile.extra_threads = 128 : i64, tile.registers = 240 : i64} {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : memref<2xi64, #tile.space<shared>>
    %empty = tile.barrier_alloc "empty" arrivals [1, 1] : memref<2xi64, #tile.space<shared>>
    %s = tile.alloc "s" : memref<64xf32, #tile.space<shared>>
    // CHECK: %[[P:.*]] = tile.phase %{{.*}} from %{{.*}} ahead 0 of 2
    %phase = tile.phase %bx from %c0 ahead 0 of 2
    // CHECK: tile.async_group %{{.*}} below %{{.*}} on %full[%{{.*}}] : memref<2xi64, #tile.space<shared>> after %empty : memref<2xi64, #tile.space<shared>> {
    tile.async_group %bx below %c1 on %full[%c0] : memref<2xi64, #tile.space<shared>> after %empty : memref<2xi64, #tile.space<shared>> {
      // CHECK: tile.bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [64] swizzle = 0 origins = [0] offsets = [0] clamped = [0]>
      tile.parallel (%i) in (64) attributes {tile.bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [64] swizzle = 0 origins = [0] offsets = [0] clamped = [0]>} {
        %v = tile.load %a[%i] : memref<64xf32, #tile.space<global>>
        tile.store %v, %s[%i] : memref<64xf32, #tile.space<shared>>
      }
    }
    // CHECK: tile.barrier_wait %full[%{{.*}}] parity %[[P]]
    tile.barrier_wait %full[%c0] parity %phase : memref<2xi64, #tile.space<shared>>
    // CHECK: tile.barrier_arrive %empty[%{{.*}}] by_warp :
    tile.barrier_arrive %empty[%c0] by_warp : memref<2xi64, #tile.space<shared>>
    // CHECK: tile.role "producer" threads 128 {
    tile.role "producer" threads 128 {
      // CHECK: tile.async_group %{{.*}} below %{{.*}} on %full[%{{.*}}] : memref<2xi64, #tile.space<shared>> {
      tile.async_group %bx below %c1 on %full[%c0] : memref<2xi64, #tile.space<shared>> {
      }
    // CHECK: } {tile.registers = 24 : i64}
    } {tile.registers = 24 : i64}
  }
  return
}
