//===- Channels.cpp - barriers with phases, at which asynchronous copies arrive too -----------===//

#include "Channels.h"

using namespace tilewright;
using namespace tilewright::interp;

void Channels::Channel::arrive(int64_t count, const Clock &known) {
  arrived += count;
  join(current, known);
  finish();
}

void Channels::Channel::finish() {
  while (expected > 0 && arrived >= expected && numOpen == 0) {
    arrived -= expected;
    ++phase;
    join(finished, current);
    if (arrived == 0)
      current.clear();
  }
}

void Channels::reset(const Storage *row, llvm::ArrayRef<int64_t> arrivals) {
  std::vector<Channel> &channels = rows[row];
  channels.assign(arrivals.size(), Channel());
  for (auto [channel, expected] : llvm::zip_equal(channels, arrivals))
    channel.expected = expected;
}

Channels::Channel *Channels::find(Machine &machine, const Step &step, unsigned operand) {
  const Storage *storage = machine.viewOf(step, operand).storage;
  int64_t index = machine.getDeciding(step, operand + 1, "which barrier is meant");
  std::vector<Channel> &row = rows[storage];
  if (index >= 0 && index < static_cast<int64_t>(row.size()))
    return &row[index];
  machine.fail(FindingKind::OutOfBounds, step,
               "barrier " + llvm::Twine(index) + " of '" + storage->name + "', which has " +
                   llvm::Twine(row.size()));
  return nullptr;
}

std::string tilewright::interp::describe(const Channels::Channel &channel, Machine &machine,
                                         const Step &step) {
  std::string text = "barrier " + std::to_string(machine.get(step, 1).integer) + " of '" +
                     machine.viewOf(step, 0).storage->name + "' (" +
                     std::to_string(channel.arrived) + " of " + std::to_string(channel.expected) +
                     " arrivals in phase " + std::to_string(channel.phase);
  if (channel.numOpen)
    text += ", " + std::to_string(channel.numOpen) + " copies under way";
  return text + ")";
}
