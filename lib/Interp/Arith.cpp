//===- Arith.cpp - scalar arithmetic, comparisons and selection -------------------------------===//
//
// Integers of a dtype wrap at their width; `index` values are mathematical and must not leave 64
// bits. Float operations are computed in double and rounded once to their format: for the formats
// below double that is the correctly rounded result (53 >= 2 * 24 + 2 bits).
//
//===----------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "Rounders.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

//===----------------------------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------------------------===//

static int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) + uint64_t(b)); }
static int64_t sub(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) - uint64_t(b)); }
static int64_t mul(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) * uint64_t(b)); }
static int64_t bitAnd(int64_t a, int64_t b) { return a & b; }
static int64_t bitOr(int64_t a, int64_t b) { return a | b; }
static int64_t bitXor(int64_t a, int64_t b) { return a ^ b; }

static void setInteger(Machine &machine, const Step &step, int64_t integer) {
  const Scalar &lhs = machine.get(step, 0), &rhs = machine.get(step, 1);
  Scalar result = Scalar::ofInteger(integer);
  result.isPoison = lhs.isPoison | rhs.isPoison;
  machine.result(step) = result;
}

template <int64_t (*op)(int64_t, int64_t)>
static void wrapping(Machine &machine, const Step &step) {
  int64_t lhs = machine.get(step, 0).integer, rhs = machine.get(step, 1).integer;
  setInteger(machine, step, wrap(op(lhs, rhs), step.spec.width));
}

template <int64_t (*op)(int64_t, int64_t, IntegerSpec)>
static void withSpec(Machine &machine, const Step &step) {
  int64_t lhs = machine.get(step, 0).integer, rhs = machine.get(step, 1).integer;
  setInteger(machine, step, op(lhs, rhs, step.spec));
}

template <int64_t (*op)(int64_t, int64_t, IntegerSpec)>
static void divide(Machine &machine, const Step &step) {
  int64_t lhs = machine.get(step, 0).integer, rhs = machine.get(step, 1).integer;
  if (rhs == 0 && machine.options.check)
    machine.note(FindingKind::DivisionByZero, step,
                 "division of " + llvm::Twine(lhs) + " by zero; x // 0 is 0 and x % 0 is x");
  if (step.format == Format::Index && rhs == -1 && lhs == std::numeric_limits<int64_t>::min())
    return machine.fail(FindingKind::IndexOverflow, step,
                        "index value " + llvm::Twine(lhs) + " divided by -1 leaves 64 bits");
  setInteger(machine, step, op(lhs, rhs, step.spec));
}

static void overflowed(Machine &machine, const Step &step, llvm::StringRef sign) {
  machine.fail(FindingKind::IndexOverflow, step,
               "index value " + llvm::Twine(machine.get(step, 0).integer) + " " + sign + " " +
                   llvm::Twine(machine.get(step, 1).integer) + " leaves 64 bits");
}

static void addIndex(Machine &machine, const Step &step) {
  int64_t result;
  if (__builtin_add_overflow(machine.get(step, 0).integer, machine.get(step, 1).integer, &result))
    return overflowed(machine, step, "+");
  setInteger(machine, step, result);
}

static void subIndex(Machine &machine, const Step &step) {
  int64_t result;
  if (__builtin_sub_overflow(machine.get(step, 0).integer, machine.get(step, 1).integer, &result))
    return overflowed(machine, step, "-");
  setInteger(machine, step, result);
}

static void mulIndex(Machine &machine, const Step &step) {
  int64_t result;
  if (__builtin_mul_overflow(machine.get(step, 0).integer, machine.get(step, 1).integer, &result))
    return overflowed(machine, step, "*");
  setInteger(machine, step, result);
}

static void shiftLeftIndex(Machine &machine, const Step &step) {
  int64_t lhs = machine.get(step, 0).integer, rhs = machine.get(step, 1).integer;
  int64_t result = shiftLeft(lhs, rhs, step.spec);
  // A shift by 64 or more gives 0 by rule; a smaller one must not lose bits.
  if (rhs >= 0 && rhs < 64 && result >> rhs != lhs)
    return overflowed(machine, step, "<<");
  setInteger(machine, step, result);
}

static void compareIntegers(Machine &machine, const Step &step) {
  int64_t lhs = machine.get(step, 0).integer, rhs = machine.get(step, 1).integer;
  auto less = [&](int64_t a, int64_t b, bool isUnsigned) {
    return isLess(a, b, {step.spec.width, isUnsigned});
  };
  bool result = false;
  switch (static_cast<arith::CmpIPredicate>(step.detail)) {
  case arith::CmpIPredicate::eq:
    result = lhs == rhs;
    break;
  case arith::CmpIPredicate::ne:
    result = lhs != rhs;
    break;
  case arith::CmpIPredicate::slt:
    result = less(lhs, rhs, false);
    break;
  case arith::CmpIPredicate::sle:
    result = !less(rhs, lhs, false);
    break;
  case arith::CmpIPredicate::sgt:
    result = less(rhs, lhs, false);
    break;
  case arith::CmpIPredicate::sge:
    result = !less(lhs, rhs, false);
    break;
  case arith::CmpIPredicate::ult:
    result = less(lhs, rhs, true);
    break;
  case arith::CmpIPredicate::ule:
    result = !less(rhs, lhs, true);
    break;
  case arith::CmpIPredicate::ugt:
    result = less(rhs, lhs, true);
    break;
  case arith::CmpIPredicate::uge:
    result = !less(lhs, rhs, true);
    break;
  }
  setInteger(machine, step, result);
}

//===----------------------------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------------------------===//

static double addReal(double a, double b) { return a + b; }
static double subReal(double a, double b) { return a - b; }
static double mulReal(double a, double b) { return a * b; }
static double divReal(double a, double b) { return a / b; }
static double remReal(double a, double b) { return std::fmod(a, b); }
static double maxNumber(double a, double b) { return maxFloat(a, b, /*propagate=*/false); }
static double minNumber(double a, double b) { return minFloat(a, b, /*propagate=*/false); }
static double maxOrNaN(double a, double b) { return maxFloat(a, b, /*propagate=*/true); }
static double minOrNaN(double a, double b) { return minFloat(a, b, /*propagate=*/true); }

template <double (*op)(double, double)> static void rounding(Machine &machine, const Step &step) {
  const Scalar &lhs = machine.get(step, 0), &rhs = machine.get(step, 1);
  Scalar result = Scalar::ofReal(step.round(op(lhs.real, rhs.real)));
  result.isPoison = lhs.isPoison | rhs.isPoison;
  machine.result(step) = result;
}

static void negate(Machine &machine, const Step &step) {
  Scalar result = machine.get(step, 0);
  result.real = -result.real;
  machine.result(step) = result;
}

/// The predicate's bits are the outcomes it accepts: 1 equal, 2 greater, 4 less, 8 unordered.
static void compareFloats(Machine &machine, const Step &step) {
  double lhs = machine.get(step, 0).real, rhs = machine.get(step, 1).real;
  unsigned outcome = lhs == rhs ? 1 : lhs > rhs ? 2 : lhs < rhs ? 4 : 8;
  setInteger(machine, step, (step.detail & outcome) != 0);
}

static unsigned getAcceptedOutcomes(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  constexpr unsigned eq = 1, gt = 2, lt = 4, un = 8;
  switch (predicate) {
  case P::AlwaysFalse:
    return 0;
  case P::OEQ:
    return eq;
  case P::OGT:
    return gt;
  case P::OGE:
    return gt | eq;
  case P::OLT:
    return lt;
  case P::OLE:
    return lt | eq;
  case P::ONE:
    return lt | gt;
  case P::ORD:
    return lt | gt | eq;
  case P::UEQ:
    return un | eq;
  case P::UGT:
    return un | gt;
  case P::UGE:
    return un | gt | eq;
  case P::ULT:
    return un | lt;
  case P::ULE:
    return un | lt | eq;
  case P::UNE:
    return un | lt | gt;
  case P::UNO:
    return un;
  case P::AlwaysTrue:
    return un | lt | gt | eq;
  }
  llvm_unreachable("unknown predicate");
}

/// Poison in the side that is not taken is discarded.
static void select(Machine &machine, const Step &step) {
  const Scalar &condition = machine.get(step, 0);
  Scalar result = machine.get(step, condition.integer ? 1 : 2);
  result.isPoison |= condition.isPoison;
  machine.result(step) = result;
}

//===----------------------------------------------------------------------------------------===//
// Resolution
//===----------------------------------------------------------------------------------------===//

static Handler pickInteger(Operation *op, Step &step) {
  bool isIndex = step.format == Format::Index;
  auto readUnsigned = [&](bool isUnsigned) { step.spec.isUnsigned = isUnsigned; };
  return llvm::TypeSwitch<Operation *, Handler>(op)
      .Case([&](arith::AddIOp) { return isIndex ? addIndex : wrapping<add>; })
      .Case([&](arith::SubIOp) { return isIndex ? subIndex : wrapping<sub>; })
      .Case([&](arith::MulIOp) { return isIndex ? mulIndex : wrapping<mul>; })
      .Case([](arith::AndIOp) { return wrapping<bitAnd>; })
      .Case([](arith::OrIOp) { return wrapping<bitOr>; })
      .Case([](arith::XOrIOp) { return wrapping<bitXor>; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) {
        readUnsigned(isa<arith::MaxUIOp>(op));
        return withSpec<maxInteger>;
      })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) {
        readUnsigned(isa<arith::MinUIOp>(op));
        return withSpec<minInteger>;
      })
      .Case([&](tile::FloorDivOp div) {
        readUnsigned(div.getIsUnsigned());
        return divide<floorDivide>;
      })
      .Case([&](tile::FloorModOp mod) {
        readUnsigned(mod.getIsUnsigned());
        return divide<floorModulo>;
      })
      .Case([&](tile::TruncDivOp div) {
        readUnsigned(div.getIsUnsigned());
        return divide<truncDivide>;
      })
      .Case([&](tile::TruncModOp mod) {
        readUnsigned(mod.getIsUnsigned());
        return divide<truncModulo>;
      })
      .Case([&](tile::ShlOp) { return isIndex ? shiftLeftIndex : withSpec<shiftLeft>; })
      .Case([&](tile::ShrOp shift) {
        readUnsigned(shift.getIsUnsigned());
        return withSpec<shiftRight>;
      })
      .Default([](Operation *) { return nullptr; });
}

static Handler pickFloat(Operation *op) {
  return llvm::TypeSwitch<Operation *, Handler>(op)
      .Case([](arith::AddFOp) { return rounding<addReal>; })
      .Case([](arith::SubFOp) { return rounding<subReal>; })
      .Case([](arith::MulFOp) { return rounding<mulReal>; })
      .Case([](arith::DivFOp) { return rounding<divReal>; })
      .Case([](arith::RemFOp) { return rounding<remReal>; })
      .Case([](arith::MaxNumFOp) { return rounding<maxNumber>; })
      .Case([](arith::MinNumFOp) { return rounding<minNumber>; })
      .Case([](arith::MaximumFOp) { return rounding<maxOrNaN>; })
      .Case([](arith::MinimumFOp) { return rounding<minOrNaN>; })
      .Case([](arith::NegFOp) { return negate; })
      .Default([](Operation *) { return nullptr; });
}

bool tilewright::interp::resolveArith(Operation *op, Step &step) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  step.format = getFormat(op->getResult(0).getType());
  if (isa<arith::SelectOp>(op)) {
    step.run = select;
  } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    step.run = compareIntegers;
    step.detail = static_cast<unsigned>(compare.getPredicate());
    step.spec = getIntegerSpec(getFormat(compare.getLhs().getType()));
  } else if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    step.run = compareFloats;
    step.detail = getAcceptedOutcomes(compare.getPredicate());
  } else if (isFloat(step.format)) {
    step.round = getRounder(step.format);
    step.run = pickFloat(op);
  } else {
    step.spec = getIntegerSpec(step.format);
    step.run = pickInteger(op, step);
  }
  return step.run != nullptr;
}
