// RUN: tw-opt %s -split-input-file -verify-diagnostics

func.func @copy_extents(%A: memref<64x128xf16, #tile.space<global>> {tile.name = "Q"}, %n: index) {
  tile.kernel (%bx) in (%n) threads [128] {
    // expected-note @+1 {{'q' is allocated here}}
    %s = tile.alloc "q" : memref<32x128xf16, #tile.space<shared>>
    // expected-error @+1 {{'T.copy': expected equal extents, got 'Q' (64 x 128 float16) and 'q' (32 x 128 float16)}}
    tile.copy %A, %s
        : memref<64x128xf16, #tile.space<global>> to memref<32x128xf16, #tile.space<shared>>
  }
  return
}

// -----

func.func @copy_width(%A: memref<8xf16, #tile.space<global>>) {
  // expected-error @+1 {{coalesced_width 0 is not positive}}
  tile.copy %A, %A {coalescedWidth = 0 : i64}
      : memref<8xf16, #tile.space<global>> to memref<8xf16, #tile.space<global>>
  return
}

// -----

func.func @copy_negative_width(%A: memref<8xf16, #tile.space<global>>) {
  // expected-error @+1 {{coalesced_width -1 is not positive}}
  tile.copy %A, %A {coalescedWidth = -1 : i64}
      : memref<8xf16, #tile.space<global>> to memref<8xf16, #tile.space<global>>
  return
}

// -----

func.func @fill_type(%A: memref<8xui8, #tile.space<global>> {tile.name = "A"}, %x: f32) {
  // expected-error @+1 {{'tile.fill' op fills 'A' (8 uint8) with a value of type 'f32', expected 'i8'}}
  tile.fill %x, %A : f32, memref<8xui8, #tile.space<global>>
  return
}

// -----

func.func @gemm_vector(%A: memref<8xf16, #tile.space<global>> {tile.name = "A"},
                       %C: memref<8x8xf32, #tile.space<global>>) {
  // expected-error @+1 {{'T.gemm': expected a matrix for A, got 'A' (8 float16)}}
  tile.gemm %A, %A, %C : memref<8xf16, #tile.space<global>>, memref<8xf16, #tile.space<global>>,
      memref<8x8xf32, #tile.space<global>>
  return
}

// -----

func.func @gemm_batch(%A: memref<8x8xf16, #tile.space<global>>,
                      %B: memref<2x8x8xf16, #tile.space<global>> {tile.name = "B"},
                      %C: memref<8x8xf32, #tile.space<global>>) {
  // expected-error @+1 {{'T.gemm': expected a matrix for B, got 'B' (2 x 8 x 8 float16)}}
  tile.gemm %A, %B, %C : memref<8x8xf16, #tile.space<global>>,
      memref<2x8x8xf16, #tile.space<global>>, memref<8x8xf32, #tile.space<global>>
  return
}

// -----

func.func @gemm_k(%A: memref<8x16xf16, #tile.space<global>> {tile.name = "A"},
                  %C: memref<8x8xf32, #tile.space<global>> {tile.name = "C"}) {
  // expected-error @+1 {{'T.gemm': A is 'A' (8 x 16 float16), B is 'A' (8 x 16 float16), C is 'C' (8 x 8 float32); A has K = 16 and B has K = 8}}
  tile.gemm %A, %A, %C : memref<8x16xf16, #tile.space<global>>, memref<8x16xf16, #tile.space<global>>,
      memref<8x8xf32, #tile.space<global>>
  return
}

// -----

func.func @gemm_c(%A: memref<8x16xf16, #tile.space<global>> {tile.name = "A"},
                  %C: memref<8x4xf32, #tile.space<global>> {tile.name = "C"}) {
  // expected-error @+1 {{'T.gemm': A is 'A' (8 x 16 float16), B is 'A' (8 x 16 float16) transposed, C is 'C' (8 x 4 float32); expected C to be 8 x 8}}
  tile.gemm %A, %A, %C transpose_b : memref<8x16xf16, #tile.space<global>>,
      memref<8x16xf16, #tile.space<global>>, memref<8x4xf32, #tile.space<global>>
  return
}

// -----

func.func @gemm_dynamic_c(%A: memref<?x16xf16, #tile.space<global>> {tile.name = "A"},
                          %B: memref<8x16xf16, #tile.space<global>> {tile.name = "B"},
                          %C: memref<8x4xf32, #tile.space<global>> {tile.name = "C"}) {
  // expected-error @+1 {{; expected C to be ? x 8}}
  tile.gemm %A, %B, %C transpose_b : memref<?x16xf16, #tile.space<global>>,
      memref<8x16xf16, #tile.space<global>>, memref<8x4xf32, #tile.space<global>>
  return
}

// -----

func.func @gemm_kinds(%A: memref<8x8xi8, #tile.space<global>> {tile.name = "A"},
                      %C: memref<8x8xf32, #tile.space<global>> {tile.name = "C"}) {
  // expected-error @+1 {{'T.gemm': A is 'A' (8 x 8 int8) transposed, B is 'A' (8 x 8 int8), C is 'C' (8 x 8 float32); expected all floats or all integers}}
  tile.gemm %A, %A, %C transpose_a : memref<8x8xi8, #tile.space<global>>,
      memref<8x8xi8, #tile.space<global>>, memref<8x8xf32, #tile.space<global>>
  return
}

// -----

func.func @gemm_bool(%A: memref<8x8xi8, #tile.space<global>> {tile.name = "A"},
                     %C: memref<8x8xi1, #tile.space<global>> {tile.name = "C"}) {
  // expected-error @+1 {{; expected all floats or all integers}}
  tile.gemm %A, %A, %C : memref<8x8xi8, #tile.space<global>>, memref<8x8xi8, #tile.space<global>>,
      memref<8x8xi1, #tile.space<global>>
  return
}

// -----

func.func @gemm_dtypes(%A: memref<8x8xf16, #tile.space<global>> {tile.name = "A"},
                       %B: memref<8x8xbf16, #tile.space<global>> {tile.name = "B"},
                       %C: memref<8x8xf32, #tile.space<global>> {tile.name = "C"}) {
  // expected-error @+1 {{'T.gemm': A is 'A' (8 x 8 float16), B is 'B' (8 x 8 bfloat16), C is 'C' (8 x 8 float32); expected A and B of one dtype, convert one with 'T.copy' first}}
  tile.gemm %A, %B, %C : memref<8x8xf16, #tile.space<global>>, memref<8x8xbf16, #tile.space<global>>,
      memref<8x8xf32, #tile.space<global>>
  return
}

// -----

func.func @gemm_k_pack(%A: memref<8x8xf16, #tile.space<global>>,
                       %C: memref<8x8xf32, #tile.space<global>>) {
  // expected-error @+1 {{k_pack -1 is not positive}}
  tile.gemm %A, %A, %C k_pack -1 : memref<8x8xf16, #tile.space<global>>,
      memref<8x8xf16, #tile.space<global>>, memref<8x8xf32, #tile.space<global>>
  return
}

// -----

func.func @reduce_dim(%A: memref<8x4xf32, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{'T.reduce_max': dimension 2 does not exist in 'A' (8 x 4 float32)}}
  tile.reduce max %A, %A dim 2
      : memref<8x4xf32, #tile.space<global>> to memref<8x4xf32, #tile.space<global>>
  return
}

// -----

func.func @reduce_negative_dim(%A: memref<8x4xf32, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{'T.reduce_max': dimension -1 does not exist in 'A' (8 x 4 float32)}}
  tile.reduce max %A, %A dim -1
      : memref<8x4xf32, #tile.space<global>> to memref<8x4xf32, #tile.space<global>>
  return
}

// -----

func.func @reduce_output(%n: index, %A: memref<8x4xf32, #tile.space<global>> {tile.name = "A"}) {
  tile.kernel (%bx) in (%n) threads [128] {
    // expected-note @+1 {{'r' is allocated here}}
    %r = tile.alloc "r" : memref<4xf32, #tile.space<fragment>>
    // expected-error @+1 {{'T.reduce_sum' of 'A' (8 x 4 float32) along dimension 1: expected an output of 8 or 8 x 1, got 'r' (4 float32)}}
    tile.reduce sum %A, %r dim 1
        : memref<8x4xf32, #tile.space<global>> to memref<4xf32, #tile.space<fragment>>
  }
  return
}

// -----

func.func @reduce_vector(%A: memref<8xf32, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{'T.reduce_sum' of 'A' (8 float32) along dimension 0: expected an output of 1, got 'A' (8 float32)}}
  tile.reduce sum %A, %A dim 0
      : memref<8xf32, #tile.space<global>> to memref<8xf32, #tile.space<global>>
  return
}

// -----

func.func @reduce_bits(%A: memref<1xf32, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{'T.reduce_bitxor' needs integers, got 'A' (1 float32)}}
  tile.reduce xor %A, %A dim 0
      : memref<1xf32, #tile.space<global>> to memref<1xf32, #tile.space<global>>
  return
}

// -----

func.func @reduce_kinds(%A: memref<1xf32, #tile.space<global>> {tile.name = "A"},
                        %B: memref<1xi32, #tile.space<global>> {tile.name = "B"}) {
  // expected-error @+1 {{'T.reduce_sum': 'A' (1 float32) and 'B' (1 int32) are not both floats or both integers}}
  tile.reduce sum %A, %B dim 0
      : memref<1xf32, #tile.space<global>> to memref<1xi32, #tile.space<global>>
  return
}

// -----

func.func @reduce_dynamic(%A: memref<?x4xf32, #tile.space<global>>,
                          %B: memref<?xf32, #tile.space<global>> {tile.name = "B"}) {
  // expected-error @+1 {{the output of 'T.reduce_sum' needs constant extents, got 'B' (? float32)}}
  tile.reduce sum %A, %B dim 1
      : memref<?x4xf32, #tile.space<global>> to memref<?xf32, #tile.space<global>>
  return
}

// -----

func.func @cumsum_dim(%A: memref<8xf32, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{'T.cumsum': dimension 1 does not exist in 'A' (8 float32)}}
  tile.cumsum %A, %A dim 1
      : memref<8xf32, #tile.space<global>> to memref<8xf32, #tile.space<global>>
  return
}

// -----

func.func @cumsum_extents(%A: memref<8xf32, #tile.space<global>> {tile.name = "A"},
                          %B: memref<4xf32, #tile.space<global>> {tile.name = "B"}) {
  // expected-error @+1 {{'T.cumsum': expected equal extents, got 'A' (8 float32) and 'B' (4 float32)}}
  tile.cumsum %A, %B dim 0
      : memref<8xf32, #tile.space<global>> to memref<4xf32, #tile.space<global>>
  return
}

// -----

func.func @cumsum_kinds(%A: memref<8xf32, #tile.space<global>> {tile.name = "A"},
                        %B: memref<8xi32, #tile.space<global>> {tile.name = "B"}) {
  // expected-error @+1 {{'T.cumsum': 'A' (8 float32) and 'B' (8 int32) are not both floats or both integers}}
  tile.cumsum %A, %B dim 0
      : memref<8xf32, #tile.space<global>> to memref<8xi32, #tile.space<global>>
  return
}

// -----

func.func @cumsum_dynamic(%A: memref<?xf32, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{'T.cumsum' needs constant extents, got 'A' (? float32)}}
  tile.cumsum %A, %A dim 0
      : memref<?xf32, #tile.space<global>> to memref<?xf32, #tile.space<global>>
  return
}

// -----

func.func @atomic_or_of_floats(%A: memref<8xf32, #tile.space<global>> {tile.name = "A"}, %x: f32) {
  // expected-error @+1 {{'T.atomic_or' is not defined on 'A' (8 float32)}}
  tile.atomic or %x, %A : f32, memref<8xf32, #tile.space<global>>
  return
}

// -----

func.func @atomic_bool(%A: memref<8xi1, #tile.space<global>> {tile.name = "A"}, %x: i1, %i: index) {
  // expected-error @+1 {{'T.atomic_add' is not defined on 'A' (8 bool)}}
  %p = tile.atomic_element add %x, %A[%i] : memref<8xi1, #tile.space<global>>
  return
}

// -----

func.func @atomic_fragment(%n: index, %x: f32) {
  tile.kernel (%bx) in (%n) threads [128] {
    %r = tile.alloc "r" : memref<4xf32, #tile.space<fragment>>
    // expected-error @+1 {{'T.atomic_max' updates global or shared memory, got 'r' (4 float32), which lives in a fragment}}
    tile.atomic max %x, %r : f32, memref<4xf32, #tile.space<fragment>>
  }
  return
}

// -----

func.func @atomic_extents(%A: memref<8xf32, #tile.space<global>> {tile.name = "A"},
                          %B: memref<4xf32, #tile.space<global>> {tile.name = "B"}) {
  // expected-error @+1 {{'T.atomic_add': expected equal extents, got 'A' (8 float32) and 'B' (4 float32)}}
  tile.atomic add %A, %B : memref<8xf32, #tile.space<global>>, memref<4xf32, #tile.space<global>>
  return
}

// -----

func.func @atomic_scalar_type(%A: memref<8xf32, #tile.space<global>>, %x: i32) {
  // expected-error @+1 {{'tile.atomic' op expected a value of type 'f32', got 'i32'}}
  tile.atomic add %x, %A : i32, memref<8xf32, #tile.space<global>>
  return
}

// -----

func.func @atomic_rank(%A: memref<8xf32, #tile.space<global>> {tile.name = "A"}, %x: f32) {
  // expected-error @+1 {{'tile.atomic_element' op expected 1 indices for 'A' (8 float32), got 0}}
  %p = tile.atomic_element add %x, %A[] : memref<8xf32, #tile.space<global>>
  return
}

// -----

func.func @update_of_no_reducer(%A: memref<8xf32, #tile.space<global>> {tile.name = "A"}, %x: f32,
                                %i: index) {
  // expected-error @+1 {{'T.reducer_update' needs a buffer of 'T.alloc_reducer', got 'A' (8 float32)}}
  tile.reducer_update %x, %A[%i] : memref<8xf32, #tile.space<global>>
  return
}

// -----

func.func @finalize_of_no_reducer(%A: memref<8xf32, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{'T.finalize_reducer' needs a buffer of 'T.alloc_reducer', got 'A' (8 float32)}}
  tile.finalize_reducer %A, %A
      : memref<8xf32, #tile.space<global>> to memref<8xf32, #tile.space<global>>
  return
}

// -----

func.func @finalize_extents(%n: index, %A: memref<8xf32, #tile.space<global>> {tile.name = "A"}) {
  tile.kernel (%bx) in (%n) threads [128] {
    // expected-note @+1 {{'r' is allocated here}}
    %r = tile.alloc "r" reducer max : memref<4xf32, #tile.space<fragment>>
    // expected-error @+1 {{'T.finalize_reducer': expected equal extents, got 'r' (4 float32) and 'A' (8 float32)}}
    tile.finalize_reducer %r, %A
        : memref<4xf32, #tile.space<fragment>> to memref<8xf32, #tile.space<global>>
  }
  return
}

// -----

func.func @finalize_dynamic(%n: index) {
  tile.kernel (%bx) in (%n) threads [128] {
    %r = tile.alloc "r" reducer max : memref<4xf32, #tile.space<fragment>>
    %s = tile.slice %r[0] [%n] [1]
        : memref<4xf32, #tile.space<fragment>> to memref<?xf32, #tile.space<fragment>>
    // expected-error @+1 {{'T.finalize_reducer' needs constant extents, got 'r' (? float32)}}
    tile.finalize_reducer %s, %s
        : memref<?xf32, #tile.space<fragment>> to memref<?xf32, #tile.space<fragment>>
  }
  return
}

// -----

func.func @im2col_image(%A: memref<8x8xf32, #tile.space<global>> {tile.name = "A"}, %i: index) {
  // expected-error @+1 {{'T.im2col': expected an image of rank 4 (n, h, w, c), got 'A' (8 x 8 float32)}}
  tile.im2col %A, %A at (%i, %i) kernel 3 stride 1 dilation 1 pad 0
      : memref<8x8xf32, #tile.space<global>> to memref<8x8xf32, #tile.space<global>>
  return
}

// -----

func.func @im2col_patches(%A: memref<1x8x8x4xf32, #tile.space<global>> {tile.name = "A"}, %i: index) {
  // expected-error @+1 {{'T.im2col': expected a matrix for the patches, got 'A' (1 x 8 x 8 x 4 float32)}}
  tile.im2col %A, %A at (%i, %i) kernel 3 stride 1 dilation 1 pad 0
      : memref<1x8x8x4xf32, #tile.space<global>> to memref<1x8x8x4xf32, #tile.space<global>>
  return
}

// -----

func.func @im2col_dtype(%A: memref<1x8x8x4xf32, #tile.space<global>> {tile.name = "A"},
                        %B: memref<8x8xf16, #tile.space<global>> {tile.name = "B"}, %i: index) {
  // expected-error @+1 {{'T.im2col': expected equal dtypes, got 'A' (1 x 8 x 8 x 4 float32) and 'B' (8 x 8 float16)}}
  tile.im2col %A, %B at (%i, %i) kernel 3 stride 1 dilation 1 pad 0
      : memref<1x8x8x4xf32, #tile.space<global>> to memref<8x8xf16, #tile.space<global>>
  return
}

// -----

func.func @im2col_kernel(%A: memref<1x8x8x4xf32, #tile.space<global>>,
                         %B: memref<8x8xf32, #tile.space<global>>, %i: index) {
  // expected-error @+1 {{'T.im2col': kernel, stride and dilation are positive and pad is not negative}}
  tile.im2col %A, %B at (%i, %i) kernel -3 stride 1 dilation 1 pad 0
      : memref<1x8x8x4xf32, #tile.space<global>> to memref<8x8xf32, #tile.space<global>>
  return
}

// -----

func.func @im2col_pad(%A: memref<1x8x8x4xf32, #tile.space<global>>,
                      %B: memref<8x8xf32, #tile.space<global>>, %i: index) {
  // expected-error @+1 {{'T.im2col': kernel, stride and dilation are positive and pad is not negative}}
  tile.im2col %A, %B at (%i, %i) kernel 3 stride 1 dilation 1 pad -1
      : memref<1x8x8x4xf32, #tile.space<global>> to memref<8x8xf32, #tile.space<global>>
  return
}
