//===- TakeTurns.cpp - warpgroups issue their products in turn ---------------------------------===//
//
// Two warpgroups that run the same loop tend to run it at the same time: both issue their products, then
// both compute, and the tensor cores wait. If they take turns at issuing products, one computes while the
// products of the other one run (ping-pong):
//
//   warpgroup 0   [S O]──▶ softmax ────▶[S O]──▶ softmax …       [ ]: has the turn
//   warpgroup 1        [S O]──▶ softmax ────▶[S O]──▶ …
//
// The turn covers all products of an iteration and leaves out the longest work between two of them. Where
// that work lies between the first product and the last one, the turn goes on over the end of an
// iteration: it is taken in front of the loop, and passed after it.
//
//   for k { S = Q K          turn open;                       // once in the kernel
//           softmax          turn take
//           O += P V }  ──▶  for k { S = Q K; turn pass
//                                    softmax
//                                    turn take; O += P V }
//                            turn pass
//                            turn close
//
// Threads of the block do not meet during a turn. Statements that meet inside are looked for here; barriers
// are placed in front of the turn (insert-orderings), and check-schedule proves the result.
//===----------------------------------------------------------------------------------------===//

#include "TakeTurns.h"
#include "Roles.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Tile/Teams.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

constexpr int64_t kWarpgroup = 128;
/// Barrier 0 is that of all threads of the block, 1 that of the program's.
constexpr int64_t kFirstNumber = 2;
constexpr int64_t kMaxGroups = 7; ///< As a block has, with a producer.

bool isOpenProduct(Operation *op) { return isa<GemmOp>(op) && op->hasAttr(kAsyncAttr); }

/// How many warpgroups could take turns; 0 if they cannot.
int64_t countGroups(KernelOp kernel) {
  int64_t threads = kernel.getNumThreads(), groups = threads / kWarpgroup;
  if (threads % kWarpgroup || groups < 2 || groups > kMaxGroups)
    return 0;
  // Roles of the program meet at barriers by number, and it may have some of its own.
  if (!getTeamRoles(kernel).empty())
    return 0;
  bool isFree = !kernel
                     .walk([](BarrierAllocOp row) {
                       return llvm::is_contained(row.getArrivals(), 0) ? WalkResult::interrupt()
                                                                       : WalkResult::advance();
                     })
                     .wasInterrupted();
  return isFree ? groups : 0;
}

/// Whether a statement lets the threads of other warpgroups go their own ways.
bool isAlone(Operation *op, int64_t threads) {
  if (isPlain(op) || isa<GemmOp, BarrierWaitOp>(op))
    return true;
  if (auto arrive = dyn_cast<BarrierArriveOp>(op))
    return arrive.getByWarp();
  auto effects = dyn_cast<TileEffectsOpInterface>(op);
  if (effects && analysis::meetsInMemory(effects, threads))
    return false;
  return isa<ParallelOp>(op) || (effects && op->getNumRegions() == 0);
}

/// Whether the threads of a block meet between two statements: one writes memory of all of them that the
/// other touches. A barrier in front of the turn would come too early for what is written in it.
bool mustMeetBetween(Operation *writer, Operation *other) {
  std::optional<SmallVector<Effect>> effects = getEffects(writer);
  SmallVector<Value> written;
  for (const Effect &effect : effects.value_or(SmallVector<Effect>()))
    if (effect.kind != EffectKind::Read && analysis::isSharedByThreads(effect.root))
      written.push_back(effect.root);
  return !effects || (!written.empty() && analysis::touchesAny(other, written));
}

} // namespace

std::optional<TurnPlan> tilewright::planTurns(PipelinedOp loop,
                                              ArrayRef<OrderedStatement> statements) {
  auto kernel = loop->getParentOfType<KernelOp>();
  int64_t threads = kernel.getNumThreads(), count = statements.size();
  SmallVector<int64_t> products;
  for (auto [number, statement] : llvm::enumerate(statements))
    if (isOpenProduct(statement.op))
      products.push_back(number);
  if (countGroups(kernel) == 0 || products.empty())
    return std::nullopt;
  double longest = 0;
  size_t before = 0; // the product in front of the longest work
  for (size_t i = 0; i < products.size(); ++i) {
    int64_t next = i + 1 < products.size() ? products[i + 1] : products[0] + count;
    double work = 0;
    for (int64_t j = products[i] + 1; j < next; ++j)
      work += predictWork(statements[j % count].op, threads);
    if (work > longest) {
      longest = work;
      before = i;
    }
  }
  if (longest == 0)
    return std::nullopt;
  int64_t last = products[before], first = products[(before + 1) % products.size()];
  TurnPlan plan{statements[first].op, statements[last].op, /*wraps=*/first > last};
  SmallVector<Operation *> inside{plan.last};
  for (int64_t j = first; j != last; j = (j + 1) % count)
    inside.push_back(statements[j].op);
  for (Operation *op : inside)
    if (!isAlone(op, threads) || llvm::any_of(inside, [&](Operation *other) {
          return op != other && mustMeetBetween(op, other);
        }))
      return std::nullopt;
  return plan;
}

SmallVector<OrderedStatement> tilewright::addTurns(ArrayRef<OrderedStatement> statements,
                                                   const TurnPlan &plan) {
  SmallVector<OrderedStatement> result;
  for (const OrderedStatement &statement : statements) {
    if (statement.op == plan.first)
      result.push_back({nullptr, 0, TurnKind::Take});
    result.push_back(statement);
    if (statement.op == plan.last)
      result.push_back({nullptr, 0, TurnKind::Pass});
  }
  return result;
}

void tilewright::takeTurns(PipelinedOp loop, const TurnPlan &plan) {
  auto kernel = loop->getParentOfType<KernelOp>();
  int64_t groups = countGroups(kernel);
  OpBuilder b(loop);
  auto write = [&](TurnKind kind) { TurnOp::create(b, loop.getLoc(), kind, groups, kFirstNumber); };
  Block &all = kernel.getBody().front();
  bool isFirst = !kernel.walk([](TurnOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (isFirst) { // one turn for all loops of the kernel
    b.setInsertionPoint(all.findAncestorOpInBlock(*loop));
    write(TurnKind::Open);
    b.setInsertionPoint(all.getTerminator());
    write(TurnKind::Close);
  }
  if (plan.wraps) {
    b.setInsertionPoint(loop);
    write(TurnKind::Take);
    b.setInsertionPointAfter(loop);
    write(TurnKind::Pass);
  }
  b.setInsertionPoint(plan.first);
  write(TurnKind::Take);
  b.setInsertionPointAfter(plan.last);
  write(TurnKind::Pass);
}
