// RUN: not tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 2>&1 | FileCheck %s
// An op in a loop that has no code ends the pass, too.

// CHECK: error: not supported on the GPU yet: loops that carry values
func.func @carried_in_a_loop(%a: memref<32xf32, #tile.space<global>>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%n) threads [32] {
    tile.parallel (%i) in (32) {
      %y = scf.for %k = %c0 to %n step %c1 iter_args(%s = %x) -> (f32) {
        %t = arith.addf %s, %x : f32
        tile.store %t, %a[%i] : memref<32xf32, #tile.space<global>>
        scf.yield %t : f32
      }
    }
  }
  return
}
