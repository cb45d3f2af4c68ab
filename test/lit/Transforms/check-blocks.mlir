// RUN: tw-opt %s -split-input-file -tile-check-blocks -verify-diagnostics
// Blocks that certainly race are an error; whatever a branch or the data may prevent is not.

!A = memref<8x64xf32, #tile.space<global>>
!B = memref<64xf32, #tile.space<global>>
!s = memref<64xf32, #tile.space<shared>>

func.func @every_block_writes_one_row(%A: !A {tile.name = "A"}, %B: !B {tile.name = "B"}) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [64] {
    %s = tile.alloc "s" : !s
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    tile.copy %row, %s : !B to !s
    // expected-error @below {{blocks (0) and (1) both write 'B'[0], each with a value of its own; index it by the block, or use T.atomic_add}}
    tile.copy %s, %B : !s to !B
  }
  return
}

// -----

!A = memref<8x64xf32, #tile.space<global>>
!B = memref<64xf32, #tile.space<global>>

// The same value by all blocks, a row for each block, an update, one block only, one block at all.
func.func @no_race(%A: !A {tile.name = "A"}, %B: !B {tile.name = "B"}, %C: !A {tile.name = "C"}, %n: index) {
  %c8 = arith.constant 8 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c8) threads [64] {
    tile.fill %zero, %B : f32, !B
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    %own = tile.slice %C[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    tile.copy %row, %own : !B to !B
  }
  tile.kernel (%bx) in (%c8) threads [64] {
    %common = tile.slice %A[%n, 0] [1, 64] [1, 1] drop [0] : !A to !B
    tile.copy %common, %B : !B to !B
  }
  tile.kernel (%bx) in (%c8) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    %own = tile.slice %C[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    tile.atomic add %row, %B : !B, !B
    tile.fill %zero, %own : f32, !B
    tile.atomic add %row, %own : !B, !B
    tile.copy %own, %own : !B to !B
  }
  tile.kernel (%bx) in (%c1) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    tile.copy %row, %B : !B to !B
  }
  return
}

// -----

!A = memref<512xf32, #tile.space<global>>

// Block 0 reads the first element of block 1, which writes it.
func.func @neighbours(%A: !A {tile.name = "A"}) {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c8) threads [64] {
    %s = tile.alloc "s" : memref<64xf32, #tile.space<shared>>
    %first = arith.muli %bx, %c64 : index
    tile.parallel (%i) in (64) {
      %own = arith.addi %first, %i : index
      %next = arith.addi %own, %c1 : index
      // expected-note @below {{the other access is here}}
      %x = tile.load %A[%next] : !A
      tile.store %x, %s[%i] : memref<64xf32, #tile.space<shared>>
    }
    %part = tile.slice %A[%first] [64] [1] : !A to memref<64xf32, #tile.space<global>>
    // expected-error @below {{blocks (1) and (0) race: the first writes 'A'[64], the second reads it; use T.sync_grid, another tensor, or two kernels}}
    tile.copy %s, %part : memref<64xf32, #tile.space<shared>> to memref<64xf32, #tile.space<global>>
  }
  return
}

// -----

!A = memref<8x64xf32, #tile.space<global>>
!B = memref<64xf32, #tile.space<global>>
!N = memref<?x64xf32, #tile.space<global>>

// Updates commute with each other, not with what writes or reads.
func.func @first_block_clears(%A: !A {tile.name = "A"}, %B: !B {tile.name = "B"}) {
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c8) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    %first = arith.cmpi eq, %bx, %c0 : index
    scf.if %first {
      // expected-error @below {{blocks (0) and (1) race: the first writes 'B'[0], the second updates it, and only atomic updates may meet; use T.sync_grid, another tensor, or two kernels}}
      tile.fill %zero, %B : f32, !B
    }
    // expected-note @below {{the other access is here}}
    tile.atomic add %row, %B : !B, !B
  }
  return
}

func.func @reads_what_others_update(%A: !A {tile.name = "A"}, %B: !B {tile.name = "B"}, %C: !A {tile.name = "C"}) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    %own = tile.slice %C[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    // expected-error @below {{blocks (1) and (0) race: the first updates 'B'[0], the second reads it, and only atomic updates may meet; use T.sync_grid, another tensor, or two kernels}}
    tile.atomic add %row, %B : !B, !B
    // expected-note @below {{the other access is here}}
    tile.copy %B, %own : !B to !B
  }
  return
}

// A branch that certain blocks take, and a tensor that has rows in each launch.
func.func @in_branch(%A: !A {tile.name = "A"}, %B: !B {tile.name = "B"}) {
  %c8 = arith.constant 8 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c8) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    %later = arith.cmpi sgt, %bx, %c1 : index
    scf.if %later {
      // expected-error @below {{blocks (2) and (3) both write 'B'[0], each with a value of its own; index it by the block, or use T.atomic_add}}
      tile.copy %row, %B : !B to !B
    }
  }
  return
}

func.func @rows_of_run_time(%A: !A {tile.name = "A"}, %C: !N {tile.name = "C"}, %n: index) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx, %by) in (%c8, %n) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    %part = tile.slice %C[%by, 0] [1, 64] [1, 1] drop [0] : !N to !B
    // expected-error @below {{blocks (0, 0) and (1, 0) both write 'C'[0, 0], each with a value of its own; index it by the block, or use T.atomic_add}}
    tile.copy %row, %part : !B to !B
  }
  return
}

// -----

!A = memref<8x64xf32, #tile.space<global>>
!B = memref<64xf32, #tile.space<global>>
!N = memref<?x64xf32, #tile.space<global>>

// Which blocks there are, whether row 1 exists, and where a part begins, is known in a launch only.
func.func @launches_differ(%A: !A {tile.name = "A"}, %B: !B {tile.name = "B"},
                           %C: !N {tile.name = "C"}, %n: index) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%n) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    tile.copy %row, %B : !B to !B
  }
  tile.kernel (%bx) in (%c8) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    %second = tile.slice %C[1, 0] [1, 64] [1, 1] drop [0] : !N to !B
    tile.copy %row, %second : !B to !B
  }
  tile.kernel (%bx) in (%c8) threads [64] {
    %row = tile.slice %A[%bx, 0] [1, 64] [1, 1] drop [0] : !A to !B
    %some = tile.slice %C[%n, 0] [1, 64] [1, 1] drop [0] : !N to !B
    tile.copy %row, %some : !B to !B
  }
  return
}

// -----

!A = memref<64x64xf32, #tile.space<global>>
!f = memref<64x64xf32, #tile.space<fragment>>

// A loop of 2^40 iterations is cut short: one of them is enough.
func.func @long_loop(%A: !A {tile.name = "A"}) {
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1099511627776 : index
  tile.kernel (%bx) in (%c8) threads [64] {
    %f = tile.alloc "f" : !f
    scf.for %k = %c0 to %end step %c1 {
      // expected-note @below {{the other access is here}}
      tile.copy %A, %f : !A to !f
      // expected-error @below {{blocks (1) and (0) race: the first writes 'A'[0, 0], the second reads it; use T.sync_grid, another tensor, or two kernels}}
      tile.copy %f, %A : !f to !A
    }
  }
  return
}

// -----

!B = memref<64xf32, #tile.space<global>>
!V = memref<8x8xf32, #tile.space<global>>
!H = memref<128xf16, #tile.space<global>>

// Elements of views of another shape and dtype are places of memory: a row of %v belongs to its
// block, element 16 of %w is half of element 8.
func.func @through_views(%B: !B {tile.name = "B"}) {
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1.0 : f32
  tile.kernel (%bx) in (%c2) threads [64] {
    %v = tile.view %B : !B to !V
    %own = tile.slice %v[%bx, 0] [1, 8] [1, 1] drop [0] : !V to memref<8xf32, #tile.space<global>>
    // expected-error @below {{blocks (1) and (0) race: the first writes 'B'[8], the second reads it; use T.sync_grid, another tensor, or two kernels}}
    tile.fill %one, %own : f32, memref<8xf32, #tile.space<global>>
    %w = tile.view %B : !B to !H
    // expected-note @below {{the other access is here}}
    %other = tile.load %w[%c16] : !H
  }
  return
}
