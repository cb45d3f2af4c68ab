// RUN: tw-opt %s -tile-check-plans=arch=sm_90a -split-input-file -verify-diagnostics
// RUN: not tw-opt %s -tile-check-plans=arch=sm_80 -split-input-file 2>&1 | FileCheck %s
// A bulk copy, right once and then broken in each part of its plan and of its tensor map.

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @right(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // CHECK: sm_80 has no bulk copies
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @box(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 32] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: nothing arrives where element (32, 0) belongs}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 32] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @other_map_box(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 32] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: its tensor map has another box, swizzle or fill}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @swizzle(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 64>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: a row of its box has 128 bytes}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 64 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @no_swizzle(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 0>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: element (1, 0) lies at byte 1024 of the tensor, byte 1040 arrives}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 0 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @extent(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 201)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: its tensor map has 201 elements in dimension 0, the tensor 200}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @stride(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1040)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: element (1, 0) lies at byte 1024 of the tensor, byte 1040 arrives}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @odd_stride(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1000)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: a stride of its tensor map is 1000 bytes}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @order(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: its tensor map has 512 elements in dimension 0, the tensor 200}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [0, 1] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @divisor(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: its tensor map has 400 elements in dimension 0, the tensor 200}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 2] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @origin(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: element (0, 0) lies at byte 0 of the tensor, byte 1024 arrives}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 1] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @place(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: nothing arrives where element (0, 0) belongs}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [1024]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @half_twice(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 32] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: two elements arrive at byte 0 of the tile}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 32] swizzle = 128 origins = [0, 0, 0, 32] offsets = [0, 0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @halves(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 32] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // Two instructions, each of half the rows.
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 32] swizzle = 128 origins = [0, 0, 0, 32] offsets = [0, 4096]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @alignment(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 128 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: its tile does not start on 1024 bytes}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @no_map(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: the kernel has no such tensor map}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 1 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @element(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = bf16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: its element type changes}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}

// -----

#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">
#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">

func.func @safe_value(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    tile.annotate_safe_value %A : memref<200x512xf16, #tile.space<global>> is 1.000000e+00 : f16
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: it fills with zeros, and the safe value is another}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
      tile.store %v, %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
    }
  }
  return
}
