//===- MutatePlansPass.cpp - tests the plan checker with wrong plans -------------------------===//
//
// `tw-opt -test-mutate-plans=arch=sm_90` changes each recorded plan in many small ways and asks the
// checker about each mutant. A simulation of the plan's instructions is the judge: a mutant that
// does something else than the loop says must be refused, any other must not. A wrong verdict is an
// error; the tally is a remark on the module:
//
//   mutants: width 12 refused 3 legal, group 20 refused 0 legal, …
//
//===----------------------------------------------------------------------------------------===//

#include "Simulation.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// A plan as lists that can be changed.
struct Draft {
  int64_t width;
  SmallVector<int64_t> slots, sources, anchors, deltas, guarded;

  explicit Draft(AccessAttr plan)
      : width(plan.getWidth()), slots(plan.getSlots()), sources(plan.getSources()),
        anchors(plan.getAnchors()), deltas(plan.getDeltas()), guarded(plan.getGuarded()) {}

  AccessAttr get(MLIRContext *context) const {
    return AccessAttr::get(context, width, slots, sources, anchors, deltas, guarded);
  }
  /// Every group computes its own address: the mutant is about something else.
  Draft &withoutAnchors() {
    anchors.clear();
    deltas.clear();
    return *this;
  }
};

struct Mutant {
  StringRef kind;
  AccessAttr plan;
};

class Mutator {
public:
  explicit Mutator(AccessAttr plan) : plan(plan) {}

  SmallVector<Mutant> run() {
    doubleWidth();
    shift();
    swap();
    for (int64_t group : someGroups())
      drop(group);
    for (unsigned position = 0; position < plan.getGuarded().size(); ++position)
      unguard(position);
    for (int64_t group : someGroups())
      moveDelta(group);
    misdirect();
    return std::move(mutants);
  }

private:
  void add(StringRef kind, const Draft &draft) {
    AccessAttr mutant = draft.get(plan.getContext());
    if (mutant != plan)
      mutants.push_back({kind, mutant});
  }
  /// The first, the second, the middle and the last one.
  SmallVector<int64_t> someGroups() const {
    SmallVector<int64_t> groups;
    int64_t count = plan.getNumGroups();
    for (int64_t group : {int64_t(0), int64_t(1), count / 2, count - 1})
      if (group < count && !llvm::is_contained(groups, group))
        groups.push_back(group);
    return groups;
  }

  void doubleWidth() {
    Draft draft(plan);
    draft.width *= 2;
    if (draft.slots.size() % draft.width == 0)
      add("width", draft.withoutAnchors());
  }
  /// Each group starts one slot later.
  void shift() {
    Draft draft(plan);
    if (draft.width == 1 || !draft.sources.empty())
      return;
    std::rotate(draft.slots.begin(), draft.slots.begin() + 1, draft.slots.end());
    add("base", draft.withoutAnchors());
  }
  void swap() {
    Draft draft(plan);
    if (draft.width == 1 || !draft.sources.empty())
      return;
    std::swap(draft.slots[0], draft.slots[1]);
    add("order", draft.withoutAnchors());
  }
  void drop(int64_t group) {
    Draft draft(plan);
    if (!draft.sources.empty())
      return;
    draft.slots.erase(draft.slots.begin() + group * draft.width,
                      draft.slots.begin() + (group + 1) * draft.width);
    add("group", draft.withoutAnchors());
  }
  void unguard(unsigned position) {
    Draft draft(plan);
    draft.guarded.erase(draft.guarded.begin() + position);
    add("guard", draft);
  }
  void moveDelta(int64_t group) {
    Draft draft(plan);
    if (draft.anchors.empty() || draft.anchors[group] == group)
      return;
    ++draft.deltas[group];
    add("delta", draft);
  }
  /// One slot takes its value from the next element.
  void misdirect() {
    for (size_t slot = 0; slot < plan.getSources().size(); slot += 1 + slot) {
      Draft draft(plan);
      if (draft.sources[slot] < 0 || draft.slots.size() == 1)
        continue;
      draft.sources[slot] = (draft.sources[slot] + 1) % draft.slots.size();
      add("source", draft);
    }
  }

  AccessAttr plan;
  SmallVector<Mutant> mutants;
};

struct MutatePlansPass : PassWrapper<MutatePlansPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MutatePlansPass)
  StringRef getArgument() const override { return "test-mutate-plans"; }
  StringRef getDescription() const override { return "test the plan checker with wrong plans"; }

  MutatePlansPass() = default;
  MutatePlansPass(const MutatePlansPass &other) : PassWrapper(other) {}
  Option<std::string> arch{*this, "arch", llvm::cl::init("sm_80"),
                           llvm::cl::desc("architecture whose instructions count")};

  void runOnOperation() override {
    const Arch *target = findArch(arch);
    if (!target)
      return signalPassFailure();
    plancheck::Options options{*target};
    struct Tally {
      int64_t refused = 0, legal = 0;
    };
    std::map<std::string, Tally> tallies; // in the order of names
    int64_t numPlans = 0;
    plancheck::forEachPlan(getOperation(), [&](Operation *op, StringRef planName, AccessAttr plan) {
      ++numPlans;
      if (!test::isLegal(op, planName, plan, options)) {
        op->emitError() << "the simulation disagrees with the recorded plan " << plan;
        signalPassFailure();
      }
      for (const Mutant &mutant : Mutator(plan).run()) {
        std::string fault = plancheck::findFault(op, planName, mutant.plan, options);
        bool isLegal = test::isLegal(op, planName, mutant.plan, options);
        ++(fault.empty() ? tallies[mutant.kind.str()].legal : tallies[mutant.kind.str()].refused);
        if (fault.empty() == isLegal)
          continue;
        op->emitError() << "the mutant " << mutant.plan << " (" << mutant.kind << ") is "
                        << (isLegal ? "legal and refused: " + fault : "wrong and not refused");
        signalPassFailure();
      }
    });
    InFlightDiagnostic tally = getOperation().emitRemark()
                               << "mutants of " << numPlans << " plans:";
    for (auto &[kind, counts] : tallies)
      tally << " " << kind << " " << counts.refused << " refused " << counts.legal << " legal,";
  }
};

} // namespace

namespace tilewright::test {
void registerMutatePlansPass() { PassRegistration<MutatePlansPass>(); }
} // namespace tilewright::test
