// RUN: tw-opt %s -tile-plan-cpu-operands=vector-width=16 -verify-diagnostics -split-input-file | FileCheck %s
// RUN: tw-opt %s -tile-plan-cpu-operands='vector-width=16 disjoint=false' -split-input-file 2>/dev/null | FileCheck %s --check-prefix=OVERLAP
// RUN: tw-opt %s -tile-plan-cpu-operands='vector-width=16 bf16-dots=true int8-dots=true' -split-input-file 2>/dev/null | FileCheck %s --check-prefix=DOTS
// RUN: tw-opt %s -tile-plan-cpu-operands='vector-width=16 bf16-dots=true bf16-tiles=true' -split-input-file 2>/dev/null | FileCheck %s --check-prefix=TILES

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// The gemm reads what was copied, A in place and B panel by panel: neither tile is filled. If tensors
// may overlap, C may be B.
// CHECK-LABEL: func.func @in_place
// OVERLAP-LABEL: func.func @in_place
func.func @in_place(%A: memref<64x32xf32, #global> {tile.name = "A"},
                    %B: memref<32x64xf32, #global> {tile.name = "B"}, %C: memref<64x64xf32, #global>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // CHECK: tile.copy %{{.*}}, %a {tile.direct, tile.prepares = [{form = "left", id = 0 : i64, sum = f32}]}
    // OVERLAP-NOT: tile.direct
    // expected-remark @+1 {{gemms read 'A' itself: 'a' is never filled}}
    tile.copy %A, %a : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
    // CHECK: tile.copy %{{.*}}, %b {tile.direct, tile.prepares = [{form = "right panels", id = 1 : i64, sum = f32}]}
    // expected-remark @+1 {{packed by the gemm panel by panel from 'B': 'b' is never filled}}
    tile.copy %B, %b : memref<32x64xf32, #global> to memref<32x64xf32, #shared>
    // CHECK: tile.gemm %a, %b, %c {tile.prepared_a = 0 : i64, tile.prepared_b = 1 : i64}
    tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    tile.copy %c, %C : memref<64x64xf32, #fragment> to memref<64x64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// float16 is widened, once for both gemms, from the tensor. Blocks of one row share it.
// CHECK-LABEL: func.func @packed
// OVERLAP-LABEL: func.func @packed
func.func @packed(%A: memref<256x32xf16, #global> {tile.name = "A"}, %B: memref<32x64xf32, #global>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx, %by) in (%c4, %c4) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf16, #shared>
    %b = tile.alloc "b" : memref<32x64xf16, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    %d = tile.alloc "d" : memref<64x64xf32, #fragment>
    %row = arith.muli %by, %c64 : index
    %part = tile.slice %A[%row, 0] [64, 32] [1, 1] : memref<256x32xf16, #global> to memref<64x32xf16, #global>
    // CHECK: tile.copy %{{.*}}, %a {tile.direct, tile.kept = 0 : i64, tile.prepares = [{form = "left", id = 0 : i64, sum = f32}]}
    // expected-remark @+1 {{packed for gemms straight from 'A': 'a' is never filled; kept for the next block of a worker}}
    tile.copy %part, %a : memref<64x32xf16, #global> to memref<64x32xf16, #shared>
    // CHECK: tile.gemm %a, %b, %c {tile.prepared_a = 0 : i64}
    tile.gemm %a, %b, %c : memref<64x32xf16, #shared>, memref<32x64xf16, #shared>, memref<64x64xf32, #fragment>
    // CHECK: tile.gemm %a, %b, %d {tile.prepared_a = 0 : i64}
    tile.gemm %a, %b, %d : memref<64x32xf16, #shared>, memref<32x64xf16, #shared>, memref<64x64xf32, #fragment>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// A tile that something else reads, or writes, or that is copied from a tensor that the kernel
// writes, is filled.
// CHECK-LABEL: func.func @filled
func.func @filled(%A: memref<64x32xf32, #global>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %s = tile.alloc "s" : memref<64x32xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // CHECK: tile.copy %{{.*}}, %a {tile.prepares = [{form = "left", id = 0 : i64, sum = f32}]}
    tile.copy %A, %a : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
    %v = tile.load %a[%c0, %c0] : memref<64x32xf32, #shared>
    tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    // CHECK: tile.copy %{{.*}}, %s : memref
    tile.copy %A, %s : memref<64x32xf32, #global> to memref<64x32xf32, #shared>
    tile.store %v, %s[%c0, %c0] : memref<64x32xf32, #shared>
    tile.gemm %s, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    tile.store %v, %A[%c0, %c0] : memref<64x32xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// Where the host has dot products of bfloat16, B is packed into words, and A read in place.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: tile.dots
// DOTS-LABEL: func.func @narrow
func.func @narrow(%A: memref<64x32xbf16, #global> {tile.name = "A"}, %B: memref<64x32xbf16, #global> {tile.name = "B"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xbf16, #shared>
    %b = tile.alloc "b" : memref<64x32xbf16, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // DOTS: tile.copy %{{.*}}, %a {{.*}}form = "left dots", id = 0 : i64, sum = f32
    // expected-remark @+1 {{packed for gemms straight from 'A': 'a' is never filled; kept}}
    tile.copy %A, %a : memref<64x32xbf16, #global> to memref<64x32xbf16, #shared>
    // DOTS: tile.copy %{{.*}}, %b {{.*}}form = "right transposed dots", id = 1 : i64, sum = f32
    // expected-remark @+1 {{packed for gemms straight from 'B': 'b' is never filled; kept}}
    tile.copy %B, %b : memref<64x32xbf16, #global> to memref<64x32xbf16, #shared>
    // DOTS: tile.gemm %a, %b, %c transpose_b {tile.dots, tile.prepared_a = 0 : i64, tile.prepared_b = 1 : i64}
    tile.gemm %a, %b, %c transpose_b : memref<64x32xbf16, #shared>, memref<64x32xbf16, #shared>, memref<64x64xf32, #fragment>
  }
  return
}

// -----

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// A matrix unit is preferred to dot products, where its tiles divide the extents: 64 x 64 x 16 words,
// but not 6 rows, nor 4 words along k.
// TILES-LABEL: func.func @extents_of_tiles
func.func @extents_of_tiles() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xbf16, #shared>
    %b = tile.alloc "b" : memref<32x64xbf16, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // TILES: tile.gemm %a, %b, %c {tile.dots, tile.matrix_unit}
    tile.gemm %a, %b, %c : memref<64x32xbf16, #shared>, memref<32x64xbf16, #shared>, memref<64x64xf32, #fragment>
    %d = tile.alloc "d" : memref<6x32xbf16, #shared>
    %e = tile.alloc "e" : memref<6x64xf32, #fragment>
    // TILES: tile.gemm %d, %b, %e {tile.dots} :
    tile.gemm %d, %b, %e : memref<6x32xbf16, #shared>, memref<32x64xbf16, #shared>, memref<6x64xf32, #fragment>
    %f = tile.alloc "f" : memref<64x8xbf16, #shared>
    %g = tile.alloc "g" : memref<8x64xbf16, #shared>
    // TILES: tile.gemm %f, %g, %c {tile.dots} :
    tile.gemm %f, %g, %c : memref<64x8xbf16, #shared>, memref<8x64xbf16, #shared>, memref<64x64xf32, #fragment>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// What one gemm reads once it packs itself: A, which is converted and has one panel of columns, and B. Eight rows of A are too few to pack B for: the copy does. So it does where two
// gemms read the tile; one form serves an A and a B that lie alike.
// CHECK-LABEL: func.func @by_panels
func.func @by_panels(%A: memref<256x64xf16, #global> {tile.name = "A"}, %B: memref<256x64xf16, #global> {tile.name = "B"}) {
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  tile.kernel (%bx) in (%c4) threads [128] {
    %row = arith.muli %bx, %c64 : index
    %a_part = tile.slice %A[%row, 0] [64, 64] [1, 1] : memref<256x64xf16, #global> to memref<64x64xf16, #global>
    %b_part = tile.slice %B[%row, 0] [64, 64] [1, 1] : memref<256x64xf16, #global> to memref<64x64xf16, #global>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    %a = tile.alloc "a" : memref<64x64xf16, #shared>
    %b = tile.alloc "b" : memref<64x64xf16, #shared>
    // CHECK: tile.copy %{{.*}}, %a {tile.direct, tile.prepares = [{form = "left panels", id = 0 : i64, sum = f32}]}
    // expected-remark @+1 {{packed by the gemm panel by panel from 'A': 'a' is never filled}}
    tile.copy %a_part, %a : memref<64x64xf16, #global> to memref<64x64xf16, #shared>
    // CHECK: tile.copy %{{.*}}, %b {tile.direct, tile.prepares = [{form = "right panels", id = 1 : i64, sum = f32}]}
    // expected-remark @+1 {{packed by the gemm panel by panel from 'B': 'b' is never filled}}
    tile.copy %b_part, %b : memref<64x64xf16, #global> to memref<64x64xf16, #shared>
    // CHECK: tile.gemm %a, %b, %c {tile.prepared_a = 0 : i64, tile.prepared_b = 1 : i64}
    tile.gemm %a, %b, %c : memref<64x64xf16, #shared>, memref<64x64xf16, #shared>, memref<64x64xf32, #fragment>
    %few = tile.alloc "few" : memref<8x64xf16, #shared>
    %d = tile.alloc "d" : memref<8x64xf32, #fragment>
    %e = tile.alloc "e" : memref<64x64xf16, #shared>
    // CHECK: tile.copy %{{.*}}, %e {tile.direct, tile.prepares = [{form = "right", id = 2 : i64, sum = f32}]}
    // expected-remark @+1 {{packed for gemms straight from 'B': 'e' is never filled}}
    tile.copy %b_part, %e : memref<64x64xf16, #global> to memref<64x64xf16, #shared>
    tile.gemm %few, %e, %d : memref<8x64xf16, #shared>, memref<64x64xf16, #shared>, memref<8x64xf32, #fragment>
    %both = tile.alloc "both" : memref<64x64xf16, #shared>
    %w = tile.alloc "w" : memref<64x64xf16, #shared>
    // CHECK: tile.copy %{{.*}}, %both {tile.direct, tile.prepares = [{form = "{{left|right}}", id = 3 : i64, sum = f32}]}
    // expected-remark @+1 {{packed for gemms straight from 'A': 'both' is never filled}}
    tile.copy %a_part, %both : memref<64x64xf16, #global> to memref<64x64xf16, #shared>
    // CHECK: tile.gemm %both, %w, %c {tile.prepared_a = 3 : i64}
    tile.gemm %both, %w, %c : memref<64x64xf16, #shared>, memref<64x64xf16, #shared>, memref<64x64xf32, #fragment>
    // CHECK: tile.gemm %w, %both, %c {tile.prepared_b = 3 : i64}
    tile.gemm %w, %both, %c : memref<64x64xf16, #shared>, memref<64x64xf16, #shared>, memref<64x64xf32, #fragment>
  }
  return
}
