//===- MarkedGraph.h - statements that wait for each other, with tokens between them -*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_MARKEDGRAPH_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_MARKEDGRAPH_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright::schedule {

/// A statement of one of the warpgroups, which are told apart where they take turns.
using Transition = std::pair<mlir::Operation *, int64_t>;

/// Statements with tokens between them.
class MarkedGraph {
public:
  unsigned add(Transition node) { return numbers.try_emplace(node, numbers.size()).first->second; }
  void connect(Transition from, Transition to, int64_t tokens) {
    unsigned number = add(from); // before `to`, so that statements are numbered as they come
    edges.push_back({number, add(to), tokens});
  }
  /// A statement of a cycle that holds no token, or null.
  mlir::Operation *findDeadCycle();

private:
  struct Edge {
    unsigned from, to;
    int64_t tokens;
  };

  llvm::MapVector<Transition, unsigned> numbers;
  llvm::SmallVector<Edge> edges;
};

} // namespace tilewright::schedule

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_MARKEDGRAPH_H
