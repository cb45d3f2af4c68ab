//===- Checks.cpp - conflicts of iterations and blocks, declared effects ----------------------===//
//
// Iterations of one T.Parallel are actors; so are the blocks of one kernel. Two actors conflict on
// an element when both touch it and one writes it, except that atomic updates go together, and that
// two writers of the same bits are only noted as long as there is no reader. Of atomic updates only
// two stores of different bits conflict: which of them comes last is open. It suffices to
// remember, for each granule, two actors of each kind (Storage.h): whoever comes third differs from
// one of them.
//
//===----------------------------------------------------------------------------------------===//

#include "Machine.h"
#include "RoleWatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace tilewright;
using namespace tilewright::interp;

namespace {

/// What stands between an actor and the others that touched an element.
struct Conflict {
  enum Kind { None, SameValue, Different } kind = None;
  uint32_t other = 0;
  Access otherAccess = Access::Read;
};

/// The marks of one granule, seen by one actor. Numbers below `base` are of an earlier epoch.
struct MarksView {
  Marks &marks;
  uint32_t base;
  uint32_t actor;

  uint32_t findOther(const uint32_t (&actors)[2]) const {
    for (uint32_t other : actors)
      if (other >= base && other != actor)
        return other;
    return 0;
  }
  /// The newest actor stands first.
  void enter(uint32_t (&actors)[2]) const {
    if (actors[0] == actor)
      return;
    actors[1] = actors[0];
    actors[0] = actor;
  }

  Conflict touch(Access access, bool changesBits) {
    Conflict conflict = findConflict(access, changesBits);
    enter(access == Access::Read    ? marks.readers
          : access == Access::Write ? marks.writers
                                    : marks.updaters);
    if (access == Access::Exchange)
      enter(marks.exchangers);
    return conflict;
  }

private:
  Conflict findConflict(Access access, bool changesBits) const {
    uint32_t reader = findOther(marks.readers), writer = findOther(marks.writers),
             updater = findOther(marks.updaters), exchanger = findOther(marks.exchangers);
    bool isUpdate = access == Access::Update || access == Access::Exchange;
    if (access != Access::Read && reader)
      return {Conflict::Different, reader, Access::Read};
    if (!isUpdate && updater)
      return {Conflict::Different, updater, Access::Update};
    if (access == Access::Exchange && exchanger)
      return {changesBits ? Conflict::Different : Conflict::SameValue, exchanger, access};
    if (writer && access == Access::Write && !changesBits)
      return {Conflict::SameValue, writer, Access::Write};
    if (writer)
      return {Conflict::Different, writer, Access::Write};
    return {};
  }
};

} // namespace

static llvm::StringRef describe(Access access) {
  static constexpr llvm::StringLiteral names[] = {"reads", "writes", "atomically updates",
                                                  "atomically stores"};
  return names[static_cast<unsigned>(access)];
}

/// `iteration (0, 1) writes element [0] of 'a', which iteration (0, 0) reads`.
static std::string describeConflict(const View &view, int64_t element, llvm::StringRef actorName,
                                    llvm::ArrayRef<int64_t> actor, Access access,
                                    llvm::ArrayRef<int64_t> other, const Conflict &conflict) {
  std::string text = (actorName + " " + inParentheses(actor) + " " + describe(access)).str();
  text += " element " + inBrackets(unravel(element, view.surface)) + " of '" + view.storage->name;
  text +=
      ("', which " + actorName + " " + inParentheses(other) + " " + describe(conflict.otherAccess))
          .str();
  return conflict.kind == Conflict::SameValue ? text + " with the same value" : text;
}

/// Blocks are numbered with the first grid dimension running fastest.
static llvm::SmallVector<int64_t, 3> getBlock(const KernelRun &kernel, uint32_t number) {
  llvm::SmallVector<int64_t, 3> block;
  int64_t rest = number - kernel.base;
  for (int64_t extent : kernel.extents) {
    block.push_back(rest % extent);
    rest /= extent;
  }
  return block;
}

/// Calls `visit(marks)` for each granule of an element.
template <typename VisitT>
static void forEachMark(Storage &storage, ShadowArray<Marks> &marks, int64_t element, unsigned size,
                        VisitT &&visit) {
  if (marks.empty())
    marks = ShadowArray<Marks>(storage.countGranules());
  storage.forEachPiece(element, size, [&](int64_t offset, unsigned count, unsigned) {
    int64_t first = offset / storage.granuleBytes;
    for (int64_t granule = first; granule * storage.granuleBytes < offset + count; ++granule)
      visit(marks[granule]);
  });
}

/// A variable belongs to the iteration that assigns it before reading it. Answers whether this
/// access is of that kind and needs no further check.
static bool isPrivateAccess(MarksView view, Access access) {
  bool assigned = view.marks.writers[0] == view.actor;
  bool readOuterValue = view.marks.readers[0] == view.actor;
  if (access == Access::Write && !readOuterValue) {
    view.enter(view.marks.writers);
    return true;
  }
  return access == Access::Read && assigned && !readOuterValue;
}

void Machine::checkAccess(const Step &step, const View &view, int64_t element, Access access,
                          bool changesBits) {
  checkDeclared(step, view, element, access);
  Storage &storage = *view.storage;
  unsigned size = getBytes(view.format);
  if (roles)
    roles->touch(*this, step, view, element, access);

  if (parallel && parallel->base) {
    uint32_t base = std::max(parallel->base, storage.iterationBase);
    bool isOuterVariable = storage.isVariable && storage.iterationBase < parallel->base;
    if (isOuterVariable && access == Access::Write &&
        !llvm::is_contained(parallel->assignedVariables, &storage))
      parallel->assignedVariables.push_back(&storage);
    forEachMark(storage, storage.iterationMarks, element, size, [&](Marks &marks) {
      MarksView seen{marks, base, parallel->iteration};
      if (storage.isVariable && isPrivateAccess(seen, access))
        return;
      Conflict conflict = seen.touch(access, changesBits);
      if (conflict.kind == Conflict::None)
        return;
      bool isSame = conflict.kind == Conflict::SameValue;
      reportElement(isSame ? Severity::Note : Severity::Finding,
                    isSame ? FindingKind::SameValue : FindingKind::ParallelConflict, step, view,
                    unravel(element, view.surface), [&] {
                      auto at = [&](uint32_t iteration) {
                        return unravel(iteration - parallel->base, parallel->extents);
                      };
                      return describeConflict(view, element, "iteration", at(parallel->iteration),
                                              access, at(conflict.other), conflict);
                    });
    });
  }

  if (kernel && kernel->checksRaces && !storage.isOnChip())
    forEachMark(storage, storage.blockMarks, element, size, [&](Marks &marks) {
      Conflict conflict = MarksView{marks, kernel->base, kernel->number}.touch(access, changesBits);
      if (conflict.kind == Conflict::None)
        return;
      bool isSame = conflict.kind == Conflict::SameValue;
      reportElement(isSame ? Severity::Note : Severity::Finding,
                    isSame ? FindingKind::SameValue : FindingKind::Race, step, view,
                    unravel(element, view.surface), [&] {
                      return describeConflict(view, element, "block", kernel->block, access,
                                              getBlock(*kernel, conflict.other), conflict);
                    });
    });
}

//===----------------------------------------------------------------------------------------===//
// Declared effects
//===----------------------------------------------------------------------------------------===//

static int64_t sumUp(const Machine &machine, const SlotSum &sum) {
  int64_t result = sum.constant;
  for (auto [slot, factor] : sum.terms)
    result += factor * machine.values[slot].integer;
  return result;
}

void Machine::allowEffects(const Step &step) {
  allowed.clear();
  for (const DeclaredEffect &effect : step.effects) {
    AllowedAccess &access = allowed.emplace_back();
    access.access = effect.access;
    access.storage = views[effect.root].storage;
    if (!effect.ranges)
      continue;
    access.ranges.emplace();
    bool isWhole = true;
    for (auto [range, extent] : llvm::zip_equal(*effect.ranges, access.storage->shape)) {
      access.ranges->push_back({sumUp(*this, range.offset), sumUp(*this, range.size), range.step});
      const AllowedAccess::Range &allowedRange = access.ranges->back();
      isWhole &= allowedRange.offset == 0 && allowedRange.size >= extent && range.step == 1;
    }
    if (isWhole) // whole tiles are the rule, and need no look at coordinates
      access.ranges.reset();
  }
}

static bool contains(const AllowedAccess &allowed, llvm::ArrayRef<int64_t> coordinates) {
  if (!allowed.ranges)
    return true;
  return llvm::all_of(llvm::zip_equal(*allowed.ranges, coordinates), [](auto it) {
    auto [range, coordinate] = it;
    int64_t distance = coordinate - range.offset;
    return distance >= 0 && distance % range.step == 0 && distance / range.step < range.size;
  });
}

void Machine::checkDeclared(const Step &step, const View &view, int64_t element, Access access) {
  const Storage &storage = *view.storage;
  Access declared = access == Access::Exchange ? Access::Update : access;
  llvm::SmallVector<int64_t, 4> coordinates;
  for (const AllowedAccess &candidate : allowed) {
    if (candidate.access != declared || candidate.storage != &storage)
      continue;
    if (!candidate.ranges)
      return;
    if (coordinates.empty()) // a view's element starts in this element of the root
      coordinates =
          unravel(element * getBytes(view.format) / getBytes(storage.format), storage.shape);
    if (contains(candidate, coordinates))
      return;
  }
  reportElement(Severity::Error, FindingKind::UndeclaredEffect, step, view,
                unravel(element, view.surface), [&] {
                  return ("internal error: '" + step.op->getName().getStringRef() + "' " +
                          describe(access) + " element " +
                          inBrackets(unravel(element, view.surface)) + " of '" + storage.name +
                          "', which its effects do not declare")
                      .str();
                });
  stopped = true;
}
