// RUN: tw-opt %s -split-input-file -verify-diagnostics | FileCheck %s

func.func @round_trip(%n: index) {
  // CHECK: tile.kernel
  tile.kernel (%bx) in (%n) threads [256] {
    // CHECK-NEXT: tile.turn open of 2 at 2
    // CHECK-NEXT: tile.turn take of 2 at 2
    // CHECK-NEXT: tile.turn pass of 2 at 2
    // CHECK-NEXT: tile.turn close of 2 at 2
    tile.turn open of 2 at 2
    tile.turn take of 2 at 2
    tile.turn pass of 2 at 2
    tile.turn close of 2 at 2
  }
  return
}

// -----

func.func @other_threads(%n: index) {
  tile.kernel (%bx) in (%n) threads [256] {
    // expected-error @below {{'tile.turn' op of 3 warpgroups: expected those of a kernel, two at least}}
    tile.turn take of 3 at 2
  }
  return
}

// -----

func.func @one_warpgroup(%n: index) {
  tile.kernel (%bx) in (%n) threads [128] {
    // expected-error @below {{'tile.turn' op of 1 warpgroups: expected those of a kernel, two at least}}
    tile.turn take of 1 at 2
  }
  return
}

// -----

func.func @too_many_barriers(%n: index) {
  tile.kernel (%bx) in (%n) threads [256] {
    // expected-error @below {{'tile.turn' op needs 2 barriers from 15 on; there are 16}}
    tile.turn take of 2 at 15
  }
  return
}
