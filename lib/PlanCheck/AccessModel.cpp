//===- AccessModel.cpp - what an access touches, as code of the loop's variables -------------===//

#include "AccessModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::plancheck {

using Register = IndexTape::Register;
using Op = IndexTape::Op;

Value getBuffer(Operation *access) {
  return llvm::TypeSwitch<Operation *, Value>(access)
      .Case<LoadOp, StoreOp, AtomicElementOp, ReducerUpdateOp>(
          [](auto op) { return op.getBuffer(); })
      .Default(Value());
}

ValueRange getIndices(Operation *access) {
  return llvm::TypeSwitch<Operation *, ValueRange>(access)
      .Case<LoadOp, StoreOp, AtomicElementOp, ReducerUpdateOp>(
          [](auto op) -> ValueRange { return op.getIndices(); })
      .Default(ValueRange());
}

/// Translates the SSA values around one access into a tape.
class ModelBuilder {
public:
  ModelBuilder(AccessModel &model, const Subject &subject)
      : model(model), tape(model.tape), subject(subject), scope(subject.scope) {
    for (unsigned dim = 0; dim < subject.owners.extents.size(); ++dim)
      iterators.push_back(tape.iterator(dim));
    if (auto loop = dyn_cast<ParallelOp>(scope))
      for (auto [iterator, number] : llvm::zip_equal(loop.getIterators(), iterators))
        known[iterator] = number;
    scope->walk([&](Operation *op) {
      if (Value buffer = getBuffer(op); buffer && !isa<LoadOp>(op))
        written.insert(tile::getRoot(buffer));
    });
  }

  void build();
  void build(TensorMapAttr map);

private:
  Register valueOf(Value value, unsigned depth = 0);
  Register translate(Value value, unsigned depth);
  Register translateArgument(BlockArgument argument, unsigned depth);
  std::optional<Register> translateOp(Operation *op, unsigned depth);
  Register opaque(Value value, unsigned depth);
  Register folded(OpFoldResult result);
  Register extentOf(Value buffer, unsigned dim);
  Register rootExtent(Value root, unsigned dim);
  SmallVector<Register> symbolsOf(func::FuncOp function, ShapeAttr shape);
  SmallVector<Register, 4> ownCoordinates();
  SmallVector<Register, 4> rootCoordinates();
  SmallVector<Register, 4> renumber(ViewOp view, ArrayRef<Register> coordinates);
  Register offsetOf(ArrayRef<Register> coordinates);
  std::optional<Layout> layoutOf(Value root);
  void addConditions();

  /// Deeper computations are taken as opaque.
  static constexpr unsigned kMaxDepth = 400;

  AccessModel &model;
  IndexTape &tape;
  const Subject &subject;
  Operation *scope; ///< What the iterators run in.
  SmallVector<Register, 4> iterators;
  llvm::DenseMap<Value, Register> known;
  llvm::DenseMap<std::pair<Value, unsigned>, Register> knownExtents;
  llvm::SmallDenseSet<Value, 4> written; ///< Roots that the loop changes.
};

//===----------------------------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------------------------===//

static unsigned bitsOf(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? std::min(integer.getWidth(), 64u) : IndexTape::kIndex;
}

Register ModelBuilder::valueOf(Value value, unsigned depth) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Register r = translate(value, depth);
  known[value] = r;
  return r;
}

Register ModelBuilder::folded(OpFoldResult result) {
  std::optional<int64_t> constant = getConstantIntValue(result);
  return constant ? tape.constant(*constant) : valueOf(cast<Value>(result));
}

Register ModelBuilder::translate(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return tape.constant(bitsOf(value.getType()) == 1 ? *constant & 1 : *constant);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return translateArgument(argument, depth);
  if (depth < kMaxDepth && value.getType().isIntOrIndex())
    if (std::optional<Register> r = translateOp(value.getDefiningOp(), depth + 1))
      return *r;
  return opaque(value, depth);
}

/// A value that the tape cannot compute: some function of the operands of its operation, and of the
/// iteration where that operation sees what the loop changes.
Register ModelBuilder::opaque(Value value, unsigned depth) {
  SmallVector<Register> operands;
  Operation *op = value.getDefiningOp();
  bool isInside = scope->isAncestor(value.getParentRegion()->getParentOp());
  auto load = dyn_cast_or_null<LoadOp>(op);
  bool isFunction = op && op->getNumRegions() == 0 && depth < kMaxDepth &&
                    (load ? !written.contains(tile::getRoot(load.getBuffer())) : isPure(op));
  if (isInside && !isFunction)
    operands.append(iterators);
  if (isFunction)
    for (Value operand : op->getOperands())
      if (!isa<MemRefType>(operand.getType()))
        operands.push_back(valueOf(operand, depth + 1));
  return tape.emit(Op::Opaque, operands, bitsOf(value.getType()));
}

Register ModelBuilder::translateArgument(BlockArgument argument, unsigned depth) {
  Operation *owner = argument.getOwner()->getParentOp();
  auto range = [&](Register lower, Register upper, Register step) {
    return tape.emit(Op::InRange, {lower, upper, step});
  };
  Register zero = tape.constant(0), one = tape.constant(1);
  if (auto block = dyn_cast<KernelOp>(owner))
    return range(zero, valueOf(block.getGrid()[argument.getArgNumber()], depth + 1), one);
  if (auto serial = dyn_cast<PipelinedOp>(owner))
    return range(valueOf(serial.getLower(), depth + 1), valueOf(serial.getUpper(), depth + 1), one);
  if (auto serial = dyn_cast<scf::ForOp>(owner); serial && argument == serial.getInductionVar())
    return range(valueOf(serial.getLowerBound(), depth + 1),
                 valueOf(serial.getUpperBound(), depth + 1), valueOf(serial.getStep(), depth + 1));
  if (auto other = dyn_cast<ParallelOp>(owner))
    return range(zero, folded(other.getMixedExtents()[argument.getArgNumber()]), one);
  if (auto function = dyn_cast<func::FuncOp>(owner))
    if (function.getArgAttr(argument.getArgNumber(), kSymbolAttr)) {
      Register extent = tape.emit(Op::Extent, {});
      auto divisor = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kDivisorAttr);
      return divisor ? tape.emit(Op::Mul, {extent, tape.constant(divisor.getInt())}) : extent;
    }
  return opaque(argument, depth);
}

/// The instruction of an operation with two operands of one type; nothing for any other.
static std::optional<Op> getBinaryOp(Operation *op) {
  auto unlessUnsigned = [](bool isUnsigned, Op code) {
    return isUnsigned ? std::nullopt : std::optional(code);
  };
  return llvm::TypeSwitch<Operation *, std::optional<Op>>(op)
      .Case([](arith::AddIOp) { return Op::Add; })
      .Case([](arith::SubIOp) { return Op::Sub; })
      .Case([](arith::MulIOp) { return Op::Mul; })
      .Case([](arith::XOrIOp) { return Op::Xor; })
      .Case([](arith::AndIOp) { return Op::And; })
      .Case([](arith::OrIOp) { return Op::Or; })
      .Case([](arith::MinSIOp) { return Op::Min; })
      .Case([](arith::MaxSIOp) { return Op::Max; })
      .Case([&](FloorDivOp div) { return unlessUnsigned(div.getIsUnsigned(), Op::FloorDiv); })
      .Case([&](FloorModOp mod) { return unlessUnsigned(mod.getIsUnsigned(), Op::FloorMod); })
      .Case([&](TruncDivOp div) { return unlessUnsigned(div.getIsUnsigned(), Op::TruncDiv); })
      .Case([&](TruncModOp mod) { return unlessUnsigned(mod.getIsUnsigned(), Op::TruncMod); })
      .Case([&](ShlOp shl) { return unlessUnsigned(shl.getIsUnsigned(), Op::Shl); })
      .Case([&](ShrOp shr) { return unlessUnsigned(shr.getIsUnsigned(), Op::Shr); })
      .Default(std::nullopt);
}

/// `lhs predicate rhs` as an instruction, and whether its operands change sides.
static std::pair<Op, bool> getComparison(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return {Op::Equal, false};
  case P::ne:
    return {Op::NotEqual, false};
  case P::slt:
  case P::sgt:
    return {Op::Less, predicate == P::sgt};
  case P::sle:
  case P::sge:
    return {Op::LessEqual, predicate == P::sge};
  case P::ult:
  case P::ugt:
    return {Op::UnsignedLess, predicate == P::ugt};
  case P::ule:
  case P::uge:
    return {Op::UnsignedLessEqual, predicate == P::uge};
  }
  llvm_unreachable("all predicates are handled");
}

std::optional<Register> ModelBuilder::translateOp(Operation *op, unsigned depth) {
  unsigned bits = bitsOf(op->getResult(0).getType());
  auto operand = [&](unsigned k) { return valueOf(op->getOperand(k), depth); };
  auto convert = [&](bool isUnsigned) -> std::optional<Register> {
    Type from = op->getOperand(0).getType();
    if (!from.isIntOrIndex())
      return std::nullopt;
    Register value = operand(0);
    if (isUnsigned && !from.isIndex())
      value = tape.emit(Op::ZeroExtend, {value, tape.constant(bitsOf(from))});
    return tape.emit(Op::Convert, {value}, bits);
  };
  if (std::optional<Op> binary = getBinaryOp(op))
    return tape.emit(*binary, {operand(0), operand(1)}, bits);
  return llvm::TypeSwitch<Operation *, std::optional<Register>>(op)
      .Case([&](arith::CmpIOp compare) -> std::optional<Register> {
        auto [code, isSwapped] = getComparison(compare.getPredicate());
        Register lhs = operand(0), rhs = operand(1);
        return isSwapped ? tape.emit(code, {rhs, lhs}, 1) : tape.emit(code, {lhs, rhs}, 1);
      })
      .Case([&](arith::SelectOp) -> std::optional<Register> {
        return tape.emit(Op::Select, {operand(0), operand(1), operand(2)}, bits);
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](auto) { return convert(/*isUnsigned=*/false); })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>([&](auto) { return convert(true); })
      .Case([&](CastOp cast) {
        return convert(cast.getFrom().isUnsignedInteger() || cast.getFrom().isInteger(1));
      })
      .Case([&](VersionOp version) -> std::optional<Register> {
        Register number = tape.emit(Op::Add, {tape.emit(Op::Sub, {operand(0), operand(1)}),
                                              tape.constant(version.getAhead())});
        return tape.emit(Op::FloorMod, {number, tape.constant(version.getCount())});
      })
      .Case([&](PhaseOp phase) -> std::optional<Register> {
        Register number = tape.emit(Op::Add, {tape.emit(Op::Sub, {operand(0), operand(1)}),
                                              tape.constant(phase.getAhead())});
        number = tape.emit(Op::FloorDiv, {number, tape.constant(phase.getCount())});
        return tape.emit(Op::FloorMod, {number, tape.constant(2)});
      })
      .Case([&](memref::DimOp dim) -> std::optional<Register> {
        std::optional<int64_t> position = dim.getConstantIndex();
        return position ? std::optional(extentOf(dim.getSource(), *position)) : std::nullopt;
      })
      .Default(std::nullopt);
}

//===----------------------------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------------------------===//

Register ModelBuilder::extentOf(Value buffer, unsigned dim) {
  int64_t extent = cast<MemRefType>(buffer.getType()).getDimSize(dim);
  if (extent != kDynamic)
    return tape.constant(extent);
  if (auto slice = buffer.getDefiningOp<SliceOp>()) {
    for (auto [position, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!llvm::is_contained(slice.getDropped(), int64_t(position)) && dim-- == 0)
        return folded(size);
    llvm_unreachable("a slice has a size for each dimension of its result");
  }
  auto [it, isNew] = knownExtents.try_emplace({buffer, dim}, 0);
  if (isNew) {
    Register r = rootExtent(buffer, dim);
    knownExtents[{buffer, dim}] = r;
    return r;
  }
  return it->second;
}

/// An extent of a root that only the launch knows: what its `#tile.shape` computes from the shape
/// symbols, what its allocation was given, or any.
Register ModelBuilder::rootExtent(Value root, unsigned dim) {
  if (auto alloc = root.getDefiningOp<AllocOp>())
    return valueOf(alloc.getDynamicExtents()[alloc.getBuffer().getType().getDynamicDimIndex(dim)]);
  auto argument = dyn_cast<BlockArgument>(root);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto shape = function ? function.getArgAttrOfType<ShapeAttr>(argument.getArgNumber(), kShapeAttr)
                        : ShapeAttr();
  if (!shape)
    return tape.emit(Op::Extent, {});
  return tape.emit(shape.getExtents()[dim], {}, symbolsOf(function, shape));
}

/// The shape symbols that a formula names.
SmallVector<Register> ModelBuilder::symbolsOf(func::FuncOp function, ShapeAttr shape) {
  SmallVector<Register> symbols;
  for (StringAttr name : shape.getSymbols()) {
    std::optional<Register> bound;
    for (BlockArgument other : function.getArguments())
      if (function.getArgAttr(other.getArgNumber(), kSymbolAttr) == name)
        bound = valueOf(other);
    symbols.push_back(bound ? *bound : tape.emit(Op::Extent, {}));
  }
  return symbols;
}

/// The coordinates in the buffer that is named: the indices of an element, or the row and column of
/// a matrix whose leading extents are 1.
SmallVector<Register, 4> ModelBuilder::ownCoordinates() {
  SmallVector<Register, 4> coordinates;
  if (subject.isMatrix) {
    coordinates.assign(cast<MemRefType>(subject.buffer.getType()).getRank() - 2, tape.constant(0));
    coordinates.append(iterators);
  } else {
    for (Value index : getIndices(subject.op))
      coordinates.push_back(valueOf(index));
  }
  return coordinates;
}

/// Through slices and reshapes to the root.
SmallVector<Register, 4> ModelBuilder::rootCoordinates() {
  Value buffer = subject.buffer;
  SmallVector<Register, 4> coordinates = ownCoordinates();
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto view = dyn_cast<ViewOp>(op)) {
      coordinates = renumber(view, coordinates);
      buffer = view.getSource();
      continue;
    }
    auto slice = dyn_cast<SliceOp>(op);
    if (!slice)
      break;
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), steps = slice.getMixedSteps();
    SmallVector<Register, 4> source;
    unsigned next = 0;
    for (unsigned dim = 0; dim < offsets.size(); ++dim) {
      Register coordinate = folded(offsets[dim]);
      if (!llvm::is_contained(slice.getDropped(), int64_t(dim)))
        coordinate = tape.emit(
            Op::Add, {coordinate, tape.emit(Op::Mul, {coordinates[next++], folded(steps[dim])})});
      source.push_back(coordinate);
    }
    coordinates = std::move(source);
    buffer = slice.getSource();
  }
  return coordinates;
}

/// The coordinates under the shape of a view's source; any numbers where shapes are not known or
/// the elements have another width.
SmallVector<Register, 4> ModelBuilder::renumber(ViewOp view, ArrayRef<Register> coordinates) {
  auto from = cast<MemRefType>(view.getSource().getType()),
       to = cast<MemRefType>(view.getResult().getType());
  SmallVector<Register, 4> source(from.getRank());
  if (from.getElementType() != to.getElementType() || !from.hasStaticShape() ||
      !to.hasStaticShape()) {
    for (Register &coordinate : source)
      coordinate = tape.emit(Op::Opaque, coordinates);
    return source;
  }
  Register number = tape.constant(0);
  for (auto [coordinate, extent] : llvm::zip(coordinates, to.getShape()))
    number = tape.emit(Op::Add, {tape.emit(Op::Mul, {number, tape.constant(extent)}), coordinate});
  for (int64_t dim = from.getRank() - 1; dim >= 0; --dim) {
    Register extent = tape.constant(from.getDimSize(dim));
    source[dim] = dim == 0 ? number : tape.emit(Op::FloorMod, {number, extent});
    number = tape.emit(Op::FloorDiv, {number, extent});
  }
  return source;
}

std::optional<Layout> ModelBuilder::layoutOf(Value root) {
  std::optional<Layout> layout;
  if (auto alloc = root.getDefiningOp<AllocOp>())
    if (auto placement = alloc->getAttrOfType<LayoutAttr>(kPlacementAttr))
      layout = placement.getLayout();
  if (getSpace(root) == Space::Global)
    KernelOp(subject.kernel).walk([&](AnnotateLayoutOp note) {
      if (note.getBuffer() == root)
        layout = cast<LayoutAttr>(note.getLayout()).getLayout();
    });
  return layout;
}

/// Row-major over the layout's outputs, or over the coordinates themselves.
Register ModelBuilder::offsetOf(ArrayRef<Register> coordinates) {
  SmallVector<Register, 4> physical(coordinates), extents(model.extents);
  if (std::optional<Layout> layout = layoutOf(model.root)) {
    physical.clear();
    extents.clear();
    for (auto [output, extent] : llvm::zip(layout->getOutputs(), layout->getOutputShape())) {
      physical.push_back(tape.emit(output, coordinates));
      extents.push_back(extent == kDynamic ? tape.emit(Op::Extent, {}) : tape.constant(extent));
    }
  }
  Register offset = tape.constant(0);
  for (auto [position, coordinate] : llvm::enumerate(physical)) {
    if (position > 0) // the first extent is no stride
      offset = tape.emit(Op::Mul, {offset, extents[position]});
    offset = tape.emit(Op::Add, {offset, coordinate});
  }
  return offset;
}

//===----------------------------------------------------------------------------------------===//
// The access
//===----------------------------------------------------------------------------------------===//

/// The branches and loops around the access. A loop must have an iteration, which is drawn whether
/// or not the indices use it.
void ModelBuilder::addConditions() {
  for (Operation *child = subject.op, *op = child->getParentOp(); op;
       child = op, op = op->getParentOp()) {
    bool isInside = scope->isProperAncestor(op);
    auto &conditions = isInside ? model.innerConditions : model.outerConditions;
    if (auto branch = dyn_cast<scf::IfOp>(op))
      conditions.push_back(
          {valueOf(branch.getCondition()), child->getParentRegion() == &branch.getThenRegion()});
    if (auto group = dyn_cast<AsyncGroupOp>(op))
      conditions.push_back(
          {tape.emit(Op::Less, {valueOf(group.getIteration()), valueOf(group.getUpper())}, 1),
           true});
    if (auto serial = dyn_cast<scf::ForOp>(op))
      conditions.push_back({valueOf(serial.getInductionVar()), std::nullopt});
    if (auto serial = dyn_cast<PipelinedOp>(op))
      conditions.push_back({valueOf(serial.getInductionVar()), std::nullopt});
    if (auto grid = dyn_cast<KernelOp>(op))
      for (BlockArgument block : grid.getBlockIds())
        conditions.push_back({valueOf(block), std::nullopt});
  }
}

void ModelBuilder::build() {
  model.coordinates = rootCoordinates();
  for (unsigned dim = 0; dim < model.coordinates.size(); ++dim)
    model.extents.push_back(extentOf(model.root, dim));
  model.offset = offsetOf(model.coordinates);
  addConditions();
}

void ModelBuilder::build(TensorMapAttr map) {
  auto function = subject.op->getParentOfType<func::FuncOp>();
  for (const IndexExpr &extent : map.getExtents().getExtents())
    model.mapExtents.push_back(tape.emit(extent, {}, symbolsOf(function, map.getExtents())));
  for (const IndexExpr &stride : map.getStrides().getExtents())
    model.mapStrides.push_back(tape.emit(stride, {}, symbolsOf(function, map.getStrides())));
}

AccessModel::AccessModel(const Subject &subject, TensorMapAttr map)
    : root(tile::getRoot(subject.buffer)), reads(subject.isRead) {
  ModelBuilder builder(*this, subject);
  builder.build();
  if (map)
    builder.build(map);
}

bool AccessModel::holds(const Condition &condition, bool &isKnown) const {
  std::optional<int64_t> value = tape.get(condition.value);
  isKnown &= value.has_value();
  return value && (!condition.wanted || (*value != 0) == *condition.wanted);
}

bool AccessModel::startRound(uint64_t round) {
  tape.startRound(round);
  bool isKnown = true;
  return llvm::all_of(outerConditions, [&](const Condition &c) { return holds(c, isKnown); });
}

Point AccessModel::at(ArrayRef<int64_t> iterators) {
  tape.runIteration(iterators);
  Point point{Point::Runs, 0, 0, 0};
  bool isKnown = true, runs = true;
  for (auto [position, condition] : llvm::enumerate(innerConditions)) {
    bool isTaken = holds(condition, isKnown);
    runs &= isTaken;
    point.taken |= uint64_t(isTaken) << (position % 64);
  }
  std::optional<int64_t> position = tape.get(offset);
  for (unsigned dim = 0; dim < coordinates.size(); ++dim) {
    std::optional<int64_t> coordinate = tape.get(coordinates[dim]), extent = tape.get(extents[dim]);
    isKnown &= coordinate && extent;
    if (coordinate && extent && (*coordinate < 0 || *coordinate >= *extent))
      point.outside |= uint64_t(1) << dim;
  }
  point.state = !isKnown || !position ? Point::Unknown : runs ? Point::Runs : Point::Off;
  point.offset = position.value_or(0);
  return point;
}

} // namespace tilewright::plancheck
