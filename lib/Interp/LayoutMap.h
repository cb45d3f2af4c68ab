//===- LayoutMap.h - where a layout puts an element, by a walker of our own -------*- C++ -*-===//
//
// The room Layout answers questions about layouts for the compiler; a witness may not ask it. This
// file only reads the expression trees and evaluates them, one element at a time.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_INTERP_LAYOUTMAP_H
#define TILEWRIGHT_LIB_INTERP_LAYOUTMAP_H

#include "ShadowArray.h"
#include "tilewright/Layout/Layout.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace tilewright::interp {

/// The value of `expr` at an index; nothing where it leaves 64 bits. `//` and `%` are Python's.
std::optional<int64_t> evaluate(const IndexExpr &expr, llvm::ArrayRef<int64_t> dims,
                                llvm::ArrayRef<int64_t> symbols = {});

/// The row-major offset of each element of a tensor of `shape` under a layout.
class LayoutMap {
public:
  /// Finds the output extents by visiting every index that an output depends on.
  static llvm::Expected<LayoutMap> get(const Layout &layout, llvm::ArrayRef<int64_t> shape);

  /// The physical offset of the element with this row-major logical number.
  int64_t getOffset(int64_t element);
  /// How many elements the memory has.
  int64_t getPhysicalSize() const { return physicalSize; }

private:
  LayoutMap(const Layout &layout, llvm::ArrayRef<int64_t> shape)
      : layout(layout), shape(shape.begin(), shape.end()) {}

  Layout layout;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<int64_t, 6> outputShape;
  int64_t physicalSize = 1;
  /// Offsets already computed, plus one; 0 is "not yet".
  ShadowArray<int64_t> known;
};

/// The coordinates of an element from its row-major number, and back.
llvm::SmallVector<int64_t, 4> unravel(int64_t element, llvm::ArrayRef<int64_t> shape);
int64_t countElements(llvm::ArrayRef<int64_t> shape);
/// The number of elements of a run-time shape; nothing if an extent is negative or there are more
/// than any memory holds.
std::optional<int64_t> countIfSane(llvm::ArrayRef<int64_t> shape);

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_LAYOUTMAP_H
