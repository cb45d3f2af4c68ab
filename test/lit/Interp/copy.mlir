// RUN: tw-opt -test-interpret=check=0 %s -o /dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=check=1 %s -o /dev/null 2>/dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=bounds=1 %s -o /dev/null 2>/dev/null | FileCheck %s
// Copies move bits of one element type, convert between two, and respect slices, edges and views.

#global = #tile.space<global>
#shared = #tile.space<shared>

// Rounds to nearest even; float16 overflows to infinity, fp8 clamps.
// CHECK-LABEL: @converts
// CHECK: H = 1 2.5 inf 0 nan
// CHECK: E4 = 1 2.5 448 0 nan
// CHECK: E5 = 1 2.5 57344 0 nan
// CHECK: I = 1 2 65520 0 0
func.func @converts(%a: memref<5xf32, #global>, %h: memref<5xf16, #global> {tile.name = "H"},
                    %e4: memref<5xf8E4M3FN, #global> {tile.name = "E4"},
                    %e5: memref<5xf8E5M2, #global> {tile.name = "E5"},
                    %i: memref<5xi32, #global> {tile.name = "I"})
    attributes {interp.args = [dense<[1.0, 2.5, 65520.0, 1.0e-8, 0x7FC00000]> : tensor<5xf32>,
                               dense<0.0> : tensor<5xf16>, dense<0.0> : tensor<5xf8E4M3FN>,
                               dense<0.0> : tensor<5xf8E5M2>, dense<9> : tensor<5xi32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.copy %a, %h : memref<5xf32, #global> to memref<5xf16, #global>
    tile.copy %a, %e4 : memref<5xf32, #global> to memref<5xf8E4M3FN, #global>
    tile.copy %a, %e5 : memref<5xf32, #global> to memref<5xf8E5M2, #global>
    tile.copy %a, %i : memref<5xf32, #global> to memref<5xi32, #global>
  }
  return
}

// A copy within one type keeps an infinity of float8_e5m2 that a conversion would clamp.
// CHECK-LABEL: @keeps_bits
// CHECK: arg1 = inf -inf
func.func @keeps_bits(%a: memref<2xf8E5M2, #global>, %b: memref<2xf8E5M2, #global>)
    attributes {interp.args = [dense<[0x7C, 0xFC]> : tensor<2xf8E5M2>,
                               dense<0.0> : tensor<2xf8E5M2>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<2xf8E5M2, #shared>
    tile.copy %a, %s : memref<2xf8E5M2, #global> to memref<2xf8E5M2, #shared>
    tile.copy %s, %b : memref<2xf8E5M2, #shared> to memref<2xf8E5M2, #global>
  }
  return
}

// Element x of a slice is offset + x * step; slices of slices compose; dropped dimensions vanish.
// CHECK-LABEL: @slices
// CHECK: B = 11 13 15
// CHECK: C = 13 15
func.func @slices(%a: memref<2x8xi32, #global>, %b: memref<3xi32, #global> {tile.name = "B"},
                  %c: memref<2xi32, #global> {tile.name = "C"}, %row: index)
    attributes {interp.args = [
      dense<[[0, 1, 2, 3, 4, 5, 6, 7], [10, 11, 12, 13, 14, 15, 16, 17]]> : tensor<2x8xi32>,
      dense<0> : tensor<3xi32>, dense<0> : tensor<2xi32>, 1 : index]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.slice %a[%row, 1] [1, 3] [1, 2] drop [0]
        : memref<2x8xi32, #global> to memref<3xi32, #global>
    tile.copy %s, %b : memref<3xi32, #global> to memref<3xi32, #global>
    %t = tile.slice %s[1] [2] [1] : memref<3xi32, #global> to memref<2xi32, #global>
    tile.copy %t, %c : memref<2xi32, #global> to memref<2xi32, #global>
  }
  return
}

// Past the edge of a global tensor reads give the safe value and writes are dropped.
// CHECK-LABEL: @edges
// CHECK: B = -1 -1 5 6 7 -1
// CHECK: C = 0 0 5
func.func @edges(%a: memref<3xi32, #global>, %b: memref<6xi32, #global> {tile.name = "B"},
                 %c: memref<3xi32, #global> {tile.name = "C"})
    attributes {interp.args = [dense<[5, 6, 7]> : tensor<3xi32>, dense<9> : tensor<6xi32>,
                               dense<0> : tensor<3xi32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.annotate_safe_value %a : memref<3xi32, #global> is -1 : i32
    %s = tile.slice %a[-2] [6] [1] : memref<3xi32, #global> to memref<6xi32, #global>
    tile.copy %s, %b : memref<6xi32, #global> to memref<6xi32, #global>
    %past = tile.slice %c[2] [3] [1] : memref<3xi32, #global> to memref<3xi32, #global>
    tile.copy %a, %past : memref<3xi32, #global> to memref<3xi32, #global>
  }
  return
}

// The annotation ends with its kernel.
// CHECK-LABEL: @safe_value_of_one_kernel
// CHECK: B = 4 0
func.func @safe_value_of_one_kernel(%a: memref<1xi32, #global>,
                                    %b: memref<2xi32, #global> {tile.name = "B"})
    attributes {interp.args = [dense<4> : tensor<1xi32>, dense<9> : tensor<2xi32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.annotate_safe_value %a : memref<1xi32, #global> is 7 : i32
  }
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.slice %a[0] [2] [1] : memref<1xi32, #global> to memref<2xi32, #global>
    tile.copy %s, %b : memref<2xi32, #global> to memref<2xi32, #global>
  }
  return
}

// A view shows the row-major bytes under another shape or type; little end first.
// CHECK-LABEL: @views
// CHECK: B = 513 1027
// CHECK: C = 1 2 3 4
func.func @views(%a: memref<2x2xui8, #global>, %b: memref<2xi16, #global> {tile.name = "B"},
                 %c: memref<4xui8, #global> {tile.name = "C"})
    attributes {interp.args = [dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>,
                               dense<0> : tensor<2xi16>, dense<0> : tensor<4xui8>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<2x2xui8, #shared>
    tile.copy %a, %s : memref<2x2xui8, #global> to memref<2x2xui8, #shared>
    %wide = tile.view %s : memref<2x2xui8, #shared> to memref<2xi16, #shared>
    tile.copy %wide, %b : memref<2xi16, #shared> to memref<2xi16, #global>
    %flat = tile.view %s : memref<2x2xui8, #shared> to memref<4xui8, #shared>
    tile.copy %flat, %c : memref<4xui8, #shared> to memref<4xui8, #global>
  }
  return
}

// A layout on a global tensor says where its elements are; on a shared tile it says nothing.
// CHECK-LABEL: @layouts
// CHECK: T = 1 3 5 2 4 6
// CHECK: R = 1 2 3 4 5 6
func.func @layouts(%a: memref<3x2xi32, #global>, %t: memref<3x2xi32, #global> {tile.name = "T"},
                   %r: memref<3x2xi32, #global> {tile.name = "R"})
    attributes {interp.args = [dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>,
                               dense<0> : tensor<3x2xi32>, dense<0> : tensor<3x2xi32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<3x2xi32, #shared>
    tile.annotate_layout %t : memref<3x2xi32, #global> is #tile.layout<[3, 2], "(i, j) -> (j, i)">
    tile.annotate_layout %s : memref<3x2xi32, #shared> is #tile.layout<[3, 2], "(i, j) -> (j, i)">
    tile.copy %a, %s : memref<3x2xi32, #global> to memref<3x2xi32, #shared>
    tile.copy %s, %t : memref<3x2xi32, #shared> to memref<3x2xi32, #global>
    tile.copy %t, %r : memref<3x2xi32, #global> to memref<3x2xi32, #global>
  }
  return
}

// CHECK-LABEL: @fills
// CHECK: B = -3 -3 4
func.func @fills(%b: memref<3xi8, #global> {tile.name = "B"})
    attributes {interp.args = [dense<4> : tensor<3xi8>]} {
  %c1 = arith.constant 1 : index
  %value = arith.constant -3 : i8
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.slice %b[0] [2] [1] : memref<3xi8, #global> to memref<2xi8, #global>
    tile.fill %value, %s : i8, memref<2xi8, #global>
  }
  return
}

// NHWC 1x3x3x1, 2x2 kernel, stride 1, padding 1: row 5 is output position (1, 1), whose patch is
// the upper left corner; row 0 is the corner with three padded places.
// CHECK-LABEL: @patches
// CHECK: P = 0 0 0 1 0 0 1 2 0 0 2 3 0 0 3 0 0 1 0 4 1 2 4 5
func.func @patches(%image: memref<1x3x3x1xf32, #global>, %p: memref<6x4xf32, #global> {tile.name = "P"})
    attributes {interp.args = [
      dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]]]> : tensor<1x3x3x1xf32>,
      dense<-1.0> : tensor<6x4xf32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.im2col %image, %p at (%c0, %c0) kernel 2 stride 1 dilation 1 pad 1
        : memref<1x3x3x1xf32, #global> to memref<6x4xf32, #global>
  }
  return
}
