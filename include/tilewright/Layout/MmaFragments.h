//===- MmaFragments.h - what mma and ldmatrix expect in which register ------------*- C++ -*-===//
//
// The fragments of the warp-wide tensor-core instructions (PTX ISA 9.7.14.5, "Matrix Fragments for
// mma.m16n8k…", and 9.7.14.5.15, ldmatrix) all follow one rule. With v elements in a 32-bit
// register (v = 4 for 8 bits, 2 for 16 bits, 1 for tf32 and f64), lane = 4 * group + t:
//
//   A (m x k)  group = row % 8  t = column // v % 4  slots: v columns, row + 8, column + 4 v
//   B (k x n)  group = column   t = row // v % 4     slots: v rows, row + 4 v
//   C (m x n)  group = row % 8  t = column // 2      slots: 2 columns, row + 8
//
//   C of m16n8:      col 0 1 | 2 3 | 4 5 | 6 7
//            row 0     lane 0|  1  |  2  |  3       slots 0, 1
//            row 1          4|  5  |  6  |  7
//            row 8          0|  1  |  2  |  3       slots 2, 3
//
// Tiles of a block are made of these by repetition: over the slots of a warp, then over warps.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_MMAFRAGMENTS_H
#define TILEWRIGHT_LAYOUT_MMAFRAGMENTS_H

#include "tilewright/Layout/Fragment.h"

namespace tilewright {

/// The shape of one mma instruction, m x n x k, and the width of its A and B elements.
struct MmaShape {
  int64_t m = 16;
  int64_t n = 8;
  int64_t k;
  int64_t operandBits;

  /// The k-extents that fill whole fragments: the instruction reads a multiple of 4 registers'
  /// worth of k.
  bool isValid() const;
};

/// One instruction's operand A (m x k), operand B (k x n), accumulator C (m x n), over the 32 lanes
/// of a warp.
Fragment mmaOperandA(const MmaShape &shape);
Fragment mmaOperandB(const MmaShape &shape);
Fragment mmaAccumulator(const MmaShape &shape);

/// An 8 x 8 matrix of 16-bit elements as ldmatrix and stmatrix distribute it; with `.trans`, an
/// element (row, column) goes where (column, row) goes without.
Fragment ldmatrixTile(bool transposed = false);

/// How the warps of a block share a gemm's result: `warpsM` along M times `warpsN` along N, each a
/// contiguous part. Warp w is at (w % warpsM, w // warpsM).
struct WarpGrid {
  int64_t warpsM;
  int64_t warpsN;
};

/// The fragments of whole tiles. Within a warp the instruction's tiles are numbered row by row,
/// each with its own slots; so two neighbouring n8 tiles of an accumulator are the k16 tile of a
/// 16-bit operand A, slot for slot. An operand is replicated over the warps that share it: A over
/// N, B over M. Fails if the tile is no multiple of what the warps cover, and says which multiples
/// work.
llvm::Expected<Fragment> blockOperandA(int64_t m, int64_t k, const MmaShape &shape, WarpGrid warps);
llvm::Expected<Fragment> blockOperandB(int64_t k, int64_t n, const MmaShape &shape, WarpGrid warps);
llvm::Expected<Fragment> blockAccumulator(int64_t m, int64_t n, const MmaShape &shape,
                                          WarpGrid warps);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_MMAFRAGMENTS_H
