// RUN: tw-opt -test-interpret %s -o /dev/null -verify-diagnostics | FileCheck %s
// RUN: tw-opt -test-interpret=order=1 %s -o /dev/null -verify-diagnostics | FileCheck %s
// RUN: tw-opt -test-interpret=order=7 %s -o /dev/null -verify-diagnostics | FileCheck %s
// RUN: sed /barrier_arrive/d %s | tw-opt -test-interpret -o /dev/null 2>&1 | FileCheck %s --check-prefix=RELEASE
// RUN: sed /barrier_wait.*full/d %s | tw-opt -test-interpret=order=1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: sed /barrier_wait.*empty/d %s | tw-opt -test-interpret -o /dev/null 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: sed /async_wait/d %s | tw-opt -test-interpret=order=1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=COPIES
// RUN: sed /tile.barrier$/d %s | tw-opt -test-interpret -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEETING
// RUN: sed /bulk_wait/d %s | tw-opt -test-interpret -o /dev/null 2>&1 | FileCheck %s --check-prefix=STORES
// RUN: sed /product_wait/d %s | tw-opt -test-interpret=order=1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=PRODUCTS
// Kernels as the passes for GPUs schedule them: teams run side by side, and what is asynchronous
// takes place at once (order 0), as late as it may (1) or somewhere between (7). The result is one.
//
// An ordering that is dropped shows: an arrival as a deadlock, a wait as a race or a wrong value.
// RELEASE: error: this wait is not met: what it waits for never comes; the program waits here for barrier 0 of 'full' (0 of 1 arrivals in phase 1), the producer waits at {{.*}} for barrier 0 of 'empty' (0 of 2 arrivals in phase 0)
// FULL: finding: {{.*}} of 's', {{.*}}; no barrier orders the two
// FULL-NOT: B = 15 15
// EMPTY: finding: what the producer has started at {{.*}} writes element [0, 0] of 's', which {{.*}}; no barrier orders the two
// COPIES: finding: what the program has started at {{.*}} of 's', {{.*}}; no barrier orders the two
// COPIES-NOT: B = 7 7
// MEETING: finding: what the program has started at {{.*}} reads element [0] of 's', which what the program has started at {{.*}} writes at
// STORES: finding: the block ends while this statement is under way: nothing waits for it
// PRODUCTS: finding: {{.*}} of 'sums', {{.*}}; no barrier orders the two
// PRODUCTS-NOT: C = 5

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// A producer fills two versions in turn; the program adds them up.
// CHECK-LABEL: @channel
// CHECK: B = 15 15
func.func @channel(%a: memref<5x2xi32, #global>, %b: memref<2xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<[[1, 1], [2, 2], [3, 3], [4, 4], [5, 5]]> : tensor<5x2xi32>,
                               dense<0> : tensor<2xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  tile.kernel (%x) in (%c1) threads [64] attributes {tile.extra_threads = 32 : i64} {
    %full = tile.barrier_alloc "full" arrivals [1, 1] : memref<2xi64, #shared>
    %empty = tile.barrier_alloc "empty" arrivals [2, 2] : memref<2xi64, #shared>
    %s = tile.alloc "s" : memref<2x2xi32, #shared>
    tile.pipelined %k = %c0 to %c5 stages 2 {
      %v = tile.version %k from %c0 ahead 0 of 2
      %p = tile.phase %k from %c0 ahead 0 of 2
      tile.barrier_wait %full[%v] parity %p : memref<2xi64, #shared>
      tile.parallel (%i) in (2) {
        %old = tile.load %b[%i] : memref<2xi32, #global>
        %new = tile.load %s[%v, %i] : memref<2x2xi32, #shared>
        %sum = arith.addi %old, %new : i32
        tile.store %sum, %b[%i] : memref<2xi32, #global>
      }
      tile.barrier_arrive %empty[%v] by_warp : memref<2xi64, #shared>
    }
    tile.role "producer" threads 32 {
      tile.pipelined %k = %c0 to %c5 stages 2 {
        %v = tile.version %k from %c0 ahead 0 of 2
        %p = tile.phase %k from %c0 ahead 2 of 2
        tile.barrier_wait %empty[%v] parity %p : memref<2xi64, #shared>
        tile.async_group %k below %c5 on %full[%v] : memref<2xi64, #shared> {
          tile.parallel (%i) in (2) attributes {tile.bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [2] swizzle = 0 origins = [0] offsets = [0]>} {
            %value = tile.load %a[%k, %i] : memref<5x2xi32, #global>
            tile.store %value, %s[%v, %i] : memref<2x2xi32, #shared>
          }
        }
      }
    }
  }
  return
}

// Each thread copies its part and waits for it; a barrier tells the others. The store to global
// memory goes on until the block has ended, its reads do not.
// CHECK-LABEL: @groups
// CHECK: B = 7 7
func.func @groups(%a: memref<2xi32, #global>, %b: memref<2xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<7> : tensor<2xi32>, dense<0> : tensor<2xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%x) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<2xi32, #shared>
    tile.async_group %c0 below %c1 {
      tile.parallel (%i) in (2) {
        %value = tile.load %a[%i] : memref<2xi32, #global>
        tile.store %value, %s[%i] : memref<2xi32, #shared>
      }
    }
    tile.async_wait 0
    tile.barrier
    tile.bulk_group {
      tile.parallel (%i) in (2) attributes {tile.bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [2] swizzle = 0 origins = [0] offsets = [0]>} {
        %value = tile.load %s[%i] : memref<2xi32, #shared>
        tile.store %value, %b[%i] : memref<2xi32, #global>
      }
    }
    tile.bulk_wait 0 read
  }
  return
}

// Two products of one accumulator follow each other; its reader waits for both.
// CHECK-LABEL: @products
// CHECK: C = 5
func.func @products(%a: memref<1x1xf32, #global>, %c: memref<1x1xf32, #global> {tile.name = "C"})
    attributes {interp.args = [dense<2.0> : tensor<1x1xf32>, dense<1.0> : tensor<1x1xf32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%x) in (%c1) threads [128] {
    %s = tile.alloc "s" : memref<1x1xf32, #shared>
    %one = tile.alloc "one" : memref<1x1xf32, #shared>
    %sums = tile.alloc "sums" : memref<1x1xf32, #fragment>
    tile.copy %c, %sums : memref<1x1xf32, #global> to memref<1x1xf32, #fragment>
    tile.copy %c, %one : memref<1x1xf32, #global> to memref<1x1xf32, #shared>
    tile.copy %a, %s : memref<1x1xf32, #global> to memref<1x1xf32, #shared>
    tile.barrier
    tile.gemm %s, %one, %sums {tile.async, tile.groups = array<i64: 1, 1>} : memref<1x1xf32, #shared>, memref<1x1xf32, #shared>, memref<1x1xf32, #fragment>
    tile.gemm %s, %one, %sums {tile.async, tile.groups = array<i64: 1, 1>} : memref<1x1xf32, #shared>, memref<1x1xf32, #shared>, memref<1x1xf32, #fragment>
    tile.product_wait 0 for %sums : memref<1x1xf32, #fragment>
    tile.copy %sums, %c : memref<1x1xf32, #fragment> to memref<1x1xf32, #global>
  }
  return
}
