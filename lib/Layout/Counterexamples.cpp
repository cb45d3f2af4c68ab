//===- Counterexamples.cpp - corners of tiles and how refutations read ----------------------===//

#include "Counterexamples.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace tilewright;
using llvm::ArrayRef;

bool tilewright::isInShape(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip(index, shape), [](auto pair) {
    auto [value, extent] = pair;
    return value >= 0 && (extent == kDynamic || value < extent);
  });
}

IndexVector tilewright::cornerOf(ArrayRef<int64_t> shape) {
  constexpr int64_t kCornerElements = 1 << 14;
  IndexVector corner(shape.begin(), shape.end());
  for (int64_t &extent : corner)
    extent = extent == kDynamic ? kCornerElements : std::min(extent, kCornerElements);
  auto count = [&] {
    int64_t product = 1;
    for (int64_t extent : corner)
      product = std::min(product * extent, 2 * kCornerElements); // enough to compare
    return product;
  };
  while (count() > kCornerElements) {
    int64_t &largest = *std::max_element(corner.begin(), corner.end());
    largest = (largest + 1) / 2;
  }
  return corner;
}

std::string tilewright::indexToString(ArrayRef<int64_t> index) {
  return "(" +
         llvm::join(llvm::map_range(index, [](int64_t v) { return std::to_string(v); }), ", ") +
         ")";
}

std::string Collision::str() const {
  return "elements " + indexToString(first) + " and " + indexToString(second) + " both lie at " +
         indexToString(image);
}

std::string Hole::str() const { return "no element lies at " + indexToString(image); }

std::string Difference::str() const {
  if (first.empty() && second.empty())
    return "the shapes differ";
  return "element " + indexToString(index) + " lies at " + indexToString(first) + " and at " +
         indexToString(second);
}

std::string Missing::str() const {
  return "thread " + std::to_string(thread) + " needs element " + indexToString(index) +
         " and does not hold it";
}
