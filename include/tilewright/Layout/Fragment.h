//===- Fragment.h - which thread holds an element in which register slot ----------*- C++ -*-===//

#ifndef TILEWRIGHT_LAYOUT_FRAGMENT_H
#define TILEWRIGHT_LAYOUT_FRAGMENT_H

#include "tilewright/Layout/Layout.h"

namespace tilewright {

/// The owner of an element: a thread of the block, and one of its slots for the tile.
struct Owner {
  int64_t thread;
  int64_t slot;
  friend bool operator==(const Owner &, const Owner &) = default;
};

/// The distribution of a tile over the registers of a block: logical index and replica ->
/// (thread, slot). A tile with n replicas holds each element n times, with different owners:
///
///   (i, j) -> thread 4 * (i % 8) + j // 2, slot 2 * (i // 8) + j % 2      an mma accumulator
///   (i) rep r of 4 -> thread 4 * (i % 8) + r, slot i // 8                 the sums of its rows
///
/// A cheap immutable value, like Layout. Inside, it is a layout from (logical index, replica) to
/// (thread, slot), so every question about layouts can be asked of it.
class Fragment {
public:
  /// The replica index is the dim after the logical ones. The arguments must pass `verify`.
  static Fragment get(llvm::ArrayRef<int64_t> shape, const IndexExpr &thread, const IndexExpr &slot,
                      int64_t replicas = 1);
  /// Refuses what Layout::verify refuses, dynamic extents, symbols and less than one replica.
  static llvm::Error verify(llvm::ArrayRef<int64_t> shape, const IndexExpr &thread,
                            const IndexExpr &slot, int64_t replicas = 1);

  unsigned getRank() const { return getShape().size(); }
  llvm::ArrayRef<int64_t> getShape() const { return placement.getShape().drop_back(); }
  int64_t getReplicas() const { return placement.getShape().back(); }
  const IndexExpr &getThread() const { return placement.getOutputs()[0]; }
  const IndexExpr &getSlot() const { return placement.getOutputs()[1]; }

  /// Where one replica of an element lives; nothing on overflow.
  std::optional<Owner> ownerOf(llvm::ArrayRef<int64_t> index, int64_t replica = 0) const;

  /// One more than the largest thread (slot) in use, exactly; kDynamic if too large to know.
  int64_t getThreadExtent() const { return placement.getOutputShape()[0]; }
  int64_t getSlotsPerThread() const { return placement.getOutputShape()[1]; }

  /// The map (logical index, replica) -> (thread, slot).
  const Layout &asLayout() const { return placement; }

  void print(llvm::raw_ostream &os) const;
  void print(llvm::raw_ostream &os, const IndexNames &names) const;
  std::string str() const;

  friend bool operator==(const Fragment &lhs, const Fragment &rhs) {
    return lhs.placement == rhs.placement;
  }
  friend llvm::hash_code hash_value(const Fragment &fragment) {
    return hash_value(fragment.placement);
  }

private:
  explicit Fragment(Layout placement) : placement(std::move(placement)) {}

  Layout placement;
};

/// Reads `(i) rep r of 4 -> thread 4 * i + r, slot 0` as a fragment of a tile of this shape.
llvm::Expected<Fragment> parseFragment(llvm::StringRef text, llvm::ArrayRef<int64_t> shape);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_FRAGMENT_H
