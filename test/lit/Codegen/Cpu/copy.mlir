// RUN: tw-opt %s -tile-lower-to-host=vector-width=16 -split-input-file | FileCheck %s
// RUN: tw-opt %s -tile-lower-to-host='vector-width=16 read-ahead-bytes=4096' -split-input-file | FileCheck %s --check-prefix=NEAR
// Forms of a copy: element by element, clipped, strided, read ahead, past the caches, prefetching.

#global = #tile.space<global>
#shared = #tile.space<shared>

// All of it exists: one marked loop, no branch.
// CHECK-LABEL: llvm.func internal @plain.kernel0
func.func @plain(%A: memref<8x32xf32, #global>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : memref<8x16xf32, #shared>
    %part = tile.slice %A[0, 16] [8, 16] [1, 1] : memref<8x32xf32, #global> to memref<8x16xf32, #global>
    // CHECK-NOT: scf.if
    // CHECK: scf.for
    // CHECK: scf.for
    // CHECK: llvm.load {{.*}}access_groups = {{.*}} -> f32
    // CHECK: llvm.store {{.*}}access_groups = {{.*}} : f32
    // CHECK: llvm.loop_annotation
    tile.copy %part, %t : memref<8x16xf32, #global> to memref<8x16xf32, #shared>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

// What leaves the tensor is filled first; the loops run over what exists, without checks.
// CHECK-LABEL: llvm.func internal @clipped.kernel0
func.func @clipped(%A: memref<30xf32, #global>) {
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c2) threads [32] {
    %t = tile.alloc "t" : memref<16xf32, #shared>
    %first = arith.muli %bx, %c16 : index
    %part = tile.slice %A[%first] [16] [1] : memref<30xf32, #global> to memref<16xf32, #global>
    // CHECK: %[[PAST:.*]] = arith.minsi %{{.*}}, %c16
    // CHECK: scf.if
    // CHECK: llvm.store %cst{{.*}}
    // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
    // CHECK-NOT: scf.if
    // CHECK: llvm.load {{.*}} -> f32
    tile.copy %part, %t : memref<16xf32, #global> to memref<16xf32, #shared>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

// A stride that may leave the tensor is checked element by element: reads give the safe value.
// CHECK-LABEL: llvm.func internal @strided.kernel0
func.func @strided(%A: memref<30xf32, #global>) {
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c2) threads [32] {
    tile.annotate_safe_value %A : memref<30xf32, #global> is 1.0 : f32
    %t = tile.alloc "t" : memref<16xf32, #shared>
    %part = tile.slice %A[%bx] [16] [2] : memref<30xf32, #global> to memref<16xf32, #global>
    // CHECK: scf.for
    // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %c30
    // CHECK: scf.if %[[INSIDE]] -> (f32) {
    // CHECK: llvm.load
    // CHECK: } else {
    // CHECK: arith.constant 1.000000e+00 : f32
    // CHECK: scf.yield
    tile.copy %part, %t : memref<16xf32, #global> to memref<16xf32, #shared>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

// Elements are converted on the way: float16 to float32.
// CHECK-LABEL: llvm.func internal @converted.kernel0
func.func @converted(%A: memref<16xf16, #global>) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : memref<16xf32, #shared>
    // CHECK: %[[H:.*]] = llvm.load {{.*}} -> f16
    // CHECK: %[[F:.*]] = arith.extf %[[H]] : f16 to f32
    // CHECK: llvm.store %[[F]]
    tile.copy %A, %t : memref<16xf16, #global> to memref<16xf32, #shared>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

// Rows of 16 KiB of a tensor of 64 MiB are written past the caches, from the first whole line on,
// and fenced at the end of the kernel.
// CHECK-LABEL: llvm.func internal @streamed.kernel0
func.func @streamed(%A: memref<4096x4096xf32, #global>) {
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c16) threads [32] {
    %t = tile.alloc "t" : memref<1x4096xf32, #shared>
    %row = tile.slice %A[%bx, 0] [1, 4096] [1, 1] : memref<4096x4096xf32, #global> to memref<1x4096xf32, #global>
    // CHECK: llvm.ptrtoint
    // CHECK: llvm.store {{.*}}alignment = 64 : i64{{.*}}nontemporal{{.*}} : vector<16xf32>
    // CHECK: sse.sfence
    // CHECK-NEXT: llvm.return
    tile.copy %t, %row : memref<1x4096xf32, #shared> to memref<1x4096xf32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

// Where blocks learn of each other by atomic updates, the fence follows the copy.
// CHECK-LABEL: llvm.func internal @fenced.kernel0
func.func @fenced(%A: memref<4096x4096xf32, #global>, %flag: memref<1xi32, #global>, %one: i32) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c16) threads [32] {
    %t = tile.alloc "t" : memref<1x4096xf32, #shared>
    %row = tile.slice %A[%bx, 0] [1, 4096] [1, 1] : memref<4096x4096xf32, #global> to memref<1x4096xf32, #global>
    // CHECK: sse.sfence
    // CHECK: llvm.atomicrmw
    // CHECK-NOT: sfence
    // CHECK: llvm.return
    tile.copy %t, %row : memref<1x4096xf32, #shared> to memref<1x4096xf32, #global>
    %0 = tile.atomic_element add %one, %flag[%c0] order release : memref<1xi32, #global>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

// One stretch of memory is copied by lines and read ahead, unless the plan says that it was
// prefetched: then the loop is LLVM's. How far ahead is a fact of the processor.
// CHECK-LABEL: llvm.func internal @read_ahead.kernel0
// NEAR-LABEL: llvm.func internal @read_ahead.kernel0
func.func @read_ahead(%A: memref<64x128xf32, #global>) {
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  tile.kernel (%bx) in (%c4) threads [32] {
    %t = tile.alloc "t" : memref<16x128xf32, #shared>
    %u = tile.alloc "u" : memref<16x128xf32, #shared>
    %first = arith.muli %bx, %c16 : index
    %part = tile.slice %A[%first, 0] [16, 128] [1, 1] : memref<64x128xf32, #global> to memref<16x128xf32, #global>
    // CHECK: llvm.load {{.*}} -> vector<16xf32>
    // CHECK: llvm.store {{.*}} : vector<16xf32>
    // CHECK: llvm.getelementptr %{{.*}}[8192]
    // NEAR: llvm.getelementptr %{{.*}}[4096]
    // CHECK: llvm.intr.prefetch
    // CHECK: llvm.load {{.*}} -> f32
    // CHECK-NOT: llvm.intr.prefetch
    tile.copy %part, %t : memref<16x128xf32, #global> to memref<16x128xf32, #shared>
    tile.copy %part, %u {tile.prefetched} : memref<16x128xf32, #global> to memref<16x128xf32, #shared>
  }
  return
}

// -----

#global = #tile.space<global>
#shared = #tile.space<shared>

// A copy prefetches the slice that the plan names, a line at a time.
// CHECK-LABEL: llvm.func internal @prefetches.kernel0
func.func @prefetches(%A: memref<64x128xf32, #global>) {
  %c3 = arith.constant 3 : index
  tile.kernel (%bx) in (%c3) threads [32] {
    %t = tile.alloc "t" : memref<16x32xf32, #shared>
    %part = tile.slice %A[%bx, 0] [16, 32] [1, 1] : memref<64x128xf32, #global> to memref<16x32xf32, #global>
    %next = tile.slice %A[%bx, 32] [16, 32] [1, 1] {tile.id = 7 : i64} : memref<64x128xf32, #global> to memref<16x32xf32, #global>
    // CHECK: llvm.store {{.*}} : f32
    // CHECK: scf.for %{{.*}} = %{{.*}} to %c16
    // CHECK: scf.for %{{.*}} = %{{.*}} to %c2
    // CHECK: llvm.intr.prefetch{{.*}}rw = 0
    tile.copy %part, %t {tile.prefetches = array<i64: 7>} : memref<16x32xf32, #global> to memref<16x32xf32, #shared>
  }
  return
}

// -----

#shared = #tile.space<shared>

// A copy onto a part of its own buffer reads all of it first: by way of scratch memory.
// CHECK-LABEL: llvm.func internal @overlapping.kernel0
func.func @overlapping() {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %t = tile.alloc "t" : memref<32xf32, #shared>
    %low = tile.slice %t[0] [16] [1] : memref<32xf32, #shared> to memref<16xf32, #shared>
    %high = tile.slice %t[8] [16] [1] : memref<32xf32, #shared> to memref<16xf32, #shared>
    // CHECK: llvm.getelementptr inbounds %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    // CHECK-COUNT-2: llvm.store
    tile.copy %low, %high : memref<16xf32, #shared> to memref<16xf32, #shared>
  }
  return
}
