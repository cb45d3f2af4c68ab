// RUN: tw-opt -test-interpret=check=0 %s -o /dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=check=1 %s -o /dev/null 2>/dev/null | FileCheck %s
// RUN: tw-opt -test-interpret=bounds=1 %s -o /dev/null 2>/dev/null | FileCheck %s

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// Tiles and scalars combine element by element, converted to the destination's type first:
// 2.75 becomes 2 in an integer.
// CHECK-LABEL: @tiles
// CHECK: B = 12 23
// CHECK: M = 42 100
func.func @tiles(%a: memref<2xf32, #global>, %b: memref<1x2xi32, #global> {tile.name = "B"},
                 %m: memref<2xf16, #global> {tile.name = "M"})
    attributes {interp.args = [dense<[2.75, 3.0]> : tensor<2xf32>, dense<[[10, 20]]> : tensor<1x2xi32>,
                               dense<[1.0, 100.0]> : tensor<2xf16>]} {
  %c1 = arith.constant 1 : index
  %max = arith.constant 42.0 : f16
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.atomic add %a, %b : memref<2xf32, #global>, memref<1x2xi32, #global>
    tile.atomic max %max, %m : f16, memref<2xf16, #global>
  }
  return
}

// Every kind on int8: previous values and results.
// CHECK-LABEL: @kinds
// CHECK: X = -126 5 -3 1 7 6 9
// CHECK: P = 127 3 3 5 5 5 5
func.func @kinds(%x: memref<7xi8, #global> {tile.name = "X"}, %p: memref<7xi8, #global> {tile.name = "P"})
    attributes {interp.args = [dense<[127, 3, 3, 5, 5, 5, 5]> : tensor<7xi8>, dense<0> : tensor<7xi8>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %i3 = arith.constant 3 : i8
  %i5 = arith.constant 5 : i8
  %m3 = arith.constant -3 : i8
  %i9 = arith.constant 9 : i8
  tile.kernel (%bx) in (%c1) threads [32] {
    %add = tile.atomic_element add %i3, %x[%c0] : memref<7xi8, #global>
    %max = tile.atomic_element max %i5, %x[%c1] : memref<7xi8, #global>
    %min = tile.atomic_element min %m3, %x[%c2] : memref<7xi8, #global>
    %and = tile.atomic_element and %i3, %x[%c3] : memref<7xi8, #global>
    %or = tile.atomic_element or %i3, %x[%c4] : memref<7xi8, #global>
    %xor = tile.atomic_element xor %i3, %x[%c5] : memref<7xi8, #global>
    %swap = tile.atomic_element exchange %i9, %x[%c6] : memref<7xi8, #global>
    tile.store %add, %p[%c0] : memref<7xi8, #global>
    tile.store %max, %p[%c1] : memref<7xi8, #global>
    tile.store %min, %p[%c2] : memref<7xi8, #global>
    tile.store %and, %p[%c3] : memref<7xi8, #global>
    tile.store %or, %p[%c4] : memref<7xi8, #global>
    tile.store %xor, %p[%c5] : memref<7xi8, #global>
    tile.store %swap, %p[%c6] : memref<7xi8, #global>
  }
  return
}

// Max of unsigned values reads them without a sign.
// CHECK-LABEL: @unsigned
// CHECK: X = 200
func.func @unsigned(%x: memref<1xui8, #global> {tile.name = "X"}, %v: i8)
    attributes {interp.args = [dense<3> : tensor<1xui8>, -56 : i8]} {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.atomic max %v, %x : i8, memref<1xui8, #global>
  }
  return
}

// A dropped update returns the safe value.
// CHECK-LABEL: @outside
// CHECK: X = 3
// CHECK: P = -5
func.func @outside(%x: memref<1xi32, #global> {tile.name = "X"}, %p: memref<1xi32, #global> {tile.name = "P"})
    attributes {interp.args = [dense<3> : tensor<1xi32>, dense<0> : tensor<1xi32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.annotate_safe_value %x : memref<1xi32, #global> is -5 : i32
    %previous = tile.atomic_element add %one, %x[%c1] : memref<1xi32, #global>
    tile.store %previous, %p[%c0] : memref<1xi32, #global>
  }
  return
}

// Each contribution counts once.
// CHECK-LABEL: @reducers
// CHECK: S = 6 15
// CHECK: A = 3 6
func.func @reducers(%x: memref<2x3xf32, #global>, %s: memref<2xf32, #global> {tile.name = "S"},
                    %a: memref<2xf32, #global> {tile.name = "A"})
    attributes {interp.args = [dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>,
                               dense<0.0> : tensor<2xf32>, dense<0.0> : tensor<2xf32>]} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    %sum = tile.alloc "sum" reducer sum : memref<2xf32, #fragment>
    %abs = tile.alloc "abs" reducer absmax : memref<2xf32, #fragment>
    tile.fill %zero, %sum : f32, memref<2xf32, #fragment>
    tile.fill %zero, %abs : f32, memref<2xf32, #fragment>
    tile.parallel (%i, %j) in (2, 3) {
      %v = tile.load %x[%i, %j] : memref<2x3xf32, #global>
      %n = arith.negf %v : f32
      tile.reducer_update %v, %sum[%i] : memref<2xf32, #fragment>
      tile.reducer_update %n, %abs[%i] : memref<2xf32, #fragment>
    }
    tile.finalize_reducer %sum, %s : memref<2xf32, #fragment> to memref<2xf32, #global>
    tile.finalize_reducer %abs, %a : memref<2xf32, #fragment> to memref<2xf32, #global>
  }
  return
}
