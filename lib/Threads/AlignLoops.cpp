//===- AlignLoops.cpp - loops that threads leave at different times --------------------------===//
//
// The iterations of a loop whose bounds differ between threads go in step: the k-th iteration of
// all threads that are still in the loop comes before the next one of any. Where a statement in it
// touches what another thread writes, the loop becomes one of the whole block:
//
//                                             store 0, %most[0]
//                                             atomic_element max %trips, %most[0]
//   for %i = %lower to %upper step 32 {       %n = load %most[0]
//     <body>                            ──▶   for %k = 0 to %n {
//   }                                           if %k < %trips {
//                                                 %i = %lower + 32 * %k
//                                                 <body>
//
// %trips is how often a thread goes round, max(0, ceildiv(%upper - %lower, 32)). All other loops of
// threads keep their own pace (SpreadThreads.cpp).
//
//===----------------------------------------------------------------------------------------===//

#include "AlignLoops.h"
#include "ThreadFacts.h"
#include "ThreadStatements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

/// Whether all statements in a loop are single threads'; a tile statement needs the whole block.
static bool holdsThreadStatements(scf::ForOp loop) {
  return !loop.getBody()
              ->walk([](Operation *op) {
                bool isThreads = isPureScalar(op) ||
                                 isa<LoadOp, StoreOp, AtomicElementOp, AllocOp, AssertOp, AssumeOp,
                                     PrintOp, scf::IfOp, scf::ForOp, scf::WhileOp, scf::YieldOp,
                                     scf::ConditionOp, ViewLikeOpInterface>(op);
                return isThreads ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// A loop that is rewritten has no results, and steps by a positive constant.
static bool canAlign(scf::ForOp loop, const ThreadFacts &facts) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  return loop.getNumResults() == 0 && step && *step > 0 && facts.threadsAt(loop) &&
         holdsThreadStatements(loop) &&
         llvm::any_of(loop->getOperands(), [&](Value v) { return facts.varies(v); });
}

/// The first loop in a block, outer ones before inner ones, that threads cannot go round at their
/// own pace.
static scf::ForOp findLoop(Block &block, const ThreadFacts &facts) {
  for (Operation &op : block.without_terminator()) {
    if (!facts.isThreaded(&op) || op.getNumRegions() == 0 || isa<ParallelOp>(op) ||
        runsAtOwnPace(&op, facts))
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && canAlign(loop, facts))
      return loop;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        if (scf::ForOp found = findLoop(inner, facts))
          return found;
  }
  return {};
}

/// How often a thread goes round.
static Value countTrips(ImplicitLocOpBuilder &b, scf::ForOp loop) {
  int64_t step = *getConstantIntValue(loop.getStep());
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value); };
  Value distance = arith::SubIOp::create(b, loop.getUpperBound(), loop.getLowerBound());
  Value padded = arith::AddIOp::create(b, distance, constant(step - 1));
  Value trips = FloorDivOp::create(b, padded, constant(step), UnitAttr());
  return arith::MaxSIOp::create(b, trips, constant(0));
}

/// The largest number of any thread.
static Value findMost(ImplicitLocOpBuilder &b, Value trips) {
  Type type = b.getI64Type();
  Value most = AllocOp::create(b, makeBufferType({1}, type, Space::Shared),
                               b.getStringAttr("trips"), ValueRange(), ReduceKindAttr());
  Value first = arith::ConstantIndexOp::create(b, 0);
  StoreOp::create(b, arith::ConstantIntOp::create(b, 0, 64), most, first);
  Value own = arith::IndexCastOp::create(b, type, trips);
  AtomicElementOp::create(b, type, AtomicKind::Max, own, most, first, MemoryOrder::Relaxed);
  return arith::IndexCastOp::create(b, b.getIndexType(), LoadOp::create(b, type, most, first));
}

static void align(scf::ForOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value trips = countTrips(b, loop);
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  auto whole = scf::ForOp::create(b, zero, findMost(b, trips), one);
  b.setInsertionPointToStart(whole.getBody());
  Value number = whole.getInductionVar();
  Value isIn = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, number, trips);
  auto branch = scf::IfOp::create(b, isIn, /*withElseRegion=*/false);
  Block &body = branch.getThenRegion().front();
  b.setInsertionPointToStart(&body);
  Value passed = arith::MulIOp::create(b, number, loop.getStep());
  Value index = arith::AddIOp::create(b, loop.getLowerBound(), passed);
  loop.getInductionVar().replaceAllUsesWith(index);
  body.getOperations().splice(body.getTerminator()->getIterator(), loop.getBody()->getOperations(),
                              loop.getBody()->begin(),
                              loop.getBody()->getTerminator()->getIterator());
  loop.erase();
}

void alignLoops(KernelOp kernel) {
  while (scf::ForOp loop = findLoop(kernel.getBody().front(), ThreadFacts(kernel)))
    align(loop);
}

} // namespace tilewright::threads
