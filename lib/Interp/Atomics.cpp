//===- Atomics.cpp - atomic updates and reducers ----------------------------------------------===//
//
// An update combines in the element type of its destination: the operand is converted first, and a
// float sum is rounded after each addition, in program order. Engines may take another order; in
// exact programs that makes no difference, in others the radius covers it: an element that receives
// n additions is one sum of n + 1 terms.
//
//===----------------------------------------------------------------------------------------===//

#include "Bounds.h"
#include "Machine.h"
#include "tilewright/Tile/Statements.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;
using tile::AtomicKind;

static double combineReal(AtomicKind kind, Format format, double lhs, double rhs) {
  switch (kind) {
  case AtomicKind::Add:
    return roundFloat(format, lhs + rhs);
  case AtomicKind::Max:
    return maxFloat(lhs, rhs, /*propagate=*/false);
  case AtomicKind::Min:
    return minFloat(lhs, rhs, /*propagate=*/false);
  default: // exchange; the verifier refuses bit operations on floats
    return rhs;
  }
}

static int64_t combineInteger(AtomicKind kind, IntegerSpec spec, int64_t lhs, int64_t rhs) {
  switch (kind) {
  case AtomicKind::Add:
    if (spec.width == 1) // a number becomes a bool by `x != 0`
      return lhs + rhs != 0;
    return wrap(static_cast<int64_t>(uint64_t(lhs) + uint64_t(rhs)), spec.width);
  case AtomicKind::Max:
    return maxInteger(lhs, rhs, spec);
  case AtomicKind::Min:
    return minInteger(lhs, rhs, spec);
  case AtomicKind::And:
    return lhs & rhs;
  case AtomicKind::Or:
    return lhs | rhs;
  case AtomicKind::Xor:
    return lhs ^ rhs;
  case AtomicKind::Exchange:
    return rhs;
  }
  llvm_unreachable("unknown kind");
}

static Scalar combine(AtomicKind kind, Format format, const Scalar &lhs, const Scalar &rhs) {
  Scalar result;
  if (isFloat(format))
    result.real = combineReal(kind, format, lhs.real, rhs.real);
  else
    result.integer = combineInteger(kind, getIntegerSpec(format), lhs.integer, rhs.integer);
  bool isExchange = kind == AtomicKind::Exchange;
  result.isPoison = rhs.isPoison || (lhs.isPoison && !isExchange);
  result.radius = isExchange ? rhs.radius : boundChoice(lhs, rhs);
  return result;
}

/// What an element that is summed up has received, this addition included.
static SumShadow extendSum(Storage &storage, int64_t granule, const Scalar &old,
                           const Scalar &addend) {
  if (storage.sums.empty())
    storage.sums = ShadowArray<SumShadow>(storage.countGranules());
  SumShadow sum = storage.sums[granule];
  if (sum.count == 0)
    sum = {std::abs(old.real), old.radius, 0};
  sum.magnitude += std::abs(addend.real);
  sum.inputRadius += addend.radius;
  sum.count += 1;
  return sum;
}

/// Combines `operand`, a value of the view's format, into an element; gives the previous value.
static Scalar update(Machine &machine, const Step &step, const View &view, int64_t element,
                     AtomicKind kind, const Scalar &operand) {
  Storage &storage = *view.storage;
  // Reading and writing are one access; the write below is where it is checked.
  Cell before = storage.read(element, getBytes(view.format));
  if (view.isUndecided)
    before.radius = kUndecided;
  Scalar old = unpack(view.format, before);
  Scalar result = combine(kind, view.format, old, operand);
  Access access = kind == AtomicKind::Exchange ? Access::Exchange : Access::Update;
  bool isBoundedSum = machine.options.bounds && !machine.shadowDepth && kind == AtomicKind::Add &&
                      isFloat(view.format);
  if (!isBoundedSum) {
    machine.write(step, view, element, pack(view.format, result), access);
    return old;
  }
  int64_t granule = 0;
  storage.forEachPiece(element, getBytes(view.format), [&](int64_t offset, unsigned, unsigned) {
    granule = offset / storage.granuleBytes;
  });
  SumShadow sum = extendSum(storage, granule, old, operand);
  result.radius = boundSumOf(sum.inputRadius, sum.count, sum.magnitude, view.format,
                             getUnitRoundoff(view.format));
  machine.write(step, view, element, pack(view.format, result), Access::Update);
  storage.sums[granule] = sum; // the write above counted as a new value
  return old;
}

static void atomicTile(Machine &machine, const Step &step) {
  machine.beginStatement(step);
  auto op = cast<tile::AtomicOp>(step.op);
  const View &dest = machine.viewOf(step, 1);
  std::vector<Cell> cells;
  Scalar scalar;
  if (tile::isBufferType(op.getValue().getType())) {
    const View &source = machine.viewOf(step, 0);
    if (!haveSameExtents(machine, step, source, dest))
      return;
    cells = machine.readTile(step, source);
  } else {
    scalar = convert(machine.get(step, 0), step.from, dest.format);
  }
  machine.forEachElement(step, dest, Access::Update, [&](int64_t position, int64_t element) {
    Scalar operand = cells.empty()
                         ? scalar
                         : convert(unpack(step.from, cells[position]), step.from, dest.format);
    update(machine, step, dest, element, op.getKind(), operand);
  });
}

static void atomicElement(Machine &machine, const Step &step) {
  machine.beginStatement(step);
  auto op = cast<tile::AtomicElementOp>(step.op);
  const View &view = machine.viewOf(step, 1);
  bool isUndecided = false;
  auto coordinates = getCoordinates(machine, step, 2, view, isUndecided);
  if (isUndecided)
    view.storage->markAllUndecided();
  std::optional<int64_t> element = machine.locate(step, view, coordinates, Access::Update);
  Scalar previous = element
                        ? update(machine, step, view, *element, op.getKind(), machine.get(step, 0))
                        : unpack(view.format, view.storage->safeValue);
  // The order of blocks and iterations is open, and with it what each of them finds.
  if (isUndecided || (machine.options.bounds && previous.radius > 0))
    previous.radius = kUndecided;
  machine.result(step) = previous;
}

//===----------------------------------------------------------------------------------------===//
// Reducers
//===----------------------------------------------------------------------------------------===//

static Scalar absolute(Scalar value, Format format) {
  if (isFloat(format))
    value.real = std::abs(value.real);
  else
    value.integer = absInteger(value.integer, getIntegerSpec(format));
  return value;
}

static void updateReducer(Machine &machine, const Step &step) {
  machine.beginStatement(step);
  const View &view = machine.viewOf(step, 1);
  bool isUndecided = false;
  auto coordinates = getCoordinates(machine, step, 2, view, isUndecided);
  if (isUndecided)
    view.storage->markAllUndecided();
  auto kind = static_cast<tile::ReduceKind>(step.detail);
  bool usesMagnitude = kind == tile::ReduceKind::AbsSum || kind == tile::ReduceKind::AbsMax;
  Scalar operand = machine.get(step, 0);
  if (usesMagnitude)
    operand = absolute(operand, view.format);
  if (std::optional<int64_t> element = machine.locate(step, view, coordinates, Access::Update))
    update(machine, step, view, *element, tile::getAtomicKind(kind), operand);
}

bool tilewright::interp::resolveAtomic(Operation *op, Step &step) {
  step.run = llvm::TypeSwitch<Operation *, Handler>(op)
                 .Case([&](tile::AtomicOp atomic) {
                   Type type = atomic.getValue().getType();
                   auto buffer = dyn_cast<MemRefType>(type);
                   step.from = getFormat(buffer ? buffer.getElementType() : type);
                   return atomicTile;
                 })
                 .Case([](tile::AtomicElementOp) { return atomicElement; })
                 .Case([&](tile::ReducerUpdateOp update) {
                   auto root = tile::getRoot(update.getBuffer()).getDefiningOp<tile::AllocOp>();
                   auto kind = root ? root.getReducer() : std::nullopt;
                   step.detail = static_cast<unsigned>(kind.value_or(tile::ReduceKind::Sum));
                   return updateReducer;
                 })
                 .Default([](Operation *) { return nullptr; });
  return step.run != nullptr;
}
