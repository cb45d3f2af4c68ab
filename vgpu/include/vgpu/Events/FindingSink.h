//===- FindingSink.h - where findings are collected ---------------------------------------===//
#ifndef VGPU_EVENTS_FINDINGSINK_H
#define VGPU_EVENTS_FINDINGSINK_H

#include "vgpu/Events/Finding.h"
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

namespace vgpu {

/// Collects findings; the same kind at the same two instructions is kept once and counted.
class FindingSink {
public:
  void report(Finding finding);
  /// True if such a finding exists already: callers may skip composing the message.
  bool countRepeat(FindingKind kind, uint32_t ptxLine, uint32_t otherLine);
  /// Takes over what another sink has collected; of the same finding, that of the earlier block.
  void absorb(FindingSink &other);
  /// Sorted by block, thread and line, so that the order does not depend on scheduling.
  std::vector<Finding> take();

private:
  using Key = std::tuple<FindingKind, uint32_t, uint32_t>;
  void add(Finding finding);
  static Key keyOf(FindingKind kind, uint32_t ptxLine, uint32_t otherLine);
  std::mutex mutex;
  std::map<Key, Finding> findings;
};

} // namespace vgpu

#endif // VGPU_EVENTS_FINDINGSINK_H
