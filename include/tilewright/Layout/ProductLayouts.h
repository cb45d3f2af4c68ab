//===- ProductLayouts.h - what wgmma expects in memory and in registers -------------*- C++ -*-===//
//
// A *product* is a warpgroup-wide wgmma: four warps multiply 64 rows of A by up to 256 columns of B
// and keep the sums in registers. B, and A unless it comes from registers, is read from shared
// memory through a 64-bit *descriptor*: a start address, two strides and a swizzle. The PTX ISA
// ("Asynchronous Warpgroup Level Matrix Shared Memory Layout") fixes what these mean. With rows of
// `span` bytes (128, 64 or 32, the swizzle's width) and `mn` for the row of A or the column of B:
//
//   K-major    address = start + mn // 8 * strideBytes + mn % 8 * span + k * size
//   MN-major   address = start + mn * size // span * leadingBytes + mn * size % span
//                              + k // 8 * strideBytes + k % 8 * span
//
// and bits 4-6 of the address (4-5, 4) are xored with bits 7-9 (7-8, 7). The xor works on absolute
// addresses, so the tile must start on a multiple of eight rows of the span.
//
// A tile's Layout says where its elements really are. `matchProductOperand` proves that the two are
// the same for every element, or refuses with the first element that differs. It is the only place
// that makes descriptors.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_PRODUCTLAYOUTS_H
#define TILEWRIGHT_LAYOUT_PRODUCTLAYOUTS_H

#include "tilewright/Layout/Fragment.h"
#include "tilewright/Layout/MmaFragments.h"
#include "tilewright/Layout/SharedLayouts.h"

namespace tilewright {

/// The rows of A that one product covers, and the threads that work on it.
inline constexpr int64_t kProductRows = 64;
inline constexpr int64_t kWarpgroupThreads = 128;
/// The bytes of K that one product covers.
inline constexpr int64_t kProductDepthBytes = 32;

/// How wgmma reads an operand that lies in shared memory. All offsets are bytes from the start of
/// the tile.
struct ProductOperand {
  BankSwizzle swizzle = BankSwizzle::Full;
  bool isKMajor = true;
  int64_t elementBytes = 2;
  int64_t leadingBytes = 0; ///< MN-major: between spans of mn. Ignored by K-major swizzles.
  int64_t strideBytes = 0;  ///< Between groups of eight rows of the span.
  int64_t panelBytes = 0;   ///< K-major: between spans of k.

  /// What a descriptor's start address adds to the tile's address for the product that begins at
  /// row (column of B) `mn`, a multiple of 8 (MN-major: of a span), and at depth `k`, a multiple of
  /// 32 bytes.
  int64_t getStart(int64_t mn, int64_t k) const;
  /// Products start at multiples of so many rows (columns of B).
  int64_t getStep() const { return isKMajor ? 8 : static_cast<int64_t>(swizzle) / elementBytes; }
  /// The boundary that the tile must start on.
  int64_t getAlignment() const { return 8 * static_cast<int64_t>(swizzle); }
  /// The descriptor of a start address of 0 (PTX ISA, "Matrix Descriptor Format"): bits 0-13 are
  /// the start address, the caller's; all in units of 16 bytes.
  uint64_t getDescriptor() const;
};

/// How wgmma reads an operand whose element (mn, k) lies at `offset`: a layout of shape (MN, K) with
/// one output, which counts elements from the start of the tile. Fails, with the reason, where no
/// descriptor describes the tile.
llvm::Expected<ProductOperand> matchProductOperand(const Layout &offset, int64_t elementBits);

/// How the warpgroups of a block share a product: `groupsM` along M times `groupsN` along N.
/// Group g is at (g % groupsM, g // groupsM).
struct GroupGrid {
  int64_t groupsM = 1;
  int64_t groupsN = 1;
};

/// Where the sums of a block's products live: warp w of a group holds rows 16 w to 16 w + 15 of
/// every 64, each 16 x 8 of them as an mma accumulator. Slots count the columns of one product,
/// then the products along M. Fails where the groups or the products do not divide the tile.
llvm::Expected<Fragment> productAccumulator(int64_t m, int64_t n, GroupGrid groups);

/// Where A lives that products read from registers: rows as in the accumulator, each 16 bytes x 2
/// of K as an mma operand; replicated over the groups along N.
llvm::Expected<Fragment> productOperandA(int64_t m, int64_t k, int64_t elementBits,
                                         GroupGrid groups);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_PRODUCTLAYOUTS_H
