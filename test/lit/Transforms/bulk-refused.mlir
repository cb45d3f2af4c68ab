// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a -split-input-file 2>&1 | FileCheck %s
// What TMA cannot copy, with the reason.

!tile = memref<64x64xf16, #tile.space<shared>>
!piece = memref<64x64xf16, #tile.space<global>>

// CHECK: remark: s: not copied by TMA: rows of 'A' are not known to start at multiples of 16 bytes
func.func @strides(%A: memref<256x100xf16, #tile.space<global>> {tile.name = "A"}, %B: !piece) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !tile
    tile.pipelined %k = %c0 to %c4 stages 2 {
      %from = tile.slice %A[%k, 0] [64, 64] [1, 1] : memref<256x100xf16, #tile.space<global>> to !piece
      tile.copy %from, %s : !piece to !tile
      tile.copy %s, %B : !tile to !piece
    }
  }
  return
}

// -----

!tile = memref<64x64xf16, #tile.space<shared>>
!piece = memref<64x64xf16, #tile.space<global>>

// CHECK: remark: s: not copied by TMA: the kernel writes 'A'
func.func @written(%A: memref<256x64xf16, #tile.space<global>> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !tile
    %to = tile.slice %A[192, 0] [64, 64] [1, 1] : memref<256x64xf16, #tile.space<global>> to !piece
    tile.pipelined %k = %c0 to %c4 stages 2 {
      %from = tile.slice %A[%k, 0] [64, 64] [1, 1] : memref<256x64xf16, #tile.space<global>> to !piece
      tile.copy %from, %s : !piece to !tile
      tile.copy %s, %to : !tile to !piece
    }
  }
  return
}

// -----

!tile = memref<64x64xf16, #tile.space<shared>>
!piece = memref<64x64xf16, #tile.space<global>>

// CHECK: remark: s: not copied by TMA: 'A' has a value of its own out of bounds
func.func @safe_value(%A: memref<256x64xf16, #tile.space<global>> {tile.name = "A"}, %B: !piece) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    tile.annotate_safe_value %A : memref<256x64xf16, #tile.space<global>> is 1.000000e+00 : f16
    %s = tile.alloc "s" : !tile
    tile.pipelined %k = %c0 to %c4 stages 2 {
      %from = tile.slice %A[%k, 0] [64, 64] [1, 1] : memref<256x64xf16, #tile.space<global>> to !piece
      tile.copy %from, %s : !piece to !tile
      tile.copy %s, %B : !tile to !piece
    }
  }
  return
}

// -----

!tile = memref<64x64xf16, #tile.space<shared>>
!piece = memref<64x64xf16, #tile.space<global>>

// CHECK: remark: s: not copied by TMA: no swizzle of TMA places elements as the layout of 's' does
func.func @padded(%A: memref<256x64xf16, #tile.space<global>> {tile.name = "A"}, %B: !piece) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !tile
    tile.annotate_layout %s : !tile is #tile.layout<[64, 64], "(i, j) -> (72 * i + j)">
    tile.pipelined %k = %c0 to %c4 stages 2 {
      %from = tile.slice %A[%k, 0] [64, 64] [1, 1] : memref<256x64xf16, #tile.space<global>> to !piece
      tile.copy %from, %s : !piece to !tile
      tile.copy %s, %B : !tile to !piece
    }
  }
  return
}

// -----

!tile = memref<64x64xf16, #tile.space<shared>>
!piece = memref<64x64xf16, #tile.space<global>>

// CHECK: remark: s: not copied by TMA: it reads dimension 0 of 'A' with a step or a formula
func.func @step(%A: memref<256x64xf16, #tile.space<global>> {tile.name = "A"}, %B: !piece) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !tile
    tile.pipelined %k = %c0 to %c4 stages 2 {
      %from = tile.slice %A[%k, 0] [64, 64] [2, 1] : memref<256x64xf16, #tile.space<global>> to !piece
      tile.copy %from, %s : !piece to !tile
      tile.copy %s, %B : !tile to !piece
    }
  }
  return
}

// -----

!tile = memref<64x4xf16, #tile.space<shared>>
!piece = memref<64x4xf16, #tile.space<global>>

// CHECK: remark: s: not copied by TMA: a row of the tile has 8 bytes, which is no multiple of 16
func.func @narrow(%A: memref<256x64xf16, #tile.space<global>> {tile.name = "A"}, %B: !piece) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !tile
    tile.pipelined %k = %c0 to %c4 stages 2 {
      %from = tile.slice %A[%k, 0] [64, 4] [1, 1] : memref<256x64xf16, #tile.space<global>> to !piece
      tile.copy %from, %s : !piece to !tile
      tile.copy %s, %B : !tile to !piece
    }
  }
  return
}
