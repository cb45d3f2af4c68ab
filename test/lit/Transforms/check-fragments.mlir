// RUN: tw-opt %s -tile-check-fragments -verify-diagnostics
// A register has no address: a loaded value cannot name one. Shared memory can be indexed by anything.

func.func @loaded_index(%I: memref<8xi32, #tile.space<global>> {tile.name = "I"}, %B: memref<8xf32, #tile.space<global>> {tile.name = "B"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // expected-note @below {{'f' is allocated here}}
    %f = tile.alloc "f" : memref<8xf32, #tile.space<fragment>>
    %s = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
    tile.parallel (%i) in (8) {
      %k = tile.load %I[%i] : memref<8xi32, #tile.space<global>>
      %j = tile.cast %k from i32 to index
      // expected-error @below {{'f' is a fragment: its index must be known after unrolling, got a loaded value; use 'T.alloc_shared'}}
      %v = tile.load %f[%j] : memref<8xf32, #tile.space<fragment>>
      %w = tile.load %s[%j] : memref<8xf32, #tile.space<shared>>
      %x = tile.load %f[%i] : memref<8xf32, #tile.space<fragment>>
      %y = arith.addf %v, %w : f32
      %z = arith.addf %x, %y : f32
      tile.store %z, %B[%i] : memref<8xf32, #tile.space<global>>
    }
  }
  return
}
