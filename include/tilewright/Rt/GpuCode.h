//===- GpuCode.h - compiled GPU code as a launch needs it ---------------------------*- C++ -*-===//
//
// The grids, the workspaces (`T.alloc_global` and its kin) and the tensor maps of a call, as
// formulas of the function's integer arguments: dim k is the value of argument k. The same for the virtual GPU and a
// real one, for code that was compiled now and code of a library.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RT_GPUCODE_H
#define TILEWRIGHT_RT_GPUCODE_H

#include "tilewright/Rt/Signature.h"
#include "tilewright/Target/TensorMap.h"

#include <array>

namespace tilewright::rt {

/// How the tensor map of a launch is made (Target/TensorMap.h).
struct TensorMapRecipe {
  unsigned argument = 0; ///< Whose address: the function's arguments in order, then its workspaces.
  TensorMapType type = TensorMapType::F32;
  std::vector<Formula> extents, strideBytes;
  std::vector<uint32_t> box, steps;
  unsigned swizzleBytes = 0;
  bool fillsNan = false;
  unsigned promotionBytes = 0;
};

/// One kernel of a function.
struct GpuKernel {
  std::string name;
  unsigned numThreads = 0, sharedBytes = 0; ///< Dynamic shared memory.
  std::vector<TensorMapRecipe> maps;        ///< In the order of the parameters.
  /// It may start while the launch before it still runs: it waits itself (griddepcontrol).
  bool overlapsLaunch = false;
};

/// What launching a function depends on.
struct LaunchFormulas {
  using Grid = std::array<int64_t, 3>;
  /// Nothing for a value that is no arithmetic of shapes and integers.
  using MaybeFormula = std::optional<Formula>;
  struct Workspace {
    std::string name;
    int64_t elementBytes = 1;
    std::vector<MaybeFormula> extents;
  };
  std::vector<std::vector<MaybeFormula>> grids; ///< In launch order.
  std::vector<Workspace> workspaces;

  /// The grid of each kernel, in launch order. `numbers` has an entry for each argument of the function, of
  /// which those of integers count.
  Result<std::vector<Grid>> evaluateGrids(std::span<const int64_t> numbers) const;
  /// The bytes of each workspace, in order.
  Result<std::vector<int64_t>> evaluateWorkspaces(std::span<const int64_t> numbers) const;
};

/// The value of an argument that is a number, as a parameter of GPU code, and its bytes.
struct PackedNumber {
  uint64_t bits;
  unsigned bytes;
};
PackedNumber packNumber(const Signature &signature, unsigned position, uint64_t slot);

/// The numbers of a call: one entry for each argument of the function, then one for each workspace.
/// `addresses` are those of tensors and workspaces, `numbers` the values of integers.
struct LaunchValues {
  std::span<const uint64_t> addresses;
  std::span<const int64_t> numbers; ///< Of arguments only.
};

/// The map of a recipe for a call; nothing if it is beyond TMA's limits: an address or a stride that
/// 16 does not divide, an extent of 0. A call whose maps cannot be made runs code that was compiled
/// without them; it is never an error.
std::optional<TensorMap> evaluateTensorMap(const TensorMapRecipe &recipe,
                                           const LaunchValues &values);

} // namespace tilewright::rt

#endif // TILEWRIGHT_RT_GPUCODE_H
