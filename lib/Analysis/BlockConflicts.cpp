//===- BlockConflicts.cpp - blocks of the grid that certainly race ----------------------------===//
//
// The first blocks along one dimension of the grid are compared, element by element. An access is
// brought into closed form (ParallelAccess.h), and the elements that it touches are enumerated.
//
//   T.copy(acc, C[0, 0])             the region is the same in all blocks, and `acc` was computed
//                                    from A[bx * 64, 0]: each writes a value of its own
//   s[i] = A[bx * 64 + i + 1]        block 0 reads A[64] at its last iteration;
//   A[bx * 64 + i] = …               block 1 writes it at its first one
//
//   if bx == 0: C[0] = 0             block 0 writes C[0]; the others may have updated it before
//   T.atomic_add(C[0], A[bx])
//
// Only what certainly executes counts: conditions compare index values, loops have constant bounds,
// and of a run-time extent only the first element is known to exist. A part of all accesses
// suffices for a conflict, so that long loops are cut short. Blocks that wait for each other (while
// loops, ordered atomics) are left alone.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/BlockConflicts.h"
#include "ParallelAccess.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Tile/SeenRegion.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
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
  bool isUpdate = firstKind == EffectKind::Accumulate || secondKind == EffectKind::Accumulate;
  if (isUpdate || secondKind == EffectKind::Read)
    return text + "race: the first " +
           (firstKind == EffectKind::Accumulate ? "updates " : "writes ") + what + ", the second " +
           (secondKind == EffectKind::Accumulate ? "updates" : "reads") +
           (isUpdate ? " it, and only atomic updates may meet" : " it") +
           "; use T.sync_grid, another tensor, or two kernels";
  return text + "both write " + what +
         ", each with a value of its own; index it by the block, or use T.atomic_add";
}

namespace {

//===----------------------------------------------------------------------------------------===//
// Which values differ between blocks
//===----------------------------------------------------------------------------------------===//

/// The statements that write each buffer of a kernel.
using Writers = llvm::DenseMap<Value, SmallVector<Operation *, 2>>;

/// Whether a value or the contents of a tile are computed from one block index. A tile is if every
/// statement that gives it anything but a constant is: a part that all blocks share must not count.
class BlockDependence {
public:
  BlockDependence(const Writers &writers, Value blockId) : writers(writers), blockId(blockId) {}

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
    for (Operation *op : writers.lookup(buffer)) {
      if (isa<FillOp>(op))
        continue;
      bool depends = writesDependentValue(op);
      someDepend |= depends;
      allDepend &= depends;
    }
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
  const Writers &writers;
  Value blockId;
  llvm::DenseMap<Value, bool> answers;
};

//===----------------------------------------------------------------------------------------===//
// Which elements are touched
//===----------------------------------------------------------------------------------------===//

/// How many blocks are compared along a dimension of the grid.
constexpr int64_t kComparedBlocks = 4;
/// How many points of all accesses to one tensor are looked at, and of one of them at least.
constexpr int64_t kMaxPoints = int64_t(1) << 18, kMinPoints = 256;

/// A block, by its position along the dimension, and an element, by its row-major number.
struct Touch {
  int64_t block, element;
};

/// The shape in which elements are numbered: run-time extents have one element that surely exists.
SmallVector<int64_t> getKnownShape(Value tensor) {
  SmallVector<int64_t> shape(cast<MemRefType>(tensor.getType()).getShape());
  for (int64_t &extent : shape)
    extent = ShapedType::isDynamic(extent) ? 1 : extent;
  return shape;
}

int64_t multiply(ArrayRef<int64_t> factors) {
  int64_t product = 1;
  for (int64_t factor : factors)
    product = llvm::SaturatingMultiply<uint64_t>(product, factor) > uint64_t(INT64_MAX)
                  ? INT64_MAX
                  : product * factor;
  return product;
}

/// Takes iterations from the longest loops until at most `maxPoints` are left.
void shorten(MutableArrayRef<int64_t> space, size_t numBlockDims, int64_t maxPoints) {
  MutableArrayRef<int64_t> loops = space.drop_front(numBlockDims);
  while (multiply(space) > maxPoints) {
    int64_t *longest = llvm::max_element(loops);
    if (longest == loops.end() || *longest < 2)
      return;
    *longest = (*longest + 1) / 2;
  }
}

/// What an access touches in the compared blocks, in their order; nothing if that is not known.
std::vector<Touch> findTouches(Access access, ArrayRef<int64_t> shape, size_t numBlockDims,
                               int64_t numBlocks, int64_t maxPoints) {
  bool isAnywhere =
      llvm::any_of(access.uniform, [](const IndexExpr &part) { return !part.isConstant(0); });
  if (isAnywhere || multiply(shape) == INT64_MAX)
    return {};
  shorten(access.space, numBlockDims, maxPoints);
  SmallVector<IndexExpr> exprs = llvm::to_vector(access.coordinates);
  for (const Constraint &constraint : access.constraints)
    exprs.append({constraint.lhs, constraint.rhs});
  std::optional<ValueColumns> columns = enumerateValues(exprs, access.space);
  if (!columns)
    return {};
  std::vector<Touch> touches;
  int64_t total = multiply(access.space), rank = shape.size();
  for (int64_t point = 0; point < total; ++point) {
    int64_t element = 0;
    bool exists = true;
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t coordinate = (*columns)[dim][point];
      exists = exists && coordinate >= 0 && coordinate < shape[dim];
      element = exists ? element * shape[dim] + coordinate : 0;
    }
    for (auto [i, constraint] : llvm::enumerate(access.constraints))
      exists = exists && constraint.holds((*columns)[rank + 2 * i][point],
                                          (*columns)[rank + 2 * i + 1][point]);
    if (exists)
      touches.push_back({point / (total / numBlocks), element});
  }
  return touches;
}

/// The first two blocks that write an element: a third adds nothing.
class WrittenElements {
public:
  void enter(Operation *op, ArrayRef<Touch> touches) {
    for (const Touch &touch : touches) {
      Entry &entry = entries[touch.element];
      if (!entry.first.op)
        entry.first = {op, touch.block};
      else if (!entry.second.op && entry.first.block != touch.block)
        entry.second = {op, touch.block};
    }
  }

  struct Writer {
    Operation *op = nullptr;
    int64_t block = 0;
  };
  /// Who writes the element in another block, if one does.
  std::optional<Writer> findOther(const Touch &touch) const {
    auto it = entries.find(touch.element);
    if (it == entries.end())
      return std::nullopt;
    const Writer &other =
        it->second.first.block != touch.block ? it->second.first : it->second.second;
    return other.op ? std::optional(other) : std::nullopt;
  }

private:
  struct Entry {
    Writer first, second;
  };
  llvm::DenseMap<int64_t, Entry> entries;
};

//===----------------------------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------------------------===//

class BlockConflicts {
public:
  BlockConflicts(KernelOp kernel, GridExtents extents) : kernel(kernel), extents(extents) {}

  std::optional<BlockConflict> find() {
    if (!collect())
      return std::nullopt;
    for (unsigned dim = 0; dim < kernel.getGrid().size(); ++dim) {
      std::optional<int64_t> extent = getConstantIntValue(kernel.getGrid()[dim]);
      if (extent.has_value() != (extents == GridExtents::Constant))
        continue;
      numBlocks = std::min(extent.value_or(kComparedBlocks), kComparedBlocks);
      if (numBlocks < 2)
        continue;
      BlockDependence dependence(writers, kernel.getBlockIds()[dim]);
      for (auto &[tensor, effects] : tensors)
        if (std::optional<BlockConflict> conflict = compare(tensor, effects, dim, dependence))
          return conflict;
    }
    return std::nullopt;
  }

private:
  using Effects = SmallVector<std::pair<Operation *, Effect>, 2>;
  /// A block's statement, and what it does to the element.
  using Party = std::pair<WrittenElements::Writer, EffectKind>;

  /// What statements do to tensors; false where blocks may wait for each other.
  bool collect() {
    bool isUnordered = true;
    kernel.walk([&](Operation *op) {
      auto isOrdered = [](auto atomic) { return atomic.getOrder() != MemoryOrder::Relaxed; };
      isUnordered &=
          !isa<scf::WhileOp>(op) &&
          !TypeSwitch<Operation *, bool>(op).Case<AtomicOp, AtomicElementOp>(isOrdered).Default(
              false);
      auto declared = dyn_cast<TileEffectsOpInterface>(op);
      if (!declared)
        return;
      SmallVector<Effect> effects;
      declared.getTileEffects(effects);
      for (Effect &effect : effects) {
        if (effect.kind != EffectKind::Read && !llvm::is_contained(writers[effect.root], op))
          writers[effect.root].push_back(op);
        if (getSpace(effect.root) == Space::Global)
          tensors[effect.root].emplace_back(op, std::move(effect));
      }
    });
    return isUnordered;
  }

  std::optional<BlockConflict> compare(Value tensor, ArrayRef<std::pair<Operation *, Effect>> all,
                                       unsigned dim, BlockDependence &dependence) {
    auto has = [&](EffectKind kind) {
      return llvm::any_of(all, [&](const auto &entry) { return entry.second.kind == kind; });
    };
    bool isRead = has(EffectKind::Read), isUpdated = has(EffectKind::Accumulate);
    bool isWritten = has(EffectKind::Write);
    if (!isWritten && !(isRead && isUpdated))
      return std::nullopt;
    int64_t maxPoints = std::max<int64_t>(kMaxPoints / all.size(), kMinPoints);
    WrittenElements written, updated;
    Numbering numbering(tensor, all);
    auto elementOf = [&](int64_t number) {
      return numbering.isOfMemory() ? numbering.getElement({number})
                                    : delinearize(number, getKnownShape(tensor));
    };
    for (const auto &[op, effect] : all) {
      if (effect.kind != EffectKind::Write)
        continue;
      bool isOwnValue = writesOwnValue(op, effect, dependence);
      if (!isRead && !isUpdated && !isOwnValue)
        continue;
      std::vector<Touch> touches = getTouches(op, effect, dim, numbering, maxPoints);
      written.enter(op, touches);
      if (!isOwnValue)
        continue;
      WrittenElements own;
      own.enter(op, touches);
      for (const Touch &touch : touches)
        if (auto other = own.findOther(touch); other && other->block < touch.block)
          return describe(tensor, dim, {*other, EffectKind::Write},
                          {{op, touch.block}, EffectKind::Write}, elementOf(touch.element));
    }
    if (isRead && isUpdated)
      for (const auto &[op, effect] : all)
        if (effect.kind == EffectKind::Accumulate)
          updated.enter(op, getTouches(op, effect, dim, numbering, maxPoints));
    for (const auto &[op, effect] : all) {
      if (effect.kind == EffectKind::Write || (effect.kind != EffectKind::Read && !isWritten))
        continue;
      for (const Touch &touch : getTouches(op, effect, dim, numbering, maxPoints)) {
        Party second{{op, touch.block}, effect.kind};
        if (auto writer = written.findOther(touch))
          return describe(tensor, dim, {*writer, EffectKind::Write}, second,
                          elementOf(touch.element));
        if (effect.kind != EffectKind::Read)
          continue;
        if (auto updater = updated.findOther(touch))
          return describe(tensor, dim, {*updater, EffectKind::Accumulate}, second,
                          elementOf(touch.element));
      }
    }
    return std::nullopt;
  }

  /// Whether a statement writes the same elements in all blocks, and what it writes is computed
  /// from their index.
  static bool writesOwnValue(Operation *op, const Effect &effect, BlockDependence &dependence) {
    const EffectRegion region = getSeenRegion(op, effect).region;
    if (region.isWhole())
      return false;
    for (const DimRange &range : *region.ranges)
      for (const IndexSum *sum : {&range.offset, &range.size})
        for (auto [value, factor] : sum->terms)
          if (dependence.dependsOnBlock(value))
            return false;
    return dependence.writesDependentValue(op);
  }

  std::vector<Touch> getTouches(Operation *op, const Effect &effect, unsigned dim,
                                const Numbering &numbering, int64_t maxPoints) {
    SmallVector<int64_t, 3> blocks(kernel.getGrid().size(), 1);
    blocks[dim] = numBlocks;
    SymbolNumbers symbols;
    std::optional<Access> access =
        describeAccess({kernel, kernel.getBlockIds(), blocks}, op, effect, numbering, symbols);
    if (!access)
      return {};
    SmallVector<int64_t> shape = getKnownShape(effect.root);
    if (numbering.isOfMemory())
      shape = {multiply(shape) * numbering.getUnitsOfElement()};
    return findTouches(std::move(*access), shape, blocks.size(), numBlocks, maxPoints);
  }

  BlockConflict describe(Value tensor, unsigned dim, Party first, Party second,
                         SmallVector<int64_t, 4> element) {
    auto block = [&](const Party &party) {
      SmallVector<int64_t, 3> position(kernel.getGrid().size(), 0);
      position[dim] = party.first.block;
      return position;
    };
    return {first.first.op, second.first.op, first.second,      second.second, tensor, dim,
            block(first),   block(second),   std::move(element)};
  }

  KernelOp kernel;
  GridExtents extents;
  int64_t numBlocks = 0;
  Writers writers;
  llvm::MapVector<Value, Effects> tensors;
};

} // namespace

std::optional<BlockConflict> findBlockConflict(KernelOp kernel, GridExtents extents) {
  return BlockConflicts(kernel, extents).find();
}

} // namespace tilewright::analysis
