// RUN: tw-opt %s -tile-expand-statements -tile-infer-layouts -verify-diagnostics | FileCheck %s
// Accumulators have the instruction's layout, loops run where their fragments live, row results stay
// with the threads of the row, and what no register layout satisfies goes to shared memory.

// CHECK-LABEL: func.func @accumulator_and_its_loop
func.func @accumulator_and_its_loop(%A: memref<16x16xf16, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x16xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x8xf16, #tile.space<shared>>
    // CHECK: tile.alloc "c" {tile.placement = #tile.fragment<[16, 8], "(i, j) -> thread 4 * (i % 8) + j // 2, slot {{.*}}(2 * (i // 8) + j % 2)">}
    %c = tile.alloc "c" : memref<16x8xf32, #tile.space<fragment>>
    // CHECK: tile.alloc "m" {tile.placement = #tile.fragment<[16], "(i) rep r of 4 -> thread 4 * (i % 8) + r, slot i // 8">}
    %m = tile.alloc "m" : memref<16xf32, #tile.space<fragment>>
    // CHECK: tile.gemm {{.*}} {tile.warps = array<i64: 1, 1>}
    tile.gemm %a, %b, %c : memref<16x16xf16, #tile.space<shared>>, memref<16x8xf16, #tile.space<shared>>, memref<16x8xf32, #tile.space<fragment>>
    tile.reduce max %c, %m dim 1 clear : memref<16x8xf32, #tile.space<fragment>> to memref<16xf32, #tile.space<fragment>>
    // CHECK: tile.parallel {{.*}} attributes {tile.distribution = #tile.fragment<[16, 8], "(i, j) -> thread 4 * (i % 8) + j // 2, slot
    tile.parallel (%i, %j) in (16, 8) {
      %x = tile.load %c[%i, %j] : memref<16x8xf32, #tile.space<fragment>>
      %y = tile.load %m[%i] : memref<16xf32, #tile.space<fragment>>
      %z = arith.subf %x, %y : f32
      tile.store %z, %c[%i, %j] : memref<16x8xf32, #tile.space<fragment>>
    }
  }
  return
}

// A tile that nothing else pins down follows the loop that reads another one transposed.
// CHECK-LABEL: func.func @transposed_follows
func.func @transposed_follows() {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: tile.alloc "f" {tile.placement = #tile.fragment<[8, 8], "(i, j) -> thread (i * 8 + j) % 32
    %f = tile.alloc "f" : memref<8x8xf32, #tile.space<fragment>>
    // CHECK: tile.alloc "g" {tile.placement = #tile.fragment<[8, 8], "(i, j) -> thread (j * 8 + i) % 32
    %g = tile.alloc "g" : memref<8x8xf32, #tile.space<fragment>>
    tile.fill %zero, %f : f32, memref<8x8xf32, #tile.space<fragment>>
    tile.parallel (%i, %j) in (8, 8) {
      %x = tile.load %f[%j, %i] : memref<8x8xf32, #tile.space<fragment>>
      tile.store %x, %g[%i, %j] : memref<8x8xf32, #tile.space<fragment>>
    }
  }
  return
}

// Read both ways, it cannot stay in registers.
// CHECK-LABEL: func.func @transposed_and_not
func.func @transposed_and_not() {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [32] {
    // expected-remark @below {{'f' lives in shared memory: threads of a loop need elements that other threads hold}}
    %f = tile.alloc "f" : memref<8x8xf32, #tile.space<fragment>>
    %g = tile.alloc "g" : memref<8x8xf32, #tile.space<fragment>>
    tile.fill %zero, %f : f32, memref<8x8xf32, #tile.space<fragment>>
    tile.parallel (%i, %j) in (8, 8) {
      %x = tile.load %f[%j, %i] : memref<8x8xf32, #tile.space<fragment>>
      %y = tile.load %f[%i, %j] : memref<8x8xf32, #tile.space<fragment>>
      %z = arith.addf %x, %y : f32
      tile.store %z, %g[%i, %j] : memref<8x8xf32, #tile.space<fragment>>
    }
  }
  return
}

// CHECK-LABEL: func.func @gemm_without_tensor_cores
func.func @gemm_without_tensor_cores() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %a = tile.alloc "a" : memref<16x16xf32, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x8xf32, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x8xf32, #tile.space<fragment>>
    // expected-remark @below {{'T.gemm' leaves the tensor cores: the tensor cores have no instruction for float32 into float32}}
    tile.gemm %a, %b, %c : memref<16x16xf32, #tile.space<shared>>, memref<16x8xf32, #tile.space<shared>>, memref<16x8xf32, #tile.space<fragment>>
  }
  return
}
