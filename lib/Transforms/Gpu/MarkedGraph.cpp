//===- MarkedGraph.cpp - statements that wait for each other, with tokens between them -------===//

#include "MarkedGraph.h"

using namespace mlir;

namespace tilewright::schedule {

/// Shortest ways, where a token is longer than all edges of a cycle together and an edge makes a way a
/// little shorter: a cycle without tokens makes ways shorter for ever (Bellman and Ford).
Operation *MarkedGraph::findDeadCycle() {
  int64_t nodes = numbers.size();
  SmallVector<int64_t> length(nodes, 0), before(nodes, -1);
  int64_t shortened = 0;
  for (int64_t round = 0; round <= nodes && shortened >= 0; ++round) {
    shortened = -1;
    for (const Edge &edge : edges) {
      int64_t through = length[edge.from] + edge.tokens * (nodes + 1) - 1;
      if (through >= length[edge.to])
        continue;
      length[edge.to] = through;
      before[edge.to] = edge.from;
      shortened = edge.to;
    }
  }
  if (shortened < 0)
    return nullptr;
  for (int64_t step = 0; step < nodes; ++step) // onto the cycle
    shortened = before[shortened];
  int64_t first = shortened;
  for (int64_t node = before[shortened]; node != shortened; node = before[node])
    first = std::min(first, node);
  return (numbers.begin() + first)->first.first;
}

} // namespace tilewright::schedule
