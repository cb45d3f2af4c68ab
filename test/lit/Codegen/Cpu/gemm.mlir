// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 -split-input-file | FileCheck %s
// RUN: tw-opt %s -tile-lower-to-host=vector-width=8 -split-input-file | FileCheck %s --check-prefix=SHORT
// RUN: tw-opt %s -tile-lower-to-host='vector-width=16 tiles-in-software=true' -split-input-file | FileCheck %s --check-prefix=SOFT
// Forms of a matrix product.

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// float32 tiles are read in place; 24 accumulators in 6 x 4 vectors, or 12 in 6 x 2, go over k once.
// CHECK-LABEL: llvm.func internal @float32.kernel0
// SHORT-LABEL: llvm.func internal @float32.kernel0
func.func @float32() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<12x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<12x64xf32, #fragment>
    // CHECK-COUNT-24: llvm.load {{.*}} -> vector<16xf32>
    // CHECK: scf.for {{.*}} iter_args({{(%[a-z0-9_]+ = %[a-z0-9_#:]+, ){23}%[a-z0-9_]+ = %[a-z0-9_#:]+}})
    // CHECK-COUNT-4: llvm.load {{.*}} -> vector<16xf32>
    // CHECK: vector.broadcast {{.*}} : f32 to vector<16xf32>
    // CHECK-COUNT-24: vector.fma
    // CHECK-COUNT-24: llvm.store {{.*}} : vector<16xf32>
    // SHORT-COUNT-12: vector.fma {{.*}} : vector<8xf32>
    tile.gemm %a, %b, %c : memref<12x32xf32, #shared>, memref<32x64xf32, #shared>, memref<12x64xf32, #fragment>
  }
  return
}

// -----

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// A transposed B is transposed in squares of vectors first; a transposed A has other strides.
// CHECK-LABEL: llvm.func internal @transposed.kernel0
func.func @transposed() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<32x12xf32, #shared>
    %b = tile.alloc "b" : memref<64x32xf32, #shared>
    %c = tile.alloc "c" : memref<12x64xf32, #fragment>
    // CHECK: vector.shuffle
    // CHECK-COUNT-16: llvm.store {{.*}} : vector<16xf32>
    // CHECK-NOT: vector.shuffle
    // CHECK: vector.fma
    tile.gemm %a, %b, %c transpose_a transpose_b : memref<32x12xf32, #shared>, memref<64x32xf32, #shared>, memref<12x64xf32, #fragment>
  }
  return
}

// -----

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// float16 operands are widened into scratch memory, accumulators of float16 summed in float32 and
// rounded once.
// CHECK-LABEL: llvm.func internal @float16.kernel0
func.func @float16() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<12x32xf16, #shared>
    %b = tile.alloc "b" : memref<32x64xf16, #shared>
    %c = tile.alloc "c" : memref<12x64xf16, #fragment>
    // CHECK-COUNT-3: arith.extf {{.*}} : f16 to f32
    // CHECK: vector.fma {{.*}} : vector<16xf32>
    // CHECK: arith.truncf {{.*}} : f32 to f16
    tile.gemm %a, %b, %c : memref<12x32xf16, #shared>, memref<32x64xf16, #shared>, memref<12x64xf16, #fragment>
  }
  return
}

// -----

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// Where the plan says so, pairs of bfloat16 are multiplied by dot products, if no magnitude is near
// the subnormal ones; else they are widened.
// CHECK-LABEL: llvm.func internal @bfloat16_dots.kernel0
func.func @bfloat16_dots() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<12x32xbf16, #shared>
    %b = tile.alloc "b" : memref<32x64xbf16, #shared>
    %c = tile.alloc "c" : memref<12x64xf32, #fragment>
    // CHECK: vector.reduction <minui>
    // CHECK: vector.shuffle
    // CHECK: vector.reduction <minui>
    // CHECK: scf.if
    // CHECK: llvm.x86.avx512bf16.dpbf16ps.512
    // CHECK: } else {
    // CHECK: vector.fma
    tile.gemm %a, %b, %c {tile.dots} : memref<12x32xbf16, #shared>, memref<32x64xbf16, #shared>, memref<12x64xf32, #fragment>
  }
  return
}

// -----

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// Signed bytes: A moves up by 128, and the column sums of B, 128 times, are taken off.
// CHECK-LABEL: llvm.func internal @int8_dots.kernel0
func.func @int8_dots() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<12x32xi8, #shared>
    %b = tile.alloc "b" : memref<32x64xi8, #shared>
    %c = tile.alloc "c" : memref<12x64xi32, #fragment>
    // CHECK: arith.xori
    // CHECK: llvm.x86.avx512.vpdpbusd.512
    // CHECK: arith.subi
    // CHECK: llvm.x86.avx512.vpdpbusd.512
    tile.gemm %a, %b, %c {tile.dots} : memref<12x32xi8, #shared>, memref<32x64xi8, #shared>, memref<12x64xi32, #fragment>
  }
  return
}

// -----

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// Without dot products, bytes are widened to 32 bits.
// CHECK-LABEL: llvm.func internal @int8.kernel0
func.func @int8() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<12x32xi8, #shared>
    %b = tile.alloc "b" : memref<32x64xi8, #shared>
    %c = tile.alloc "c" : memref<12x64xi32, #fragment>
    // CHECK: arith.extsi {{.*}} : i8 to i32
    // CHECK-NOT: vpdpbusd
    // CHECK: arith.muli {{.*}} : vector<16xi32>
    tile.gemm %a, %b, %c : memref<12x32xi8, #shared>, memref<32x64xi8, #shared>, memref<12x64xi32, #fragment>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// The first iteration reads its accumulators from one row, the last writes to the tensor, whose
// lines are prefetched for writing.
// CHECK-LABEL: llvm.func internal @redirected.kernel0
func.func @redirected(%C: memref<12x64xf32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<12x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<12x64xf32, #fragment>
    %row = tile.alloc "c" {tile.id = 0 : i64} : memref<1x64xf32, #fragment>
    %all = tile.slice %C[0, 0] [12, 64] [1, 1] {tile.id = 1 : i64} : memref<12x64xf32, #global> to memref<12x64xf32, #global>
    tile.pipelined %k = %c0 to %c4 stages 2 {
      // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[K:.*]], %c0
      // CHECK: %[[LAST:.*]] = arith.cmpi sge, %{{.*}}, %c4
      // CHECK: arith.select %[[FIRST]], %{{.*}}, %{{.*}} : !llvm.ptr
      // CHECK: arith.select %[[LAST]], %{{.*}}, %{{.*}} : !llvm.ptr
      // CHECK: llvm.intr.prefetch{{.*}}rw = 1
      // CHECK: vector.fma
      tile.gemm %a, %b, %c {tile.starts_at = 0 : i64, tile.writes_to = 1 : i64, tile.sums_over_loop} : memref<12x32xf32, #shared>, memref<32x64xf32, #shared>, memref<12x64xf32, #fragment>
    }
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// One gemm is its own first and last iteration: the tile is not touched. It prefetches the slice
// that the plan names, a line with each step along k.
// CHECK-LABEL: llvm.func internal @once.kernel0
func.func @once(%A: memref<12x64xf32, #global>, %C: memref<12x64xf32, #global>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<12x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<12x64xf32, #fragment>
    %row = tile.alloc "c" {tile.id = 0 : i64} : memref<1x64xf32, #fragment>
    %all = tile.slice %C[0, 0] [12, 64] [1, 1] {tile.id = 1 : i64} : memref<12x64xf32, #global> to memref<12x64xf32, #global>
    %next = tile.slice %A[0, 0] [12, 64] [1, 1] {tile.id = 2 : i64} : memref<12x64xf32, #global> to memref<12x64xf32, #global>
    // CHECK-NOT: arith.select
    // CHECK: scf.for {{.*}} iter_args
    // CHECK: llvm.intr.prefetch{{.*}}rw = 0
    // CHECK: vector.fma
    tile.gemm %a, %b, %c {tile.starts_at = 0 : i64, tile.writes_to = 1 : i64, tile.prefetches = array<i64: 2>} : memref<12x32xf32, #shared>, memref<32x64xf32, #shared>, memref<12x64xf32, #fragment>
  }
  return
}

// -----

#global = #tile.space<global>

// Extents that only the launch knows: checked, then three plain loops.
// CHECK-LABEL: llvm.func internal @dynamic.kernel0
func.func @dynamic(%A: memref<?x32xf32, #global> {tile.shape = #tile.shape<"()[n] -> (n, 32)">},
                   %B: memref<32x64xf32, #global>,
                   %C: memref<?x64xf32, #global> {tile.shape = #tile.shape<"()[n] -> (n, 64)">},
                   %n: index {tile.symbol = "n"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    // CHECK: math.fma {{.*}} : f32
    // CHECK-NOT: vector.fma
    tile.gemm %A, %B, %C : memref<?x32xf32, #global>, memref<32x64xf32, #global>, memref<?x64xf32, #global>
  }
  return
}

// -----

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// On the matrix unit: the registers are configured, four tiles of sums start from zero, each step
// along k loads two tiles of B and of A for four products, and sums are added to C by vectors.
// Nothing is called before the registers are released. Where subnormals are near, words are widened.
// CHECK-LABEL: llvm.func internal @bfloat16_unit.kernel0
// SOFT-LABEL: llvm.func internal @bfloat16_unit.kernel0
func.func @bfloat16_unit() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<32x64xbf16, #shared>
    %b = tile.alloc "b" : memref<64x64xbf16, #shared>
    %c = tile.alloc "c" : memref<32x64xf32, #fragment>
    // CHECK: scf.if
    // CHECK: "llvm.x86.ldtilecfg"
    // CHECK-COUNT-4: "llvm.x86.tilezero"
    // CHECK: scf.for
    // CHECK-COUNT-3: "llvm.x86.tileloadd64"
    // CHECK-COUNT-2: "llvm.x86.tdpbf16ps"
    // CHECK: "llvm.x86.tileloadd64"
    // CHECK-COUNT-2: "llvm.x86.tdpbf16ps"
    // CHECK-COUNT-4: "llvm.x86.tilestored64"
    // CHECK: arith.addf {{.*}} : vector<16xf32>
    // CHECK-NOT: llvm.call @
    // CHECK: "llvm.x86.tilerelease"
    // CHECK: } else {
    // CHECK: vector.fma
    // SOFT-NOT: llvm.x86.t
    // SOFT: llvm.call @tw_tile_config
    // SOFT-COUNT-4: llvm.call @tw_tile_multiply
    // SOFT: llvm.call @tw_tile_release
    tile.gemm %a, %b, %c {tile.dots, tile.matrix_unit} : memref<32x64xbf16, #shared>, memref<64x64xbf16, #shared>, memref<32x64xf32, #fragment>
  }
  return
}

// -----

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// Sums of bytes stay in the registers: C is loaded and stored. One tile of rows is left over, and
// nothing is moved up by 128.
// CHECK-LABEL: llvm.func internal @int8_unit.kernel0
func.func @int8_unit() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<16x64xi8, #shared>
    %b = tile.alloc "b" : memref<64x32xui8, #shared>
    %c = tile.alloc "c" : memref<16x32xi32, #fragment>
    // CHECK-NOT: arith.xori
    // CHECK: "llvm.x86.ldtilecfg"
    // CHECK-NOT: "llvm.x86.tilezero"
    // CHECK-COUNT-5: "llvm.x86.tileloadd64"
    // CHECK-COUNT-2: "llvm.x86.tdpbsud"
    // CHECK-COUNT-2: "llvm.x86.tilestored64"
    // CHECK: "llvm.x86.tilerelease"
    // CHECK-NOT: vpdpbusd
    tile.gemm %a, %b, %c {tile.dots, tile.matrix_unit} : memref<16x64xi8, #shared>, memref<64x32xui8, #shared>, memref<16x32xi32, #fragment>
  }
  return
}

// -----

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// Rows of the accumulator are multiplied where they are loaded, each by its factor.
// CHECK-LABEL: llvm.func internal @scaled.kernel0
func.func @scaled() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<12x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<12x64xf32, #fragment>
    %s = tile.alloc "s" {tile.id = 0 : i64} : memref<12xf32, #fragment>
    // CHECK: %[[FACTOR:.*]] = llvm.load {{.*}} -> f32
    // CHECK: %[[SPREAD:.*]] = vector.broadcast %[[FACTOR]] : f32 to vector<16xf32>
    // CHECK: %[[OLD:.*]] = llvm.load {{.*}} -> vector<16xf32>
    // CHECK: arith.mulf %[[OLD]], %[[SPREAD]] : vector<16xf32>
    // CHECK-COUNT-23: arith.mulf {{.*}} : vector<16xf32>
    // CHECK: iter_args
    // CHECK-NOT: arith.mulf {{.*}} : vector<16xf32>
    tile.gemm %a, %b, %c {tile.scaled_by = 0 : i64} : memref<12x32xf32, #shared>, memref<32x64xf32, #shared>, memref<12x64xf32, #fragment>
  }
  return
}

// -----

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// 16 rows are blocks of 5 and 6 where 4 rows would be too few sums to keep the multiply-adds busy, and of
// 6 and 4 where they are twice as wide. LLVM does not write out the loop over two of them.
// CHECK-LABEL: llvm.func internal @rows.kernel0
// SHORT: #[[ROLLED:.*]] = #llvm.loop_annotation<unroll =
// SHORT-LABEL: llvm.func internal @rows.kernel0
func.func @rows() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<16x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<16x64xf32, #fragment>
    // CHECK-COUNT-24: vector.fma
    // CHECK: scf.yield
    // CHECK-COUNT-16: vector.fma
    // CHECK-NOT: vector.fma
    // SHORT-COUNT-12: vector.fma
    // SHORT: scf.yield
    // SHORT-COUNT-10: vector.fma
    // SHORT-NOT: vector.fma
    // SHORT: llvm.loop_annotation = #[[ROLLED]]
    tile.gemm %a, %b, %c : memref<16x32xf32, #shared>, memref<32x64xf32, #shared>, memref<16x64xf32, #fragment>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// In the last iteration a gemm also prefetches what comes after the loop, into the second cache.
// CHECK-LABEL: llvm.func internal @at_end.kernel0
func.func @at_end(%A: memref<12x64xf32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<6x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<6x64xf32, #fragment>
    %next = tile.slice %A[0, 0] [6, 64] [1, 1] {tile.id = 0 : i64} : memref<12x64xf32, #global> to memref<6x64xf32, #global>
    %after = tile.slice %A[6, 0] [6, 64] [1, 1] {tile.id = 1 : i64} : memref<12x64xf32, #global> to memref<6x64xf32, #global>
    tile.pipelined %k = %c0 to %c4 stages 2 {
      // CHECK: %[[LAST:.*]] = arith.cmpi sge
      // CHECK: scf.if %[[LAST]]
      // CHECK: llvm.intr.prefetch{{.*}}hint = 3
      // CHECK: llvm.intr.prefetch{{.*}}hint = 2
      // CHECK: vector.fma
      // CHECK: else
      // CHECK: llvm.intr.prefetch{{.*}}hint = 3
      // CHECK-NOT: llvm.intr.prefetch
      // CHECK: vector.fma
      tile.gemm %a, %b, %c {tile.prefetches = array<i64: 0>, tile.prefetches_at_end = array<i64: 1>} : memref<6x32xf32, #shared>, memref<32x64xf32, #shared>, memref<6x64xf32, #fragment>
    }
  }
  return
}
