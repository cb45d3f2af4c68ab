//===- Simulation.cpp - what the instructions of a plan would do -----------------------------===//

#include "Simulation.h"
#include "tilewright/Access/Requests.h"

#include <map>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using namespace tilewright::plancheck;

namespace {

/// What an iteration met: an element, the safe value, or something that is not its own.
struct Meeting {
  enum Kind { Element, Safe, Garbage } kind;
  int64_t offset = 0;
  friend bool operator==(const Meeting &a, const Meeting &b) {
    return a.kind == b.kind && (a.kind != Element || a.offset == b.offset);
  }
};

class Simulation {
public:
  Simulation(AccessModel &model, const IterationOwners &owners, AccessAttr plan)
      : model(model), owners(owners), plan(plan) {
    for (int64_t iteration = 0; iteration < owners.numIterations; ++iteration)
      points.push_back(model.at(owners.unravel(iteration)));
  }

  bool run() {
    for (int64_t thread = 0; thread < owners.numThreads; ++thread)
      if (!runThread(thread))
        return false;
    return true;
  }

private:
  bool isDontCare(int64_t iteration) const {
    const Point &point = points[iteration];
    return point.state == Point::Unknown || (!model.isGlobal() && point.outside);
  }
  bool isTested(const Point &point) const {
    return llvm::none_of(plan.getGuarded(), [&](int64_t dim) { return point.outside >> dim & 1; });
  }
  bool runThread(int64_t thread);
  bool issue(int64_t thread, int64_t group, int64_t address);
  std::optional<int64_t> addressOf(int64_t thread, int64_t group, bool &agrees);

  AccessModel &model;
  const IterationOwners &owners;
  AccessAttr plan;
  std::vector<Point> points;
  std::map<int64_t, SmallVector<Meeting, 1>> met; ///< By slot of the current thread.
};

/// The address of a group: its own, or that of any group with the same anchor and its distance from
/// it. All of these must agree, since which of them is built first is the code generator's choice.
std::optional<int64_t> Simulation::addressOf(int64_t thread, int64_t group, bool &agrees) {
  int64_t first = owners.iterationAt(thread, plan.getGroup(group)[0]);
  std::optional<int64_t> address = points[first].offset;
  if (plan.getAnchors().empty())
    return address;
  for (int64_t other = 0; other < plan.getNumGroups(); ++other) {
    int64_t start = owners.iterationAt(thread, plan.getGroup(other)[0]);
    if (plan.getAnchors()[other] != plan.getAnchors()[group] || start < 0 || isDontCare(start))
      continue;
    agrees &= points[start].offset + plan.getDeltas()[group] - plan.getDeltas()[other] == *address;
  }
  return address;
}

bool Simulation::issue(int64_t thread, int64_t group, int64_t address) {
  if (address % plan.getWidth() != 0)
    return false; // misaligned
  for (auto [position, slot] : llvm::enumerate(plan.getGroup(group))) {
    if (owners.iterationAt(thread, slot) < 0)
      return false; // a register that holds nothing
    met[slot].push_back({Meeting::Element, address + int64_t(position)});
  }
  return true;
}

bool Simulation::runThread(int64_t thread) {
  met.clear();
  llvm::DenseSet<int64_t> excused;
  for (int64_t group = 0; group < plan.getNumGroups(); ++group) {
    ArrayRef<int64_t> slots = plan.getGroup(group);
    bool anyActive = false, anyInactive = false, dontCare = false;
    for (int64_t slot : slots) {
      int64_t iteration = owners.iterationAt(thread, slot);
      (iteration < 0 ? anyInactive : anyActive) = true;
      dontCare |= iteration >= 0 && isDontCare(iteration);
    }
    if (anyActive && anyInactive)
      return false; // slots of one instruction share their activity
    if (!anyActive)
      continue;
    bool isOwner = owners.ownsAt(thread, slots[0]);
    for (int64_t slot : slots)
      if (!model.isRead() && owners.ownsAt(thread, slot) != isOwner)
        return false;
    if (dontCare) {
      excused.insert(slots.begin(), slots.end());
      continue;
    }
    const Point &first = points[owners.iterationAt(thread, slots[0])];
    if (!model.isRead() && !isOwner)
      continue;
    for (int64_t slot : slots) // one branch is built for the group
      if (points[owners.iterationAt(thread, slot)].taken != first.taken)
        return false;
    if (first.state == Point::Off)
      continue;
    if (!isTested(first)) {
      if (model.isRead())
        for (int64_t slot : slots)
          met[slot].push_back({Meeting::Safe});
      continue;
    }
    bool agrees = true;
    std::optional<int64_t> address = addressOf(thread, group, agrees);
    if (!agrees || !issue(thread, group, *address))
      return false;
  }
  for (auto [slot, source] : llvm::enumerate(plan.getSources())) {
    if (source < 0 || owners.iterationAt(thread, slot) < 0)
      continue;
    int64_t from = plan.getSlots()[source], iteration = owners.iterationAt(thread, from);
    if (iteration < 0)
      return false;
    if (isDontCare(iteration) || excused.contains(from))
      excused.insert(slot);
    met[slot] = met[from];
  }
  for (int64_t slot = 0; slot < owners.numSlots; ++slot) {
    int64_t iteration = owners.iterationAt(thread, slot);
    if (iteration < 0 || excused.contains(slot) || isDontCare(iteration))
      continue;
    const Point &point = points[iteration];
    SmallVector<Meeting, 1> expected;
    bool isDone = point.state == Point::Runs && (model.isRead() || owners.ownsAt(thread, slot));
    if (isDone && !point.outside)
      expected.push_back({Meeting::Element, point.offset});
    else if (isDone && model.isRead())
      expected.push_back({Meeting::Safe});
    if (met[slot] != expected)
      return false;
  }
  return true;
}

/// What does not depend on values: the instruction exists and its base is aligned.
bool hasInstruction(const Subject &subject, AccessAttr plan, const Options &options) {
  Type type = subject.getRootType().getElementType();
  bool isGlobal = subject.isGlobal();
  int64_t width = plan.getWidth(), bytes = width * subject.getElementBytes();
  if (subject.hasRows)
    return bytes == 16 &&
           llvm::equal(plan.getSlots(), llvm::seq<int64_t>(plan.getSlots().size())) &&
           !plan.getAnchors().empty();
  if (width == 1)
    return true;
  if (auto atomic = dyn_cast<AtomicElementOp>(subject.op);
      atomic && width > access::getAtomicWidth(atomic.getKind(), type, atomic.getOrder(), isGlobal,
                                               !atomic.getPrevious().use_empty(), options.arch))
    return false;
  return !isa<ReducerUpdateOp>(subject.op) && bytes <= 16 &&
         (!isGlobal || options.argumentAlignment % bytes == 0);
}

} // namespace

bool test::isLegal(Operation *op, StringRef planName, AccessAttr plan, const Options &options) {
  Subject subject = llvm::cantFail(Subject::get(op, planName));
  const IterationOwners &owners = subject.owners;
  if (!hasInstruction(subject, plan, options))
    return false;
  AccessModel model(subject);
  unsigned effective = 0, wanted = model.hasDraws() ? options.rounds : 1;
  for (uint64_t round = 0; effective < wanted && round < 4 * options.rounds; ++round) {
    if (!model.startRound(round))
      continue;
    ++effective;
    if (!Simulation(model, owners, plan).run())
      return false;
  }
  // A slot that no round reaches must still be done.
  llvm::DenseSet<int64_t> done(plan.getSlots().begin(), plan.getSlots().end());
  for (auto [slot, source] : llvm::enumerate(plan.getSources()))
    if (source >= 0)
      done.insert(slot);
  for (int64_t thread = 0; thread < owners.numThreads; ++thread)
    for (int64_t slot = 0; slot < owners.numSlots; ++slot)
      if (owners.iterationAt(thread, slot) >= 0 && !done.contains(slot))
        return false;
  return true;
}
