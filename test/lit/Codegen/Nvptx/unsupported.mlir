// RUN: tw-opt %s -tile-lower-to-threads -verify-diagnostics -split-input-file
// What has no code is an error at its op.

func.func @carried(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%n) threads [32] {
    // expected-error @+1 {{not supported on the GPU yet: loops that carry values}}
    %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (f32) {
      %t = arith.addf %s, %x : f32
      scf.yield %t : f32
    }
  }
  return
}
