//===- CheckBounds.cpp - refuse elements outside their tile -----------------------------------===//
//
// Expects: tile IR as it was traced, so that tiles have the user's extents.   Leaves: the same.
// The thinking is in Analysis/TileBounds.h. What is not certain is left to code that tests it.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/TileBounds.h"
#include "tilewright/Transforms/Passes.h"

#include "llvm/ADT/StringExtras.h"

namespace tilewright {
#define GEN_PASS_DEF_CHECKBOUNDS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

std::string list(ArrayRef<int64_t> numbers) {
  return llvm::join(llvm::map_range(numbers, [](int64_t n) { return std::to_string(n); }), ", ");
}

struct CheckBoundsPass : tilewright::impl::CheckBoundsBase<CheckBoundsPass> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      for (const analysis::TileAccess &access : analysis::getTileAccesses(op)) {
        bool isProved = llvm::all_of(llvm::seq<unsigned>(0, access.dims.size()), [&](unsigned dim) {
          return analysis::staysInside(access, dim);
        });
        std::optional<analysis::OutsideElement> outside;
        if (!isProved)
          outside = analysis::findOutside(access);
        if (!outside)
          continue;
        InFlightDiagnostic diag =
            op->emitError() << (access.isRead ? "read of '" : "write to '")
                            << tile::getName(access.surface) << "' at [" << list(outside->element)
                            << "] is outside its extents ("
                            << list(cast<MemRefType>(access.surface.getType()).getShape()) << ")";
        if (!outside->point.empty())
          diag << ", in " << outside->point;
        diag << "; correct the index, or put the access under a condition";
        signalPassFailure();
        return;
      }
    });
    markAllAnalysesPreserved();
  }
};

} // namespace
