//===- Algebra.h - new layouts from old ones --------------------------------------*- C++ -*-===//
//
// Operations that users can reach with any arguments return `Expected` and name what does not fit;
// operations between layouts that the compiler made itself assert.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_ALGEBRA_H
#define TILEWRIGHT_LAYOUT_ALGEBRA_H

#include "tilewright/Layout/Fragment.h"
#include "tilewright/Layout/Layout.h"
#include <vector>

namespace tilewright {

/// `x -> x`: row-major memory of the same rank.
Layout identityLayout(llvm::ArrayRef<int64_t> shape);

/// `x -> outer(inner(x))`. The outputs of `inner` must be indices of `outer`.
llvm::Expected<Layout> compose(const Layout &outer, const Layout &inner);
/// Where the element that `inner` names lives: `x, r -> outer(inner(x), r)`. The distribution of a
/// loop that accesses a fragment is the fragment composed with the access.
llvm::Expected<Fragment> compose(const Fragment &outer, const Layout &inner);

/// The layout that leads back: `invert(l)(l(x)) = x` for every element x. Its shape is l's output
/// shape; in holes of l its value means nothing (`covers` tells whether there are any). Fails for
/// layouts that are not injective or have no digit form.
llvm::Expected<Layout> invert(const Layout &layout);
/// `(thread, slot) -> logical index and replica`.
llvm::Expected<Layout> invert(const Fragment &fragment);

/// For every physical offset the row-major number of the element there, -1 in holes. Nothing for
/// tiles that cannot be enumerated, or whose elements share positions or have negative coordinates.
std::optional<std::vector<int64_t>> invertByTable(const Layout &layout);

/// `x, y -> first(x), second(y)`: the direct product. A tile with several versions is the product
/// of `identityLayout({versions})` and the tile's layout.
Layout product(const Layout &first, const Layout &second);

/// A tile `factor` times as long in one dimension, made of copies one after the other in memory:
/// `x -> x[dim] // extent, layout(x[dim] % extent)`.
llvm::Expected<Layout> repeat(const Layout &layout, unsigned dim, int64_t factor);

/// The same memory seen through another shape with as many elements, both row-major.
llvm::Expected<Layout> reshape(const Layout &layout, llvm::ArrayRef<int64_t> shape);

/// The same map, with every output rewritten in digits where that makes it shorter.
Layout simplify(const Layout &layout);

/// What a repetition of a fragment uses up.
enum class RepeatOver {
  Slots,   ///< Every thread holds a part of each copy: slot + slots * copy.
  Threads, ///< Further threads hold the further copies: thread + threads * copy.
};
/// Which dimension's copies come first when several dimensions are repeated.
enum class RepeatOrder { LastDimFirst, FirstDimFirst };

/// A tile `repeats[k]` times as long in dimension k, made of copies of this one.
llvm::Expected<Fragment> repeat(const Fragment &fragment, llvm::ArrayRef<int64_t> repeats,
                                RepeatOver over, RepeatOrder order = RepeatOrder::LastDimFirst);

/// `count` times as many threads, each further set holding a copy: thread + threads * (r //
/// replicas).
llvm::Expected<Fragment> replicate(const Fragment &fragment, int64_t count);

/// Every one of `threads` threads holds the whole tile.
Fragment fullyReplicated(llvm::ArrayRef<int64_t> shape, int64_t threads);

/// The fragment of what is left when dimension `dim` is reduced and every thread that held an
/// element of a row keeps the row's result: the dim's digits that pick the thread become replicas,
/// those that pick the slot go away, and the slots that are left are numbered densely. Nothing if
/// the fragment has no digit form that allows it.
std::optional<Fragment> projectAway(const Fragment &fragment, unsigned dim);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_ALGEBRA_H
