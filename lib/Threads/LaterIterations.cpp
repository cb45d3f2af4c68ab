//===- LaterIterations.cpp - how numbers go on in iterations that are not tried --------------===//

#include "LaterIterations.h"

#include "tilewright/Tile/Scalars.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

/// Longer periods and larger steps are not followed: nothing overflows below.
static constexpr int64_t kMostPeriod = 1 << 12, kMostDrift = 1 << 24;

static std::optional<Growth> checked(Growth growth) {
  if (growth.period > kMostPeriod ||
      llvm::any_of(growth.drifts, [](auto drift) { return std::abs(drift.second) > kMostDrift; }))
    return std::nullopt;
  return growth;
}

static Growth repeating(int64_t period) { return {period, {}, true}; }

/// a + factor * b.
static std::optional<Growth> addScaled(const Growth &a, const Growth &b, int64_t factor) {
  Growth sum{std::lcm(a.period, b.period), {}, a.isLinear && b.isLinear};
  if (std::abs(factor) > kMostDrift)
    return std::nullopt;
  auto add = [&](const Growth &part, int64_t times) {
    for (auto [counter, drift] : part.drifts) {
      auto *known = llvm::find_if(sum.drifts, [&](auto entry) { return entry.first == counter; });
      if (known == sum.drifts.end())
        known = &sum.drifts.emplace_back(counter, 0);
      known->second += drift * times * (sum.period / part.period);
    }
  };
  add(a, 1);
  if (!checked({1, sum.drifts, true}))
    return std::nullopt;
  add(b, factor);
  llvm::erase_if(sum.drifts, [](auto entry) { return entry.second == 0; });
  return checked(sum);
}

static std::optional<Growth> multiply(const Growth &a, const Growth &b) {
  Growth product{std::lcm(a.period, b.period), {}, a.repeats() && b.repeats()};
  return checked(product);
}

/// By how many periods a number has to go on to change by multiples of `divisor`.
static int64_t findPeriods(const Growth &growth, int64_t divisor) {
  int64_t periods = growth.isLinear ? 1 : divisor;
  for (auto [counter, drift] : growth.drifts)
    periods = std::lcm(periods, divisor / std::gcd(drift, divisor));
  return periods;
}

/// The quotient by a constant, rounded down.
static std::optional<Growth> divide(Growth growth, int64_t divisor) {
  if (divisor < 1 || divisor > kMostPeriod)
    return std::nullopt;
  int64_t periods = findPeriods(growth, divisor);
  growth.period *= periods;
  for (auto &[counter, drift] : growth.drifts)
    drift = drift * periods / divisor;
  return checked(growth);
}

std::optional<Growth> LaterIterations::takeModulo(const Growth &growth, int64_t divisor) {
  if (divisor < 1 || divisor > kMostPeriod)
    return std::nullopt;
  return checked(repeating(growth.period * findPeriods(growth, divisor)));
}

/// A difference that grows with one counter has one sign from some count on; one that grows with
/// how far an iteration is from an end, up to some count before it.
std::optional<Growth> LaterIterations::change(const Growth &difference, int64_t now) {
  if (difference.repeats())
    return difference;
  size_t numCounters = difference.drifts.size();
  bool isDistance = numCounters == 2 && difference.drifts[0].second == -difference.drifts[1].second;
  if (!difference.isLinear || (numCounters != 1 && !isDistance) ||
      std::abs(now) > INT64_MAX / (2 * kMostPeriod))
    return std::nullopt;
  int64_t rest = now * difference.period; // what does not come from the counters
  for (auto [counter, drift] : difference.drifts)
    rest -= drift * counts[counter];
  int64_t drift = difference.drifts.front().second;
  bool neverChanges = !isDistance && rest != 0 && (rest > 0) == (drift > 0);
  if (!neverChanges)
    noteChange(std::abs(rest) / std::abs(drift) + difference.period + 1);
  return repeating(difference.period);
}

std::optional<Growth> LaterIterations::compare(Value lhs, Value rhs, Evaluate evaluate) {
  std::optional<Growth> left = find(lhs, evaluate), right = find(rhs, evaluate);
  std::optional<int64_t> leftNow = evaluate(lhs), rightNow = evaluate(rhs);
  if (!left || !right || !leftNow || !rightNow)
    return std::nullopt;
  std::optional<Growth> difference = addScaled(*left, *right, -1);
  int64_t now;
  if (!difference || llvm::SubOverflow(*leftNow, *rightNow, now))
    return std::nullopt;
  return change(*difference, now);
}

std::optional<Growth> LaterIterations::find(Value value, Evaluate evaluate) {
  if (auto known = found.find(value); known != found.end())
    return known->second;
  std::optional<int64_t> number = evaluate(value);
  std::optional<Growth> growth;
  if (auto leaf = leaves.find(value); leaf == leaves.end())
    growth = number ? findNew(value, evaluate) : std::nullopt;
  else if (!isEnd(leaf->second.counter) || leaf->second.step == 1) // else only multiples are tried
    growth = checked({1, {{leaf->second.counter, leaf->second.step}}, true});
  return found[value] = growth;
}

std::optional<Growth> LaterIterations::findNew(Value value, Evaluate evaluate) {
  Operation *op = value.getDefiningOp();
  if (!op) // a variable of a loop that is run through to its end
    return repeating(1);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    std::optional<Growth> result = find(branch.getCondition(), evaluate);
    if (!result || !result->repeats())
      return std::nullopt;
    for (Region *side : {&branch.getThenRegion(), &branch.getElseRegion()}) {
      auto part = find(side->front().getTerminator()->getOperand(number), evaluate);
      result = part ? multiply(*result, *part) : std::nullopt;
      if (!result)
        return std::nullopt;
    }
    return result;
  }
  if (op->getNumRegions() != 0 || !isPureScalar(op))
    return std::nullopt;
  SmallVector<Growth> parts;
  for (Value operand : op->getOperands()) {
    std::optional<Growth> part = find(operand, evaluate);
    if (!part)
      return std::nullopt;
    parts.push_back(*part);
  }
  /// An operand that is one number in all iterations.
  auto constant = [&](unsigned number) -> std::optional<int64_t> {
    const Growth &part = parts[number];
    return part.repeats() && part.period == 1 ? evaluate(op->getOperand(number)) : std::nullopt;
  };
  auto withoutRule = [&]() -> std::optional<Growth> {
    Growth all;
    for (const Growth &part : parts) {
      if (!part.repeats())
        return std::nullopt;
      all.period = std::lcm(all.period, part.period);
    }
    return checked(all);
  };
  auto larger = [&] { // or the smaller one
    return compare(op->getOperand(0), op->getOperand(1), evaluate) ? multiply(parts[0], parts[1])
                                                                   : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, std::optional<Growth>>(op)
      .Case([&](arith::AddIOp) { return addScaled(parts[0], parts[1], 1); })
      .Case([&](arith::SubIOp) { return addScaled(parts[0], parts[1], -1); })
      .Case([&](arith::MulIOp) {
        if (std::optional<int64_t> factor = constant(1))
          return addScaled(repeating(1), parts[0], *factor);
        if (std::optional<int64_t> factor = constant(0))
          return addScaled(repeating(1), parts[1], *factor);
        return multiply(parts[0], parts[1]);
      })
      .Case([&](FloorDivOp) {
        std::optional<int64_t> divisor = constant(1);
        return divisor ? divide(parts[0], *divisor) : withoutRule();
      })
      .Case([&](FloorModOp) {
        std::optional<int64_t> divisor = constant(1);
        return divisor ? takeModulo(parts[0], *divisor) : withoutRule();
      })
      .Case([&](arith::AndIOp) { // with 2^n - 1
        std::optional<int64_t> mask = constant(1);
        bool isModulo = mask && *mask > 0 && llvm::isPowerOf2_64(*mask + 1);
        return isModulo ? takeModulo(parts[0], *mask + 1) : withoutRule();
      })
      .Case([&](arith::ShRSIOp) {
        std::optional<int64_t> amount = constant(1);
        return amount && *amount >= 0 && *amount < 12 ? divide(parts[0], int64_t(1) << *amount)
                                                      : withoutRule();
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(
          [&](auto) { return std::optional(parts[0]); })
      .Case([&](arith::TruncIOp cast) -> std::optional<Growth> {
        unsigned width = cast.getType().getIntOrFloatBitWidth();
        return width >= 32 ? std::optional(parts[0])
                           : takeModulo(parts[0], int64_t(1) << std::min(width, 20u));
      })
      .Case([&](arith::CmpIOp op) {
        bool isSigned = arith::CmpIPredicate::eq == op.getPredicate() ||
                        arith::CmpIPredicate::ne == op.getPredicate() ||
                        (op.getPredicate() >= arith::CmpIPredicate::slt &&
                         op.getPredicate() <= arith::CmpIPredicate::sge);
        return isSigned ? compare(op.getLhs(), op.getRhs(), evaluate) : withoutRule();
      })
      .Case([&](arith::SelectOp) {
        auto sides = parts[0].repeats() ? multiply(parts[1], parts[2]) : std::nullopt;
        return sides ? multiply(parts[0], *sides) : std::nullopt;
      })
      .Case<arith::MinSIOp, arith::MaxSIOp>([&](auto) { return larger(); })
      .Default([&](Operation *) { return withoutRule(); });
}

std::optional<Growth> LaterIterations::find(const IndexSum &sum, Evaluate evaluate) {
  std::optional<Growth> result = repeating(1);
  for (auto [value, factor] : sum.terms) {
    std::optional<Growth> part = find(value, evaluate);
    result = part ? addScaled(*result, *part, factor) : std::nullopt;
    if (!result)
      break;
  }
  return result;
}

bool LaterIterations::repeats(const std::optional<Growth> &growth) {
  if (!growth || !growth->repeats())
    return false;
  period = std::lcm(period, growth->period);
  return period <= kMostPeriod;
}

} // namespace tilewright::threads
