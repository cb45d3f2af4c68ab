// RUN: tw-opt %s -tile-plan-gpu=arch=sm_80 -tile-lower-to-threads=arch=sm_80 | FileCheck %s
// Updates by many threads: one instruction where PTX has it, compare and swap elsewhere.

// CHECK-LABEL: llvm.func @add_f32_kernel
// CHECK: llvm.inline_asm {{.*}}"red.global.add.f32 [$0], $1;"
func.func @add_f32(%a: memref<32xf32, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element add %x, %a[%i] : memref<32xf32, #tile.space<global>>
    }
  }
  return
}

// Neighbouring halves of one thread: one pair.
// CHECK-LABEL: llvm.func @add_f16_pairs_kernel
// CHECK: "red.global.add.noftz.f16x2 [$0], $1;"
func.func @add_f16_pairs(%a: memref<64xf16, #tile.space<global>>, %x: f16) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (64) {
      %old = tile.atomic_element add %x, %a[%i] : memref<64xf16, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: llvm.func @max_i32_kernel
// CHECK: "red.global.max.s32 [$0], $1;"
func.func @max_i32(%a: memref<32xi32, #tile.space<global>>, %x: i32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element max %x, %a[%i] : memref<32xi32, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: llvm.func @max_u32_kernel
// CHECK: "red.global.max.u32 [$0], $1;"
func.func @max_u32(%a: memref<32xui32, #tile.space<global>>, %x: i32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element max %x, %a[%i] : memref<32xui32, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: llvm.func @add_i64_kernel
// CHECK: "red.global.add.u64 [$0], $1;"
func.func @add_i64(%a: memref<32xi64, #tile.space<global>>, %x: i64) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element add %x, %a[%i] : memref<32xi64, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: llvm.func @add_f64_kernel
// CHECK: "red.global.add.f64 [$0], $1;"
func.func @add_f64(%a: memref<32xf64, #tile.space<global>>, %x: f64) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element add %x, %a[%i] : memref<32xf64, #tile.space<global>>
    }
  }
  return
}

// PTX has no maximum of floats: compare and swap, from an atomic read on.
// CHECK-LABEL: llvm.func @max_f32_kernel
// CHECK: "ld.relaxed.gpu.global.b32 $0, [$1];"
// CHECK: scf.while
// CHECK: arith.maxnumf
// CHECK: "atom.global.cas.b32 $0, [$1], $2, $3;"
func.func @max_f32(%a: memref<32xf32, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element max %x, %a[%i] : memref<32xf32, #tile.space<global>>
    }
  }
  return
}

// A byte is updated with its neighbour, as 16 bits.
// CHECK-LABEL: llvm.func @add_i8_kernel
// CHECK: llvm.ptrtoint
// CHECK: "ld.relaxed.gpu.global.b16 $0, [$1];"
// CHECK: "atom.global.cas.b16 $0, [$1], $2, $3;"
func.func @add_i8(%a: memref<32xi8, #tile.space<global>>, %x: i8) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element add %x, %a[%i] : memref<32xi8, #tile.space<global>>
    }
  }
  return
}

// CHECK-LABEL: llvm.func @shared_add_kernel
// CHECK: "red.relaxed.cta.shared.add.f32 [$0], $1;"
func.func @shared_add(%a: memref<32xf32, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<32xf32, #tile.space<shared>>
    tile.fill %x, %s : f32, memref<32xf32, #tile.space<shared>>
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element add %x, %s[%i] : memref<32xf32, #tile.space<shared>>
    }
    tile.copy %s, %a : memref<32xf32, #tile.space<shared>> to memref<32xf32, #tile.space<global>>
  }
  return
}

// There is no `red.exch`.
// CHECK-LABEL: llvm.func @exchange_kernel
// CHECK: "atom.global.exch.b32 $0, [$1], $2;"
func.func @exchange(%a: memref<32xf32, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element exchange %x, %a[%i] : memref<32xf32, #tile.space<global>>
    }
  }
  return
}

// A previous value that is used is an `atom`.
// CHECK-LABEL: llvm.func @previous_kernel
// CHECK: %[[OLD:.*]] = llvm.inline_asm {{.*}}"atom.global.add.u32 $0, [$1], $2;"
// CHECK: scf.yield %[[OLD]] : i32
func.func @previous(%a: memref<32xi32, #tile.space<global>>, %b: memref<32xi32, #tile.space<global>>, %x: i32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element add %x, %a[%i] : memref<32xi32, #tile.space<global>>
      tile.store %old, %b[%i] : memref<32xi32, #tile.space<global>>
    }
  }
  return
}

// An order is part of the instruction; sequential consistency is a fence in front of it.
// CHECK-LABEL: llvm.func @ordered_kernel
// CHECK: "atom.acq_rel.gpu.global.add.f32 $0, [$1], $2;"
// CHECK: "fence.sc.gpu;"
// CHECK: "atom.acq_rel.gpu.global.add.f32
func.func @ordered(%a: memref<32xf32, #tile.space<global>>, %x: f32) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element add %x, %a[%i] order acq_rel : memref<32xf32, #tile.space<global>>
      %last = tile.atomic_element add %x, %a[%i] order seq_cst : memref<32xf32, #tile.space<global>>
    }
  }
  return
}

// A shared tile of bytes starts as zeros, two at a time: an update reads the byte beside its own.
// CHECK-LABEL: llvm.func @shared_bytes_kernel
// CHECK: scf.for %{{.*}} = %{{.*}} to %c17 step %c32
// CHECK: llvm.store %{{.*}}, %{{.*}} : i16, !llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK: atom.relaxed.cta.shared.cas.b16
func.func @shared_bytes(%x: i8) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %counts = tile.alloc "counts" : memref<33xi8, #tile.space<shared>>
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element add %x, %counts[%i] : memref<33xi8, #tile.space<shared>>
    }
  }
  return
}

// Pairs of bytes of a tile that starts behind another one are cleared where it lies.
// CHECK-LABEL: llvm.func @cleared_behind_kernel
// CHECK: llvm.getelementptr %{{.*}}[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
func.func @cleared_behind(%a: memref<128xf32, #tile.space<global>>, %o: memref<32xi8, #tile.space<global>>, %x: i8) {
  %c1 = arith.constant 1 : index
  tile.kernel (%bx) in (%c1) threads [32] {
    %s = tile.alloc "s" : memref<128xf32, #tile.space<shared>>
    %counts = tile.alloc "counts" : memref<32xi8, #tile.space<shared>>
    tile.copy %a, %s : memref<128xf32, #tile.space<global>> to memref<128xf32, #tile.space<shared>>
    tile.parallel (%i) in (32) {
      %old = tile.atomic_element add %x, %counts[%i] : memref<32xi8, #tile.space<shared>>
    }
    tile.copy %counts, %o : memref<32xi8, #tile.space<shared>> to memref<32xi8, #tile.space<global>>
    tile.copy %s, %a : memref<128xf32, #tile.space<shared>> to memref<128xf32, #tile.space<global>>
  }
  return
}
