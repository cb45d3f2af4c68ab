//===- IndexExpr.h - integer expressions of logical indices -----------------------*- C++ -*-===//
//
// An IndexExpr is an immutable integer expression as a user writes it in a layout's lambda:
// constants, the k-th logical index ("dim"), symbols that stay constant over a tensor, and
// + - * // % ^ min max. It is a cheap value (one reference-counted pointer); two expressions are
// equal when they are built alike, not when they compute alike (ask `isEqual` of two layouts).
//
// Values are mathematical integers; `//` and `%` round towards minus infinity, `x // 0` is 0 and
// `x % 0` is x. The factories simplify a little (constants, neutral elements, `x // 2 // 4`), never
// in a way that changes a value.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_INDEXEXPR_H
#define TILEWRIGHT_LAYOUT_INDEXEXPR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include <cstdint>
#include <optional>

namespace tilewright {

class IndexExpr {
public:
  enum class Kind : uint8_t { Constant, Dim, Symbol, Add, Sub, Mul, FloorDiv, Mod, Xor, Min, Max };

  /// Expressions that nest deeper than this are refused by the parser and by `isWithinLimits`, so
  /// that recursive walks of user-written expressions are safe.
  static constexpr unsigned kMaxDepth = 500;
  /// The limit on the number of nodes, shared ones counted once per use (as printed).
  static constexpr unsigned kMaxTreeSize = 1u << 16;

  /// The constant 0.
  IndexExpr() : IndexExpr(0) {}
  /// A constant; implicit so that expressions read as in a lambda: `j ^ 4 * (i % 8)`.
  IndexExpr(int64_t constant);
  // Out of line, where the node's type is complete.
  IndexExpr(const IndexExpr &other);
  IndexExpr(IndexExpr &&other) noexcept;
  IndexExpr &operator=(const IndexExpr &other);
  IndexExpr &operator=(IndexExpr &&other) noexcept;
  ~IndexExpr();

  static IndexExpr constant(int64_t value) { return IndexExpr(value); }
  static IndexExpr dim(unsigned position);
  static IndexExpr symbol(unsigned position);
  /// Builds `lhs kind rhs`, simplified. `kind` must be binary.
  static IndexExpr binary(Kind kind, const IndexExpr &lhs, const IndexExpr &rhs);

  Kind getKind() const;
  bool isBinary() const { return getKind() >= Kind::Add; }
  bool isConstant(int64_t value) const { return getConstant() == value; }

  /// The value of a constant, nothing for any other expression.
  std::optional<int64_t> getConstant() const;
  /// Which dim or symbol this is; the kind must be Dim or Symbol.
  unsigned getPosition() const;
  /// The operands of a binary expression.
  IndexExpr getLhs() const;
  IndexExpr getRhs() const;

  /// The nesting depth (a leaf has 1) and the number of nodes as printed (saturating).
  unsigned getDepth() const;
  unsigned getTreeSize() const;
  bool isWithinLimits() const { return getDepth() <= kMaxDepth && getTreeSize() <= kMaxTreeSize; }

  /// One past the largest dim (symbol) that occurs.
  unsigned getNumDims() const;
  unsigned getNumSymbols() const;
  /// Whether the k-th dim occurs.
  bool dependsOnDim(unsigned position) const;

  /// The value for these indices, or nothing where an intermediate result does not fit in 64 bits.
  std::optional<int64_t> evaluate(llvm::ArrayRef<int64_t> dims,
                                  llvm::ArrayRef<int64_t> symbols = {}) const;

  /// Replaces the k-th dim by `dims[k]` and the k-th symbol by `symbols[k]`; positions beyond
  /// the given lists stay as they are.
  IndexExpr substitute(llvm::ArrayRef<IndexExpr> dims,
                       llvm::ArrayRef<IndexExpr> symbols = {}) const;

  /// Identifies the node, for memo tables whose lifetime lies within this expression's.
  const void *getOpaque() const { return node.get(); }

  friend bool operator==(const IndexExpr &lhs, const IndexExpr &rhs);
  friend llvm::hash_code hash_value(const IndexExpr &expr);

private:
  struct Node;
  explicit IndexExpr(llvm::IntrusiveRefCntPtr<const Node> node);
  static IndexExpr leaf(Kind kind, int64_t value);

  llvm::IntrusiveRefCntPtr<const Node> node;
};

/// `lhs kind rhs` on values; nothing where the result does not fit in 64 bits.
std::optional<int64_t> applyIndexOp(IndexExpr::Kind kind, int64_t lhs, int64_t rhs);

inline IndexExpr operator+(const IndexExpr &lhs, const IndexExpr &rhs) {
  return IndexExpr::binary(IndexExpr::Kind::Add, lhs, rhs);
}
inline IndexExpr operator-(const IndexExpr &lhs, const IndexExpr &rhs) {
  return IndexExpr::binary(IndexExpr::Kind::Sub, lhs, rhs);
}
inline IndexExpr operator*(const IndexExpr &lhs, const IndexExpr &rhs) {
  return IndexExpr::binary(IndexExpr::Kind::Mul, lhs, rhs);
}
inline IndexExpr operator%(const IndexExpr &lhs, const IndexExpr &rhs) {
  return IndexExpr::binary(IndexExpr::Kind::Mod, lhs, rhs);
}
inline IndexExpr operator^(const IndexExpr &lhs, const IndexExpr &rhs) {
  return IndexExpr::binary(IndexExpr::Kind::Xor, lhs, rhs);
}
/// Python's `lhs // rhs`. There is no operator/: C++ readers would expect truncation.
inline IndexExpr floorDiv(const IndexExpr &lhs, const IndexExpr &rhs) {
  return IndexExpr::binary(IndexExpr::Kind::FloorDiv, lhs, rhs);
}
inline IndexExpr minOf(const IndexExpr &lhs, const IndexExpr &rhs) {
  return IndexExpr::binary(IndexExpr::Kind::Min, lhs, rhs);
}
inline IndexExpr maxOf(const IndexExpr &lhs, const IndexExpr &rhs) {
  return IndexExpr::binary(IndexExpr::Kind::Max, lhs, rhs);
}

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_INDEXEXPR_H
