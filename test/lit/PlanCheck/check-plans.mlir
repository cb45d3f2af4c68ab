// RUN: tw-opt %s -tile-check-plans=arch=sm_90 -verify-diagnostics
// Plans that do what their loops say: the checker is silent.

#vectors = #tile.fragment<[128], "(i) -> thread i // 4, slot i % 4">

func.func @vector(%A: memref<128xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (128) attributes {tile.distribution = #vectors} {
      %v = tile.load %A[%i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3] sources = [0, 1, 2, 3] anchors = [0] deltas = [0]>} : memref<128xf32, #tile.space<global>>
      tile.store %v, %A[%i] {tile.access = #tile.access<width = 2 slots = [0, 1, 2, 3]>} : memref<128xf32, #tile.space<global>>
    }
  }
  return
}

// Every block is in bounds, whatever n is; a group never meets the bound of a row.
func.func @run_time_rows(%A: memref<?x128xf32, #tile.space<global>> {tile.name = "A", tile.shape = #tile.shape<"()[n] -> (n, 128)">}, %n: index {tile.symbol = "n"}) {
  tile.kernel (%bx) in (%n) threads [32] {
    tile.parallel (%i) in (128) attributes {tile.distribution = #vectors} {
      %v = tile.load %A[%bx, %i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3]>} : memref<?x128xf32, #tile.space<global>>
    }
  }
  return
}

// A loaded index is the same for all columns, so their order is known.
func.func @gather(%A: memref<64x128xf32, #tile.space<global>>, %rows: memref<8xi32, #tile.space<global>>) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [32] {
    %row = tile.load %rows[%bx] : memref<8xi32, #tile.space<global>>
    %r = arith.index_cast %row : i32 to index
    tile.parallel (%i) in (128) attributes {tile.distribution = #vectors} {
      %v = tile.load %A[%r, %i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3] sources = [0, 1, 2, 3] anchors = [0] deltas = [0] guarded = [0]>} : memref<64x128xf32, #tile.space<global>>
    }
  }
  return
}

// Slots 0 and 1 read one element; only the first copy of an iteration is stored.
func.func @shared_element(%A: memref<2xf32, #tile.space<global>>, %B: memref<4xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [2] {
    tile.parallel (%i) in (4) attributes {tile.distribution = #tile.fragment<[4], "(i) rep r of 2 -> thread r, slot i">} {
      %h = tile.floordiv %i, %c2 : index
      %v = tile.load %A[%h] {tile.access = #tile.access<width = 2 slots = [0, 2] sources = [0, 0, 1, 1]>} : memref<2xf32, #tile.space<global>>
      tile.store %v, %B[%i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3]>} : memref<4xf32, #tile.space<global>>
    }
  }
  return
}
