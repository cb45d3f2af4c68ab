// RUN: tw-opt %s -tile-split-grid -split-input-file -verify-diagnostics

#global = #tile.space<global>
#shared = #tile.space<shared>

func.func @tile(%x: memref<64xf32, #global>, %n: index) {
  tile.kernel (%b) in (%n) threads [64] {
    // expected-note @+1 {{'sums' is allocated here}}
    %sums = tile.alloc "sums" : memref<64xf32, #shared>
    tile.copy %x, %sums : memref<64xf32, #global> to memref<64xf32, #shared>
    // expected-error @+1 {{'T.sync_grid' ends the blocks, but 'sums' may be read after it with values from before; store them in a global tensor and read them from there}}
    tile.grid_sync
    tile.copy %sums, %x : memref<64xf32, #shared> to memref<64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>

func.func @value(%x: memref<64xf32, #global>, %n: index) {
  tile.kernel (%b) in (%n) threads [64] {
    // expected-note @+1 {{it is read here}}
    %old = tile.load %x[%b] : memref<64xf32, #global>
    // expected-error @+1 {{'T.sync_grid' ends the blocks, but a value from before is used after it; read it again}}
    tile.grid_sync
    // expected-note @+1 {{and used here}}
    tile.store %old, %x[%b] : memref<64xf32, #global>
  }
  return
}

// -----

#shared = #tile.space<shared>

func.func @barrier(%n: index) {
  %c0 = arith.constant 0 : index
  tile.kernel (%b) in (%n) threads [64] {
    // expected-note @+1 {{'ready' is allocated here}}
    %ready = tile.barrier_alloc "ready" arrivals [64] : memref<1xi64, #shared>
    tile.barrier_arrive %ready[%c0] : memref<1xi64, #shared>
    // expected-error @+1 {{'T.sync_grid' ends the blocks, but 'ready' may be read after it}}
    tile.grid_sync
    tile.barrier_wait %ready[%c0] parity %c0 : memref<1xi64, #shared>
  }
  return
}
