// RUN: tw-opt %s | tw-opt | FileCheck %s
// RUN: tw-opt %s -o %t.first && tw-opt %t.first -o %t.second && diff %t.first %t.second
// RUN: tw-opt %s -mlir-print-op-generic | tw-opt | FileCheck %s
// RUN: tw-opt %s -canonicalize -cse | FileCheck %s
// Notes survive text, and MLIR's own clean-up, although they have no result.

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>

// CHECK-LABEL: func.func @notes
func.func @notes(%A: memref<?x32xf16, #global>, %I: memref<8xui8, #global>, %n: index, %ok: i1,
                 %x: f32) {
  tile.kernel (%bx) in (%n) threads [32] {
    %s = tile.alloc "s" : memref<8x32xf16, #shared>
    %f = tile.alloc "f" : memref<8x32xf32, #fragment>
    // CHECK: tile.annotate_layout %s : memref<8x32xf16, #tile.space<shared>> is #tile.layout<[8, 32], "(i, j) -> (i, j ^ 4 * (i % 8))">
    tile.annotate_layout %s : memref<8x32xf16, #shared>
        is #tile.layout<[8, 32], "(i, j) -> (i, j ^ 4 * (i % 8))">
    // CHECK: tile.annotate_layout %f : memref<8x32xf32, #tile.space<fragment>> is #tile.fragment<[8, 32], "(i, j) -> thread j, slot i">
    tile.annotate_layout %f : memref<8x32xf32, #fragment>
        is #tile.fragment<[8, 32], "(i, j) -> thread j, slot i">
    // CHECK: tile.annotate_layout %{{.*}} : memref<?x32xf16, #tile.space<global>> is #tile.layout<[?, 32], "(i, j) -> (j, i)"> {from = "user"}
    tile.annotate_layout %A : memref<?x32xf16, #global>
        is #tile.layout<[?, 32], "(i, j) -> (j, i)"> {from = "user"}
    // CHECK: tile.annotate_safe_value %{{.*}} : memref<?x32xf16, #tile.space<global>> is 0xFC00 : f16
    tile.annotate_safe_value %A : memref<?x32xf16, #global> is 0xFC00 : f16
    // CHECK: tile.annotate_safe_value %{{.*}} : memref<8xui8, #tile.space<global>> is -1 : i8
    tile.annotate_safe_value %I : memref<8xui8, #global> is -1 : i8
    // CHECK: tile.use_swizzle panel 8 row
    tile.use_swizzle panel 8 row
    // CHECK: tile.use_swizzle panel 4 column {tag}
    tile.use_swizzle panel 4 column {tag}
    // CHECK: tile.hint "no_set_max_nreg"
    tile.hint "no_set_max_nreg"
    // CHECK: tile.hint "l2_persistent"(%s, %f : memref<8x32xf16, #tile.space<shared>>, memref<8x32xf32, #tile.space<fragment>>) {ratio = 5.000000e-01 : f32}
    tile.hint "l2_persistent" (%s, %f : memref<8x32xf16, #shared>, memref<8x32xf32, #fragment>)
        {ratio = 5.000000e-01 : f32}
    // CHECK: tile.assume %{{.*}}
    tile.assume %ok
    // CHECK: tile.assert %{{.*}}, "n is \22even\22"
    tile.assert %ok, "n is \22even\22"
    // CHECK: tile.print "here"
    tile.print "here"
    // CHECK: tile.print "x =", %{{.*}} : f32
    tile.print "x =", %x : f32
    // CHECK: tile.print "", %s : memref<8x32xf16, #tile.space<shared>>
    tile.print "", %s : memref<8x32xf16, #shared>
  }
  return
}
