//===- Clusters.h - statements on the blocks of a cluster --------------------------*- C++ -*-===//
//
// Blocks of a cluster are independent like all others (docs/semantics.md), until one of them reaches
// into the shared memory of another: a copy to its tile, an arrival at its barrier. The blocks of such
// a cluster become one block, whose threads are those of all of them:
//
//   tile.kernel (%b) in (4) threads [128] {       tile.kernel (%n) in (2) threads [256] {
//     %s = tile.alloc "s"                           %s0 = tile.alloc "s_0"   %s1 = tile.alloc "s_1"
//     ... %b, %tx, %s, 's' of block 1 ...   ──▶     if (tx < 128) { ... 2 n,     tx,       %s0, %s1 ... }
//   }                                               else          { ... 2 n + 1, tx - 128, %s1, %s1 ... }
//                                                 }
//
// So a cluster is a program with a role for each of its blocks, and nothing below the front end has to
// know of it: roles wait for each other at barriers, on every engine. While the kernel is traced, a
// tile of another block is a placeholder, an allocation that nothing but such statements uses.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_CLUSTERS_H
#define TILEWRIGHT_FRONTEND_CLUSTERS_H

#include "tilewright/Frontend/Buffers.h"

namespace tilewright::frontend {

class Clusters {
public:
  Clusters(Emitter &emitter, Regions &regions, Buffers &buffers)
      : emitter(emitter), regions(regions), buffers(buffers), builder(emitter.getBuilder()) {}
  ~Clusters() { forget(); }

  /// The kernel that was just opened starts its blocks in clusters of these extents.
  void begin(llvm::ArrayRef<int64_t> extents);
  /// Copies from where another block would: `blocks` pairs numbers of this block with those of that one.
  void copyOfBlock(const TileOperand &source, const TileOperand &dest,
                   llvm::ArrayRef<std::pair<Scalar, Scalar>> blocks, mlir::DictionaryAttr hints);
  /// Copies to the tile that block `rank` of the cluster has under the name of `dest`.
  void copyToBlock(const TileOperand &source, const TileOperand &dest, int64_t rank);
  /// Arrives at the barrier that block `rank` of the cluster has under this name.
  void arriveAtBlock(const Element &barrier, int64_t rank, bool once);
  /// The threads of all blocks of the cluster arrive, or wait for each other.
  void arrive() { meet("cluster_arrive"); }
  void wait() { meet("cluster_wait"); }
  /// Ends the kernel that `begin` began: makes one block of each cluster, if a block reaches another.
  void end();
  /// Forgets the values of kernels that have ended.
  void forget();

private:
  /// The memory that a block of the cluster has for an allocation of the kernel.
  struct Placeholder {
    mlir::Operation *own; ///< The allocation;
    int64_t rank;         ///< that of block `rank`
    mlir::Operation *op;  ///< has this name until the kernel ends.
  };

  void meet(llvm::StringRef name);
  mlir::Value ofBlock(mlir::Value buffer, int64_t rank, llvm::StringRef what);
  void checkJoinable(llvm::StringRef what);
  void join();
  llvm::SmallVector<mlir::Value> makeNumbers(tile::KernelOp joined, int64_t rank,
                                             mlir::OpBuilder &b);
  void settle(mlir::Block &body, int64_t rank, llvm::ArrayRef<mlir::Value> numbers,
              mlir::Value thread);

  Emitter &emitter;
  Regions &regions;
  Buffers &buffers;
  mlir::OpBuilder &builder;
  tile::KernelOp kernel;
  llvm::SmallVector<int64_t> extents;
  std::vector<Placeholder> placeholders;
  std::vector<mlir::Operation *> ended; ///< Kernels that were joined; Python may know their values.
};

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_CLUSTERS_H
