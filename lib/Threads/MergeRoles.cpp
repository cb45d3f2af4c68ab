//===- MergeRoles.cpp - roles that wait for each other take turns ----------------------------===//
//
// Roles follow the text: what stands first runs first, until it waits for what another role does.
// Where two roles have loops in which each waits for the other, their iterations must alternate.
//
//   if producer:                          for k:
//     for k:                                if producer:
//       wait(free, (k + 1) % 2)               wait(free, (k + 1) % 2)
//       copy; arrive(ready)        ──▶         copy; arrive(ready)
//   else:                                   else:
//     for k:                                  wait(ready, k % 2)
//       wait(ready, k % 2)                    gemm; arrive(free)
//       gemm; arrive(free)
//
// How: the first iteration of each loop is played through. A role runs until it comes to a wait
// that is not met, or to a loop in which it waits for another role; then the next role does. A
// branch that only later iterations take, with waits inside, is come to when no other role can go
// on: in those iterations all has been done that it can wait for. Loops to which all roles have
// come, with the same bounds, become one, whose body is planned in the same way. Nothing
// moves unless the plan comes to an end.
//
// The order is tried before it is taken (WaitOrder.h): a copy of the kernel with it is run through,
// as far as barriers are concerned. Where a wait is not met, or that cannot be told (a branch or a
// `while` on data, a bound that a block computes), the roles become machines that stop and go on at
// waits instead (ResumeRoles.h).
//
// An order is never trusted: waits stay, and become comparisons of counts (tile-count-arrivals), so
// that one that does not hold for later iterations is an error when the program runs.
//
//===----------------------------------------------------------------------------------------===//

#include "FirstIteration.h"
#include "ResumeRoles.h"
#include "SplitArrays.h"
#include "SplitBranches.h"
#include "WaitOrder.h"
#include "Waits.h"
#include "tilewright/Threads/Passes.h"
#include "tilewright/Tile/Teams.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <utility>
#include <vector>

namespace tilewright {
#define GEN_PASS_DEF_MERGEROLES
#include "tilewright/Threads/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

namespace {

//===----------------------------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------------------------===//

/// A role, or its part of a loop that roles share.
struct Part {
  unsigned role;
  Block *block;
};

/// Statements of one role in a row, or a loop that the roles `loops` go round together.
struct Step {
  unsigned role = 0;
  SmallVector<Operation *> statements;
  SmallVector<std::pair<unsigned, scf::ForOp>> loops;
  std::vector<Step> body;
};

bool haveEqualBounds(scf::ForOp a, scf::ForOp b) {
  return a.getInitArgs().empty() && b.getInitArgs().empty() &&
         areEqual(a.getLowerBound(), b.getLowerBound()) &&
         areEqual(a.getUpperBound(), b.getUpperBound()) && areEqual(a.getStep(), b.getStep());
}

/// The steps in which the parts come to their ends, or nothing.
std::optional<std::vector<Step>> plan(ArrayRef<Part> parts, FirstIteration &played) {
  std::vector<Step> steps;
  SmallVector<Operation *> next;
  for (const Part &part : parts)
    next.push_back(&part.block->front());
  auto isAtEnd = [&](unsigned i) { return next[i]->hasTrait<OpTrait::IsTerminator>(); };
  auto loopAt = [&](unsigned i) {
    auto loop = dyn_cast<scf::ForOp>(next[i]);
    return loop && holdsWait(loop) ? loop : scf::ForOp();
  };
  bool mayPassOver = false; // the next branch that the first iteration does not take
  while (true) {
    bool progress = false;
    for (auto [i, part] : llvm::enumerate(parts)) {
      Step step;
      step.role = part.role;
      while (!isAtEnd(i)) {
        bool passesOver = played.skipsWait(next[i]);
        Operation *following = findEndOfStatement(next[i])->getNextNode();
        if ((passesOver && !mayPassOver) || !played.pass(following->getPrevNode()))
          break;
        mayPassOver &= !passesOver;
        for (; next[i] != following; next[i] = next[i]->getNextNode())
          step.statements.push_back(next[i]);
      }
      if (!step.statements.empty()) {
        steps.push_back(std::move(step));
        progress = true;
      }
    }
    if (progress)
      continue;
    auto skipsWait = [&](unsigned i) { return !isAtEnd(i) && played.skipsWait(next[i]); };
    if (!std::exchange(mayPassOver, true) &&
        llvm::any_of(llvm::seq<unsigned>(0, parts.size()), skipsWait))
      continue;
    mayPassOver = false;
    Step shared;
    SmallVector<Part> bodies;
    bool canShare = true;
    for (auto [i, part] : llvm::enumerate(parts)) {
      if (isAtEnd(i))
        continue;
      scf::ForOp loop = loopAt(i);
      canShare &=
          loop && (shared.loops.empty() || haveEqualBounds(shared.loops.front().second, loop));
      if (!canShare)
        break;
      shared.loops.push_back({part.role, loop});
      bodies.push_back({part.role, loop.getBody()});
    }
    if (!canShare) {
      // Where all have come to waits, the first one that is not known is as good as any.
      auto isFree = [&](unsigned i) {
        return !isAtEnd(i) && !loopAt(i) && played.isInDoubt(findEndOfStatement(next[i]));
      };
      auto all = llvm::seq<unsigned>(0, parts.size());
      auto found = llvm::find_if(all, isFree);
      if (found == all.end())
        return std::nullopt; // all wait for what does not come
      Step step;
      step.role = parts[*found].role;
      Operation *following = findEndOfStatement(next[*found])->getNextNode();
      for (Operation *&op = next[*found]; op != following; op = op->getNextNode())
        step.statements.push_back(op);
      steps.push_back(std::move(step));
      continue;
    }
    if (bodies.empty())
      return steps;
    for (auto [i, part] : llvm::enumerate(parts))
      if (!isAtEnd(i)) {
        played.bind(loopAt(i).getInductionVar(), loopAt(i).getLowerBound());
        next[i] = next[i]->getNextNode();
      }
    std::optional<std::vector<Step>> body = plan(bodies, played);
    if (!body)
      return std::nullopt;
    shared.body = std::move(*body);
    for (auto [role, loop] : shared.loops)
      played.forgetCountsOf(loop);
    steps.push_back(std::move(shared));
  }
}

//===----------------------------------------------------------------------------------------===//
// Writing it down
//===----------------------------------------------------------------------------------------===//

/// Whether an op may stand in front of its role's condition: it computes a number from such.
bool isForAll(Operation *op, const llvm::DenseSet<Value> &guarded) {
  return (isPureScalar(op) && op->getNumRegions() == 0 &&
          llvm::none_of(op->getOperands(), [&](Value v) { return guarded.contains(v); })) ||
         isa<AllocOp, BarrierAllocOp>(op);
}

/// Whether no step uses what another one has read: values under a condition end with it.
bool areSelfContained(ArrayRef<Step> steps, llvm::DenseSet<Value> &guarded) {
  for (const Step &step : steps) {
    if (!areSelfContained(step.body, guarded))
      return false;
    llvm::SmallPtrSet<Operation *, 8> own(step.statements.begin(), step.statements.end());
    for (Operation *op : step.statements) {
      if (isForAll(op, guarded))
        continue;
      guarded.insert(op->result_begin(), op->result_end());
      for (Operation *user : op->getUsers())
        if (!own.contains(op->getBlock()->findAncestorOpInBlock(*user)))
          return false;
    }
  }
  return true;
}

void write(MutableArrayRef<Step> steps, ArrayRef<Value> conditions, ImplicitLocOpBuilder &b,
           const llvm::DenseSet<Value> &guarded) {
  for (Step &step : steps) {
    if (step.loops.empty()) {
      b.setLoc(step.statements.front()->getLoc());
      auto guard = scf::IfOp::create(b, conditions[step.role], /*withElseRegion=*/false);
      for (Operation *op : step.statements)
        op->moveBefore(isForAll(op, guarded) ? guard.getOperation()
                                             : guard.getThenRegion().front().getTerminator());
      continue;
    }
    scf::ForOp first = step.loops.front().second;
    b.setLoc(first.getLoc());
    auto loop =
        scf::ForOp::create(b, first.getLowerBound(), first.getUpperBound(), first.getStep());
    for (auto [role, old] : step.loops)
      old.getInductionVar().replaceAllUsesWith(loop.getInductionVar());
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    write(step.body, conditions, b, guarded);
    for (auto [role, old] : step.loops)
      old.erase();
  }
}

//===----------------------------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------------------------===//

/// Roles that stand one after another, or are the sides of one branch.
struct Roles {
  SmallVector<scf::IfOp> branches; // the outermost ones
  SmallVector<Part> parts;
  SmallVector<Value> conditions;
};

class Merger {
public:
  /// With `resumes`, roles become machines, and take turns in no order that is known in advance.
  Merger(KernelOp kernel, bool resumes) : kernel(kernel), facts(kernel), resumes(resumes) {}

  void run() { mergeIn(kernel.getBody().front()); }

private:
  bool isRole(scf::IfOp branch) {
    return branch.getNumResults() == 0 && facts.varies(branch.getCondition()) &&
           facts.threadsWhere(branch.getCondition()).has_value();
  }

  void mergeIn(Block &block) {
    for (Operation *op = &block.front(); op; op = op->getNextNode()) {
      auto branch = dyn_cast<scf::IfOp>(op);
      if (!branch || !isRole(branch)) {
        for (Region &region : op->getRegions())
          for (Block &inner : region)
            mergeIn(inner);
        continue;
      }
      Operation *following = op->getNextNode();
      SmallVector<scf::IfOp> branches{branch};
      for (; following; following = following->getNextNode()) {
        auto another = dyn_cast<scf::IfOp>(following);
        if (another && isRole(another))
          branches.push_back(another);
        else if (!isPureScalar(following) || following->hasTrait<OpTrait::IsTerminator>())
          break;
      }
      merge(branches);
      op = following->getPrevNode();
    }
  }

  /// Adds the sides of a branch as roles. An `else` that is itself a branch is its sides.
  void addSides(scf::IfOp branch, Value around, Roles &roles, ImplicitLocOpBuilder &b) {
    Value condition = branch.getCondition();
    Value then = around ? arith::AndIOp::create(b, around, condition).getResult() : condition;
    addRole(branch.getThenRegion(), then, roles);
    if (branch.getElseRegion().empty())
      return;
    Value negated =
        arith::XOrIOp::create(b, condition, arith::ConstantIntOp::create(b, 1, 1)).getResult();
    Value other = around ? arith::AndIOp::create(b, around, negated).getResult() : negated;
    Block &side = branch.getElseRegion().front();
    scf::IfOp only;
    for (Operation &op : side.without_terminator())
      if (!isPureScalar(&op) || isa<scf::IfOp>(op)) {
        only = only ? scf::IfOp() : dyn_cast<scf::IfOp>(op);
        if (!only)
          return addRole(branch.getElseRegion(), other, roles);
      }
    if (!only || !isRole(only))
      return addRole(branch.getElseRegion(), other, roles);
    for (Operation &op : llvm::make_early_inc_range(side.without_terminator()))
      if (&op != only)
        op.moveBefore(&*b.getInsertionPoint());
    addSides(only, other, roles, b);
  }

  void addRole(Region &region, Value condition, Roles &roles) {
    roles.parts.push_back({static_cast<unsigned>(roles.conditions.size()), &region.front()});
    roles.conditions.push_back(condition);
  }

  void merge(ArrayRef<scf::IfOp> branches) {
    if (!llvm::any_of(branches, holdsWait))
      return;
    // Numbers between the branches come in front of all.
    scf::IfOp first = branches.front();
    for (Operation *op = first; op != branches.back();) {
      Operation *next = op->getNextNode();
      if (!llvm::is_contained(branches, op))
        op->moveBefore(first);
      op = next;
    }
    ImplicitLocOpBuilder b(first.getLoc(), first);
    Roles roles;
    for (scf::IfOp branch : branches)
      addSides(branch, Value(), roles, b);
    if (roles.parts.size() < 2)
      return;
    if (resumes) {
      SmallVector<RoleBody> bodies;
      for (const Part &part : roles.parts)
        bodies.push_back({part.block, roles.conditions[part.role]});
      if (resumeRoles(bodies, first, facts)) {
        for (scf::IfOp branch : branches)
          branch.erase();
        return;
      }
    }
    for (const Part &part : roles.parts)
      splitBranches(*part.block, facts);
    FirstIteration played(facts);
    playUpTo(first, played);
    std::optional<std::vector<Step>> steps = plan(roles.parts, played);
    llvm::DenseSet<Value> guarded;
    if (!steps || !areSelfContained(*steps, guarded))
      return;
    write(*steps, roles.conditions, b, guarded);
    for (scf::IfOp branch : branches)
      branch.erase();
  }

  /// All that happens in front of `op` in the first iterations of the loops around it.
  void playUpTo(Operation *op, FirstIteration &played) {
    if (op->getParentOp() != kernel)
      playUpTo(op->getParentOp(), played);
    if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
      played.bind(loop.getInductionVar(), loop.getLowerBound());
    for (Operation &before : *op->getBlock()) {
      if (&before == op)
        return;
      played.pass(&before);
    }
  }

  KernelOp kernel;
  ThreadFacts facts;
  bool resumes;
};

/// Interleaves the roles of a kernel (`if tx < 128: … else: …`, `T.ws`) that wait for each other at
/// barriers. What cannot be interleaved is left as it is.
struct MergeRolesPass : tilewright::impl::MergeRolesBase<MergeRolesPass> {
  void runOnOperation() override {
    SmallVector<KernelOp> kernels;
    getOperation().walk([&](KernelOp kernel) {
      if (holdsWait(kernel) && getTeamRoles(kernel).empty())
        kernels.push_back(kernel);
    });
    for (KernelOp kernel : kernels) {
      splitArrays(kernel, ThreadFacts(kernel)); // roles are played through one after another
      auto merged = cast<KernelOp>(OpBuilder(kernel).clone(*kernel));
      Merger(merged, /*resumes=*/false).run();
      bool isOrder = areWaitsMet(merged);
      (isOrder ? kernel : merged).erase();
      if (!isOrder)
        Merger(kernel, /*resumes=*/true).run();
    }
  }
};

} // namespace

} // namespace tilewright::threads
