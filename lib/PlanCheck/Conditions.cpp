//===- Conditions.cpp - what a plan must satisfy ---------------------------------------------===//
//
// A group is one instruction at the address of its first slot, under one test of the bounds: that
// of its first slot, in the guarded dimensions. So a plan is right if in every group that is issued
// each slot's element is where the instruction finds it, and if a group is issued exactly when each
// of its slots is to be done.
//
//===----------------------------------------------------------------------------------------===//

#include "Conditions.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using namespace tilewright::plancheck;

/// Where shared tiles start (tile-plan-shared-memory).
static constexpr int64_t kSharedAlignment = 128;
/// A row of a matrix that ldmatrix reads.
static constexpr int64_t kMatrixRowBytes = 16;
/// The widest load or store (PTX ISA, "Vectors": 128 bits below sm_100).
static constexpr int64_t kMaxVectorBytes = 16;
/// Distances between groups become immediates of addresses, in 32 bits.
static constexpr int64_t kMaxDelta = int64_t(1) << 30;

/// `slots 0, 1 of thread 5`.
static std::string describe(ArrayRef<int64_t> slots, int64_t thread) {
  std::string text = slots.size() == 1 ? "slot " : "slots ";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(slots, os);
  os << " of thread " << thread;
  return text;
}

std::string PlanJudge::run() {
  if (!checkForm() || (subject.hasRows && !checkMatrixForm()) || !checkCoverage() ||
      !checkInstruction())
    return fault;
  AccessModel model(subject);
  // Some choices of the outer values run no iteration; give up after a while.
  unsigned effective = 0, wanted = model.hasDraws() ? options.rounds : 1;
  for (uint64_t round = 0; effective < wanted && round < 4 * options.rounds; ++round) {
    if (!model.startRound(round))
      continue;
    ++effective;
    if (!checkRound(model))
      return fault;
  }
  return "";
}

//===----------------------------------------------------------------------------------------===//
// What does not depend on values
//===----------------------------------------------------------------------------------------===//

/// Lists of the right lengths, with entries that name something.
bool PlanJudge::checkForm() {
  int64_t width = plan.getWidth(), rank = subject.getRootType().getRank();
  if (width < 1 || plan.getSlots().size() % width != 0)
    return refuse("its slots are no groups of " + Twine(width));
  std::vector<char> seen(owners.numSlots, false);
  for (int64_t slot : plan.getSlots()) {
    if (slot < 0 || slot >= owners.numSlots)
      return refuse("the loop has no slot " + Twine(slot));
    if (seen[slot])
      return refuse("slot " + Twine(slot) + " is in two groups");
    seen[slot] = true;
  }
  for (int64_t dim : plan.getGuarded()) {
    if (dim < 0 || dim >= std::min<int64_t>(rank, 64))
      return refuse("there is no dimension " + Twine(dim) + " to guard");
    guarded |= uint64_t(1) << dim;
  }
  int64_t groups = plan.getNumGroups();
  if (plan.getAnchors().size() != plan.getDeltas().size() ||
      (!plan.getAnchors().empty() && int64_t(plan.getAnchors().size()) != groups))
    return refuse("it has anchors or deltas for other than its " + Twine(groups) + " groups");
  for (auto [group, anchor] : llvm::enumerate(plan.getAnchors())) {
    if (anchor < 0 || anchor >= groups || plan.getAnchors()[anchor] != anchor ||
        plan.getDeltas()[anchor] != 0)
      return refuse("the anchor of group " + Twine(group) + " has no address of its own");
    if (std::abs(plan.getDeltas()[group]) > kMaxDelta)
      return refuse("the delta of group " + Twine(group) + " does not fit in an address");
  }
  if (plan.getSources().empty())
    return true;
  if (!isRead)
    return refuse("only reads have sources");
  if (int64_t(plan.getSources().size()) != owners.numSlots)
    return refuse("it has sources for other than the loop's " + Twine(owners.numSlots) + " slots");
  for (int64_t source : plan.getSources())
    if (source < -1 || source >= int64_t(plan.getSlots().size()))
      return refuse("there is no element " + Twine(source) + " to take a value from");
  return true;
}

/// A group is one row of 16 bytes; groups come in the order of the loads, each with an address.
bool PlanJudge::checkMatrixForm() {
  if (isGlobal)
    return refuse("ldmatrix reads shared memory only");
  if (plan.getWidth() * subject.getElementBytes() != kMatrixRowBytes)
    return refuse("a row of a matrix has 16 bytes");
  for (auto [position, slot] : llvm::enumerate(plan.getSlots()))
    if (slot != int64_t(position))
      return refuse("its rows are not in the order of the loads");
  if (plan.getAnchors().empty() || !plan.getSources().empty())
    return refuse("every row has an address, and is its own");
  return true;
}

/// Every slot that runs anywhere is done: by a group, or by taking the value of one that is.
bool PlanJudge::checkCoverage() {
  std::vector<char> done(owners.numSlots, false);
  for (int64_t slot : plan.getSlots())
    done[slot] = true;
  for (auto [slot, source] : llvm::enumerate(plan.getSources()))
    done[slot] |= source >= 0;
  for (int64_t thread = 0; thread < owners.numThreads; ++thread)
    for (int64_t slot = 0; slot < owners.numSlots; ++slot)
      if (owners.iterationAt(thread, slot) >= 0 && !done[slot])
        return refuse(describe(slot, thread) + " is never done");
  return true;
}

/// The widest update of neighbouring elements by one instruction (PTX ISA, "red": vectors are
/// global and of sm_90; pairs of halves are older and go everywhere).
static int64_t getWidestUpdate(AtomicElementOp op, const Arch &arch, bool isGlobal) {
  if (op.getKind() != AtomicKind::Add || op.getOrder() != MemoryOrder::Relaxed ||
      !op.getPrevious().use_empty())
    return 1;
  Type type = op.getBuffer().getType().getElementType();
  bool hasVectors = isGlobal && arch.hasVectorRed;
  if (type.isF32())
    return hasVectors ? 4 : 1;
  bool hasPairs = type.isF16() || (type.isBF16() && arch.hasBf16Atomics);
  return !hasPairs ? 1 : hasVectors ? 8 : 2;
}

bool PlanJudge::checkInstruction() {
  int64_t width = plan.getWidth(), bytes = width * subject.getElementBytes();
  if (width == 1)
    return true;
  if (!llvm::isPowerOf2_64(width) || bytes > kMaxVectorBytes)
    return refuse("no instruction moves " + Twine(bytes) + " bytes");
  if (auto atomic = dyn_cast<AtomicElementOp>(subject.op))
    if (width > getWidestUpdate(atomic, options.arch, isGlobal))
      return refuse(options.arch.name + " has no update of " + Twine(width) + " elements");
  if (isa<ReducerUpdateOp>(subject.op))
    return refuse("contributions to a reducer go one by one");
  int64_t alignment = isGlobal ? options.argumentAlignment : kSharedAlignment;
  if (alignment % bytes != 0)
    return refuse("its base is a multiple of " + Twine(alignment) + " bytes only");
  return true;
}

//===----------------------------------------------------------------------------------------===//
// What depends on values
//===----------------------------------------------------------------------------------------===//

bool PlanJudge::checkRound(AccessModel &model) {
  points.resize(owners.numIterations);
  for (int64_t iteration = 0; iteration < owners.numIterations; ++iteration)
    points[iteration] = model.at(owners.unravel(iteration));
  for (int64_t thread = 0; thread < owners.numThreads; ++thread) {
    for (int64_t group = 0; group < plan.getNumGroups(); ++group)
      if (!checkGroup(thread, group))
        return false;
    if (!checkAnchors(thread) || !checkSources(thread))
      return false;
  }
  return true;
}

bool PlanJudge::checkGroup(int64_t thread, int64_t group) {
  ArrayRef<int64_t> slots = plan.getGroup(group);
  int64_t first = owners.iterationAt(thread, slots[0]);
  for (int64_t slot : slots) {
    if ((owners.iterationAt(thread, slot) < 0) != (first < 0))
      return refuse("only a part of " + describe(slots, thread) + " runs");
    if (!isRead && owners.ownsAt(thread, slot) != owners.ownsAt(thread, slots[0]))
      return refuse("only a part of " + describe(slots, thread) + " is owned");
  }
  if (first < 0 || (!isRead && !owners.ownsAt(thread, slots[0])))
    return true;
  for (int64_t slot : slots) {
    const Point &point = points[owners.iterationAt(thread, slot)];
    if (point.state == Point::Unknown || (!isGlobal && point.outside))
      return true; // the program says nothing about this group
  }
  bool tested = isTested(points[first]);
  for (auto [position, slot] : llvm::enumerate(slots)) {
    const Point &point = points[owners.iterationAt(thread, slot)];
    if (point.taken != points[first].taken) // one branch is built for the group
      return refuse("a condition holds for a part of " + describe(slots, thread));
    if (point.state == Point::Off)
      continue;
    if (isGlobal && tested && point.outside) {
      int64_t dim = llvm::countr_zero(point.outside);
      return refuse(describe(slot, thread) + " leaves the bounds of dimension " + Twine(dim) +
                    (guarded >> dim & 1 ? ", which its group does not" : " untested"));
    }
    if (isGlobal && !tested && !point.outside)
      return refuse(describe(slot, thread) + " lies in bounds and its group does not");
    int64_t distance = point.offset - points[first].offset;
    if (tested && distance != int64_t(position))
      return refuse(describe({slots[0], slot}, thread) + " lie " + Twine(distance) +
                    " elements apart");
  }
  if (tested && points[first].state == Point::Runs && points[first].offset % plan.getWidth() != 0)
    return refuse(describe(slots[0], thread) + " starts at element " + Twine(points[first].offset) +
                  ", which is no multiple of " + Twine(plan.getWidth()));
  return true;
}

/// Groups with one anchor find their addresses from each other: whichever of them is built first
/// has the address, so all that run must agree on where the anchor lies. That matters as soon as
/// one of them is issued.
bool PlanJudge::checkAnchors(int64_t thread) {
  struct Class {
    bool isIssued = false, disagrees = false;
    std::optional<int64_t> anchor;
    int64_t first = 0, second = 0; ///< Groups that disagree.
  };
  llvm::SmallDenseMap<int64_t, Class, 16> classes;
  for (auto [group, anchor] : llvm::enumerate(plan.getAnchors())) {
    int64_t iteration = owners.iterationAt(thread, plan.getGroup(group)[0]);
    if (iteration < 0)
      continue;
    const Point &point = points[iteration];
    if (point.state == Point::Unknown || (!isGlobal && point.outside))
      continue;
    Class &members = classes[anchor];
    members.isIssued |= point.state == Point::Runs && isTested(point);
    int64_t found = point.offset - plan.getDeltas()[group];
    if (!members.anchor) {
      members.anchor = found;
      members.first = group;
    } else if (*members.anchor != found && !members.disagrees) {
      members.disagrees = true;
      members.second = group;
    }
    if (members.isIssued && members.disagrees)
      return refuse("groups " + Twine(members.first) + " and " + Twine(members.second) +
                    " of thread " + Twine(thread) + " do not lie their deltas apart");
  }
  return true;
}

/// A slot that takes its value from another one reads the same element under the same condition.
bool PlanJudge::checkSources(int64_t thread) {
  for (auto [slot, source] : llvm::enumerate(plan.getSources())) {
    int64_t own = owners.iterationAt(thread, slot);
    if (source < 0 || own < 0)
      continue;
    int64_t from = plan.getSlots()[source], other = owners.iterationAt(thread, from);
    if (other < 0)
      return refuse(describe({int64_t(slot), from}, thread) + " share a value and do not both run");
    const Point &mine = points[own], &theirs = points[other];
    if (mine.state == Point::Unknown || theirs.state == Point::Unknown ||
        (!isGlobal && (mine.outside || theirs.outside)))
      continue;
    if (mine.state != theirs.state)
      return refuse("a condition holds for one of " + describe({int64_t(slot), from}, thread) +
                    ", which share a value");
    if (mine.state == Point::Off || (mine.outside && theirs.outside))
      continue; // both are the safe value
    if (mine.outside || theirs.outside || mine.offset != theirs.offset)
      return refuse(describe({int64_t(slot), from}, thread) +
                    " share a value and are different elements");
  }
  return true;
}
