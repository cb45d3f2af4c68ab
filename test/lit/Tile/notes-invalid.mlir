// RUN: tw-opt %s -split-input-file -verify-diagnostics

func.func @layout_of_part(%A: memref<8x4xf16, #tile.space<global>> {tile.name = "A"}) {
  %s = tile.slice %A[0, 0] [4, 4] [1, 1]
      : memref<8x4xf16, #tile.space<global>> to memref<4x4xf16, #tile.space<global>>
  // expected-error @+1 {{a layout is annotated on a whole buffer, not on a part of 'A' (4 x 4 float16)}}
  tile.annotate_layout %s : memref<4x4xf16, #tile.space<global>>
      is #tile.layout<[4, 4], "(i, j) -> (i, j)">
  return
}

// -----

func.func @layout_of_variable() {
  %v = tile.alloc "v" : memref<f32, #tile.space<local>>
  // expected-error @+1 {{a scalar variable has no layout}}
  tile.annotate_layout %v : memref<f32, #tile.space<local>> is #tile.layout<[], "() -> (0)">
  return
}

// -----

func.func @layout_rank(%A: memref<8x4xf16, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{layout of rank 1 on 'A' (8 x 4 float16) of rank 2}}
  tile.annotate_layout %A : memref<8x4xf16, #tile.space<global>> is #tile.layout<[8], "(i) -> (i)">
  return
}

// -----

func.func @layout_shape(%A: memref<8x4xf16, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{layout of shape 8 x 8 on 'A' (8 x 4 float16)}}
  tile.annotate_layout %A : memref<8x4xf16, #tile.space<global>>
      is #tile.layout<[8, 8], "(i, j) -> (i, j)">
  return
}

// -----

func.func @fragment_in_memory(%A: memref<8x4xf16, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{a fragment layout is annotated on a buffer that does not live in a fragment: 'A' (8 x 4 float16), use 'T.Layout'}}
  tile.annotate_layout %A : memref<8x4xf16, #tile.space<global>>
      is #tile.fragment<[8, 4], "(i, j) -> thread i, slot j">
  return
}

// -----

func.func @layout_in_registers(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    %f = tile.alloc "f" : memref<8x4xf32, #tile.space<fragment>>
    // expected-error @+1 {{'f' (8 x 4 float32) lives in registers and needs 'T.Fragment', got a 'T.Layout'}}
    tile.annotate_layout %f : memref<8x4xf32, #tile.space<fragment>>
        is #tile.layout<[8, 4], "(i, j) -> (i, j)">
  }
  return
}

// -----

func.func @negative_place(%A: memref<8xf16, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{layout of 'A' (8 float16): output 0 reaches -3, a position is not negative}}
  tile.annotate_layout %A : memref<8xf16, #tile.space<global>> is #tile.layout<[8], "(i) -> (i - 3)">
  return
}

// -----

func.func @not_injective(%A: memref<8x4xf16, #tile.space<global>> {tile.name = "A"}) {
  // expected-error @+1 {{layout of 'A' (8 x 4 float16) is not injective: elements (0, 0) and (2, 0) both lie at (0, 0)}}
  tile.annotate_layout %A : memref<8x4xf16, #tile.space<global>>
      is #tile.layout<[8, 4], "(i, j) -> (i % 2, j)">
  return
}

// -----

func.func @fragment_not_injective(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    %f = tile.alloc "f" : memref<8x4xf32, #tile.space<fragment>>
    // expected-error @+1 {{layout of 'f' (8 x 4 float32) is not injective: elements (0, 0) and (0, 1) both lie in thread 0, slot 0}}
    tile.annotate_layout %f : memref<8x4xf32, #tile.space<fragment>>
        is #tile.fragment<[8, 4], "(i, j) -> thread i, slot 0">
  }
  return
}

// -----

func.func @negative_thread(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    %f = tile.alloc "f" : memref<8xf32, #tile.space<fragment>>
    // expected-error @+1 {{layout of 'f' (8 float32) names thread -2, they count from 0}}
    tile.annotate_layout %f : memref<8xf32, #tile.space<fragment>>
        is #tile.fragment<[8], "(i) -> thread i - 2, slot 0">
  }
  return
}

// -----

func.func @two_layouts(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    %s = tile.alloc "s" : memref<8x4xf32, #tile.space<shared>>
    // expected-note @+1 {{the other layout is annotated here}}
    tile.annotate_layout %s : memref<8x4xf32, #tile.space<shared>>
        is #tile.layout<[8, 4], "(i, j) -> (j, i)">
    // expected-error @+1 {{'s' (8 x 4 float32) has another layout already; keep one of the two}}
    tile.annotate_layout %s : memref<8x4xf32, #tile.space<shared>>
        is #tile.layout<[8, 4], "(i, j) -> (i, j)">
  }
  return
}

// -----

func.func @layout_too_wide(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    %s = tile.alloc "s" : memref<8x4xf32, #tile.space<shared>>
    // expected-error @+1 {{layout of 's' (8 x 4 float32) reaches beyond what can be addressed}}
    tile.annotate_layout %s : memref<8x4xf32, #tile.space<shared>>
        is #tile.layout<[8, 4], "(i, j) -> (i * 4611686018427387904, j)">
  }
  return
}

// -----

func.func @layout_in_a_loop(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    %s = tile.alloc "s" : memref<8x4xf32, #tile.space<shared>>
    tile.parallel (%i) in (8) {
      // expected-error @+1 {{'T.annotate_layout' inside 'T.Parallel': a layout holds for the whole kernel, move it in front of the loop}}
      tile.annotate_layout %s : memref<8x4xf32, #tile.space<shared>>
          is #tile.layout<[8, 4], "(i, j) -> (j, i)">
    }
  }
  return
}

// -----

func.func @layout_kind(%A: memref<8xf16, #tile.space<global>>) {
  // expected-error @+1 {{attribute 'layout' failed to satisfy constraint}}
  tile.annotate_layout %A : memref<8xf16, #tile.space<global>> is 3 : i32
  return
}

// -----

func.func @safe_value_of_tile(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    %f = tile.alloc "f" : memref<8xf32, #tile.space<fragment>>
    // expected-error @+1 {{a safe value belongs to a global tensor, got 'f' (8 float32)}}
    tile.annotate_safe_value %f : memref<8xf32, #tile.space<fragment>> is 0.0 : f32
  }
  return
}

// -----

func.func @safe_value_of_part(%A: memref<8xf32, #tile.space<global>>) {
  %s = tile.slice %A[0] [4] [1]
      : memref<8xf32, #tile.space<global>> to memref<4xf32, #tile.space<global>>
  // expected-error @+1 {{a safe value is annotated on a whole tensor}}
  tile.annotate_safe_value %s : memref<4xf32, #tile.space<global>> is 0.0 : f32
  return
}

// -----

func.func @safe_value_type(%A: memref<8xf32, #tile.space<global>>) {
  // expected-error @+1 {{'tile.annotate_safe_value' op has a value of type 'i32', expected 'f32'}}
  tile.annotate_safe_value %A : memref<8xf32, #tile.space<global>> is 0 : i32
  return
}

// -----

func.func @panel_size() {
  // expected-error @+1 {{'T.use_swizzle': panel_size 0 is not positive}}
  tile.use_swizzle panel 0 row
  return
}

// -----

func.func @negative_panel_size() {
  // expected-error @+1 {{'T.use_swizzle': panel_size -8 is not positive}}
  tile.use_swizzle panel -8 row
  return
}

// -----

func.func @replicas_not_injective(%n: index) {
  tile.kernel (%bx) in (%n) threads [32] {
    %f = tile.alloc "f" : memref<4xf32, #tile.space<fragment>>
    // expected-error @+1 {{layout of 'f' (4 float32) is not injective: elements (0) of replica 1 and (1) of replica 0 both lie in thread 1, slot 0}}
    tile.annotate_layout %f : memref<4xf32, #tile.space<fragment>>
        is #tile.fragment<[4], "(i) rep r of 2 -> thread i + r, slot 0">
  }
  return
}
