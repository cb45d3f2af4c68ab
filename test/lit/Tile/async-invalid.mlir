// RUN: tw-opt %s -split-input-file -verify-diagnostics
// Groups of copies and their plans, each broken once.

func.func @no_plan(%a: memref<64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %full = tile.barrier_alloc "full" arrivals [1] : memref<1xi64, #tile.space<shared>>
    %s = tile.alloc "s" : memref<64xf32, #tile.space<shared>>
    tile.async_group %bx below %c1 on %full[%bx] : memref<1xi64, #tile.space<shared>> {
      // expected-error @below {{in a group on a barrier has no plan as a bulk copy}}
      tile.parallel (%i) in (64) {
        %v = tile.load %a[%i] : memref<64xf32, #tile.space<global>>
        tile.store %v, %s[%i] : memref<64xf32, #tile.space<shared>>
      }
    }
  }
  return
}

// -----

func.func @no_barrier(%a: memref<64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<64xf32, #tile.space<shared>>
    tile.async_group %bx below %c1 {
      // expected-error @below {{in a group without a barrier has a plan as a bulk copy}}
      tile.parallel (%i) in (64) attributes {tile.bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [64] swizzle = 0 origins = [0] offsets = [0]>} {
        %v = tile.load %a[%i] : memref<64xf32, #tile.space<global>>
        tile.store %v, %s[%i] : memref<64xf32, #tile.space<shared>>
      }
    }
  }
  return
}

// -----

func.func @phase(%k: index) {
  // expected-error @below {{of 0 versions, expected at least 1}}
  %p = tile.phase %k from %k ahead 0 of 0
  return
}

// -----

// expected-error @below {{a swizzle permutes 0, 32, 64 or 128 bytes, got 16}}
func.func private @swizzle() attributes {x = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [64] swizzle = 16 origins = [0] offsets = [0]>}

// -----

// expected-error @below {{expected a dimension, a divisor and an origin in each instruction for every digit of the box}}
func.func private @origins() attributes {x = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [64] swizzle = 0 origins = [0, 1] offsets = [0]>}

// -----

// expected-error @below {{'tile.bulk' is the #tile.bulk plan of 'tile.parallel'}}
func.func private @place() attributes {tile.bulk = #tile.bulk<map = 0 dims = [0] divisors = [1] box = [64] swizzle = 0 origins = [0] offsets = [0]>}

// -----

// expected-error @below {{'tile.extra_threads' is a number of threads of 'tile.kernel'}}
func.func private @threads() attributes {tile.extra_threads = 32 : i64}

// -----

func.func @unplanned(%a: memref<64xf32, #tile.space<global>>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.bulk_group {
      // expected-error @below {{in 'tile.bulk_group' has no plan as a bulk copy}}
      tile.parallel (%i) in (64) {
        %v = tile.load %a[%i] : memref<64xf32, #tile.space<global>>
        tile.store %v, %a[%i] : memref<64xf32, #tile.space<global>>
      }
    }
  }
  return
}

// -----

func.func @other_statements() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.bulk_group {
      // expected-error @below {{in 'tile.bulk_group', which holds bulk stores ('tile.parallel') and the arithmetic of their indices}}
      tile.barrier
    }
  }
  return
}

// -----

// expected-error @below {{'tile.span' is the #tile.span plan of 'tile.parallel'}}
func.func private @span() attributes {tile.span = #tile.span<bytes = 64>}
