// RUN: tw-opt %s | tw-opt | FileCheck %s
// RUN: tw-opt %s -o %t.first && tw-opt %t.first -o %t.second && diff %t.first %t.second
// RUN: tw-opt %s -mlir-print-op-generic | tw-opt | FileCheck %s
// Buffers, parts of them, and single elements.

#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
#local = #tile.space<local>

// Every element type of the language.
// CHECK-LABEL: func.func @element_types
// CHECK-SAME: memref<i1, #tile.space<global>>, %{{.*}}: memref<4xi8, #tile.space<global>>,
// CHECK-SAME: memref<4xui64, #tile.space<global>>
// CHECK-SAME: memref<4xtf32, #tile.space<global>>
func.func @element_types(
    %b: memref<i1, #global>, %i8: memref<4xi8, #global>, %i16: memref<4xi16, #global>,
    %i32: memref<4xi32, #global>, %i64: memref<4xi64, #global>, %u8: memref<4xui8, #global>,
    %u16: memref<4xui16, #global>, %u32: memref<4xui32, #global>, %u64: memref<4xui64, #global>,
    %f16: memref<4xf16, #global>, %bf16: memref<4xbf16, #global>, %f32: memref<4xf32, #global>,
    %f64: memref<4xf64, #global>, %tf32: memref<4xtf32, #global>,
    %e4: memref<4xf8E4M3FN, #global>, %e5: memref<4xf8E5M2, #global>, %at: index) {
  tile.kernel (%bx) in (%at) threads [32] {
    // An unsigned element is a signless scalar; everything else is itself.
    // CHECK: %[[U:.*]] = tile.load %{{.*}}[%{{.*}}] : memref<4xui8, #tile.space<global>>
    // CHECK: tile.store %[[U]], %{{.*}}[%{{.*}}] : memref<4xi8, #tile.space<global>>
    %u = tile.load %u8[%at] : memref<4xui8, #global>
    tile.store %u, %i8[%at] : memref<4xi8, #global>
    // CHECK: tile.load %{{.*}}[] : memref<i1, #tile.space<global>>
    %flag = tile.load %b[] : memref<i1, #global>
    tile.store %flag, %b[] : memref<i1, #global>
  }
  return
}

// CHECK-LABEL: func.func @alloc
func.func @alloc(%n: index) {
  // CHECK: %workspace = tile.alloc "workspace"(%{{.*}}) : memref<?x4xf32, #tile.space<global>>
  %w = tile.alloc "workspace"(%n) : memref<?x4xf32, #global>
  // CHECK: %count = tile.alloc "count" : memref<index, #tile.space<local>>
  %v = tile.alloc "count" : memref<index, #local>
  tile.kernel (%bx) in (%n) threads [128] {
    // CHECK: %K_shared = tile.alloc "K_shared" : memref<64x128xf16, #tile.space<shared>>
    %s = tile.alloc "K_shared" : memref<64x128xf16, #shared>
    // CHECK: %sum = tile.alloc "sum" reducer sum {hint = 1 : i64} : memref<64xf32, #tile.space<fragment>>
    %r = tile.alloc "sum" reducer sum {hint = 1 : i64} : memref<64xf32, #fragment>
    // Two tiles of one name stay two.
    // CHECK: %K_shared_0 = tile.alloc "K_shared" : memref<1xi8, #tile.space<shared>>
    %t = tile.alloc "K_shared" : memref<1xi8, #shared>
    // CHECK: tile.alloc "" : memref<1xi8, #tile.space<shared>>
    %u = tile.alloc "" : memref<1xi8, #shared>
  }
  return
}

// CHECK-LABEL: func.func @parts
func.func @parts(%Q: memref<2x8x64x128xf16, #global>, %D: memref<?x?xf32, #global>, %o: index,
                 %n: index) {
  tile.kernel (%bx) in (%n) threads [128] {
    // CHECK: %[[S:.*]] = tile.slice %{{.*}}[%bx, 3, %{{.*}}, 0] [1, 1, 32, 128] [1, 1, 1, 1] drop [0, 1]
    // CHECK-SAME: : memref<2x8x64x128xf16, #tile.space<global>> to memref<32x128xf16, #tile.space<global>>
    %q = tile.slice %Q[%bx, 3, %o, 0] [1, 1, 32, 128] [1, 1, 1, 1] drop [0, 1]
        : memref<2x8x64x128xf16, #global> to memref<32x128xf16, #global>
    // CHECK: tile.slice %[[S]][0, 5] [16, 8] [2, 4] : memref<32x128xf16, #tile.space<global>> to
    %r = tile.slice %q[0, 5] [16, 8] [2, 4]
        : memref<32x128xf16, #global> to memref<16x8xf16, #global>
    // CHECK: tile.slice %{{.*}}[%{{.*}}, -7] [%{{.*}}, 4] [%{{.*}}, 1]
    %d = tile.slice %D[%o, -7] [%n, 4] [%o, 1]
        : memref<?x?xf32, #global> to memref<?x4xf32, #global>
    %s = tile.alloc "s" : memref<8x16xf32, #shared>
    // CHECK: tile.view %s : memref<8x16xf32, #tile.space<shared>> to memref<256xf16, #tile.space<shared>>
    %v = tile.view %s : memref<8x16xf32, #shared> to memref<256xf16, #shared>
    %w = tile.view %v : memref<256xf16, #shared> to memref<4x4x32xi8, #shared>
    // A part of a view, and the edge of an on-chip tile.
    // CHECK: tile.slice %{{.*}}[3, 0, 28] [1, 4, 4] [1, 1, 1]
    %x = tile.slice %w[3, 0, 28] [1, 4, 4] [1, 1, 1]
        : memref<4x4x32xi8, #shared> to memref<1x4x4xi8, #shared>
    // A slice of a global tensor may leave its bounds; an empty one touches nothing.
    %y = tile.slice %Q[-1, 9, 70, 0] [1, 1, 32, 128] [1, 1, 1, 1]
        : memref<2x8x64x128xf16, #global> to memref<1x1x32x128xf16, #global>
    %z = tile.slice %s[9, 0] [0, 16] [1, 1] : memref<8x16xf32, #shared> to memref<0x16xf32, #shared>
  }
  return
}
