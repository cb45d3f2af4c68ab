//===- Enumerate.cpp - values of expressions over a whole tile ------------------------------===//
//
// The expressions become a list of steps, operands before users, each distinct subexpression once.
// Each step owns a column of kColumn values; the tile is walked column by column, so that all
// columns stay in the first-level cache.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Layout/IndexFacts.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/Support/IndexMath.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::SmallVector;
using Kind = IndexExpr::Kind;

namespace {

constexpr int64_t kColumn = 1024;

struct Step {
  Kind kind;
  int64_t value = 0;              ///< Constant value or dim.
  unsigned lhs = 0, rhs = 0;      ///< Operand steps.
  bool nonNegative = false;       ///< The left operand is never negative.
  std::optional<int64_t> right{}; ///< The right operand, where it is constant.
};

struct HashExpr {
  size_t operator()(const IndexExpr &expr) const { return hash_value(expr); }
};

/// The steps of several expressions.
struct Program {
  SmallVector<Step, 16> steps;
  SmallVector<unsigned, 4> results;

  Program(ArrayRef<IndexExpr> exprs, ArrayRef<IndexFacts> dims) : dims(dims) {
    for (const IndexExpr &expr : exprs)
      results.push_back(add(expr));
  }

private:
  unsigned add(const IndexExpr &expr) {
    if (auto found = known.find(expr); found != known.end())
      return found->second;
    Step step{expr.getKind()};
    if (expr.isBinary()) {
      step.lhs = add(expr.getLhs());
      step.rhs = add(expr.getRhs());
      step.right = expr.getRhs().getConstant();
      step.nonNegative = facts[step.lhs].low >= 0;
      facts.push_back(combineFacts(expr.getKind(), facts[step.lhs], facts[step.rhs]));
    } else if (expr.getKind() == Kind::Constant) {
      step.value = *expr.getConstant();
      facts.push_back(IndexFacts::constant(step.value));
    } else {
      step.value = expr.getPosition();
      facts.push_back(dims[step.value]);
    }
    steps.push_back(step);
    known.emplace(expr, steps.size() - 1);
    return steps.size() - 1;
  }

  ArrayRef<IndexFacts> dims;
  SmallVector<IndexFacts, 16> facts; ///< Of each step.
  std::unordered_map<IndexExpr, unsigned, HashExpr> known;
};

/// Takes the values of the k-th expression for elements from `start` on; false ends the walk.
using ColumnVisitor =
    llvm::function_ref<bool(unsigned expr, int64_t start, ArrayRef<int64_t> values)>;

/// Evaluates a program column by column in integers of type T, which the caller has shown to be
/// wide enough for every subexpression.
template <typename T> class ColumnEvaluator {
public:
  ColumnEvaluator(Program compiled, ArrayRef<int64_t> shape)
      : program(std::move(compiled)), shape(shape), columns(program.steps.size() * kColumn) {
    int64_t stride = 1;
    strides.resize(shape.size());
    for (unsigned dim = shape.size(); dim-- > 0; stride *= shape[dim])
      strides[dim] = stride;
    for (auto [position, step] : llvm::enumerate(program.steps))
      if (step.kind == Kind::Constant)
        std::fill_n(column(position), kColumn, T(step.value));
  }

  void run(int64_t numElements, ColumnVisitor visit) {
    std::vector<int64_t> wide(kColumn);
    for (int64_t start = 0; start < numElements; start += kColumn) {
      int64_t count = std::min(kColumn, numElements - start);
      for (auto [position, step] : llvm::enumerate(program.steps)) {
        if (step.kind == Kind::Dim)
          fillDim(column(position), start, count, step.value);
        else if (step.kind != Kind::Constant)
          apply(step, column(position), column(step.lhs), column(step.rhs), count);
      }
      for (auto [result, position] : llvm::enumerate(program.results)) {
        std::copy_n(column(position), count, wide.begin());
        if (!visit(result, start, ArrayRef(wide).take_front(count)))
          return;
      }
    }
  }

private:
  T *column(unsigned position) { return columns.data() + position * kColumn; }

  /// The dim's value is constant for runs of `stride` elements and counts up, round and round.
  void fillDim(T *out, int64_t start, int64_t count, unsigned dim) {
    int64_t stride = strides[dim], extent = shape[dim];
    T value = start / stride % extent;
    int64_t left = stride - start % stride;
    for (int64_t at = 0; at < count;) {
      if (stride == 1) { // the fastest dim: a ramp up to its extent
        int64_t ramp = std::min<int64_t>(extent - value, count - at);
        for (int64_t k = 0; k < ramp; ++k)
          out[at + k] = value + T(k);
        at += ramp;
        value = 0;
        continue;
      }
      int64_t run = std::min(left, count - at);
      std::fill_n(out + at, run, value);
      at += run;
      left = stride;
      value = value + 1 == extent ? 0 : value + 1;
    }
  }

  template <typename OpT>
  static void forAll(T *__restrict out, const T *a, const T *b, int64_t count, OpT op) {
    for (int64_t k = 0; k < count; ++k)
      out[k] = op(a[k], b[k]);
  }

  static void applyDivision(const Step &step, T *out, const T *a, const T *b, int64_t count) {
    bool isDiv = step.kind == Kind::FloorDiv;
    if (step.right && *step.right > 0) {
      T divisor = *step.right;
      if (std::has_single_bit(uint64_t(*step.right))) { // shifts and masks round down as well
        int shift = std::countr_zero(uint64_t(*step.right));
        if (isDiv)
          return forAll(out, a, b, count, [=](T x, T) { return T(x >> shift); });
        return forAll(out, a, b, count, [=](T x, T) { return T(x & (divisor - 1)); });
      }
      if (step.nonNegative && sizeof(T) == 4) {
        // x / d = x * ceil(2^s / d) >> s for 0 <= x < 2^31 and s = 31 + ceil(log2 d): a
        // multiplication, which vectorises (Granlund and Montgomery 1994, theorem 4.2).
        unsigned shift = 31 + std::bit_width(uint64_t(divisor) - 1);
        uint64_t factor = ((uint64_t(1) << shift) + divisor - 1) / divisor;
        auto quotient = [=](T x) { return T(uint64_t(uint32_t(x)) * uint32_t(factor) >> shift); };
        if (isDiv)
          return forAll(out, a, b, count, [=](T x, T) { return quotient(x); });
        return forAll(out, a, b, count, [=](T x, T) { return T(x - quotient(x) * divisor); });
      }
    }
    if (isDiv)
      return forAll(out, a, b, count, [](T x, T y) { return T(*checkedFloorDiv(x, y)); });
    forAll(out, a, b, count, [](T x, T y) { return T(floorMod(x, y)); });
  }

  static void apply(const Step &step, T *out, const T *a, const T *b, int64_t count) {
    switch (step.kind) {
    case Kind::Add:
      return forAll(out, a, b, count, [](T x, T y) { return T(x + y); });
    case Kind::Sub:
      return forAll(out, a, b, count, [](T x, T y) { return T(x - y); });
    case Kind::Mul:
      return forAll(out, a, b, count, [](T x, T y) { return T(x * y); });
    case Kind::FloorDiv:
    case Kind::Mod:
      return applyDivision(step, out, a, b, count);
    case Kind::Xor:
      return forAll(out, a, b, count, [](T x, T y) { return T(x ^ y); });
    case Kind::Min:
      return forAll(out, a, b, count, [](T x, T y) { return std::min(x, y); });
    case Kind::Max:
      return forAll(out, a, b, count, [](T x, T y) { return std::max(x, y); });
    case Kind::Constant:
    case Kind::Dim:
    case Kind::Symbol:
      break;
    }
    llvm_unreachable("not a binary operation");
  }

  Program program;
  ArrayRef<int64_t> shape;
  SmallVector<int64_t, 4> strides;
  std::vector<T> columns;
};

/// The slow way, for expressions whose bounds do not exclude overflow.
bool runPointByPoint(ArrayRef<IndexExpr> exprs, ArrayRef<int64_t> shape, int64_t numElements,
                     ColumnVisitor visit) {
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t element = 0; element < numElements; ++element) {
    for (auto [position, expr] : llvm::enumerate(exprs)) {
      std::optional<int64_t> value = expr.evaluate(index);
      if (!value)
        return false;
      if (!visit(position, element, *value))
        return true;
    }
    for (unsigned dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
  return true;
}

/// The number of elements if they can be enumerated.
std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  if (llvm::is_contained(shape, 0))
    return 0;
  for (int64_t extent : shape) {
    if (extent == kDynamic || extent > kMaxEnumeratedElements / count)
      return std::nullopt;
    count *= extent;
  }
  return count;
}

/// Picks the narrowest integers that hold every subexpression.
bool visitColumns(ArrayRef<IndexExpr> exprs, ArrayRef<int64_t> shape, int64_t numElements,
                  ColumnVisitor visit) {
  SmallVector<IndexFacts, 4> dims = factsOfShape(shape);
  auto fit = [&](int64_t low, int64_t high) {
    return llvm::all_of(exprs, [&](const IndexExpr &e) { return staysWithin(e, dims, low, high); });
  };
  if (fit(std::numeric_limits<int32_t>::min() + 1, std::numeric_limits<int32_t>::max())) {
    ColumnEvaluator<int32_t>(Program(exprs, dims), shape).run(numElements, visit);
    return true;
  }
  if (fit(IndexFacts::kNoLow + 1, IndexFacts::kNoHigh - 1)) {
    ColumnEvaluator<int64_t>(Program(exprs, dims), shape).run(numElements, visit);
    return true;
  }
  return runPointByPoint(exprs, shape, numElements, visit);
}

bool hasSymbols(ArrayRef<IndexExpr> exprs) {
  return llvm::any_of(exprs, [](const IndexExpr &expr) { return expr.getNumSymbols() != 0; });
}

} // namespace

std::optional<ValueColumns> tilewright::enumerateValues(ArrayRef<IndexExpr> exprs,
                                                        ArrayRef<int64_t> shape) {
  std::optional<int64_t> numElements = countElements(shape);
  if (!numElements || hasSymbols(exprs))
    return std::nullopt;
  ValueColumns results(exprs.size());
  for (std::vector<int64_t> &result : results)
    result.resize(*numElements);
  auto store = [&](unsigned expr, int64_t start, ArrayRef<int64_t> values) {
    std::copy(values.begin(), values.end(), results[expr].begin() + start);
    return true;
  };
  if (*numElements > 0 && !visitColumns(exprs, shape, *numElements, store))
    return std::nullopt;
  return results;
}

bool tilewright::visitValues(
    const IndexExpr &expr, ArrayRef<int64_t> shape,
    llvm::function_ref<bool(int64_t start, ArrayRef<int64_t> values)> visit) {
  std::optional<int64_t> numElements = countElements(shape);
  if (!numElements || hasSymbols(expr))
    return false;
  return *numElements == 0 || visitColumns(expr, shape, *numElements,
                                           [&](unsigned, int64_t start, ArrayRef<int64_t> values) {
                                             return visit(start, values);
                                           });
}

SmallVector<int64_t, 4> tilewright::delinearize(int64_t element, ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> index(shape.size(), 0);
  for (unsigned dim = shape.size(); dim-- > 0;) {
    index[dim] = element % shape[dim];
    element /= shape[dim];
  }
  return index;
}
