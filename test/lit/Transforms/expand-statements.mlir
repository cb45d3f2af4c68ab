// RUN: tw-opt %s -tile-expand-statements | FileCheck %s
// Every element-wise statement becomes a loop of loads and stores; unit dimensions are skipped.

// CHECK-LABEL: func.func @copy_converts
func.func @copy_converts(%A: memref<64x32xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : memref<64x32xf32, #tile.space<shared>>
    // CHECK: tile.parallel (%[[I:.*]], %[[J:.*]]) in (64, 32)
    // CHECK-NEXT: %[[V:.*]] = tile.load %{{.*}}[%[[I]], %[[J]]]
    // CHECK-NEXT: %[[W:.*]] = tile.cast %[[V]] from f16 to f32
    // CHECK-NEXT: tile.store %[[W]], %{{.*}}[%[[I]], %[[J]]]
    // CHECK-NOT: tile.copy
    tile.copy %A, %s : memref<64x32xf16, #tile.space<global>> to memref<64x32xf32, #tile.space<shared>>
  }
  return
}

// CHECK-LABEL: func.func @fill_and_atomic
func.func @fill_and_atomic(%A: memref<8xf32, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %f = tile.alloc "f" : memref<8xf32, #tile.space<fragment>>
    // CHECK: tile.parallel (%[[I:.*]]) in (8)
    // CHECK-NEXT: tile.store %{{.*}}, %{{.*}}[%[[I]]]
    tile.fill %zero, %f : f32, memref<8xf32, #tile.space<fragment>>
    // CHECK: tile.parallel (%[[J:.*]]) in (8)
    // CHECK-NEXT: %[[V:.*]] = tile.load %{{.*}}[%[[J]]]
    // CHECK-NEXT: tile.atomic_element add %[[V]], %{{.*}}[%[[J]]] order acq_rel
    tile.atomic add %f, %A order acq_rel : memref<8xf32, #tile.space<fragment>>, memref<8xf32, #tile.space<global>>
  }
  return
}

// A statement reads all before it writes: a part that moves within its buffer goes through a fragment,
// unless the two parts lie apart.
// CHECK-LABEL: func.func @moves_within_one_buffer
func.func @moves_within_one_buffer(%A: memref<64xf32, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %low = tile.slice %A[0] [63] [1] : memref<64xf32, #tile.space<global>> to memref<63xf32, #tile.space<global>>
    %high = tile.slice %A[1] [63] [1] : memref<64xf32, #tile.space<global>> to memref<63xf32, #tile.space<global>>
    // CHECK: %[[MOVED:.*]] = tile.alloc "moved" : memref<63xf32, #tile.space<fragment>>
    // CHECK: tile.parallel
    // CHECK: tile.store %{{.*}}, %[[MOVED]]
    // CHECK: tile.parallel
    // CHECK: tile.load %[[MOVED]]
    tile.copy %low, %high : memref<63xf32, #tile.space<global>> to memref<63xf32, #tile.space<global>>
    %first = tile.slice %A[0] [32] [1] : memref<64xf32, #tile.space<global>> to memref<32xf32, #tile.space<global>>
    %second = tile.slice %A[32] [32] [1] : memref<64xf32, #tile.space<global>> to memref<32xf32, #tile.space<global>>
    // CHECK-NOT: tile.alloc
    tile.copy %first, %second : memref<32xf32, #tile.space<global>> to memref<32xf32, #tile.space<global>>
  }
  return
}

// One thread updates; the others read the previous value from shared memory.
// CHECK-LABEL: func.func @previous_value
func.func @previous_value(%A: memref<1xi32, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: %[[TILE:.*]] = tile.alloc "A" : memref<1xi32, #tile.space<shared>>
    // CHECK: tile.parallel
    // CHECK-NEXT: %[[OLD:.*]] = tile.atomic_element
    // CHECK-NEXT: tile.store %[[OLD]], %[[TILE]]
    // CHECK: tile.load %[[TILE]]
    %old = tile.atomic_element add %one, %A[%c0] : memref<1xi32, #tile.space<global>>
    tile.store %old, %A[%c0] : memref<1xi32, #tile.space<global>>
  }
  return
}

// A schedule by hand numbers statements that no longer exist; its depth stays.
// CHECK-LABEL: func.func @schedule
func.func @schedule(%A: memref<64x8xf32, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
    // CHECK: tile.pipelined {{.*}} stages 3 {
    tile.pipelined %k = %c0 to %c64 stages 0 order [1, 0] stage [0, 2] {
      %row = tile.slice %A[%k, 0] [1, 8] [1, 1] drop [0] : memref<64x8xf32, #tile.space<global>> to memref<8xf32, #tile.space<global>>
      tile.copy %row, %s : memref<8xf32, #tile.space<global>> to memref<8xf32, #tile.space<shared>>
      tile.copy %s, %row : memref<8xf32, #tile.space<shared>> to memref<8xf32, #tile.space<global>>
    }
  }
  return
}
