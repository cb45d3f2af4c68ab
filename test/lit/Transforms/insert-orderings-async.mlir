// RUN: tw-opt %s -tile-insert-orderings | FileCheck %s
// Asynchronous copies: the wait leaves as many groups under way as is right, and shares its barrier with
// other hazards. Versions of a tile conflict only with themselves.

!tensor = memref<32xf32, #tile.space<global>>
!tile = memref<32xf32, #tile.space<shared>>
!registers = memref<32xf32, #tile.space<fragment>>

// Three versions, two iterations ahead: one group stays under way. The barrier that publishes this
// iteration's version also frees that of the last one.
// CHECK-LABEL: func.func @three_versions
// CHECK: tile.pipelined
// CHECK: tile.async_wait 1
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.async_group
// CHECK-NOT: tile.barrier
// CHECK: tile.copy
// CHECK-NOT: tile.barrier
// CHECK: return
func.func @three_versions(%A: !tensor, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" {tile.versions = 3} : memref<3x32xf32, #tile.space<shared>>
    %f = tile.alloc "f" : !registers
    tile.async_group %c0 below %n {
      %t = tile.slice %s[0, 0] [1, 32] [1, 1] drop [0] : memref<3x32xf32, #tile.space<shared>> to !tile
      tile.parallel (%i) in (32) {
        %v = tile.load %A[%i] : !tensor
        tile.store %v, %t[%i] : !tile
      }
    }
    tile.async_group %c1 below %n {
      %t = tile.slice %s[1, 0] [1, 32] [1, 1] drop [0] : memref<3x32xf32, #tile.space<shared>> to !tile
      tile.parallel (%i) in (32) {
        %v = tile.load %A[%i] : !tensor
        tile.store %v, %t[%i] : !tile
      }
    }
    tile.pipelined %k = %c0 to %n stages 3 {
      %now = tile.version %k from %c0 ahead 0 of 3
      %next = tile.version %k from %c0 ahead 2 of 3
      %later = arith.addi %k, %c2 : index
      %current = tile.slice %s[%now, 0] [1, 32] [1, 1] drop [0] : memref<3x32xf32, #tile.space<shared>> to !tile
      tile.async_group %later below %n {
        %t = tile.slice %s[%next, 0] [1, 32] [1, 1] drop [0] : memref<3x32xf32, #tile.space<shared>> to !tile
        tile.parallel (%i) in (32) {
          %v = tile.load %A[%i] : !tensor
          tile.store %v, %t[%i] : !tile
        }
      }
      tile.copy %current, %f : !tile to !registers
    }
  }
  return
}

// One version: the copy waits for the group, the next group for the copy. The source may be written
// when the loop is over: the barriers of its iterations order all copies but that of an iteration that
// does not exist, which reads nothing.
// CHECK-LABEL: func.func @one_version
// CHECK: tile.pipelined
// CHECK: tile.async_wait 0
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.copy
// CHECK: tile.barrier
// CHECK-NEXT: tile.async_group
// CHECK-NOT: tile.async_wait
// CHECK-NOT: tile.barrier
// CHECK: tile.fill
func.func @one_version(%A: !tensor, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : !tile
    %f = tile.alloc "f" : !registers
    tile.async_group %c0 below %n {
      tile.parallel (%i) in (32) {
        %v = tile.load %A[%i] : !tensor
        tile.store %v, %s[%i] : !tile
      }
    }
    tile.pipelined %k = %c0 to %n stages 1 {
      tile.copy %s, %f : !tile to !registers
      %later = arith.addi %k, %c1 : index
      tile.async_group %later below %n {
        tile.parallel (%i) in (32) {
          %v = tile.load %A[%i] : !tensor
          tile.store %v, %s[%i] : !tile
        }
      }
    }
    tile.fill %x, %A : f32, !tensor
  }
  return
}

// The copy of the last iteration is real, and under way when the loop ends.
// CHECK-LABEL: func.func @last_iteration
// CHECK: tile.pipelined
// CHECK: tile.async_group %k
// CHECK: tile.store
// CHECK: tile.async_wait 0
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fill
func.func @last_iteration(%A: !tensor, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : !tile
    tile.pipelined %k = %c0 to %n stages 1 {
      tile.async_group %k below %n {
        tile.parallel (%i) in (32) {
          %v = tile.load %A[%i] : !tensor
          tile.store %v, %s[%i] : !tile
        }
      }
    }
    tile.fill %x, %A : f32, !tensor
  }
  return
}

// A copy under way when its tile is filled: waits, whatever the iteration.
// CHECK-LABEL: func.func @overwritten
// CHECK: tile.async_group
// CHECK: tile.async_wait 0
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.fill
func.func @overwritten(%A: !tensor, %n: index, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : !tile
    tile.async_group %bx below %n {
      tile.parallel (%i) in (32) {
        %v = tile.load %A[%i] : !tensor
        tile.store %v, %s[%i] : !tile
      }
    }
    tile.fill %x, %s : f32, !tile
  }
  return
}

// A younger group that nothing waits for stays under way.
// CHECK-LABEL: func.func @younger_group
// CHECK: tile.async_wait 1
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.copy
func.func @younger_group(%A: !tensor, %n: index) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : !tile
    %t = tile.alloc "t" : !tile
    %f = tile.alloc "f" : !registers
    tile.async_group %bx below %n {
      tile.parallel (%i) in (32) {
        %v = tile.load %A[%i] : !tensor
        tile.store %v, %s[%i] : !tile
      }
    }
    tile.async_group %bx below %n {
      tile.parallel (%i) in (32) {
        %v = tile.load %A[%i] : !tensor
        tile.store %v, %t[%i] : !tile
      }
    }
    tile.copy %s, %f : !tile to !registers
  }
  return
}

// Eleven groups before a loop of twelve versions: none fills a version twice, and all but one stay
// under way.
// CHECK-LABEL: func.func @many_versions
// CHECK-NOT: tile.barrier
// CHECK: scf.for
// CHECK-NEXT: tile.async_group
// CHECK: tile.pipelined
// CHECK: tile.async_wait 10
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.async_group
// CHECK-NOT: tile.barrier
// CHECK: return
func.func @many_versions(%A: !tensor, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c11 = arith.constant 11 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" {tile.versions = 12} : memref<12x32xf32, #tile.space<shared>>
    %f = tile.alloc "f" : !registers
    scf.for %d = %c0 to %c11 step %c1 {
      tile.async_group %d below %n {
        %t = tile.slice %s[%d, 0] [1, 32] [1, 1] drop [0] : memref<12x32xf32, #tile.space<shared>> to !tile
        tile.parallel (%i) in (32) {
          %v = tile.load %A[%i] : !tensor
          tile.store %v, %t[%i] : !tile
        }
      }
    }
    tile.pipelined %k = %c0 to %n stages 12 {
      %now = tile.version %k from %c0 ahead 0 of 12
      %next = tile.version %k from %c0 ahead 11 of 12
      %later = arith.addi %k, %c11 : index
      %current = tile.slice %s[%now, 0] [1, 32] [1, 1] drop [0] : memref<12x32xf32, #tile.space<shared>> to !tile
      tile.async_group %later below %n {
        %t = tile.slice %s[%next, 0] [1, 32] [1, 1] drop [0] : memref<12x32xf32, #tile.space<shared>> to !tile
        tile.parallel (%i) in (32) {
          %v = tile.load %A[%i] : !tensor
          tile.store %v, %t[%i] : !tile
        }
      }
      tile.copy %current, %f : !tile to !registers
    }
  }
  return
}

// A loop that only reads what was written before it meets once, in front of it.
// CHECK-LABEL: func.func @in_front_of_the_loop
// CHECK: tile.fill
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: scf.for
// CHECK-NOT: tile.barrier
// CHECK: return
func.func @in_front_of_the_loop(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : !tile
    %f = tile.alloc "f" : !registers
    tile.fill %x, %s : f32, !tile
    scf.for %k = %c0 to %n step %c1 {
      tile.copy %s, %f : !tile to !registers
    }
  }
  return
}
