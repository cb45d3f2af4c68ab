//===- ForwardRowCopies.cpp - a row that was read from a tensor is read there again -----------===//
//
// A row kernel copies a row into a tile and goes over it several times. Once the chain runs row by
// row, the row of the tensor itself is in the caches: the copy only takes room and time.
//
//   parallel (j) in (4096) { v = X[i, j]; x[0, j] = v; largest[0] max= v }
//   parallel (j) in (4096) { y[0, j] = exp(x[0, j] - largest[0]) }
//     ──▶
//   parallel (j) in (4096) { v = X[i, j]; largest[0] max= v }
//   parallel (j) in (4096) { y[0, j] = exp(X[i, j] - largest[0]) }
//
// That changes nothing if the kernel writes the tile nowhere else and the tensor nowhere, and each
// iteration that reads an element of the tile corresponds to the one that stored it, in a loop in
// front of it in the same block. Tiles of several rows stay: rows of a tensor that lie a large
// power of two apart push each other out of a cache, those of a tile do not.
//
// Expects: tile IR that passed tile-check-parallel; arguments that are written share no memory
// with others.   Leaves: the same program, fewer tiles.
//===----------------------------------------------------------------------------------------===//

#include "LoopForm.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright {
#define GEN_PASS_DEF_FORWARDROWCOPIES
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using analysis::LoopAccess;

namespace {

bool isLongRow(MemRefType type) {
  return type.hasStaticShape() && type.getRank() > 0 &&
         type.getNumElements() == type.getShape().back() &&
         type.getNumElements() * getStorageBytes(type.getElementType()) >= kLongRowBytes;
}

/// The loop directly around an access, as a form, and the access in it.
struct AccessInLoop {
  LoopForm form;
  const LoopAccess *access = nullptr;

  static std::optional<AccessInLoop> find(Operation *op) {
    auto loop = dyn_cast<ParallelOp>(op->getParentOp());
    std::optional<LoopForm> form = loop ? describeLoop(loop, loop) : std::nullopt;
    if (!form)
      return std::nullopt;
    AccessInLoop found{std::move(*form)};
    for (const LoopAccess &access : found.form.accesses)
      if (access.op == op && access.element)
        found.access = &access;
    if (!found.access)
      return std::nullopt;
    return found;
  }
};

/// A tile that one loop fills with elements of a tensor.
class CopiedRow {
public:
  static std::optional<CopiedRow> find(AllocOp tile);
  /// Lets all loads of the tile read the tensor, if each of them may.
  void reread();

private:
  bool isStoredBefore(LoadOp load) const;
  void reread(LoadOp load);

  AllocOp tile;
  StoreOp store;
  LoadOp source; ///< Of the tensor; its value is stored.
  SmallVector<LoadOp> loads;
  std::optional<AccessInLoop> stored;
};

std::optional<CopiedRow> CopiedRow::find(AllocOp tile) {
  CopiedRow row;
  row.tile = tile;
  Value buffer = tile.getBuffer();
  if (getSpace(buffer) == Space::Global || tile.getReducer() ||
      !isLongRow(tile.getBuffer().getType()))
    return std::nullopt;
  for (Operation *user : buffer.getUsers()) {
    if (auto load = dyn_cast<LoadOp>(user)) {
      row.loads.push_back(load);
    } else if (auto store = dyn_cast<StoreOp>(user); store && !row.store) {
      row.store = store;
    } else if (!isa<AnnotateLayoutOp>(user)) { // a layout, which changes no value
      return std::nullopt;
    }
  }
  if (!row.store || row.loads.empty())
    return std::nullopt;
  row.source = row.store.getValue().getDefiningOp<LoadOp>();
  row.stored = AccessInLoop::find(row.store);
  if (!row.source || !row.stored || row.source->getBlock() != row.store->getBlock() ||
      !analysis::isInjective(*row.stored->access->element, row.stored->form.iterators))
    return std::nullopt;
  // The tensor: elements that exist, of the tile's type, along a row.
  std::optional<AccessInLoop> read = AccessInLoop::find(row.source);
  if (!read || !analysis::isProvenInside(*read->access) || read->form.iterators.empty() ||
      !analysis::isAlongRow(*read->access->element, read->form.iterators.back()) ||
      row.source.getBuffer().getParentRegion() == &read->form.loop.getBody() ||
      row.source.getBuffer().getType().getElementType() !=
          tile.getBuffer().getType().getElementType() ||
      getSpace(read->access->root) != Space::Global ||
      mayWrite(tile->getParentOfType<KernelOp>(), read->access->root))
    return std::nullopt;
  return row;
}

/// Whether the loop that fills the tile has stored what `load` reads, in the same iteration.
bool CopiedRow::isStoredBefore(LoadOp load) const {
  std::optional<AccessInLoop> read = AccessInLoop::find(load);
  return read && read->form.extents == stored->form.extents &&
         read->form.loop->getBlock() == stored->form.loop->getBlock() &&
         stored->form.loop->isBeforeInBlock(read->form.loop) &&
         analysis::isSameElement(*stored->access->element, stored->form.iterators,
                                 *read->access->element, read->form.iterators);
}

void CopiedRow::reread() {
  if (!llvm::all_of(loads, [&](LoadOp load) { return isStoredBefore(load); }))
    return;
  for (LoadOp load : loads)
    reread(load);
  store.erase();
  auto remark = source.emitRemark("later loops read it here again, without a copy in '")
                << getName(tile.getBuffer()) << "'";
  describeRemark(remark, "rows", "");
  for (Operation *user : llvm::make_early_inc_range(tile.getBuffer().getUsers()))
    user->erase(); // its layout
  tile.erase();
}

void CopiedRow::reread(LoadOp load) {
  LoopForm form = AccessInLoop::find(load)->form;
  OpBuilder b(load);
  IRMapping mapping;
  Value zero = arith::ConstantIndexOp::create(b, load.getLoc(), 0);
  for (Value iterator : stored->form.loop.getIterators())
    mapping.map(iterator, zero); // those of extent 1
  for (auto [old, now] : llvm::zip_equal(stored->form.iterators, form.iterators))
    mapping.map(old, now);
  for (Operation &op : stored->form.loop.getBody().front()) {
    if (&op == source.getOperation())
      break;
    if (isPure(&op))
      b.clone(op, mapping); // what the indices do not need is dead
  }
  Operation *again = b.clone(*source, mapping);
  load.getValue().replaceAllUsesWith(again->getResult(0));
  load.erase();
}

struct ForwardRowCopiesPass : tilewright::impl::ForwardRowCopiesBase<ForwardRowCopiesPass> {
  void runOnOperation() override {
    SmallVector<AllocOp> tiles;
    getOperation()->walk([&](AllocOp tile) { tiles.push_back(tile); });
    for (AllocOp tile : tiles)
      if (std::optional<CopiedRow> row = CopiedRow::find(tile))
        row->reread();
  }
};

} // namespace
