//===- LoopRegisters.cpp - the registers that the iterations of a loop keep --------------------===//
//
// Time is counted in statements: that at position p of an order of n, of the iteration `shift` before,
// does the work of iteration 0 at time p + n * shift. A fragment lives from its first use to its last.
// Between two statements live the fragments of all iterations that are under way there.
//===----------------------------------------------------------------------------------------===//

#include "LoopRegisters.h"
#include "Roles.h"
#include "tilewright/Analysis/SharedTiles.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// When a fragment is used first and last by the statements of one iteration.
struct Life {
  int64_t first, last;
  bool isOutside; ///< It is used outside of the loop, too.
  bool readsFirst = false;

  /// Whether it lives on from iteration to iteration.
  bool isCarried() const { return isOutside || readsFirst; }
};

class Lives {
public:
  Lives(PipelinedOp loop, ArrayRef<OrderedStatement> statements)
      : loop(loop), statements(statements), count(statements.size()) {
    for (int64_t position = 0; position < count; ++position)
      addStatement(position);
  }
  int64_t countMost();

private:
  void addStatement(int64_t position);
  int64_t findEnd(int64_t position);
  bool isUsedOutside(AllocOp alloc);

  PipelinedOp loop;
  ArrayRef<OrderedStatement> statements;
  int64_t count;
  llvm::MapVector<Operation *, Life> lives; ///< By allocation.
};

/// When a product has certainly been waited for: where a statement touches what it does, or releases
/// what it reads.
int64_t Lives::findEnd(int64_t position) {
  Operation *product = statements[position].op;
  for (int64_t next = position + 1; next < position + count; ++next) {
    Operation *op = statements[next % count].op;
    auto release = dyn_cast<BarrierArriveOp>(op);
    if (release ? analysis::touchesAny(product, findReleasedTiles(release.getBarriers()))
                : !isa<BarrierWaitOp>(op) && analysis::haveConflict(op, product))
      return next;
  }
  return position + count;
}

bool Lives::isUsedOutside(AllocOp alloc) {
  return llvm::any_of(analysis::getUsersThroughViews(alloc),
                      [&](Operation *user) { return !loop->isProperAncestor(user); });
}

void Lives::addStatement(int64_t position) {
  Operation *op = statements[position].op;
  int64_t shift = statements[position].shift;
  std::optional<SmallVector<Effect>> effects = getEffects(op);
  if (!effects)
    return;
  int64_t start = position + count * shift, end = start;
  if (isa<GemmOp>(op) && op->hasAttr(kAsyncAttr))
    end = findEnd(position) + count * shift;
  for (const Effect &effect : *effects) {
    auto alloc = effect.root ? effect.root.getDefiningOp<AllocOp>() : AllocOp();
    if (!alloc || !isa_and_present<FragmentAttr>(alloc->getAttr(kPlacementAttr)))
      continue;
    bool reads = effect.kind != EffectKind::Write;
    auto it = lives.find(alloc);
    if (it == lives.end())
      it = lives.insert({alloc, Life{start, end, isUsedOutside(alloc), reads}}).first;
    Life &life = it->second;
    if (start <= life.first) // the effects of one statement come one by one
      life.readsFirst = reads || (start == life.first && life.readsFirst);
    life.first = std::min(life.first, start);
    life.last = std::max(life.last, end);
  }
}

int64_t Lives::countMost() {
  int64_t most = 0;
  for (int64_t position = 0; position < count; ++position) { // what lives after this statement
    int64_t bytes = 0;
    for (auto &[op, life] : lives) {
      auto alloc = cast<AllocOp>(op);
      int64_t size =
          alloc->getAttrOfType<FragmentAttr>(kPlacementAttr).getFragment().getSlotsPerThread() *
          getStorageBytes(alloc.getBuffer().getType().getElementType());
      bool lives = life.isCarried();
      for (int64_t time = position; time < life.last; time += count)
        lives |= time >= life.first;
      bytes += lives ? size : 0;
    }
    most = std::max(most, bytes);
  }
  return llvm::divideCeil(most, 4);
}

} // namespace

int64_t tilewright::countLoopRegisters(PipelinedOp loop, ArrayRef<OrderedStatement> statements) {
  return Lives(loop, statements).countMost();
}
