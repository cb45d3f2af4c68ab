// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline -tile-plan-shared-memory=arch=sm_90a -tile-split-roles -tile-schedule-products 2>/dev/null | FileCheck %s --check-prefix=MOVED
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline -tile-plan-shared-memory=arch=sm_90a -tile-split-roles -tile-schedule-products -tile-insert-orderings -tile-check-schedule 2>/dev/null | FileCheck %s
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline -tile-plan-shared-memory=arch=sm_90a -tile-split-roles -tile-schedule-products 2>&1 >/dev/null | FileCheck %s --check-prefix=SAYS
// What an iteration does last moves to the next one, so that products have work beside them.

!a = memref<128x512xf16, #tile.space<global>>
!c = memref<128x128xf32, #tile.space<global>>
!tile = memref<128x64xf16, #tile.space<shared>>
!sums = memref<128x128xf32, #tile.space<fragment>>

// SAYS-DAG: remark: the product of 'one' runs beside the next iteration; the first one is peeled
// SAYS-DAG: remark: the product of 'o' runs beside the next iteration; the first one is peeled
// SAYS-DAG: remark: the product of 't' runs beside other statements of its iteration
// SAYS-DAG: remark: the product of 'u' runs beside other statements of its iteration
// SAYS-DAG: remark: products of this loop end in their own iteration: the iteration uses its result
// SAYS-DAG: remark: products of this loop end in their own iteration: two stages leave the copies no version to run ahead into

// The first iteration is peeled; version k - 1 is released after product k, the last one after the loop.
// MOVED-LABEL: func.func @one_product
// MOVED: scf.if
// MOVED: tile.barrier_wait %a_full
// MOVED-NEXT: tile.gemm
// MOVED-NOT: tile.barrier_arrive
// MOVED: tile.pipelined %[[K:.*]] = %{{.*}} to %[[UPPER:.*]] stages 3 {
// MOVED: tile.barrier_wait %a_full[%[[NOW:.*]]] parity
// MOVED-NEXT: tile.gemm
// MOVED-NEXT: %[[BEFORE:.*]] = tile.version %[[K]] from %{{.*}} ahead 2 of 3
// MOVED-NEXT: tile.barrier_arrive %a_empty[%[[BEFORE]]] by_warp
// MOVED-NEXT: }
// MOVED-NEXT: %[[LAST:.*]] = tile.version %[[UPPER]] from %{{.*}} ahead 2 of 3
// MOVED-NEXT: tile.barrier_arrive %a_empty[%[[LAST]]] by_warp

// One product stays open. Products alone have read the tile, so lanes need not meet.
// CHECK-LABEL: func.func @one_product
// CHECK: tile.pipelined
// CHECK: tile.gemm
// CHECK: tile.product_wait 1
// CHECK-NEXT: tile.barrier_arrive %a_empty[%{{.*}}] by_warp {tile.products_read}
// CHECK: }
// CHECK: tile.product_wait 0
// CHECK-NEXT: tile.barrier_arrive %a_empty[%{{.*}}] by_warp {tile.products_read}
func.func @one_product(%A: !a, %C: !c, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c1) threads [256] {
    %a = tile.alloc "a" : !tile
    %c = tile.alloc "one" : !sums
    tile.pipelined %k = %c0 to %n stages 3 {
      %depth = arith.muli %k, %c64 : index
      %from = tile.slice %A[0, %depth] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
      tile.copy %from, %a : memref<128x64xf16, #tile.space<global>> to !tile
      tile.gemm %a, %a, %c transpose_b : !tile, !tile, !sums
    }
    tile.copy %c, %C : !sums to !c
  }
  return
}

// The second product of iteration k - 1 follows the first one of iteration k. What it reads is released
// in front of the first statement that needs its end.
// MOVED-LABEL: func.func @two_products
// MOVED: tile.pipelined
// MOVED: tile.barrier_wait %k_full
// MOVED: tile.gemm %q
// MOVED: tile.phase %{{.*}} ahead 3 of 2
// MOVED: tile.barrier_wait %v_full
// MOVED: tile.gemm %p
// MOVED: tile.barrier_arrive %k_empty
// MOVED: tile.parallel
// MOVED: tile.barrier_arrive %v_empty
// MOVED: tile.parallel
// MOVED: }
// MOVED: tile.barrier_wait %v_full
// MOVED: tile.gemm %p
// MOVED: tile.barrier_arrive %v_empty

// CHECK-LABEL: func.func @two_products
// CHECK: tile.pipelined
// CHECK: tile.gemm %q
// CHECK-NOT: tile.product_wait
// CHECK: tile.gemm %p
// CHECK-NEXT: tile.product_wait 1
// CHECK-NEXT: tile.barrier_arrive %k_empty
// CHECK: tile.parallel
// CHECK: tile.product_wait 0
// CHECK-NEXT: tile.barrier_arrive %v_empty
func.func @two_products(%Q: !a, %K: memref<512x64xf16, #tile.space<global>>, %C: memref<128x64xf32, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %true = arith.constant true
  tile.kernel (%bx) in (%c1) threads [256] {
    %q = tile.alloc "q" : !tile
    %kt = tile.alloc "k" : memref<64x64xf16, #tile.space<shared>>
    %vt = tile.alloc "v" : memref<64x64xf16, #tile.space<shared>>
    %s = tile.alloc "s" : memref<128x64xf32, #tile.space<fragment>>
    %p = tile.alloc "p" : memref<128x64xf16, #tile.space<fragment>>
    %o = tile.alloc "o" : memref<128x64xf32, #tile.space<fragment>>
    %all = arith.constant true
    %part = tile.slice %Q[0, 0] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
    tile.copy %part, %q : memref<128x64xf16, #tile.space<global>> to !tile
    tile.pipelined %k = %c0 to %c8 stages 2 {
      %row = arith.muli %k, %c64 : index
      %from = tile.slice %K[%row, 0] [64, 64] [1, 1] : memref<512x64xf16, #tile.space<global>> to memref<64x64xf16, #tile.space<global>>
      tile.copy %from, %kt : memref<64x64xf16, #tile.space<global>> to memref<64x64xf16, #tile.space<shared>>
      tile.gemm %q, %kt, %s transpose_b clear %all : !tile, memref<64x64xf16, #tile.space<shared>>, memref<128x64xf32, #tile.space<fragment>>
      tile.parallel (%i, %j) in (128, 64) {
        %x = tile.load %s[%i, %j] : memref<128x64xf32, #tile.space<fragment>>
        %y = arith.mulf %x, %x : f32
        tile.store %y, %s[%i, %j] : memref<128x64xf32, #tile.space<fragment>>
      }
      tile.parallel (%i, %j) in (128, 64) {
        %x = tile.load %s[%i, %j] : memref<128x64xf32, #tile.space<fragment>>
        %y = arith.truncf %x : f32 to f16
        tile.store %y, %p[%i, %j] : memref<128x64xf16, #tile.space<fragment>>
      }
      tile.copy %from, %vt : memref<64x64xf16, #tile.space<global>> to memref<64x64xf16, #tile.space<shared>>
      tile.gemm %p, %vt, %o : memref<128x64xf16, #tile.space<fragment>>, memref<64x64xf16, #tile.space<shared>>, memref<128x64xf32, #tile.space<fragment>>
    }
    tile.copy %o, %C : memref<128x64xf32, #tile.space<fragment>> to memref<128x64xf32, #tile.space<global>>
  }
  return
}

// A result that the iteration uses, and two versions: the loop keeps its order.
// MOVED-LABEL: func.func @used
// MOVED-NOT: scf.if
// MOVED-COUNT-1: tile.gemm
// MOVED-LABEL: func.func @two_versions
// MOVED-NOT: scf.if
// MOVED-COUNT-1: tile.gemm
func.func @used(%A: !a, %C: !c, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c1) threads [256] {
    %a = tile.alloc "a" : !tile
    %c = tile.alloc "used" : !sums
    tile.pipelined %k = %c0 to %n stages 3 {
      %depth = arith.muli %k, %c64 : index
      %from = tile.slice %A[0, %depth] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
      tile.copy %from, %a : memref<128x64xf16, #tile.space<global>> to !tile
      tile.gemm %a, %a, %c transpose_b : !tile, !tile, !sums
      tile.parallel (%i, %j) in (128, 128) {
        %x = tile.load %c[%i, %j] : !sums
        %y = arith.mulf %x, %x : f32
        tile.store %y, %c[%i, %j] : !sums
      }
    }
    tile.copy %c, %C : !sums to !c
  }
  return
}

func.func @two_versions(%A: !a, %C: !c, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c1) threads [256] {
    %a = tile.alloc "a" : !tile
    %c = tile.alloc "two" : !sums
    tile.pipelined %k = %c0 to %n stages 2 {
      %depth = arith.muli %k, %c64 : index
      %from = tile.slice %A[0, %depth] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
      tile.copy %from, %a : memref<128x64xf16, #tile.space<global>> to !tile
      tile.gemm %a, %a, %c transpose_b : !tile, !tile, !sums
    }
    tile.copy %c, %C : !sums to !c
  }
  return
}

// With more products, iterations stay as they are. A product follows the one before it, over what it does
// not need; a release follows the next product.
// MOVED-LABEL: func.func @four_products
// MOVED: tile.pipelined
// MOVED: tile.barrier_wait %k_full
// MOVED-NEXT: tile.gemm %q, %{{.*}}, %s
// MOVED-NEXT: tile.phase
// MOVED-NEXT: tile.version
// MOVED-NEXT: tile.barrier_wait %v_full
// MOVED-NEXT: tile.gemm %q, %{{.*}}, %t
// MOVED-NEXT: tile.parallel
// MOVED: tile.gemm %p, %{{.*}}, %u
// MOVED-NEXT: tile.parallel
// MOVED: tile.parallel
// MOVED: tile.gemm %r, %{{.*}}, %w
// MOVED-NEXT: tile.barrier_arrive %v_empty
// MOVED-NEXT: tile.barrier_arrive %k_empty

// Each has another one open while the threads work.
// CHECK-LABEL: func.func @four_products
// CHECK: tile.pipelined
// CHECK: tile.gemm %q, %{{.*}}, %s
// CHECK: tile.gemm %q, %{{.*}}, %t
// CHECK: tile.product_wait 1
// CHECK-NEXT: tile.parallel
// CHECK: tile.gemm %p, %{{.*}}, %u
// CHECK: tile.product_wait 1
// CHECK-NEXT: tile.parallel
// CHECK-NOT: tile.product_wait
// CHECK: tile.gemm %r, %{{.*}}, %w
// CHECK: tile.product_wait 1
// CHECK-NEXT: tile.barrier_arrive %v_empty
!rows = memref<512x64xf16, #tile.space<global>>
!some = memref<64x64xf16, #tile.space<global>>
!small = memref<64x64xf16, #tile.space<shared>>
!left = memref<128x64xf16, #tile.space<fragment>>
!out = memref<128x64xf32, #tile.space<fragment>>
func.func @four_products(%Q: !a, %K: !rows, %V: !rows, %C: memref<128x64xf32, #tile.space<global>>, %D: memref<128x64xf32, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %true = arith.constant true
  tile.kernel (%bx) in (%c1) threads [256] {
    %q = tile.alloc "q" : !tile
    %kt = tile.alloc "k" : !small
    %vt = tile.alloc "v" : !small
    %s = tile.alloc "s" : !out
    %t = tile.alloc "t" : !out
    %p = tile.alloc "p" : !left
    %r = tile.alloc "r" : !left
    %u = tile.alloc "u" : !out
    %w = tile.alloc "w" : !out
    %top = tile.slice %Q[0, 0] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
    tile.copy %top, %q : memref<128x64xf16, #tile.space<global>> to !tile
    tile.pipelined %k = %c0 to %c8 stages 2 {
      %row = arith.muli %k, %c64 : index
      %x0 = tile.slice %K[%row, 0] [64, 64] [1, 1] : !rows to !some
      %y0 = tile.slice %V[%row, 0] [64, 64] [1, 1] : !rows to !some
      tile.copy %x0, %kt : !some to !small
      tile.gemm %q, %kt, %s transpose_b clear %true : !tile, !small, !out
      tile.parallel (%i, %j) in (128, 64) {
        %x = tile.load %s[%i, %j] : !out
        %y = arith.truncf %x : f32 to f16
        tile.store %y, %p[%i, %j] : !left
      }
      tile.copy %y0, %vt : !some to !small
      tile.gemm %q, %vt, %t transpose_b clear %true : !tile, !small, !out
      tile.parallel (%i, %j) in (128, 64) {
        %x = tile.load %t[%i, %j] : !out
        %y = arith.truncf %x : f32 to f16
        tile.store %y, %r[%i, %j] : !left
      }
      tile.gemm %p, %vt, %u : !left, !small, !out
      tile.parallel (%i, %j) in (128, 64) {
        %x = tile.load %r[%i, %j] : !left
        %y = arith.mulf %x, %x : f16
        tile.store %y, %r[%i, %j] : !left
      }
      tile.gemm %r, %kt, %w : !left, !small, !out
    }
    tile.copy %u, %C : !out to memref<128x64xf32, #tile.space<global>>
    tile.copy %w, %D : !out to memref<128x64xf32, #tile.space<global>>
  }
  return
}

// Where a mask matters in few iterations, these are segments of their own, after those without the mask: the code is
// there once with the mask and once without. The product of the iteration before runs beside a masked one too.
// MOVED-LABEL: func.func @masked
// MOVED: %[[LESS:.*]] = arith.maxsi
// MOVED: scf.for %[[END:.*]] = %[[LESS]] to %{{.*}} step
// MOVED: %[[FIRST:.*]] = arith.cmpi eq, %[[END]], %[[LESS]]
// MOVED: %[[BEGIN:.*]] = arith.select %[[FIRST]], %{{.*}}, %{{.*}}
// MOVED: %[[LATER:.*]] = arith.cmpi ne, %[[END]], %[[LESS]]
// MOVED: arith.cmpi sge
// MOVED: tile.gemm %q
// MOVED: scf.if %[[LATER]] {
// MOVED: tile.version %[[BEGIN]] from %{{.*}} ahead 1 of 2
// MOVED: tile.barrier_wait
// MOVED: tile.gemm %p
// MOVED: } else {
// MOVED: } {tile.leaves_open}
// MOVED: scf.if %[[LATER]] {
// MOVED: tile.barrier_arrive
// MOVED: tile.pipelined %{{.*}} = %{{.*}} to %[[END]] stages 2 {
// MOVED-NOT: arith.cmpi sge
// MOVED: tile.gemm %q
// MOVED: tile.gemm %p
// MOVED: }
// MOVED-NOT: tile.gemm
// MOVED: tile.segments
// MOVED: tile.gemm %p

// CHECK-LABEL: func.func @masked
// CHECK: scf.for
// CHECK: tile.pipelined
func.func @masked(%A: memref<512x64xf16, #tile.space<global>>, %B: memref<512x64xf16, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c127 = arith.constant 127 : index
  %c128 = arith.constant 128 : index
  tile.kernel (%bx) in (%c4) threads [256] {
    %q = tile.alloc "q" : memref<128x64xf16, #tile.space<shared>>
    %k = tile.alloc "k" : memref<128x64xf16, #tile.space<shared>>
    %v = tile.alloc "v" : memref<128x64xf16, #tile.space<shared>>
    %s = tile.alloc "s" : !sums
    %p = tile.alloc "p" : memref<128x128xf16, #tile.space<fragment>>
    %o = tile.alloc "o" : memref<128x64xf32, #tile.space<fragment>>
    %next = arith.addi %bx, %c1 : index
    %rows = arith.muli %next, %c128 : index
    %up = arith.addi %rows, %c127 : index
    %n = tile.floordiv %up, %c128 : index
    tile.pipelined %t = %c0 to %n stages 2 {
      %from = arith.muli %t, %c128 : index
      %x = tile.slice %A[%from, 0] [128, 64] [1, 1] : memref<512x64xf16, #tile.space<global>> to memref<128x64xf16, #tile.space<global>>
      tile.copy %x, %k : memref<128x64xf16, #tile.space<global>> to memref<128x64xf16, #tile.space<shared>>
      tile.parallel (%i, %j) in (128, 128) {
        %first = arith.muli %bx, %c128 : index
        %row = arith.addi %first, %i : index
        %column = arith.addi %from, %j : index
        %holds = arith.cmpi sge, %row, %column : index
        %zero = arith.constant 0.0 : f32
        %least = arith.constant -1.0e30 : f32
        %y = arith.select %holds, %zero, %least : f32
        tile.store %y, %s[%i, %j] : !sums
      }
      tile.gemm %q, %k, %s transpose_b : memref<128x64xf16, #tile.space<shared>>, memref<128x64xf16, #tile.space<shared>>, !sums
      tile.parallel (%i, %j) in (128, 128) {
        %a = tile.load %s[%i, %j] : !sums
        %b = math.exp2 %a : f32
        tile.store %b, %s[%i, %j] : !sums
      }
      tile.parallel (%i, %j) in (128, 128) {
        %a = tile.load %s[%i, %j] : !sums
        %c = arith.truncf %a : f32 to f16
        tile.store %c, %p[%i, %j] : memref<128x128xf16, #tile.space<fragment>>
      }
      %z = tile.slice %B[%from, 0] [128, 64] [1, 1] : memref<512x64xf16, #tile.space<global>> to memref<128x64xf16, #tile.space<global>>
      tile.copy %z, %v : memref<128x64xf16, #tile.space<global>> to memref<128x64xf16, #tile.space<shared>>
      tile.gemm %p, %v, %o : memref<128x128xf16, #tile.space<fragment>>, memref<128x64xf16, #tile.space<shared>>, memref<128x64xf32, #tile.space<fragment>>
    }
  }
  return
}
