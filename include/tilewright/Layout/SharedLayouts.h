//===- SharedLayouts.h - layouts of shared tiles ----------------------------------*- C++ -*-===//
//
// ldmatrix reads eight rows of 16 bytes at once, one from each of eight rows of the tile at the
// same column. It is free of bank conflicts when those eight *chunks* of 16 bytes differ in their
// position within 128 bytes. Let a row have c chunks:
//
//   c odd            they differ already: row r starts at chunk r * c, an odd multiple of r
//   c a multiple of  8: all start at one position  chunk ^= row % 8         full bank, 128 bytes
//                    4: at two positions           chunk ^= row // 2 % 4    half bank, 64 bytes
//                    2: at four positions          chunk ^= row // 4 % 2    quarter bank, 32 bytes
//
// The xor stays inside a *panel* of 128, 64 or 32 bytes, and wider tiles are several panels one
// after the other: (panel, row, chunk in the panel). This is also how TMA writes and wgmma reads
// such tiles. Copies of 16 bytes a lane fill rows of a panel and are free of conflicts as well.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_SHAREDLAYOUTS_H
#define TILEWRIGHT_LAYOUT_SHAREDLAYOUTS_H

#include "tilewright/Layout/Layout.h"

namespace tilewright {

/// Row-major memory as one offset: `(i, j) -> (i * extent_j + j)`.
Layout linearLayout(llvm::ArrayRef<int64_t> shape);

/// Rows that start `pitch` elements apart: `(i, j) -> (i * pitch + j)`; leading dimensions count
/// rows.
llvm::Expected<Layout> paddedLayout(llvm::ArrayRef<int64_t> shape, int64_t pitch);

/// The width in bytes of the panels that a swizzle works in.
enum class BankSwizzle : int64_t { Quarter = 32, Half = 64, Full = 128 };

/// The swizzle above with panels of the given width, for the last two dimensions of a tile; leading
/// ones are tiles one after the other. Fails if rows are not a multiple of the panels.
llvm::Expected<Layout> bankSwizzledLayout(llvm::ArrayRef<int64_t> shape, int64_t elementBits,
                                          BankSwizzle swizzle);

/// TileLang's make_swizzled_layout: the widest swizzle that the rows allow. Rows of an odd number
/// of chunks stay as they are. Rows that are no multiple of 16 bytes are padded to an odd number of
/// chunks if `allowPad`, and stay linear otherwise. Tiles of 8-bit elements whose contiguous
/// dimension is not the gemm's K (`kMajor` false) cannot be read by ldmatrix, which transposes only
/// 16-bit elements: their columns are gathered, so they are padded too if allowed.
llvm::Expected<Layout> swizzledLayout(llvm::ArrayRef<int64_t> shape, int64_t elementBits,
                                      bool kMajor = true, bool allowPad = true);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_SHAREDLAYOUTS_H
