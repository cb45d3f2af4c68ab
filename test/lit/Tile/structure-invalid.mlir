// RUN: tw-opt %s -split-input-file -verify-diagnostics

func.func @no_grid() {
  // expected-error @+1 {{a kernel has 1 to 3 grid extents, got 0}}
  tile.kernel () in () threads [32] {
  }
  return
}

// -----

func.func @grid_of_four(%n: index) {
  // expected-error @+1 {{a kernel has 1 to 3 grid extents, got 4}}
  tile.kernel (%a, %b, %c, %d) in (%n, %n, %n, %n) threads [32] {
  }
  return
}

// -----

func.func @missing_block_index(%n: index) {
  // expected-error @+1 {{'tile.kernel' op has 2 grid extents and 1 block indices}}
  tile.kernel (%a) in (%n, %n) threads [32] {
  }
  return
}

// -----

func.func @no_threads(%n: index) {
  // expected-error @+1 {{a block has 1 to 3 thread extents, got 0}}
  tile.kernel (%a) in (%n) threads [] {
  }
  return
}

// -----

func.func @negative_grid() {
  %n = arith.constant -3 : index
  // expected-error @+1 {{grid extent -3 is negative}}
  tile.kernel (%a) in (%n) threads [32] {
  }
  return
}

// -----

func.func @zero_threads(%n: index) {
  // expected-error @+1 {{thread extent 0 is not between 1 and 1024}}
  tile.kernel (%a) in (%n) threads [32, 0] {
  }
  return
}

// -----

func.func @huge_threads(%n: index) {
  // expected-error @+1 {{thread extent 9223372036854775807 is not between 1 and 1024}}
  tile.kernel (%a) in (%n) threads [9223372036854775807] {
  }
  return
}

// -----

func.func @too_many_threads(%n: index) {
  // expected-error @+1 {{a block of 2048 threads is too large, at most 1024 fit}}
  tile.kernel (%a) in (%n) threads [64, 32] {
  }
  return
}

// -----

func.func @kernel_in_kernel(%n: index) {
  tile.kernel (%a) in (%n) threads [32] {
    // expected-error @+1 {{a kernel inside a kernel: close the first 'with T.Kernel' before}}
    tile.kernel (%b) in (%n) threads [32] {
    }
  }
  return
}

// -----

func.func @float_block_index(%n: index) {
  // expected-error @+1 {{'tile.kernel' op has a region argument of type 'f32', expected index}}
  "tile.kernel"(%n) <{threads = array<i64: 32>}> ({
  ^bb0(%a: f32):
    tile.yield
  }) : (index) -> ()
  return
}

// -----

func.func @parallel_variable_missing(%n: index) {
  // expected-error @+1 {{'tile.parallel' op has 2 extents and 1 loop variables}}
  tile.parallel (%i) in (4, %n) {
  }
  return
}

// -----

func.func @parallel_without_extent() {
  // expected-error @+1 {{'T.Parallel' needs at least one extent}}
  tile.parallel () in () {
  }
  return
}

// -----

func.func @parallel_operand_missing() {
  // expected-error @+1 {{'tile.parallel' op has 1 run-time extents and 0 operands}}
  tile.parallel (%i) in (-9223372036854775808) {
  }
  return
}

// -----

func.func @parallel_endless() {
  // expected-error @+1 {{'T.Parallel' over 1048576 x 1048576 has more than 2^36 iterations for one block; divide them among the blocks of T.Kernel}}
  tile.parallel (%i, %j) in (1048576, 1048576) {
  }
  return
}

// -----

func.func @parallel_negative() {
  // expected-error @+1 {{'T.Parallel' extent -1 is negative}}
  tile.parallel (%i) in (-1) {
  }
  return
}

// -----

func.func @parallel_width() {
  // expected-error @+1 {{coalesced_width -2 is not positive}}
  tile.parallel (%i) in (8) attributes {coalescedWidth = -2 : i64} {
  }
  return
}

// -----

func.func @parallel_layout_rank() {
  // expected-error @+1 {{loop_layout has 2 inputs, the loop has 1 variables}}
  tile.parallel (%i) in (8) attributes {loopLayout = #tile.fragment<[8, 2], "(i, j) -> thread i, slot j">} {
  }
  return
}

// -----

func.func @parallel_float_variable() {
  // expected-error @+1 {{'tile.parallel' op has a region argument of type 'f32', expected index}}
  "tile.parallel"() <{staticExtents = array<i64: 4>}> ({
  ^bb0(%i: f32):
    tile.yield
  }) : () -> ()
  return
}

// -----

func.func @pipelined_two_variables(%n: index) {
  // expected-error @+1 {{'tile.pipelined' op has one loop variable, got 2}}
  "tile.pipelined"(%n, %n) <{numStages = 1 : i64}> ({
  ^bb0(%i: index, %j: index):
    tile.yield
  }) : (index, index) -> ()
  return
}

// -----

func.func @pipelined_float_variable(%n: index) {
  // expected-error @+1 {{'tile.pipelined' op has a region argument of type 'i32', expected index}}
  "tile.pipelined"(%n, %n) <{numStages = 1 : i64}> ({
  ^bb0(%i: i32):
    tile.yield
  }) : (index, index) -> ()
  return
}

// -----

func.func @negative_stages(%n: index) {
  // expected-error @+1 {{num_stages -1 is negative}}
  tile.pipelined %k = %n to %n stages -1 {
  }
  return
}

// -----

func.func @order_without_stage(%n: index) {
  // expected-error @+1 {{'order' and 'stage' of 'T.Pipelined' are given together or not at all}}
  tile.pipelined %k = %n to %n stages 2 order [] {
  }
  return
}

// -----

func.func @order_too_long(%n: index) {
  // expected-error @+1 {{'order' of 'T.Pipelined' has 1 entries, the body has 0 statements}}
  tile.pipelined %k = %n to %n stages 2 order [0] stage [] {
  }
  return
}

// -----

func.func @stage_too_long(%n: index) {
  // expected-error @+1 {{'stage' of 'T.Pipelined' has 2 entries, the body has 0 statements}}
  tile.pipelined %k = %n to %n stages 2 order [] stage [0, 1] {
  }
  return
}

// -----

func.func @order_twice(%n: index, %A: memref<8xf32, #tile.space<global>>, %x: f32) {
  // expected-error @+1 {{'order' of 'T.Pipelined' is not a permutation of 0 to 1}}
  tile.pipelined %k = %n to %n stages 2 order [1, 1] stage [0, 1] {
    tile.fill %x, %A : f32, memref<8xf32, #tile.space<global>>
    tile.fill %x, %A : f32, memref<8xf32, #tile.space<global>>
  }
  return
}

// -----

func.func @negative_stage(%n: index, %A: memref<8xf32, #tile.space<global>>, %x: f32) {
  // expected-error @+1 {{stage -4 of 'T.Pipelined' is negative}}
  tile.pipelined %k = %n to %n stages 2 order [0] stage [-4] {
    tile.fill %x, %A : f32, memref<8xf32, #tile.space<global>>
  }
  return
}

// -----

// A broken statement of the body is reported, not counted.
func.func @broken_statement(%n: index) {
  tile.pipelined %k = %n to %n stages 2 order [0] stage [0] {
    // expected-error @+1 {{'tile.fill' op expected 2 operands, but found 0}}
    "tile.fill"() : () -> ()
  }
  return
}

// -----

func.func @stray_yield() {
  // expected-error @+1 {{'tile.yield' op expects parent op to be one of 'tile.async_group, tile.bulk_group, tile.kernel, tile.parallel, tile.pipelined, tile.role'}}
  tile.yield
}
