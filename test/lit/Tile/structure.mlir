// RUN: tw-opt %s | tw-opt | FileCheck %s
// RUN: tw-opt %s -o %t.first && tw-opt %t.first -o %t.second && diff %t.first %t.second
// RUN: tw-opt %s -mlir-print-op-generic | tw-opt | FileCheck %s
// Kernels and loops keep their readable form through text, and through the generic form.

// CHECK-LABEL: func.func @grid_of_three
// CHECK-SAME: (%[[N:.*]]: index)
func.func @grid_of_three(%n: index) {
  %c2 = arith.constant 2 : index
  // CHECK: tile.kernel (%bx, %by, %bz) in (%{{.*}}, %[[N]], %[[N]]) threads [16, 8, 4] {
  // CHECK-NEXT: }
  tile.kernel (%x, %y, %z) in (%c2, %n, %n) threads [16, 8, 4] {
  }
  // The terminator may be written; it is not printed.
  // CHECK: tile.kernel (%bx) in (%[[N]]) threads [128] attributes {note = "second launch"} {
  // CHECK-NEXT: }
  tile.kernel (%x) in (%n) threads [128] attributes {note = "second launch"} {
    tile.yield
  }
  return
}

// CHECK-LABEL: func.func @parallel
func.func @parallel(%n: index) {
  tile.kernel (%bx) in (%n) threads [128] {
    // CHECK: tile.parallel (%i, %j) in (64, %{{.*}}) {
    tile.parallel (%a, %b) in (64, %n) {
    }
    // CHECK: tile.parallel (%i) in (0) {
    tile.parallel (%a) in (0) {
    }
    // CHECK: tile.parallel (%i) in (32) attributes {coalescedWidth = 4 : i64,
    // CHECK-SAME: loopLayout = #tile.fragment<[32], "(i) -> thread i, slot 0">} {
    tile.parallel (%i) in (32)
        attributes {coalescedWidth = 4 : i64, loopLayout = #tile.fragment<[32], "(i) -> thread i, slot 0">} {
    }
    // More iterators than there are pretty names.
    // CHECK: tile.parallel (%i, %j, %k, %l, %{{.*}}) in (1, 2, 3, 4, 5) {
    tile.parallel (%a, %b, %c, %d, %e) in (1, 2, 3, 4, 5) {
    }
  }
  return
}

// CHECK-LABEL: func.func @pipelined
func.func @pipelined(%n: index, %A: memref<8xf32, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  tile.kernel (%bx) in (%n) threads [128] {
    %s = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
    // CHECK: tile.pipelined %k = %{{.*}} to %{{.*}} stages 3 {
    tile.pipelined %x = %c0 to %n stages 3 {
    }
    // CHECK: tile.pipelined %k = %{{.*}} to %{{.*}} stages 2 order [1, 0] stage [0, 1] attributes {tag} {
    tile.pipelined %x = %c0 to %n stages 2 order [1, 0] stage [0, 1] attributes {tag} {
      tile.copy %A, %s : memref<8xf32, #tile.space<global>> to memref<8xf32, #tile.space<shared>>
      tile.copy %s, %A : memref<8xf32, #tile.space<shared>> to memref<8xf32, #tile.space<global>>
    }
    // An empty schedule fits a body without statements.
    // CHECK: tile.pipelined %k = %{{.*}} to %{{.*}} stages 0 order [] stage [] {
    tile.pipelined %x = %c0 to %n stages 0 order [] stage [] {
    }
  }
  return
}
