//===- CpuPlan.h - what the planning passes for the CPU leave on ops ----------------*- C++ -*-===//
//
// Decisions that span ops are made by passes (Transforms/Cpu/Plan*.cpp), which write them as
// attributes; code generation (Codegen/Cpu) reads those of its own op and looks no further. Where
// one op must name another, it does so by a number that both carry:
//
//   tile.copy %A, %a {tile.direct, tile.prepares = [{id = 0, form = "left", sum = f32}]}
//   tile.gemm %a, %b, %c {tile.prepared_a = 0}          // reads what the copy prepared as 0
//
//   %next = tile.slice %A[…] {tile.id = 1}
//   tile.gemm %a, %b, %c {tile.prefetches = [1]}       // and prefetches that slice
//
// No attribute changes a value of the program. A program without them runs, slower.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILE_CPUPLAN_H
#define TILEWRIGHT_TILE_CPUPLAN_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::tile {

//===----------------------------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------------------------===//

/// Of tile.slice and tile.alloc: the number by which other ops name the buffer.
inline constexpr llvm::StringLiteral kPlanIdAttr = "tile.id";

// tile-plan-cpu-operands
/// Of tile.gemm: multiplies by the host's dot products of narrow elements.
inline constexpr llvm::StringLiteral kDotsAttr = "tile.dots";
/// Of tile.gemm with `tile.dots`: on the host's matrix unit (AMX).
inline constexpr llvm::StringLiteral kMatrixUnitAttr = "tile.matrix_unit";
/// Of tile.gemm: the numbers of its prepared operands.
inline constexpr llvm::StringLiteral kPreparedAAttr = "tile.prepared_a";
inline constexpr llvm::StringLiteral kPreparedBAttr = "tile.prepared_b";
/// Of tile.copy: the operands that it prepares, an array of OperandPlan.
inline constexpr llvm::StringLiteral kPreparesAttr = "tile.prepares";
/// Of tile.copy: nothing needs the tile; operands are prepared from what would have been copied.
inline constexpr llvm::StringLiteral kDirectAttr = "tile.direct";
/// Of tile.copy: the slot in which a worker remembers what the tile holds from block to block.
inline constexpr llvm::StringLiteral kKeptAttr = "tile.kept";

// tile-plan-cpu-prefetches
/// Of tile.gemm and tile.copy: the numbers of slices to prefetch on the way.
inline constexpr llvm::StringLiteral kPrefetchesAttr = "tile.prefetches";
/// Of tile.gemm: the numbers of those that it prefetches in the last iteration of the loop around it.
inline constexpr llvm::StringLiteral kPrefetchesAtEndAttr = "tile.prefetches_at_end";
/// Of tile.copy: its source was prefetched by a gemm before it.
inline constexpr llvm::StringLiteral kPrefetchedAttr = "tile.prefetched";

// tile-plan-cpu-accumulators
/// Of tile.gemm: the number of the one-row tile that its accumulator starts from in the first
/// iteration, and of the slice that the last iteration writes to.
inline constexpr llvm::StringLiteral kStartsAtAttr = "tile.starts_at";
inline constexpr llvm::StringLiteral kWritesToAttr = "tile.writes_to";
/// Of such a gemm: that row is zero.
inline constexpr llvm::StringLiteral kStartsAtZeroAttr = "tile.starts_at_zero";
/// Of such a gemm: the iterations are those of the loop around it. Without it, there is one.
inline constexpr llvm::StringLiteral kSumsOverLoopAttr = "tile.sums_over_loop";
/// Of tile.gemm: the number of a tile of as many factors as the accumulator has rows, by which these
/// are multiplied before the product is added.
inline constexpr llvm::StringLiteral kScaledByAttr = "tile.scaled_by";

// tile-plan-cpu-rows
/// Of tile.parallel: its rows belong to tensors larger than the caches.
inline constexpr llvm::StringLiteral kStreamsRowsAttr = "tile.streams_rows";
/// Of tile.load: read ahead. Of tile.store: written past the caches.
inline constexpr llvm::StringLiteral kStreamedAttr = "tile.streamed";
/// Of tile.parallel: the number of the later loop that prefetches its next row; of that loop: its
/// number.
inline constexpr llvm::StringLiteral kNextRowsInAttr = "tile.next_rows_in";
inline constexpr llvm::StringLiteral kPrefetchesRowsAttr = "tile.prefetches_rows";

// tile-plan-cpu-updates
/// Of tile.atomic: its kernel updates the tensor only by whole rows, each under a lock.
inline constexpr llvm::StringLiteral kLocksRowsAttr = "tile.locks_rows";

//===----------------------------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------------------------===//

/// A tensor of this size does not stay in the caches, and a row of that length is worth the care.
inline constexpr int64_t kStreamedTensorBytes = int64_t(1) << 25;
inline constexpr int64_t kStreamedRowBytes = 1024;
/// Larger tiles would push out what the present iteration works on.
inline constexpr int64_t kMaxPrefetchedBytes = int64_t(1) << 16;

//===----------------------------------------------------------------------------------------===//
// Operands of products
//===----------------------------------------------------------------------------------------===//

/// The type in which products of these elements are summed up.
mlir::Type getSumType(mlir::Type operand, mlir::Type result);

/// The part of a product that an instruction of the host's matrix unit computes: rows of A, columns
/// of B, and 32-bit words of neighbours along k.
struct UnitTiles {
  int64_t rows, columns, words;

  /// The largest extent of a tile that divides `extent`.
  static int64_t divide(int64_t extent);
  /// Nothing if the extents divide into no tiles that are worth it.
  static std::optional<UnitTiles> get(GemmOp op);
};

/// A product goes over *panels* of so many vectors of columns: beside six rows of sums, 32 registers
/// (vectors of 16 float32) hold four, and 16 registers two.
inline int64_t getPanelVectors(int64_t vectorWidth) { return vectorWidth >= 16 ? 4 : 2; }

/// How a product wants one of its operands.
struct OperandForm {
  bool isRight = false;      ///< B, read by vectors along n; A is read by single elements.
  bool isTransposed = false; ///< As the gemm says.
  bool isForDots = false;    ///< As 32-bit words of neighbours along k.
  bool isForUnit = false;    ///< The same for the matrix unit, which loads them tile by tile.
  /// Both operands are signed bytes: A is moved up by 128, and B's column sums are needed.
  bool areBothSigned = false;
  /// The product packs it itself, a part just before it reads that: a panel of B, a few rows of A.
  bool isByPanels = false;
  mlir::Type sumType;

  /// Of an operand of `op`, by its types and by what the plan says of the op.
  static OperandForm get(GemmOp op, bool isRight);
  /// Whether the product reads the operand's elements as a tile has them.
  bool isInPlace(mlir::Type elementType) const;
  /// Whether what is prepared in this form may be read in the other one: both are matrices of sums in
  /// the order of the tile.
  bool isSameMatrix(const OperandForm &other) const;
  friend bool operator==(const OperandForm &, const OperandForm &) = default;
};

/// An operand that a copy prepares, by its number.
struct OperandPlan {
  int64_t id;
  OperandForm form;

  mlir::Attribute toAttribute(mlir::MLIRContext *context) const;
  static std::optional<OperandPlan> fromAttribute(mlir::Attribute attribute);
};
/// What `tile.prepares` of a copy says.
llvm::SmallVector<OperandPlan> getOperandPlans(CopyOp op);

//===----------------------------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------------------------===//

/// The number in an attribute of `op`, if it has it.
std::optional<int64_t> getPlanNumber(mlir::Operation *op, llvm::StringRef attribute);
void setPlanNumber(mlir::Operation *op, llvm::StringRef attribute, int64_t number);
/// The numbers of `tile.prefetches`.
llvm::SmallVector<int64_t> getPrefetches(mlir::Operation *op);
void addPrefetch(mlir::Operation *op, int64_t id);
/// The same of `tile.prefetches_at_end`.
llvm::SmallVector<int64_t> getPrefetchesAtEnd(GemmOp op);
void addPrefetchAtEnd(GemmOp op, int64_t id);

/// Whether an attribute of a plan stands on an op that may carry it, with a value of its kind.
/// Nothing for other attributes.
std::optional<mlir::LogicalResult> verifyPlan(mlir::Operation *op, mlir::NamedAttribute attribute);

/// Hands out numbers that nothing in a function uses yet.
class PlanIds {
public:
  explicit PlanIds(mlir::Operation *function);
  int64_t take() { return next++; }

private:
  int64_t next = 0;
};

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_CPUPLAN_H
