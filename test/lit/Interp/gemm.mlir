// RUN: tw-opt -test-interpret=check=0 %s -o /dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=check=1 %s -o /dev/null 2>/dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=bounds=1 %s -o /dev/null 2>/dev/null | FileCheck %s

#global = #tile.space<global>

// [1 2] [5 6]   [19 22]
// [3 4] [7 8] = [43 50], added to the old C.
// CHECK-LABEL: @accumulates
// CHECK: C = 119 122 143 150
func.func @accumulates(%a: memref<2x2xf16, #global>, %b: memref<2x2xf16, #global>,
                       %c: memref<2x2xf32, #global> {tile.name = "C"})
    attributes {interp.args = [dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf16>,
                               dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf16>,
                               dense<100.0> : tensor<2x2xf32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.gemm %a, %b, %c : memref<2x2xf16, #global>, memref<2x2xf16, #global>, memref<2x2xf32, #global>
  }
  return
}

// A is stored K x M, B is stored N x K; `clear` forgets the old C, and only if it is true.
// [1 4]T        [7  8  9]T   [1 2 3]   [7 10]   [ 50  68]
// [2 5]      *  [10 11 12] = [4 5 6] * [8 11] = [122 167]
// [3 6]                                [9 12]
// CHECK-LABEL: @transposes_and_clears
// CHECK: C = 50 68 122 167
// CHECK: D = 51 69 123 168
func.func @transposes_and_clears(%a: memref<3x2xf32, #global>, %b: memref<2x3xf32, #global>,
                                 %c: memref<2x2xf32, #global> {tile.name = "C"},
                                 %d: memref<2x2xf32, #global> {tile.name = "D"}, %yes: i1, %no: i1)
    attributes {interp.args = [dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>,
                               dense<[[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]> : tensor<2x3xf32>,
                               dense<0x7FC00000> : tensor<2x2xf32>, dense<1.0> : tensor<2x2xf32>,
                               true, false]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.gemm %a, %b, %c transpose_a transpose_b clear %yes
        : memref<3x2xf32, #global>, memref<2x3xf32, #global>, memref<2x2xf32, #global>
    tile.gemm %a, %b, %d transpose_a transpose_b clear %no
        : memref<3x2xf32, #global>, memref<2x3xf32, #global>, memref<2x2xf32, #global>
  }
  return
}

// The sum is rounded once. In float16 steps 2048 + 1 + 1 would stay 2048; the exact sum is 2050.
// CHECK-LABEL: @rounds_once
// CHECK: C = 2050
func.func @rounds_once(%a: memref<1x2xf16, #global>, %b: memref<2x1xf16, #global>,
                       %c: memref<1x1xf16, #global> {tile.name = "C"})
    attributes {interp.args = [dense<1.0> : tensor<1x2xf16>, dense<1.0> : tensor<2x1xf16>,
                               dense<2048.0> : tensor<1x1xf16>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.gemm %a, %b, %c : memref<1x2xf16, #global>, memref<2x1xf16, #global>, memref<1x1xf16, #global>
  }
  return
}

// Integers are read by their sign and wrap at C's width: 200 * 200 * 2 = 80000; -56 * -56 * 2 = 6272.
// CHECK-LABEL: @integers
// CHECK: U = 80000
// CHECK: S = 6272
// CHECK: W = 14464
func.func @integers(%a: memref<1x2xui8, #global>, %b: memref<2x1xui8, #global>,
                    %x: memref<1x2xi8, #global>, %y: memref<2x1xi8, #global>,
                    %u: memref<1x1xi32, #global> {tile.name = "U"},
                    %s: memref<1x1xi32, #global> {tile.name = "S"},
                    %w: memref<1x1xi16, #global> {tile.name = "W"})
    attributes {interp.args = [dense<200> : tensor<1x2xui8>, dense<200> : tensor<2x1xui8>,
                               dense<-56> : tensor<1x2xi8>, dense<-56> : tensor<2x1xi8>,
                               dense<0> : tensor<1x1xi32>, dense<0> : tensor<1x1xi32>,
                               dense<0> : tensor<1x1xi16>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.gemm %a, %b, %u : memref<1x2xui8, #global>, memref<2x1xui8, #global>, memref<1x1xi32, #global>
    tile.gemm %x, %y, %s : memref<1x2xi8, #global>, memref<2x1xi8, #global>, memref<1x1xi32, #global>
    tile.gemm %a, %b, %w : memref<1x2xui8, #global>, memref<2x1xui8, #global>, memref<1x1xi16, #global>
  }
  return
}
