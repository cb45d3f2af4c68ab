//===- Verifiers.cpp - what a legal statement is ---------------------------------------------===//
//
// Each message says in the user's terms what was asked, what stands in its way, and where there is
// one, the fix. The position is the op's location: the user's Python line.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Layout/Questions.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

static bool isOnChip(Value buffer) { return getSpace(buffer) != Space::Global; }

/// Points at the allocation of a buffer, so that the user sees both lines.
static InFlightDiagnostic &noteAllocation(InFlightDiagnostic &diag, Value buffer) {
  if (auto alloc = getRoot(buffer).getDefiningOp<AllocOp>())
    diag.attachNote(alloc.getLoc()) << "'" << getName(buffer) << "' is allocated here";
  return diag;
}

/// Refuses a constant index or slice that leaves an on-chip buffer.
static LogicalResult verifyIndices(Operation *op, Value buffer, ValueRange indices) {
  auto type = cast<MemRefType>(buffer.getType());
  if (indices.size() != size_t(type.getRank()))
    return op->emitOpError() << "expected " << type.getRank() << " indices for " << describe(buffer)
                             << ", got " << indices.size();
  if (!isOnChip(buffer))
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

/// Element-wise statements: equal extents when unit dimensions are left out.
static LogicalResult verifySameExtents(Operation *op, StringRef what, Value source, Value dest) {
  auto from = cast<MemRefType>(source.getType()), to = cast<MemRefType>(dest.getType());
  if (areCompatibleShapes(from.getShape(), to.getShape()) ||
      areCompatibleShapes(dropUnitExtents(from.getShape()), dropUnitExtents(to.getShape())))
    return success();
  InFlightDiagnostic diag = op->emitError() << what << ": expected equal extents, got "
                                            << describe(source) << " and " << describe(dest);
  noteAllocation(diag, source);
  return noteAllocation(diag, dest);
}

/// An I64Attr's accessor gives an unsigned number; a width is read with its sign.
static LogicalResult verifyCoalescedWidth(Operation *op, std::optional<int64_t> width) {
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
  for (int64_t extent : getStaticExtents())
    if (extent < 0 && !ShapedType::isDynamic(extent))
      return emitError() << "'T.Parallel' extent " << extent << " is negative";
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
  int64_t elements = 1;
  for (int64_t extent : type.getShape()) {
    if (ShapedType::isDynamic(extent))
      continue;
    if (extent < 1)
      return emitError() << "'" << getName() << "': extent " << extent << " is not positive";
    if (llvm::MulOverflow(elements, extent, elements) || elements > (int64_t(1) << 40))
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

//===----------------------------------------------------------------------------------------===//
// Tile statements
//===----------------------------------------------------------------------------------------===//

LogicalResult CopyOp::verify() {
  if (failed(verifyCoalescedWidth(*this, getCoalescedWidth())))
    return failure();
  return verifySameExtents(*this, "'T.copy'", getSource(), getDest());
}

LogicalResult FillOp::verify() {
  Type scalar = getScalarType(getDest().getType().getElementType());
  if (getValue().getType() != scalar)
    return emitOpError() << "fills " << describe(getDest()) << " with a value of type "
                         << getValue().getType() << ", expected " << scalar;
  return success();
}

GemmOp::Extents GemmOp::getExtents() {
  ArrayRef<int64_t> a = getA().getType().getShape().take_back(2),
                    b = getB().getType().getShape().take_back(2);
  return {a[getTransposeA() ? 1 : 0], b[getTransposeB() ? 0 : 1], a[getTransposeA() ? 0 : 1]};
}

LogicalResult GemmOp::verify() {
  auto isMatrix = [](Value buffer) {
    ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
    return shape.size() >= 2 && llvm::all_of(shape.drop_back(2), [](int64_t e) { return e == 1; });
  };
  for (auto [name, buffer] :
       {std::pair<StringRef, Value>{"A", getA()}, {"B", getB()}, {"C", getC()}})
    if (!isMatrix(buffer))
      return emitError() << "'T.gemm': expected a matrix for " << name << ", got "
                         << describe(buffer);
  Extents extents = getExtents();
  ArrayRef<int64_t> b = getB().getType().getShape().take_back(2),
                    c = getC().getType().getShape().take_back(2);
  int64_t kOfB = b[getTransposeB() ? 1 : 0];
  auto complain = [&]() {
    InFlightDiagnostic diag = emitError();
    diag << "'T.gemm': A is " << describe(getA()) << (getTransposeA() ? " transposed" : "")
         << ", B is " << describe(getB()) << (getTransposeB() ? " transposed" : "") << ", C is "
         << describe(getC());
    return diag;
  };
  if (!areCompatibleShapes({extents.k}, {kOfB}))
    return complain() << "; A has K = " << extents.k << " and B has K = " << kOfB;
  if (!areCompatibleShapes({extents.m, extents.n}, c))
    return complain() << "; expected C to be " << describeShape({extents.m, extents.n});
  Type typeA = getA().getType().getElementType(), typeB = getB().getType().getElementType(),
       typeC = getC().getType().getElementType();
  bool floats = isa<FloatType>(typeA);
  bool bools = typeA.isInteger(1) || typeB.isInteger(1) || typeC.isInteger(1);
  if (floats != isa<FloatType>(typeB) || floats != isa<FloatType>(typeC) || bools)
    return complain() << "; expected all floats or all integers";
  // Eight-bit types mix: float8_e4m3fn with float8_e5m2, int8 with uint8.
  bool bothBytes = typeA.getIntOrFloatBitWidth() == 8 && typeB.getIntOrFloatBitWidth() == 8;
  if (typeA != typeB && !bothBytes)
    return complain() << "; expected A and B of one dtype, convert one with 'T.copy' first";
  if (int64_t kPack = getKPack(); kPack < 1)
    return emitError() << "k_pack " << kPack << " is not positive";
  return success();
}

/// Statements inside which threads exchange values through shared memory: how much they need of it
/// must be known.
static LogicalResult verifyConstantExtents(Operation *op, const Twine &what, Value buffer) {
  if (cast<MemRefType>(buffer.getType()).hasStaticShape())
    return success();
  return op->emitError() << what << " needs constant extents, got " << describe(buffer);
}

/// Sums of integers are integers, sums of floats are floats.
static LogicalResult verifySameKind(Operation *op, const Twine &what, Value source, Value dest) {
  auto isInteger = [](Value buffer) {
    return isa<IntegerType>(cast<MemRefType>(buffer.getType()).getElementType());
  };
  if (isInteger(source) == isInteger(dest))
    return success();
  return op->emitError() << what << ": " << describe(source) << " and " << describe(dest)
                         << " are not both floats or both integers";
}

LogicalResult ReduceOp::verify() {
  MemRefType source = getSource().getType(), dest = getDest().getType();
  std::string what = ("'T.reduce_" + stringifyReduceKind(getKind()) + "'").str();
  int64_t dim = getDim();
  if (dim < 0 || dim >= source.getRank())
    return emitError() << what << ": dimension " << dim << " does not exist in "
                       << describe(getSource());
  SmallVector<int64_t> dropped = llvm::to_vector(source.getShape()), kept = dropped;
  dropped.erase(dropped.begin() + dim);
  kept[dim] = 1;
  if (dropped.empty())
    dropped.push_back(1);
  if (!areCompatibleShapes(dest.getShape(), dropped) &&
      !areCompatibleShapes(dest.getShape(), kept)) {
    InFlightDiagnostic diag = emitError()
                              << what << " of " << describe(getSource()) << " along dimension "
                              << dim << ": expected an output of " << describeShape(dropped);
    if (kept != dropped)
      diag << " or " << describeShape(kept);
    diag << ", got " << describe(getDest());
    return noteAllocation(diag, getDest());
  }
  bool bitwise = llvm::is_contained({ReduceKind::And, ReduceKind::Or, ReduceKind::Xor}, getKind());
  if (bitwise && !isa<IntegerType>(source.getElementType()))
    return emitError() << "'T.reduce_bit" << stringifyReduceKind(getKind())
                       << "' needs integers, got " << describe(getSource());
  if (failed(verifySameKind(*this, what, getSource(), getDest())))
    return failure();
  return verifyConstantExtents(*this, "the output of " + what, getDest());
}

LogicalResult CumsumOp::verify() {
  MemRefType source = getSource().getType();
  if (int64_t dim = getDim(); dim < 0 || dim >= source.getRank())
    return emitError() << "'T.cumsum': dimension " << dim << " does not exist in "
                       << describe(getSource());
  if (source.getShape() != getDest().getType().getShape())
    return emitError() << "'T.cumsum': expected equal extents, got " << describe(getSource())
                       << " and " << describe(getDest());
  if (failed(verifySameKind(*this, "'T.cumsum'", getSource(), getDest())))
    return failure();
  return verifyConstantExtents(*this, "'T.cumsum'", getSource());
}

static LogicalResult verifyAtomicType(Operation *op, AtomicKind kind, Value buffer) {
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  bool bitwise = llvm::is_contained({AtomicKind::And, AtomicKind::Or, AtomicKind::Xor}, kind);
  if ((bitwise && !isa<IntegerType>(type)) || type.isInteger(1))
    return op->emitError() << "'T.atomic_" << stringifyAtomicKind(kind) << "' is not defined on "
                           << describe(buffer);
  Space space = getSpace(buffer);
  if (space != Space::Global && space != Space::Shared)
    return op->emitError() << "'T.atomic_" << stringifyAtomicKind(kind)
                           << "' updates global or shared memory, got " << describe(buffer)
                           << ", which lives in a " << stringifySpace(space);
  return success();
}

LogicalResult AtomicOp::verify() {
  if (failed(verifyAtomicType(*this, getKind(), getDest())))
    return failure();
  if (isBufferType(getValue().getType())) {
    std::string what = ("'T.atomic_" + stringifyAtomicKind(getKind()) + "'").str();
    return verifySameExtents(*this, what, getValue(), getDest());
  }
  Type scalar = getScalarType(getDest().getType().getElementType());
  if (getValue().getType() != scalar)
    return emitOpError() << "expected a value of type " << scalar << ", got "
                         << getValue().getType();
  return success();
}

LogicalResult AtomicElementOp::verify() {
  if (failed(verifyAtomicType(*this, getKind(), getBuffer())))
    return failure();
  return verifyIndices(*this, getBuffer(), getIndices());
}

static AllocOp getReducer(Value buffer) {
  auto alloc = getRoot(buffer).getDefiningOp<AllocOp>();
  return alloc && alloc.getReducer() ? alloc : AllocOp();
}

LogicalResult ReducerUpdateOp::verify() {
  if (!getReducer(getBuffer()))
    return emitError() << "'T.reducer_update' needs a buffer of 'T.alloc_reducer', got "
                       << describe(getBuffer());
  return verifyIndices(*this, getBuffer(), getIndices());
}

LogicalResult FinalizeReducerOp::verify() {
  if (!::getReducer(getReducer()))
    return emitError() << "'T.finalize_reducer' needs a buffer of 'T.alloc_reducer', got "
                       << describe(getReducer());
  if (failed(verifyConstantExtents(*this, "'T.finalize_reducer'", getReducer())))
    return failure();
  return verifySameExtents(*this, "'T.finalize_reducer'", getReducer(), getDest());
}

LogicalResult Im2colOp::verify() {
  MemRefType image = getImage().getType(), dest = getDest().getType();
  if (image.getRank() != 4)
    return emitError() << "'T.im2col': expected an image of rank 4 (n, h, w, c), got "
                       << describe(getImage());
  if (dest.getRank() != 2)
    return emitError() << "'T.im2col': expected a matrix for the patches, got "
                       << describe(getDest());
  if (image.getElementType() != dest.getElementType())
    return emitError() << "'T.im2col': expected equal dtypes, got " << describe(getImage())
                       << " and " << describe(getDest());
  if (int64_t(getKernel()) < 1 || int64_t(getStride()) < 1 || int64_t(getDilation()) < 1 ||
      int64_t(getPad()) < 0)
    return emitError() << "'T.im2col': kernel, stride and dilation are positive and pad is not "
                          "negative";
  return success();
}

//===----------------------------------------------------------------------------------------===//
// Notes and scalars
//===----------------------------------------------------------------------------------------===//

static std::string describeCollision(const Layout &, const Collision &collision) {
  return collision.str();
}

/// The last coordinate of a fragment's collision is the replica.
static std::string describeCollision(const Fragment &fragment, const Collision &collision) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](ArrayRef<int64_t> index) {
    os << "(";
    llvm::interleaveComma(index.drop_back(), os);
    os << ")";
    if (fragment.getReplicas() > 1)
      os << " of replica " << index.back();
  };
  os << "elements ";
  print(collision.first);
  os << " and ";
  print(collision.second);
  os << " both lie in thread " << collision.image[0] << ", slot " << collision.image[1];
  return text;
}

/// A layout must give each element a place of its own; the message shows two that collide.
template <typename Map> static LogicalResult verifyOneToOne(AnnotateLayoutOp op, const Map &map) {
  const Answer<Collision> &answer = isInjective(map);
  if (!answer.isNo())
    return success();
  return op.emitError() << "layout of " << describe(op.getBuffer()) << " is not injective: "
                        << describeCollision(map, answer.getCounterexample());
}

LogicalResult AnnotateLayoutOp::verify() {
  MemRefType type = getBuffer().getType();
  if (getRoot(getBuffer()) != getBuffer())
    return emitError() << "a layout is annotated on a whole buffer, not on a part of "
                       << describe(getBuffer());
  if (getSpace(type) == Space::Local)
    return emitError() << "a scalar variable has no layout";
  auto verifyShape = [&](ArrayRef<int64_t> shape) -> LogicalResult {
    if (shape.size() != size_t(type.getRank()))
      return emitError() << "layout of rank " << shape.size() << " on " << describe(getBuffer())
                         << " of rank " << type.getRank();
    if (!areCompatibleShapes(shape, type.getShape()))
      return emitError() << "layout of shape " << describeShape(shape) << " on "
                         << describe(getBuffer());
    return success();
  };
  if (auto fragment = dyn_cast<FragmentAttr>(getLayout())) {
    if (getSpace(type) != Space::Fragment)
      return emitError() << "a fragment layout is annotated on a buffer that does not live in a "
                            "fragment: "
                         << describe(getBuffer()) << ", use 'T.Layout'";
    if (failed(verifyShape(fragment.getFragment().getShape())))
      return failure();
    return verifyOneToOne(*this, fragment.getFragment());
  }
  const Layout &layout = cast<LayoutAttr>(getLayout()).getLayout();
  if (getSpace(type) == Space::Fragment)
    return emitError() << describe(getBuffer())
                       << " lives in registers and needs 'T.Fragment', got a 'T.Layout'";
  if (failed(verifyShape(layout.getShape())))
    return failure();
  for (auto [position, minimum] : llvm::enumerate(layout.getOutputMinimum()))
    if (!ShapedType::isDynamic(minimum) && minimum < 0)
      return emitError() << "layout of " << describe(getBuffer()) << ": output " << position
                         << " reaches " << minimum << ", a place is not negative";
  return verifyOneToOne(*this, layout);
}

LogicalResult AnnotateSafeValueOp::verify() {
  if (isOnChip(getBuffer()))
    return emitError() << "a safe value belongs to a global tensor, got " << describe(getBuffer());
  if (getRoot(getBuffer()) != getBuffer())
    return emitError() << "a safe value is annotated on a whole tensor";
  Type scalar = getScalarType(getBuffer().getType().getElementType());
  if (getValue().getType() != scalar)
    return emitOpError() << "has a value of type " << getValue().getType() << ", expected "
                         << scalar;
  return success();
}

LogicalResult UseSwizzleOp::verify() {
  if (int64_t(getPanelSize()) < 1)
    return emitError() << "'T.use_swizzle': panel_size " << int64_t(getPanelSize())
                       << " is not positive";
  return success();
}

LogicalResult CastOp::verify() {
  for (Type type : {getFrom(), getTo()})
    if (!isa<IndexType>(type) && !isElementType(type))
      return emitOpError() << type << " is not an element type";
  if (getValue().getType() != getScalarType(getFrom()) || getType() != getScalarType(getTo()))
    return emitOpError() << "from " << getFrom() << " to " << getTo() << " has types "
                         << getValue().getType() << " and " << getType();
  if (getRounding() != Rounding::NearestEven && !isa<FloatType>(getTo()))
    return emitOpError() << "has a rounding but gives no float";
  if (getSaturate() && !isa<FloatType>(getTo()))
    return emitOpError() << "saturates but gives no float";
  return success();
}

LogicalResult BitcastOp::verify() {
  Type from = getValue().getType(), to = getType();
  // A bool is stored as a byte but has one bit; an index has no width that a program may see.
  if (getStorageBytes(from) != getStorageBytes(to) || from.isInteger(1) != to.isInteger(1) ||
      isa<IndexType>(from) || isa<IndexType>(to))
    return emitError() << "bits of " << describeElementType(from) << " are not those of "
                       << describeElementType(to) << ": the widths differ";
  return success();
}
