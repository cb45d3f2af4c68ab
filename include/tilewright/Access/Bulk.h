//===- Bulk.h - copies that the tensor memory accelerator does ----------------------*- C++ -*-===//
//
// cp.async.bulk.tensor (sm_90) moves a box of a tensor to shared memory, or from there to the tensor,
// by one instruction of one thread; cp.reduce.async.bulk.tensor adds it to the tensor. The host
// describes the tensor by a *tensor map*: up to five *digits*, the innermost first, each with an
// extent, a stride and the extent of the box. The box arrives row-major, the innermost digit fastest,
// with the 16-byte chunks of a row permuted by a swizzle of 128, 64 or 32 bytes:
//
//   bits 4-6 (4-5, 4) of the address ^= bits 7-9 (7-8, 7)
//
// What lies outside the tensor in any digit arrives as zeros, and is not written. A tile that is wider
// than a swizzle is several *panels*, one after the other (Layout/SharedLayouts.h). One more digit that
// counts the panels makes it one instruction, if the panels divide the tensor's rows; else each panel
// has its own.
//
//   A[64 k + i, 128 n + j] -> S, float16, 64 x 128       map: (64, rows, columns / 64)
//   S: panels of 64 columns, swizzled by 128 bytes       box: (64, 64, 2) at (0, 64 k, 2 n)
//
// Where the elements of the tile are neighbours in global memory, in the order of the tile, no map is
// needed (cp.async.bulk): a *span*, which no hardware keeps inside the tensor, so the planner proves that.
//
// `planBulk` proves for all iterations and all values of the symbols that the box holds the elements
// that the copy's loop names, and that they arrive where the tile's layout has them. It is the only
// place that makes tensor maps; what it cannot prove it refuses, with the reason.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ACCESS_BULK_H
#define TILEWRIGHT_ACCESS_BULK_H

#include "tilewright/Access/Requests.h"

namespace tilewright::access {

/// The read and the write of a loop that only copies elements, or adds them; nothing for any other.
struct CopyLoop {
  tile::LoadOp load;
  tile::StoreOp store;          ///< Null: it adds.
  tile::AtomicElementOp update; ///< Null: it writes.

  static std::optional<CopyLoop> get(tile::ParallelOp loop);
  /// Whether it leads from a tensor to a shared tile.
  bool isFill() const;
  /// Whether it leads from a shared tile to a tensor.
  bool isDrain() const;
  /// Where it leads to.
  ElementAccess getWrite() const;
  /// The access of the tensor and that of the tile, of a fill or a drain.
  ElementAccess getTensorAccess() const;
  ElementAccess getTileAccess() const;
};

/// How a copy is done in bulk.
struct BulkPlan {
  int64_t spanBytes = 0; ///< Not 0: neighbours in memory, and nothing of the rest.
  llvm::SmallVector<int64_t> dims, divisors, box, origins, offsets, clamped; ///< As in #tile.bulk.
  int64_t swizzle = 0;
  int64_t alignmentBytes = 128; ///< Of the tile.
  tile::TensorMapAttr map;
};

/// What holds for all copies of a kernel.
struct BulkContext {
  const Context &context;
  bool disjoint = true;                         ///< What is written shares memory with nothing.
  llvm::SmallVector<mlir::Value> written, read; ///< Tensors that the kernel writes and reads.
  bool isUnknown = false;                       ///< Some statement may touch any tensor.
  bool isOrdered = false; ///< Atomics or fences tell other blocks what this one has written.

  static BulkContext get(const Context &context, bool disjoint);
};

/// The plan of a copy between a tensor and a shared tile that has its placement, or why there is none.
llvm::Expected<BulkPlan> planBulk(tile::ParallelOp loop, const CopyLoop &copy,
                                  const BulkContext &context);

/// The layout under which the elements of a drain's tile lie as in global memory, one after the other;
/// nothing if they are no neighbours there. The tile has the loop's extents.
std::optional<Layout> findSpanLayout(tile::ParallelOp loop, const ElementAccess &tensor,
                                     const BulkContext &context);

/// The instructions of a copy that has a plan (`#tile.bulk` or `#tile.span`).
struct BulkInstructions {
  std::string name;             ///< Such as cp.async.bulk.tensor.2d.
  int64_t count = 1, bytes = 0; ///< Bytes of each.

  static BulkInstructions get(tile::ParallelOp loop, const CopyLoop &copy);
};

/// The plan as the attribute that later passes read; `map` is the position of its tensor map.
tile::BulkAttr makeAttr(mlir::MLIRContext *context, const BulkPlan &plan, int64_t map);

} // namespace tilewright::access

#endif // TILEWRIGHT_ACCESS_BULK_H
