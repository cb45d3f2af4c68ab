//===- Elements.cpp - how a running program reaches an element --------------------------------===//
//
// All memory traffic of all statements goes through the few functions here, so that bounds, poison,
// conflicts, declared effects and radii cannot be forgotten by one of them.
//
//===----------------------------------------------------------------------------------------===//

#include "Machine.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace tilewright;
using namespace tilewright::interp;

View View::whole(Storage &storage, Format format, llvm::ArrayRef<int64_t> shape) {
  View view;
  view.storage = &storage;
  view.format = format;
  view.extents.assign(shape.begin(), shape.end());
  view.surface = view.extents;
  view.base.assign(shape.size(), 0);
  view.dims.resize(shape.size());
  std::iota(view.dims.begin(), view.dims.end(), 0u);
  view.steps.assign(shape.size(), 1);
  return view;
}

/// The coordinates on the surface; saturated where they leave 64 bits, which no surface reaches.
static llvm::SmallVector<int64_t, 4> toSurface(const View &view,
                                               llvm::ArrayRef<int64_t> coordinates) {
  llvm::SmallVector<int64_t, 4> result(view.base);
  for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
    int64_t distance, &target = result[view.dims[dim]];
    if (__builtin_mul_overflow(view.steps[dim], coordinate, &distance) ||
        __builtin_add_overflow(target, distance, &target))
      target = std::numeric_limits<int64_t>::max();
  }
  return result;
}

std::optional<int64_t> View::locate(llvm::ArrayRef<int64_t> coordinates) const {
  // Dimensions of a view keep the order of the surface's, so one pass meets both.
  int64_t element = 0;
  size_t dim = 0;
  for (size_t surfaceDim = 0; surfaceDim < surface.size(); ++surfaceDim) {
    int64_t coordinate = base[surfaceDim], distance;
    if (dim < dims.size() && dims[dim] == surfaceDim) {
      if (__builtin_mul_overflow(steps[dim], coordinates[dim], &distance) ||
          __builtin_add_overflow(coordinate, distance, &coordinate))
        return std::nullopt;
      ++dim;
    }
    if (coordinate < 0 || coordinate >= surface[surfaceDim])
      return std::nullopt;
    element = element * surface[surfaceDim] + coordinate;
  }
  return element;
}

static llvm::StringRef describeAccess(Access access) {
  static constexpr llvm::StringLiteral names[] = {"read of", "write to", "atomic update of"};
  return names[static_cast<unsigned>(access)];
}

std::optional<int64_t> Machine::locate(const Step &step, const View &view,
                                       llvm::ArrayRef<int64_t> coordinates, Access access) {
  bool isOnChip = view.storage->isOnChip();
  bool leavesSlice =
      isOnChip && llvm::any_of(llvm::zip_equal(coordinates, view.extents), [](auto it) {
        auto [coordinate, extent] = it;
        return coordinate < 0 || coordinate >= extent;
      });
  std::optional<int64_t> element = leavesSlice ? std::nullopt : view.locate(coordinates);
  if (element || shadowDepth)
    return element;
  if (!isOnChip && !options.check)
    return std::nullopt;
  llvm::SmallVector<int64_t, 4> surface = toSurface(view, coordinates);
  reportElement(isOnChip ? Severity::Error : Severity::Note, FindingKind::OutOfBounds, step, view,
                surface, [&] {
                  std::string where = "'" + view.storage->name + "' at " + inBrackets(surface) +
                                      " is outside its extents " + inParentheses(view.surface);
                  std::string effect = isOnChip                 ? ""
                                       : access == Access::Read ? "; it gives the safe value"
                                                                : "; it is dropped";
                  return describeAccess(access).str() + " " + where + effect;
                });
  stopped |= isOnChip;
  return std::nullopt;
}

Cell Machine::read(const Step &step, const View &view, int64_t element) {
  if (options.check && !shadowDepth)
    checkAccess(step, view, element, Access::Read, /*changesBits=*/false);
  Cell cell = view.storage->read(element, getBytes(view.format));
  if (view.isUndecided)
    cell.radius = kUndecided;
  return cell;
}

void Machine::write(const Step &step, const View &view, int64_t element, Cell cell, Access access) {
  Storage &storage = *view.storage;
  unsigned size = getBytes(view.format);
  if (view.isUndecided)
    storage.markAllUndecided();
  if (shadowDepth)
    return storage.markUndecided(element, size);
  if (undecidedDepth || view.isUndecided)
    cell.radius = kUndecided;
  Cell old = storage.read(element, size);
  bool changesBits = old.bits != cell.bits;
  changes += changesBits || old.isPoison != cell.isPoison;
  if (options.check) {
    checkAccess(step, view, element, access, changesBits);
    if (cell.isPoison && !storage.isOnChip()) {
      reportElement(Severity::Finding, FindingKind::Uninitialized, step, view,
                    unravel(element, view.surface), [&] {
                      return "the value " +
                             std::string(access == Access::Update ? "combined into '"
                                                                  : "stored to '") +
                             storage.name + "' at " + inBrackets(unravel(element, view.surface)) +
                             " depends on an element that was never written";
                    });
      cell.isPoison = false; // reported where it leaves the chip; what follows is no new defect
    }
  }
  storage.write(element, size, cell);
}

std::vector<Cell> Machine::readTile(const Step &step, const View &view) {
  std::vector<Cell> cells(std::max<int64_t>(0, view.countElements()), view.storage->safeValue);
  forEachElement(step, view, Access::Read, [&](int64_t position, int64_t element) {
    cells[position] = read(step, view, element);
  });
  return cells;
}

void Machine::writeTile(const Step &step, const View &view, llvm::ArrayRef<Cell> cells) {
  forEachElement(step, view, Access::Write, [&](int64_t position, int64_t element) {
    write(step, view, element, cells[position]);
  });
}

int64_t Machine::getDeciding(const Step &step, unsigned operand, llvm::StringRef what) {
  const Scalar &value = get(step, operand);
  if (value.isPoison && !shadowDepth)
    find(FindingKind::Uninitialized, step, what + " depends on an element that was never written");
  return value.integer;
}
