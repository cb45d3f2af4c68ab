//===- Streams.h - rows of tensors that are larger than the caches ------------------*- C++ -*-===//
//
// Long rows of a tensor larger than the caches are *streamed*. They are written past the caches: an
// ordinary store would first read the line that it replaces, and push out one that is still needed.
// They are *read ahead*: the hardware stops at the end of each row, since work on the tile comes
// between, and begins anew. So are tiles of smaller tensors that lie in one piece, or are too large
// to be prefetched an iteration before; there the hardware stops at the end of each page.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_STREAMS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_STREAMS_H

#include "Copies.h"

namespace tilewright::cpu {

inline constexpr int64_t kCacheLine = 64;

/// Prefetches what lies further on than `address`: of the same row or of the next one, which often
/// follows it in memory.
void prefetchAfter(Emitter &e, mlir::Value address);

/// Whether the elements are one stretch of memory: the view has all of each dimension after the
/// first that it has a part of.
bool isOneStretch(const View &view);

/// Whether a part of a tensor is worth reading ahead while it is copied.
bool isReadAhead(const View &view);

/// Copies by streaming, or reading ahead, if the copy is one for that; else false.
bool copyRows(Emitter &e, const View &source, const View &dest, const Pairing &pairing,
              ReadAhead readAhead);

/// Stores past the caches are not ordered with others until they are fenced. The launch is fenced
/// once, at the end; where blocks learn of each other by atomic updates, each statement is.
void noteStreamedStores(Emitter &e);
void fenceStores(mlir::ImplicitLocOpBuilder &b);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_STREAMS_H
