//===- Memory.h - the only place where a coordinate becomes an address -----------------------===//
//
//   Accesses.cpp   addresses, bounds, loads and stores of one element
//   Views.cpp      elements seen through another element type
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_NVPTX_MEMORY_H
#define TILEWRIGHT_LIB_CODEGEN_NVPTX_MEMORY_H

#include "Numbers.h"
#include "Thread.h"

namespace tilewright::nvptx {

/// Coordinates in the root of the element of `buffer` at `indices` (old values).
llvm::SmallVector<Value> rootCoordinates(Thread &t, Value buffer, mlir::ValueRange indices);
/// The same of coordinates that are new values.
llvm::SmallVector<Value> viewCoordinates(Thread &t, Value buffer,
                                         llvm::SmallVector<Value> coordinates);
/// One step of that: from a slice or a view of the same element type to its source.
llvm::SmallVector<Value> viewStep(Thread &t, Value buffer, llvm::SmallVector<Value> coordinates);
/// Whether coordinates lie in a view of a tensor. Null if there is no outside.
Value insideView(Thread &t, tile::ViewOp view, llvm::ArrayRef<Value> coordinates);
Value addressOf(Emitter &e, const Storage &storage, llvm::ArrayRef<Value> coordinates);
/// Null where no check is needed. Only the dimensions in `dims` are tested, if it is given.
Value inBounds(Emitter &e, const Storage &storage, llvm::ArrayRef<Value> coordinates,
               std::optional<llvm::ArrayRef<int64_t>> dims = std::nullopt);
Value loadAt(Emitter &e, const Storage &storage, llvm::ArrayRef<Value> coordinates);
void storeAt(Emitter &e, const Storage &storage, llvm::ArrayRef<Value> coordinates, Value value);

/// Coordinates in the root, and a byte inside that element, of byte `byte` of an element of
/// `buffer`.
std::pair<llvm::SmallVector<Value>, Value>
byteCoordinates(Thread &t, Value buffer, llvm::SmallVector<Value> coordinates, int64_t byte);
/// Whether the bytes of an element of a view follow each other in memory, aligned.
bool isOnePiece(Thread &t, Value buffer);
/// Refuses a statement one of whose operands is seen through a view that has no code.
mlir::LogicalResult checkViews(Thread &t, mlir::Operation *op);
/// The element of a buffer in memory at `coordinates` (new values), through any chain of views.
Value loadElement(Thread &t, Value buffer, llvm::ArrayRef<Value> coordinates);
void storeElement(Thread &t, Value buffer, llvm::ArrayRef<Value> coordinates, Value value);

/// The scratch area in which threads of a collective statement meet.
Value loadScratch(Thread &t, Value position, mlir::Type type);
void storeScratch(Thread &t, Value position, Value value, mlir::Type type);

} // namespace tilewright::nvptx

#endif // TILEWRIGHT_LIB_CODEGEN_NVPTX_MEMORY_H
