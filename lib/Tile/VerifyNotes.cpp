//===- VerifyNotes.cpp - what legal annotations and scalars are ------------------------===//
//
// See Verifiers.h.
//
//===----------------------------------------------------------------------------------------===//

#include "Verifiers.h"
#include "tilewright/Layout/Questions.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

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

/// A layout must give each element a position of its own; the message shows two that collide.
template <typename Map> static LogicalResult verifyOneToOne(AnnotateLayoutOp op, const Map &map) {
  const Answer<Collision> &answer = isInjective(map);
  if (!answer.isNo())
    return success();
  return op.emitError() << "layout of " << describe(op.getBuffer()) << " is not injective: "
                        << describeCollision(map, answer.getCounterexample());
}

/// A buffer has one layout in a kernel; saying the same again is harmless.
static LogicalResult verifyOneLayout(AnnotateLayoutOp op) {
  auto kernel = op->getParentOfType<KernelOp>();
  for (Operation *user : op.getBuffer().getUsers()) {
    auto other = dyn_cast<AnnotateLayoutOp>(user);
    if (!other || other == op || other.getLayout() == op.getLayout() ||
        other->getParentOfType<KernelOp>() != kernel)
      continue;
    if (other->getBlock() == op->getBlock() && op->isBeforeInBlock(other))
      continue; // reported there
    InFlightDiagnostic diag = op.emitError() << describe(op.getBuffer())
                                             << " has another layout already; keep one of the two";
    diag.attachNote(other.getLoc()) << "the other layout is annotated here";
    return diag;
  }
  return success();
}

LogicalResult AnnotateLayoutOp::verify() {
  MemRefType type = getBuffer().getType();
  if (getRoot(getBuffer()) != getBuffer())
    return emitError() << "a layout is annotated on a whole buffer, not on a part of "
                       << describe(getBuffer());
  if (getSpace(type) == Space::Local)
    return emitError() << "a scalar variable has no layout";
  if ((*this)->getParentOfType<ParallelOp>())
    return emitError() << "'T.annotate_layout' inside 'T.Parallel': a layout holds for the whole "
                          "kernel, move it in front of the loop";
  if (failed(verifyOneLayout(*this)))
    return failure();
  auto verifyShape = [&](ArrayRef<int64_t> shape) -> LogicalResult {
    if (shape.size() != size_t(type.getRank()))
      return emitError() << "layout of rank " << shape.size() << " on " << describe(getBuffer())
                         << " of rank " << type.getRank();
    if (!areCompatibleShapes(shape, type.getShape()))
      return emitError() << "layout of shape " << describeShape(shape) << " on "
                         << describe(getBuffer()) << ", expected "
                         << describeShape(type.getShape());
    return success();
  };
  if (auto fragment = dyn_cast<FragmentAttr>(getLayout())) {
    if (getSpace(type) != Space::Fragment)
      return emitError() << "a fragment layout is annotated on a buffer that does not live in a "
                            "fragment: "
                         << describe(getBuffer()) << ", use 'T.Layout'";
    if (failed(verifyShape(fragment.getFragment().getShape())))
      return failure();
    ArrayRef<int64_t> least = fragment.getFragment().asLayout().getOutputMinimum();
    static constexpr StringLiteral kOutputs[] = {"thread", "slot"};
    for (auto [what, minimum] : llvm::zip_equal(kOutputs, least))
      if (!ShapedType::isDynamic(minimum) && minimum < 0)
        return emitError() << "layout of " << describe(getBuffer()) << " names " << what << " "
                           << minimum << ", they count from 0";
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
                         << " reaches " << minimum << ", a position is not negative";
  if (type.hasStaticShape() && !layout.getPhysicalSize())
    return emitError() << "layout of " << describe(getBuffer())
                       << " reaches beyond what can be addressed";
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

LogicalResult BarrierOp::verify() { return verifyUniformFlow(*this, "a barrier"); }

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
