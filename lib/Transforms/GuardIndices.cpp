//===- GuardIndices.cpp - index values that may leave 64 bits are checked ---------------------===//
//
// Index values are mathematical integers (docs/semantics.md), and engines compute them in 64 bits.
// A value that has more is an error. This pass finds the range of each index value: where it fits,
// as in all ordinary programs, nothing is done. Elsewhere the value is computed in float64 too, and
// an assertion compares it with 2^62: what passes has an exact value, and a range for what follows.
//
//   for %i = 0 to %n {                   for %i = 0 to %n {              // %n is any int64
//     %j = arith.muli %i, %c4     ──▶      %j = arith.muli %i, %c4
//     …                                    tile.assert |f64(%i) * 4| <= 2^62
//
// Expects: tile IR as it was traced.   Leaves: the same, and assertions.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Support/Limits.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilewright {
#define GEN_PASS_DEF_GUARDINDICES
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

using Wide = __int128; // holds every result of one operation on 64 bits

constexpr Wide kLow = std::numeric_limits<int64_t>::min();
constexpr Wide kHigh = std::numeric_limits<int64_t>::max();
constexpr int64_t kGuarded = int64_t(1) << 62;

/// All integers between two.
struct Range {
  Wide low = kLow, high = kHigh;

  bool fits() const { return low >= kLow && high <= kHigh; }
  bool contains(Wide value) const { return low <= value && value <= high; }
  Range within(Wide limit) const { return {std::max(low, -limit), std::min(high, limit)}; }
  friend Range unite(Range a, Range b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
  }
};

Range multiply(Range a, Range b) {
  Wide ends[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

/// A quotient is at most as far from 0 as its dividend, rounded down; of 0 it is 0.
Range divide(Range value, Range divisor) {
  if (divisor.low >= 1)
    return {value.low < 0 ? (divisor.low == 1 ? value.low : value.low / divisor.low - 1) : Wide(0),
            value.high < 0 ? Wide(-1) : value.high / divisor.low};
  Wide limit = std::max(-value.low, value.high) + 1;
  return {-limit, divisor.low <= -1 ? limit - 1 : limit};
}

/// A remainder lies between 0 and the divisor, or is the value itself (by 0).
Range takeRemainder(Range value, Range divisor) {
  if (divisor.low >= 1)
    return value.low >= 0 ? Range{0, std::min(value.high, divisor.high - 1)}
                          : Range{0, divisor.high - 1};
  return unite(value, {divisor.low, divisor.high});
}

class Guard {
public:
  Guard(func::FuncOp function, bool hasHostPart) : function(function), hasHostPart(hasHostPart) {}

  void run() {
    SmallVector<Operation *> ops;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumResults() == 1 && op->getResult(0).getType().isIndex())
        ops.push_back(op);
    });
    for (Operation *op : ops) // operands come first, so that their ranges are known
      if (needsCheck(op))
        check(op);
  }

private:
  Range get(Value value) {
    if (auto it = known.find(value); it != known.end())
      return it->second;
    known[value] = Range(); // where a loop computes it from itself
    Range range = find(value);
    return known[value] = range.fits() ? range : Range();
  }

  Range find(Value value) {
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return {*constant, *constant};
    if (auto argument = dyn_cast<BlockArgument>(value))
      return ofArgument(argument);
    return compute(value.getDefiningOp());
  }

  Range ofLoop(Range lower, Range upper) {
    return {lower.low, std::max(lower.low, upper.high - 1)};
  }

  Range ofArgument(BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    return TypeSwitch<Operation *, Range>(argument.getOwner()->getParentOp())
        .Case([&](KernelOp kernel) {
          return number < kernel.getGrid().size() ? ofLoop({0, 0}, get(kernel.getGrid()[number]))
                                                  : Range();
        })
        .Case([&](PipelinedOp loop) { return ofLoop(get(loop.getLower()), get(loop.getUpper())); })
        .Case([&](scf::ForOp loop) {
          return argument == loop.getInductionVar()
                     ? ofLoop(get(loop.getLowerBound()), get(loop.getUpperBound()))
                     : Range();
        })
        .Case([&](ParallelOp loop) {
          OpFoldResult extent = loop.getMixedExtents()[number];
          std::optional<int64_t> constant = getConstantIntValue(extent);
          return ofLoop({0, 0}, constant ? Range{*constant, *constant} : get(cast<Value>(extent)));
        })
        .Case([&](func::FuncOp owner) {
          return owner.getArgAttr(number, kSymbolAttr) ? Range{0, kLargestExtent} : Range();
        })
        .Default([](Operation *) { return Range(); });
  }

  /// The mathematical result of an operation on values that have 64 bits.
  Range compute(Operation *op) {
    auto operand = [&](unsigned number) { return get(op->getOperand(number)); };
    return TypeSwitch<Operation *, Range>(op)
        .Case([&](arith::AddIOp) {
          Range a = operand(0), b = operand(1);
          return Range{a.low + b.low, a.high + b.high};
        })
        .Case([&](arith::SubIOp) {
          Range a = operand(0), b = operand(1);
          return Range{a.low - b.high, a.high - b.low};
        })
        .Case([&](arith::MulIOp) { return multiply(operand(0), operand(1)); })
        .Case<FloorDivOp, TruncDivOp>([&](auto) { return divide(operand(0), operand(1)); })
        .Case([&](FloorModOp) { return takeRemainder(operand(0), operand(1)); })
        .Case([&](TruncModOp) { return unite(operand(0), {0, 0}); })
        .Case([&](ShlOp) { return shift(operand(0), operand(1)); })
        .Case([&](ShrOp) { return unite(operand(0), {operand(0).low < 0 ? -1 : 0, 0}); })
        .Case([&](arith::MinSIOp) {
          Range a = operand(0), b = operand(1);
          return Range{std::min(a.low, b.low), std::min(a.high, b.high)};
        })
        .Case([&](arith::MaxSIOp) {
          Range a = operand(0), b = operand(1);
          return Range{std::max(a.low, b.low), std::max(a.high, b.high)};
        })
        .Case([&](arith::SelectOp) { return unite(operand(1), operand(2)); })
        .Case([&](arith::AndIOp) {
          Range a = operand(0), b = operand(1);
          if (a.low < 0 && b.low < 0)
            return Range();
          return Range{0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
        })
        .Case([&](LoadOp load) { return ofKept(load); })
        .Case<arith::IndexCastOp, arith::IndexCastUIOp, CastOp>([&](auto) {
          Value from = op->getOperand(0);
          if (auto load = from.getDefiningOp<LoadOp>(); load && load.getType().isInteger(64))
            return ofKept(load);
          // Whether the sign counts is said by what made it; both are ranges of the width.
          unsigned width =
              isa<IntegerType>(from.getType()) ? from.getType().getIntOrFloatBitWidth() : 64;
          return width >= 64 ? Range() : Range{-(Wide(1) << (width - 1)), (Wide(1) << width) - 1};
        })
        .Default([](Operation *) { return Range(); });
  }

  /// An index value that was kept on the chip is one of those that were stored there.
  Range ofKept(LoadOp load) {
    Value tile = load.getBuffer();
    if (!tile.getDefiningOp<AllocOp>() || getSpace(tile) == Space::Global)
      return {};
    Range all{kHigh, kLow};
    for (Operation *user : tile.getUsers()) {
      auto store = dyn_cast<StoreOp>(user);
      if (!store && !isa<LoadOp, AnnotateLayoutOp>(user))
        return {};
      if (!store)
        continue;
      Value value = store.getValue();
      if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
        value = cast.getIn();
      if (!value.getType().isIndex())
        return {};
      all = unite(all, get(value));
    }
    return all.low <= all.high ? all : Range();
  }

  Range shift(Range value, Range count) {
    if (count.low < 0 || count.high > 62)
      return {kLow - 1, kHigh + 1}; // not known
    return unite(multiply(value, {1, Wide(1) << int(count.high)}), value);
  }

  bool needsCheck(Operation *op) {
    if (isa<FloorDivOp, TruncDivOp>(op))
      return get(op->getOperand(0)).contains(kLow) && get(op->getOperand(1)).contains(-1);
    if (isa<ShlOp>(op) && get(op->getOperand(0)).low == 0 && get(op->getOperand(0)).high == 0)
      return false;
    return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, ShlOp>(op) && !compute(op).fits();
  }

  void check(Operation *op) {
    if (op->getParentOfType<KernelOp>() || hasHostPart) {
      OpBuilder after(op->getContext());
      after.setInsertionPointAfter(op);
      checkAt(op, after);
    } else { // what a launch computes is checked by the blocks
      for (auto kernel : function.getOps<KernelOp>())
        if (op->getBlock() == kernel->getBlock() && op->isBeforeInBlock(kernel)) {
          OpBuilder inside = OpBuilder::atBlockBegin(&kernel.getBody().front());
          checkAt(op, inside);
        }
    }
    if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      known[op->getResult(0)] = compute(op).within(kGuarded);
  }

  void checkAt(Operation *op, OpBuilder &at) {
    ImplicitLocOpBuilder b(op->getLoc(), at);
    Value holds = isa<ShlOp>(op)                    ? holdsForShift(op, b)
                  : isa<FloorDivOp, TruncDivOp>(op) ? holdsForQuotient(op, b)
                                                    : holdsForSum(op, b);
    AssertOp::create(b, holds, "an index value leaves 64 bits");
  }

  Value holdsForSum(Operation *op, ImplicitLocOpBuilder &b) {
    Type i64 = b.getI64Type(), f64 = b.getF64Type();
    auto widen = [&](Value index) -> Value {
      Value integer = arith::IndexCastOp::create(b, i64, index);
      return CastOp::create(b, f64, integer, TypeAttr::get(i64), TypeAttr::get(f64),
                            RoundingAttr::get(b.getContext(), Rounding::NearestEven), UnitAttr());
    };
    Value lhs = widen(op->getOperand(0)), rhs = widen(op->getOperand(1));
    Value value = isa<arith::AddIOp>(op)   ? arith::AddFOp::create(b, lhs, rhs).getResult()
                  : isa<arith::SubIOp>(op) ? arith::SubFOp::create(b, lhs, rhs).getResult()
                                           : arith::MulFOp::create(b, lhs, rhs).getResult();
    Value limit = arith::ConstantOp::create(b, b.getF64FloatAttr(double(kGuarded)));
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, math::AbsFOp::create(b, value),
                                 limit);
  }

  /// Nothing is lost, or all of it: a shift by 64 or more gives 0 by rule.
  Value holdsForShift(Operation *op, ImplicitLocOpBuilder &b) {
    Value value = op->getOperand(0), count = op->getOperand(1);
    Value back = ShrOp::create(b, op->getResult(0), count, UnitAttr());
    auto compare = [&](arith::CmpIPredicate kind, Value lhs, Value rhs) -> Value {
      return arith::CmpIOp::create(b, kind, lhs, rhs);
    };
    Value zero = arith::ConstantIndexOp::create(b, 0),
          width = arith::ConstantIndexOp::create(b, 64);
    Value isRule = arith::OrIOp::create(b, compare(arith::CmpIPredicate::slt, count, zero),
                                        compare(arith::CmpIPredicate::sge, count, width));
    return arith::OrIOp::create(b, isRule, compare(arith::CmpIPredicate::eq, back, value));
  }

  Value holdsForQuotient(Operation *op, ImplicitLocOpBuilder &b) {
    auto differs = [&](Value value, int64_t constant) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value,
                                   arith::ConstantIndexOp::create(b, constant));
    };
    return arith::OrIOp::create(b, differs(op->getOperand(0), int64_t(kLow)),
                                differs(op->getOperand(1), -1));
  }

  func::FuncOp function;
  bool hasHostPart;
  llvm::DenseMap<Value, Range> known;
};

struct GuardIndicesPass : tilewright::impl::GuardIndicesBase<GuardIndicesPass> {
  using GuardIndicesBase::GuardIndicesBase;

  void runOnOperation() override {
    getOperation()->walk([&](func::FuncOp function) { Guard(function, hostPart).run(); });
  }
};

} // namespace
