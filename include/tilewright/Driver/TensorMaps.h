//===- TensorMaps.h - the tensor maps of a call -------------------------------------*- C++ -*-===//
//
// Compiled code says how its tensor maps are made (nvptx::TensorMapRecipe). A launch evaluates that
// for its arguments and has the maps encoded by whoever runs the code: NVIDIA's driver or the
// virtual GPU. A call whose maps cannot be made runs code that was compiled without them
// (CallFacts::tensorMaps); it is never an error.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_TENSORMAPS_H
#define TILEWRIGHT_DRIVER_TENSORMAPS_H

#include "tilewright/Codegen/Nvptx/Ptx.h"
#include "tilewright/Support/Forks.h"

#include <functional>
#include <memory>

namespace tilewright::driver {

/// The numbers of a call: one entry for each argument of the function, then one for each workspace.
/// `addresses` are those of tensors and workspaces, `numbers` the values of integers.
struct LaunchValues {
  llvm::ArrayRef<uint64_t> addresses;
  llvm::ArrayRef<int64_t> numbers; ///< Of arguments only.
};

/// The map of a recipe for a call; nothing if it is beyond TMA's limits: an address or a stride that
/// 16 does not divide, an extent of 0.
std::optional<TensorMap> evaluateTensorMap(const nvptx::TensorMapRecipe &recipe,
                                           const LaunchValues &values);

/// The encoded maps of a function's kernels. Calls with equal addresses and numbers are frequent,
/// so the maps of the latest few are kept. Several threads may use it at once.
class TensorMapCache {
public:
  /// The maps of one call, for each kernel those of its recipes.
  using Maps = std::vector<std::vector<EncodedTensorMap>>;
  /// Encodes a map, or gives nothing if it cannot.
  using Encoder = llvm::function_ref<std::optional<EncodedTensorMap>(const TensorMap &)>;

  explicit TensorMapCache(llvm::ArrayRef<nvptx::KernelInfo> kernels);
  bool isEmpty() const { return recipes.empty(); }
  /// The maps for a call; null if one of them cannot be made.
  std::shared_ptr<const Maps> get(const LaunchValues &values, Encoder encode);

private:
  static constexpr size_t kMaxEntries = 16;
  /// All that the maps depend on: addresses in the order of recipes, then numbers.
  using Key = llvm::SmallVector<uint64_t, 16>;
  struct Entry {
    Key key;
    std::shared_ptr<const Maps> maps;
  };
  Key makeKey(const LaunchValues &values) const;
  std::shared_ptr<const Maps> make(const LaunchValues &values, Encoder encode) const;

  struct Recipe {
    size_t kernel;
    nvptx::TensorMapRecipe recipe;
  };
  size_t numKernels;
  std::vector<Recipe> recipes;
  llvm::SmallVector<unsigned> arguments; ///< Whose numbers occur in formulas, in order.
  ForkedMutex mutex;
  std::vector<Entry> entries; ///< The latest first. Guarded by the mutex.
};

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_TENSORMAPS_H
