// RUN: tw-opt %s -split-input-file -verify-diagnostics
// The generic form can say anything: each op without operands, attributes or regions, and with wrong
// ones, is refused by a message.

func.func @kernel_without_anything() {
  // expected-error @+1 {{'tile.kernel' op requires one region}}
  "tile.kernel"() : () -> ()
  return
}

// -----

func.func @parallel_without_anything() {
  // expected-error @+1 {{'tile.parallel' op requires one region}}
  "tile.parallel"() : () -> ()
  return
}

// -----

func.func @pipelined_without_anything() {
  // expected-error @+1 {{'tile.pipelined' op requires one region}}
  "tile.pipelined"() : () -> ()
  return
}

// -----

func.func @alloc_without_anything() {
  // expected-error @+1 {{'tile.alloc' op requires one result}}
  "tile.alloc"() : () -> ()
  return
}

// -----

func.func @slice_without_anything() {
  // expected-error @+1 {{'tile.slice' op requires one result}}
  "tile.slice"() : () -> ()
  return
}

// -----

func.func @view_without_anything() {
  // expected-error @+1 {{'tile.view' op requires one result}}
  "tile.view"() : () -> ()
  return
}

// -----

func.func @load_without_anything() {
  // expected-error @+1 {{'tile.load' op requires one result}}
  "tile.load"() : () -> ()
  return
}

// -----

func.func @store_without_anything() {
  // expected-error @+1 {{'tile.store' op expected 2 or more operands, but found 0}}
  "tile.store"() : () -> ()
  return
}

// -----

func.func @copy_without_anything() {
  // expected-error @+1 {{'tile.copy' op expected 2 operands, but found 0}}
  "tile.copy"() : () -> ()
  return
}

// -----

func.func @fill_without_anything() {
  // expected-error @+1 {{'tile.fill' op expected 2 operands, but found 0}}
  "tile.fill"() : () -> ()
  return
}

// -----

func.func @gemm_without_anything() {
  // expected-error @+1 {{'tile.gemm' op expected 3 or more operands, but found 0}}
  "tile.gemm"() : () -> ()
  return
}

// -----

func.func @reduce_without_anything() {
  // expected-error @+1 {{'tile.reduce' op expected 2 operands, but found 0}}
  "tile.reduce"() : () -> ()
  return
}

// -----

func.func @cumsum_without_anything() {
  // expected-error @+1 {{'tile.cumsum' op expected 2 operands, but found 0}}
  "tile.cumsum"() : () -> ()
  return
}

// -----

func.func @atomic_without_anything() {
  // expected-error @+1 {{'tile.atomic' op expected 2 operands, but found 0}}
  "tile.atomic"() : () -> ()
  return
}

// -----

func.func @atomic_element_without_anything() {
  // expected-error @+1 {{'tile.atomic_element' op requires one result}}
  "tile.atomic_element"() : () -> ()
  return
}

// -----

func.func @reducer_update_without_anything() {
  // expected-error @+1 {{'tile.reducer_update' op expected 2 or more operands, but found 0}}
  "tile.reducer_update"() : () -> ()
  return
}

// -----

func.func @finalize_reducer_without_anything() {
  // expected-error @+1 {{'tile.finalize_reducer' op expected 2 operands, but found 0}}
  "tile.finalize_reducer"() : () -> ()
  return
}

// -----

func.func @im2col_without_anything() {
  // expected-error @+1 {{'tile.im2col' op expected 4 operands, but found 0}}
  "tile.im2col"() : () -> ()
  return
}

// -----

func.func @annotate_layout_without_anything() {
  // expected-error @+1 {{'tile.annotate_layout' op requires a single operand}}
  "tile.annotate_layout"() : () -> ()
  return
}

// -----

func.func @annotate_safe_value_without_anything() {
  // expected-error @+1 {{'tile.annotate_safe_value' op requires a single operand}}
  "tile.annotate_safe_value"() : () -> ()
  return
}

// -----

func.func @use_swizzle_without_anything() {
  // expected-error @+1 {{'tile.use_swizzle' op requires attribute 'order'}}
  "tile.use_swizzle"() : () -> ()
  return
}

// -----

func.func @hint_without_anything() {
  // expected-error @+1 {{'tile.hint' op requires attribute 'name'}}
  "tile.hint"() : () -> ()
  return
}

// -----

func.func @assume_without_anything() {
  // expected-error @+1 {{'tile.assume' op requires a single operand}}
  "tile.assume"() : () -> ()
  return
}

// -----

func.func @print_without_anything() {
  // expected-error @+1 {{'tile.print' op requires attribute 'message'}}
  "tile.print"() : () -> ()
  return
}

// -----

func.func @assert_without_anything() {
  // expected-error @+1 {{'tile.assert' op requires a single operand}}
  "tile.assert"() : () -> ()
  return
}

// -----

func.func @floordiv_without_anything() {
  // expected-error @+1 {{'tile.floordiv' op requires one result}}
  "tile.floordiv"() : () -> ()
  return
}

// -----

func.func @floormod_without_anything() {
  // expected-error @+1 {{'tile.floormod' op requires one result}}
  "tile.floormod"() : () -> ()
  return
}

// -----

func.func @truncdiv_without_anything() {
  // expected-error @+1 {{'tile.truncdiv' op requires one result}}
  "tile.truncdiv"() : () -> ()
  return
}

// -----

func.func @truncmod_without_anything() {
  // expected-error @+1 {{'tile.truncmod' op requires one result}}
  "tile.truncmod"() : () -> ()
  return
}

// -----

func.func @shl_without_anything() {
  // expected-error @+1 {{'tile.shl' op requires one result}}
  "tile.shl"() : () -> ()
  return
}

// -----

func.func @shr_without_anything() {
  // expected-error @+1 {{'tile.shr' op requires one result}}
  "tile.shr"() : () -> ()
  return
}

// -----

func.func @cast_without_anything() {
  // expected-error @+1 {{'tile.cast' op requires one result}}
  "tile.cast"() : () -> ()
  return
}

// -----

func.func @bitcast_without_anything() {
  // expected-error @+1 {{'tile.bitcast' op requires one result}}
  "tile.bitcast"() : () -> ()
  return
}

// -----

func.func @kernel_without_threads(%n: index) {
  // expected-error @+1 {{'tile.kernel' op requires attribute 'threads'}}
  "tile.kernel"(%n) ({
  ^bb0(%i: index):
    tile.yield
  }) : (index) -> ()
  return
}

// -----

func.func @kernel_without_block(%n: index) {
  // expected-error @+1 {{'tile.kernel' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
  "tile.kernel"(%n) <{threads = array<i64: 32>}> ({}) : (index) -> ()
  return
}

// -----

func.func @kernel_with_two_blocks(%n: index) {
  // expected-error @+1 {{'tile.kernel' op expects region #0 to have 0 or 1 blocks}}
  "tile.kernel"(%n) <{threads = array<i64: 32>}> ({
  ^bb0(%i: index):
    tile.yield
  ^bb1:
    tile.yield
  }) : (index) -> ()
  return
}

// -----

func.func @kernel_with_empty_block(%n: index) {
  // expected-error @+1 {{'tile.kernel' op expects a non-empty block}}
  "tile.kernel"(%n) <{threads = array<i64: 32>}> ({
  ^bb0(%i: index):
  }) : (index) -> ()
  return
}

// -----

func.func @kernel_with_other_terminator(%n: index) {
  "tile.kernel"(%n) <{threads = array<i64: 32>}> ({
  ^bb0(%i: index):
  // expected-error @+1 {{'func.return' op expects parent op 'func.func'}}
    func.return
  }) : (index) -> ()
  return
}

// -----

func.func @kernel_with_float_grid(%x: f32) {
  // expected-error @+1 {{'tile.kernel' op operand #0 must be variadic of index, but got 'f32'}}
  "tile.kernel"(%x) <{threads = array<i64: 32>}> ({
  ^bb0(%i: index):
    tile.yield
  }) : (f32) -> ()
  return
}

// -----

func.func @kernel_with_threads_of_other_kind(%n: index) {
  // expected-error @+1 {{invalid properties {threads = 32 : i64} for op tile.kernel: Invalid attribute `threads` in property conversion: 32 : i64}}
  "tile.kernel"(%n) <{threads = 32 : i64}> ({
  ^bb0(%i: index):
    tile.yield
  }) : (index) -> ()
  return
}

// -----

func.func @parallel_without_extents() {
  // expected-error @+1 {{'tile.parallel' op requires attribute 'staticExtents'}}
  "tile.parallel"() ({
  ^bb0(%i: index):
    tile.yield
  }) : () -> ()
  return
}

// -----

func.func @pipelined_without_variable(%n: index) {
  // expected-error @+1 {{'tile.pipelined' op has one loop variable, got 0}}
  "tile.pipelined"(%n, %n) <{numStages = 1 : i64}> ({
  ^bb0:
    tile.yield
  }) : (index, index) -> ()
  return
}

// -----

func.func @alloc_of_tensor() {
  // expected-error @+1 {{'tile.alloc' op result #0 must be buffer (a memref in a #tile.space), but got 'tensor<4xf32>'}}
  %a = "tile.alloc"() <{name = "a"}> : () -> tensor<4xf32>
  return
}

// -----

func.func @alloc_without_name() {
  // expected-error @+1 {{'tile.alloc' op requires attribute 'name'}}
  %a = "tile.alloc"() : () -> memref<f32, #tile.space<local>>
  return
}

// -----

func.func @slice_segments_missing(%a: memref<4x4xf32, #tile.space<global>>) {
  // expected-error @+1 {{'tile.slice' op operand count (1) does not match with the total size (0) specified in attribute 'operandSegmentSizes'}}
  %s = "tile.slice"(%a) <{staticOffsets = array<i64: 0, 0>, staticSizes = array<i64: 1, 1>, staticSteps = array<i64: 1, 1>}> : (memref<4x4xf32, #tile.space<global>>) -> memref<4x4xf32, #tile.space<global>>
  return
}

// -----

func.func @slice_segments_negative(%a: memref<4x4xf32, #tile.space<global>>) {
  // expected-error @+1 {{'tile.slice' op 'operandSegmentSizes' attribute cannot have negative elements}}
  %s = "tile.slice"(%a) <{operandSegmentSizes = array<i32: 2, -1, 0, 0>, staticOffsets = array<i64: 0, 0>, staticSizes = array<i64: 1, 1>, staticSteps = array<i64: 1, 1>}> : (memref<4x4xf32, #tile.space<global>>) -> memref<4x4xf32, #tile.space<global>>
  return
}

// -----

func.func @slice_segments_too_many(%a: memref<4x4xf32, #tile.space<global>>) {
  // expected-error @+1 {{'tile.slice' op operand count (1) does not match with the total size (10) specified in attribute 'operandSegmentSizes'}}
  %s = "tile.slice"(%a) <{operandSegmentSizes = array<i32: 1, 9, 0, 0>, staticOffsets = array<i64: 0, 0>, staticSizes = array<i64: 1, 1>, staticSteps = array<i64: 1, 1>}> : (memref<4x4xf32, #tile.space<global>>) -> memref<4x4xf32, #tile.space<global>>
  return
}

// -----

func.func @slice_source_missing() {
  // expected-error @+1 {{'tile.slice' op expected 1 or more operands, but found 0}}
  %s = "tile.slice"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0>, staticOffsets = array<i64>, staticSizes = array<i64>, staticSteps = array<i64>}> : () -> memref<4x4xf32, #tile.space<global>>
  return
}

// -----

func.func @view_of_scalar(%x: f32) {
  // expected-error @+1 {{'tile.view' op operand #0 must be buffer (a memref in a #tile.space), but got 'f32'}}
  %s = "tile.view"(%x) : (f32) -> memref<4x4xf32, #tile.space<global>>
  return
}

// -----

func.func @load_with_other_result(%a: memref<4x4xf32, #tile.space<global>>, %n: index) {
  // expected-error @+1 {{'tile.load' op failed to verify that value is the scalar of the buffer's element type}}
  %s = "tile.load"(%a, %n, %n) : (memref<4x4xf32, #tile.space<global>>, index, index) -> i32
  return
}

// -----

func.func @load_with_float_index(%a: memref<4x4xf32, #tile.space<global>>, %x: f32) {
  // expected-error @+1 {{'tile.load' op operand #1 must be variadic of index, but got 'f32'}}
  %s = "tile.load"(%a, %x, %x) : (memref<4x4xf32, #tile.space<global>>, f32, f32) -> f32
  return
}

// -----

func.func @store_of_buffer(%a: memref<4x4xf32, #tile.space<global>>) {
  // expected-error @+1 {{'tile.store' op operand #0 must be scalar (signless integer, index or float), but got 'memref<4x4xf32, #tile.space<global>>'}}
  "tile.store"(%a, %a) : (memref<4x4xf32, #tile.space<global>>, memref<4x4xf32, #tile.space<global>>) -> ()
  return
}

// -----

func.func @gemm_clear_of_other_type(%a: memref<4x4xf32, #tile.space<global>>, %x: f32) {
  // expected-error @+1 {{'tile.gemm' op operand #3 must be 1-bit signless integer, but got 'f32'}}
  "tile.gemm"(%a, %a, %a, %x) : (memref<4x4xf32, #tile.space<global>>, memref<4x4xf32, #tile.space<global>>, memref<4x4xf32, #tile.space<global>>, f32) -> ()
  return
}

// -----

func.func @reduce_without_kind(%a: memref<4x4xf32, #tile.space<global>>) {
  // expected-error @+1 {{'tile.reduce' op requires attribute 'kind'}}
  "tile.reduce"(%a, %a) <{dim = 0 : i64}> : (memref<4x4xf32, #tile.space<global>>, memref<4x4xf32, #tile.space<global>>) -> ()
  return
}

// -----

func.func @reduce_with_kind_of_atomic(%a: memref<4x4xf32, #tile.space<global>>) {
  // expected-error @+1 {{invalid properties {dim = 0 : i64, kind = #tile<atomic_kind add>} for op tile.reduce: Invalid attribute `kind` in property conversion: #tile<atomic_kind add>}}
  "tile.reduce"(%a, %a) <{dim = 0 : i64, kind = #tile<atomic_kind add>}> : (memref<4x4xf32, #tile.space<global>>, memref<4x4xf32, #tile.space<global>>) -> ()
  return
}

// -----

func.func @reduce_with_narrow_dim(%a: memref<4x4xf32, #tile.space<global>>) {
  // expected-error @+1 {{'tile.reduce' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute}}
  "tile.reduce"(%a, %a) <{dim = 0 : i8, kind = #tile<reduce_kind sum>}> : (memref<4x4xf32, #tile.space<global>>, memref<4x4xf32, #tile.space<global>>) -> ()
  return
}

// -----

func.func @atomic_of_tensor(%a: memref<4x4xf32, #tile.space<global>>, %t: tensor<4xf32>) {
  // expected-error @+1 {{'tile.atomic' op operand #0 must be buffer or scalar, but got 'tensor<4xf32>'}}
  "tile.atomic"(%t, %a) <{kind = #tile<atomic_kind add>}> : (tensor<4xf32>, memref<4x4xf32, #tile.space<global>>) -> ()
  return
}

// -----

func.func @assert_without_message(%ok: i1) {
  // expected-error @+1 {{'tile.assert' op requires attribute 'message'}}
  "tile.assert"(%ok) : (i1) -> ()
  return
}

// -----

func.func @cast_without_types(%x: f32) {
  // expected-error @+1 {{'tile.cast' op requires attribute 'from'}}
  %r = "tile.cast"(%x) : (f32) -> f32
  return
}

// -----

func.func @bitcast_of_vector(%v: vector<4xf32>) {
  // expected-error @+1 {{'tile.bitcast' op operand #0 must be scalar (signless integer, index or float), but got 'vector<4xf32>'}}
  %r = "tile.bitcast"(%v) : (vector<4xf32>) -> f32
  return
}

// -----

func.func @use_before_definition(%x: f32) {
  "tile.fill"(%x, %s) : (f32, memref<4x4xf32, #tile.space<global>>) -> ()
  // expected-error @+1 {{'tile.slice' op expected 1 or more operands, but found 0}}
  %s = "tile.slice"() : () -> memref<4x4xf32, #tile.space<global>>
  return
}

// -----

func.func @circle_of_views() {
  // expected-error @+1 {{operand #0 does not dominate this use}}
  %s = tile.view %t : memref<4x4xf32, #tile.space<global>> to memref<4x4xf32, #tile.space<global>>
  // expected-note @+1 {{operand defined here (op in the same block)}}
  %t = tile.view %s : memref<4x4xf32, #tile.space<global>> to memref<4x4xf32, #tile.space<global>>
  return
}

// -----

func.func @unnamed_allocation_used_before() {
  // expected-error @+1 {{'T.cumsum': dimension 9 does not exist in a buffer (4 x 4 float32)}}
  "tile.cumsum"(%s, %s) <{dim = 9 : i64}> : (memref<4x4xf32, #tile.space<global>>, memref<4x4xf32, #tile.space<global>>) -> ()
  %s = "tile.alloc"() : () -> memref<4x4xf32, #tile.space<global>>
  return
}
