//===- TensorMaps.cpp - the tensor maps of a call ---------------------------------------------===//

#include "tilewright/Driver/TensorMaps.h"

using namespace llvm;

namespace tilewright::driver {

/// The values of formulas; false if one has none.
static bool evaluate(ArrayRef<IndexExpr> formulas, ArrayRef<int64_t> numbers,
                     SmallVectorImpl<uint64_t> &values) {
  for (const IndexExpr &formula : formulas) {
    std::optional<int64_t> value = formula.getNumDims() <= numbers.size()
                                       ? formula.evaluate(numbers)
                                       : std::nullopt; // an entry of the cache that is damaged
    if (!value || *value < 0)
      return false;
    values.push_back(*value);
  }
  return true;
}

std::optional<TensorMap> evaluateTensorMap(const nvptx::TensorMapRecipe &recipe,
                                           const LaunchValues &values) {
  TensorMap map;
  if (recipe.argument >= values.addresses.size() ||
      !evaluate(recipe.extents, values.numbers, map.extents) ||
      !evaluate(recipe.strideBytes, values.numbers, map.strideBytes))
    return std::nullopt;
  map.address = values.addresses[recipe.argument];
  map.type = recipe.type;
  map.box.assign(recipe.box.begin(), recipe.box.end());
  map.steps.assign(recipe.steps.begin(), recipe.steps.end());
  map.swizzleBytes = recipe.swizzleBytes;
  map.fillsNan = recipe.fillsNan;
  map.promotionBytes = recipe.promotionBytes;
  if (!isWithinLimits(map))
    return std::nullopt;
  return map;
}

TensorMapCache::TensorMapCache(ArrayRef<nvptx::KernelInfo> kernels) : numKernels(kernels.size()) {
  for (auto [position, kernel] : enumerate(kernels))
    for (const nvptx::TensorMapRecipe &recipe : kernel.maps) {
      recipes.push_back({position, recipe});
      for (const std::vector<IndexExpr> *formulas : {&recipe.extents, &recipe.strideBytes})
        for (const IndexExpr &formula : *formulas)
          for (unsigned argument = 0; argument < formula.getNumDims(); ++argument)
            if (formula.dependsOnDim(argument) && !is_contained(arguments, argument))
              arguments.push_back(argument);
    }
}

TensorMapCache::Key TensorMapCache::makeKey(const LaunchValues &values) const {
  Key key;
  for (const Recipe &entry : recipes)
    key.push_back(values.addresses[entry.recipe.argument]);
  for (unsigned argument : arguments)
    key.push_back(values.numbers[argument]);
  return key;
}

std::shared_ptr<const TensorMapCache::Maps> TensorMapCache::make(const LaunchValues &values,
                                                                 Encoder encode) const {
  auto maps = std::make_shared<Maps>(numKernels);
  for (const Recipe &entry : recipes) {
    std::optional<TensorMap> map = evaluateTensorMap(entry.recipe, values);
    std::optional<EncodedTensorMap> encoded = map ? encode(*map) : std::nullopt;
    if (!encoded)
      return nullptr;
    (*maps)[entry.kernel].push_back(*encoded);
  }
  return maps;
}

std::shared_ptr<const TensorMapCache::Maps> TensorMapCache::get(const LaunchValues &values,
                                                                Encoder encode) {
  for (const Recipe &entry : recipes)
    if (entry.recipe.argument >= values.addresses.size())
      return nullptr; // an entry of the disk cache that is damaged
  if (any_of(arguments, [&](unsigned argument) { return argument >= values.numbers.size(); }))
    return nullptr;
  Key key = makeKey(values);
  std::lock_guard lock(mutex);
  auto known = find_if(entries, [&](const Entry &entry) { return entry.key == key; });
  if (known != entries.end()) {
    std::rotate(entries.begin(), known, known + 1);
    return entries.front().maps;
  }
  std::shared_ptr<const Maps> maps = make(values, encode);
  if (!maps)
    return nullptr;
  if (entries.size() == kMaxEntries)
    entries.pop_back();
  entries.insert(entries.begin(), Entry{std::move(key), maps});
  return maps;
}

} // namespace tilewright::driver
