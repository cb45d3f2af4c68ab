//===- AccessModel.h - what an access touches, as code of the loop's variables ------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_PLANCHECK_ACCESSMODEL_H
#define TILEWRIGHT_LIB_PLANCHECK_ACCESSMODEL_H

#include "IndexTape.h"
#include "Subject.h"

namespace tilewright::plancheck {

/// Where one iteration of an access lies, and whether it takes place.
struct Point {
  enum State : uint8_t {
    Runs,
    Off,     ///< A condition around the access is false.
    Unknown, ///< Overflow, or an empty loop around it: the program says nothing about this point.
  };
  State state;
  uint64_t outside; ///< The dimensions of the root whose bounds it leaves, as bits.
  uint64_t taken;   ///< Which of the branches around it, inside the loop, lead to it, as bits.
  int64_t offset;   ///< In elements from the root's first.
};

/// An access inside a loop: its coordinates in the root, its offset in memory, and the conditions
/// around it, all read off the SSA values of the program.
class AccessModel {
public:
  explicit AccessModel(const Subject &subject, tile::TensorMapAttr map = {});

  bool isRead() const { return reads; }
  bool isGlobal() const { return tile::getSpace(root) == tile::Space::Global; }
  mlir::Value getRoot() const { return root; }
  unsigned getRank() const { return coordinates.size(); }
  bool hasDraws() const { return tape.hasDraws(); }

  /// Chooses the values outside the loop; false where the loop does not run under them.
  bool startRound(uint64_t round);
  Point at(llvm::ArrayRef<int64_t> iterators);
  /// The coordinate in a dimension of the root at the last point; nothing where it has none.
  std::optional<int64_t> getCoordinate(unsigned dim) const { return tape.get(coordinates[dim]); }
  /// An extent of the root in this round.
  std::optional<int64_t> getExtent(unsigned dim) const { return tape.get(extents[dim]); }
  /// What the formulas of the tensor map give in this round.
  std::optional<int64_t> getMapExtent(unsigned digit) const { return tape.get(mapExtents[digit]); }
  std::optional<int64_t> getMapStride(unsigned digit) const {
    return digit == 0 ? std::nullopt : tape.get(mapStrides[digit - 1]);
  }

private:
  friend class ModelBuilder;
  struct Condition {
    IndexTape::Register value;
    std::optional<bool> wanted; ///< Either is right as long as there is a value, if not given.
  };
  bool holds(const Condition &condition, bool &isKnown) const;

  mlir::Value root;
  bool reads;
  IndexTape tape;
  llvm::SmallVector<Condition, 4> outerConditions, innerConditions;
  llvm::SmallVector<IndexTape::Register, 4> coordinates, extents;
  llvm::SmallVector<IndexTape::Register, 4> mapExtents, mapStrides;
  IndexTape::Register offset = 0;
};

/// The buffer and the indices of an operation that touches one element.
mlir::Value getBuffer(mlir::Operation *access);
mlir::ValueRange getIndices(mlir::Operation *access);

} // namespace tilewright::plancheck

#endif // TILEWRIGHT_LIB_PLANCHECK_ACCESSMODEL_H
