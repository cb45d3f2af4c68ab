//===- Offsets.cpp - the offset of every iteration, split by what it depends on --------------===//

#include "Offsets.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Support/IndexMath.h"

#include <numeric>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace tilewright::access {

bool Offsets::isMultiple(int64_t iteration, int64_t width) const {
  if (outer.modulus % width != 0 || floorMod(fixed[iteration] + outer.remainder, width) != 0)
    return false;
  for (auto [values, divisor] : llvm::zip(moving, movingDivisors))
    if (divisor % width != 0 && values[iteration] * (divisor % width) % width != 0)
      return false;
  return true;
}

/// The values of one expression of dims for every iteration.
static std::optional<std::vector<int64_t>> valuesOf(const IndexExpr &expr,
                                                    ArrayRef<int64_t> extents) {
  std::optional<ValueColumns> columns = enumerateValues(expr, extents);
  if (!columns)
    return std::nullopt;
  return std::move((*columns)[0]);
}

/// A number for each iteration; iterations with equal numbers have equal values of the argument.
static std::optional<std::vector<int64_t>>
numberArguments(const IndexExpr &argument, ArrayRef<IndexFacts> dims, const Request &request) {
  if (std::optional<analysis::SeparatedExpr> parts =
          analysis::separate(argument, dims, request.symbols))
    return valuesOf(parts->dims, request.loop->extents);
  std::vector<int64_t> numbers(request.loop->getNumIterations());
  std::iota(numbers.begin(), numbers.end(), 0); // none are known to be equal
  return numbers;
}

std::optional<Offsets> Offsets::get(const Request &request) {
  if (!request.hasCoordinates())
    return std::nullopt;
  ArrayRef<int64_t> iterations = request.loop->extents;
  SmallVector<IndexFacts, 4> dims = factsOfShape(iterations);
  const Memory &memory = request.memory;
  // The physical coordinates, and the extents that give their strides.
  SmallVector<IndexExpr, 4> physical = request.coordinates;
  SmallVector<int64_t, 4> extents = memory.extents;
  if (memory.layout) {
    physical.clear();
    for (const IndexExpr &output : memory.layout->getOutputs())
      physical.push_back(output.substitute(request.coordinates));
    extents.assign(memory.layout->getOutputShape().begin(), memory.layout->getOutputShape().end());
  }
  Offsets offsets;
  IndexExpr fixed(0), outer(0);
  IndexFacts outerMoving = IndexFacts::constant(0);
  int64_t stride = 1;  // the stride, or what is known to divide it
  bool isFixed = true; // whether it has no run-time factor
  for (int64_t d = int64_t(physical.size()) - 1; d >= 0; --d) {
    std::optional<analysis::SeparatedExpr> parts =
        analysis::separate(physical[d], dims, request.symbols);
    if (!parts || !parts->dims.isWithinLimits() || !parts->symbols.isWithinLimits())
      return std::nullopt;
    if (isFixed) {
      fixed = fixed + parts->dims * stride;
      outer = outer + parts->symbols * stride;
    } else if (!parts->dims.isConstant(0) || !parts->symbols.isConstant(0)) {
      std::optional<std::vector<int64_t>> values = valuesOf(parts->dims, iterations);
      if (!values)
        return std::nullopt;
      offsets.moving.push_back(std::move(*values));
      offsets.movingDivisors.push_back(stride);
      outerMoving =
          combineFacts(IndexExpr::Kind::Add, outerMoving,
                       combineFacts(IndexExpr::Kind::Mul,
                                    analyzeIndexExpr(parts->symbols, dims, request.symbols),
                                    IndexFacts::multipleOf(stride)));
    }
    if (d == 0)
      break;
    int64_t factor = extents[d];
    if (factor == kDynamic) {
      isFixed = false;
      factor = memory.layout ? 1 : memory.getExtentFacts(d).getDivisor();
    }
    std::optional<int64_t> next = checkedMul(stride, factor);
    if (!next)
      return std::nullopt;
    stride = *next;
  }
  if (!fixed.isWithinLimits() || !outer.isWithinLimits())
    return std::nullopt;
  std::optional<std::vector<int64_t>> values = valuesOf(fixed, iterations);
  if (!values)
    return std::nullopt;
  offsets.fixed = std::move(*values);
  offsets.outer = combineFacts(IndexExpr::Kind::Add, analyzeIndexExpr(outer, dims, request.symbols),
                               outerMoving);
  for (const auto &arguments : request.arguments)
    for (const IndexExpr &argument : arguments) {
      std::optional<std::vector<int64_t>> numbers = numberArguments(argument, dims, request);
      if (!numbers)
        return std::nullopt;
      offsets.arguments.push_back(std::move(*numbers));
    }
  return offsets;
}

/// Each expression as a part of the iteration and one of symbols.
static std::optional<CoordinateRanges> getRanges(ArrayRef<IndexExpr> expressions,
                                                 const Request &request) {
  SmallVector<IndexFacts, 4> dims = factsOfShape(request.loop->extents);
  CoordinateRanges ranges;
  for (const IndexExpr &expression : expressions) {
    std::optional<analysis::SeparatedExpr> parts =
        analysis::separate(expression, dims, request.symbols);
    if (!parts)
      return std::nullopt;
    std::optional<std::vector<int64_t>> own = valuesOf(parts->dims, request.loop->extents);
    if (!own)
      return std::nullopt;
    ranges.push_back({std::move(*own), analyzeIndexExpr(parts->symbols, dims, request.symbols)});
  }
  return ranges;
}

std::optional<CoordinateRanges> getCoordinateRanges(const Request &request) {
  if (!request.hasCoordinates())
    return std::nullopt;
  return getRanges(request.coordinates, request);
}

std::optional<CoordinateRanges> getTestRanges(const Request &request) {
  SmallVector<IndexExpr, 2> values;
  for (const BranchTest &test : request.tests)
    values.push_back(test.value);
  return getRanges(values, request);
}

} // namespace tilewright::access
