//===- RandomAccesses.cpp - accesses of distributed loops for property tests -----------------===//

#include "RandomAccesses.h"

using namespace tilewright;
using namespace tilewright::test;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

int64_t pick(SeededRandom &random, std::initializer_list<int64_t> choices) {
  return choices.begin()[random.uniform(0, choices.size() - 1)];
}

/// Builds one access, part by part.
class Maker {
public:
  explicit Maker(SeededRandom &random) : random(random) {}

  RandomAccess run() {
    // What the vectors of all parts have in common; single parts may allow more.
    vector = pick(random, {2, 2, 4, 4, 4, 8, 8, 8, 8, 16});
    rows = pick(random, {2, 4, 6, 8});
    columns = pick(random, {16, 16, 32, 32, 48, 24});
    Fragment fragment = makeDistribution();
    auto table = analysis::OwnerTable::get(fragment, numThreads);
    analysis::LoopDistribution loop{{rows, columns}, std::move(*table)};
    RandomAccess access{fragment, numThreads, std::move(loop), {}, {}};
    request = &access.request;
    makeRequest();
    for (unsigned number = 0; number < 10; ++number)
      access.samples.push_back(makeSample(number));
    return access;
  }

private:
  Fragment makeDistribution();
  void makeRequest();
  void makeLayout();
  void makeTests();
  IndexExpr outerPart(ArrayRef<int64_t> multiples);
  Sample makeSample(unsigned number);
  int64_t atLeastVector() { return std::max(vector, pick(random, {2, 4, 8, 16})); }

  SeededRandom &random;
  int64_t vector = 1, rows = 1, columns = 1, numThreads = 1;
  access::Request *request = nullptr;
};

/// Threads take vectors in turn, or rows, or the places of a tensor-core accumulator.
Fragment Maker::makeDistribution() {
  IndexExpr i = IndexExpr::dim(0), j = IndexExpr::dim(1), replica = IndexExpr::dim(2);
  IndexExpr thread, slot;
  int64_t width = std::min(atLeastVector(), columns);
  if (rows == 8 && random.oneIn(6)) {
    numThreads = 32;
    thread = 4 * i + floorDiv(j % 8, 2);
    slot = floorDiv(j, 8) * 2 + j % 2;
  } else if (random.oneIn(6)) {
    numThreads = rows;
    thread = i;
    slot = j;
  } else {
    numThreads = pick(random, {4, 8, 8, 32});
    IndexExpr number = i * columns + j;
    thread = floorDiv(number, width) % numThreads;
    slot = floorDiv(number, width * numThreads) * width + number % width;
  }
  int64_t slots = Fragment::get({rows, columns}, thread, slot).getSlotsPerThread();
  if (random.oneIn(8)) // another order of a thread's slots
    slot = slots - 1 - slot;
  if (random.oneIn(8) && slots % 2 == 0)
    slot = slot ^ 1;
  if (random.oneIn(30) && slots % 2 == 0) // an order that is not the same for all threads
    slot = slot ^ thread % 2;
  int64_t replicas = 1;
  if (random.oneIn(8)) {
    replicas = 2;
    thread = thread + replica * numThreads;
    numThreads *= 2;
  }
  return Fragment::get({rows, columns}, thread, slot, replicas);
}

/// A multiple of a new symbol, of which a little or nothing is known; often none.
IndexExpr Maker::outerPart(ArrayRef<int64_t> multiples) {
  if (random.oneIn(3))
    return IndexExpr(0);
  IndexFacts facts = IndexFacts::inExtent(random.uniform(1, 4));
  if (random.oneIn(4))
    facts = IndexFacts();
  else if (random.oneIn(4))
    facts = IndexFacts::multipleOf(atLeastVector());
  request->symbols.push_back(facts);
  return IndexExpr::symbol(request->symbols.size() - 1) * random.pick(multiples);
}

/// A layout of the memory's extents that keeps runs of `atLeastVector()` together, or not.
void Maker::makeLayout() {
  access::Memory &memory = request->memory;
  IndexExpr i = IndexExpr::dim(0), j = IndexExpr::dim(1);
  int64_t run = atLeastVector(), extent = memory.extents[1];
  SmallVector<IndexExpr> outputs;
  switch (random.uniform(0, 6)) {
  case 0:
    outputs = {i * (extent + run) + j};
    break;
  case 1:
    outputs = {floorDiv(j, run), i, j % run};
    break;
  case 2:
    outputs = {i, extent - 1 - j};
    break;
  case 3: // pairs are torn apart
    outputs = {i, j % 2, floorDiv(j, 2)};
    break;
  default: // chunks of a row change places
    outputs = {i, j ^ run * (i % 4)};
    break;
  }
  memory.layout = Layout::get(memory.extents, outputs);
}

/// Branches on comparisons of the loop's variables, at the edges of vectors or between.
void Maker::makeTests() {
  IndexExpr i = IndexExpr::dim(0), j = IndexExpr::dim(1);
  request->isConditional = true;
  for (int64_t count = random.uniform(1, 2); count > 0; --count) {
    int64_t edge = random.uniform(0, columns);
    if (random.oneIn(2))
      edge = edge / vector * vector;
    if (random.oneIn(4))
      request->tests.push_back({(random.oneIn(2) ? i : j) - edge, /*isEquality=*/true});
    else
      request->tests.push_back({j + outerPart({columns, 16, atLeastVector()}) - edge});
  }
}

void Maker::makeRequest() {
  IndexExpr i = IndexExpr::dim(0), j = IndexExpr::dim(1);
  access::Memory &memory = request->memory;
  memory.elementBytes = pick(random, {1, 1, 2, 2, 2, 4, 8});
  memory.isGlobal = !random.oneIn(3);
  memory.baseAlignment = memory.isGlobal ? 16 : 128;
  if (random.oneIn(10))
    memory.baseAlignment = std::max(memory.elementBytes, pick(random, {4, 8}));
  request->name = "A";
  request->isRead = random.oneIn(2);
  request->maxWidth = 16 / memory.elementBytes;

  IndexExpr row = i + outerPart({rows, rows, 1});
  IndexExpr column = j + outerPart({columns, columns, 16, atLeastVector(), 4, 1});
  if (random.oneIn(6))
    column = column + pick(random, {1, 2, 4, 8, 8, 16});
  if (random.oneIn(20))
    column = column * 2;
  if (request->isRead && random.oneIn(6)) // several iterations read one element
    column = floorDiv(column, pick(random, {2, 4, columns}));
  if (random.oneIn(20))
    std::swap(row, column);
  request->coordinates = {row, column};
  // Bounds that fit, that are generous, or that cut; on chip always generous.
  memory.extents = {rows * 4, columns * 4};
  if (memory.isGlobal && random.oneIn(3))
    memory.extents[1] = pick(random, {columns, columns * 2, columns * 3 - atLeastVector(), 37});
  if (memory.isGlobal && random.oneIn(8))
    memory.extents[0] = kDynamic;
  if (memory.isGlobal && random.oneIn(8)) {
    memory.extents[1] = kDynamic;
    memory.extentDivisors = {1, pick(random, {1, 2, 4, 8, 16})};
  }
  if (!llvm::is_contained(memory.extents, kDynamic) && random.oneIn(2))
    makeLayout();
  if (random.oneIn(6))
    makeTests();
}

/// Samples 0 to 2 take everything at its smallest, its largest and next to its smallest, 3 and 4
/// mix the smallest with its neighbour, so that an element is in bounds in some of them.
Sample Maker::makeSample(unsigned number) {
  Sample sample;
  for (auto [position, facts] : llvm::enumerate(request->symbols)) {
    int64_t step = std::max<int64_t>(facts.modulus, 1);
    int64_t low = facts.low == IndexFacts::kNoLow ? 0 : facts.low;
    int64_t high = facts.high == IndexFacts::kNoHigh ? low + 12 * step : facts.high;
    int64_t count = (high - low) / step;
    int64_t chosen = number == 1                                             ? count
                     : number == 0 || (number < 5 && number - 3 == position) ? 0
                     : number < 5 ? 1
                                  : pick(random, {0, 1, 2, 3, count});
    chosen = std::min(chosen, count);
    if (facts.low == IndexFacts::kNoLow && random.oneIn(8))
      chosen = -chosen;
    sample.symbols.push_back(low + step * chosen);
  }
  sample.extents = request->memory.extents;
  for (auto [dim, extent] : llvm::enumerate(sample.extents))
    if (extent == kDynamic)
      extent = (number == 0 ? 1 : pick(random, {33, 64, 50, 7, 200})) *
               request->memory.getExtentFacts(dim).getDivisor();
  return sample;
}

} // namespace

RandomAccess test::makeRandomAccess(SeededRandom &random) { return Maker(random).run(); }

std::string RandomAccess::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "distribution " << distribution.str() << " on " << numThreads << " threads\n";
  os << (request.isRead ? "read" : "write") << " of " << request.memory.elementBytes
     << "-byte elements, extents " << shapeToString(request.memory.extents) << ", base aligned to "
     << request.memory.baseAlignment << (request.memory.isGlobal ? ", global" : ", shared");
  if (request.memory.layout)
    os << "\nlayout " << request.memory.layout->str();
  for (const access::BranchTest &test : request.tests)
    os << "\nunder a branch on "
       << Layout::get(loop.extents, {test.value}, request.symbols.size()).str()
       << (test.isEquality ? " == 0" : " < 0");
  if (!request.memory.extentDivisors.empty())
    os << "\ndivisors of run-time extents " << shapeToString(request.memory.extentDivisors);
  ArrayRef<IndexExpr> outputs = request.coordinates;
  os << "\ncoordinates " << Layout::get(loop.extents, outputs, request.symbols.size()).str()
     << "\nsymbols";
  for (const IndexFacts &facts : request.symbols)
    os << " [" << facts.low << ", " << facts.high << "] = " << facts.remainder << " mod "
       << facts.modulus;
  return text;
}
