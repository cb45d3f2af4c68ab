// RUN: tw-opt %s -tile-insert-orderings | FileCheck %s
// Bulk stores run on after their group: the tile must not be written, nor the block end, before they have
// read it. What threads wrote before is fenced for the asynchronous proxy.

!c = memref<1024xf32, #tile.space<global>>
!tile = memref<1024xf32, #tile.space<shared>>
#linear = #tile.layout<[1024], "(i) -> (i)">

// CHECK-LABEL: func.func @end
// CHECK: tile.fill
// CHECK-NEXT: tile.barrier {tile.proxy_fence}
// CHECK-NEXT: tile.bulk_group
// CHECK: tile.bulk_wait 0 read
// CHECK-NEXT: }
func.func @end(%C: !c) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" {tile.placement = #linear, tile.offset = 0 : i64} : !tile
    tile.fill %zero, %s : f32, !tile
    tile.bulk_group {
      tile.parallel (%i) in (1024) attributes {tile.span = #tile.span<bytes = 4096>} {
        %v = tile.load %s[%i] : !tile
        tile.store %v, %C[%i] : !c
      }
    }
  }
  return
}

// Two tiles in turn: the first may be written while the second is being stored.
// CHECK-LABEL: func.func @turns
// CHECK: tile.bulk_group
// CHECK: tile.bulk_group
// CHECK: tile.bulk_wait 1 read
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fill %{{.*}}, %s
// CHECK-NEXT: tile.bulk_wait 0 read
// CHECK-NEXT: }
func.func @turns(%C: !c, %D: !c) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" {tile.placement = #linear, tile.offset = 0 : i64} : !tile
    %t = tile.alloc "t" {tile.placement = #linear, tile.offset = 4096 : i64} : !tile
    tile.bulk_group {
      tile.parallel (%i) in (1024) attributes {tile.span = #tile.span<bytes = 4096>} {
        %v = tile.load %s[%i] : !tile
        tile.store %v, %C[%i] : !c
      }
    }
    tile.bulk_group {
      tile.parallel (%i) in (1024) attributes {tile.span = #tile.span<bytes = 4096>} {
        %v = tile.load %t[%i] : !tile
        tile.store %v, %D[%i] : !c
      }
    }
    tile.fill %zero, %s : f32, !tile
  }
  return
}

// A loop that adds: the wait stands before the next iteration writes the tile. Additions need no order.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK-NEXT: tile.bulk_wait 0 read
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fill
// CHECK-NEXT: tile.barrier {tile.proxy_fence}
// CHECK-NEXT: tile.bulk_group
// CHECK: tile.bulk_wait 0 read
// CHECK-NEXT: }
func.func @loop(%C: !c) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" {tile.placement = #linear, tile.offset = 0 : i64} : !tile
    scf.for %k = %c0 to %c4 step %c1 {
      tile.fill %zero, %s : f32, !tile
      tile.bulk_group {
        tile.parallel (%i) in (1024) attributes {tile.span = #tile.span<bytes = 4096>} {
          %v = tile.load %s[%i] : !tile
          %old = tile.atomic_element add %v, %C[%i] : !c
        }
      }
    }
  }
  return
}

// The tensor itself: threads that write it before fence for all memory; those that write it after wait
// until it is written.
// CHECK-LABEL: func.func @tensor
// CHECK: tile.fill %{{.*}}, %{{.*}} : f32, memref<1024xf32, #tile.space<global>>
// CHECK-NEXT: tile.barrier {tile.proxy_fence = "all"}
// CHECK-NEXT: tile.bulk_group
// CHECK: tile.bulk_wait 0
// CHECK-NOT: read
// CHECK: tile.barrier
// CHECK-NEXT: tile.fill
func.func @tensor(%C: !c) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" {tile.placement = #linear, tile.offset = 0 : i64} : !tile
    tile.fill %zero, %C : f32, !c
    tile.bulk_group {
      tile.parallel (%i) in (1024) attributes {tile.span = #tile.span<bytes = 4096>} {
        %v = tile.load %s[%i] : !tile
        %old = tile.atomic_element add %v, %C[%i] : !c
      }
    }
    tile.fill %zero, %C : f32, !c
  }
  return
}
