//===- VerifyStatements.cpp - what legal statements on whole tiles are -----------------===//
//
// See Verifiers.h.
//
//===----------------------------------------------------------------------------------------===//

#include "Verifiers.h"
#include "tilewright/Tile/Statements.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

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
  return verifyUniformFlow(*this, "'T.gemm'");
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
  if (failed(verifySameKind(*this, what, getSource(), getDest())) ||
      failed(verifyUniformFlow(*this, what)))
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
  if (failed(verifySameKind(*this, "'T.cumsum'", getSource(), getDest())) ||
      failed(verifyUniformFlow(*this, "'T.cumsum'")))
    return failure();
  return verifyConstantExtents(*this, "'T.cumsum'", getSource());
}

static LogicalResult verifyAtomicType(Operation *op, AtomicKind kind, Value buffer) {
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  bool bitwise = llvm::is_contained({AtomicKind::And, AtomicKind::Or, AtomicKind::Xor}, kind);
  if ((bitwise && !isa<IntegerType>(type)) || type.isInteger(1))
    return op->emitError() << "'T." << getLanguageName(kind) << "' is not defined on "
                           << describe(buffer);
  Space space = getSpace(buffer);
  if (space != Space::Global && space != Space::Shared)
    return op->emitError() << "'T." << getLanguageName(kind)
                           << "' updates global or shared memory, got " << describe(buffer)
                           << ", which lives in a " << stringifySpace(space);
  return success();
}

LogicalResult AtomicOp::verify() {
  if (failed(verifyAtomicType(*this, getKind(), getDest())))
    return failure();
  if (isBufferType(getValue().getType())) {
    std::string what = "'T." + getLanguageName(getKind()) + "'";
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
  if (failed(verifyConstantExtents(*this, "'T.finalize_reducer'", getReducer())) ||
      failed(verifyUniformFlow(*this, "'T.finalize_reducer'")))
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
