//===- Effects.h - which memory an op touches, how, and until when ------------------*- C++ -*-===//
//
// Every pass that orders, overlaps or moves statements asks this header and nothing else. An effect
// names the root allocation (never a view of it), the rectangle of it that may be touched, and its
// time: at the op, or from the op until its asynchronous group has ended.
//
// A rectangle's offsets are sums `constant + factor * value + …` of index values, so that slices of
// slices need no new IR. What cannot be expressed so (a view with another element type, a loaded
// coordinate times a run-time step) is the whole root: too much, never too little.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILE_EFFECTS_H
#define TILEWRIGHT_TILE_EFFECTS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tilewright::tile {

enum class EffectKind : uint8_t {
  Read,
  Write,
  /// Combines into memory, as atomics and reducer updates do: in one step, whatever others do.
  Accumulate
};

/// How an `Accumulate` combines. Two of the same way commute; an ordered one commutes with none: it
/// replaces what was there, or tells what it was.
enum class Combination : uint8_t { Ordered, Add, Max, Min, And, Or, Xor };

/// `constant + factor * value + …`, with each value once and in order of first use.
struct IndexSum {
  int64_t constant = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 1> terms;

  /// Looks through additions, subtractions and multiplications by constants, so that the difference
  /// of `(k + 1) * 32` and `k * 32` is 32.
  static IndexSum get(mlir::OpFoldResult value);
  bool isConstant() const { return terms.empty(); }
  /// Adds `factor * other`. False where a factor would leave 64 bits; then the sum is of no use.
  [[nodiscard]] bool add(const IndexSum &other, int64_t factor = 1);
  friend bool operator==(const IndexSum &, const IndexSum &) = default;
};

/// `size` elements from `offset` on, `step` apart.
struct DimRange {
  IndexSum offset;
  IndexSum size;
  int64_t step = 1;
};

/// A rectangle of a root, one range for each of its dimensions, or the whole root.
struct EffectRegion {
  std::optional<llvm::SmallVector<DimRange, 0>> ranges;

  static EffectRegion whole() { return {}; }
  bool isWhole() const { return !ranges.has_value(); }
};

struct Effect {
  EffectKind kind;
  mlir::Value root;
  EffectRegion region;
  /// The `tile.async_group`, `tile.bulk_group` or `tile.gemm` (a product left open) whose end ends the
  /// effect; null when the effect is over when the op is.
  mlir::Operation *until = nullptr;
  /// Of an `Accumulate`.
  Combination combination = Combination::Ordered;
};

/// Whether the order of two effects on one element is unobservable.
bool commute(const Effect &a, const Effect &b);

/// The effect of touching all of `buffer`, which may be a view.
Effect makeEffect(EffectKind kind, mlir::Value buffer);
/// The effect of touching the element of `buffer` at `indices`.
Effect makeElementEffect(EffectKind kind, mlir::Value buffer, mlir::ValueRange indices);

/// The effects of an op and of all ops in its regions; nothing where some op's are unknown, which
/// callers must treat as touching everything.
std::optional<llvm::SmallVector<Effect>> getEffects(mlir::Operation *op);

/// Whether an op or one inside it may change, or look at, memory of `root`. An accumulation does
/// both, and so does an op whose effects are unknown.
bool mayWrite(mlir::Operation *op, mlir::Value root);
bool mayRead(mlir::Operation *op, mlir::Value root);

/// What atomics with a memory order, on tensors, do between blocks. They concern all that the block does to
/// tensors, before or after, so no effect on one of them says it.
struct BlockOrder {
  bool publishes = false; ///< It tells other blocks of what came before (release).
  bool learns = false;    ///< It learns from them, for what comes after (acquire).

  explicit operator bool() const { return publishes || learns; }
};

/// The same for an op and all ops in its regions.
BlockOrder getBlockOrder(mlir::Operation *op);

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_EFFECTS_H
