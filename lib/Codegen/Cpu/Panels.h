//===- Panels.h - operands that a product packs while it runs -----------------------*- C++ -*-===//
//
// An operand that one product reads once in an iteration need not be packed as a whole beforehand: by
// the time the product reads it, it has left the first cache, and a core that only copies waits for
// its second cache. The microkernel packs a panel of B while it multiplies the first rows of A by it,
// and rows of A just before it multiplies them by the only panel:
//
//   for each panel:              for each k:  b[k] = B[k, panel];  C[first rows] += A[.., k] * b[k]
//     for the other blocks:      for each k:                       C[block]      += A[.., k] * b[k]
//
// What it packs to is a few KiB that stay in the first cache. A tensor's rows are often a power of two
// apart and at no multiple of a vector: read in place for each block, they push each other out of the
// first cache, and each vector takes two lines.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_PANELS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_PANELS_H

#include "Microkernel.h"

namespace tilewright::cpu {

/// Whether a product of these extents can pack the operand, a view of m x k or k x n elements.
bool canPackByPanels(Emitter &e, const View &view, const Product &product, bool isRight);
/// Lets the product do so.
void packByPanels(Emitter &e, const View &view, Product &product, bool isRight);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_PANELS_H
