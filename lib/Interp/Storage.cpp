//===- Storage.cpp - the bytes of an allocation and what is known about them ------------------===//

#include "Storage.h"
#include <algorithm>
#include <cstring>

using namespace tilewright;
using namespace tilewright::interp;

/// Unwritten memory: NaN for floats, -1 for integers, so that its use shows without checks too.
static constexpr uint8_t kUnwrittenByte = 0xff;
/// A granule inside an element whose radius stands at its first granule.
static constexpr double kInside = -1;

Scalar tilewright::interp::unpack(Format format, const Cell &cell) {
  Scalar value;
  if (isFloat(format))
    value.real = decodeFloat(format, cell.bits);
  else if (format == Format::Bool)
    value.integer = cell.bits != 0; // any byte but zero is true
  else
    value.integer = wrap(static_cast<int64_t>(cell.bits), getBits(format));
  value.radius = cell.radius;
  value.isPoison = cell.isPoison;
  return value;
}

Cell tilewright::interp::pack(Format format, const Scalar &value) {
  Cell cell;
  cell.bits =
      isFloat(format) ? packFloat(format, value.real) : asUnsigned(value.integer, getBits(format));
  cell.radius = value.radius;
  cell.isPoison = value.isPoison;
  return cell;
}

void Storage::allocate(bool tracksPoison) {
  owned = ShadowArray<uint8_t>(physicalElements * getBytes(format));
  bytes = owned.data();
  if (tracksPoison)
    markUnwritten();
  forget();
}

void Storage::markUnwritten() {
  poison = ShadowArray<uint8_t>(countGranules());
  std::memset(poison.data(), 1, poison.size());
}

void Storage::forget() {
  std::memset(owned.data(), kUnwrittenByte, owned.size());
  if (!poison.empty())
    std::memset(poison.data(), 1, poison.size());
  if (!radius.empty())
    std::memset(radius.data(), 0, radius.size() * sizeof(double));
  if (!sums.empty())
    std::memset(sums.data(), 0, sums.size() * sizeof(SumShadow));
}

void Storage::clear() {
  std::memset(owned.data(), 0, owned.size());
  if (!poison.empty())
    std::memset(poison.data(), 0, poison.size());
}

template <typename T> static std::vector<T> copyOf(const ShadowArray<T> &array) {
  return std::vector<T>(array.data(), array.data() + array.size());
}

Storage::Contents Storage::save() const {
  return {copyOf(owned), copyOf(poison), copyOf(radius), copyOf(sums)};
}

void Storage::restore(const Contents &contents) {
  llvm::copy(contents.bytes, owned.data());
  llvm::copy(contents.poison, poison.data());
  llvm::copy(contents.radius, radius.data());
  sums = ShadowArray<SumShadow>(contents.sums.size()); // none before the first atomic
  llvm::copy(contents.sums, sums.data());
}

/// Loads and stores of a size known to the compiler, which a variable one would hide from it.
static uint64_t loadBits(const uint8_t *from, unsigned size) {
  uint64_t bits = 0;
  switch (size) {
  case 1:
    return *from;
  case 2:
    std::memcpy(&bits, from, 2);
    return bits;
  case 4:
    std::memcpy(&bits, from, 4);
    return bits;
  default:
    std::memcpy(&bits, from, 8);
    return bits;
  }
}

static void storeBits(uint8_t *to, uint64_t bits, unsigned size) {
  switch (size) {
  case 1:
    *to = static_cast<uint8_t>(bits);
    return;
  case 2:
    std::memcpy(to, &bits, 2);
    return;
  case 4:
    std::memcpy(to, &bits, 4);
    return;
  default:
    std::memcpy(to, &bits, 8);
    return;
  }
}

double Storage::readRadius(int64_t offset, unsigned size) const {
  int64_t first = offset / granuleBytes, last = (offset + size - 1) / granuleBytes;
  double result = radius[first];
  if (result == kInside) // part of a wider element: its error has no meaning in these bits
    return kUndecided;
  for (int64_t granule = first + 1; granule <= last; ++granule)
    if (radius[granule] > 0)
      return kUndecided;
  bool isWhole = last + 1 >= static_cast<int64_t>(radius.size()) || radius[last + 1] != kInside;
  return isWhole || result == 0 ? result : kUndecided;
}

void Storage::writeRadius(int64_t offset, unsigned size, double value) {
  int64_t first = offset / granuleBytes, last = (offset + size - 1) / granuleBytes;
  radius[first] = value;
  for (int64_t granule = first + 1; granule <= last; ++granule)
    radius[granule] = kInside;
}

Cell Storage::readPlain(int64_t offset, unsigned size) const {
  Cell cell;
  cell.bits = loadBits(bytes + offset, size);
  if (!poison.empty())
    for (int64_t granule = offset / granuleBytes, end = (offset + size - 1) / granuleBytes;
         granule <= end; ++granule)
      cell.isPoison |= poison[granule] != 0;
  if (!radius.empty())
    cell.radius = readRadius(offset, size);
  return cell;
}

Cell Storage::read(int64_t element, unsigned size) {
  if (!layout)
    return readPlain(element * size, size);
  Cell whole;
  forEachPiece(element, size, [&](int64_t offset, unsigned count, unsigned shift) {
    Cell piece = readPlain(offset, count);
    whole.bits |= piece.bits << (8 * shift);
    whole.isPoison |= piece.isPoison;
    whole.radius = std::max(whole.radius, shift && piece.radius > 0 ? kUndecided : piece.radius);
  });
  return whole;
}

void Storage::write(int64_t element, unsigned size, const Cell &cell) {
  forEachPiece(element, size, [&](int64_t offset, unsigned count, unsigned shift) {
    storeBits(bytes + offset, cell.bits >> (8 * shift), count);
    if (!poison.empty())
      std::memset(poison.data() + offset / granuleBytes, cell.isPoison,
                  std::max(1u, count / granuleBytes));
    if (!radius.empty())
      writeRadius(offset, count, shift && cell.radius > 0 ? kUndecided : cell.radius);
    if (!sums.empty())
      sums[offset / granuleBytes].count = 0;
  });
}

void Storage::markUndecided(int64_t element, unsigned size) {
  forEachPiece(element, size, [&](int64_t offset, unsigned count, unsigned) {
    writeRadius(offset, count, kUndecided);
  });
}

void Storage::markAllUndecided() {
  for (int64_t granule = 0, end = radius.size(); granule < end; ++granule)
    if (radius[granule] != kInside)
      radius[granule] = kUndecided;
}
