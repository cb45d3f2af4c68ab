// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a -tile-plan-accesses=arch=sm_90a | FileCheck %s
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_90a "-tile-plan-accesses=arch=sm_90a bulk=false" | FileCheck %s --check-prefix=OFF
// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts=arch=sm_80 -tile-plan-accesses=arch=sm_80 | FileCheck %s --check-prefix=OFF
// Copies of pipelined loops that TMA may do: the box, the swizzle, and the tensor map of the launch.

// OFF-NOT: tile.bulk
// OFF-NOT: tile.tensor_maps

!a = memref<256x512xf16, #tile.space<global>>
!c = memref<256x256xf32, #tile.space<global>>
!tile = memref<128x64xf16, #tile.space<shared>>
!wide = memref<64x128xf16, #tile.space<shared>>
!sums = memref<128x128xf32, #tile.space<fragment>>

// Rows of one swizzle: one instruction of two digits. Rows of two: a third digit counts the panels.
// CHECK-LABEL: func.func @panels
// CHECK: tile.kernel {{.*}}tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 256)"> strides = <"() -> (1024)"> box = [64, 128] steps = [1, 1] swizzle = 128 promotion = 128>, #tile.tensor_map<argument = 1 type = f16 extents = <"() -> (64, 512, 4)"> strides = <"() -> (512, 128)"> box = [64, 64, 2] steps = [1, 1, 1] swizzle = 128 promotion = 128>]
// CHECK: tile.alloc "a" {tile.alignment = 1024
// CHECK: tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 128] swizzle = 128 origins = [0, 0] offsets = [0]>
// CHECK: tile.bulk = #tile.bulk<map = 1 dims = [1, 0, 1] divisors = [0, 1, 64] box = [64, 64, 2] swizzle = 128 origins = [0, 0, 0] offsets = [0]>
func.func @panels(%A: !a, %B: memref<512x256xf16, #tile.space<global>>, %C: !c) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  tile.kernel (%bx, %by) in (%c2, %c2) threads [256] {
    %a = tile.alloc "a" : !tile
    %b = tile.alloc "b" : !wide
    %c = tile.alloc "c" : !sums
    %row = arith.muli %by, %c128 : index
    %column = arith.muli %bx, %c128 : index
    tile.pipelined %k = %c0 to %c8 stages 3 {
      %depth = arith.muli %k, %c64 : index
      %from = tile.slice %A[%row, %depth] [128, 64] [1, 1] : !a to memref<128x64xf16, #tile.space<global>>
      %other = tile.slice %B[%depth, %column] [64, 128] [1, 1] : memref<512x256xf16, #tile.space<global>> to memref<64x128xf16, #tile.space<global>>
      tile.copy %from, %a : memref<128x64xf16, #tile.space<global>> to !tile
      tile.copy %other, %b : memref<64x128xf16, #tile.space<global>> to !wide
      tile.gemm %a, %b, %c : !tile, !wide, !sums
    }
    %to = tile.slice %C[%row, %column] [128, 128] [1, 1] : !c to memref<128x128xf32, #tile.space<global>>
    tile.copy %c, %to : !sums to memref<128x128xf32, #tile.space<global>>
  }
  return
}

// Extents that the launch brings: the map names its symbols. Panels need not divide the rows, so each
// is an instruction of its own.
// CHECK-LABEL: func.func @symbols
// CHECK: extents = <"()[m, n] -> (n, m)"> strides = <"()[m, n] -> (2 * n)"> box = [64, 64]
// CHECK: tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0, 64, 0] offsets = [0, 8192] clamped = [0, 1]>
func.func @symbols(%A: memref<?x?xf16, #tile.space<global>> {tile.shape = #tile.shape<"()[m, n] -> (m, n)">}, %m: index {tile.symbol = "m"}, %n: index {tile.symbol = "n", tile.divisor = 16 : i64}, %C: memref<64x128xf16, #tile.space<global>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %b = tile.alloc "b" : !wide
    tile.annotate_layout %b : !wide is #tile.layout<[64, 128], "(i, j) -> (64 * (j // 64) + i, j % 64 ^ 8 * (i % 8))">
    tile.pipelined %k = %c0 to %n stages 2 {
      %row = arith.muli %k, %c64 : index
      %from = tile.slice %A[%row, %row] [64, 128] [1, 1] : memref<?x?xf16, #tile.space<global>> to memref<64x128xf16, #tile.space<global>>
      tile.copy %from, %b : memref<64x128xf16, #tile.space<global>> to !wide
      tile.copy %b, %C : !wide to memref<64x128xf16, #tile.space<global>>
    }
  }
  return
}
