// RUN: tw-opt -test-interpret=check=0 %s -o /dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=check=1 %s -o /dev/null 2>/dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=bounds=1 %s -o /dev/null 2>/dev/null | FileCheck %s

#global = #tile.space<global>

// CHECK-LABEL: @sums
// CHECK: R = 6 15
// CHECK: C = 105 107 109
func.func @sums(%x: memref<2x3xf32, #global>, %r: memref<2xf32, #global> {tile.name = "R"},
                %c: memref<1x3xf32, #global> {tile.name = "C"})
    attributes {interp.args = [dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>,
                               dense<100.0> : tensor<2xf32>, dense<100.0> : tensor<1x3xf32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.reduce sum %x, %r dim 1 clear : memref<2x3xf32, #global> to memref<2xf32, #global>
    tile.reduce sum %x, %c dim 0 : memref<2x3xf32, #global> to memref<1x3xf32, #global>
  }
  return
}

// A NaN loses unless it is propagated; a line of NaN alone stays NaN.
// CHECK-LABEL: @extremes
// CHECK: Max = 2 nan
// CHECK: Min = -7 nan
// CHECK: AbsMax = 7 nan
// CHECK: Propagated = nan nan
func.func @extremes(%x: memref<2x3xf32, #global>, %max: memref<2xf32, #global> {tile.name = "Max"},
                    %min: memref<2xf32, #global> {tile.name = "Min"},
                    %abs: memref<2xf32, #global> {tile.name = "AbsMax"},
                    %nan: memref<2xf32, #global> {tile.name = "Propagated"})
    attributes {interp.args = [
      dense<[[2.0, 0x7FC00000, -7.0], [0x7FC00000, 0x7FC00000, 0x7FC00000]]> : tensor<2x3xf32>,
      dense<100.0> : tensor<2xf32>, dense<-100.0> : tensor<2xf32>, dense<100.0> : tensor<2xf32>,
      dense<100.0> : tensor<2xf32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.reduce max %x, %max dim 1 clear : memref<2x3xf32, #global> to memref<2xf32, #global>
    tile.reduce min %x, %min dim 1 clear : memref<2x3xf32, #global> to memref<2xf32, #global>
    tile.reduce absmax %x, %abs dim 1 clear : memref<2x3xf32, #global> to memref<2xf32, #global>
    tile.reduce max %x, %nan dim 1 clear nan_propagate : memref<2x3xf32, #global> to memref<2xf32, #global>
  }
  return
}

// Unsigned values are their own magnitude; sums wrap at the destination's width.
// CHECK-LABEL: @integers
// CHECK: AbsMax = 250
// CHECK: Sum = 195
// CHECK: Wide = 451
// CHECK: AbsSum = 8
// CHECK: Xor = 2
func.func @integers(%u: memref<3xui8, #global>, %s: memref<3xi8, #global>,
                    %absmax: memref<1xui8, #global> {tile.name = "AbsMax"},
                    %sum: memref<1xui8, #global> {tile.name = "Sum"},
                    %wide: memref<1xi32, #global> {tile.name = "Wide"},
                    %abssum: memref<1xi8, #global> {tile.name = "AbsSum"},
                    %xor: memref<1xi8, #global> {tile.name = "Xor"})
    attributes {interp.args = [dense<[1, 200, 250]> : tensor<3xui8>, dense<[1, -4, -3]> : tensor<3xi8>,
                               dense<0> : tensor<1xui8>, dense<0> : tensor<1xui8>,
                               dense<0> : tensor<1xi32>, dense<0> : tensor<1xi8>,
                               dense<0> : tensor<1xi8>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.reduce absmax %u, %absmax dim 0 clear : memref<3xui8, #global> to memref<1xui8, #global>
    tile.reduce sum %u, %sum dim 0 clear : memref<3xui8, #global> to memref<1xui8, #global>
    tile.reduce sum %u, %wide dim 0 clear : memref<3xui8, #global> to memref<1xi32, #global>
    tile.reduce abssum %s, %abssum dim 0 clear : memref<3xi8, #global> to memref<1xi8, #global>
    // 1 ^ -4 ^ -3 = 0x01 ^ 0xfc ^ 0xfd = 0x00; with the old value 2
    %two = arith.constant 2 : i8
    tile.fill %two, %xor : i8, memref<1xi8, #global>
    tile.reduce xor %s, %xor dim 0 : memref<3xi8, #global> to memref<1xi8, #global>
  }
  return
}

// A float16 sum is rounded once: 2048 + 1 + 1 = 2050.
// CHECK-LABEL: @rounds_once
// CHECK: R = 2050
func.func @rounds_once(%x: memref<3xf16, #global>, %r: memref<1xf16, #global> {tile.name = "R"})
    attributes {interp.args = [dense<[2048.0, 1.0, 1.0]> : tensor<3xf16>, dense<0.0> : tensor<1xf16>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.reduce sum %x, %r dim 0 clear : memref<3xf16, #global> to memref<1xf16, #global>
  }
  return
}

// CHECK-LABEL: @running_sums
// CHECK: F = 1 3 6 4 9 15
// CHECK: R = 6 5 3 15 11 6
// CHECK: Columns = 1 2 3 5 7 9
func.func @running_sums(%x: memref<2x3xi32, #global>, %f: memref<2x3xi32, #global> {tile.name = "F"},
                        %r: memref<2x3xi32, #global> {tile.name = "R"},
                        %c: memref<2x3xi32, #global> {tile.name = "Columns"})
    attributes {interp.args = [dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>,
                               dense<0> : tensor<2x3xi32>, dense<0> : tensor<2x3xi32>,
                               dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.cumsum %x, %f dim 1 : memref<2x3xi32, #global> to memref<2x3xi32, #global>
    tile.cumsum %x, %r dim 1 reverse : memref<2x3xi32, #global> to memref<2x3xi32, #global>
    tile.cumsum %c, %c dim 0 : memref<2x3xi32, #global> to memref<2x3xi32, #global>
  }
  return
}
