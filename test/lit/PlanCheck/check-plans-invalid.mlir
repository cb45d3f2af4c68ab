// RUN: tw-opt %s -tile-check-plans=arch=sm_90 -split-input-file -verify-diagnostics
// RUN: not tw-opt %s -tile-check-plans=arch=sm_80 -split-input-file 2>&1 | FileCheck %s --check-prefix=SM80
// Every condition, broken once.

#vectors = #tile.fragment<[128], "(i) -> thread i // 4, slot i % 4">

// The bug that started the project: pairs of slots lie 32 elements apart in dQ's layout.
func.func @torn_apart(%dQ: memref<8x8xf32, #tile.space<global>> {tile.name = "dQ"}, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.annotate_layout %dQ : memref<8x8xf32, #tile.space<global>> is #tile.layout<[8, 8], "(i, j) -> (j % 2, 4 * i + j // 2)">
    tile.parallel (%i, %j) in (8, 8) attributes {tile.distribution = #tile.fragment<[8, 8], "(i, j) -> thread 4 * i + j // 2, slot j % 2">} {
      // SM80: internal error: the plan of 'dQ' (width 2) is wrong: sm_80 has no update of 2 elements
      // expected-error @below {{internal error: the plan of 'dQ' (width 2) is wrong: slots 0, 1 of thread 0 lie 32 elements apart}}
      %p = tile.atomic_element add %x, %dQ[%i, %j] {tile.access = #tile.access<width = 2 slots = [0, 1]>} : memref<8x8xf32, #tile.space<global>>
    }
  }
  return
}

// -----

#vectors = #tile.fragment<[128], "(i) -> thread i // 4, slot i % 4">

func.func @form_and_instruction(%A: memref<128xf32, #tile.space<global>> {tile.name = "A"}, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (128) attributes {tile.distribution = #vectors} {
      // expected-error @below {{the plan of 'A' (width 4) is wrong: its slots are no groups of 4}}
      %a = tile.load %A[%i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2]>} : memref<128xf32, #tile.space<global>>
      // expected-error @below {{the plan of 'A' (width 2) is wrong: slots 3, 2 of thread 0 lie -1 elements apart}}
      %b = tile.load %A[%i] {tile.access = #tile.access<width = 2 slots = [0, 1, 3, 2]>} : memref<128xf32, #tile.space<global>>
      // expected-error @below {{the plan of 'A' (width 1) is wrong: slot 3 of thread 0 is never done}}
      tile.store %a, %A[%i] {tile.access = #tile.access<width = 1 slots = [0, 1, 2]>} : memref<128xf32, #tile.space<global>>
      // expected-error @below {{the plan of 'A' (width 1) is wrong: slot 1 is in two groups}}
      tile.store %a, %A[%i] {tile.access = #tile.access<width = 1 slots = [0, 1, 1, 2, 3]>} : memref<128xf32, #tile.space<global>>
      // expected-error @below {{the plan of 'A' (width 1) is wrong: groups 0 and 2 of thread 0 do not lie their deltas apart}}
      %d = tile.load %A[%i] {tile.access = #tile.access<width = 1 slots = [0, 1, 2, 3] sources = [0, 1, 2, 3] anchors = [0, 0, 0, 0] deltas = [0, 1, 3, 3]>} : memref<128xf32, #tile.space<global>>
      // expected-error @below {{the plan of 'A' (width 1) is wrong: the anchor of group 0 has no address of its own}}
      %e = tile.load %A[%i] {tile.access = #tile.access<width = 1 slots = [0, 1, 2, 3] sources = [0, 1, 2, 3] anchors = [1, 0, 0, 0] deltas = [0, 1, 2, 3]>} : memref<128xf32, #tile.space<global>>
      // expected-error @below {{the plan of 'A' (width 1) is wrong: only reads have sources}}
      tile.store %a, %A[%i] {tile.access = #tile.access<width = 1 slots = [0, 1, 2] sources = [0, 1, 2, 0]>} : memref<128xf32, #tile.space<global>>
      // expected-error @below {{the plan of 'A' (width 1) is wrong: slots 3, 0 of thread 0 share a value and are different elements}}
      %c = tile.load %A[%i] {tile.access = #tile.access<width = 1 slots = [0, 1, 2] sources = [0, 1, 2, 0]>} : memref<128xf32, #tile.space<global>>
      // expected-error @below {{the plan of 'A' (width 4) is wrong: sm_90 has no update of 4 elements}}
      %p = tile.atomic_element max %x, %A[%i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3]>} : memref<128xf32, #tile.space<global>>
    }
    tile.parallel (%i) in (128) attributes {tile.distribution = #tile.fragment<[128], "(i) -> thread i // 8, slot i % 8">} {
      // expected-error @below {{the plan of 'A' (width 8) is wrong: no instruction moves 32 bytes}}
      %a = tile.load %A[%i] {tile.access = #tile.access<width = 8 slots = [0, 1, 2, 3, 4, 5, 6, 7]>} : memref<128xf32, #tile.space<global>>
    }
  }
  return
}

// -----

#vectors = #tile.fragment<[128], "(i) -> thread i // 4, slot i % 4">

// Bounds and alignment under values that only a launch knows.
func.func @values(%A: memref<?xf32, #tile.space<global>> {tile.name = "A", tile.shape = #tile.shape<"()[n] -> (n)">},
                  %B: memref<66x130xf32, #tile.space<global>> {tile.name = "B"}, %n: index {tile.symbol = "n"}) {
  %c127 = arith.constant 127 : index
  %c128 = arith.constant 128 : index
  %up = arith.addi %n, %c127 : index
  %blocks = tile.floordiv %up, %c128 : index
  tile.kernel (%bx) in (%blocks) threads [32] {
    %base = arith.muli %bx, %c128 : index
    tile.parallel (%i) in (128) attributes {tile.distribution = #vectors} {
      %at = arith.addi %base, %i : index
      // expected-error @below {{the plan of 'A' (width 1) is wrong: slot 1 of thread 0 leaves the bounds of dimension 0 untested}}
      %a = tile.load %A[%at] {tile.access = #tile.access<width = 1 slots = [0, 1, 2, 3]>} : memref<?xf32, #tile.space<global>>
      // expected-error @below {{the plan of 'A' (width 4) is wrong: slot 1 of thread 0 leaves the bounds of dimension 0, which its group does not}}
      %b = tile.load %A[%at] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3] sources = [0, 1, 2, 3] anchors = [0] deltas = [0] guarded = [0]>} : memref<?xf32, #tile.space<global>>
      // expected-error-re @below {{the plan of 'B' (width 4) is wrong: slot 0 of thread 0 starts at element {{[0-9]+}}, which is no multiple of 4}}
      %c = tile.load %B[%bx, %i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3] sources = [0, 1, 2, 3] anchors = [0] deltas = [0] guarded = [0]>} : memref<66x130xf32, #tile.space<global>>
    }
  }
  return
}

// -----

// Threads that do not run all of a group, or do not own it.
func.func @activity(%A: memref<6xf32, #tile.space<global>> {tile.name = "A"}, %x: f32) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  tile.kernel (%bx) in (%c1) threads [4] {
    tile.parallel (%i) in (6) attributes {tile.distribution = #tile.fragment<[6], "(i) -> thread i // 4, slot i % 4">} {
      // expected-error @below {{the plan of 'A' (width 4) is wrong: only a part of slots 0, 1, 2, 3 of thread 1 runs}}
      tile.store %x, %A[%i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3]>} : memref<6xf32, #tile.space<global>>
      %isLow = arith.cmpi ult, %i, %c3 : index
      scf.if %isLow {
        // expected-error @below {{the plan of 'A' (width 2) is wrong: a condition holds for a part of slots 2, 3 of thread 0}}
        tile.store %x, %A[%i] {tile.access = #tile.access<width = 2 slots = [0, 1, 2, 3]>} : memref<6xf32, #tile.space<global>>
      }
    }
    tile.parallel (%i) in (4) attributes {tile.distribution = #tile.fragment<[4], "(i) rep r of 2 -> thread (i + r) % 2, slot i">} {
      // expected-error @below {{the plan of 'A' (width 2) is wrong: only a part of slots 0, 1 of thread 0 is owned}}
      tile.store %x, %A[%i] {tile.access = #tile.access<width = 2 slots = [0, 1, 2, 3]>} : memref<6xf32, #tile.space<global>>
    }
    tile.parallel (%i) in (4) attributes {tile.distribution = #tile.fragment<[4], "(i) -> thread i % 2, slot 0">} {
      // expected-error @below {{the plan of 'A' (width 1) is wrong: iterations 0 and 2 of its loop share slot 0 of thread 0}}
      tile.store %x, %A[%i] {tile.access = #tile.access<width = 1 slots = [0]>} : memref<6xf32, #tile.space<global>>
    }
  }
  return
}

// -----

// An index that memory decides may be another one in every iteration.
func.func @gather(%A: memref<128xf32, #tile.space<global>> {tile.name = "A"}, %I: memref<128xi32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i, %j) in (1, 128) attributes {tile.distribution = #tile.fragment<[128], "(n) -> thread n // 4, slot n % 4">} {
      %n = tile.load %I[%j] : memref<128xi32, #tile.space<global>>
      %index = tile.cast %n from i32 to index
      // expected-error-re @below {{the plan of 'A' (width 1) is wrong: slots {{[1-3]}}, 0 of thread {{[0-9]+}} share a value and are different elements}}
      %v = tile.load %A[%index] {tile.access = #tile.access<width = 1 slots = [0] sources = [0, 0, 0, 0] anchors = [0] deltas = [0] guarded = [0]>} : memref<128xf32, #tile.space<global>>
    }
  }
  return
}

// -----

#vectors = #tile.fragment<[128], "(i) -> thread i // 4, slot i % 4">

// Asynchronous copies bypass the registers.
func.func @async(%B: memref<128xi8, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" {tile.placement = #tile.layout<[128], "(i) -> (i)">} : memref<128xi8, #tile.space<shared>>
    tile.async_group %bx below %c1 {
    // expected-error @below {{internal error: the plan of this asynchronous copy is wrong: it reads other groups than it writes}}
    tile.parallel (%i) in (128) attributes {tile.distribution = #vectors} {
      %v = tile.load %B[%i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3]>} : memref<128xi8, #tile.space<global>>
      tile.store %v, %t[%i] {tile.access = #tile.access<width = 2 slots = [0, 1, 2, 3]>} : memref<128xi8, #tile.space<shared>>
    }
    }
    tile.async_group %bx below %c1 {
    // expected-error @below {{no asynchronous copy moves 2 bytes}}
    tile.parallel (%i) in (128) attributes {tile.distribution = #vectors} {
      %v = tile.load %B[%i] {tile.access = #tile.access<width = 2 slots = [0, 1, 2, 3]>} : memref<128xi8, #tile.space<global>>
      tile.store %v, %t[%i] {tile.access = #tile.access<width = 2 slots = [0, 1, 2, 3]>} : memref<128xi8, #tile.space<shared>>
    }
    }
    tile.async_group %bx below %c1 {
    // expected-error @below {{it changes the value on its way}}
    tile.parallel (%i) in (128) attributes {tile.distribution = #vectors} {
      %v = tile.load %B[%i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3]>} : memref<128xi8, #tile.space<global>>
      %w = arith.addi %v, %v : i8
      tile.store %w, %t[%i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3]>} : memref<128xi8, #tile.space<shared>>
    }
    }
  }
  return
}

// -----

#vectors = #tile.fragment<[128], "(i) -> thread i // 4, slot i % 4">

// A run-time length is no multiple of 4 unless the launcher says so.
func.func @run_time_length(%B: memref<?xf32, #tile.space<global>> {tile.shape = #tile.shape<"()[n] -> (n)">}, %n: index {tile.symbol = "n"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (128) attributes {tile.distribution = #vectors} {
      // expected-error @below {{leaves the bounds of dimension 0, which its group does not}}
      %v = tile.load %B[%i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3] guarded = [0]>} : memref<?xf32, #tile.space<global>>
    }
  }
  return
}

// -----

#vectors = #tile.fragment<[128], "(i) -> thread i // 4, slot i % 4">

func.func @promised_length(%B: memref<?xf32, #tile.space<global>> {tile.shape = #tile.shape<"()[n] -> (n)">}, %n: index {tile.symbol = "n", tile.divisor = 4 : i64}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (128) attributes {tile.distribution = #vectors} {
      %v = tile.load %B[%i] {tile.access = #tile.access<width = 4 slots = [0, 1, 2, 3] guarded = [0]>} : memref<?xf32, #tile.space<global>>
    }
  }
  return
}

// -----

// Operands of gemms: what each lane names in ldmatrix. The plan of b is right.
func.func @matrices() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" {tile.placement = #tile.layout<[16, 32], "(i, j) -> (i, j)">} : memref<16x32xf16, #tile.space<shared>>
    %b = tile.alloc "b" {tile.placement = #tile.layout<[16, 24], "(i, j) -> (i, j)">} : memref<16x24xf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x24xf32, #tile.space<fragment>>
    %odd = tile.alloc "odd" {tile.placement = #tile.layout<[16, 16], "(i, j) -> (i, j ^ (i % 2))">} : memref<16x16xf16, #tile.space<shared>>
    %half = tile.slice %a[0, 16] [16, 16] [1, 1] : memref<16x32xf16, #tile.space<shared>> to memref<16x16xf16, #tile.space<shared>>
    // expected-error @below {{the plan of 'a' (width 4) is wrong: a row of a matrix has 16 bytes}}
    tile.gemm %half, %b, %c {tile.warps = array<i64: 1, 1>, tile.access_a = #tile.access<width = 4 slots = [0, 1, 2, 3, 4, 5, 6, 7] anchors = [0, 0] deltas = [0, 4]>, tile.access_b = #tile.access<width = 8 slots = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] anchors = [0, 1] deltas = [0, 0]>} : memref<16x16xf16, #tile.space<shared>>, memref<16x24xf16, #tile.space<shared>>, memref<16x24xf32, #tile.space<fragment>>
    // The rows of the second pair of tiles start 16 elements behind those of the first, but only two of its matrices are read.
    // expected-error @below {{the plan of 'b' (width 8) is wrong: groups 0 and 1 of thread 0 do not lie their deltas apart}}
    tile.gemm %half, %b, %c {tile.warps = array<i64: 1, 1>, tile.access_b = #tile.access<width = 8 slots = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] anchors = [0, 0] deltas = [0, 8]>} : memref<16x16xf16, #tile.space<shared>>, memref<16x24xf16, #tile.space<shared>>, memref<16x24xf32, #tile.space<fragment>>
    // expected-error @below {{the plan of 'odd' (width 8) is wrong: slots 0, 1 of thread 1 lie -1 elements apart}}
    tile.gemm %odd, %b, %c {tile.warps = array<i64: 1, 1>, tile.access_a = #tile.access<width = 8 slots = [0, 1, 2, 3, 4, 5, 6, 7] anchors = [0] deltas = [0]>} : memref<16x16xf16, #tile.space<shared>>, memref<16x24xf16, #tile.space<shared>>, memref<16x24xf32, #tile.space<fragment>>
  }
  return
}
