//===- Copies.h - moving the elements of tiles and tensors --------------------------*- C++ -*-===//
//
// A copy that may leave a global tensor does not check each element: the elements that exist form a
// box, so the loops run over its intersection with the tile, and what lies outside is filled with
// the safe value first (only if there is any). Long rows are streamed or read ahead (Streams.h).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_COPIES_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_COPIES_H

#include "Emitter.h"

namespace tilewright::cpu {

/// The pairs of dimensions that an element-wise statement runs over, and their extents.
struct Pairing {
  llvm::SmallVector<unsigned> source, dest;
  llvm::SmallVector<mlir::Value> extents;
};

/// Extents that must agree; where neither is constant the launch checks them. Gives the better
/// known.
mlir::Value requireEqual(Emitter &e, mlir::Value lhs, mlir::Value rhs, const llvm::Twine &what);

Pairing pairDimensions(Emitter &e, const View &source, mlir::MemRefType sourceType,
                       const View &dest, mlir::MemRefType destType);

/// The index of the view's element at these loop variables, which run over `dims`.
llvm::SmallVector<mlir::Value> spread(Emitter &e, const View &view, llvm::ArrayRef<unsigned> dims,
                                      llvm::ArrayRef<mlir::Value> variables);

/// Whether a copy reads its source ahead where the hardware would not. Not where an earlier
/// iteration has prefetched it.
enum class ReadAhead { Allowed, NotNeeded };

void copyView(Emitter &e, const View &source, const View &dest, const Pairing &pairing,
              ReadAhead readAhead = ReadAhead::Allowed);

/// `source`, or a copy of it in scratch memory if it is a part of the root that is written: a
/// statement reads all of its operands before it writes the first element.
View separateFrom(Emitter &e, const View &dest, const View &source, mlir::MemRefType sourceType,
                  ReadAhead readAhead = ReadAhead::Allowed);

/// Copies one buffer to another, converting elements.
void copyBuffer(Emitter &e, mlir::Value source, mlir::Value dest,
                ReadAhead readAhead = ReadAhead::Allowed);

void fillView(Emitter &e, const View &dest, mlir::Value value);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_COPIES_H
