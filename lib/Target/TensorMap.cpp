//===- TensorMap.cpp - what a bulk copy of a tensor is described by ---------------------------===//

#include "tilewright/Target/TensorMap.h"

#include <algorithm>

namespace tilewright {

static constexpr std::array<std::string_view, 10> kTypeNames = {"u8",  "u16", "u32", "s32", "u64",
                                                                "s64", "f16", "f32", "f64", "bf16"};

std::string_view getName(TensorMapType type) { return kTypeNames[size_t(type)]; }

std::optional<TensorMapType> findTensorMapType(std::string_view name) {
  auto found = std::ranges::find(kTypeNames, name);
  if (found == kTypeNames.end())
    return std::nullopt;
  return TensorMapType(found - kTypeNames.begin());
}

bool isWithinLimits(const TensorMap &map) {
  return map.address % 16 == 0 &&
         std::ranges::all_of(map.extents,
                             [](uint64_t extent) { return extent - 1 < uint64_t(1) << 30; }) &&
         std::ranges::all_of(map.strideBytes, [](uint64_t stride) {
           return stride % 16 == 0 && stride < uint64_t(1) << 40;
         });
}

} // namespace tilewright
