//===- Algebra.cpp - compose, product, repeat, replicate ------------------------------------===//

#include "tilewright/Layout/Algebra.h"
#include "tilewright/Layout/DigitForm.h"
#include "tilewright/Support/IndexMath.h"
#include "llvm/ADT/STLExtras.h"

using namespace tilewright;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::Twine;

/// The dims `first`, `first + 1`, … as expressions.
static SmallVector<IndexExpr, 4> dimExprs(unsigned count, unsigned first = 0) {
  SmallVector<IndexExpr, 4> dims;
  for (unsigned dim = 0; dim < count; ++dim)
    dims.push_back(IndexExpr::dim(first + dim));
  return dims;
}

/// The outputs with dims (and symbols) replaced.
static SmallVector<IndexExpr, 4> substituteAll(ArrayRef<IndexExpr> outputs,
                                               ArrayRef<IndexExpr> dims,
                                               ArrayRef<IndexExpr> symbols = {}) {
  SmallVector<IndexExpr, 4> results;
  for (const IndexExpr &output : outputs)
    results.push_back(output.substitute(dims, symbols));
  return results;
}

Layout tilewright::identityLayout(ArrayRef<int64_t> shape) {
  return Layout::get(shape, dimExprs(shape.size()));
}

//===----------------------------------------------------------------------------------------===//
// Composition
//===----------------------------------------------------------------------------------------===//

/// Refuses outputs of `inner` that are no index of a tile of shape `outer`.
static Error verifyComposable(ArrayRef<int64_t> outer, const Layout &inner) {
  if (inner.getNumOutputs() != outer.size())
    return llvm::createStringError("compose: " + inner.str() + " gives " +
                                   Twine(inner.getNumOutputs()) +
                                   " indices, the outer layout takes " + Twine(outer.size()));
  for (auto [position, extent] : llvm::enumerate(outer)) {
    int64_t low = inner.getOutputMinimum()[position], above = inner.getOutputShape()[position];
    if (low != kDynamic && low < 0)
      return llvm::createStringError("compose: output " + Twine(position) + " of " + inner.str() +
                                     " reaches " + Twine(low));
    if (extent != kDynamic && above != kDynamic && above > extent)
      return llvm::createStringError("compose: output " + Twine(position) + " of " + inner.str() +
                                     " reaches " + Twine(above - 1) +
                                     ", the outer layout has extent " + Twine(extent) + " there");
  }
  return Error::success();
}

Expected<Layout> tilewright::compose(const Layout &outer, const Layout &inner) {
  if (Error error = verifyComposable(outer.getShape(), inner))
    return error;
  // The inner symbols come first, then the outer ones.
  SmallVector<IndexExpr, 2> outerSymbols;
  for (unsigned symbol = 0; symbol < outer.getNumSymbols(); ++symbol)
    outerSymbols.push_back(IndexExpr::symbol(inner.getNumSymbols() + symbol));
  SmallVector<IndexExpr, 4> outputs =
      substituteAll(outer.getOutputs(), inner.getOutputs(), outerSymbols);
  unsigned numSymbols = inner.getNumSymbols() + outer.getNumSymbols();
  if (Error error = Layout::verify(inner.getShape(), outputs, numSymbols))
    return error;
  return Layout::get(inner.getShape(), outputs, numSymbols);
}

Expected<Fragment> tilewright::compose(const Fragment &outer, const Layout &inner) {
  if (Error error = verifyComposable(outer.getShape(), inner))
    return error;
  SmallVector<IndexExpr, 4> dims(inner.getOutputs());
  dims.push_back(IndexExpr::dim(inner.getRank())); // the replica
  IndexExpr thread = outer.getThread().substitute(dims), slot = outer.getSlot().substitute(dims);
  if (Error error = Fragment::verify(inner.getShape(), thread, slot, outer.getReplicas()))
    return error;
  return Fragment::get(inner.getShape(), thread, slot, outer.getReplicas());
}

//===----------------------------------------------------------------------------------------===//
// Products and repetitions
//===----------------------------------------------------------------------------------------===//

Layout tilewright::product(const Layout &first, const Layout &second) {
  SmallVector<int64_t, 4> shape(first.getShape());
  shape.append(second.getShape().begin(), second.getShape().end());
  SmallVector<IndexExpr, 2> symbols;
  for (unsigned symbol = 0; symbol < second.getNumSymbols(); ++symbol)
    symbols.push_back(IndexExpr::symbol(first.getNumSymbols() + symbol));
  SmallVector<IndexExpr, 4> outputs(first.getOutputs());
  outputs.append(
      substituteAll(second.getOutputs(), dimExprs(second.getRank(), first.getRank()), symbols));
  return Layout::get(shape, outputs, first.getNumSymbols() + second.getNumSymbols());
}

Expected<Layout> tilewright::repeat(const Layout &layout, unsigned dim, int64_t factor) {
  if (dim >= layout.getRank())
    return llvm::createStringError("repeat: dimension " + Twine(dim) + " of a layout with " +
                                   Twine(layout.getRank()));
  int64_t extent = layout.getShape()[dim];
  std::optional<int64_t> whole = extent == kDynamic ? std::nullopt : checkedMul(extent, factor);
  if (factor < 1 || !whole)
    return llvm::createStringError(
        "repeat: expected a static extent and a factor of at least 1, got " +
        shapeToString(extent) + " and " + Twine(factor));
  if (factor == 1)
    return layout;
  SmallVector<int64_t, 4> shape(layout.getShape());
  shape[dim] = *whole;
  SmallVector<IndexExpr, 4> dims = dimExprs(layout.getRank());
  IndexExpr copy = floorDiv(dims[dim], extent);
  dims[dim] = dims[dim] % extent;
  SmallVector<IndexExpr, 4> outputs = {copy};
  outputs.append(substituteAll(layout.getOutputs(), dims));
  return Layout::get(shape, outputs, layout.getNumSymbols());
}

Expected<Layout> tilewright::reshape(const Layout &layout, ArrayRef<int64_t> shape) {
  Layout target = Layout::get(shape, {});
  std::optional<int64_t> have = layout.getNumElements(), want = target.getNumElements();
  if (!have || have != want)
    return llvm::createStringError("reshape: expected as many elements as " +
                                   shapeToString(layout.getShape()) + ", got " +
                                   shapeToString(shape));
  IndexExpr number = 0;
  for (auto [dim, extent] : llvm::enumerate(shape))
    number = number * extent + IndexExpr::dim(dim);
  // The number's digits in the old shape, the last one first.
  SmallVector<IndexExpr, 4> dims(layout.getRank(), IndexExpr(0));
  for (unsigned dim = layout.getRank(); dim-- > 0;) {
    int64_t extent = layout.getShape()[dim];
    dims[dim] = dim == 0 ? number : number % extent;
    number = floorDiv(number, extent);
  }
  return simplify(
      Layout::get(shape, substituteAll(layout.getOutputs(), dims), layout.getNumSymbols()));
}

Layout tilewright::simplify(const Layout &layout) {
  SmallVector<IndexExpr, 4> outputs(layout.getOutputs());
  for (IndexExpr &output : outputs) {
    std::optional<DigitForm> form = DigitForm::read(output, layout.getShape());
    if (!form)
      continue;
    IndexExpr shorter = form->toExpr(form->getSums()[0]);
    if (shorter.getTreeSize() < output.getTreeSize())
      output = shorter;
  }
  return Layout::get(layout.getShape(), outputs, layout.getNumSymbols());
}

//===----------------------------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------------------------===//

Expected<Fragment> tilewright::repeat(const Fragment &fragment, ArrayRef<int64_t> repeats,
                                      RepeatOver over, RepeatOrder order) {
  if (repeats.size() != fragment.getRank() ||
      llvm::any_of(repeats, [](int64_t count) { return count < 1; }))
    return llvm::createStringError("repeat: expected " + Twine(fragment.getRank()) +
                                   " counts of at least 1, got " + shapeToString(repeats));
  SmallVector<int64_t, 4> shape;
  SmallVector<IndexExpr, 4> dims = dimExprs(fragment.getRank() + 1); // with the replica
  for (auto [dim, extent] : llvm::enumerate(fragment.getShape())) {
    std::optional<int64_t> whole = checkedMul(extent, repeats[dim]);
    if (!whole)
      return llvm::createStringError("repeat: " + Twine(extent) + " x " + Twine(repeats[dim]) +
                                     " elements do not fit in 64 bits");
    shape.push_back(*whole);
    if (repeats[dim] > 1)
      dims[dim] = dims[dim] % extent;
  }
  IndexExpr copy = 0;
  int64_t stride = 1;
  for (unsigned step = 0; step < fragment.getRank(); ++step) {
    unsigned dim = order == RepeatOrder::FirstDimFirst ? step : fragment.getRank() - 1 - step;
    if (repeats[dim] == 1)
      continue;
    copy = stride * floorDiv(IndexExpr::dim(dim), fragment.getShape()[dim]) + copy;
    stride *= repeats[dim];
  }
  IndexExpr thread = fragment.getThread().substitute(dims);
  IndexExpr slot = fragment.getSlot().substitute(dims);
  if (over == RepeatOver::Threads)
    thread = copy * fragment.getThreadExtent() + thread;
  else
    slot = copy * fragment.getSlotsPerThread() + slot;
  return Fragment::get(shape, thread, slot, fragment.getReplicas());
}

Expected<Fragment> tilewright::replicate(const Fragment &fragment, int64_t count) {
  std::optional<int64_t> replicas = checkedMul(fragment.getReplicas(), count);
  if (count < 1 || !replicas)
    return llvm::createStringError("replicate: expected a count of at least 1, got " +
                                   Twine(count));
  if (count == 1)
    return fragment;
  IndexExpr replica = IndexExpr::dim(fragment.getRank());
  SmallVector<IndexExpr, 4> dims = dimExprs(fragment.getRank());
  dims.push_back(replica % fragment.getReplicas());
  IndexExpr copy = floorDiv(replica, fragment.getReplicas());
  return Fragment::get(fragment.getShape(),
                       copy * fragment.getThreadExtent() + fragment.getThread().substitute(dims),
                       fragment.getSlot().substitute(dims), *replicas);
}

Fragment tilewright::fullyReplicated(ArrayRef<int64_t> shape, int64_t threads) {
  IndexExpr slot = 0;
  for (auto [dim, extent] : llvm::enumerate(shape))
    slot = slot * extent + IndexExpr::dim(dim);
  return Fragment::get(shape, IndexExpr::dim(shape.size()), slot, threads);
}
