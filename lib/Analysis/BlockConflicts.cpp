//===- BlockConflicts.cpp - blocks of the grid that certainly race ----------------------------===//
//
// Two neighbouring blocks, the first of the grid and the next one along dimension d, are compared
// at a few points: all loops at their first or all at their last iteration.
//
//   T.copy(acc, C[0, 0])             the region is the same in both blocks, and `acc` was computed
//                                    from A[bx * 64, 0]: both write, each a value of its own
//   s[i] = A[bx * 64 + i + 1]        block 0 reads A[64] at its last iteration;
//   A[bx * 64 + i] = …               block 1 writes it at its first one
//
// Only what certainly executes counts: no branch, loops of constant bounds that run at least once.
// Blocks that wait for each other (while loops, ordered atomics) are left alone.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/BlockConflicts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

static std::string list(ArrayRef<int64_t> numbers) {
  return llvm::join(llvm::map_range(numbers, [](int64_t n) { return std::to_string(n); }), ", ");
}

std::string BlockConflict::str() const {
  std::string text = "blocks (" + list(firstBlock) + ") and (" + list(secondBlock) + ") ";
  std::string what = "'" + getName(root).str() + "'[" + list(element) + "]";
  if (isRead)
    return text + "race: the first writes " + what +
           ", the second reads it; use T.sync_grid, another tensor, or two kernels";
  return text + "both write " + what +
         ", each with a value of its own; index it by the block, or use T.atomic_add";
}

namespace {

//===----------------------------------------------------------------------------------------===//
// Which values differ between blocks
//===----------------------------------------------------------------------------------------===//

/// Whether a value or the contents of a tile are computed from one block index. A tile is if every
/// statement that gives it anything but a constant is: a part that all blocks share must not count.
class BlockDependence {
public:
  BlockDependence(KernelOp kernel, Value blockId) : kernel(kernel), blockId(blockId) {}

  bool dependsOnBlock(Value value) {
    if (value == blockId)
      return true;
    if (auto it = answers.find(value); it != answers.end())
      return it->second;
    answers[value] = false; // while it is being computed, a cycle adds nothing
    bool answer =
        isBufferType(value.getType()) ? isBufferDependent(value) : isScalarDependent(value);
    return answers[value] = answer;
  }

private:
  bool isScalarDependent(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() || !(isMemoryEffectFree(op) || isa<LoadOp>(op)))
      return false;
    return llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOnBlock(operand); });
  }

  bool isBufferDependent(Value buffer) {
    if (Value source = getViewSource(buffer)) {
      ValueRange operands = buffer.getDefiningOp()->getOperands();
      bool isMoved = llvm::any_of(
          operands, [&](Value operand) { return operand != source && dependsOnBlock(operand); });
      return (isMoved && getSpace(buffer) == Space::Global) || dependsOnBlock(source);
    }
    if (getSpace(buffer) == Space::Global)
      return false; // one tensor for all blocks; what is read of it depends on the index
    bool someDepend = false, allDepend = true;
    kernel.walk([&](TileEffectsOpInterface op) {
      SmallVector<Effect> effects;
      op.getTileEffects(effects);
      bool writes = llvm::any_of(effects, [&](const Effect &effect) {
        return effect.root == buffer && effect.kind != EffectKind::Read;
      });
      if (!writes || isa<FillOp>(op.getOperation()))
        return;
      bool depends = writesDependentValue(op);
      someDepend |= depends;
      allDepend &= depends;
    });
    return someDepend && allDepend;
  }

public:
  /// Whether what a statement writes is computed from the block index.
  bool writesDependentValue(Operation *op) {
    return TypeSwitch<Operation *, bool>(op)
        .Case([&](StoreOp store) { return dependsOnBlock(store.getValue()); })
        .Case([&](FillOp fill) { return dependsOnBlock(fill.getValue()); })
        .Case<CopyOp, CumsumOp, ReduceOp>(
            [&](auto statement) { return dependsOnBlock(statement.getSource()); })
        .Case(
            [&](GemmOp gemm) { return dependsOnBlock(gemm.getA()) || dependsOnBlock(gemm.getB()); })
        .Default(false);
  }

private:
  KernelOp kernel;
  Value blockId;
  llvm::DenseMap<Value, bool> answers;
};

//===----------------------------------------------------------------------------------------===//
// Which elements are touched
//===----------------------------------------------------------------------------------------===//

/// The values of block indices and loop variables at one point of one block.
using Point = llvm::DenseMap<Value, int64_t>;

/// A rectangle of a tensor: first and last element of each dimension.
using Box = SmallVector<std::pair<int64_t, int64_t>, 4>;

/// The first or last iteration of the loops around `op`; nothing where it may not execute.
std::optional<Point> getPoint(Operation *op, KernelOp kernel, bool last) {
  Point point;
  auto add = [&](Value variable, std::optional<int64_t> lower, std::optional<int64_t> upper,
                 std::optional<int64_t> step) {
    if (!lower || !upper || !step || *step <= 0 || *lower >= *upper)
      return false;
    point[variable] = last ? *lower + (*upper - 1 - *lower) / *step * *step : *lower;
    return true;
  };
  for (Operation *parent = op->getParentOp(); parent != kernel; parent = parent->getParentOp()) {
    bool isCertain =
        TypeSwitch<Operation *, bool>(parent)
            .Case([&](ParallelOp loop) {
              return llvm::all_of(llvm::zip_equal(loop.getIterators(), loop.getStaticExtents()),
                                  [&](auto pair) {
                                    auto [iterator, extent] = pair;
                                    return add(iterator, 0, extent, 1);
                                  });
            })
            .Case([&](PipelinedOp loop) {
              return add(loop.getInductionVar(), getConstantIntValue(loop.getLower()),
                         getConstantIntValue(loop.getUpper()), 1);
            })
            .Case([&](scf::ForOp loop) {
              return add(loop.getInductionVar(), getConstantIntValue(loop.getLowerBound()),
                         getConstantIntValue(loop.getUpperBound()),
                         getConstantIntValue(loop.getStep()));
            })
            .Default(false);
    if (!isCertain)
      return std::nullopt;
  }
  return point;
}

std::optional<int64_t> evaluate(const IndexSum &sum, const Point &point) {
  int64_t result = sum.constant;
  for (auto [value, factor] : sum.terms) {
    auto it = point.find(value);
    int64_t product = 0;
    if (it == point.end() || llvm::MulOverflow(it->second, factor, product) ||
        llvm::AddOverflow(result, product, result))
      return std::nullopt;
  }
  return result;
}

/// The elements of the tensor that the effect touches at `point`, if they are exactly a rectangle.
std::optional<Box> getBox(const Effect &effect, const Point &point) {
  auto type = cast<MemRefType>(effect.root.getType());
  if (effect.region.isWhole() || !type.hasStaticShape())
    return std::nullopt;
  Box box;
  for (auto [range, extent] : llvm::zip_equal(*effect.region.ranges, type.getShape())) {
    std::optional<int64_t> offset = evaluate(range.offset, point),
                           size = evaluate(range.size, point);
    if (!offset || !size || *size < 1 || (range.step != 1 && *size != 1))
      return std::nullopt;
    int64_t end = 0;
    if (llvm::AddOverflow(*offset, *size - 1, end))
      return std::nullopt;
    box.emplace_back(std::max<int64_t>(*offset, 0), std::min(end, extent - 1));
    if (box.back().first > box.back().second)
      return std::nullopt; // outside the tensor: nothing is touched
  }
  return box;
}

/// An element of both boxes.
std::optional<SmallVector<int64_t, 4>> findCommon(const Box &a, const Box &b) {
  SmallVector<int64_t, 4> element;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    element.push_back(std::max(x.first, y.first));
    if (element.back() > std::min(x.second, y.second))
      return std::nullopt;
  }
  return element;
}

//===----------------------------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------------------------===//

/// A statement's effect on a global tensor, with the points at which it certainly happens.
struct Access {
  Operation *op;
  Effect effect;
  SmallVector<Point, 2> points;
};

class BlockConflicts {
public:
  explicit BlockConflicts(KernelOp kernel) : kernel(kernel) {}

  std::optional<BlockConflict> find() {
    if (!collect())
      return std::nullopt;
    for (unsigned dim = 0; dim < kernel.getGrid().size(); ++dim) {
      std::optional<int64_t> extent = getConstantIntValue(kernel.getGrid()[dim]);
      if (!extent || *extent < 2)
        continue;
      if (std::optional<BlockConflict> conflict = findAlong(dim))
        return conflict;
    }
    return std::nullopt;
  }

private:
  /// The accesses of global tensors; false where blocks may wait for each other.
  bool collect() {
    bool isUnordered = true;
    kernel.walk([&](Operation *op) {
      auto isOrdered = [](auto atomic) { return atomic.getOrder() != MemoryOrder::Relaxed; };
      isUnordered &=
          !isa<scf::WhileOp>(op) &&
          !TypeSwitch<Operation *, bool>(op).Case<AtomicOp, AtomicElementOp>(isOrdered).Default(
              false);
      auto declared = dyn_cast<TileEffectsOpInterface>(op);
      std::optional<Point> first = declared ? getPoint(op, kernel, false) : std::nullopt;
      if (!first)
        return;
      SmallVector<Effect> effects;
      declared.getTileEffects(effects);
      for (Effect &effect : effects)
        if (getSpace(effect.root) == Space::Global && effect.kind != EffectKind::Accumulate)
          accesses.push_back({op, std::move(effect), {*first, *getPoint(op, kernel, true)}});
    });
    return isUnordered;
  }

  std::optional<BlockConflict> findAlong(unsigned dim) {
    BlockDependence dependence(kernel, kernel.getBlockIds()[dim]);
    for (Access &write : accesses) {
      if (write.effect.kind != EffectKind::Write)
        continue;
      for (Access &other : accesses) {
        bool isRead = other.effect.kind == EffectKind::Read;
        if (other.effect.root != write.effect.root || (!isRead && &other != &write))
          continue;
        if (!isRead && !writesOwnValue(write, dependence))
          continue;
        if (std::optional<BlockConflict> conflict = compare(write, other, dim))
          return conflict;
      }
    }
    return std::nullopt;
  }

  /// Whether both blocks write the same element, and what they write is computed from their index.
  bool writesOwnValue(const Access &write, BlockDependence &dependence) {
    if (write.effect.region.isWhole())
      return false;
    for (const DimRange &range : *write.effect.region.ranges)
      for (const IndexSum *sum : {&range.offset, &range.size})
        for (auto [value, factor] : sum->terms)
          if (dependence.dependsOnBlock(value))
            return false;
    return dependence.writesDependentValue(write.op);
  }

  /// Compares the accesses of two neighbouring blocks, in both orders.
  std::optional<BlockConflict> compare(const Access &write, const Access &other, unsigned dim) {
    for (int64_t writer : {0, 1})
      for (const Point &a : write.points)
        for (const Point &b : other.points) {
          std::optional<Box> written = getBox(write.effect, inBlock(a, dim, writer));
          std::optional<Box> touched = getBox(other.effect, inBlock(b, dim, 1 - writer));
          if (!written || !touched)
            continue;
          if (auto element = findCommon(*written, *touched))
            return BlockConflict{write.op,
                                 other.op,
                                 other.effect.kind == EffectKind::Read,
                                 write.effect.root,
                                 getBlock(dim, writer),
                                 getBlock(dim, 1 - writer),
                                 *element};
        }
    return std::nullopt;
  }

  Point inBlock(Point point, unsigned dim, int64_t number) {
    for (auto [position, id] : llvm::enumerate(kernel.getBlockIds()))
      point[id] = position == dim ? number : 0;
    return point;
  }

  SmallVector<int64_t, 3> getBlock(unsigned dim, int64_t number) {
    SmallVector<int64_t, 3> block(kernel.getBlockIds().size(), 0);
    block[dim] = number;
    return block;
  }

  KernelOp kernel;
  SmallVector<Access> accesses;
};

} // namespace

std::optional<BlockConflict> findBlockConflict(KernelOp kernel) {
  return BlockConflicts(kernel).find();
}

} // namespace tilewright::analysis
