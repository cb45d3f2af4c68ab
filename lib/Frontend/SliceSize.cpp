//===- SliceSize.cpp - how many elements a slice has -----------------------------------------===//
//
// Both ends are taken apart into sums of other values, and what they have in common cancels. A
// program reads an element for each end (`rows[0] : rows[0] + 32`): the two reads are one where
// nothing is written between them.
//
//===----------------------------------------------------------------------------------------===//

#include "SliceSize.h"

#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::frontend {

namespace {

/// Whether nothing between two operations of a block writes memory.
bool isQuietBetween(Operation *first, Operation *second) {
  if (first->getBlock() != second->getBlock())
    return false;
  if (second->isBeforeInBlock(first))
    std::swap(first, second);
  for (Operation *op = first->getNextNode(); op != second; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<LoadOp>(op))
      return false;
  return true;
}

/// Whether two values are the same number: one value, equal constants, or reads of one element.
bool isSame(Value a, Value b) {
  if (a == b)
    return true;
  std::optional<int64_t> constant = getConstantIntValue(a);
  if (constant)
    return constant == getConstantIntValue(b);
  auto first = a.getDefiningOp<LoadOp>(), second = b.getDefiningOp<LoadOp>();
  return first && second && first.getBuffer() == second.getBuffer() &&
         llvm::all_of_zip(first.getIndices(), second.getIndices(), isSame) &&
         isQuietBetween(first, second);
}

/// Whether a conversion gives the number that it is given: from signed integers to index values.
bool keepsValue(CastOp cast) {
  auto from = dyn_cast<IntegerType>(cast.getFrom());
  return from && !from.isUnsigned() && from.getWidth() > 1 && isa<IndexType>(cast.getTo());
}

/// A sum of values with factors.
class Sum {
public:
  /// False if the numbers are too large, or too many.
  bool add(OpFoldResult part, int64_t factor) {
    if (std::optional<int64_t> number = getConstantIntValue(part)) {
      int64_t product = 0;
      return !llvm::MulOverflow(*number, factor, product) &&
             !llvm::AddOverflow(constant, product, constant);
    }
    return addValue(cast<Value>(part), factor);
  }
  std::optional<int64_t> getConstant() const {
    return terms.empty() ? std::optional(constant) : std::nullopt;
  }

private:
  bool addValue(Value value, int64_t factor) {
    if (budget-- == 0 || factor == INT64_MIN)
      return false;
    Operation *op = value.getDefiningOp();
    if (auto cast = dyn_cast_or_null<CastOp>(op); cast && keepsValue(cast))
      return add(cast.getValue(), factor);
    if (auto sum = dyn_cast_or_null<arith::AddIOp>(op))
      return add(sum.getLhs(), factor) && add(sum.getRhs(), factor);
    if (auto difference = dyn_cast_or_null<arith::SubIOp>(op))
      return add(difference.getLhs(), factor) && add(difference.getRhs(), -factor);
    if (auto product = dyn_cast_or_null<arith::MulIOp>(op))
      for (auto [part, other] : {std::pair(product.getLhs(), product.getRhs()),
                                 std::pair(product.getRhs(), product.getLhs())})
        if (std::optional<int64_t> number = getConstantIntValue(other)) {
          int64_t scaled = 0;
          return !llvm::MulOverflow(factor, *number, scaled) && add(part, scaled);
        }
    return addTerm(value, factor);
  }

  bool addTerm(Value value, int64_t factor) {
    auto *term = llvm::find_if(terms, [&](auto &own) { return isSame(own.first, value); });
    if (term == terms.end())
      terms.emplace_back(value, factor);
    else if (llvm::AddOverflow(term->second, factor, term->second))
      return false;
    else if (term->second == 0)
      terms.erase(term);
    return true;
  }

  int64_t constant = 0;
  SmallVector<std::pair<Value, int64_t>> terms;
  int budget = 256;
};

} // namespace

std::optional<int64_t> getSliceSize(OpFoldResult start, OpFoldResult stop) {
  Sum difference;
  if (!difference.add(stop, 1) || !difference.add(start, -1))
    return std::nullopt;
  return difference.getConstant();
}

} // namespace tilewright::frontend
