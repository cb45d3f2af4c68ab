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

static llvm::StringRef describe(Access access) {
  static constexpr llvm::StringLiteral names[] = {"reads", "writes", "atomically updates"};
  return names[static_cast<unsigned>(access)];
}

/// Reads go together, and so do atomic updates.
static bool mayConflict(Access a, Access b) { return a != b || a == Access::Write; }

void RoleWatch::touch(Machine &machine, const Step &step, const View &view, int64_t element,
                      Access access) {
  Storage &storage = *view.storage;
  if (!now || storage.space == tile::Space::Local)
    return;
  int64_t first = element * getBytes(view.format) / storage.granuleBytes;
  llvm::SmallVector<Touch, 2> &record = records[{&storage, first}];
  for (const Touch &touch : record) {
    if (touch.actor == actor || (*now)[touch.actor] >= touch.time ||
        !mayConflict(touch.access, access))
      continue;
    machine.reportElement(
        Severity::Finding, FindingKind::Race, step, view, unravel(element, view.surface), [&] {
          return ("the role of thread " + llvm::Twine(actor) + " " + describe(access) +
                  " element " + inBrackets(unravel(element, view.surface)) + " of '" +
                  storage.name + "', which the role of thread " + llvm::Twine(touch.actor) + " " +
                  describe(touch.access) + " at " + describeLocation(touch.op) +
                  "; no barrier orders the two")
              .str();
        });
    break;
  }
  // What happened before this access needs no memory of its own: whoever is ordered after this one
  // is ordered after that one too, unless it is a read that a later writer must still see.
  llvm::erase_if(record, [&](const Touch &touch) {
    return (touch.actor == actor || (*now)[touch.actor] >= touch.time) &&
           (access == Access::Write || touch.access == access);
  });
  record.push_back({actor, (*now)[actor], step.op, access});
}
