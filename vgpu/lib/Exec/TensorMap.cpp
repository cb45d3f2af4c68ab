//===- TensorMap.cpp - what a TMA descriptor says -------------------------------------------===//
//
// The limits are those of cuTensorMapEncodeTiled (CUDA driver API). One is ours: the innermost row
// of a swizzled box must be as wide as the swizzle, because what hardware does with narrower ones
// is not documented and nothing here could validate it.
//
//===-----------------------------------------------------------------------------------===//
#include "vgpu/Exec/TensorMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

namespace vgpu {

namespace {

constexpr uint64_t magic = 0x50414d524f534e54ull; // "TNSORMAP", little-endian
constexpr unsigned maxRank = 5;
constexpr uint64_t maxBoxBytes = 1 << 18;

/// The bytes of an encoded map.
struct Encoded {
  uint64_t magic;
  uint64_t address;
  uint8_t rank, type, swizzle, fillsNan;
  uint32_t extents[maxRank];
  uint64_t strideBytes[maxRank - 1];
  uint16_t box[maxRank];
  uint8_t elementStrides[maxRank];
  uint8_t isIm2col;
  uint16_t pixels;
  int16_t lower[maxRank - 2], upper[maxRank - 2];
};
static_assert(sizeof(Encoded) <= tensorMapBytes);

template <class... Values> llvm::Error refuse(const char *format, Values &&...values) {
  return llvm::createStringError("tensor map: " +
                                 llvm::formatv(format, std::forward<Values>(values)...).str());
}

} // namespace

uint64_t TensorMap::boxBytes() const {
  uint64_t bytes = elementBytes();
  for (size_t i = 0; i < box.size(); ++i) {
    uint64_t step = elementStrides.empty() ? 1 : elementStrides[i];
    bytes *= (box[i] + step - 1) / step;
  }
  return column ? bytes * column->pixels : bytes;
}

/// What cuTensorMapEncodeIm2col says of the corners, by the number of dimensions between channels and
/// images.
static llvm::Error checkColumn(const TensorMap &map) {
  const PixelColumn &column = *map.column;
  if (map.rank() < 3)
    return refuse("im2col mode needs 3 to 5 dimensions, got {0}", map.rank());
  unsigned inner = map.rank() - 2;
  if (column.lower.size() != inner || column.upper.size() != inner)
    return refuse(
        "the corners have {0} and {1} dimensions, the tensor has {2} between channels and "
        "images",
        column.lower.size(), column.upper.size(), inner);
  int32_t most = inner == 1 ? 1 << 15 : inner == 2 ? 1 << 7 : 1 << 4;
  for (unsigned i = 0; i < inner; ++i) {
    for (int32_t corner : {column.lower[i], column.upper[i]})
      if (corner < -most || corner >= most)
        return refuse("a corner of {0}; {1} to {2} are possible", corner, -most, most - 1);
    if (int64_t(map.extents[i + 1]) - 1 + column.upper[i] < column.lower[i])
      return refuse("the bounding box has no pixels in dimension {0}", i + 1);
  }
  if (column.pixels == 0 || column.pixels > 1024)
    return refuse("a column of {0} pixels; 1 to 1024 are possible", column.pixels);
  for (unsigned i = 1; i < map.rank(); ++i)
    if (map.box[i] != 1)
      return refuse("in im2col mode the box has channels only");
  return llvm::Error::success();
}

llvm::Error TensorMap::check() const {
  if (rank() < 1 || rank() > maxRank)
    return refuse("{0} dimensions; 1 to 5 are possible", rank());
  if (box.size() != rank() || strideBytes.size() + 1 != rank() ||
      (!elementStrides.empty() && elementStrides.size() != rank()))
    return refuse("the box, the strides and the shape have different numbers of dimensions");
  switch (type) {
  case ptx::Type::U8:
  case ptx::Type::U16:
  case ptx::Type::U32:
  case ptx::Type::S32:
  case ptx::Type::U64:
  case ptx::Type::S64:
  case ptx::Type::F16:
  case ptx::Type::BF16:
  case ptx::Type::F32:
  case ptx::Type::F64:
    break;
  default:
    return refuse("elements of type {0} are not possible", ptx::typeName(type));
  }
  if (address % 16 != 0)
    return refuse("the address of the array must be a multiple of 16");
  for (unsigned i = 0; i < rank(); ++i) {
    if (extents[i] == 0)
      return refuse("dimension {0} has no elements", i);
    if (box[i] == 0 || box[i] > 256)
      return refuse("the box has {0} elements in dimension {1}; 1 to 256 are possible", box[i], i);
    if (!elementStrides.empty() && (elementStrides[i] == 0 || elementStrides[i] > 8))
      return refuse("an element stride of {0}; 1 to 8 are possible", elementStrides[i]);
    if (i > 0 && (strideBytes[i - 1] % 16 != 0 || strideBytes[i - 1] >= uint64_t(1) << 40))
      return refuse("a stride of {0} bytes in dimension {1}; it must be a multiple of 16 below "
                    "2^40",
                    strideBytes[i - 1], i);
  }
  if (column)
    if (llvm::Error error = checkColumn(*this))
      return error;
  unsigned rowBytes = box[0] * elementBytes();
  if (rowBytes % 16 != 0)
    return refuse("the innermost row of the box has {0} bytes, not a multiple of 16", rowBytes);
  if (swizzle != Swizzle::None && rowBytes > swizzleSpan(swizzle))
    return refuse("the innermost row of the box has {0} bytes, more than the swizzle's {1}",
                  rowBytes, swizzleSpan(swizzle));
  if (swizzle != Swizzle::None && rowBytes < swizzleSpan(swizzle))
    return refuse("the innermost row of the box has {0} bytes; rows narrower than the swizzle's "
                  "{1} are not supported",
                  rowBytes, swizzleSpan(swizzle));
  if (boxBytes() > maxBoxBytes)
    return refuse("the box has {0} bytes, more than shared memory can have", boxBytes());
  if (fillsNan && !ptx::isFloat(type))
    return refuse("elements outside can be NaN only in floating-point tensors");
  return llvm::Error::success();
}

std::array<uint8_t, tensorMapBytes> TensorMap::encode() const {
  Encoded encoded = {};
  encoded.magic = magic;
  encoded.address = address;
  encoded.rank = static_cast<uint8_t>(rank());
  encoded.type = static_cast<uint8_t>(type);
  encoded.swizzle = static_cast<uint8_t>(swizzle);
  encoded.fillsNan = fillsNan;
  for (unsigned i = 0; i < rank(); ++i) {
    encoded.extents[i] = extents[i];
    encoded.box[i] = static_cast<uint16_t>(box[i]);
    encoded.elementStrides[i] =
        static_cast<uint8_t>(elementStrides.empty() ? 1 : elementStrides[i]);
    if (i > 0)
      encoded.strideBytes[i - 1] = strideBytes[i - 1];
  }
  if (column) {
    encoded.isIm2col = 1;
    encoded.pixels = static_cast<uint16_t>(column->pixels);
    for (size_t i = 0; i < column->lower.size(); ++i) {
      encoded.lower[i] = static_cast<int16_t>(column->lower[i]);
      encoded.upper[i] = static_cast<int16_t>(column->upper[i]);
    }
  }
  std::array<uint8_t, tensorMapBytes> bytes = {};
  std::memcpy(bytes.data(), &encoded, sizeof(encoded));
  return bytes;
}

bool TensorMap::decode(const uint8_t *bytes, TensorMap &map) {
  Encoded encoded;
  std::memcpy(&encoded, bytes, sizeof(encoded));
  if (encoded.magic != magic || encoded.rank == 0 || encoded.rank > maxRank)
    return false;
  map.address = encoded.address;
  map.type = static_cast<ptx::Type>(encoded.type);
  map.swizzle = static_cast<Swizzle>(encoded.swizzle);
  map.fillsNan = encoded.fillsNan;
  map.extents.assign(encoded.extents, encoded.extents + encoded.rank);
  map.strideBytes.assign(encoded.strideBytes, encoded.strideBytes + (encoded.rank - 1));
  map.box.assign(encoded.box, encoded.box + encoded.rank);
  map.elementStrides.assign(encoded.elementStrides, encoded.elementStrides + encoded.rank);
  map.column.reset();
  if (encoded.isIm2col) {
    if (encoded.rank < 3)
      return false;
    size_t inner = encoded.rank - 2u;
    map.column = PixelColumn{{encoded.lower, encoded.lower + inner},
                             {encoded.upper, encoded.upper + inner},
                             encoded.pixels};
  }
  return !llvm::errorToBool(map.check());
}

llvm::Expected<Swizzle> parseSwizzle(llvm::StringRef name) {
  std::optional<Swizzle> swizzle = llvm::StringSwitch<std::optional<Swizzle>>(name)
                                       .Case("none", Swizzle::None)
                                       .Case("32B", Swizzle::B32)
                                       .Case("64B", Swizzle::B64)
                                       .Case("128B", Swizzle::B128)
                                       .Default(std::nullopt);
  if (!swizzle)
    return refuse("unknown swizzle '{0}'; there are none, 32B, 64B and 128B", name);
  return *swizzle;
}

} // namespace vgpu
