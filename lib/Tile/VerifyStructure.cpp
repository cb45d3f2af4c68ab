//===- VerifyStructure.cpp - what legal kernels, loops and buffers are -----------------===//
//
// See Verifiers.h.
//
//===----------------------------------------------------------------------------------------===//

#include "Verifiers.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

InFlightDiagnostic &tile::noteAllocation(InFlightDiagnostic &diag, Value buffer) {
  if (Operation *alloc = getRoot(buffer).getDefiningOp();
      isa_and_present<AllocOp, BarrierAllocOp>(alloc))
    diag.attachNote(alloc->getLoc()) << "'" << getName(buffer) << "' is allocated here";
  return diag;
}

LogicalResult tile::verifyIndices(Operation *op, Value buffer, ValueRange indices) {
  auto type = cast<MemRefType>(buffer.getType());
  if (indices.size() != size_t(type.getRank()))
    return op->emitOpError() << "expected " << type.getRank() << " indices for " << describe(buffer)
                             << ", got " << indices.size();
  // Under a condition an index outside may never be used: `if i > 0: x[i - 1] = …` in an unrolled
  // loop becomes `x[-1]` where nothing has removed the branch yet. tile-check-bounds decides.
  if (!isOnChip(buffer) || op->getParentOfType<scf::IfOp>())
    return success();
  for (auto [dim, index] : llvm::enumerate(indices)) {
    std::optional<int64_t> constant = getConstantIntValue(index);
    if (!constant || ShapedType::isDynamic(type.getDimSize(dim)))
      continue;
    if (*constant < 0 || *constant >= type.getDimSize(dim)) {
      InFlightDiagnostic diag = op->emitError()
                                << "index " << *constant << " is out of bounds for dimension "
                                << dim << " of " << describe(buffer);
      return noteAllocation(diag, buffer);
    }
  }
  return success();
}

LogicalResult tile::verifyUniformFlow(Operation *op, const Twine &what) {
  auto loop = op->getParentOfType<ParallelOp>();
  if (!loop)
    return success();
  InFlightDiagnostic diag = op->emitError()
                            << what << " inside 'T.Parallel': the threads of the block work on it "
                            << "together and meet at barriers, but iterations take different ways; "
                            << "move it out of the loop";
  diag.attachNote(loop.getLoc()) << "the flow of threads divides here";
  return diag;
}

/// An I64Attr's accessor gives an unsigned number; a width is read with its sign.
LogicalResult tile::verifyCoalescedWidth(Operation *op, std::optional<int64_t> width) {
  if (width && *width < 1)
    return op->emitError() << "coalesced_width " << *width << " is not positive";
  return success();
}

//===----------------------------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------------------------===//

/// Block ids and loop variables are index values.
static LogicalResult verifyIndexArguments(Operation *op, Region &body) {
  for (BlockArgument argument : body.getArguments())
    if (!isa<IndexType>(argument.getType()))
      return op->emitOpError() << "has a region argument of type " << argument.getType()
                               << ", expected index";
  return success();
}

LogicalResult KernelOp::verify() {
  if (failed(verifyIndexArguments(*this, getBody())))
    return failure();
  if (getGrid().size() != getBody().getNumArguments())
    return emitOpError() << "has " << getGrid().size() << " grid extents and "
                         << getBody().getNumArguments() << " block indices";
  if (getGrid().empty() || getGrid().size() > 3)
    return emitError() << "a kernel has 1 to 3 grid extents, got " << getGrid().size();
  if (getThreads().empty() || getThreads().size() > 3)
    return emitError() << "a block has 1 to 3 thread extents, got " << getThreads().size();
  for (Value extent : getGrid())
    if (std::optional<int64_t> constant = getConstantIntValue(extent); constant && *constant < 0)
      return emitError() << "grid extent " << *constant << " is negative";
  int64_t product = 1;
  for (int64_t extent : getThreads()) {
    if (extent < 1 || extent > 1024)
      return emitError() << "thread extent " << extent << " is not between 1 and 1024";
    product *= extent;
  }
  if (product > 1024)
    return emitError() << "a block of " << product << " threads is too large, at most 1024 fit";
  if ((*this)->getParentOfType<KernelOp>())
    return emitError() << "a kernel inside a kernel: close the first 'with T.Kernel' before";
  return success();
}

LogicalResult ParallelOp::verify() {
  if (failed(verifyIndexArguments(*this, getBody())))
    return failure();
  if (getStaticExtents().size() != getBody().getNumArguments())
    return emitOpError() << "has " << getStaticExtents().size() << " extents and "
                         << getBody().getNumArguments() << " loop variables";
  if (getStaticExtents().empty())
    return emitError() << "'T.Parallel' needs at least one extent";
  size_t dynamic = llvm::count_if(getStaticExtents(), ShapedType::isDynamic);
  if (dynamic != getDynamicExtents().size())
    return emitOpError() << "has " << dynamic << " run-time extents and "
                         << getDynamicExtents().size() << " operands";
  int64_t iterations = 1;
  for (int64_t extent : getStaticExtents()) {
    if (ShapedType::isDynamic(extent))
      continue;
    if (extent < 0)
      return emitError() << "'T.Parallel' extent " << extent << " is negative";
    // One block would run for minutes on the largest machine.
    if (llvm::MulOverflow(iterations, extent, iterations) || iterations > int64_t(1) << 36)
      return emitError() << "'T.Parallel' over " << describeShape(getStaticExtents())
                         << " has more than 2^36 iterations for one block; divide them among the "
                         << "blocks of T.Kernel";
  }
  if (failed(verifyCoalescedWidth(*this, getCoalescedWidth())))
    return failure();
  if (auto layout = getLoopLayout();
      layout && layout->getFragment().getRank() != getBody().getNumArguments())
    return emitError() << "loop_layout has " << layout->getFragment().getRank()
                       << " inputs, the loop has " << getBody().getNumArguments() << " variables";
  return success();
}

LogicalResult PipelinedOp::verify() {
  if (getBody().getNumArguments() != 1)
    return emitOpError() << "has one loop variable, got " << getBody().getNumArguments();
  if (failed(verifyIndexArguments(*this, getBody())))
    return failure();
  if (int64_t(getNumStages()) < 0)
    return emitError() << "num_stages " << int64_t(getNumStages()) << " is negative";
  if (getOrder().has_value() != getStage().has_value())
    return emitError() << "'order' and 'stage' of 'T.Pipelined' are given together or not at all";
  return success();
}

/// The schedule numbers the statements of the body, which must be legal before they are counted.
LogicalResult PipelinedOp::verifyRegions() {
  if (!getOrder())
    return success();
  size_t statements = getStatements().size();
  auto verifyLength = [&](StringRef name, ArrayRef<int64_t> values) -> LogicalResult {
    if (values.size() != statements)
      return emitError() << "'" << name << "' of 'T.Pipelined' has " << values.size()
                         << " entries, the body has " << statements << " statements";
    return success();
  };
  if (failed(verifyLength("order", *getOrder())) || failed(verifyLength("stage", *getStage())))
    return failure();
  SmallVector<int64_t> sorted(getOrder()->begin(), getOrder()->end());
  llvm::sort(sorted);
  for (auto [position, value] : llvm::enumerate(sorted))
    if (value != int64_t(position))
      return emitError() << "'order' of 'T.Pipelined' is not a permutation of 0 to "
                         << statements - 1;
  for (ArrayRef<int64_t> stages = *getStage(); int64_t stage : stages)
    if (stage < 0)
      return emitError() << "stage " << stage << " of 'T.Pipelined' is negative";
  return success();
}

LogicalResult AsyncGroupOp::verify() {
  for (Operation &op : getBody().front().without_terminator())
    if (!isa<ParallelOp, SliceOp, ViewOp>(op) && (op.getNumRegions() || !isMemoryEffectFree(&op)))
      return op.emitOpError() << "in 'tile.async_group', which holds copies ('tile.parallel') and "
                                 "the arithmetic of their indices";
  if (bool(getFull()) != bool(getVersion()) || (getEmpty() && !getFull()))
    return emitOpError()
           << "names a barrier without its version, or one to start after and none to "
              "arrive at";
  for (Value barriers : {getFull(), getEmpty()})
    if (barriers && !barriers.getDefiningOp<BarrierAllocOp>())
      return emitOpError() << "needs barriers of 'tile.barrier_alloc'";
  for (ParallelOp copy : getBody().getOps<ParallelOp>())
    if (bool(getFull()) != isBulkCopy(copy))
      return copy.emitOpError() << "in a group "
                                << (getFull() ? "on a barrier has no"
                                              : "without a "
                                                "barrier has a")
                                << " plan as a bulk copy";
  return verifyUniformFlow(*this, "a group of asynchronous copies");
}

LogicalResult BulkGroupOp::verify() {
  for (Operation &op : getBody().front().without_terminator()) {
    auto copy = dyn_cast<ParallelOp>(op);
    if (copy && !isBulkCopy(copy))
      return copy.emitOpError() << "in 'tile.bulk_group' has no plan as a bulk copy";
    if (!copy && !isa<SliceOp, ViewOp>(op) && (op.getNumRegions() || !isMemoryEffectFree(&op)))
      return op.emitOpError() << "in 'tile.bulk_group', which holds bulk stores ('tile.parallel') "
                                 "and the arithmetic of their indices";
  }
  return verifyUniformFlow(*this, "a group of bulk stores");
}

static LogicalResult verifyVersion(Operation *op, int64_t count, int64_t ahead) {
  if (count < 1)
    return op->emitOpError() << "of " << count << " versions, expected at least 1";
  if (ahead < 0)
    return op->emitOpError() << "ahead " << ahead << " is negative";
  return success();
}

LogicalResult VersionOp::verify() { return verifyVersion(*this, getCount(), getAhead()); }
LogicalResult PhaseOp::verify() { return verifyVersion(*this, getCount(), getAhead()); }

//===----------------------------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  MemRefType type = getBuffer().getType();
  if (getDynamicExtents().size() != size_t(type.getNumDynamicDims()))
    return emitOpError() << "has " << getDynamicExtents().size() << " run-time extents for type "
                         << type;
  Space space = getSpace(type);
  bool inKernel = bool((*this)->getParentOfType<KernelOp>());
  if (space == Space::Global && inKernel)
    return emitError() << "'" << getName() << "': a global workspace is allocated outside a kernel";
  if (space != Space::Global && !type.hasStaticShape())
    return emitError() << "'" << getName() << "': an on-chip tile needs constant extents, got "
                       << describeShape(type.getShape());
  if (space != Space::Global && space != Space::Local && !inKernel)
    return emitError() << "'" << getName() << "': a tile is allocated inside 'with T.Kernel'";
  if (space != Space::Local && (*this)->getParentOfType<ParallelOp>())
    return emitError() << "'" << getName() << "' is allocated inside 'T.Parallel': a tile belongs "
                       << "to the whole block, allocate it in front of the loop";
  // No chip holds a hundredth of it; engines of the host hold all of it.
  int64_t most = space == Space::Global ? int64_t(1) << 40 : int64_t(1) << 28;
  int64_t elements = 1;
  for (int64_t extent : type.getShape()) {
    if (ShapedType::isDynamic(extent))
      continue;
    if (extent < 1)
      return emitError() << "'" << getName() << "': extent " << extent << " is not positive";
    if (llvm::MulOverflow(elements, extent, elements) || elements > most)
      return emitError() << "'" << getName() << "': " << describeShape(type.getShape())
                         << " is too large";
  }
  if (getReducer() && space != Space::Fragment)
    return emitError() << "'" << getName() << "': a reducer lives in a fragment";
  return success();
}

LogicalResult SliceOp::verify() {
  MemRefType source = getSource().getType(), result = getResult().getType();
  size_t rank = source.getRank();
  auto fits = [&](ArrayRef<int64_t> constants, OperandRange values) {
    return constants.size() == rank &&
           size_t(llvm::count_if(constants, ShapedType::isDynamic)) == values.size();
  };
  if (!fits(getStaticOffsets(), getOffsets()) || !fits(getStaticSizes(), getSizes()) ||
      !fits(getStaticSteps(), getSteps()))
    return emitOpError() << "expected " << rank << " offsets, sizes and steps for "
                         << describe(getSource());
  for (auto [position, dim] : llvm::enumerate(getDropped()))
    if (dim < 0 || dim >= int64_t(rank) || (position > 0 && dim <= getDropped()[position - 1]))
      return emitOpError() << "drops dimension " << dim << ", expected rising numbers below "
                           << rank;
  SmallVector<OpFoldResult> offsets = getMixedOffsets(), sizes = getMixedSizes(),
                            steps = getMixedSteps();
  SmallVector<int64_t> shape;
  for (size_t dim = 0; dim < rank; ++dim) {
    std::optional<int64_t> offset = getConstantIntValue(offsets[dim]),
                           size = getConstantIntValue(sizes[dim]),
                           step = getConstantIntValue(steps[dim]);
    bool isDropped = llvm::is_contained(getDropped(), int64_t(dim));
    if (isDropped && size != 1)
      return emitOpError() << "drops dimension " << dim << ", whose size is not 1";
    if (!isDropped)
      shape.push_back(getStaticSizes()[dim]);
    if (size && *size < 0)
      return emitError() << "slice of " << describe(getSource()) << " in dimension " << dim
                         << " has negative size " << *size;
    if (step && *step < 1)
      return emitError() << "slice of " << describe(getSource()) << " in dimension " << dim
                         << " has step " << *step << ", expected a positive one";
    int64_t extent = source.getDimSize(dim);
    if (!isOnChip(getSource()) || ShapedType::isDynamic(extent) || !offset || !size || *size == 0)
      continue;
    int64_t span = 0, end = 0; // one past the last element; the largest number on overflow
    if (llvm::MulOverflow(*size - 1, step.value_or(1), span) ||
        llvm::AddOverflow(*offset, span, end) || llvm::AddOverflow<int64_t>(end, 1, end))
      end = INT64_MAX;
    if (*offset < 0 || end > extent) {
      InFlightDiagnostic diag = emitError() << "slice " << *offset << ":" << end
                                            << " is out of bounds for dimension " << dim << " of "
                                            << describe(getSource());
      return noteAllocation(diag, getSource());
    }
  }
  if (shape != result.getShape() || source.getElementType() != result.getElementType() ||
      source.getMemorySpace() != result.getMemorySpace())
    return emitOpError() << "result type " << result << " does not fit a slice of " << source;
  return success();
}

LogicalResult ViewOp::verify() {
  MemRefType from = getSource().getType(), to = getResult().getType();
  if (from.getMemorySpace() != to.getMemorySpace())
    return emitOpError() << "changes the memory space";
  if (getSource().getDefiningOp<SliceOp>())
    return emitError() << "a view of a slice of " << describe(getSource())
                       << " is not supported, view the whole buffer and slice the view";
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return success();
  std::optional<int64_t> fromBytes = getStorageBytes(from), toBytes = getStorageBytes(to);
  auto complain = [&]() {
    return emitError() << "view of " << describe(getSource()) << " as "
                       << describeShape(to.getShape()) << " "
                       << describeElementType(to.getElementType());
  };
  if (!fromBytes || !toBytes)
    return complain() << " is too large";
  if (*fromBytes != *toBytes)
    return complain() << ": expected " << *fromBytes << " bytes, got " << *toBytes;
  return success();
}

LogicalResult LoadOp::verify() { return verifyIndices(*this, getBuffer(), getIndices()); }
LogicalResult StoreOp::verify() { return verifyIndices(*this, getBuffer(), getIndices()); }
