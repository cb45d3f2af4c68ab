//===- IndexExpr.cpp - integer expressions of logical indices -------------------------------===//

#include "tilewright/Layout/IndexExpr.h"
#include "tilewright/Support/IndexMath.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>

using namespace tilewright;
using Kind = IndexExpr::Kind;

/// One immutable node. What a walk would have to recompute (hash, depth, size, which dims occur) is
/// computed once, when the node is made.
struct IndexExpr::Node : llvm::ThreadSafeRefCountedBase<IndexExpr::Node> {
  Node(Kind kind, int64_t value)
      : kind(kind), value(value), hash(llvm::hash_combine(static_cast<unsigned>(kind), value)),
        numDims(kind == Kind::Dim ? value + 1 : 0),
        numSymbols(kind == Kind::Symbol ? value + 1 : 0),
        dimMask(kind == Kind::Dim ? maskOf(value) : 0) {}

  Node(Kind kind, const IndexExpr &lhs, const IndexExpr &rhs)
      : kind(kind), lhs(lhs.node), rhs(rhs.node),
        hash(llvm::hash_combine(static_cast<unsigned>(kind), hash_value(lhs), hash_value(rhs))),
        depth(1 + std::max(lhs.node->depth, rhs.node->depth)),
        treeSize(std::min<uint64_t>(uint64_t(lhs.node->treeSize) + rhs.node->treeSize + 1,
                                    std::numeric_limits<unsigned>::max())),
        numDims(std::max(lhs.node->numDims, rhs.node->numDims)),
        numSymbols(std::max(lhs.node->numSymbols, rhs.node->numSymbols)),
        dimMask(lhs.node->dimMask | rhs.node->dimMask) {}

  /// Dims from 63 on share the last bit of a mask: never met in practice, and safe.
  static uint64_t maskOf(unsigned dim) { return uint64_t(1) << std::min(dim, 63u); }

  Kind kind;
  int64_t value = 0; ///< A constant's value, a dim's or symbol's position.
  llvm::IntrusiveRefCntPtr<const Node> lhs, rhs;
  llvm::hash_code hash;
  unsigned depth = 1;
  unsigned treeSize = 1;
  unsigned numDims;
  unsigned numSymbols;
  uint64_t dimMask;
};

IndexExpr::IndexExpr(const IndexExpr &other) = default;
IndexExpr::IndexExpr(IndexExpr &&other) noexcept = default;
IndexExpr &IndexExpr::operator=(const IndexExpr &other) = default;
IndexExpr &IndexExpr::operator=(IndexExpr &&other) noexcept = default;
IndexExpr::~IndexExpr() = default;
IndexExpr::IndexExpr(llvm::IntrusiveRefCntPtr<const Node> node) : node(std::move(node)) {}

IndexExpr IndexExpr::leaf(Kind kind, int64_t value) {
  return IndexExpr(llvm::IntrusiveRefCntPtr<const Node>(new Node(kind, value)));
}

IndexExpr::IndexExpr(int64_t constant) : IndexExpr(leaf(Kind::Constant, constant)) {}
IndexExpr IndexExpr::dim(unsigned position) { return leaf(Kind::Dim, position); }
IndexExpr IndexExpr::symbol(unsigned position) { return leaf(Kind::Symbol, position); }

Kind IndexExpr::getKind() const { return node->kind; }

std::optional<int64_t> IndexExpr::getConstant() const {
  if (node->kind != Kind::Constant)
    return std::nullopt;
  return node->value;
}

unsigned IndexExpr::getPosition() const {
  assert((node->kind == Kind::Dim || node->kind == Kind::Symbol) && "only leaves have a position");
  return node->value;
}

IndexExpr IndexExpr::getLhs() const {
  assert(isBinary() && "only binary expressions have operands");
  return IndexExpr(node->lhs);
}

IndexExpr IndexExpr::getRhs() const {
  assert(isBinary() && "only binary expressions have operands");
  return IndexExpr(node->rhs);
}

unsigned IndexExpr::getDepth() const { return node->depth; }
unsigned IndexExpr::getTreeSize() const { return node->treeSize; }
unsigned IndexExpr::getNumDims() const { return node->numDims; }
unsigned IndexExpr::getNumSymbols() const { return node->numSymbols; }

bool IndexExpr::dependsOnDim(unsigned position) const {
  return position < node->numDims && (node->dimMask & Node::maskOf(position)) != 0;
}

//===----------------------------------------------------------------------------------------===//
// Equality
//===----------------------------------------------------------------------------------------===//

llvm::hash_code tilewright::hash_value(const IndexExpr &expr) { return expr.node->hash; }

bool tilewright::operator==(const IndexExpr &lhs, const IndexExpr &rhs) {
  using Node = IndexExpr::Node;
  // Pairs already under way need no second visit; without this, shared subtrees would be compared
  // once per path that leads to them.
  llvm::SmallDenseSet<std::pair<const Node *, const Node *>, 16> seen;
  auto equal = [&](auto &&self, const Node *a, const Node *b) -> bool {
    if (a == b)
      return true;
    if (a->hash != b->hash || a->kind != b->kind || a->value != b->value ||
        a->treeSize != b->treeSize)
      return false;
    if (!a->lhs || !seen.insert({a, b}).second)
      return true;
    return self(self, a->lhs.get(), b->lhs.get()) && self(self, a->rhs.get(), b->rhs.get());
  };
  return equal(equal, lhs.node.get(), rhs.node.get());
}

//===----------------------------------------------------------------------------------------===//
// Simplification
//===----------------------------------------------------------------------------------------===//

std::optional<int64_t> tilewright::applyIndexOp(Kind kind, int64_t lhs, int64_t rhs) {
  switch (kind) {
  case Kind::Add:
    return checkedAdd(lhs, rhs);
  case Kind::Sub:
    return checkedSub(lhs, rhs);
  case Kind::Mul:
    return checkedMul(lhs, rhs);
  case Kind::FloorDiv:
    return checkedFloorDiv(lhs, rhs);
  case Kind::Mod:
    return floorMod(lhs, rhs);
  case Kind::Xor:
    return lhs ^ rhs;
  case Kind::Min:
    return std::min(lhs, rhs);
  case Kind::Max:
    return std::max(lhs, rhs);
  case Kind::Constant:
  case Kind::Dim:
  case Kind::Symbol:
    break;
  }
  llvm_unreachable("not a binary operation");
}

/// The negation of a negative constant, if `expr` is one whose negation fits.
static std::optional<int64_t> negatedNegative(const IndexExpr &expr) {
  std::optional<int64_t> value = expr.getConstant();
  return value && *value < 0 ? checkedSub(0, *value) : std::nullopt;
}

/// `expr` as `x kind c` with a constant c > 0: gives c.
static std::optional<int64_t> positiveRhs(const IndexExpr &expr, Kind kind) {
  if (expr.getKind() != kind)
    return std::nullopt;
  std::optional<int64_t> rhs = expr.getRhs().getConstant();
  return rhs && *rhs > 0 ? rhs : std::nullopt;
}

static std::optional<IndexExpr> simplifyAdd(const IndexExpr &lhs, const IndexExpr &rhs) {
  if (rhs.isConstant(0))
    return lhs;
  if (lhs.isConstant(0))
    return rhs;
  if (std::optional<int64_t> magnitude = negatedNegative(rhs))
    return lhs - *magnitude;
  return std::nullopt;
}

static std::optional<IndexExpr> simplifySub(const IndexExpr &lhs, const IndexExpr &rhs) {
  if (rhs.isConstant(0))
    return lhs;
  if (lhs == rhs)
    return IndexExpr(0);
  if (std::optional<int64_t> magnitude = negatedNegative(rhs))
    return lhs + *magnitude;
  if (lhs.isConstant(0) && rhs.getKind() == Kind::Sub && rhs.getLhs().isConstant(0))
    return rhs.getRhs();
  return std::nullopt;
}

static std::optional<IndexExpr> simplifyMul(const IndexExpr &lhs, const IndexExpr &rhs) {
  if (lhs.isConstant(0) || rhs.isConstant(0))
    return IndexExpr(0);
  if (rhs.isConstant(1))
    return lhs;
  if (lhs.isConstant(1))
    return rhs;
  return std::nullopt;
}

static std::optional<IndexExpr> simplifyFloorDiv(const IndexExpr &lhs, const IndexExpr &rhs) {
  if (lhs.isConstant(0) || rhs.isConstant(0))
    return IndexExpr(0);
  if (rhs.isConstant(1))
    return lhs;
  std::optional<int64_t> divisor = rhs.getConstant();
  if (!divisor || *divisor <= 0)
    return std::nullopt;
  // (x // a) // b = x // (a b)
  if (std::optional<int64_t> inner = positiveRhs(lhs, Kind::FloorDiv))
    if (std::optional<int64_t> both = checkedMul(*inner, *divisor))
      return floorDiv(lhs.getLhs(), *both);
  // (x % a) // b = 0 for a <= b
  if (std::optional<int64_t> inner = positiveRhs(lhs, Kind::Mod); inner && *inner <= *divisor)
    return IndexExpr(0);
  return std::nullopt;
}

static std::optional<IndexExpr> simplifyMod(const IndexExpr &lhs, const IndexExpr &rhs) {
  if (rhs.isConstant(0))
    return lhs;
  if (lhs.isConstant(0) || rhs.isConstant(1))
    return IndexExpr(0);
  std::optional<int64_t> divisor = rhs.getConstant();
  if (!divisor || *divisor <= 0)
    return std::nullopt;
  if (std::optional<int64_t> inner = positiveRhs(lhs, Kind::Mod)) {
    if (*inner <= *divisor) // already reduced
      return lhs;
    if (*inner % *divisor == 0) // (x % 8) % 4 = x % 4
      return lhs.getLhs() % rhs;
  }
  return std::nullopt;
}

static std::optional<IndexExpr> simplifyXor(const IndexExpr &lhs, const IndexExpr &rhs) {
  if (rhs.isConstant(0))
    return lhs;
  if (lhs.isConstant(0))
    return rhs;
  if (lhs == rhs)
    return IndexExpr(0);
  return std::nullopt;
}

static std::optional<IndexExpr> simplify(Kind kind, const IndexExpr &lhs, const IndexExpr &rhs) {
  if (lhs.getConstant() && rhs.getConstant())
    if (std::optional<int64_t> value = applyIndexOp(kind, *lhs.getConstant(), *rhs.getConstant()))
      return IndexExpr(*value);
  switch (kind) {
  case Kind::Add:
    return simplifyAdd(lhs, rhs);
  case Kind::Sub:
    return simplifySub(lhs, rhs);
  case Kind::Mul:
    return simplifyMul(lhs, rhs);
  case Kind::FloorDiv:
    return simplifyFloorDiv(lhs, rhs);
  case Kind::Mod:
    return simplifyMod(lhs, rhs);
  case Kind::Xor:
    return simplifyXor(lhs, rhs);
  case Kind::Min:
  case Kind::Max:
    return lhs == rhs ? std::optional(lhs) : std::nullopt;
  case Kind::Constant:
  case Kind::Dim:
  case Kind::Symbol:
    break;
  }
  llvm_unreachable("not a binary operation");
}

IndexExpr IndexExpr::binary(Kind kind, const IndexExpr &lhs, const IndexExpr &rhs) {
  if (std::optional<IndexExpr> simpler = simplify(kind, lhs, rhs))
    return *simpler;
  return IndexExpr(llvm::IntrusiveRefCntPtr<const Node>(new Node(kind, lhs, rhs)));
}

//===----------------------------------------------------------------------------------------===//
// Evaluation and substitution
//===----------------------------------------------------------------------------------------===//

std::optional<int64_t> IndexExpr::evaluate(llvm::ArrayRef<int64_t> dims,
                                           llvm::ArrayRef<int64_t> symbols) const {
  assert(node->numDims <= dims.size() && node->numSymbols <= symbols.size() &&
         "every dim and symbol needs a value");
  auto walk = [&](auto &&self, const Node &at) -> std::optional<int64_t> {
    switch (at.kind) {
    case Kind::Constant:
      return at.value;
    case Kind::Dim:
      return dims[at.value];
    case Kind::Symbol:
      return symbols[at.value];
    default:
      break;
    }
    std::optional<int64_t> lhs = self(self, *at.lhs);
    if (!lhs)
      return std::nullopt;
    std::optional<int64_t> rhs = self(self, *at.rhs);
    if (!rhs)
      return std::nullopt;
    return applyIndexOp(at.kind, *lhs, *rhs);
  };
  return walk(walk, *node);
}

IndexExpr IndexExpr::substitute(llvm::ArrayRef<IndexExpr> dims,
                                llvm::ArrayRef<IndexExpr> symbols) const {
  llvm::SmallDenseMap<const Node *, IndexExpr, 16> done;
  auto walk = [&](auto &&self, const IndexExpr &at) -> IndexExpr {
    if (at.getKind() == Kind::Dim)
      return at.getPosition() < dims.size() ? dims[at.getPosition()] : at;
    if (at.getKind() == Kind::Symbol)
      return at.getPosition() < symbols.size() ? symbols[at.getPosition()] : at;
    if (!at.isBinary())
      return at;
    if (auto found = done.find(at.node.get()); found != done.end())
      return found->second;
    IndexExpr result = binary(at.getKind(), self(self, at.getLhs()), self(self, at.getRhs()));
    done.try_emplace(at.node.get(), result);
    return result;
  };
  return walk(walk, *this);
}
