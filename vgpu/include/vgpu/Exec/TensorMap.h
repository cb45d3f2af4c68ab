//===- TensorMap.h - what a TMA descriptor says --------------------------------------------===//
//
// A tensor map describes an array in global memory and the box that one cp.async.bulk.tensor moves
// (CUDA: CUtensorMap, 128 opaque bytes). The virtual GPU has an encoding of its own; kernels only
// pass the bytes on. Dimensions are in TMA's order, the innermost first. A map is for boxes (tiled
// mode) or for columns of pixels (im2col).
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_EXEC_TENSORMAP_H
#define VGPU_EXEC_TENSORMAP_H

#include "vgpu/Ptx/Types.h"
#include "llvm/Support/Error.h"
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace vgpu {

constexpr unsigned tensorMapBytes = 128;

/// How the 16-byte chunks of a box are permuted in shared memory; the value is the number of
/// address bits 7, 8, ... that are xored into the chunk number.
enum class Swizzle : uint8_t { None = 0, B32 = 1, B64 = 2, B128 = 3 };

/// Bytes of a row that a swizzle permutes among each other.
constexpr unsigned swizzleSpan(Swizzle swizzle) { return 16u << static_cast<unsigned>(swizzle); }

/// Where the swizzle puts a byte: bits 4... of the address are xored with bits 7....
constexpr uint64_t swizzleAddress(uint64_t address, Swizzle swizzle) {
  uint64_t chunks = swizzleSpan(swizzle) / 16 - 1;
  return address ^ ((address >> 7 & chunks) << 4);
}

/// Im2col mode (cuTensorMapEncodeIm2col): the innermost dimension are channels, the outermost images,
/// those between them have a bounding box, in which a copy goes from pixel to pixel.
struct PixelColumn {
  std::vector<int32_t> lower, upper; ///< corners: of the first pixel, and beyond the last one
  uint32_t pixels = 1;
};

struct TensorMap {
  uint64_t address = 0; ///< device address of element 0
  ptx::Type type = ptx::Type::F32;
  Swizzle swizzle = Swizzle::None;
  bool fillsNan = false;                ///< what loads give outside the tensor: NaN, or zero
  std::vector<uint32_t> extents;        ///< elements
  std::vector<uint64_t> strideBytes;    ///< of dimensions 1, 2, ...; one less than extents
  std::vector<uint32_t> box;            ///< elements; Im2col: channels of a pixel, else 1
  std::vector<uint32_t> elementStrides; ///< elements between those loaded; empty: all 1

  std::optional<PixelColumn> column; ///< im2col mode

  unsigned rank() const { return static_cast<unsigned>(extents.size()); }
  unsigned elementBytes() const { return ptx::byteWidth(type); }
  uint64_t boxBytes() const;

  /// What the driver's cuTensorMapEncodeTiled would refuse, in words.
  llvm::Error check() const;
  std::array<uint8_t, tensorMapBytes> encode() const;
  /// False if the bytes are no encoded tensor map.
  static bool decode(const uint8_t *bytes, TensorMap &map);
};

/// "none", "32B", "64B", "128B".
llvm::Expected<Swizzle> parseSwizzle(llvm::StringRef name);

} // namespace vgpu

#endif // VGPU_EXEC_TENSORMAP_H
