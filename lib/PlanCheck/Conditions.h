//===- Conditions.h - what a plan must satisfy --------------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_PLANCHECK_CONDITIONS_H
#define TILEWRIGHT_LIB_PLANCHECK_CONDITIONS_H

#include "AccessModel.h"
#include "tilewright/PlanCheck/PlanCheck.h"

namespace tilewright::plancheck {

/// Judges one plan. What does not depend on values is checked first, then round after round every
/// thread's groups.
class PlanJudge {
public:
  PlanJudge(const Subject &subject, tile::AccessAttr plan, const Options &options)
      : subject(subject), plan(plan), owners(subject.owners), options(options),
        isRead(subject.isRead), isGlobal(subject.isGlobal()) {}

  /// The first fault, or nothing.
  std::string run();

private:
  bool checkForm();
  bool checkMatrixForm();
  bool checkCoverage();
  bool checkInstruction();
  bool checkRound(AccessModel &model);
  bool checkGroup(int64_t thread, int64_t group);
  bool checkAnchors(int64_t thread);
  bool checkSources(int64_t thread);
  bool isTested(const Point &first) const { return (first.outside & guarded) == 0; }
  /// Records the fault.
  bool refuse(const llvm::Twine &text) {
    fault = text.str();
    return false;
  }

  const Subject &subject;
  tile::AccessAttr plan;
  const IterationOwners &owners;
  const Options &options;
  bool isRead;
  bool isGlobal;
  uint64_t guarded = 0;      ///< The dimensions whose bounds are tested, as bits.
  std::vector<Point> points; ///< Of each iteration, in the current round.
  std::string fault;
};

} // namespace tilewright::plancheck

#endif // TILEWRIGHT_LIB_PLANCHECK_CONDITIONS_H
