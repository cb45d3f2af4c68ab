// RUN: tw-opt %s -tile-infer-layouts -split-input-file -verify-diagnostics
// What the user asks for and a statement cannot have is refused; what only costs is remarked on.

!a = memref<48x32xf16, #tile.space<shared>>
!b = memref<32x24xf16, #tile.space<shared>>
!c = memref<48x24xf32, #tile.space<fragment>>

func.func @no_warp_grid(%n: index) {
  tile.kernel (%bx) in (%n) threads [256] {
    %a = tile.alloc "a" : !a
    %b = tile.alloc "b" : !b
    %c = tile.alloc "c" : !c
    // expected-error @+1 {{'T.gemm' with policy FullCol: no grid of 8 warps divides 48 x 24 into 16 x 8 tiles; multiples of 128 x 8, 64 x 16, 32 x 32, 16 x 64 work, or another number of threads}}
    tile.gemm %a, %b, %c policy full_col : !a, !b, !c
  }
  return
}

// -----

!a = memref<48x32xf16, #tile.space<shared>>
!b = memref<32x24xf16, #tile.space<shared>>
!c = memref<48x24xf32, #tile.space<fragment>>

// Without a policy of the user's the same gemm compiles.
func.func @leaves_the_tensor_cores(%n: index) {
  tile.kernel (%bx) in (%n) threads [256] {
    %a = tile.alloc "a" : !a
    %b = tile.alloc "b" : !b
    // expected-remark @+1 {{'c' lives in shared memory: no register layout was found for it}}
    %c = tile.alloc "c" : !c
    // expected-remark @+1 {{'T.gemm' leaves the tensor cores: no grid of 8 warps divides 48 x 24}}
    tile.gemm %a, %b, %c : !a, !b, !c
  }
  return
}

// -----

!a = memref<32x32xf16, #tile.space<shared>>
!c = memref<32x32xf32, #tile.space<fragment>>

// TileLang takes the nearest division too.
func.func @policy_as_far_as_possible(%n: index) {
  tile.kernel (%bx) in (%n) threads [128] {
    %a = tile.alloc "a" : !a
    %c = tile.alloc "c" : !c
    // expected-remark @+1 {{'T.gemm' divides its result over 2 x 2 warps: for FullRow M = 32 would have to be a multiple of 64}}
    tile.gemm %a, %a, %c policy full_row : !a, !a, !c
  }
  return
}

// -----

!a = memref<16x16xf16, #tile.space<shared>>
!c = memref<16x16xf32, #tile.space<fragment>>

func.func @accumulator_laid_out_by_rows(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    %a = tile.alloc "a" : !a
    %c = tile.alloc "c" : !c
    // expected-error @+1 {{the layout of 'c' (16 x 16 float32) is none that 'T.gemm' accumulates in: element (0, 2) lies in thread 0, the tensor cores need it in thread 1; leave the annotation out, or copy to a fragment that has this layout}}
    tile.annotate_layout %c : !c is #tile.fragment<[16, 16], "(i, j) -> thread i, slot j">
    // expected-note @+1 {{the gemm is here: each 16 x 8 tile of 'c' belongs to one warp, laid out as its instruction says}}
    tile.gemm %a, %a, %c : !a, !a, !c
  }
  return
}

// -----

!a = memref<32x16xf16, #tile.space<fragment>>
!b = memref<16x8xf16, #tile.space<shared>>
!c = memref<32x8xf32, #tile.space<fragment>>

func.func @operand_over_two_warps(%n: index) {
  tile.kernel (%bx) in (%n) threads [64] {
    %a = tile.alloc "a" : !a
    %b = tile.alloc "b" : !b
    %c = tile.alloc "c" : !c
    // expected-error @+1 {{the layout of 'a' (32 x 16 float16) is none that 'T.gemm' reads A in: element (8, 0) lies in thread 32, the tensor cores need it in thread 0}}
    tile.annotate_layout %a : !a is #tile.fragment<[32, 16], "(i, j) -> thread i % 8 * 4 + j % 8 // 2 + i // 8 % 2 * 32, slot i // 16 * 4 + j // 8 * 2 + j % 2">
    // expected-note @+1 {{the gemm is here: each 16 x 16 tile of 'a' belongs to one warp}}
    tile.gemm %a, %b, %c : !a, !b, !c
  }
  return
}

// -----

!a = memref<32x16xf16, #tile.space<shared>>
!c = memref<32x16xf32, #tile.space<fragment>>

// Which warp holds which tile, and in which slots, is the user's choice; it may cost moves.
func.func @warps_in_another_order(%n: index) {
  tile.kernel (%bx) in (%n) threads [64] {
    %a = tile.alloc "a" : !a
    %b = tile.alloc "b" : memref<16x16xf16, #tile.space<shared>>
    // expected-remark @+1 {{'c' lives in shared memory: threads of a loop need elements that other threads hold}}
    %c = tile.alloc "c" : !c
    tile.annotate_layout %c : !c is #tile.fragment<[32, 16], "(i, j) -> thread i % 8 * 4 + j % 8 // 2 + (1 - i // 16) * 32, slot j // 8 * 4 + i // 8 % 2 * 2 + j % 2">
    // expected-remark @+3 {{'c' is copied to the tensor cores' layout and back: it is held otherwise}}
    // expected-remark @+2 {{'c' lives in shared memory: threads of a loop need elements that other threads hold}}
    // expected-remark @+1 {{'c' is copied to the tensor cores' layout and back: it is a part of a tile, or lies in memory}}
    tile.gemm %a, %b, %c policy full_row : !a, memref<16x16xf16, #tile.space<shared>>, !c
  }
  return
}

// -----

func.func @grid_too_high() {
  %c65536 = arith.constant 65536 : index
  // expected-error @+1 {{grid extent 1 is 65536, a GPU launches at most 65535 blocks there; exchange it with extent 0, or take larger tiles}}
  tile.kernel (%bx, %by) in (%c65536, %c65536) threads [32] {
  }
  return
}

// -----

// No thread has so many registers.
func.func @more_than_registers(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    // expected-remark @+1 {{'f' lives in shared memory: a block of 32 threads has no registers for 65536 elements}}
    %f = tile.alloc "f" : memref<65536xi8, #tile.space<fragment>>
    tile.parallel (%i) in (65536) {
      %zero = arith.constant 0 : i8
      tile.store %zero, %f[%i] : memref<65536xi8, #tile.space<fragment>>
    }
  }
  return
}
