//===- PlaceGemms.cpp - what tensor cores need ------------------------------------------------===//

#include "LayoutSolver.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Tile/Remarks.h"

using namespace mlir;
using namespace tilewright::tile;
using namespace tilewright::analysis;

namespace tilewright {

/// How the warps divide M x N, following the policy as far as the extents allow.
static std::optional<WarpGrid> chooseWarps(int64_t m, int64_t n, const MmaShape &shape,
                                           int64_t warpCount, GemmPolicy policy) {
  std::optional<WarpGrid> best;
  auto score = [&](WarpGrid grid) {
    if (policy == GemmPolicy::FullRow)
      return -grid.warpsM;
    if (policy == GemmPolicy::FullCol)
      return -grid.warpsN;
    return std::abs(m / grid.warpsM - n / grid.warpsN); // square parts read least
  };
  for (int64_t warpsM = 1; warpsM <= warpCount; ++warpsM) {
    if (warpCount % warpsM)
      continue;
    WarpGrid grid{warpsM, warpCount / warpsM};
    if (m % (shape.m * grid.warpsM) || n % (shape.n * grid.warpsN))
      continue;
    if (!best || score(grid) < score(*best))
      best = grid;
  }
  return best;
}

/// What keeps so many warps from sharing M x N, and which multiples they could share.
static std::string describeMisfit(int64_t m, int64_t n, const MmaShape &shape, int64_t warpCount) {
  std::string text = "no grid of " + std::to_string(warpCount) + " warps divides " +
                     std::to_string(m) + " x " + std::to_string(n) + " into " +
                     std::to_string(shape.m) + " x " + std::to_string(shape.n) +
                     " tiles; multiples of ";
  bool isFirst = true;
  for (int64_t warpsM = warpCount; warpsM >= 1; --warpsM) {
    if (warpCount % warpsM)
      continue;
    text += (isFirst ? "" : ", ") + std::to_string(shape.m * warpsM) + " x " +
            std::to_string(shape.n * (warpCount / warpsM));
    isFirst = false;
  }
  return text + " work";
}

StringRef describePolicy(GemmPolicy policy) {
  return policy == GemmPolicy::FullRow   ? "FullRow"
         : policy == GemmPolicy::FullCol ? "FullCol"
                                         : "Square";
}

GemmFit fitGemm(GemmOp gemm, const Arch &arch, int64_t numThreads) {
  auto [m, n, k] = gemm.getExtents();
  GemmFit fit;
  fit.shape = access::getMmaShape(gemm, arch);
  if (!fit.shape) {
    fit.obstacle = "the tensor cores have no instruction for " +
                   describeElementType(gemm.getA().getType().getElementType()) + " into " +
                   describeElementType(gemm.getC().getType().getElementType());
  } else if (numThreads % kWarpSize) {
    fit.obstacle = "the block is not a whole number of warps";
  } else if (k % fit.shape->k) {
    fit.obstacle =
        "K = " + std::to_string(k) + " is not a multiple of " + std::to_string(fit.shape->k);
  } else if (m > 0 && n > kMaxSlots * numThreads / m) {
    fit.obstacle = "a block of " + std::to_string(numThreads) + " threads has no registers for " +
                   std::to_string(m) + " x " + std::to_string(n) + " results";
  } else {
    int64_t warpCount = numThreads / kWarpSize;
    fit.grid = chooseWarps(m, n, *fit.shape, warpCount, gemm.getPolicy());
    fit.warpsMisfit = !fit.grid;
    if (fit.warpsMisfit)
      fit.obstacle = describeMisfit(m, n, *fit.shape, warpCount);
  }
  return fit;
}

/// Says which multiple would have let all warps share the dimension that the policy names.
void LayoutSolver::remarkPolicy(GemmOp gemm, WarpGrid grid) {
  auto [m, n, k] = gemm.getExtents();
  bool isRow = gemm.getPolicy() == GemmPolicy::FullRow;
  if (gemm.getPolicy() == GemmPolicy::Square || (isRow ? grid.warpsN : grid.warpsM) == 1)
    return;
  MmaShape shape = *access::getMmaShape(gemm, context.arch);
  int64_t multiple = (isRow ? shape.m : shape.n) * (getNumThreads(gemm) / kWarpSize);
  InFlightDiagnostic diag = gemm.emitRemark();
  diag << "'T.gemm' divides its result over " << grid.warpsM << " x " << grid.warpsN
       << " warps: for " << describePolicy(gemm.getPolicy()) << " " << (isRow ? "M = " : "N = ")
       << (isRow ? m : n) << " would have to be a multiple of " << multiple;
  describeRemark(diag, "gemm", "",
                 {{"unit", "tensor cores"},
                  {"warps_m", grid.warpsM},
                  {"warps_n", grid.warpsN},
                  {"multiple", multiple}});
}

void LayoutSolver::placeGemm(GemmOp gemm) {
  if (placeProduct(gemm))
    return;
  auto [m, n, k] = gemm.getExtents();
  AllocOp c = fragmentRoot(gemm.getC()), a = fragmentRoot(gemm.getA()),
          b = fragmentRoot(gemm.getB());
  GemmFit fit = fitGemm(gemm, context.arch, getNumThreads(gemm));
  const std::optional<MmaShape> &shape = fit.shape;
  const std::optional<WarpGrid> &grid = fit.grid;
  bool isWhole = c && c.getBuffer() == gemm.getC();
  if (!grid) {
    plainGemms[gemm] = fit.obstacle;
    for (AllocOp alloc : {a, b})
      if (alloc)
        refuse(gemm, alloc, "a gemm without tensor cores reads it from memory");
    if (c && !isWhole)
      refuse(gemm, c, "a gemm updates a part of it");
    return;
  }
  warps[gemm] = *grid;
  auto holds = [&](AllocOp alloc, llvm::Expected<Fragment> fragment) {
    Fragment wanted = llvm::cantFail(std::move(fragment)); // the grid divides the extents
    place(alloc, wanted);
    return isEqual(placed.find(alloc)->second, wanted).isYes();
  };
  if (!isWhole)
    movedAccumulators.insert(gemm);
  else if (!holds(c, blockAccumulator(m, n, *shape, *grid)))
    refuse(gemm, c, "the gemm accumulates in a layout of its own");
  if (a && (gemm.getTransposeA() || a.getBuffer() != gemm.getA()))
    refuse(gemm, a, "the gemm reads A from memory where it is transposed or a part of a tile");
  else if (a && !holds(a, blockOperandA(m, k, *shape, *grid)))
    refuse(gemm, a, "the gemm reads A in a layout of its own");
  if (b)
    refuse(gemm, b, "the gemm reads B from memory");
}

void LayoutSolver::placeGemms() {
  kernel.walk([&](GemmOp gemm) { placeGemm(gemm); });
}

} // namespace tilewright
