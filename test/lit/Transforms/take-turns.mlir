// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline -tile-plan-shared-memory=arch=sm_90a -tile-split-roles -tile-schedule-products -tile-insert-orderings -tile-check-schedule 2>/dev/null | FileCheck %s
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -tile-plan-pipeline -tile-plan-shared-memory=arch=sm_90a -tile-split-roles -tile-schedule-products 2>&1 >/dev/null | FileCheck %s --check-prefix=SAYS
// Attention whose fragments leave no registers for a product beside the next iteration: warpgroups take turns.

!q = memref<256x128xf16, #tile.space<global>>
!rows = memref<512x128xf16, #tile.space<global>>
!part = memref<64x128xf16, #tile.space<global>>
!out = memref<256x128xf32, #tile.space<global>>
!left = memref<256x128xf16, #tile.space<shared>>
!tile = memref<64x128xf16, #tile.space<shared>>
!scores = memref<256x64xf32, #tile.space<fragment>>
!sums = memref<256x128xf32, #tile.space<fragment>>
!row = memref<256xf32, #tile.space<fragment>>

// SAYS: remark: predicted: {{[0-9]+}} cycles an iteration, {{[0-9]+}} in the order of the program
// SAYS-SAME: they pass through
// SAYS: remark: products of this loop end in their own iteration: beside the next one it takes {{[0-9]+}} registers a thread, of 240
// SAYS: remark: 2 warpgroups take turns: one issues its products while the others compute

// The turn goes from the second product over the end of the iteration to the first one.
// CHECK-LABEL: func.func @registers
// CHECK: tile.turn open of 2 at 2
// CHECK: tile.turn take of 2 at 2
// CHECK-NEXT: tile.pipelined
// CHECK: tile.gemm %q, %{{.*}}, %s
// CHECK-NEXT: tile.turn pass of 2 at 2
// CHECK: tile.parallel
// CHECK: tile.turn take of 2 at 2
// CHECK-NEXT: tile.gemm %p, %{{.*}}, %o
// CHECK-NOT: tile.turn
// CHECK: {{^ *}$}}
// CHECK-NEXT: tile.turn pass of 2 at 2
// CHECK: tile.role "producer"
// CHECK: tile.turn close of 2 at 2
func.func @registers(%Q: !q, %K: !rows, %O: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %all = arith.constant true
  tile.kernel (%bx) in (%c1) threads [256] {
    %q = tile.alloc "q" : !left
    %kt = tile.alloc "k" : !tile
    %vt = tile.alloc "v" : !tile
    %s = tile.alloc "s" : !scores
    %p = tile.alloc "p" : memref<256x64xf16, #tile.space<fragment>>
    %o = tile.alloc "o" : !sums
    tile.copy %Q, %q : !q to !left
    tile.pipelined %k = %c0 to %c8 stages 2 {
      %at = arith.muli %k, %c64 : index
      %from = tile.slice %K[%at, 0] [64, 128] [1, 1] : !rows to !part
      tile.copy %from, %kt : !part to !tile
      tile.gemm %q, %kt, %s transpose_b policy full_row clear %all : !left, !tile, !scores
      tile.parallel (%i, %j) in (256, 64) {
        %x = tile.load %s[%i, %j] : !scores
        %y = math.exp2 %x : f32
        tile.store %y, %s[%i, %j] : !scores
      }
      tile.parallel (%i, %j) in (256, 64) {
        %x = tile.load %s[%i, %j] : !scores
        %y = arith.truncf %x : f32 to f16
        tile.store %y, %p[%i, %j] : memref<256x64xf16, #tile.space<fragment>>
      }
      tile.copy %from, %vt : !part to !tile
      tile.gemm %p, %vt, %o policy full_row : memref<256x64xf16, #tile.space<fragment>>, !tile, !sums
    }
    tile.copy %o, %O : !sums to !out
  }
  return
}
