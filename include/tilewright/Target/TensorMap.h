//===- TensorMap.h - what a bulk copy of a tensor is described by -------------------*- C++ -*-===//
//
// A tensor map describes a tensor in global memory and the box of it that one bulk copy moves. The
// host encodes it before a launch, in 128 bytes whose meaning only the driver knows
// (cuTensorMapEncodeTiled of the CUDA driver API); kernels pass them on. Dimensions are in the order
// of TMA, the innermost first, whose elements lie side by side. It needs no LLVM.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TARGET_TENSORMAP_H
#define TILEWRIGHT_TARGET_TENSORMAP_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tilewright {

/// The type of an element, by the driver's numbers (CUtensorMapDataType). Types that are not listed
/// are copied as unsigned integers of their size.
enum class TensorMapType : uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16 };

/// "u8", "f16", …, and back.
std::string_view getName(TensorMapType type);
std::optional<TensorMapType> findTensorMapType(std::string_view name);

struct TensorMap {
  static constexpr size_t kMaxRank = 5;
  static constexpr size_t kBytes = 128; ///< Of an encoded map.
  static constexpr size_t kAlignment = 64;

  uint64_t address = 0; ///< Of element 0.
  TensorMapType type = TensorMapType::F32;
  std::vector<uint64_t> extents;
  std::vector<uint64_t> strideBytes; ///< Of dimensions 1, 2, …
  std::vector<uint32_t> box, steps;  ///< `steps` lie between the elements copied.
  unsigned swizzleBytes = 0;         ///< 0, 32, 64 or 128.
  bool fillsNan = false;             ///< Outside the tensor; else zero.
  unsigned promotionBytes = 0;       ///< 0, 64, 128 or 256, to L2.
};

/// An encoded tensor map, at the alignment that a parameter of a kernel has.
struct alignas(TensorMap::kAlignment) EncodedTensorMap {
  std::array<uint8_t, TensorMap::kBytes> bytes{};
};

/// Whether the address, the extents and the strides are within the limits of TMA and of our code: an
/// address and strides that 16 divides, strides below 2^40, extents of 1 to 2^30. (Coordinates have
/// 32 bits with a sign; our kernels clamp larger ones to 2^30, which must lie outside.)
bool isWithinLimits(const TensorMap &map);

} // namespace tilewright

#endif // TILEWRIGHT_TARGET_TENSORMAP_H
