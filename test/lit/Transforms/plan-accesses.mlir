// RUN: tw-opt %s -tile-plan-accesses=arch=sm_80 -tile-check-plans=arch=sm_80 2>/dev/null | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tw-opt %s -tile-plan-accesses=arch=sm_90 -tile-check-plans=arch=sm_90 2>/dev/null | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: tw-opt %s -tile-plan-accesses=arch=sm_90 -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// One procedure decides all of these. The first three are the seed's dQ: in its own layout, without
// one, and in one that keeps a thread's four results together.

// CHECK-LABEL: func.func @annotated
// REMARK: dQ: 1 x red.global.add.f32 (2 wide refused: slots 0, 1 of thread 0 lie 32 elements apart in dQ's layout); a warp covers one 128-byte line
func.func @annotated(%dQ: memref<16x8xf32, #tile.space<global>> {tile.name = "dQ"}, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.annotate_layout %dQ : memref<16x8xf32, #tile.space<global>> is #tile.layout<[16, 8], "(l, d) -> (l // 8, d % 2, 4 * (l % 8) + d // 2)">
    tile.parallel (%i, %j) in (16, 8) attributes {tile.distribution = #tile.fragment<[16, 8], "(i, j) -> thread 4 * (i % 8) + j // 2, slot 2 * (i // 8) + j % 2">} {
      // CHECK: tile.atomic_element {{.*}}<width = 1 slots = [0, 1, 2, 3] anchors = [0, 0, 0, 0] deltas = [0, 32, 64, 96]>
      %p = tile.atomic_element add %x, %dQ[%i, %j] : memref<16x8xf32, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: func.func @row_major
// REMARK: dQ: 2 x red.global.add.v2.f32 (4 wide refused: slots 0, 2 of thread 0 lie 64 elements apart); a warp covers 2 lines of 128 bytes
func.func @row_major(%dQ: memref<16x8xf32, #tile.space<global>> {tile.name = "dQ"}, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i, %j) in (16, 8) attributes {tile.distribution = #tile.fragment<[16, 8], "(i, j) -> thread 4 * (i % 8) + j // 2, slot 2 * (i // 8) + j % 2">} {
      // SM80: tile.atomic_element {{.*}}<width = 1 slots = [0, 1, 2, 3]
      // SM90: tile.atomic_element {{.*}}<width = 2 slots = [0, 1, 2, 3] anchors = [0, 0] deltas = [0, 64]>
      %p = tile.atomic_element add %x, %dQ[%i, %j] : memref<16x8xf32, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: func.func @quads
// REMARK: dQ: 4 x red.global.add.v4.f32; a warp covers 4 lines of 128 bytes
func.func @quads(%dQ: memref<16x8xf32, #tile.space<global>> {tile.name = "dQ"}, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.annotate_layout %dQ : memref<16x8xf32, #tile.space<global>> is #tile.layout<[16, 8], "(l, d) -> (4 * (l % 8) + d // 2, 2 * (l // 8) + d % 2)">
    tile.parallel (%i, %j) in (16, 8) attributes {tile.distribution = #tile.fragment<[16, 8], "(i, j) -> thread 4 * (i % 8) + j // 2, slot 2 * (i // 8) + j % 2">} {
      // SM80: tile.atomic_element {{.*}}<width = 1
      // SM90: tile.atomic_element {{.*}}<width = 4 slots = [0, 1, 2, 3] anchors = [0] deltas = [0]>
      %p = tile.atomic_element add %x, %dQ[%i, %j] : memref<16x8xf32, #tile.space<global>>
    }
  }
  return
}

// Registers are only registers: a 16-byte read of a swizzled tile beside a scalar update.
// CHECK-LABEL: func.func @from_shared
// REMARK: s: 4 x ld.shared.v4.f32
// REMARK: dK: 4 x red.global.add.v4.f32; a warp covers 4 lines of 128 bytes
func.func @from_shared(%dK: memref<64x32xf32, #tile.space<global>> {tile.name = "dK"}) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [32] {
    %s = tile.alloc "s" {tile.placement = #tile.layout<[8, 32], "(i, j) -> (i, j ^ 4 * i)">} : memref<8x32xf32, #tile.space<shared>>
    %base = arith.muli %bx, %c8 : index
    tile.parallel (%i, %j) in (8, 32) attributes {tile.distribution = #tile.fragment<[256], "(n) -> thread n // 4 % 32, slot 4 * (n // 128) + n % 4">} {
      // CHECK: tile.load {{.*}}<width = 4 slots = [0, 1, 2, 3, 4, 5, 6, 7]
      %v = tile.load %s[%i, %j] : memref<8x32xf32, #tile.space<shared>>
      %row = arith.addi %base, %i : index
      // SM80: tile.atomic_element {{.*}}<width = 1
      // SM90: tile.atomic_element {{.*}}<width = 4 slots = [0, 1, 2, 3, 4, 5, 6, 7] anchors = [0, 0] deltas = [0, 128]>
      %p = tile.atomic_element add %v, %dK[%row, %j] : memref<64x32xf32, #tile.space<global>>
    }
  }
  return
}

// An index that memory decides is not known, even where the loop's first variable is always 0.
// CHECK-LABEL: func.func @gather
// REMARK: I: 4 x ld.global.v4.b32
// REMARK: A: 1 x ld.global.f32 (2 wide refused: slots 0, 1 of thread 0 lie a run-time distance apart)
func.func @gather(%A: memref<128xf32, #tile.space<global>> {tile.name = "A"}, %I: memref<128xi32, #tile.space<global>> {tile.name = "I"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i, %j) in (1, 128) attributes {tile.distribution = #tile.fragment<[128], "(n) -> thread n // 4, slot n % 4">} {
      %n = tile.load %I[%j] : memref<128xi32, #tile.space<global>>
      %index = tile.cast %n from i32 to index
      // CHECK: tile.load %arg0{{.*}}<width = 1 slots = [0, 1, 2, 3] anchors = [0, 1, 2, 3] deltas = [0, 0, 0, 0] guarded = [0]>
      %v = tile.load %A[%index] : memref<128xf32, #tile.space<global>>
    }
  }
  return
}

// A row that memory decides outside the loop is one row for all columns.
// CHECK-LABEL: func.func @row_of_a_table
// REMARK: A: 4 x ld.global.v4.f32
func.func @row_of_a_table(%A: memref<64x128xf32, #tile.space<global>> {tile.name = "A"}, %I: memref<8xi32, #tile.space<global>>) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [32] {
    %n = tile.load %I[%bx] : memref<8xi32, #tile.space<global>>
    tile.parallel (%j) in (128) attributes {tile.distribution = #tile.fragment<[128], "(n) -> thread n // 4, slot n % 4">} {
      %row = tile.cast %n from i32 to index
      // CHECK: tile.load %arg0{{.*}}<width = 4 slots = [0, 1, 2, 3] anchors = [0] deltas = [0] guarded = [0]>
      %v = tile.load %A[%row, %j] : memref<64x128xf32, #tile.space<global>>
    }
  }
  return
}

// Rows of a run-time length: wide where the launcher promises a divisor of the length, both for
// where a row starts and for where it ends.
// CHECK-LABEL: func.func @promised_divisor
// REMARK: A: 4 x ld.global.v4.f32
func.func @promised_divisor(%A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.shape = #tile.shape<"()[m, n] -> (m, n)">},
    %m: index {tile.symbol = "m"}, %n: index {tile.symbol = "n", tile.divisor = 16 : i64}) {
  tile.kernel (%bx, %by) in (%m, %n) threads [32] {
    %c128 = arith.constant 128 : index
    %start = arith.muli %by, %c128 : index
    tile.parallel (%j) in (128) attributes {tile.distribution = #tile.fragment<[128], "(n) -> thread n // 4, slot n % 4">} {
      %column = arith.addi %start, %j : index
      // CHECK: tile.load %arg0{{.*}}<width = 4 slots = [0, 1, 2, 3] anchors = [0] deltas = [0] guarded = [1]>
      %v = tile.load %A[%bx, %column] : memref<?x?xf32, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: func.func @smaller_divisor
// REMARK: A: 2 x ld.global.v2.f32 (4 wide refused: slots 0, 1, 2, 3 of thread 0 may lie on both sides of the bound of dimension 1 (known only at launch))
func.func @smaller_divisor(%A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.shape = #tile.shape<"()[m, n] -> (m, n * 2)">},
    %m: index {tile.symbol = "m"}, %n: index {tile.symbol = "n"}) {
  %c0 = arith.constant 0 : index
  tile.kernel (%bx) in (%m) threads [32] {
    tile.parallel (%j) in (128) attributes {tile.distribution = #tile.fragment<[128], "(n) -> thread n // 4, slot n % 4">} {
      // CHECK: tile.load %arg0{{.*}}<width = 2 slots = [0, 1, 2, 3]
      %v = tile.load %A[%c0, %j] : memref<?x?xf32, #tile.space<global>>
    }
  }
  return
}

// A branch that whole vectors take does not narrow them; one that may fall inside a vector does.
// CHECK-LABEL: func.func @branches
// REMARK: A: 4 x ld.global.v4.f32
// REMARK: A: 2 x ld.global.v2.f32 (4 wide refused: slots 0, 1, 2, 3 of thread 16 may take different branches)
// REMARK: A: 1 x ld.global.f32 (it stands inside a branch on a value that is no comparison of indices)
func.func @branches(%A: memref<128xf32, #tile.space<global>> {tile.name = "A"}, %M: memref<128xi1, #tile.space<global>> {tile.name = "M"}) {
  %c64 = arith.constant 64 : index
  %c66 = arith.constant 66 : index
  tile.kernel (%bx) in (%c64) threads [32] {
    tile.parallel (%j) in (128) attributes {tile.distribution = #tile.fragment<[128], "(n) -> thread n // 4, slot n % 4">} {
      %below = arith.cmpi slt, %j, %c64 : index
      scf.if %below {
        // CHECK: tile.load %arg0{{.*}}<width = 4 slots = [0, 1, 2, 3]
        %v = tile.load %A[%j] : memref<128xf32, #tile.space<global>>
      }
      %inside = arith.cmpi slt, %j, %c66 : index
      scf.if %inside {
        // CHECK: tile.load %arg0{{.*}}<width = 2 slots = [0, 1, 2, 3]
        %v = tile.load %A[%j] : memref<128xf32, #tile.space<global>>
      }
      %mask = tile.load %M[%j] : memref<128xi1, #tile.space<global>>
      scf.if %mask {
        // CHECK: tile.load %arg0{{.*}}<width = 1 slots = [0, 1, 2, 3]
        %v = tile.load %A[%j] : memref<128xf32, #tile.space<global>>
      }
    }
  }
  return
}

// What loops and branches around an access make sure of needs no test of the bounds.
// CHECK-LABEL: func.func @known_inside
func.func @known_inside(%A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.shape = #tile.shape<"()[m, n] -> (m, n)">},
    %m: index {tile.symbol = "m"}, %n: index {tile.symbol = "n"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c31 = arith.constant 31 : index
  %whole = tile.floordiv %n, %c32 : index
  %up = arith.addi %n, %c31 : index
  %rounded = tile.floordiv %up, %c32 : index
  tile.kernel (%bx, %by) in (%m, %rounded) threads [32] {
    scf.for %k = %c0 to %whole step %c1 {
      %start = arith.muli %k, %c32 : index
      tile.parallel (%j) in (32) attributes {tile.distribution = #tile.fragment<[32], "(n) -> thread n, slot 0">} {
        %column = arith.addi %start, %j : index
        // CHECK: tile.load %arg0{{.*}}<width = 1 slots = [0] anchors = [0] deltas = [0]>
        %v = tile.load %A[%bx, %column] : memref<?x?xf32, #tile.space<global>>
      }
    }
    %block = arith.muli %by, %c32 : index
    tile.parallel (%j) in (32) attributes {tile.distribution = #tile.fragment<[32], "(n) -> thread n, slot 0">} {
      %column = arith.addi %block, %j : index
      // CHECK: tile.load %arg0{{.*}}<width = 1 slots = [0] anchors = [0] deltas = [0] guarded = [1]>
      %v = tile.load %A[%bx, %column] : memref<?x?xf32, #tile.space<global>>
      %inside = arith.cmpi slt, %column, %n : index
      scf.if %inside {
        // CHECK: tile.load %arg0{{.*}}<width = 1 slots = [0] anchors = [0] deltas = [0]>
        %w = tile.load %A[%bx, %column] : memref<?x?xf32, #tile.space<global>>
      } else {
        // CHECK: tile.load %arg0{{.*}}guarded = [1]>
        %w = tile.load %A[%bx, %column] : memref<?x?xf32, #tile.space<global>>
      }
    }
  }
  return
}

// A row that a table names inside the loop: one number for all columns of the row, so vectors along
// it are as wide as in any row; neighbours that the table chooses are not.
// CHECK-LABEL: func.func @rows_of_a_table
// REMARK: A: 4 x ld.global.v4.f32
// REMARK: B: 1 x ld.global.f32 (2 wide refused: slots 0, 4 of thread 0 lie 128 elements apart)
func.func @rows_of_a_table(%A: memref<64x16xf32, #tile.space<global>> {tile.name = "A"}, %B: memref<64x16xf32, #tile.space<global>> {tile.name = "B"}, %I: memref<32xi32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i, %j) in (32, 16) attributes {tile.distribution = #tile.fragment<[32, 16], "(i, j) -> thread i % 8 * 4 + j // 4, slot i // 8 * 4 + j % 4">} {
      %n = tile.load %I[%i] : memref<32xi32, #tile.space<global>>
      %row = tile.cast %n from i32 to index
      // CHECK: tile.load %arg0{{.*}}<width = 4 slots = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
      %v = tile.load %A[%row, %j] : memref<64x16xf32, #tile.space<global>>
      %m = tile.load %I[%j] : memref<32xi32, #tile.space<global>>
      %column = tile.cast %m from i32 to index
      // CHECK: tile.load %arg1{{.*}}<width = 1
      %w = tile.load %B[%i, %column] : memref<64x16xf32, #tile.space<global>>
    }
  }
  return
}

// A view that names the elements of a tile by one number: they lie where the rows of the tile do.
// CHECK-LABEL: func.func @rows_of_a_view
func.func @rows_of_a_view(%x: f32) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [32] {
    %s = tile.alloc "s" {tile.placement = #tile.layout<[4, 32], "(i, j) -> (i, j)">} : memref<4x32xf32, #tile.space<shared>>
    %flat = tile.view %s : memref<4x32xf32, #tile.space<shared>> to memref<128xf32, #tile.space<shared>>
    tile.parallel (%n) in (128) attributes {tile.distribution = #tile.fragment<[128], "(n) -> thread n % 32, slot n // 32">} {
      // CHECK: tile.store {{.*}}<width = 1 slots = [0, 1, 2, 3] anchors = [0, 0, 0, 0] deltas = [0, 32, 64, 96]>
      tile.store %x, %flat[%n] : memref<128xf32, #tile.space<shared>>
    }
  }
  return
}

// Updates of narrow elements by themselves, and by twos.
// CHECK-LABEL: func.func @narrow_updates
// REMARK: h: 1 x red.global.add.f16 (
// REMARK: p: 2 x red.global.add.f16x2
// REMARK: n: 1 x red.global.add.b16 (
func.func @narrow_updates(%h: memref<64xf16, #tile.space<global>> {tile.name = "h"}, %p: memref<64xf16, #tile.space<global>> {tile.name = "p"}, %n: memref<64xi16, #tile.space<global>> {tile.name = "n"}, %x: f16, %y: i16) {
  %c2 = arith.constant 2 : index
  tile.kernel (%bx) in (%c2) threads [32] {
    tile.parallel (%i) in (32) attributes {tile.distribution = #tile.fragment<[32], "(i) -> thread i, slot 0">} {
      %o = tile.atomic_element add %x, %h[%i] : memref<64xf16, #tile.space<global>>
    }
    tile.parallel (%i) in (64) attributes {tile.distribution = #tile.fragment<[64], "(i) -> thread i // 2, slot i % 2">} {
      %o = tile.atomic_element add %x, %p[%i] : memref<64xf16, #tile.space<global>>
    }
    tile.parallel (%i) in (32) attributes {tile.distribution = #tile.fragment<[32], "(i) -> thread i, slot 0">} {
      %o = tile.atomic_element add %y, %n[%i] : memref<64xi16, #tile.space<global>>
    }
  }
  return
}
