//===- ThreadPlan.cpp - how the threads of a block run each statement -------------------------===//

#include "ThreadPlan.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

/// Memory that is uniform by construction has a copy in each thread too: the copies stay equal.
bool tilewright::interp::isOfThread(tile::AllocOp alloc, const ThreadValues &values) {
  return tile::getSpace(alloc.getBuffer()) == tile::Space::Local || values.isOwn(alloc.getBuffer());
}

static bool isLocal(mlir::Value buffer) {
  return tile::getSpace(tile::getRoot(buffer)) == tile::Space::Local;
}

/// Whether threads can run a branch or loop as a whole, one thread after another: nothing in it can
/// be seen by another thread, and no thread waits.
bool ThreadPlan::isQuiet(Operation *op) const {
  return !op->walk([](Operation *inner) {
              bool isHarmless =
                  llvm::TypeSwitch<Operation *, bool>(inner)
                      .Case([](tile::StoreOp store) { return isLocal(store.getBuffer()); })
                      .Case([](tile::AllocOp alloc) { return isLocal(alloc.getBuffer()); })
                      .Case<tile::CopyOp, tile::FillOp>(
                          [](auto move) { return isLocal(move.getDest()); })
                      .Case<tile::LoadOp, tile::AssumeOp, scf::IfOp, scf::ForOp, scf::WhileOp,
                            tile::PipelinedOp>([](auto) { return true; })
                      .Default([](Operation *other) { return isMemoryEffectFree(other); });
              return isHarmless ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

Manner ThreadPlan::choose(const Step &step) const {
  Operation *op = step.op;
  auto isThreads = [&](mlir::Value operand) {
    return values.differs(operand) ||
           (isa<MemRefType>(operand.getType()) && values.isOwn(tile::getRoot(operand)));
  };
  return llvm::TypeSwitch<Operation *, Manner>(op)
      .Case<tile::AnnotateLayoutOp, tile::AnnotateSafeValueOp, tile::UseSwizzleOp, tile::HintOp>(
          [](auto) { return Manner::Skip; })
      .Case([&](tile::AllocOp alloc) {
        return isOfThread(alloc, values) ? Manner::Own : Manner::Allocate;
      })
      .Case([](tile::BarrierAllocOp) { return Manner::Allocate; })
      .Case([](tile::BarrierArriveOp arrival) {
        return arrival.getOnce() ? Manner::Together : Manner::Arrive;
      })
      .Case([](tile::BarrierWaitOp) { return Manner::Wait; })
      .Case([](tile::AtomicElementOp) { return Manner::Own; })
      .Case([&](tile::PrintOp print) {
        bool isOfEach = llvm::any_of(op->getOperands(), isThreads) || values.isUnderData(print);
        return isOfEach ? Manner::Own : Manner::Once;
      })
      .Case<tile::CopyOp, tile::FillOp>([&](auto) {
        return llvm::any_of(op->getOperands(), isThreads) ? Manner::Each : Manner::Together;
      })
      .Case<tile::GemmOp, tile::ReduceOp, tile::CumsumOp, tile::AtomicOp, tile::FinalizeReducerOp,
            tile::Im2colOp, tile::ParallelOp>([](auto) { return Manner::Together; })
      .Case<scf::IfOp, scf::ForOp, scf::WhileOp, tile::PipelinedOp>(
          [&](auto control) { return isQuiet(control) ? Manner::Own : Manner::Walk; })
      .Default([](Operation *) { return Manner::Each; });
}

static bool holdsWait(Operation *op) {
  return op->walk([](tile::BarrierWaitOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Roles stand next to each other where only numbers are computed between them.
void ThreadPlan::groupRoles(const Body &body, unsigned &numGroups) {
  SmallVector<const Step *> group;
  bool hasWait = false;
  auto close = [&] {
    if (hasWait) {
      ++numGroups;
      for (const Step *step : group)
        conducts[step].roleGroup = numGroups;
    }
    group.clear();
    hasWait = false;
  };
  for (const Step &step : body.steps) {
    auto branch = dyn_cast<scf::IfOp>(step.op);
    if (branch && conducts[&step].manner == Manner::Walk && branches.isDecided(branch)) {
      group.push_back(&step);
      hasWait |= holdsWait(branch);
    } else if (conducts[&step].touchesMemory || conducts[&step].manner == Manner::Walk) {
      close();
    } else if (!group.empty()) {
      group.push_back(&step);
    }
    for (const Body *nested : step.bodies)
      groupRoles(*nested, numGroups);
  }
  close();
}

ThreadPlan::ThreadPlan(Machine &machine, tile::KernelOp kernel, const Body &body)
    : branches(machine, kernel), values(kernel, branches) {
  SmallVector<tile::AllocOp> locals;
  kernel.walk([&](tile::AllocOp alloc) {
    if (isOfThread(alloc, values))
      locals.push_back(alloc);
  });
  forEachStep(body, [&](const Step &step) {
    Conduct &conduct = conducts[&step];
    conduct.manner = choose(step);
    conduct.threads = branches.getThreadsAt(step.op);
    conduct.isWaitLoop =
        isa<scf::ForOp, scf::WhileOp, tile::PipelinedOp>(step.op) && holdsWait(step.op);
    conduct.touchesMemory = conduct.manner != Manner::Walk && conduct.manner != Manner::Skip &&
                            !isMemoryEffectFree(step.op);
    conduct.mayMeet = conduct.touchesMemory && step.op->getNumRegions() == 0 &&
                      llvm::any_of(step.op->getOperands(), [](mlir::Value operand) {
                        return isa<MemRefType>(operand.getType()) && !isLocal(operand);
                      });
    for (auto [result, slot] : llvm::zip_equal(step.op->getResults(), step.out))
      (isa<MemRefType>(result.getType()) ? conduct.views : conduct.values).push_back(slot);
    if (conduct.manner == Manner::Together)
      for (tile::AllocOp alloc : locals)
        if (!step.op->isAncestor(alloc) && tile::mayWrite(step.op, alloc.getBuffer()))
          conduct.ownWritten.push_back(machine.program.slots.at(alloc.getBuffer()));
  });
  unsigned numGroups = 0;
  groupRoles(body, numGroups);
}
