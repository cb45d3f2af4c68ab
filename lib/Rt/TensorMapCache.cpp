//===- TensorMapCache.cpp - the tensor maps of recent calls -----------------------------------===//

#include "tilewright/Rt/TensorMapCache.h"

#include <algorithm>

namespace tilewright::rt {

TensorMapCache::TensorMapCache(std::span<const GpuKernel> kernels) : numKernels(kernels.size()) {
  for (size_t position = 0; position < kernels.size(); ++position)
    for (const TensorMapRecipe &recipe : kernels[position].maps) {
      recipes.push_back({position, recipe});
      for (const std::vector<Formula> *formulas : {&recipe.extents, &recipe.strideBytes})
        for (const Formula &formula : *formulas)
          for (const Formula::Step &step : formula.getSteps())
            if (step.op == Formula::Op::Dim &&
                std::ranges::find(arguments, step.value) == arguments.end())
              arguments.push_back(unsigned(step.value));
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
  if (std::ranges::any_of(arguments,
                          [&](unsigned argument) { return argument >= values.numbers.size(); }))
    return nullptr;
  Key key = makeKey(values);
  std::lock_guard lock(mutex);
  auto known = std::ranges::find_if(entries, [&](const Entry &entry) { return entry.key == key; });
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

} // namespace tilewright::rt
