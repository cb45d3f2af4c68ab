//===- TensorMapCache.h - the tensor maps of recent calls ---------------------------*- C++ -*-===//
//
// Compiled code says how its tensor maps are made (Rt/GpuCode.h). A launch evaluates that for its
// arguments and has the maps encoded by NVIDIA's driver.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RT_TENSORMAPCACHE_H
#define TILEWRIGHT_RT_TENSORMAPCACHE_H

#include "tilewright/Rt/GpuCode.h"
#include "tilewright/Support/Forks.h"
#include "tilewright/Support/FunctionRef.h"

#include <memory>

namespace tilewright::rt {

/// The encoded maps of a function's kernels. Calls with equal addresses and numbers are frequent,
/// so the maps of the latest few are kept. Several threads may use it at once.
class TensorMapCache {
public:
  /// The maps of one call, for each kernel those of its recipes.
  using Maps = std::vector<std::vector<EncodedTensorMap>>;
  /// Encodes a map, or gives nothing if it cannot.
  using Encoder = FunctionRef<std::optional<EncodedTensorMap>(const TensorMap &)>;

  explicit TensorMapCache(std::span<const GpuKernel> kernels);
  bool isEmpty() const { return recipes.empty(); }
  /// The maps for a call; null if one of them cannot be made.
  std::shared_ptr<const Maps> get(const LaunchValues &values, Encoder encode);

private:
  static constexpr size_t kMaxEntries = 16;
  /// All that the maps depend on: addresses in the order of recipes, then numbers.
  using Key = std::vector<uint64_t>;
  struct Entry {
    Key key;
    std::shared_ptr<const Maps> maps;
  };
  Key makeKey(const LaunchValues &values) const;
  std::shared_ptr<const Maps> make(const LaunchValues &values, Encoder encode) const;

  struct Recipe {
    size_t kernel;
    TensorMapRecipe recipe;
  };
  size_t numKernels;
  std::vector<Recipe> recipes;
  std::vector<unsigned> arguments; ///< Whose numbers occur in formulas, in order.
  ForkedMutex mutex;
  std::vector<Entry> entries; ///< The latest first. Guarded by the mutex.
};

} // namespace tilewright::rt

#endif // TILEWRIGHT_RT_TENSORMAPCACHE_H
