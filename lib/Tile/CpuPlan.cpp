//===- CpuPlan.cpp - what the planning passes for the CPU leave on ops ------------------------===//

#include "tilewright/Tile/CpuPlan.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

Type tilewright::tile::getSumType(Type operand, Type result) {
  Builder b(result.getContext());
  if (isa<FloatType>(result)) {
    bool isWide = isa<Float64Type>(operand) || isa<Float64Type>(result);
    return isWide ? b.getF64Type() : b.getF32Type();
  }
  return result.getIntOrFloatBitWidth() > 32 ? b.getI64Type() : b.getI32Type();
}

//===----------------------------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------------------------===//

int64_t UnitTiles::divide(int64_t extent) {
  int64_t size = 16;
  while (extent % size)
    --size;
  return size;
}

std::optional<UnitTiles> UnitTiles::get(GemmOp op) {
  constexpr int64_t least = 8; // instructions on half a tile take as long
  GemmOp::Extents extents = op.getExtents();
  int64_t wordSize = 32 / getStorageBits(op.getA().getType().getElementType());
  if (extents.k % wordSize)
    return std::nullopt;
  UnitTiles tiles{divide(extents.m), divide(extents.n), divide(extents.k / wordSize)};
  bool isWorthIt = tiles.rows >= least && tiles.columns >= least && tiles.words >= least;
  return isWorthIt ? std::optional(tiles) : std::nullopt;
}

OperandForm OperandForm::get(GemmOp op, bool isRight) {
  Type a = op.getA().getType().getElementType(), b = op.getB().getType().getElementType();
  OperandForm form;
  form.isRight = isRight;
  form.isTransposed = isRight ? op.getTransposeB() : op.getTransposeA();
  form.isForDots = op->hasAttr(kDotsAttr);
  form.isForUnit = op->hasAttr(kMatrixUnitAttr);
  form.areBothSigned = form.isForDots && !form.isForUnit && a.isInteger(8) &&
                       !a.isUnsignedInteger() && !b.isUnsignedInteger();
  form.sumType = getSumType(a, op.getC().getType().getElementType());
  return form;
}

bool OperandForm::isInPlace(Type elementType) const {
  if (isForDots)
    return elementType.isBF16() && !isForUnit && !isRight && !isTransposed;
  bool isSum = isa<IntegerType>(sumType) ? elementType.isInteger(sumType.getIntOrFloatBitWidth())
                                         : elementType == sumType;
  return isSum && !(isRight && isTransposed);
}

bool OperandForm::isSameMatrix(const OperandForm &other) const {
  auto isPlain = [](const OperandForm &form) {
    return !form.isForDots && !form.isByPanels && !(form.isRight && form.isTransposed);
  };
  return *this == other || (isPlain(*this) && isPlain(other) && sumType == other.sumType);
}

/// The keys of an operand's attribute.
static constexpr StringLiteral kId = "id", kForm = "form", kSum = "sum";
/// The words of its form.
static constexpr StringLiteral kLeft = "left", kRight = "right", kTransposed = "transposed",
                               kDots = "dots", kUnit = "unit", kSigned = "signed",
                               kPanels = "panels";

Attribute OperandPlan::toAttribute(MLIRContext *context) const {
  Builder b(context);
  SmallVector<StringRef> words = {form.isRight ? kRight : kLeft};
  if (form.isTransposed)
    words.push_back(kTransposed);
  if (form.isForDots)
    words.push_back(kDots);
  if (form.isForUnit)
    words.push_back(kUnit);
  if (form.areBothSigned)
    words.push_back(kSigned);
  if (form.isByPanels)
    words.push_back(kPanels);
  return b.getDictionaryAttr({b.getNamedAttr(kId, b.getI64IntegerAttr(id)),
                              b.getNamedAttr(kForm, b.getStringAttr(llvm::join(words, " "))),
                              b.getNamedAttr(kSum, TypeAttr::get(form.sumType))});
}

std::optional<OperandPlan> OperandPlan::fromAttribute(Attribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  if (!dictionary)
    return std::nullopt;
  auto id = dictionary.getAs<IntegerAttr>(kId);
  auto form = dictionary.getAs<StringAttr>(kForm);
  auto sum = dictionary.getAs<TypeAttr>(kSum);
  if (!id || !form || !sum)
    return std::nullopt;
  SmallVector<StringRef> words;
  form.getValue().split(words, ' ');
  auto has = [&](StringRef word) { return llvm::is_contained(words, word); };
  OperandPlan plan{id.getInt(), {}};
  plan.form.isRight = has(kRight);
  plan.form.isTransposed = has(kTransposed);
  plan.form.isForDots = has(kDots);
  plan.form.isForUnit = has(kUnit);
  plan.form.areBothSigned = has(kSigned);
  plan.form.isByPanels = has(kPanels);
  plan.form.sumType = sum.getValue();
  return plan;
}

SmallVector<OperandPlan> tilewright::tile::getOperandPlans(CopyOp op) {
  SmallVector<OperandPlan> plans;
  if (auto list = op->getAttrOfType<ArrayAttr>(kPreparesAttr))
    for (Attribute entry : list)
      if (std::optional<OperandPlan> plan = OperandPlan::fromAttribute(entry))
        plans.push_back(*plan);
  return plans;
}

//===----------------------------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------------------------===//

std::optional<int64_t> tilewright::tile::getPlanNumber(Operation *op, StringRef attribute) {
  auto number = op->getAttrOfType<IntegerAttr>(attribute);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

void tilewright::tile::setPlanNumber(Operation *op, StringRef attribute, int64_t number) {
  op->setAttr(attribute, IntegerAttr::get(IntegerType::get(op->getContext(), 64), number));
}

static SmallVector<int64_t> getNumbers(Operation *op, StringRef attribute) {
  auto list = op->getAttrOfType<DenseI64ArrayAttr>(attribute);
  return list ? SmallVector<int64_t>(list.asArrayRef()) : SmallVector<int64_t>();
}

static void addNumber(Operation *op, StringRef attribute, int64_t number) {
  SmallVector<int64_t> numbers = getNumbers(op, attribute);
  numbers.push_back(number);
  op->setAttr(attribute, DenseI64ArrayAttr::get(op->getContext(), numbers));
}

SmallVector<int64_t> tilewright::tile::getPrefetches(Operation *op) {
  return getNumbers(op, kPrefetchesAttr);
}

void tilewright::tile::addPrefetch(Operation *op, int64_t id) {
  addNumber(op, kPrefetchesAttr, id);
}

SmallVector<int64_t> tilewright::tile::getPrefetchesAtEnd(GemmOp op) {
  return getNumbers(op, kPrefetchesAtEndAttr);
}

void tilewright::tile::addPrefetchAtEnd(GemmOp op, int64_t id) {
  addNumber(op, kPrefetchesAtEndAttr, id);
}

//===----------------------------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------------------------===//

std::optional<LogicalResult> tilewright::tile::verifyPlan(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  Attribute value = attribute.getValue();
  auto check = [&](bool isRight, StringRef expected) -> LogicalResult {
    if (isRight)
      return success();
    return op->emitError() << "'" << name << "' is " << expected;
  };
  auto number = dyn_cast<IntegerAttr>(value);
  bool isNumber = number && number.getType().isInteger(64) && number.getInt() >= 0;
  if (name == kPlanIdAttr)
    return check(isa<SliceOp, AllocOp>(op) && isNumber,
                 "the number of a 'tile.slice' or 'tile.alloc'");
  if (name == kPreparedAAttr || name == kPreparedBAttr || name == kStartsAtAttr ||
      name == kWritesToAttr || name == kScaledByAttr)
    return check(isa<GemmOp>(op) && isNumber, "a number of 'tile.gemm'");
  if (name == kDotsAttr || name == kMatrixUnitAttr || name == kSumsOverLoopAttr ||
      name == kStartsAtZeroAttr)
    return check(isa<GemmOp>(op) && isa<UnitAttr>(value), "a unit attribute of 'tile.gemm'");
  if (name == kDirectAttr || name == kPrefetchedAttr)
    return check(isa<CopyOp>(op) && isa<UnitAttr>(value), "a unit attribute of 'tile.copy'");
  if (name == kKeptAttr)
    return check(isa<CopyOp>(op) && isNumber, "the slot of a 'tile.copy'");
  if (name == kPreparesAttr) {
    auto list = dyn_cast<ArrayAttr>(value);
    return check(isa<CopyOp>(op) && list &&
                     llvm::all_of(list,
                                  [](Attribute entry) {
                                    return OperandPlan::fromAttribute(entry).has_value();
                                  }),
                 "a list of the operands that a 'tile.copy' prepares, each with 'id', 'form' and "
                 "'sum'");
  }
  if (name == kPrefetchesAttr)
    return check(isa<GemmOp, CopyOp>(op) && isa<DenseI64ArrayAttr>(value),
                 "the numbers of slices that a 'tile.gemm' or 'tile.copy' prefetches");
  if (name == kPrefetchesAtEndAttr)
    return check(isa<GemmOp>(op) && isa<DenseI64ArrayAttr>(value),
                 "the numbers of slices that a 'tile.gemm' prefetches in the last iteration");
  if (name == kStreamsRowsAttr)
    return check(isa<ParallelOp>(op) && isa<UnitAttr>(value),
                 "a unit attribute of 'tile.parallel'");
  if (name == kNextRowsInAttr || name == kPrefetchesRowsAttr)
    return check(isa<ParallelOp>(op) && isNumber, "a number of 'tile.parallel'");
  if (name == kStreamedAttr)
    return check(isa<LoadOp, StoreOp>(op) && isa<UnitAttr>(value),
                 "a unit attribute of 'tile.load' or 'tile.store'");
  if (name == kLocksRowsAttr)
    return check(isa<AtomicOp>(op) && isa<UnitAttr>(value), "a unit attribute of 'tile.atomic'");
  return std::nullopt;
}

PlanIds::PlanIds(Operation *function) {
  auto avoid = [&](int64_t id) { next = std::max(next, id + 1); };
  function->walk([&](Operation *op) {
    for (StringRef name : {StringRef(kPlanIdAttr), StringRef(kPrefetchesRowsAttr)})
      if (std::optional<int64_t> id = getPlanNumber(op, name))
        avoid(*id);
    if (auto copy = dyn_cast<CopyOp>(op))
      for (const OperandPlan &plan : getOperandPlans(copy))
        avoid(plan.id);
  });
}
