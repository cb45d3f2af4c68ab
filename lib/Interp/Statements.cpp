//===- Statements.cpp - statements on whole tiles ---------------------------------------------===//
//
// Each reads its operands whole, computes, and writes its result whole, so that a statement whose
// source and destination overlap means what it says. Sums are formed in double and rounded once.
//
//===----------------------------------------------------------------------------------------===//

#include "Bounds.h"
#include "Machine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;
using tile::ReduceKind;

llvm::SmallVector<int64_t, 4> tilewright::interp::withoutUnits(llvm::ArrayRef<int64_t> extents) {
  return llvm::to_vector<4>(llvm::make_filter_range(extents, [](int64_t e) { return e != 1; }));
}

bool tilewright::interp::haveSameExtents(Machine &machine, const Step &step, const View &lhs,
                                         const View &rhs) {
  if (withoutUnits(lhs.extents) == withoutUnits(rhs.extents))
    return true;
  machine.fail(FindingKind::BadExtent, step,
               "expected equal extents, got " + inParentheses(lhs.extents) + " of '" +
                   lhs.storage->name + "' and " + inParentheses(rhs.extents) + " of '" +
                   rhs.storage->name + "'");
  return false;
}

/// Moves a tile. Bits of one element type stay as they are; others are converted.
static void copyTile(Machine &machine, const Step &step) {
  machine.beginStatement(step);
  const View &source = machine.viewOf(step, 0), &dest = machine.viewOf(step, 1);
  if (!haveSameExtents(machine, step, source, dest))
    return;
  std::vector<Cell> cells = machine.readTile(step, source);
  if (source.format != dest.format)
    for (Cell &cell : cells)
      cell = pack(dest.format, convert(unpack(source.format, cell), source.format, dest.format));
  machine.writeTile(step, dest, cells);
}

static void fill(Machine &machine, const Step &step) {
  machine.beginStatement(step);
  const View &dest = machine.viewOf(step, 1);
  Cell cell = pack(dest.format, machine.get(step, 0));
  machine.forEachElement(step, dest, Access::Write, [&](int64_t, int64_t element) {
    machine.write(step, dest, element, cell);
  });
}

//===----------------------------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------------------------===//

namespace {

/// A tile seen as outer x along x inner, with `along` the dimension that is combined.
struct Along {
  int64_t outer, along, inner;

  Along(llvm::ArrayRef<int64_t> extents, int64_t dim)
      : outer(countElements(extents.take_front(dim))), along(extents[dim]),
        inner(countElements(extents.drop_front(dim + 1))) {}

  int64_t at(int64_t o, int64_t a, int64_t i) const { return (o * along + a) * inner + i; }
};

/// Combines values of one kind; sums stay in double or wrap in 64 bits until `finish`.
class Accumulator {
public:
  Accumulator(ReduceKind kind, Format from, Format to, bool propagatesNaN)
      : kind(kind), from(from), to(to), propagatesNaN(propagatesNaN) {}

  void add(const Scalar &value, Format format) {
    combine(value, format, kind == ReduceKind::AbsSum || kind == ReduceKind::AbsMax);
  }

  /// What the destination held takes part once. A sum of magnitudes adds to it as it is; other
  /// kinds choose between it and what was found, as values of the destination.
  void addOld(const Scalar &value) {
    if (!isSum() && isFloat(to))
      real = roundFloat(to, real);
    else if (!isSum())
      integer = integerToInteger(Format::I64, toResult(integer), getIntegerSpec(to));
    combine(value, to, kind == ReduceKind::AbsMax);
  }
  Cell finish(bool withBounds) const {
    Scalar result;
    if (isFloat(to))
      result.real = roundFloat(to, count ? real : getIdentity());
    else
      result.integer = toResult(count ? integer : getIntegerIdentity());
    result.isPoison = isPoison;
    if (withBounds && isFloat(to) && isSum())
      result.radius = boundSumOf(sumOfRadii, count + 1, magnitude, to, getUnitRoundoff(to));
    else if (withBounds)
      result.radius = largestRadius;
    return pack(to, result);
  }

private:
  bool isSum() const { return kind == ReduceKind::Sum || kind == ReduceKind::AbsSum; }

  int64_t toResult(int64_t value) const {
    return to == Format::Bool ? value != 0 : wrap(value, getBits(to));
  }

  void combine(const Scalar &value, Format format, bool byMagnitude) {
    if (isFloat(format))
      addReal(byMagnitude ? std::abs(value.real) : value.real);
    else
      addInteger(byMagnitude ? absInteger(value.integer, getIntegerSpec(format)) : value.integer,
                 getIntegerSpec(format));
    isPoison |= value.isPoison;
    largestRadius = std::max(largestRadius, value.radius);
    sumOfRadii += value.radius;
    ++count;
  }

  void addReal(double value) {
    magnitude += std::abs(value);
    if (isSum())
      real += value;
    else if (count == 0)
      real = value;
    else
      real = kind == ReduceKind::Min ? minFloat(real, value, propagatesNaN)
                                     : maxFloat(real, value, propagatesNaN);
  }

  void addInteger(int64_t value, IntegerSpec spec) {
    // From here on 64 bits wide, by the sign of its own type.
    value = integerToInteger(Format::I64, value, spec);
    IntegerSpec wide{64, spec.isUnsigned};
    if (count == 0) {
      integer = value;
      return;
    }
    switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::AbsSum:
      integer = static_cast<int64_t>(uint64_t(integer) + uint64_t(value));
      return;
    case ReduceKind::Max:
    case ReduceKind::AbsMax:
      integer = maxInteger(integer, value, wide);
      return;
    case ReduceKind::Min:
      integer = minInteger(integer, value, wide);
      return;
    case ReduceKind::And:
      integer &= value;
      return;
    case ReduceKind::Or:
      integer |= value;
      return;
    case ReduceKind::Xor:
      integer ^= value;
      return;
    }
  }

  /// The value of an empty reduction.
  double getIdentity() const {
    return kind == ReduceKind::Max ? -INFINITY : kind == ReduceKind::Min ? INFINITY : 0;
  }
  int64_t getIntegerIdentity() const {
    IntegerSpec spec = getIntegerSpec(from);
    return kind == ReduceKind::Max   ? getLeast(spec)
           : kind == ReduceKind::Min ? getGreatest(spec)
           : kind == ReduceKind::And ? -1
                                     : 0;
  }

  ReduceKind kind;
  Format from, to;
  bool propagatesNaN;
  int64_t count = 0;
  double real = 0;
  int64_t integer = 0;
  double magnitude = 0;
  double sumOfRadii = 0;
  double largestRadius = 0;
  bool isPoison = false;
};

} // namespace

static void reduce(Machine &machine, const Step &step) {
  machine.beginStatement(step);
  auto op = cast<tile::ReduceOp>(step.op);
  const View &source = machine.viewOf(step, 0), &dest = machine.viewOf(step, 1);
  Along shape(source.extents, op.getDim());
  if (dest.countElements() != shape.outer * shape.inner)
    return machine.fail(FindingKind::BadExtent, step,
                        "a reduction of " + inParentheses(source.extents) + " along dimension " +
                            llvm::Twine(op.getDim()) + " does not fit " +
                            inParentheses(dest.extents) + " of '" + dest.storage->name + "'");
  std::vector<Cell> cells = machine.readTile(step, source), old;
  if (!op.getClear())
    old = machine.readTile(step, dest);
  std::vector<Cell> results;
  results.reserve(shape.outer * shape.inner);
  for (int64_t outer = 0; outer < shape.outer; ++outer)
    for (int64_t inner = 0; inner < shape.inner; ++inner) {
      Accumulator accumulator(op.getKind(), source.format, dest.format, op.getNanPropagate());
      for (int64_t along = 0; along < shape.along; ++along)
        accumulator.add(unpack(source.format, cells[shape.at(outer, along, inner)]), source.format);
      if (!old.empty())
        accumulator.addOld(unpack(dest.format, old[results.size()]));
      results.push_back(accumulator.finish(machine.options.bounds));
    }
  machine.writeTile(step, dest, results);
}

static void cumulativeSum(Machine &machine, const Step &step) {
  machine.beginStatement(step);
  auto op = cast<tile::CumsumOp>(step.op);
  const View &source = machine.viewOf(step, 0), &dest = machine.viewOf(step, 1);
  if (!haveSameExtents(machine, step, source, dest))
    return;
  Along shape(source.extents, op.getDim());
  std::vector<Cell> cells = machine.readTile(step, source), results(cells.size());
  for (int64_t outer = 0; outer < shape.outer; ++outer)
    for (int64_t inner = 0; inner < shape.inner; ++inner) {
      Accumulator accumulator(ReduceKind::Sum, source.format, dest.format, false);
      for (int64_t count = 0; count < shape.along; ++count) {
        int64_t along = op.getReverse() ? shape.along - 1 - count : count;
        int64_t position = shape.at(outer, along, inner);
        accumulator.add(unpack(source.format, cells[position]), source.format);
        results[position] = accumulator.finish(machine.options.bounds);
      }
    }
  machine.writeTile(step, dest, results);
}

//===----------------------------------------------------------------------------------------===//
// Patches of an image
//===----------------------------------------------------------------------------------------===//

/// The number of positions of the kernel along one side.
static int64_t countPositions(tile::Im2colOp op, int64_t extent) {
  int64_t pad = op.getPad(), reach = static_cast<int64_t>(op.getDilation() * (op.getKernel() - 1));
  return std::max<int64_t>(
      0, (extent + 2 * pad - reach - 1) / static_cast<int64_t>(op.getStride()) + 1);
}

static void gatherPatches(Machine &machine, const Step &step) {
  machine.beginStatement(step);
  auto op = cast<tile::Im2colOp>(step.op);
  const View &image = machine.viewOf(step, 0), &dest = machine.viewOf(step, 1);
  int64_t height = image.extents[1], width = image.extents[2], channels = image.extents[3];
  int64_t outHeight = countPositions(op, height), outWidth = countPositions(op, width);
  int64_t kernel = op.getKernel(), stride = op.getStride(), dilation = op.getDilation(),
          pad = op.getPad(), rows = dest.extents[0], columns = dest.extents[1];
  int64_t rowBase = machine.getDeciding(step, 2, "the row tile") * rows;
  int64_t columnBase = machine.getDeciding(step, 3, "the column tile") * columns;
  std::vector<Cell> patches(rows * columns); // padding reads as zero
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      int64_t row = rowBase + r, column = columnBase + c, positions = outHeight * outWidth;
      if (positions == 0 || row < 0 || row / positions >= image.extents[0] || column < 0 ||
          column >= kernel * kernel * channels)
        continue;
      int64_t h =
          row % positions / outWidth * stride + column / (kernel * channels) * dilation - pad;
      int64_t w = row % outWidth * stride + column / channels % kernel * dilation - pad;
      if (h < 0 || h >= height || w < 0 || w >= width)
        continue;
      std::optional<int64_t> element =
          machine.locate(step, image, {row / positions, h, w, column % channels}, Access::Read);
      patches[r * columns + c] =
          element ? machine.read(step, image, *element) : image.storage->safeValue;
    }
  machine.writeTile(step, dest, patches);
}

bool tilewright::interp::resolveStatement(Operation *op, Step &step) {
  step.run = llvm::TypeSwitch<Operation *, Handler>(op)
                 .Case<tile::CopyOp, tile::FinalizeReducerOp>([](auto) { return copyTile; })
                 .Case([](tile::FillOp) { return fill; })
                 .Case([](tile::ReduceOp) { return reduce; })
                 .Case([](tile::CumsumOp) { return cumulativeSum; })
                 .Case([](tile::Im2colOp) { return gatherPatches; })
                 .Default([](Operation *) { return nullptr; });
  return step.run != nullptr;
}
