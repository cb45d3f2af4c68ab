//===- GpuCode.cpp - compiled GPU code as a launch needs it -----------------------------------===//

#include "tilewright/Rt/GpuCode.h"
#include "tilewright/Rt/FloatFormats.h"
#include "tilewright/Support/IndexMath.h"

#include <bit>

namespace tilewright::rt {

/// The value of a formula; nothing if there is none, or it has none.
static std::optional<int64_t> evaluate(const LaunchFormulas::MaybeFormula &formula,
                                       std::span<const int64_t> numbers) {
  return formula ? formula->evaluate(numbers) : std::nullopt;
}

Result<std::vector<LaunchFormulas::Grid>>
LaunchFormulas::evaluateGrids(std::span<const int64_t> numbers) const {
  std::vector<Grid> evaluated;
  for (const std::vector<MaybeFormula> &extents : grids) {
    Grid &grid = evaluated.emplace_back(Grid{1, 1, 1});
    for (size_t position = 0; position < extents.size(); ++position) {
      std::optional<int64_t> value = evaluate(extents[position], numbers);
      if (!value)
        return Failure{"the grid of a kernel is not a formula of shapes and integers"};
      if (*value < 0 || *value > INT32_MAX)
        return Failure{"grid extent " + std::to_string(*value) + " is not between 0 and 2^31 - 1"};
      grid[position] = *value;
    }
  }
  return evaluated;
}

Result<std::vector<int64_t>>
LaunchFormulas::evaluateWorkspaces(std::span<const int64_t> numbers) const {
  std::vector<int64_t> sizes;
  for (const Workspace &workspace : workspaces) {
    std::optional<int64_t> bytes = workspace.elementBytes;
    for (const MaybeFormula &extent : workspace.extents) {
      std::optional<int64_t> value = evaluate(extent, numbers);
      if (!value || *value < 0)
        return Failure{"an extent of workspace '" + workspace.name +
                       "' is no formula of shapes and integers"};
      bytes = bytes ? checkedMul(*bytes, *value) : std::nullopt;
    }
    if (!bytes)
      return Failure{"no memory holds workspace '" + workspace.name + "'"};
    sizes.push_back(*bytes);
  }
  return sizes;
}

PackedNumber packNumber(const Signature &signature, unsigned position, uint64_t slot) {
  if (position >= signature.parameters.size()) // the value of a symbol
    return {slot, 8};
  const Parameter &parameter = signature.parameters[position];
  std::optional<FloatFormat> format = findFloatFormat(parameter.dtype);
  if (parameter.numberClass == NumberClass::Float && format)
    slot = encode(std::bit_cast<double>(slot), *format);
  return {slot, parameter.elementBytes};
}

//===----------------------------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------------------------===//

/// The values of formulas; false if one has none.
static bool evaluate(std::span<const Formula> formulas, std::span<const int64_t> numbers,
                     std::vector<uint64_t> &values) {
  for (const Formula &formula : formulas) {
    std::optional<int64_t> value = formula.evaluate(numbers);
    if (!value || *value < 0)
      return false;
    values.push_back(*value);
  }
  return true;
}

std::optional<TensorMap> evaluateTensorMap(const TensorMapRecipe &recipe,
                                           const LaunchValues &values) {
  TensorMap map;
  if (recipe.argument >= values.addresses.size() || // an entry of the cache that is damaged
      !evaluate(recipe.extents, values.numbers, map.extents) ||
      !evaluate(recipe.strideBytes, values.numbers, map.strideBytes))
    return std::nullopt;
  map.address = values.addresses[recipe.argument];
  map.type = recipe.type;
  map.box = recipe.box;
  map.steps = recipe.steps;
  map.swizzleBytes = recipe.swizzleBytes;
  map.fillsNan = recipe.fillsNan;
  map.promotionBytes = recipe.promotionBytes;
  if (!isWithinLimits(map))
    return std::nullopt;
  return map;
}

} // namespace tilewright::rt
