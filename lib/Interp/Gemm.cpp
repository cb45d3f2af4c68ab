//===- Gemm.cpp - matrix products -------------------------------------------------------------===//
//
// Products of values up to float32 are exact in double; their sum, the old value of C included, is
// formed in double and rounded once to C's element type. Other engines may round parts of the sum
// to it as well, as the tensor cores do; the radius covers that. Integers wrap exactly.
//
//===----------------------------------------------------------------------------------------===//

#include "Bounds.h"
#include "Machine.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

namespace {

/// A matrix of plain numbers, row-major, with what is known about them aside.
template <typename T> struct Matrix {
  int64_t rows, columns;
  std::vector<T> numbers;
  std::vector<double> radii; ///< Empty if all are zero.
  bool hasPoison = false;
  std::vector<bool> poisonRows, poisonColumns;

  T *row(int64_t index) { return numbers.data() + index * columns; }
  double radius(int64_t r, int64_t c) const { return radii.empty() ? 0 : radii[r * columns + c]; }
};

/// One product of extents m x n x k.
template <typename T> struct Product {
  Matrix<T> a, b, c;
  int64_t depth() const { return a.columns; }
};

} // namespace

template <typename T> static T toNumber(const Scalar &value, Format format) {
  if constexpr (std::is_same_v<T, double>)
    return value.real;
  else
    return static_cast<uint64_t>(
        integerToInteger(Format::I64, value.integer, getIntegerSpec(format)));
}

/// Reads a tile, whose last two dimensions are the matrix, transposed if asked.
template <typename T>
static Matrix<T> readMatrix(Machine &machine, const Step &step, const View &view, bool transposed) {
  int64_t rows = view.extents[view.extents.size() - 2], columns = view.extents.back();
  std::vector<Cell> cells = machine.readTile(step, view);
  Matrix<T> matrix{transposed ? columns : rows, transposed ? rows : columns, {}, {}, false, {}, {}};
  matrix.numbers.resize(cells.size());
  matrix.poisonRows.resize(matrix.rows);
  matrix.poisonColumns.resize(matrix.columns);
  bool hasRadii = llvm::any_of(cells, [](const Cell &cell) { return cell.radius > 0; });
  if (hasRadii)
    matrix.radii.resize(cells.size());
  for (int64_t position = 0, end = cells.size(); position < end; ++position) {
    int64_t r = position / columns, c = position % columns;
    if (transposed)
      std::swap(r, c);
    int64_t target = r * matrix.columns + c;
    matrix.numbers[target] = toNumber<T>(unpack(view.format, cells[position]), view.format);
    if (hasRadii)
      matrix.radii[target] = cells[position].radius;
    if (cells[position].isPoison) {
      matrix.hasPoison = true;
      matrix.poisonRows[r] = true;
      matrix.poisonColumns[c] = true;
    }
  }
  return matrix;
}

/// sums[j] = c[i][j] + sum over k of a[i][k] * b[k][j]
template <typename T>
static void multiplyRow(Product<T> &product, int64_t i, llvm::MutableArrayRef<T> sums) {
  llvm::copy(llvm::ArrayRef(product.c.row(i), sums.size()), sums.begin());
  for (int64_t k = 0; k < product.depth(); ++k) {
    T factor = product.a.row(i)[k];
    const T *b = product.b.row(k);
    for (size_t j = 0; j < sums.size(); ++j)
      sums[j] += factor * b[j];
  }
}

/// The radius of one element of the result: the operands' radii, and the error of the sum.
static double boundElement(Product<double> &product, int64_t i, int64_t j, Format format,
                           double unit) {
  double propagated = product.c.radius(i, j), magnitude = std::abs(product.c.row(i)[j]);
  for (int64_t k = 0; k < product.depth(); ++k) {
    double a = std::abs(product.a.row(i)[k]), b = std::abs(product.b.row(k)[j]);
    double radiusA = product.a.radius(i, k), radiusB = product.b.radius(k, j);
    magnitude += a * b;
    if (radiusA > 0 || radiusB > 0)
      propagated += a * radiusB + b * radiusA + radiusA * radiusB;
  }
  return boundSumOf(propagated, product.depth() + 1, magnitude + propagated, format, unit);
}

template <typename T>
static bool isPoisonAt(const Product<T> &product, const std::vector<Cell> &old, int64_t i,
                       int64_t j) {
  return product.a.poisonRows[i] || product.b.poisonColumns[j] ||
         (!old.empty() && old[i * product.c.columns + j].isPoison);
}

template <typename T>
static void multiply(Machine &machine, const Step &step, bool clear, double unit) {
  auto op = cast<tile::GemmOp>(step.op);
  const View &dest = machine.viewOf(step, 2);
  Product<T> product{readMatrix<T>(machine, step, machine.viewOf(step, 0), op.getTransposeA()),
                     readMatrix<T>(machine, step, machine.viewOf(step, 1), op.getTransposeB()),
                     {}};
  Matrix<T> &c = product.c;
  std::vector<Cell> old;
  c.rows = product.a.rows;
  c.columns = product.b.columns;
  if (clear) {
    c.numbers.assign(c.rows * c.columns, T(0));
  } else {
    old = machine.readTile(step, dest);
    for (const Cell &cell : old)
      c.numbers.push_back(toNumber<T>(unpack(dest.format, cell), dest.format));
    if (llvm::any_of(old, [](const Cell &cell) { return cell.radius > 0; }))
      for (const Cell &cell : old)
        c.radii.push_back(cell.radius);
  }

  std::vector<T> sums(c.columns);
  std::vector<Cell> results;
  results.reserve(c.rows * c.columns);
  for (int64_t i = 0; i < c.rows; ++i) {
    multiplyRow<T>(product, i, sums);
    for (int64_t j = 0; j < c.columns; ++j) {
      Scalar value;
      if constexpr (std::is_same_v<T, double>) {
        value.real = roundFloat(dest.format, sums[j]);
        if (machine.options.bounds)
          value.radius = boundElement(product, i, j, dest.format, unit);
      } else {
        value.integer = wrap(static_cast<int64_t>(sums[j]), getBits(dest.format));
      }
      value.isPoison = isPoisonAt(product, old, i, j);
      results.push_back(pack(dest.format, value));
    }
  }
  machine.writeTile(step, dest, results);
}

/// Whether the run-time extents of the three matrices fit.
static bool fits(Machine &machine, const Step &step, tile::GemmOp op) {
  auto lastTwo = [&](unsigned operand, bool transposed) -> std::pair<int64_t, int64_t> {
    llvm::ArrayRef<int64_t> extents =
        llvm::ArrayRef(machine.viewOf(step, operand).extents).take_back(2);
    return transposed ? std::pair(extents[1], extents[0]) : std::pair(extents[0], extents[1]);
  };
  auto [m, k] = lastTwo(0, op.getTransposeA());
  auto [kOfB, n] = lastTwo(1, op.getTransposeB());
  if (k == kOfB && lastTwo(2, false) == std::pair(m, n))
    return true;
  auto [cRows, cColumns] = lastTwo(2, false);
  machine.fail(FindingKind::BadExtent, step,
               "a product of " + inParentheses({m, k}) + " and " + inParentheses({kOfB, n}) +
                   " does not fit " + inParentheses({cRows, cColumns}));
  return false;
}

static void gemm(Machine &machine, const Step &step) {
  machine.beginStatement(step);
  auto op = cast<tile::GemmOp>(step.op);
  if (!fits(machine, step, op))
    return;
  bool clear = op.getClear() && machine.getDeciding(step, 3, "'clear' of a matrix product");
  bool undecided = op.getClear() && machine.isUndecided(step, 3);
  machine.undecidedDepth += undecided;
  Format format = machine.viewOf(step, 0).format, dest = machine.viewOf(step, 2).format;
  if (isFloat(format)) {
    bool onTensorCores = format != Format::F32 && format != Format::F64;
    multiply<double>(machine, step, clear, getSumUnit(dest, onTensorCores));
  } else {
    multiply<uint64_t>(machine, step, clear, 0);
  }
  machine.undecidedDepth -= undecided;
}

bool tilewright::interp::resolveGemm(Operation *op, Step &step) {
  if (isa<tile::GemmOp>(op))
    step.run = gemm;
  return step.run != nullptr;
}
