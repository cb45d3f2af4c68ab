//===- Buffers.h - what a buffer of the tile dialect is -----------------------------*- C++ -*-===//
//
// A buffer is a memref in a #tile.space. Its type says shape, element type and space, never a
// layout. This header answers the questions that every pass asks of a buffer: its element type as a
// scalar, its storage, its name in the user's program, and the allocation it is a part of.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILE_BUFFERS_H
#define TILEWRIGHT_TILE_BUFFERS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <optional>
#include <string>

namespace tilewright::tile {

enum class Space : uint32_t;

/// A memref with the identity layout, a #tile.space and an element type of the language.
bool isBufferType(mlir::Type type);
/// A type that an element may have: bool, (un)signed integers of 8 to 64 bits, and the floats.
bool isElementType(mlir::Type type);
/// A type that an SSA scalar may have: `index`, or the scalar of an element type.
bool isScalarType(mlir::Type type);

/// The SSA type of an element: unsigned integers become signless, everything else is itself.
mlir::Type getScalarType(mlir::Type elementType);
/// Bytes of one element in memory (`i1` takes 1, `tf32` takes 4).
int64_t getStorageBytes(mlir::Type elementType);
/// Bytes of a buffer with constant extents; nothing where they do not fit in 64 bits.
std::optional<int64_t> getStorageBytes(mlir::MemRefType type);
/// Bits of one element in memory.
inline int64_t getStorageBits(mlir::Type elementType) { return 8 * getStorageBytes(elementType); }

Space getSpace(mlir::MemRefType type);
inline Space getSpace(mlir::Value buffer) {
  return getSpace(llvm::cast<mlir::MemRefType>(buffer.getType()));
}
mlir::MemRefType makeBufferType(llvm::ArrayRef<int64_t> shape, mlir::Type elementType, Space space);

/// The buffer that a `tile.slice` or `tile.view` is a part of; null for any other buffer.
mlir::Value getViewSource(mlir::Value buffer);
/// The allocation or argument that a buffer is a part of. Safe on IR that is not verified yet.
mlir::Value getRoot(mlir::Value buffer);
/// Whether a root is a buffer of its own: an allocation, or an argument of a function. Any other
/// value (a loop's result, a cast) may be a second name of another buffer.
bool isOwnBuffer(mlir::Value root);
/// The name the user gave the root, or an empty string.
llvm::StringRef getName(mlir::Value buffer);

/// `64 x 128`, with `?` for run-time extents; `scalar` for rank 0.
std::string describeShape(llvm::ArrayRef<int64_t> shape);
/// The user's name of an element type: `float16`, `uint8`, `float8_e4m3fn`.
std::string describeElementType(mlir::Type type);
/// `'K_shared' (64 x 128 float16)`: how messages speak of a buffer.
std::string describe(mlir::Value buffer);

/// The extents without those that are 1; copies match the rest.
llvm::SmallVector<int64_t> dropUnitExtents(llvm::ArrayRef<int64_t> shape);
/// Whether two shapes can be equal, with run-time extents matching anything.
bool areCompatibleShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_BUFFERS_H
