//===- SharedLayouts.cpp - layouts of shared tiles ------------------------------------------===//

#include "tilewright/Layout/SharedLayouts.h"
#include "tilewright/Layout/Algebra.h"
#include "tilewright/Support/IndexMath.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <bit>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::Twine;

static constexpr int64_t kChunkBits = 16 * 8;

/// Refuses what has no rows, no fixed size, or elements that do not fill 16 bytes.
static Error verifyTile(ArrayRef<int64_t> shape, int64_t elementBits) {
  if (shape.size() < 2)
    return llvm::createStringError("swizzle: expected a tile of at least 2 dimensions, got " +
                                   Twine(shape.size()));
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 1; }))
    return llvm::createStringError("swizzle: expected static extents of at least 1, got " +
                                   shapeToString(shape));
  if (elementBits < 1 || elementBits > kChunkBits || !std::has_single_bit(uint64_t(elementBits)))
    return llvm::createStringError("swizzle: expected elements of 1 to 128 bits, a power of two, "
                                   "got " +
                                   Twine(elementBits) + " bits");
  if (shape.back() > std::numeric_limits<int64_t>::max() / kChunkBits)
    return llvm::createStringError("swizzle: rows of " + Twine(shape.back()) +
                                   " elements are too long");
  return Error::success();
}

Layout tilewright::linearLayout(ArrayRef<int64_t> shape) {
  IndexExpr offset = 0;
  for (auto [dim, extent] : llvm::enumerate(shape))
    offset = offset * extent + IndexExpr::dim(dim);
  return Layout::get(shape, {offset});
}

Expected<Layout> tilewright::paddedLayout(ArrayRef<int64_t> shape, int64_t pitch) {
  if (shape.empty() || llvm::is_contained(shape, kDynamic) || pitch < shape.back())
    return llvm::createStringError("padded layout: expected a static shape with rows of at most " +
                                   Twine(pitch) + " elements, got " + shapeToString(shape));
  SmallVector<int64_t, 4> padded(shape);
  padded.back() = pitch;
  return Layout::get(shape, linearLayout(padded).getOutputs());
}

Expected<Layout> tilewright::bankSwizzledLayout(ArrayRef<int64_t> shape, int64_t elementBits,
                                                BankSwizzle swizzle) {
  if (Error error = verifyTile(shape, elementBits))
    return error;
  int64_t panelBytes = static_cast<int64_t>(swizzle);
  int64_t panel = panelBytes * 8 / elementBits; // in elements
  int64_t chunk = kChunkBits / elementBits;
  if (shape.back() % panel != 0)
    return llvm::createStringError("swizzle: expected rows of a multiple of " + Twine(panelBytes) +
                                   " bytes, got " + Twine(shape.back()) + " elements of " +
                                   Twine(elementBits) + " bits");
  IndexExpr row = IndexExpr::dim(0), column = IndexExpr::dim(1);
  int64_t rowsPerLine = 128 / panelBytes, chunks = panel / chunk;
  IndexExpr swizzled = column % panel ^ chunk * (floorDiv(row, rowsPerLine) % chunks);
  SmallVector<IndexExpr, 3> outputs = {row, swizzled};
  if (shape.back() != panel)
    outputs.insert(outputs.begin(), floorDiv(column, panel));
  else
    outputs.back() = column ^ chunk * (floorDiv(row, rowsPerLine) % chunks);
  Layout tile = Layout::get(shape.take_back(2), outputs);
  return shape.size() == 2 ? tile : product(identityLayout(shape.drop_back(2)), tile);
}

Expected<Layout> tilewright::swizzledLayout(ArrayRef<int64_t> shape, int64_t elementBits,
                                            bool kMajor, bool allowPad) {
  if (Error error = verifyTile(shape, elementBits))
    return error;
  int64_t rowBits = shape.back() * elementBits;
  bool gathered = elementBits == 8 && !kMajor && allowPad;
  if (!gathered)
    for (BankSwizzle swizzle : {BankSwizzle::Full, BankSwizzle::Half, BankSwizzle::Quarter})
      if (rowBits % (static_cast<int64_t>(swizzle) * 8) == 0)
        return bankSwizzledLayout(shape, elementBits, swizzle);
  bool wholeChunks = rowBits % kChunkBits == 0;
  if (!allowPad || (wholeChunks && !gathered))
    return identityLayout(shape);
  int64_t chunks = llvm::divideCeil(rowBits, kChunkBits);
  chunks += chunks % 2 == 0; // an odd number
  return paddedLayout(shape, chunks * (kChunkBits / elementBits));
}
