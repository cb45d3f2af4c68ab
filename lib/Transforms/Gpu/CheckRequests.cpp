//===- CheckRequests.cpp - what a kernel requests and cannot have ----------------------------===//
//
// Layouts and warp policies that the user wrote down are not ours to overrule. Where one
// contradicts what a statement needs, the program is refused in front of layout inference:
//   - a grid has more blocks than a launch can;
//   - a fragment's layout names threads that the block has not;
//   - the accumulator or register operand A of a gemm on the tensor cores is annotated with a
//     layout whose instruction tiles no warp holds as the instruction does (which warp holds which
//     tile is free: registers are copied where the gemm's own division differs);
//   - 'FullRow' or 'FullCol' is requested and the warps cannot share the result in any way.
//     TileLang refuses these programs too; the default policy lets the gemm leave the tensor cores.
//
//===----------------------------------------------------------------------------------------===//

#include "LayoutSolver.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tilewright/Tile/Teams.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright {

namespace {

/// An element that a layout gives to another thread than an instruction does.
struct Mismatch {
  int64_t row, column;
  int64_t held;   ///< The thread of the layout,
  int64_t wanted; ///< and that of its warp which the instruction has the element in.
};

/// Whether every instruction tile of a matrix is held as `tile` (over the lanes of one warp) says,
/// by one warp or, replicated, by several.
std::optional<Mismatch> findMismatch(const Fragment &layout, const Fragment &tile) {
  ArrayRef<int64_t> extents = tile.getShape();
  ArrayRef<int64_t> shape = layout.getShape();
  for (int64_t row = 0; row < shape[0]; ++row)
    for (int64_t column = 0; column < shape[1]; ++column)
      for (int64_t replica = 0; replica < layout.getReplicas(); ++replica) {
        int64_t inTile[] = {row % extents[0], column % extents[1]};
        int64_t corner[] = {row - inTile[0], column - inTile[1]};
        std::optional<Owner> held = layout.ownerOf({row, column}, replica);
        std::optional<Owner> first = layout.ownerOf(corner, replica);
        std::optional<Owner> lane = tile.ownerOf(inTile);
        int64_t warp = first ? first->thread / kWarpSize : 0;
        int64_t wanted = warp * kWarpSize + lane->thread;
        if (!held || held->thread != wanted)
          return Mismatch{row, column, held ? held->thread : -1, wanted};
      }
  return std::nullopt;
}

class RequestChecker {
public:
  RequestChecker(KernelOp kernel, const Arch &arch) : kernel(kernel), arch(arch) {}

  LogicalResult run() {
    LogicalResult result = checkGrid();
    kernel.walk([&](Operation *op) {
      if (auto note = dyn_cast<AnnotateLayoutOp>(op); note && failed(checkThreads(note)))
        result = failure();
    });
    kernel.walk([&](GemmOp gemm) {
      if (succeeded(result))
        result = checkGemm(gemm);
    });
    return result;
  }

private:
  LogicalResult checkGrid() {
    for (auto [dim, extent] : llvm::enumerate(kernel.getGrid()))
      if (std::optional<int64_t> blocks = getConstantIntValue(extent);
          blocks && *blocks > kMaxGrid[dim])
        return kernel.emitError() << "grid extent " << dim << " is " << *blocks
                                  << ", a GPU launches at most " << kMaxGrid[dim]
                                  << " blocks there; exchange it with extent 0, or take larger "
                                  << "tiles";
    return success();
  }

  LogicalResult checkThreads(AnnotateLayoutOp note) {
    auto fragment = dyn_cast<FragmentAttr>(note.getLayout());
    int64_t threads = fragment ? fragment.getFragment().getThreadExtent() : 0;
    if (threads <= getNumThreads(note))
      return success();
    return note.emitError() << "the layout of '" << getName(note.getBuffer()) << "' names "
                            << threads << " threads, the block has " << getNumThreads(note);
  }

  LogicalResult checkGemm(GemmOp gemm) {
    GemmFit fit = fitGemm(gemm, arch, getNumThreads(gemm));
    if (fit.warpsMisfit && gemm.getPolicy() != GemmPolicy::Square)
      return gemm.emitError() << "'T.gemm' with policy " << describePolicy(gemm.getPolicy()) << ": "
                              << fit.obstacle << ", or another number of threads";
    if (!fit.grid)
      return success();
    if (failed(checkOperand(gemm, gemm.getC(), mmaAccumulator(*fit.shape), "accumulates in")))
      return failure();
    if (gemm.getTransposeA())
      return success(); // read from memory
    return checkOperand(gemm, gemm.getA(), mmaOperandA(*fit.shape), "reads A in");
  }

  /// The layout that a user wrote for a whole fragment must be one of the instruction's.
  LogicalResult checkOperand(GemmOp gemm, Value buffer, const Fragment &tile, StringRef use) {
    AnnotateLayoutOp note;
    for (Operation *user : buffer.getUsers())
      if (auto candidate = dyn_cast<AnnotateLayoutOp>(user))
        if (isa<FragmentAttr>(candidate.getLayout()))
          note = candidate;
    if (!note || cast<MemRefType>(buffer.getType()).getRank() != 2)
      return success();
    const Fragment &layout = cast<FragmentAttr>(note.getLayout()).getFragment();
    std::optional<Mismatch> mismatch = findMismatch(layout, tile);
    if (!mismatch)
      return success();
    InFlightDiagnostic diag = note.emitError();
    diag << "the layout of " << describe(buffer) << " is none that 'T.gemm' " << use
         << ": element (" << mismatch->row << ", " << mismatch->column << ") lies in thread "
         << mismatch->held << ", the tensor cores need it in thread " << mismatch->wanted
         << "; leave the annotation out, or copy to a fragment that has this layout";
    diag.attachNote(gemm.getLoc())
        << "the gemm is here: each " << describeShape(tile.getShape()) << " tile of '"
        << getName(buffer) << "' belongs to one warp, laid out as its instruction says";
    return diag;
  }

  KernelOp kernel;
  const Arch &arch;
};

} // namespace

LogicalResult checkRequests(KernelOp kernel, const Arch &arch) {
  return RequestChecker(kernel, arch).run();
}

} // namespace tilewright
