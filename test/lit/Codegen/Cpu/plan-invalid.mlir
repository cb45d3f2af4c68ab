// RUN: tw-opt %s -tile-lower-to-host -split-input-file -verify-diagnostics
// A plan that names what is not there is refused.

#shared = #tile.space<shared>

func.func @operand() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x16xf32, #shared>
    %c = tile.alloc "c" : memref<16x16xf32, #shared>
    // expected-error @+1 {{the plan names operand 3, which no copy before it prepares}}
    tile.gemm %a, %a, %c {tile.prepared_b = 3 : i64} : memref<16x16xf32, #shared>, memref<16x16xf32, #shared>, memref<16x16xf32, #shared>
  }
  return
}

// -----

#shared = #tile.space<shared>

func.func @buffer() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x16xf32, #shared>
    %c = tile.alloc "c" : memref<16x16xf32, #shared>
    // expected-error @+1 {{the plan names buffer 5, which no 'tile.id' before it gives}}
    tile.gemm %a, %a, %c {tile.prefetches = array<i64: 5>} : memref<16x16xf32, #shared>, memref<16x16xf32, #shared>, memref<16x16xf32, #shared>
  }
  return
}
