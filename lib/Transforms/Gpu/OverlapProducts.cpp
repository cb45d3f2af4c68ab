//===- OverlapProducts.cpp - products run beside the rest of their iteration ------------------===//
//
// A product that is left open (wgmma) runs until something needs its end. Where a program writes each
// product in front of the statement that uses it, that is at once. Two moves inside an iteration give it
// work to run beside:
//
//   up      a product, with what it needs, follows the product before it, over statements that it does
//           not need and that do not need it
//   down    the release of a tile follows the next product, so that waiting for its readers leaves
//           that product open
//
//   wait Q; S = K Q                        wait Q; S = K Q
//   P = exp(S)                             wait dO; dP = V dO             // S is waited for, dP is open
//   wait dO; dP = V dO             ──▶     P = exp(S)
//   dV += P dO; release dO                 dV += P dO
//   dS = P (dP - delta)                    dS = P (dP - delta)            // beside dV
//   dK += dS Q; release Q                  dK += dS Q; release dO         // dV is waited for, dK is open
//   D = dS; dQ = D K                       D = dS; dQ = D K; release Q    // beside dK
//
// Values are the same: statements that conflict keep their order. A version is released later, but in its own
// iteration, so no cycle of waits arises (check-schedule). insert-orderings places the waits for products.
//===----------------------------------------------------------------------------------------===//

#include "OverlapProducts.h"
#include "Roles.h"
#include "tilewright/Analysis/SharedTiles.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

using Statements = SmallVector<Operation *>;

bool isOpenProduct(Operation *op) { return isa<GemmOp>(op) && op->hasAttr(kAsyncAttr); }

/// Whether an op takes the threads' time, so that a product can run beside it.
bool isWork(Operation *op) {
  return !isPlain(op) && !isa<BarrierWaitOp, BarrierArriveOp, GemmOp, HintOp>(op);
}

/// Whether `op` must stay in front of one of these, which follow it.
bool isNeededBy(Operation *op, ArrayRef<Operation *> later) {
  for (Operation *user : later) {
    bool isOperand = false;
    user->walk([&](Operation *inner) {
      isOperand |= llvm::any_of(inner->getOperands(),
                                [&](Value value) { return value.getDefiningOp() == op; });
    });
    if (isOperand)
      return true;
    if (isPlain(op) || isPlain(user) || isa<BarrierWaitOp>(user))
      continue; // a wait for copies may come earlier
    if (auto wait = dyn_cast<BarrierWaitOp>(op)) {
      if (analysis::touchesAny(user, findFilledTiles(wait.getBarriers())))
        return true;
    } else if (!isa<BarrierArriveOp>(op) && analysis::haveConflict(op, user)) {
      return true;
    }
  }
  return false;
}

class Overlapper {
public:
  explicit Overlapper(PipelinedOp loop) : body(loop.getBody().front()) {
    for (Operation &op : body)
      if (isOpenProduct(&op))
        products.push_back(cast<GemmOp>(op));
  }
  SmallVector<GemmOp> run();

private:
  bool moveUp(GemmOp product, GemmOp before);
  bool moveDown(GemmOp product, GemmOp next);

  Block &body;
  SmallVector<GemmOp> products; ///< In program order.
};

/// Moves a product up to the one before it, if statements between them can run beside it.
bool Overlapper::moveUp(GemmOp product, GemmOp before) {
  if (analysis::haveConflict(product, before))
    return false;
  Statements moved{product}, rest;
  for (Operation *op = product->getPrevNode(); op != before; op = op->getPrevNode()) {
    if (!isNeededBy(op, moved)) {
      rest.push_back(op);
      continue;
    }
    if (!isPlain(op) && !isa<BarrierWaitOp>(op) && analysis::haveConflict(op, before))
      return false; // it needs the end of the product before
    moved.push_back(op);
  }
  if (llvm::none_of(rest, isWork))
    return false;
  for (Operation *op : moved) // the last one first
    op->moveAfter(before);
  return true;
}

/// Moves the releases of a product's tiles down after the next product, or to the first statement that waits
/// for this one anyway.
bool Overlapper::moveDown(GemmOp product, GemmOp next) {
  Statements releases;
  bool hasWork = false; // after the first of them
  Operation *op = product->getNextNode();
  for (; op != next; op = op->getNextNode()) {
    auto release = dyn_cast<BarrierArriveOp>(op);
    if (release && release.getByWarp() &&
        analysis::touchesAny(product, findReleasedTiles(release.getBarriers())))
      releases.push_back(op);
    if (isPlain(op) || isa<BarrierArriveOp, BarrierWaitOp>(op))
      continue;
    if (analysis::haveConflict(op, product))
      break;
    hasWork |= isWork(op) && !releases.empty();
  }
  if (!hasWork)
    return false;
  Operation *end = op == next ? next->getNextNode() : op;
  for (Operation *release : releases)
    release->moveBefore(end);
  return true;
}

SmallVector<GemmOp> Overlapper::run() {
  llvm::SmallSetVector<Operation *, 4> overlapped;
  for (size_t i = 1; i < products.size(); ++i)
    if (moveUp(products[i], products[i - 1]))
      overlapped.insert(products[i]);
  for (size_t i = 1; i < products.size(); ++i)
    if (moveDown(products[i - 1], products[i]))
      overlapped.insert(products[i - 1]);
  SmallVector<GemmOp> result;
  for (GemmOp product : products)
    if (overlapped.contains(product))
      result.push_back(product);
  return result;
}

} // namespace

SmallVector<GemmOp> tilewright::overlapProducts(PipelinedOp loop) { return Overlapper(loop).run(); }
