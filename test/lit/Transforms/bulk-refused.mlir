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
func.func @safe_value(%A: memref<256x128xf16, #tile.space<global>> {tile.name = "A"}, %B: !piece) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    tile.annotate_safe_value %A : memref<256x128xf16, #tile.space<global>> is 1.000000e+00 : f16
    %s = tile.alloc "s" : !tile
    tile.pipelined %k = %c0 to %c4 stages 2 {
      %from = tile.slice %A[%k, 0] [64, 64] [1, 1] : memref<256x128xf16, #tile.space<global>> to !piece
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

// -----

!tile = memref<64x64xf16, #tile.space<shared>>
!piece = memref<64x64xf16, #tile.space<global>>

// CHECK: remark: s: not stored by TMA: the kernel reads 'A'
func.func @read_too(%A: memref<256x128xf16, #tile.space<global>> {tile.name = "A"}, %B: !piece) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !tile
    %t = tile.alloc "t" : !tile
    %to = tile.slice %A[0, 0] [64, 64] [1, 1] : memref<256x128xf16, #tile.space<global>> to !piece
    tile.copy %B, %s : !piece to !tile
    tile.copy %s, %to : !tile to !piece
    tile.copy %to, %t : !piece to !tile
  }
  return
}

// -----

!tile = memref<64x64xf16, #tile.space<shared>>
!piece = memref<64x64xf16, #tile.space<global>>

// Another block may look at A once the counter says so.
// CHECK: remark: s: not stored by TMA: atomics of the kernel may tell other blocks that 'A' is written
func.func @announced(%A: !piece {tile.name = "A"}, %B: !piece, %N: memref<1xi32, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !tile
    tile.copy %B, %s : !piece to !tile
    tile.copy %s, %A : !tile to !piece
    %old = tile.atomic_element add %one, %N[%c0] order release : memref<1xi32, #tile.space<global>>
  }
  return
}

// -----

!tile = memref<64x64xf64, #tile.space<shared>>
!piece = memref<64x64xf64, #tile.space<global>>

// CHECK: remark: s: not added by TMA: no bulk reduction adds elements of this type
func.func @wide(%A: !piece {tile.name = "A"}, %B: !piece) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !tile
    tile.copy %B, %s : !piece to !tile
    tile.atomic add %s, %A : !tile, !piece
  }
  return
}

// -----

!tile = memref<64x64xf32, #tile.space<shared>>
!piece = memref<64x64xf32, #tile.space<global>>

// CHECK: remark: s: not added by TMA: bulk reductions of max are not used
func.func @maximum(%A: !piece {tile.name = "A"}, %B: !piece) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %s = tile.alloc "s" : !tile
    tile.copy %B, %s : !piece to !tile
    tile.atomic max %s, %A : !tile, !piece
  }
  return
}

// -----

!tile = memref<64x64xf32, #tile.space<shared>>
!piece = memref<64x64xf32, #tile.space<global>>

// CHECK: remark: s: not stored by TMA: a block of fewer than 32 threads has no whole warp
func.func @few_threads(%A: !piece {tile.name = "A"}, %B: !piece) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [16] {
    %s = tile.alloc "s" : !tile
    tile.copy %B, %s : !piece to !tile
    tile.copy %s, %A : !tile to !piece
  }
  return
}
