//===- Ranges.cpp - what is known about the size of index values ------------------------------===//

#include "Ranges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <utility>

using namespace mlir;
using namespace tilewright::cpu;

static constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
static constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

namespace tilewright::cpu {

Interval operator+(Interval lhs, Interval rhs) {
  Interval sum;
  if (lhs.least != kLowest && rhs.least != kLowest &&
      llvm::AddOverflow(lhs.least, rhs.least, sum.least))
    sum.least = kLowest;
  if (lhs.greatest != kHighest && rhs.greatest != kHighest &&
      llvm::AddOverflow(lhs.greatest, rhs.greatest, sum.greatest))
    sum.greatest = kHighest;
  return sum;
}

Interval operator-(Interval lhs, Interval rhs) {
  auto negate = [](int64_t value) {
    return value == kLowest ? kHighest : value == kHighest ? kLowest : -value;
  };
  return lhs + Interval{negate(rhs.greatest), negate(rhs.least)};
}

Interval operator*(Interval lhs, Interval rhs) {
  if (!lhs.hasBothEnds() || !rhs.hasBothEnds()) {
    // Unknown upper ends still leave a product of non-negative factors non-negative.
    return lhs.isNonNegative() && rhs.isNonNegative() ? Interval{0, kHighest} : Interval{};
  }
  Interval result{kHighest, kLowest};
  for (int64_t left : {lhs.least, lhs.greatest})
    for (int64_t right : {rhs.least, rhs.greatest}) {
      int64_t product;
      if (llvm::MulOverflow(left, right, product))
        return {};
      result.least = std::min(result.least, product);
      result.greatest = std::max(result.greatest, product);
    }
  return result;
}

} // namespace tilewright::cpu

Interval tilewright::cpu::minOf(Interval lhs, Interval rhs) {
  return {std::min(lhs.least, rhs.least), std::min(lhs.greatest, rhs.greatest)};
}

Interval tilewright::cpu::maxOf(Interval lhs, Interval rhs) {
  return {std::max(lhs.least, rhs.least), std::max(lhs.greatest, rhs.greatest)};
}

Interval tilewright::cpu::unite(Interval lhs, Interval rhs) {
  return {std::min(lhs.least, rhs.least), std::max(lhs.greatest, rhs.greatest)};
}

Interval tilewright::cpu::floorDivide(Interval value, int64_t divisor) {
  if (divisor <= 0)
    return {};
  auto divide = [&](int64_t number) {
    return number >= 0 ? number / divisor : -((-(number + 1)) / divisor) - 1;
  };
  return {value.least == kLowest ? kLowest : divide(value.least),
          value.greatest == kHighest ? kHighest : divide(value.greatest)};
}

Interval tilewright::cpu::floorModulo(Interval value, int64_t divisor) {
  if (divisor <= 0)
    return {};
  if (value.isWithin(0, divisor - 1))
    return value;
  return {0, divisor - 1};
}

Interval Ranges::get(Value value, unsigned depth) const {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return Interval::exactly(*constant);
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || !isa<IndexType>(value.getType()))
    return {};
  auto operand = [&](unsigned number) { return get(op->getOperand(number), depth - 1); };
  return llvm::TypeSwitch<Operation *, Interval>(op)
      .Case([&](arith::AddIOp) { return operand(0) + operand(1); })
      .Case([&](arith::SubIOp) { return operand(0) - operand(1); })
      .Case([&](arith::MulIOp) { return operand(0) * operand(1); })
      .Case([&](arith::MinSIOp) { return minOf(operand(0), operand(1)); })
      .Case([&](arith::MaxSIOp) { return maxOf(operand(0), operand(1)); })
      .Case([&](arith::SelectOp) { return unite(operand(1), operand(2)); })
      .Default([](Operation *) { return Interval(); });
}

Ranges::Assumption::Assumption(Ranges &ranges, Value value, Interval interval)
    : ranges(&ranges), value(value) {
  if (auto it = ranges.known.find(value); it != ranges.known.end())
    before = it->second;
  ranges.known[value] = interval;
}

Ranges::Assumption::Assumption(Assumption &&other)
    : ranges(std::exchange(other.ranges, nullptr)), value(other.value), before(other.before) {}

Ranges::Assumption::~Assumption() {
  if (!ranges)
    return;
  if (before)
    ranges->known[value] = *before;
  else
    ranges->known.erase(value);
}

bool Ranges::isProvenInside(Value value, Value extent) const {
  Interval inside = get(value), outer = get(extent);
  return outer.least != kLowest && inside.isNonNegative() && inside.greatest < outer.least;
}
