//===- ExpandStatements.cpp - element-wise statements become loops ---------------------------===//
//
// Copies, fills, atomics on tiles, im2col and the end of a reducer are loops over independent
// elements. Written as `tile.parallel`, they are distributed, vectorised and checked by the same
// procedure as the loops that users write: there is no second path.
//
// Expects: any tile IR.   Leaves: parallel, gemm, reduce, cumsum and notes; coordinates logical.
//
//   tile.copy %a, %b      ──▶    tile.parallel (%i, %j) in (64, 32) {
//                                  %v = tile.load %a[%i, %j]
//                                  tile.store %v, %b[%i, %j]
//                                }
//
// A statement reads all before it writes the first element. One that reads a part of the buffer
// that it writes, which may overlap, reads a fragment instead, filled by a statement before; what
// stands between them is the business of tile-insert-orderings.
//
// The previous value of an atomic outside a loop is known to the one thread that updates; it
// reaches the others through a shared tile of one element.
//
// A schedule by hand (`order`, `stage`) numbers the statements that the user wrote and says how
// deep the pipeline is. From here on statements come and go, so the depth is all that is kept of
// it.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Transforms/ExpandStatements.h"
#include "tilewright/Tile/Schedule.h"
#include "tilewright/Tile/Statements.h"
#include "tilewright/Tile/Teams.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {
#define GEN_PASS_DEF_EXPANDSTATEMENTS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

class Expander {
public:
  explicit Expander(Operation *op) : b(op->getLoc(), op) {}

  ParallelOp expand(CopyOp op);
  ParallelOp expand(FillOp op);
  ParallelOp expand(AtomicOp op);
  ParallelOp expand(FinalizeReducerOp op);
  ParallelOp expand(Im2colOp op);
  /// Gives all threads the previous value.
  void publish(AtomicElementOp op);

private:
  /// The extents of a buffer; run-time ones are sizes of the slice it is.
  SmallVector<OpFoldResult> extentsOf(Value buffer);
  /// A loop over `like`; the body goes at the builder's insertion point. Gives the loop variables.
  ParallelOp openLoop(Value like);
  Value convert(Value value, Type from, Type to);
  Value load(Value buffer, ValueRange indices) {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    return LoadOp::create(b, getScalarType(element), buffer, indices);
  }

  ImplicitLocOpBuilder b;
};

Type elementType(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); }

SmallVector<OpFoldResult> Expander::extentsOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (auto slice = buffer.getDefiningOp<SliceOp>()) {
    SmallVector<OpFoldResult> extents;
    for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!llvm::is_contained(slice.getDropped(), int64_t(dim)))
        extents.push_back(size);
    return extents;
  }
  if (auto alloc = buffer.getDefiningOp<AllocOp>())
    return getMixedValues(type.getShape(), alloc.getDynamicExtents(), b.getContext());
  SmallVector<OpFoldResult> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      extents.push_back(b.getIndexAttr(type.getDimSize(dim)));
    else // a whole tensor argument: memref.dim names its extent
      extents.push_back(Value(memref::DimOp::create(b, buffer, dim)));
  }
  return extents;
}

ParallelOp Expander::openLoop(Value like) {
  SmallVector<OpFoldResult> extents = extentsOf(like);
  if (extents.empty())
    extents.push_back(b.getIndexAttr(1));
  auto loop = ParallelOp::create(b, extents);
  b.setInsertionPointToStart(&loop.getBody().front());
  return loop;
}

Value Expander::convert(Value value, Type from, Type to) {
  if (from == to)
    return value;
  return CastOp::create(b, getScalarType(to), value, TypeAttr::get(from), TypeAttr::get(to),
                        RoundingAttr::get(b.getContext(), Rounding::NearestEven), UnitAttr());
}

ParallelOp Expander::expand(CopyOp op) {
  // The side with the higher rank names the loop's variables; units on the other side are skipped.
  bool bySource = op.getSource().getType().getRank() >= op.getDest().getType().getRank();
  Value like = bySource ? op.getSource() : op.getDest();
  ParallelOp loop = openLoop(like);
  if (auto width = op.getCoalescedWidth())
    loop.setCoalescedWidth(*width);
  if (auto layout = op.getLoopLayoutAttr())
    loop.setLoopLayoutAttr(layout);
  if (op->hasAttr("disable_tma"))
    loop->setAttr(kNoBulkAttr, b.getUnitAttr());
  if (auto mask = op->getAttrOfType<IntegerAttr>("cluster_mask"))
    loop->setAttr(kClusterMaskAttr, mask);
  if (op->hasAttr(kAtArrivalAttr))
    loop->setAttr(kAtArrivalAttr, b.getUnitAttr());
  Value value =
      load(op.getSource(), makePairedIndices(b, op.getSource(), like, loop.getIterators()));
  value = convert(value, elementType(op.getSource()), elementType(op.getDest()));
  StoreOp::create(b, value, op.getDest(),
                  makePairedIndices(b, op.getDest(), like, loop.getIterators()));
  return loop;
}

ParallelOp Expander::expand(FillOp op) {
  ParallelOp loop = openLoop(op.getDest());
  StoreOp::create(b, op.getValue(), op.getDest(),
                  loop.getIterators().take_front(op.getDest().getType().getRank()));
  return loop;
}

ParallelOp Expander::expand(AtomicOp op) {
  bool isTile = isBufferType(op.getValue().getType());
  bool byDest = !isTile || op.getDest().getType().getRank() >=
                               cast<MemRefType>(op.getValue().getType()).getRank();
  Value like = byDest ? Value(op.getDest()) : op.getValue();
  ParallelOp loop = openLoop(like);
  Value value = op.getValue();
  if (isTile) {
    value = load(op.getValue(), makePairedIndices(b, op.getValue(), like, loop.getIterators()));
    value = convert(value, elementType(op.getValue()), elementType(op.getDest()));
  }
  AtomicElementOp::create(b, value.getType(), op.getKind(), value, op.getDest(),
                          makePairedIndices(b, op.getDest(), like, loop.getIterators()),
                          op.getOrder());
  return loop;
}

ParallelOp Expander::expand(FinalizeReducerOp op) {
  ParallelOp loop = openLoop(op.getDest());
  Value value = load(op.getReducer(),
                     makePairedIndices(b, op.getReducer(), op.getDest(), loop.getIterators()));
  value = convert(value, elementType(op.getReducer()), elementType(op.getDest()));
  StoreOp::create(b, value, op.getDest(), loop.getIterators());
  return loop;
}

ParallelOp Expander::expand(Im2colOp op) {
  ParallelOp loop = openLoop(op.getDest());
  MemRefType dest = op.getDest().getType();
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, x, y); };
  auto mul = [&](Value x, int64_t y) -> Value { return arith::MulIOp::create(b, x, constant(y)); };
  auto div = [&](Value x, Value y) -> Value { return FloorDivOp::create(b, x, y, false); };
  auto mod = [&](Value x, Value y) -> Value { return FloorModOp::create(b, x, y, false); };
  SmallVector<Value> image;
  for (OpFoldResult extent : extentsOf(op.getImage()))
    image.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), extent));
  int64_t kernel = op.getKernel(), stride = op.getStride(), dilation = op.getDilation(),
          pad = op.getPad();
  // Output extents: (in + 2 pad - dilation (kernel - 1) - 1) // stride + 1.
  auto outExtent = [&](Value in) {
    Value reach = add(in, constant(2 * pad - dilation * (kernel - 1) - 1));
    return add(div(reach, constant(stride)), constant(1));
  };
  Value outH = outExtent(image[1]), outW = outExtent(image[2]), channels = image[3];
  Value row = add(mul(op.getRowTile(), dest.getDimSize(0)), loop.getIterators()[0]);
  Value column = add(mul(op.getColumnTile(), dest.getDimSize(1)), loop.getIterators()[1]);
  Value w = mod(row, outW), h = mod(div(row, outW), outH), n = div(div(row, outW), outH);
  Value channel = mod(column, channels), tap = div(column, channels);
  Value kw = mod(tap, constant(kernel)), kh = div(tap, constant(kernel));
  Value y = add(add(mul(h, stride), mul(kh, dilation)), constant(-pad));
  Value x = add(add(mul(w, stride), mul(kw, dilation)), constant(-pad));
  auto inside = [&](Value v, Value extent) -> Value {
    Value low = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, v, constant(0));
    Value high = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, v, extent);
    return arith::AndIOp::create(b, low, high);
  };
  Value isInside = arith::AndIOp::create(b, inside(y, image[1]), inside(x, image[2]));
  Type scalar = getScalarType(dest.getElementType());
  auto branch = scf::IfOp::create(b, TypeRange(scalar), isInside, /*withElse=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    scf::YieldOp::create(b, load(op.getImage(), {n, y, x, channel}));
    b.setInsertionPointToStart(&branch.getElseRegion().front());
    scf::YieldOp::create(b, arith::ConstantOp::create(b, b.getZeroAttr(scalar)).getResult());
  }
  StoreOp::create(b, branch.getResult(0), op.getDest(), loop.getIterators());
  return loop;
}

/// Whether two parts of one buffer are known to have no element in common: slices of the buffer
/// that lie side by side in some dimension.
bool areApart(Value lhs, Value rhs) {
  auto first = lhs.getDefiningOp<SliceOp>(), second = rhs.getDefiningOp<SliceOp>();
  if (!first || !second || first.getSource() != second.getSource())
    return false;
  auto interval = [](SliceOp slice, unsigned dim) -> std::optional<std::pair<int64_t, int64_t>> {
    std::optional<int64_t> offset = getConstantIntValue(slice.getMixedOffsets()[dim]),
                           size = getConstantIntValue(slice.getMixedSizes()[dim]);
    if (!offset || !size || getConstantIntValue(slice.getMixedSteps()[dim]) != 1)
      return std::nullopt;
    return std::pair(*offset, *offset + *size);
  };
  for (unsigned dim = 0; dim < first.getMixedOffsets().size(); ++dim) {
    auto a = interval(first, dim), b = interval(second, dim);
    if (a && b && (a->second <= b->first || b->second <= a->first))
      return true;
  }
  return false;
}

/// What a statement reads while it writes `dest`.
struct Sources {
  SmallVector<OpOperand *, 2> operands;
  Value dest;
  bool isByElement = true; ///< Each element of the result needs only that element of the source.

  static Sources get(Operation *op) {
    return TypeSwitch<Operation *, Sources>(op)
        .Case<CopyOp, CumsumOp>(
            [](auto move) { return Sources{{&move.getSourceMutable()}, move.getDest()}; })
        .Case([](AtomicOp atomic) {
          bool isTile = isBufferType(atomic.getValue().getType());
          return isTile ? Sources{{&atomic.getValueMutable()}, atomic.getDest()} : Sources();
        })
        .Case(
            [](ReduceOp reduce) { return Sources{{&reduce.getSourceMutable()}, reduce.getDest()}; })
        .Case([](GemmOp gemm) {
          return Sources{{&gemm.getAMutable(), &gemm.getBMutable()}, gemm.getC(), false};
        })
        .Default(Sources());
  }

  /// Whether writing the result may change what is still to be read.
  bool mayMeet(Value source) const {
    return getRoot(source) == getRoot(dest) && !(isByElement && source == dest) &&
           !areApart(source, dest);
  }
};

/// Lets a statement read a fragment instead of `source`, a part of the buffer that it writes. Gives
/// the copy that fills the fragment before.
FailureOr<CopyOp> separateSource(Operation *op, OpOperand *source, Value dest) {
  auto type = cast<MemRefType>(source->get().getType());
  if (!type.hasStaticShape())
    return op->emitError() << "not supported on the GPU yet: a statement that reads and writes "
                              "parts of '"
                           << getName(getRoot(dest)) << "' with run-time extents";
  OpBuilder b(op);
  auto space = SpaceAttr::get(op->getContext(), Space::Fragment);
  auto fragmentType = MemRefType::get(type.getShape(), type.getElementType(), AffineMap(), space);
  auto fragment = AllocOp::create(b, op->getLoc(), fragmentType, b.getStringAttr("moved"),
                                  ValueRange(), ReduceKindAttr());
  auto copy = CopyOp::create(b, op->getLoc(), source->get(), fragment.getBuffer(), IntegerAttr(),
                             FragmentAttr());
  source->set(fragment.getBuffer());
  return copy;
}

void Expander::publish(AtomicElementOp op) {
  auto tile =
      AllocOp::create(b, makeBufferType({1}, elementType(op.getBuffer()), Space::Shared),
                      b.getStringAttr(getName(op.getBuffer())), ValueRange(), ReduceKindAttr());
  auto loop = ParallelOp::create(b, {OpFoldResult(b.getIndexAttr(1))});
  Value shared = load(tile.getBuffer(), Value(arith::ConstantIndexOp::create(b, 0)));
  op.getPrevious().replaceAllUsesWith(shared);
  op->moveBefore(loop.getBody().front().getTerminator());
  b.setInsertionPointAfter(op);
  StoreOp::create(b, op.getPrevious(), tile.getBuffer(), loop.getIterators());
}

} // namespace

ParallelOp tilewright::writeAsLoop(Operation *statement) {
  return TypeSwitch<Operation *, ParallelOp>(statement)
      .Case<CopyOp, FillOp, AtomicOp, FinalizeReducerOp, Im2colOp>(
          [](auto op) { return Expander(op).expand(op); });
}

namespace {

/// Keeps the depth of a schedule by hand: the last stage and one more.
void dropSchedule(PipelinedOp loop) {
  if (!loop.getStage())
    return;
  ArrayRef<int64_t> stages = *loop.getStage();
  int64_t last = stages.empty() ? 0 : *llvm::max_element(stages);
  if (loop.getNumStages() == 0 && last > 0)
    loop.setNumStages(last + 1);
  loop.removeOrderAttr();
  loop.removeStageAttr();
}

/// Gives a statement fragments of its own for what it reads of the buffer that it writes; appends
/// the copies that fill them.
LogicalResult separateSources(Operation *op, SmallVectorImpl<Operation *> &copies) {
  Sources sources = Sources::get(op);
  for (OpOperand *source : sources.operands) {
    if (!sources.mayMeet(source->get()))
      continue;
    FailureOr<CopyOp> copy = separateSource(op, source, sources.dest);
    if (failed(copy))
      return failure();
    copies.push_back(*copy);
  }
  return success();
}

struct ExpandStatementsPass : tilewright::impl::ExpandStatementsBase<ExpandStatementsPass> {
  void runOnOperation() override {
    getOperation()->walk([](PipelinedOp loop) { dropSchedule(loop); });
    SmallVector<Operation *> statements;
    getOperation()->walk([&](Operation *op) {
      if (isa<CopyOp, FillOp, AtomicOp, FinalizeReducerOp, Im2colOp, ReduceOp, CumsumOp, GemmOp>(
              op))
        statements.push_back(op);
    });
    for (size_t position = 0; position < statements.size(); ++position) {
      Operation *op = statements[position];
      if (failed(separateSources(op, statements)))
        return signalPassFailure();
      if (isa<ReduceOp, CumsumOp, GemmOp>(op))
        continue;
      writeAsLoop(op);
      op->erase();
    }
    SmallVector<AtomicElementOp> atomics;
    getOperation()->walk([&](AtomicElementOp op) {
      if (!op.getPrevious().use_empty() && !op->getParentOfType<ParallelOp>())
        atomics.push_back(op);
    });
    for (AtomicElementOp op : atomics)
      Expander(op).publish(op);
  }
};

} // namespace
