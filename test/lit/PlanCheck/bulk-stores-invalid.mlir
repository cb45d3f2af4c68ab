// RUN: tw-opt %s -tile-check-plans=arch=sm_90a -split-input-file -verify-diagnostics
// Bulk stores and additions, right and then broken in each part of their plans.

#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">
#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">

func.func @right(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
      tile.store %v, %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
    }
  }
  return
}

// -----

#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">
#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">

func.func @right_addition(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
      %old = tile.atomic_element add %v, %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
    }
  }
  return
}

// -----

#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">
#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">

func.func @box(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
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
      %v = tile.load %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
      tile.store %v, %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
    }
  }
  return
}

// -----

#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">
#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">

func.func @origin(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
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
      %v = tile.load %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
      tile.store %v, %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
    }
  }
  return
}

// -----

#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">
#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">

func.func @place(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
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
      %v = tile.load %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
      tile.store %v, %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
    }
  }
  return
}

// -----

#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">
#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">

func.func @alignment(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
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
      %v = tile.load %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
      tile.store %v, %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
    }
  }
  return
}

// -----

#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">
#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">

func.func @maximum(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: no bulk reduction does this update}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
      %old = tile.atomic_element max %v, %A[%x, %y] : memref<200x512xf16, #tile.space<global>>
    }
  }
  return
}

// -----

#threads = #tile.fragment<[64, 64], "(i, j) -> thread (64 * i + j) // 8 % 128, slot (64 * i + j) // 1024 * 8 + j % 8">
#swizzled = #tile.layout<[64, 64], "(i, j) -> (i, j ^ 8 * (i % 8))">

func.func @ordered(%A: memref<200x512xf16, #tile.space<global>> {tile.name = "A"}) {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c8, %c8) threads [128] attributes {tile.tensor_maps = [#tile.tensor_map<argument = 0 type = f16 extents = <"() -> (512, 200)"> strides = <"() -> (1024)"> box = [64, 64] steps = [1, 1] swizzle = 128>]} {
    %s = tile.alloc "s" {tile.placement = #swizzled, tile.alignment = 1024 : i64} : memref<64x64xf16, #tile.space<shared>>
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: no bulk reduction does this update}}
    tile.parallel (%i, %j) in (64, 64) attributes {tile.distribution = #threads, tile.bulk = #tile.bulk<map = 0 dims = [1, 0] divisors = [1, 1] box = [64, 64] swizzle = 128 origins = [0, 0] offsets = [0]>} {
      %x = arith.addi %row, %i : index
      %y = arith.addi %column, %j : index
      %v = tile.load %s[%i, %j] : memref<64x64xf16, #tile.space<shared>>
      %old = tile.atomic_element add %v, %A[%x, %y] order release : memref<200x512xf16, #tile.space<global>>
    }
  }
  return
}

// -----

#threads = #tile.fragment<[256], "(i) -> thread i // 2, slot i % 2">

func.func @right_span(%A: memref<8x256xf32, #tile.space<global>> {tile.name = "A"}) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [128] {
    %s = tile.alloc "s" {tile.placement = #tile.layout<[256], "(i) -> (i)">, tile.alignment = 128 : i64} : memref<256xf32, #tile.space<shared>>
    tile.parallel (%i) in (256) attributes {tile.distribution = #threads, tile.span = #tile.span<bytes = 1024>} {
      %v = tile.load %s[%i] : memref<256xf32, #tile.space<shared>>
      tile.store %v, %A[%bx, %i] : memref<8x256xf32, #tile.space<global>>
    }
  }
  return
}

// -----

#threads = #tile.fragment<[256], "(i) -> thread i // 2, slot i % 2">

func.func @size(%A: memref<8x256xf32, #tile.space<global>> {tile.name = "A"}) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [128] {
    %s = tile.alloc "s" {tile.placement = #tile.layout<[256], "(i) -> (i)">, tile.alignment = 128 : i64} : memref<256xf32, #tile.space<shared>>
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: it copies 1008 bytes, its loop names 1024}}
    tile.parallel (%i) in (256) attributes {tile.distribution = #threads, tile.span = #tile.span<bytes = 1008>} {
      %v = tile.load %s[%i] : memref<256xf32, #tile.space<shared>>
      tile.store %v, %A[%bx, %i] : memref<8x256xf32, #tile.space<global>>
    }
  }
  return
}

// -----

#threads = #tile.fragment<[256], "(i) -> thread i // 2, slot i % 2">

func.func @order(%A: memref<8x256xf32, #tile.space<global>> {tile.name = "A"}) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [128] {
    %s = tile.alloc "s" {tile.placement = #tile.layout<[256], "(i) -> (4 * (i % 64) + i // 64)">, tile.alignment = 128 : i64} : memref<256xf32, #tile.space<shared>>
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: iteration 1 lies 1 elements after the first in the tensor, 4 in the tile}}
    tile.parallel (%i) in (256) attributes {tile.distribution = #threads, tile.span = #tile.span<bytes = 1024>} {
      %v = tile.load %s[%i] : memref<256xf32, #tile.space<shared>>
      tile.store %v, %A[%bx, %i] : memref<8x256xf32, #tile.space<global>>
    }
  }
  return
}

// -----

#threads = #tile.fragment<[256], "(i) -> thread i // 2, slot i % 2">

func.func @outside(%A: memref<8x200xf32, #tile.space<global>> {tile.name = "A"}) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [128] {
    %s = tile.alloc "s" {tile.placement = #tile.layout<[256], "(i) -> (i)">, tile.alignment = 128 : i64} : memref<256xf32, #tile.space<shared>>
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: iteration 200 is out of bounds}}
    tile.parallel (%i) in (256) attributes {tile.distribution = #threads, tile.span = #tile.span<bytes = 1024>} {
      %v = tile.load %s[%i] : memref<256xf32, #tile.space<shared>>
      tile.store %v, %A[%bx, %i] : memref<8x200xf32, #tile.space<global>>
    }
  }
  return
}

// -----

#threads = #tile.fragment<[256], "(i) -> thread i // 2, slot i % 2">

func.func @start(%A: memref<8x257xf32, #tile.space<global>> {tile.name = "A"}) {
  %c8 = arith.constant 8 : index
  tile.kernel (%bx) in (%c8) threads [128] {
    %s = tile.alloc "s" {tile.placement = #tile.layout<[256], "(i) -> (i)">, tile.alignment = 128 : i64} : memref<256xf32, #tile.space<shared>>
    // expected-error @below {{internal error: the plan of this bulk copy is wrong: it starts at byte 7196 of the tensor, byte 0 of the tile}}
    tile.parallel (%i) in (256) attributes {tile.distribution = #threads, tile.span = #tile.span<bytes = 1024>} {
      %v = tile.load %s[%i] : memref<256xf32, #tile.space<shared>>
      tile.store %v, %A[%bx, %i] : memref<8x257xf32, #tile.space<global>>
    }
  }
  return
}
