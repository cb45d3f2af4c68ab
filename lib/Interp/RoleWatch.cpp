//===- RoleWatch.cpp - accesses of two roles that no barrier orders ---------------------------===//

#include "RoleWatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace tilewright;
using namespace tilewright::interp;

void tilewright::interp::join(Clock &clock, const Clock &other) {
  if (clock.size() < other.size())
    clock.resize(other.size());
  for (auto [time, known] : llvm::zip(clock, other))
    time = std::max(time, known);
}

static llvm::StringRef describeAccess(Access access) {
  static constexpr llvm::StringLiteral names[] = {"reads", "writes", "atomically updates",
                                                  "atomically stores"};
  return names[static_cast<unsigned>(access)];
}

/// Reads go together, and so do atomic updates.
static bool mayConflict(Access a, Access b) {
  auto isUpdate = [](Access access) {
    return access == Access::Update || access == Access::Exchange;
  };
  return isUpdate(a) != isUpdate(b) || (a != b && !isUpdate(a)) || a == Access::Write;
}

std::string RoleWatch::describe(unsigned actor) const {
  return describeActor ? describeActor(actor) : "the role of thread " + std::to_string(actor);
}

void RoleWatch::touch(Machine &machine, const Step &step, const View &view, int64_t element,
                      Access access) {
  Storage &storage = *view.storage;
  if (!now || storage.space == tile::Space::Local)
    return;
  const Clock &known = storage.space == tile::Space::Fragment ? *now->registers : *now->memory;
  unsigned actor = storage.space == tile::Space::Global ? now->globalActor : now->actor;
  auto isBefore = [&](const Touch &touch) {
    return touch.actor == actor || getTime(known, touch.actor) >= touch.time;
  };
  int64_t first = element * getBytes(view.format) / storage.granuleBytes;
  llvm::SmallVector<Touch, 2> &record = records[{&storage, first}];
  for (const Touch &touch : record) {
    if (isBefore(touch) || !mayConflict(touch.access, access))
      continue;
    machine.reportElement(
        Severity::Finding, FindingKind::Race, step, view, unravel(element, view.surface), [&] {
          return (describe(actor) + llvm::Twine(" ") + describeAccess(access) + " element " +
                  inBrackets(unravel(element, view.surface)) + " of '" + storage.name +
                  "', which " + describe(touch.actor) + " " + describeAccess(touch.access) +
                  " at " + describeLocation(touch.op) + "; no barrier orders the two")
              .str();
        });
    break;
  }
  // What happened before this access needs no memory of its own: whoever is ordered after this one
  // is ordered after that one too, unless it is a read that a later writer must still see.
  llvm::erase_if(record, [&](const Touch &touch) {
    return isBefore(touch) && (access == Access::Write || touch.access == access);
  });
  record.push_back({actor, getTime(*now->registers, actor), step.op, access});
}
