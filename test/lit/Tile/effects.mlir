// RUN: tw-opt %s -test-print-effects -verify-diagnostics -o /dev/null
// What each statement declares about memory: one remark for each effect of the root allocation.

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
#local = #tile.space<local>

func.func @elements(%A: memref<8x16xf32, #global> {tile.name = "A"},
                    %I: memref<4xi32, #global> {tile.name = "I"}, %n: index, %i: i32) {
  %c3 = arith.constant 3 : index
  tile.kernel (%bx) in (%n) threads [128] {
    // A scalar variable has no dimensions.
    %v = tile.alloc "v" : memref<f32, #local>
    // expected-remark @+1 {{read 'A'[3 : 1, %bx : 1]}}
    %x = tile.load %A[%c3, %bx] : memref<8x16xf32, #global>
    // expected-remark @+1 {{write 'v'[]}}
    tile.store %x, %v[] : memref<f32, #local>
    // expected-remark @+1 {{accumulate 'I'[%bx : 1]}}
    %p = tile.atomic_element add %i, %I[%bx] : memref<4xi32, #global>
    %r = tile.alloc "r" reducer sum : memref<8xf32, #fragment>
    // expected-remark @+1 {{accumulate 'r'[%bx : 1]}}
    tile.reducer_update %x, %r[%bx] : memref<8xf32, #fragment>
  }
  return
}

func.func @tiles(%A: memref<8x16xf16, #global> {tile.name = "A"},
                 %image: memref<1x8x8x4xf16, #global> {tile.name = "image"}, %n: index, %x: f32) {
  tile.kernel (%bx) in (%n) threads [96] {
    %s = tile.alloc "s" : memref<8x16xf16, #shared>
    %c = tile.alloc "c" : memref<8x8xf32, #fragment>
    %row = tile.alloc "row" : memref<8xf32, #fragment>
    %r = tile.alloc "r" reducer sum : memref<8xf32, #fragment>
    // expected-remark @+2 {{read 'A'[0 : 8, 0 : 16]}}
    // expected-remark @+1 {{write 's'[0 : 8, 0 : 16]}}
    tile.copy %A, %s : memref<8x16xf16, #global> to memref<8x16xf16, #shared>
    // expected-remark @+1 {{write 'c'[0 : 8, 0 : 8]}}
    tile.fill %x, %c : f32, memref<8x8xf32, #fragment>
    // The accumulator is read and written; both operands are one tile here.
    // expected-remark @+3 {{read 's'[0 : 8, 0 : 16]}}
    // expected-remark @+2 {{read 'c'[0 : 8, 0 : 8]}}
    // expected-remark @+1 {{write 'c'[0 : 8, 0 : 8]}}
    tile.gemm %s, %s, %c transpose_b
        : memref<8x16xf16, #shared>, memref<8x16xf16, #shared>, memref<8x8xf32, #fragment>
    // Threads exchange values inside: it may not stand in divergent flow.
    // expected-remark @+4 {{read 'c'[0 : 8, 0 : 8]}}
    // expected-remark @+3 {{read 'row'[0 : 8]}}
    // expected-remark @+2 {{write 'row'[0 : 8]}}
    // expected-remark @+1 {{synchronises}}
    tile.reduce sum %c, %row dim 1 : memref<8x8xf32, #fragment> to memref<8xf32, #fragment>
    // With `clear` the old value does not take part.
    // expected-remark @+3 {{read 'c'[0 : 8, 0 : 8]}}
    // expected-remark @+2 {{write 'row'[0 : 8]}}
    // expected-remark @+1 {{synchronises}}
    tile.reduce max %c, %row dim 1 clear : memref<8x8xf32, #fragment> to memref<8xf32, #fragment>
    // expected-remark @+3 {{read 'c'[0 : 8, 0 : 8]}}
    // expected-remark @+2 {{write 'c'[0 : 8, 0 : 8]}}
    // expected-remark @+1 {{synchronises}}
    tile.cumsum %c, %c dim 1 : memref<8x8xf32, #fragment> to memref<8x8xf32, #fragment>
    // expected-remark @+2 {{read 's'[0 : 8, 0 : 16]}}
    // expected-remark @+1 {{accumulate 'A'[0 : 8, 0 : 16]}}
    tile.atomic add %s, %A : memref<8x16xf16, #shared>, memref<8x16xf16, #global>
    // expected-remark @+3 {{read 'r'[0 : 8]}}
    // expected-remark @+2 {{write 'row'[0 : 8]}}
    // expected-remark @+1 {{synchronises}}
    tile.finalize_reducer %r, %row : memref<8xf32, #fragment> to memref<8xf32, #fragment>
    // The padding makes the part of the image that is read inexpressible.
    // expected-remark @+2 {{read 'image' whole}}
    // expected-remark @+1 {{write 's'[0 : 8, 0 : 16]}}
    tile.im2col %image, %s at (%bx, %n) kernel 3 stride 1 dilation 1 pad 1
        : memref<1x8x8x4xf16, #global> to memref<8x16xf16, #shared>
    // expected-remark @+1 {{read 'row'[0 : 8]}}
    tile.print "row", %row : memref<8xf32, #fragment>
    tile.print "x", %x : f32
  }
  return
}

func.func @parts(%Q: memref<2x64x128xf16, #global> {tile.name = "Q"},
                 %D: memref<?x128xf16, #global> {tile.name = "D"}, %n: index, %x: f16) {
  %c32 = arith.constant 32 : index
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%n) threads [128] {
    %row = arith.muli %bx, %c32 : index
    %next = arith.addi %row, %c1 : index
    // Offsets are sums of index values; a dropped dimension is one element wide.
    %q = tile.slice %Q[1, %next, 0] [1, 32, 128] [1, 1, 1] drop [0]
        : memref<2x64x128xf16, #global> to memref<32x128xf16, #global>
    // expected-remark @+1 {{write 'Q'[1 : 1, %bx * 32 + 1 : 32, 0 : 128]}}
    tile.fill %x, %q : f16, memref<32x128xf16, #global>
    // A part of a part: offsets add up, steps multiply.
    %p = tile.slice %q[3, 1] [8, 20] [2, 3] : memref<32x128xf16, #global> to memref<8x20xf16, #global>
    // expected-remark @+1 {{write 'Q'[1 : 1, %bx * 32 + 4 : 8 step 2, 1 : 20 step 3]}}
    tile.fill %x, %p : f16, memref<8x20xf16, #global>
    %o = tile.slice %p[1, %bx] [1, 2] [1, 5] drop [0]
        : memref<8x20xf16, #global> to memref<2xf16, #global>
    // expected-remark @+1 {{write 'Q'[1 : 1, %bx * 32 + 6 : 1 step 2, %bx * 3 + 1 : 2 step 15]}}
    tile.fill %x, %o : f16, memref<2xf16, #global>
    // An element of a part.
    // expected-remark @+1 {{read 'Q'[1 : 1, %bx * 34 + 4 : 1 step 2, 4 : 1 step 3]}}
    %e = tile.load %p[%bx, %c1] : memref<8x20xf16, #global>
    // A tensor with a run-time extent is touched as a whole; a part of it is not.
    // expected-remark @+1 {{write 'D' whole}}
    tile.fill %x, %D : f16, memref<?x128xf16, #global>
    %d = tile.slice %D[%bx, 0] [%n, 8] [1, 1] : memref<?x128xf16, #global> to memref<?x8xf16, #global>
    // expected-remark @+1 {{write 'D'[%bx : %arg2, 0 : 8]}}
    tile.fill %x, %d : f16, memref<?x8xf16, #global>
    // A run-time step is not expressible.
    %t = tile.slice %Q[0, 0, 0] [1, 4, 4] [1, %n, 1]
        : memref<2x64x128xf16, #global> to memref<1x4x4xf16, #global>
    // expected-remark @+1 {{write 'Q' whole}}
    tile.fill %x, %t : f16, memref<1x4x4xf16, #global>
  }
  return
}

func.func @views(%n: index, %x: f16) {
  tile.kernel (%bx) in (%n) threads [128] {
    %s = tile.alloc "s" : memref<8x16xf32, #shared>
    %v = tile.view %s : memref<8x16xf32, #shared> to memref<256xf16, #shared>
    // The bytes of a view are not a rectangle of the root.
    // expected-remark @+1 {{write 's' whole}}
    tile.fill %x, %v : f16, memref<256xf16, #shared>
    %p = tile.slice %v[0] [2] [1] : memref<256xf16, #shared> to memref<2xf16, #shared>
    // expected-remark @+1 {{write 's' whole}}
    tile.fill %x, %p : f16, memref<2xf16, #shared>
  }
  return
}

// Sums that leave 64 bits, and expressions too large to look into, are not looked into.
func.func @limits(%A: memref<8xf32, #global> {tile.name = "A"}, %n: index) {
  %huge = arith.constant 9223372036854775807 : index
  %0 = arith.muli %n, %huge : index
  %1 = arith.muli %0, %huge : index
  // expected-remark @+1 {{read 'A'[%1 : 1]}}
  %x = tile.load %A[%1] : memref<8xf32, #global>
  %s = tile.slice %A[0] [2] [9223372036854775807] : memref<8xf32, #global> to memref<2xf32, #global>
  // expected-remark @+1 {{read 'A' whole}}
  %y = tile.load %s[%huge] : memref<2xf32, #global>
  return
}

// Ops that say nothing about themselves touch everything, and so do buffers of unknown origin.
func.func @unknown(%A: memref<8xf32, #global> {tile.name = "A"},
                   %B: memref<8xf32, #global> {tile.name = "B"}, %n: index, %which: i1) {
  // expected-remark @+1 {{unknown effects}}
  func.call @elsewhere() : () -> ()
  %one = arith.select %which, %A, %B : memref<8xf32, #global>
  // expected-remark @+2 {{read ''[%arg2 : 1]}}
  // expected-remark @+1 {{unknown effects}}
  %x = tile.load %one[%n] : memref<8xf32, #global>
  return
}
func.func private @elsewhere()

// Notes touch no memory.
func.func @notes(%A: memref<8xf32, #global> {tile.name = "A"}, %ok: i1) {
  tile.annotate_layout %A : memref<8xf32, #global> is #tile.layout<[8], "(i) -> (7 - i)">
  tile.annotate_safe_value %A : memref<8xf32, #global> is 1.0 : f32
  tile.use_swizzle panel 8 row
  tile.hint "persistent" (%A : memref<8xf32, #global>)
  tile.assume %ok
  tile.assert %ok, "ok"
  return
}
