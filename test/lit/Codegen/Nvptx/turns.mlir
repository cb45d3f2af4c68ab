// RUN: tw-opt %s -tile-lower-to-threads=arch=sm_90a | FileCheck %s
// Each warpgroup has a barrier by number, at which it and the one before it arrive.

// CHECK-LABEL: llvm.func @turns_kernel
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync
// The last warpgroup opens the turn of the first one.
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %{{.*}}, %c2_i32 : i32
// CHECK: scf.if %[[LAST]]
// CHECK: "bar.arrive $0, $1;", "r,r,~{memory}" %c2_i32{{[_0-9]*}}, %c256_i32
// CHECK: %[[OWN:.*]] = arith.shrui %[[WARP]], %c2_i32
// CHECK: %[[MINE:.*]] = arith.addi %[[OWN]], %c2_i32
// CHECK: "bar.sync $0, $1;", "r,r,~{memory}" %[[MINE]], %c256_i32
// CHECK: %[[NEXT:.*]] = arith.addi %[[GROUP:.*]], %c1_i32
// CHECK: %[[ROUND:.*]] = arith.select %{{.*}}, %c0_i32, %[[NEXT]]
// CHECK: %[[OTHER:.*]] = arith.addi %[[ROUND]], %c2_i32
// CHECK: "bar.arrive $0, $1;", "r,r,~{memory}" %[[OTHER]], %c256_i32
// The first one takes the turn that is left.
// CHECK: arith.cmpi eq, %{{.*}}, %c0_i32 : i32
// CHECK: scf.if
// CHECK: "bar.sync $0, $1;", "r,r,~{memory}" %c2_i32{{[_0-9]*}}, %c256_i32
func.func @turns(%n: index) {
  tile.kernel (%bx) in (%n) threads [384] {
    tile.turn open of 3 at 2
    tile.turn take of 3 at 2
    tile.turn pass of 3 at 2
    tile.turn close of 3 at 2
  }
  return
}
