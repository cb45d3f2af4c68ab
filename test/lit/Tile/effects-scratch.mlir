// RUN: tw-opt %s -test-print-effects=scratch=1 -verify-diagnostics -o /dev/null
// Shared memory that a statement needs besides its operands: 8 bytes for each warp until tiles are placed.

#fragment = #tile.space<fragment>

func.func @reductions(%n: index) {
  tile.kernel (%bx) in (%n) threads [96] {
    %c = tile.alloc "c" : memref<8x12xf32, #fragment>
    %free = tile.alloc "free" : memref<8xf32, #fragment>
    // expected-remark @+4 {{read 'c'[0 : 8, 0 : 12]}}
    // expected-remark @+3 {{write 'free'[0 : 8]}}
    // expected-remark @+2 {{scratch 24 bytes}}
    // expected-remark @+1 {{synchronises}}
    tile.reduce sum %c, %free dim 1 clear : memref<8x12xf32, #fragment> to memref<8xf32, #fragment>
    // One slot of 4 bytes for each of 96 threads.
    %placed = tile.alloc "placed"
        {tile.placement = #tile.fragment<[8], "(i) rep r of 12 -> thread 12 * i + r, slot 0">}
        : memref<8xf32, #fragment>
    // expected-remark @+4 {{read 'c'[0 : 8, 0 : 12]}}
    // expected-remark @+3 {{write 'placed'[0 : 8]}}
    // expected-remark @+2 {{scratch 384 bytes}}
    // expected-remark @+1 {{synchronises}}
    tile.reduce max %c, %placed dim 1 clear : memref<8x12xf32, #fragment> to memref<8xf32, #fragment>
  }
  return
}
