// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// Copies of pipelined loops: cp.async in groups, versions carried by the loop.

// Two groups before the loop; in it one stays under way. A version wraps at three, without a division.
// CHECK-LABEL: llvm.func @three_stages_kernel
// CHECK: scf.if
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for {{.*}} iter_args(%[[NOW:.*]] = %c0_i32, %[[NEXT:.*]] = %c2_i32) -> (i32, i32) {
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: nvvm.barrier
// CHECK: scf.if
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: llvm.load {{.*}} !llvm.ptr<3>
// CHECK: scf.yield
func.func @three_stages(%a: memref<8x128xf32, #tile.space<global>>, %b: memref<8x128xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<128xf32, #tile.space<shared>>
    tile.pipelined %k = %c0 to %n stages 3 {
      %from = tile.slice %a[%k, 0] [1, 128] [1, 1] drop [0] : memref<8x128xf32, #tile.space<global>> to memref<128xf32, #tile.space<global>>
      %to = tile.slice %b[%k, 0] [1, 128] [1, 1] drop [0] : memref<8x128xf32, #tile.space<global>> to memref<128xf32, #tile.space<global>>
      tile.copy %from, %s : memref<128xf32, #tile.space<global>> to memref<128xf32, #tile.space<shared>>
      tile.copy %s, %to : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
    }
  }
  return
}

// 8 and 4 bytes go through the first-level cache.
// CHECK-LABEL: llvm.func @eight_bytes_kernel
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca
func.func @eight_bytes(%a: memref<8x64xf32, #tile.space<global>>, %b: memref<8x64xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<64xf32, #tile.space<shared>>
    tile.pipelined %k = %c0 to %n stages 2 {
      %from = tile.slice %a[%k, 0] [1, 64] [1, 1] drop [0] : memref<8x64xf32, #tile.space<global>> to memref<64xf32, #tile.space<global>>
      %to = tile.slice %b[%k, 0] [1, 64] [1, 1] drop [0] : memref<8x64xf32, #tile.space<global>> to memref<64xf32, #tile.space<global>>
      tile.copy %from, %s : memref<64xf32, #tile.space<global>> to memref<64xf32, #tile.space<shared>>
      tile.copy %s, %to : memref<64xf32, #tile.space<shared>> to memref<64xf32, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: llvm.func @four_bytes_kernel
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
func.func @four_bytes(%a: memref<8x32xf32, #tile.space<global>>, %b: memref<8x32xf32, #tile.space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<32xf32, #tile.space<shared>>
    tile.pipelined %k = %c0 to %n stages 2 {
      %from = tile.slice %a[%k, 0] [1, 32] [1, 1] drop [0] : memref<8x32xf32, #tile.space<global>> to memref<32xf32, #tile.space<global>>
      %to = tile.slice %b[%k, 0] [1, 32] [1, 1] drop [0] : memref<8x32xf32, #tile.space<global>> to memref<32xf32, #tile.space<global>>
      tile.copy %from, %s : memref<32xf32, #tile.space<global>> to memref<32xf32, #tile.space<shared>>
      tile.copy %s, %to : memref<32xf32, #tile.space<shared>> to memref<32xf32, #tile.space<global>>
    }
  }
  return
}
