//===- RandomLayouts.cpp - layouts for property tests ---------------------------------------===//

#include "RandomLayouts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <limits>

using namespace tilewright;
using namespace tilewright::test;

static uint64_t chooseSeed() {
  int given = GTEST_FLAG_GET(random_seed);
  return given != 0 ? given : 20261115;
}

PropertyTest::PropertyTest()
    : seed(chooseSeed()), random(seed),
      trace(__FILE__, __LINE__, "replay with --gtest_random_seed=" + std::to_string(seed)) {}

Layout test::layout(llvm::StringRef text, llvm::ArrayRef<int64_t> shape) {
  return llvm::cantFail(parseLayout(text, shape));
}

Fragment test::fragment(llvm::StringRef text, llvm::ArrayRef<int64_t> shape) {
  return llvm::cantFail(parseFragment(text, shape));
}

IndexExpr test::randomExpr(SeededRandom &random, unsigned numDims, unsigned numSymbols,
                           unsigned depth) {
  using Kind = IndexExpr::Kind;
  if (depth == 0 || random.oneIn(5)) {
    int64_t choice = random.uniform(0, numDims + numSymbols + 1);
    if (choice < numDims)
      return IndexExpr::dim(choice);
    if (choice < numDims + numSymbols)
      return IndexExpr::symbol(choice - numDims);
    if (random.oneIn(20))
      return random.oneIn(2) ? std::numeric_limits<int64_t>::min()
                             : std::numeric_limits<int64_t>::max();
    return random.uniform(-9, 32);
  }
  auto kind = static_cast<Kind>(random.uniform(int64_t(Kind::Add), int64_t(Kind::Max)));
  IndexExpr lhs = randomExpr(random, numDims, numSymbols, depth - 1);
  return IndexExpr::binary(kind, lhs, randomExpr(random, numDims, numSymbols, depth - 1));
}

static llvm::SmallVector<int64_t> randomShape(SeededRandom &random, int64_t maxElements) {
  static constexpr int64_t kExtents[] = {1, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16, 16, 20, 32, 64};
  llvm::SmallVector<int64_t> shape;
  int64_t numElements = 1;
  for (int64_t rank = random.uniform(1, 3); rank > 0; --rank) {
    int64_t extent = random.pick<int64_t>(kExtents);
    if (numElements * extent > maxElements)
      break;
    shape.push_back(extent);
    numElements *= extent;
  }
  return shape;
}

/// A piece of one index, as in `d % 8 // 2`.
static IndexExpr randomPiece(SeededRandom &random, unsigned rank) {
  static constexpr int64_t kFactors[] = {2, 2, 3, 4, 4, 5, 6, 8, 8, 16};
  IndexExpr piece = IndexExpr::dim(random.uniform(0, rank - 1));
  if (random.oneIn(2))
    piece = piece % random.pick<int64_t>(kFactors);
  if (random.oneIn(2))
    piece = floorDiv(piece, random.pick<int64_t>(kFactors));
  return piece;
}

Layout test::randomLayout(SeededRandom &random) {
  static constexpr int64_t kStrides[] = {1, 1, 2, 3, 4, 8, 12, 16, 32, 64, 65};
  llvm::SmallVector<int64_t> shape = randomShape(random, 4096);
  if (shape.empty())
    shape.push_back(4);
  unsigned rank = shape.size();
  llvm::SmallVector<IndexExpr> outputs;
  for (int64_t count = random.uniform(1, 3); count > 0; --count) {
    IndexExpr sum = random.oneIn(4) ? random.uniform(0, 9) : 0;
    for (int64_t pieces = random.uniform(1, 3); pieces > 0; --pieces) {
      IndexExpr piece = random.pick<int64_t>(kStrides) * randomPiece(random, rank);
      if (random.oneIn(3))
        sum = sum ^ piece;
      else if (random.oneIn(12))
        sum = sum - piece;
      else
        sum = sum + piece;
    }
    if (random.oneIn(12))
      sum = maxOf(sum, randomPiece(random, rank));
    outputs.push_back(sum);
  }
  return Layout::get(shape, outputs);
}

/// Cuts each index into digits, shuffles the digits of all indices and deals them to the outputs;
/// digits of the same power-of-two range are sometimes xored into each other.
Layout test::randomBijection(SeededRandom &random, bool powersOfTwo) {
  static constexpr int64_t kRadices[] = {2, 4, 8, 2, 3, 5};
  struct Piece {
    IndexExpr value;
    int64_t range;
  };
  llvm::SmallVector<Piece> pieces;
  llvm::SmallVector<int64_t> shape;
  int64_t numElements = 1;
  for (int64_t rank = random.uniform(1, 3), dim = 0; dim < rank; ++dim) {
    int64_t extent = 1;
    for (int64_t digits = random.uniform(1, 3); digits > 0 && numElements < 1024; --digits) {
      int64_t range = kRadices[random.uniform(0, powersOfTwo ? 3 : 5)];
      pieces.push_back({floorDiv(IndexExpr::dim(dim), extent) % range, range});
      extent *= range;
      numElements *= range;
    }
    shape.push_back(extent);
  }
  for (size_t at = pieces.size(); at > 1; --at)
    std::swap(pieces[at - 1], pieces[random.uniform(0, at - 1)]);
  // Xoring an earlier piece into a later one keeps the map one to one.
  for (size_t to = 1; to < pieces.size(); ++to)
    for (size_t from = 0; from < to; ++from)
      if (pieces[from].range == pieces[to].range &&
          (pieces[to].range & (pieces[to].range - 1)) == 0 && random.oneIn(3))
        pieces[to].value = pieces[to].value ^ pieces[from].value;
  llvm::SmallVector<IndexExpr> outputs = {IndexExpr(0)};
  int64_t weight = 1;
  for (const Piece &piece : pieces) {
    if (weight > 1 && random.oneIn(3)) {
      outputs.push_back(0);
      weight = 1;
    }
    outputs.back() = outputs.back() + weight * piece.value;
    weight *= piece.range;
  }
  return Layout::get(shape, outputs);
}

void test::forEachIndex(llvm::ArrayRef<int64_t> shape,
                        llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(shape, 0))
    return;
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  while (true) {
    visit(index);
    unsigned dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}
