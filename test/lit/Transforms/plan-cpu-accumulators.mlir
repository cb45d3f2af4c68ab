// RUN: tw-opt %s -tile-plan-cpu-accumulators -verify-diagnostics -split-input-file | FileCheck %s
// RUN: tw-opt %s -tile-plan-cpu-accumulators=disjoint=false -split-input-file 2>/dev/null | FileCheck %s --check-prefix=OVERLAP

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// The first iteration starts from a row of zeros, the last writes to the tensor. Tensors that may
// overlap are written where the program says.
// CHECK-LABEL: func.func @both
// OVERLAP-LABEL: func.func @both
func.func @both(%C: memref<256x64xf32, #global> {tile.name = "C"}) {
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c4) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // CHECK: %[[ROW:.*]] = tile.alloc "c_start" {tile.id = 1 : i64} : memref<1x64xf32
    // CHECK-NEXT: tile.fill %{{.*}}, %[[ROW]] : f32, memref<1x64xf32
    // CHECK-NOT: tile.fill
    // expected-remark @+1 {{'c' is not filled: the gemm starts from one row of the value}}
    tile.fill %zero, %c : f32, memref<64x64xf32, #fragment>
    // CHECK: tile.slice %{{.*}} {tile.id = 0 : i64}
    // CHECK: tile.pipelined
    %first = arith.constant 0 : index // the bounds are numbers, wherever they are defined
    %past = arith.constant 4 : index
    tile.pipelined %k = %first to %past stages 2 {
      // CHECK: tile.gemm {{.*}} {tile.starts_at = 1 : i64, tile.starts_at_zero, tile.sums_over_loop, tile.writes_to = 0 : i64}
      // OVERLAP: tile.gemm {{.*}} {tile.starts_at = 0 : i64, tile.starts_at_zero, tile.sums_over_loop}
      tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    }
    %row = arith.muli %bx, %c64 : index
    %part = tile.slice %C[%row, 0] [64, 64] [1, 1] : memref<256x64xf32, #global> to memref<64x64xf32, #global>
    // CHECK-NOT: tile.copy
    // OVERLAP: tile.copy
    // expected-remark @+1 {{'c' is not copied: the last gemm writes to 'C'}}
    tile.copy %c, %part : memref<64x64xf32, #fragment> to memref<64x64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// A loop that may have no iteration: then, and only then, the tile is filled and copied.
// CHECK-LABEL: func.func @maybe_empty
func.func @maybe_empty(%C: memref<64x64xf32, #global>, %n: index {tile.symbol = "n"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // CHECK: %[[EMPTY:.*]] = arith.cmpi sge, %{{.*}}, %{{.*}} : index
    // CHECK-NEXT: scf.if %[[EMPTY]] {
    // CHECK-NEXT: tile.fill %{{.*}}, %c
    // expected-remark @+1 {{'c' is not filled}}
    tile.fill %zero, %c : f32, memref<64x64xf32, #fragment>
    tile.pipelined %k = %c0 to %n stages 2 {
      tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    }
    // CHECK: scf.if %[[EMPTY]] {
    // CHECK-NEXT: tile.copy %c
    // expected-remark @+1 {{'c' is not copied}}
    tile.copy %c, %C : memref<64x64xf32, #fragment> to memref<64x64xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// Another block may be told by the atomic update that C is not written yet: the copy stays.
// CHECK-LABEL: func.func @atomics
func.func @atomics(%C: memref<64x64xf32, #global>, %flag: memref<1xi32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // expected-remark @+1 {{'c' is not filled}}
    tile.fill %zero, %c : f32, memref<64x64xf32, #fragment>
    // CHECK: tile.gemm {{.*}} {tile.starts_at = 0 : i64, tile.starts_at_zero}
    tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    // CHECK: tile.copy
    tile.copy %c, %C : memref<64x64xf32, #fragment> to memref<64x64xf32, #global>
    %0 = tile.atomic_element add %one, %flag[%c0] order release : memref<1xi32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// A second gemm, a reader in the loop and a tensor that the loop reads: all stays.
// CHECK-LABEL: func.func @neither
func.func @neither(%C: memref<64x64xf32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    %d = tile.alloc "d" : memref<64x64xf32, #fragment>
    // CHECK-NOT: tile.starts_at
    // CHECK: tile.fill %{{.*}}, %c
    tile.fill %zero, %c : f32, memref<64x64xf32, #fragment>
    tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    // CHECK: tile.fill %{{.*}}, %d
    tile.fill %zero, %d : f32, memref<64x64xf32, #fragment>
    tile.pipelined %k = %c0 to %c4 stages 2 {
      tile.gemm %a, %b, %d : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
      tile.copy %d, %C : memref<64x64xf32, #fragment> to memref<64x64xf32, #global>
    }
  }
  return
}

// -----

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// The gemm multiplies the rows of what it adds to.
// CHECK-LABEL: func.func @scaled
func.func @scaled() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    // CHECK: tile.alloc "s" {tile.id = 0 : i64}
    %s = tile.alloc "s" : memref<64xf32, #fragment>
    // CHECK-NOT: tile.parallel
    // expected-remark @+1 {{the gemm after it multiplies the rows of 'c' by 's'}}
    tile.parallel (%i, %j) in (64, 64) {
      %old = tile.load %c[%i, %j] : memref<64x64xf32, #fragment>
      %factor = tile.load %s[%i] : memref<64xf32, #fragment>
      %now = arith.mulf %old, %factor : f32
      tile.store %now, %c[%i, %j] : memref<64x64xf32, #fragment>
    }
    // CHECK: tile.gemm {{.*}} {tile.scaled_by = 0 : i64}
    tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
  }
  return
}

// -----

#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// Columns are not rows; the factors must be what they were; and nothing else may see the sums before
// the gemm, which must add to them as a part of them.
// CHECK-LABEL: func.func @not_scaled
func.func @not_scaled() {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%bx) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x64xf32, #shared>
    %c = tile.alloc "c" : memref<64x64xf32, #fragment>
    %d = tile.alloc "d" : memref<64x64xf32, #fragment>
    %s = tile.alloc "s" : memref<64xf32, #fragment>
    // CHECK-COUNT-3: tile.parallel
    // CHECK-NOT: tile.scaled_by
    tile.parallel (%i, %j) in (64, 64) {
      %old = tile.load %c[%i, %j] : memref<64x64xf32, #fragment>
      %factor = tile.load %s[%j] : memref<64xf32, #fragment>
      %now = arith.mulf %old, %factor : f32
      tile.store %now, %c[%i, %j] : memref<64x64xf32, #fragment>
    }
    tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    tile.parallel (%i, %j) in (64, 64) {
      %old = tile.load %c[%i, %j] : memref<64x64xf32, #fragment>
      %factor = tile.load %s[%i] : memref<64xf32, #fragment>
      %now = arith.mulf %old, %factor : f32
      tile.store %now, %c[%i, %j] : memref<64x64xf32, #fragment>
    }
    tile.fill %zero, %s : f32, memref<64xf32, #fragment>
    tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
    tile.parallel (%i, %j) in (64, 64) {
      %old = tile.load %c[%i, %j] : memref<64x64xf32, #fragment>
      %factor = tile.load %s[%i] : memref<64xf32, #fragment>
      %now = arith.mulf %old, %factor : f32
      tile.store %now, %c[%i, %j] : memref<64x64xf32, #fragment>
    }
    tile.copy %c, %d : memref<64x64xf32, #fragment> to memref<64x64xf32, #fragment>
    tile.gemm %a, %b, %c : memref<64x32xf32, #shared>, memref<32x64xf32, #shared>, memref<64x64xf32, #fragment>
  }
  return
}
