//===- Cases.cpp - the values of symbols, split until offsets are known ----------------------===//

#include "Cases.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Support/IndexMath.h"

#include <numeric>

using namespace tilewright;
using llvm::SmallVector;

namespace tilewright::access {

/// More cases than these cost more than a scalar access.
static constexpr int64_t kMaxCases = 64;
/// Iterations of all cases together.
static constexpr int64_t kMaxWork = int64_t(1) << 19;

/// The symbols of the physical coordinates whose parts do not separate.
static SmallVector<unsigned> findMixedSymbols(const Request &request) {
  SmallVector<IndexFacts, 4> dims = factsOfShape(request.loop->extents);
  SmallVector<IndexExpr, 4> physical = request.coordinates;
  if (request.memory.layout) {
    physical.clear();
    for (const IndexExpr &output : request.memory.layout->getOutputs())
      physical.push_back(output.substitute(request.coordinates));
  }
  SmallVector<unsigned> symbols;
  for (const IndexExpr &expr : physical)
    if (!analysis::separate(expr, dims, request.symbols))
      analysis::collectSymbols(expr, symbols);
  llvm::sort(symbols);
  symbols.erase(llvm::unique(symbols), symbols.end());
  return symbols;
}

/// What is known of n where the symbol is `modulus * n + residue`; nothing if it never is.
static std::optional<IndexFacts> factsOfQuotient(const IndexFacts &facts, int64_t modulus,
                                                 int64_t residue) {
  if (facts.modulus == 0 && floorMod(facts.remainder, modulus) != residue)
    return std::nullopt;
  int64_t common = std::gcd(facts.modulus, modulus);
  if (floorMod(facts.remainder - residue, common) != 0)
    return std::nullopt;
  IndexFacts result;
  if (facts.low != IndexFacts::kNoLow) // rounded up
    result.low = -*checkedFloorDiv(residue - facts.low, modulus);
  if (facts.high != IndexFacts::kNoHigh)
    result.high = *checkedFloorDiv(facts.high - residue, modulus);
  if (result.low > result.high)
    return std::nullopt;
  if (result.low == result.high)
    return IndexFacts::constant(result.low);
  if (facts.modulus != 0 && facts.modulus % modulus == 0) {
    result.modulus = facts.modulus / modulus;
    result.remainder = floorMod((facts.remainder - residue) / modulus, result.modulus);
  }
  return result;
}

/// The request where `symbol` is `modulus * n + residue`; n takes its place.
static std::optional<Request> restrictTo(const Request &request, unsigned symbol, int64_t modulus,
                                         int64_t residue) {
  std::optional<IndexFacts> facts = factsOfQuotient(request.symbols[symbol], modulus, residue);
  if (!facts)
    return std::nullopt;
  Request result = request;
  result.symbols[symbol] = *facts;
  SmallVector<IndexExpr, 4> values;
  for (unsigned s = 0; s <= symbol; ++s)
    values.push_back(IndexExpr::symbol(s));
  values[symbol] = facts->modulus == 0 ? IndexExpr(modulus * facts->remainder + residue)
                                       : values[symbol] * modulus + residue;
  for (IndexExpr &coordinate : result.coordinates)
    coordinate = coordinate.substitute({}, values);
  for (BranchTest &test : result.tests)
    test.value = test.value.substitute({}, values);
  for (auto &arguments : result.arguments)
    for (IndexExpr &argument : arguments)
      argument = argument.substitute({}, values);
  return result;
}

/// The requests for all residues of these symbols; empty if there are too many.
static std::vector<Request> splitBy(int64_t modulus, llvm::ArrayRef<unsigned> symbols,
                                    const Request &request) {
  std::vector<Request> requests{request};
  for (unsigned symbol : symbols) {
    std::vector<Request> split;
    for (const Request &whole : requests)
      for (int64_t residue = 0; residue < modulus; ++residue)
        if (std::optional<Request> part = restrictTo(whole, symbol, modulus, residue))
          split.push_back(std::move(*part));
    requests = std::move(split);
    if (int64_t(requests.size()) > kMaxCases)
      return {};
  }
  return requests;
}

/// The cases of these requests; empty if the offsets of one are not known.
static std::vector<Case> getCases(const std::vector<Request> &requests) {
  std::vector<Case> cases;
  for (const Request &request : requests) {
    std::optional<Offsets> offsets = Offsets::get(request);
    if (!offsets)
      return {};
    std::optional<CoordinateRanges> ranges;
    if (request.memory.isGlobal)
      ranges = getCoordinateRanges(request);
    cases.push_back({std::move(*offsets), std::move(ranges), getTestRanges(request)});
  }
  return cases;
}

std::vector<Case> splitCases(const Request &request) {
  if (!request.hasCoordinates())
    return {};
  std::vector<Case> whole = getCases({request});
  if (!whole.empty())
    return whole;
  SmallVector<unsigned> symbols = findMixedSymbols(request);
  if (symbols.empty())
    return {};
  // Powers of two first, then what tiles of other extents are divided by.
  for (int64_t modulus : {1, 2, 4, 8, 16, 32, 64, 3, 6, 12, 24, 48}) {
    std::vector<Request> requests = splitBy(modulus, symbols, request);
    if (requests.empty() || int64_t(requests.size()) * request.loop->getNumIterations() > kMaxWork)
      continue;
    std::vector<Case> cases = getCases(requests);
    if (!cases.empty())
      return cases;
  }
  return {};
}

} // namespace tilewright::access
