//===- Storage.h - the bytes of an allocation and what is known about them --------*- C++ -*-===//
//
// A storage holds one root: an argument or an allocation. Beside the bytes lie shadows, one entry
// for each granule, the smallest element size under which any view sees the root:
//
//   poison   the granule was never written (allocations, and results that the call allocates)
//   radius   the error radius of the float that begins here; -1 inside an element (bounds only)
//   marks    which iterations and blocks touched it (checks only)
//
// Elements are named by their row-major logical number in a shape; `forEachPiece` turns that into
// physical bytes, through the layout if the storage has one. Shadows follow the physical bytes, so
// that kernels with different annotations of one tensor see one truth.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_INTERP_STORAGE_H
#define TILEWRIGHT_LIB_INTERP_STORAGE_H

#include "LayoutMap.h"
#include "ShadowArray.h"
#include "tilewright/Interp/Numeric.h"
#include "tilewright/Tile/Tile.h"
#include <limits>
#include <optional>
#include <vector>

namespace tilewright::interp {

inline constexpr double kUndecided = std::numeric_limits<double>::infinity();

/// A scalar in flight: an integer in canonical form or a float, and what is known about it.
struct Scalar {
  union {
    int64_t integer = 0;
    double real;
  };
  double radius = 0; ///< How far the true value may lie; kUndecided for a choice made by rounding.
  bool isPoison = false; ///< Depends on an element that was never written.

  static Scalar ofInteger(int64_t integer) {
    Scalar value;
    value.integer = integer;
    return value;
  }
  static Scalar ofReal(double real) {
    Scalar value;
    value.real = real;
    return value;
  }
};

/// The bits of an element and what is known about them.
struct Cell {
  uint64_t bits = 0;
  double radius = 0;
  bool isPoison = false;
};

Scalar unpack(Format format, const Cell &cell);
Cell pack(Format format, const Scalar &value);

/// Who touched a granule. Two different actors of each kind suffice to tell, for any third one,
/// whether another than itself was there. Numbers below an epoch's base belong to the past.
struct Marks {
  uint32_t writers[2];
  uint32_t readers[2];
  uint32_t updaters[2];
  uint32_t exchangers[2]; // atomic stores: updates that do not commute
};

/// What an atomically summed element has received, for its radius (Bounds.cpp).
struct SumShadow {
  double magnitude;
  double inputRadius;
  double count;
};

struct Storage {
  std::string name;
  tile::Space space;
  Format format;
  llvm::SmallVector<int64_t, 4> shape;
  uint8_t *bytes = nullptr;
  ShadowArray<uint8_t> owned; ///< The bytes, if this is an allocation.
  int64_t physicalElements = 0;
  unsigned granuleBytes = 1;
  std::optional<LayoutMap> layout;
  Cell safeValue;             ///< What a read outside gives; zero unless annotated.
  bool isVariable = false;    ///< A rank-0 local: private to an iteration that assigns it first.
  uint32_t iterationBase = 0; ///< Iterations before this one used an earlier life of the storage.

  ShadowArray<uint8_t> poison;
  ShadowArray<double> radius;
  ShadowArray<SumShadow> sums;
  ShadowArray<Marks> iterationMarks;
  ShadowArray<Marks> blockMarks;

  bool isOnChip() const { return space != tile::Space::Global; }
  int64_t countGranules() const { return physicalElements * getBytes(format) / granuleBytes; }

  /// Gives the storage memory of its own, all poison.
  void allocate(bool tracksPoison);
  /// Starts a new life of an allocation: nothing is written.
  void forget();
  /// Sets all of an allocation to zero.
  void clear();
  /// All of it is poison from now on.
  void markUnwritten();
  /// Holds what another life of the same allocation holds.
  void copyFrom(const Storage &other) { restore(other.save()); }

  /// The bytes of an allocation and what is known about them, without who touched them.
  struct Contents {
    std::vector<uint8_t> bytes, poison;
    std::vector<double> radius;
    std::vector<SumShadow> sums;
  };
  Contents save() const;
  void restore(const Contents &contents);

  /// Calls `visit(byteOffset, byteCount, shift)` for each run of bytes of an element; `shift` is
  /// the offset of the run in the element, in bytes. One run unless a layout tears the element
  /// apart.
  template <typename VisitT> void forEachPiece(int64_t element, unsigned size, VisitT &&visit) {
    if (!layout) {
      visit(element * size, size, 0u);
      return;
    }
    unsigned rootSize = getBytes(format);
    int64_t logical = element * size;
    if (size <= rootSize) {
      visit(layout->getOffset(logical / rootSize) * rootSize + logical % rootSize, size, 0u);
      return;
    }
    for (unsigned shift = 0; shift < size; shift += rootSize)
      visit(layout->getOffset((logical + shift) / rootSize) * rootSize, rootSize, shift);
  }

  Cell read(int64_t element, unsigned size);
  void write(int64_t element, unsigned size, const Cell &cell);
  /// Sets only the radius: how a branch not taken, but possible, leaves its mark.
  void markUndecided(int64_t element, unsigned size);
  void markAllUndecided();

private:
  Cell readPlain(int64_t offset, unsigned size) const;
  double readRadius(int64_t offset, unsigned size) const;
  void writeRadius(int64_t offset, unsigned size, double value);
};

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_STORAGE_H
