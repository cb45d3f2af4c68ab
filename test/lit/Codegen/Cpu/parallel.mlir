// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 -split-input-file | FileCheck %s
// RUN: tw-opt %s -tile-lower-to-host='vector-width=16 disjoint=false' -split-input-file | FileCheck %s --check-prefix=OVERLAP
// Forms of an element-wise loop.

#global = #tile.space<global>
#shared = #tile.space<shared>

// Independent iterations: LLVM may vectorise, unless tensors may overlap.
// CHECK-LABEL: llvm.func internal @independent.kernel0
// OVERLAP-LABEL: llvm.func internal @independent.kernel0
func.func @independent(%A: memref<64xf32, #global>, %B: memref<64xf32, #global>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    // CHECK: llvm.load {{.*}}access_groups = [#[[GROUP:[a-z_0-9]+]]]
    // CHECK: llvm.store {{.*}}access_groups = [#[[GROUP]]]
    // CHECK: llvm.loop_annotation
    // OVERLAP-NOT: access_groups
    // OVERLAP: llvm.return
    tile.parallel (%i) in (64) {
      %v = tile.load %A[%i] : memref<64xf32, #global>
      tile.store %v, %B[%i] : memref<64xf32, #global>
    }
  }
  return
}

// -----

#shared = #tile.space<shared>

// Iterations that meet in one element stay in order.
// CHECK-LABEL: llvm.func internal @ordered.kernel0
func.func @ordered(%x: i32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : memref<16xi32, #shared>
    // CHECK-NOT: access_groups
    // CHECK: llvm.return
    tile.parallel (%i) in (64) {
      %0 = tile.atomic_element add %x, %t[%bx] : memref<16xi32, #shared>
    }
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

// An element that may not exist is checked: a read gives the safe value, a write is dropped; on
// chip the launch ends.
// CHECK-LABEL: llvm.func internal @masked.kernel0
func.func @masked(%A: memref<60xf32, #global>) {
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  tile.kernel (%bx) in (%c2) threads [32] {
    %t = tile.alloc "t" : memref<32xf32, #shared>
    // CHECK: scf.for
    // CHECK: arith.cmpi ult, %{{.*}}, %c60
    // CHECK: scf.if {{.*}} -> (f32) {
    // CHECK: arith.cmpi ult, %{{.*}}, %c32
    // CHECK: scf.if
    // CHECK: } else {
    // CHECK: llvm.getelementptr %arg5[3]
    tile.parallel (%i) in (32) {
      %first = arith.muli %bx, %c32 : index
      %j = arith.addi %first, %i : index
      %v = tile.load %A[%j] : memref<60xf32, #global>
      tile.store %v, %t[%j] : memref<32xf32, #shared>
    }
  }
  return
}

// -----

#global = #tile.space<global>
#fragment = #tile.space<fragment>

// A reducer whose element is the same for the row is carried in four vectors of partial results.
// CHECK-LABEL: llvm.func internal @carried.kernel0
func.func @carried(%A: memref<256xf32, #global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %r = tile.alloc "r" reducer sum : memref<1xf32, #fragment>
    // CHECK: scf.for {{.*}} step %c64{{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
    // CHECK-COUNT-4: llvm.load {{.*}} -> vector<16xf32>
    // CHECK: vector.shuffle
    // CHECK: llvm.store {{.*}} : f32
    tile.parallel (%i) in (256) {
      %v = tile.load %A[%i] : memref<256xf32, #global>
      tile.reducer_update %v, %r[%c0] : memref<1xf32, #fragment>
    }
  }
  return
}

// -----

#global = #tile.space<global>
#fragment = #tile.space<fragment>

// One whose element changes is updated in memory.
// CHECK-LABEL: llvm.func internal @updated.kernel0
func.func @updated(%A: memref<256xf32, #global>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %r = tile.alloc "r" reducer absmax : memref<256xf32, #fragment>
    %s = tile.alloc "s" : memref<256xf32, #fragment>
    // CHECK: math.absf
    // CHECK: llvm.store {{.*}} : f32
    tile.parallel (%i) in (256) {
      %v = tile.load %A[%i] : memref<256xf32, #global>
      tile.reducer_update %v, %r[%i] : memref<256xf32, #fragment>
    }
    tile.finalize_reducer %r, %s : memref<256xf32, #fragment> to memref<256xf32, #fragment>
  }
  return
}

// -----

#global = #tile.space<global>
#fragment = #tile.space<fragment>

// Magnitudes of integers.
// CHECK-LABEL: llvm.func internal @integer_magnitudes.kernel0
func.func @integer_magnitudes(%A: memref<256xi32, #global>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %r = tile.alloc "r" reducer abssum : memref<256xi32, #fragment>
    %s = tile.alloc "s" : memref<256xi32, #fragment>
    // CHECK: math.absi
    // CHECK: llvm.store {{.*}} : i32
    tile.parallel (%i) in (256) {
      %v = tile.load %A[%i] : memref<256xi32, #global>
      tile.reducer_update %v, %r[%i] : memref<256xi32, #fragment>
    }
    tile.finalize_reducer %r, %s : memref<256xi32, #fragment> to memref<256xi32, #fragment>
  }
  return
}

// -----

!large = memref<4096x4096xf32, #tile.space<global>>

// A row that the plan streams: loads read ahead, the store past the caches from a whole line on.
// CHECK-LABEL: llvm.func internal @streamed.kernel0
func.func @streamed(%X: !large, %Y: !large) {
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c16) threads [32] {
    // CHECK: llvm.ptrtoint
    // CHECK: llvm.load {{.*}} -> vector<16xf32>
    // CHECK: llvm.getelementptr %{{.*}}[8192]
    // CHECK: llvm.intr.prefetch
    // CHECK: llvm.store {{.*}}alignment = 64 : i64{{.*}}nontemporal{{.*}} : vector<16xf32>
    // CHECK: sfence
    tile.parallel (%j) in (4096) attributes {tile.streams_rows} {
      %v = tile.load %X[%bx, %j] {tile.streamed} : !large
      tile.store %v, %Y[%bx, %j] {tile.streamed} : !large
    }
  }
  return
}

// -----

!large = memref<4096x4096xf32, #tile.space<global>>
!row = memref<4096xf32, #tile.space<fragment>>

// The first loop leaves the next row to the second, which prefetches it while it works.
// CHECK-LABEL: llvm.func internal @next_row.kernel0
func.func @next_row(%X: !large, %Y: !large) {
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c16) threads [32] {
    %r = tile.alloc "r" : !row
    // CHECK: llvm.load {{.*}} -> vector<16xf32>
    // CHECK-NOT: llvm.intr.prefetch
    // CHECK: llvm.store {{.*}} : vector<16xf32>
    tile.parallel (%j) in (4096) attributes {tile.streams_rows, tile.next_rows_in = 3 : i64} {
      %v = tile.load %X[%bx, %j] {tile.streamed} : !large
      tile.store %v, %r[%j] : !row
    }
    // CHECK: llvm.intr.prefetch
    // CHECK: llvm.load {{.*}} -> vector<16xf32>
    // CHECK: nontemporal
    tile.parallel (%j) in (4096) attributes {tile.streams_rows, tile.prefetches_rows = 3 : i64} {
      %v = tile.load %r[%j] : !row
      tile.store %v, %Y[%bx, %j] {tile.streamed} : !large
    }
  }
  return
}

// -----

#fragment = #tile.space<fragment>

// Functions of four vectors are evaluated step by step together, of two where a row has no more. Indices of
// elements are compared as 32-bit integers.
// CHECK-LABEL: llvm.func internal @functions.kernel0
func.func @functions() {
  %c4 = arith.constant 4 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    %s = tile.alloc "s" : memref<8x64xf32, #fragment>
    %t = tile.alloc "t" : memref<8x32xf32, #fragment>
    // CHECK-COUNT-4: math.roundeven {{.*}} : vector<16xf32>
    // CHECK-COUNT-4: llvm.store {{.*}} : vector<16xf32>
    // CHECK: math.roundeven {{.*}} : f32
    tile.parallel (%i, %j) in (8, 64) {
      %v = tile.load %s[%i, %j] : memref<8x64xf32, #fragment>
      %e = math.exp2 %v : f32
      tile.store %e, %s[%i, %j] : memref<8x64xf32, #fragment>
    }
    // CHECK-COUNT-2: math.roundeven {{.*}} : vector<16xf32>
    // CHECK-NOT: math.roundeven
    // CHECK-COUNT-2: arith.cmpi sge, {{.*}} : vector<16xi32>
    tile.parallel (%i, %j) in (8, 32) {
      %v = tile.load %t[%i, %j] : memref<8x32xf32, #fragment>
      %e = math.exp2 %v : f32
      %zero = arith.constant 0.0 : f32
      %c8 = arith.constant 8 : index
      %row = arith.muli %bx, %c8 : index
      %query = arith.addi %row, %i : index
      %seen = arith.cmpi sge, %query, %j : index
      %kept = arith.select %seen, %e, %zero : f32
      tile.store %kept, %t[%i, %j] : memref<8x32xf32, #fragment>
    }
  }
  return
}
