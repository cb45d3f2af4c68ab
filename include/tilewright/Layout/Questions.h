//===- Questions.h - what can be asked of a layout --------------------------------*- C++ -*-===//
//
// Every question is answered exactly where that is possible, cheapest way first:
//
//   1. F2 form     extents are powers of two, the layout moves and xors bits
//   2. digit form  any extents, also dynamic ones; whatever the size of the tensor
//   3. enumeration of all elements, for static tiles of at most kMaxEnumeratedElements
//   4. enumeration of a corner of the tile, which can only refute
//
// Collisions and differences are checked against the layout's own expressions before they are
// reported. The answers about one layout are memoised on it, safely for several threads.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_QUESTIONS_H
#define TILEWRIGHT_LAYOUT_QUESTIONS_H

#include "tilewright/Layout/Fragment.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/Support/Answer.h"

namespace tilewright {

using IndexVector = llvm::SmallVector<int64_t, 4>;

/// Writes `(1, 2)`.
std::string indexToString(llvm::ArrayRef<int64_t> index);

/// Two elements at one position. For fragments the last number of `first` and `second` is the
/// replica, and the image is (thread, slot).
struct Collision {
  IndexVector first, second;
  IndexVector image;

  /// Writes `elements (0, 0) and (1, 0) both lie at (0)`.
  std::string str() const;
};

/// Whether no two elements share a position.
Answer<Collision> isInjective(const Layout &layout);
/// Whether no two elements, nor two replicas of one, share a thread's slot.
Answer<Collision> isInjective(const Fragment &fragment);

/// A position inside the output shape without an element.
struct Hole {
  IndexVector image;
  /// Writes `no element lies at (0, 33)`.
  std::string str() const;
};

/// Whether every position of the output shape has an element: the layout has no padding; every
/// thread of the fragment uses all its slots.
Answer<Hole> covers(const Layout &layout);
Answer<Hole> covers(const Fragment &fragment);

/// An element that two layouts map differently. Empty vectors: the shapes differ.
struct Difference {
  IndexVector index;
  IndexVector first, second;
  /// Writes `element (0, 1) lies at (0, 1) and at (1, 0)`.
  std::string str() const;
};

/// Whether both layouts compute the same map. Other expressions, the same shape and number of
/// outputs.
Answer<Difference> isEqual(const Layout &first, const Layout &second);
/// Whether both fragments hold each element in the same slots of the same threads; replicas may be
/// numbered differently.
Answer<Difference> isEqual(const Fragment &first, const Fragment &second);

/// A thread that needs an element and does not hold it.
struct Missing {
  IndexVector index;
  int64_t thread;
  /// Writes `thread 5 needs element (0, 1) and does not hold it`.
  std::string str() const;
};

/// Whether each thread that holds an element under `needed` also holds it (in any slot) under
/// `held`, so that no data has to move between threads.
Answer<Missing> isProvidedBy(const Fragment &needed, const Fragment &held);

/// Whether every output is at least 0 for every element, as an address must be.
Answer<IndexVector> isAddressable(const Layout &layout);

/// The owners of an element, one for each replica.
llvm::SmallVector<Owner, 4> ownersOf(const Fragment &fragment, llvm::ArrayRef<int64_t> index);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_QUESTIONS_H
