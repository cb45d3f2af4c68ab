// RUN: tw-opt %s -tile-insert-orderings | FileCheck %s
// Threads meet in front of a turn for what is done in it, and never inside.

!tile = memref<256xf32, #tile.space<shared>>
!own = memref<256xf32, #tile.space<fragment>>
!tensor = memref<256xf32, #tile.space<global>>

// What a turn reads was written before it: there the barrier stands, and not in front of the reader.
// CHECK-LABEL: func.func @before
// CHECK: tile.copy %{{.*}}, %s
// CHECK-NEXT: tile.turn take
// CHECK-NEXT: tile.turn pass
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.turn take
// CHECK-NEXT: tile.copy %f, %g
// CHECK-NEXT: tile.copy %s, %f
// CHECK-NEXT: tile.turn pass
func.func @before(%A: !tensor, %n: index) {
  tile.kernel (%bx) in (%n) threads [256] {
    %s = tile.alloc "s" : !tile
    %f = tile.alloc "f" : !own
    %g = tile.alloc "g" : !own
    tile.turn open of 2 at 2
    tile.copy %A, %s : !tensor to !tile
    tile.turn take of 2 at 2
    tile.turn pass of 2 at 2
    tile.turn take of 2 at 2
    tile.copy %f, %g : !own to !own
    tile.copy %s, %f : !tile to !own
    tile.turn pass of 2 at 2
    tile.turn close of 2 at 2
  }
  return
}

// The turn goes on over the end of an iteration. In the next one, it reads what this one wrote.
// CHECK-LABEL: func.func @over_the_end
// CHECK: tile.turn take
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile.copy %s, %f
// CHECK-NEXT: tile.turn pass
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.copy %{{.*}}, %s
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.turn take
// CHECK-NEXT: }
// CHECK-NEXT: tile.turn pass
func.func @over_the_end(%A: !tensor, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%n) threads [256] {
    %s = tile.alloc "s" : !tile
    %f = tile.alloc "f" : !own
    tile.turn open of 2 at 2
    tile.turn take of 2 at 2
    scf.for %k = %c0 to %n step %c1 {
      tile.copy %s, %f : !tile to !own
      tile.turn pass of 2 at 2
      tile.copy %A, %s : !tensor to !tile
      tile.turn take of 2 at 2
    }
    tile.turn pass of 2 at 2
    tile.turn close of 2 at 2
  }
  return
}

// Nothing in the turn needs what was done before it: no thread waits for others.
// CHECK-LABEL: func.func @nothing_before
// CHECK: tile.copy %{{.*}}, %s
// CHECK-NEXT: tile.turn take
// CHECK-NEXT: tile.copy %f, %g
// CHECK-NEXT: tile.turn pass
func.func @nothing_before(%A: !tensor, %n: index) {
  tile.kernel (%bx) in (%n) threads [256] {
    %s = tile.alloc "s" : !tile
    %f = tile.alloc "f" : !own
    %g = tile.alloc "g" : !own
    tile.turn open of 2 at 2
    tile.copy %A, %s : !tensor to !tile
    tile.turn take of 2 at 2
    tile.copy %f, %g : !own to !own
    tile.turn pass of 2 at 2
    tile.turn close of 2 at 2
  }
  return
}
