//===- Layout.h - where each element of a tile lives ------------------------------*- C++ -*-===//
//
// The front door of the room Layout. The room decides nothing about programs; it says what a
// placement *is* and answers questions about it exactly:
//
//   Layout     logical index -> physical index                  Layout.h
//   Fragment   logical index (and replica) -> (thread, slot)    Fragment.h
//   IndexExpr  the integer expressions both are made of         IndexExpr.h, Notation.h
//   questions  injective? covering? equal? contiguous?          Questions.h, Contiguity.h
//   algebra    compose, invert, product, repeat, replicate      Algebra.h
//   forms      how questions are answered, cheapest first       F2Form.h, DigitForm.h, Enumerate.h
//   makers     swizzles, padding, tensor-core fragments         SharedLayouts.h, MmaFragments.h
//   pictures   who owns what, which bank is hit                 Picture.h
//
// docs/internals/layouts.md explains it with examples.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_LAYOUT_H
#define TILEWRIGHT_LAYOUT_LAYOUT_H

#include "tilewright/Layout/IndexExpr.h"
#include "tilewright/Layout/Notation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <limits>
#include <memory>
#include <optional>

namespace tilewright {

/// The extent of a dimension of a global tensor that is known only at launch; the value is that of
/// MLIR's ShapedType::kDynamic.
inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

struct LayoutCache;

/// A map from a logical index of a tile or tensor to the physical index of its memory. The physical
/// index may have another rank; memory is row-major over the output shape:
///
///   (i, j) -> (j % 2, i, j // 2)  on 4 x 8    has output shape 2 x 4 x 4;
///   element (1, 3) is at index (1, 1, 1), offset 1 * 16 + 1 * 4 + 1 = 21
///
/// A cheap immutable value: copies share their expressions and the memoised answers about them.
/// Equality is structural (same shape, same expressions); `isEqual` compares what is computed.
class Layout {
public:
  /// No dims, no outputs: the layout of a scalar.
  Layout();
  /// The arguments must pass `verify`.
  static Layout get(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<IndexExpr> outputs,
                    unsigned numSymbols = 0);
  /// Refuses negative extents, dims and symbols that are not declared, and expressions too large to
  /// work with. Cheap: says nothing about the values of the outputs.
  static llvm::Error verify(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<IndexExpr> outputs,
                            unsigned numSymbols = 0);

  unsigned getRank() const { return getShape().size(); }
  llvm::ArrayRef<int64_t> getShape() const;
  llvm::ArrayRef<IndexExpr> getOutputs() const;
  unsigned getNumOutputs() const { return getOutputs().size(); }
  unsigned getNumSymbols() const;
  bool hasStaticShape() const;
  /// The product of the extents; nothing if one is dynamic or the product does not fit.
  std::optional<int64_t> getNumElements() const;

  /// The physical index of a logical one; nothing on overflow.
  std::optional<llvm::SmallVector<int64_t, 4>> map(llvm::ArrayRef<int64_t> index,
                                                   llvm::ArrayRef<int64_t> symbols = {}) const;

  /// The extents of the physical index: one more than the largest value of each output, exactly;
  /// kDynamic where that is not known (dynamic shapes, symbols). Empty tiles have extents 0. A
  /// dynamic extent is taken to be as large as can be, so `i % 8` always has extent 8: strides must
  /// not depend on a launch.
  llvm::ArrayRef<int64_t> getOutputShape() const;
  /// The smallest value of each output, kDynamic where it is not known. A negative one makes the
  /// layout unusable as an address; `isAddressable` tells.
  llvm::ArrayRef<int64_t> getOutputMinimum() const;

  /// The number of elements that memory must have: the product of the output shape.
  std::optional<int64_t> getPhysicalSize() const;
  /// The row-major offset as one expression; nothing unless all output extents but the first are
  /// known.
  std::optional<IndexExpr> getOffset() const;

  void print(llvm::raw_ostream &os) const;
  void print(llvm::raw_ostream &os, const IndexNames &names) const;
  std::string str() const;

  /// Memoised answers; for the files of this room.
  const LayoutCache &getCache() const;

  friend bool operator==(const Layout &lhs, const Layout &rhs);
  friend llvm::hash_code hash_value(const Layout &layout);

private:
  struct Storage;
  explicit Layout(std::shared_ptr<const Storage> storage) : storage(std::move(storage)) {}

  std::shared_ptr<const Storage> storage; ///< Never null.
};

/// Reads `(i, j) -> (i, j ^ 4 * (i % 8))` as a layout of a tile of this shape.
llvm::Expected<Layout> parseLayout(llvm::StringRef text, llvm::ArrayRef<int64_t> shape);

/// Writes `64 x 128`, `?` for dynamic extents, as in messages.
std::string shapeToString(llvm::ArrayRef<int64_t> shape);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_LAYOUT_H
