// RUN: tw-opt %s -split-input-file -verify-diagnostics
// Iterations of a parallel loop go their own ways: nothing in it may need all threads.

func.func @barrier(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    // expected-note @+1 {{the flow of threads divides here}}
    tile.parallel (%i) in (8) {
      // expected-error @+1 {{a barrier inside 'T.Parallel': the threads of the block work on it together and meet at barriers, but iterations take different ways; move it out of the loop}}
      tile.barrier
    }
  }
  return
}

// -----

func.func @gemm(%n: index, %a: memref<16x16xf16, #tile.space<global>>, %c: memref<16x16xf32, #tile.space<global>>, %flag: i1) {
  tile.kernel (%bx) in (%n) threads [32] {
    // expected-note @+1 {{the flow of threads divides here}}
    tile.parallel (%i) in (8) {
      scf.if %flag {
        // expected-error @+1 {{'T.gemm' inside 'T.Parallel'}}
        tile.gemm %a, %a, %c : memref<16x16xf16, #tile.space<global>>, memref<16x16xf16, #tile.space<global>>, memref<16x16xf32, #tile.space<global>>
      }
    }
  }
  return
}

// -----

func.func @reduce(%n: index, %a: memref<8x4xf32, #tile.space<global>>, %b: memref<8xf32, #tile.space<global>>) {
  tile.kernel (%bx) in (%n) threads [32] {
    // expected-note @+1 {{the flow of threads divides here}}
    tile.parallel (%i) in (8) {
      // expected-error @+1 {{'T.reduce_sum' inside 'T.Parallel'}}
      tile.reduce sum %a, %b dim 1 clear : memref<8x4xf32, #tile.space<global>> to memref<8xf32, #tile.space<global>>
    }
  }
  return
}

// -----

func.func @cumsum(%n: index, %a: memref<8xf32, #tile.space<global>>) {
  tile.kernel (%bx) in (%n) threads [32] {
    // expected-note @+1 {{the flow of threads divides here}}
    tile.parallel (%i) in (8) {
      // expected-error @+1 {{'T.cumsum' inside 'T.Parallel'}}
      tile.cumsum %a, %a dim 0 : memref<8xf32, #tile.space<global>> to memref<8xf32, #tile.space<global>>
    }
  }
  return
}

// -----

func.func @tile(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    tile.parallel (%i) in (8) {
      // expected-error @+1 {{'t' is allocated inside 'T.Parallel': a tile belongs to the whole block, allocate it in front of the loop}}
      %t = tile.alloc "t" : memref<4xf32, #tile.space<shared>>
    }
  }
  return
}

// -----

func.func @group(%n: index, %a: memref<8xf32, #tile.space<global>>, %x: f32) {
  tile.kernel (%bx) in (%n) threads [32] {
    tile.async_group %bx below %n {
      // expected-error @+1 {{'tile.fill' op in 'tile.async_group', which holds copies ('tile.parallel') and the arithmetic of their indices}}
      tile.fill %x, %a : f32, memref<8xf32, #tile.space<global>>
    }
  }
  return
}

// -----

func.func @version(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    // expected-error @+1 {{'tile.version' op of 0 versions, expected at least 1}}
    %v = tile.version %bx from %n ahead 0 of 0
  }
  return
}
