//===- SeedLayouts.cpp - what the layout questions of the seed kernel cost --------------------===//
//
// DESIGN: all layout questions of the seed kernel together under 10 ms. Answers are memoised on the
// layout, so that each round asks fresh layouts. The seed's dQ has the shape its author ran it
// with.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Layout/Algebra.h"
#include "tilewright/Layout/Contiguity.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/Layout/Notation.h"
#include "tilewright/Layout/Questions.h"

#include <benchmark/benchmark.h>

using namespace tilewright;

static Layout parse(const char *text, llvm::ArrayRef<int64_t> shape) {
  return llvm::cantFail(parseLayout(text, shape));
}

/// dQ as the seed lays it out: 8 x 8 tiles in the order of a tensor core's fragment.
static Layout makeGradient() {
  return parse("(b, h, l, d) -> (b, h, l // 8, d // 8, d % 2, 4 * (l % 8) + (d % 8) // 2)",
               {8, 32, 4096, 64});
}

/// A shared tile of 64 x 64 halves, swizzled by chunks of eight.
static Layout makeSharedTile() { return parse("(i, j) -> (i, j ^ 8 * (i % 8))", {64, 64}); }

/// Everything the seed asks: dQ, and its four shared tiles.
static void BM_SeedQuestions(benchmark::State &state) {
  for (auto _ : state) {
    Layout gradient = makeGradient();
    benchmark::DoNotOptimize(isInjective(gradient).isYes());
    benchmark::DoNotOptimize(covers(gradient).isYes());
    benchmark::DoNotOptimize(contiguousRun(gradient, 3));
    llvm::Expected<Layout> inverse = invert(gradient);
    benchmark::DoNotOptimize(bool(inverse));
    if (!inverse)
      llvm::consumeError(inverse.takeError());
    for (int tile = 0; tile < 4; ++tile) {
      Layout shared = makeSharedTile();
      benchmark::DoNotOptimize(isInjective(shared).isYes());
      benchmark::DoNotOptimize(covers(shared).isYes());
      benchmark::DoNotOptimize(contiguousRun(shared, 1));
    }
  }
}
BENCHMARK(BM_SeedQuestions)->Unit(benchmark::kMillisecond);

/// A tile that has no closed form is looked at element by element.
static void BM_EnumeratedTile(benchmark::State &state) {
  for (auto _ : state) {
    Layout odd = parse("(i, j) -> (i * 256 + (j ^ (i * 3 % 7)))", {256, 256});
    benchmark::DoNotOptimize(isInjective(odd).isYes());
  }
}
BENCHMARK(BM_EnumeratedTile)->Unit(benchmark::kMillisecond);
