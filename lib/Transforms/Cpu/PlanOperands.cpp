//===- PlanOperands.cpp - where products find their operands ----------------------------------===//
//
// A product reads A by single elements, and B by vectors along n; where the host has dot products
// of narrow elements, both as words of neighbours along k. An operand that does not lie so is
// *packed*: converted into scratch memory. This pass decides, for each tile that one copy fills,
//
//   - which packed forms the copy makes, once for all products (and iterations) that read the tile;
//   - whether anything needs the tile itself. If not, the copy is *direct*: packed forms are made
//     from what would have been copied, and products that read the tile as it is read the tensor,
//     provided that it does not change before they do;
//   - whether the tile is *kept*. Blocks that a worker runs after each other often read the same
//     part of a tensor, and tiles have fixed addresses in the worker's memory: a copy whose address
//     says it all (the part exists, nothing writes the tensor) may find its work done;
//   - whether the only product that reads the tile packs it *by panels*, just before it reads them
//     (Codegen/Cpu/Panels.h), and the copy does nothing.
//
//   tile.copy %As, %a                      tile.copy %As, %a {tile.direct, tile.prepares =
//   tile.gemm %a, %b, %c            ──▶        [{id = 0, form = "left", sum = f32}]}
//                                          tile.gemm %a, %b, %c {tile.prepared_a = 0}
//
// Expects: tile IR that passed its verifier.   Leaves: the same program, with attributes.
//===----------------------------------------------------------------------------------------===//

#include "StaticView.h"
#include "tilewright/Support/HostAbi.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tilewright {
#define GEN_PASS_DEF_PLANCPUOPERANDS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// As many tiles as a worker can remember from block to block.
constexpr int64_t kMaxKept = host::kKeptBytes / sizeof(void *);
/// Up to so many rows of A and of its own, B is read from a tensor.
constexpr int64_t kMaxRowsOverTensor = 128, kMaxDepthOverTensor = 64;
/// A panel beyond this would not stay in the first cache beside what it is multiplied by. One that
/// serves fewer rows of A is not worth packing.
constexpr int64_t kMaxPanelBytes = int64_t(1) << 14, kMinRowsOverPanel = 24;

/// An operand of a product.
struct Reader {
  GemmOp gemm;
  bool isRight;

  OperandForm getForm() const { return OperandForm::get(gemm, isRight); }
  bool isInPlace() const {
    GemmOp op = gemm;
    Value operand = isRight ? op.getB() : op.getA();
    return getForm().isInPlace(cast<MemRefType>(operand.getType()).getElementType());
  }
};

/// The products after a copy that read the tile it fills.
struct Readers {
  SmallVector<Reader> list;
  bool areAll = true; ///< Nothing else reads the tile.

  /// None if anything but the copy may write the tile.
  static Readers find(CopyOp copy);
};

Readers Readers::find(CopyOp copy) {
  Readers found;
  auto alloc = copy.getDest().getDefiningOp<AllocOp>();
  if (!alloc || !copy.getDest().getType().hasStaticShape())
    return found;
  for (OpOperand &use : alloc.getBuffer().getUses()) {
    Operation *user = use.getOwner();
    if (user == copy || isa<AnnotateLayoutOp>(user))
      continue;
    if (isa<LoadOp>(user)) {
      found.areAll = false;
      continue;
    }
    auto gemm = dyn_cast<GemmOp>(user);
    bool isA = gemm && &use == &gemm.getAMutable(), isB = gemm && &use == &gemm.getBMutable();
    if (!isA && !isB)
      return {}; // may write it
    Operation *ancestor = copy->getBlock()->findAncestorOpInBlock(*gemm);
    bool isAfter = ancestor && copy->isBeforeInBlock(ancestor) &&
                   isa<GemmOp, PipelinedOp, scf::ForOp>(ancestor);
    if (isAfter && hasStaticShapes(gemm))
      found.list.push_back({gemm, isB});
    else
      found.areAll = false;
  }
  return found;
}

/// Whether the value is computed from one of the others, inside of the same kernel.
bool dependsOn(Value value, const llvm::DenseSet<Value> &others) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> left = {value};
  while (!left.empty()) {
    Value next = left.pop_back_val();
    if (others.contains(next))
      return true;
    Operation *op = next.getDefiningOp();
    if (op && seen.insert(next).second)
      left.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// What is decided for the copies of one kernel.
class Planner {
public:
  Planner(KernelOp kernel, PlanIds &ids, const PlanCpuOperandsOptions &options)
      : kernel(kernel), ids(ids), options(options) {}

  void plan(CopyOp copy);

private:
  bool isNeverWritten(Value tensor) { return options.disjoint && !mayWrite(kernel, tensor); }
  bool staysUntilRead(CopyOp copy, const Readers &readers);
  bool isReadOnce(CopyOp copy, const Reader &reader);
  bool isByPanels(CopyOp copy, const Readers &readers);
  bool isDirect(CopyOp copy, const Readers &readers, bool stays);
  bool isKept(CopyOp copy);
  void assignOperands(CopyOp copy, const Readers &readers, bool byPanels);
  void explain(CopyOp copy);

  KernelOp kernel;
  PlanIds &ids;
  const PlanCpuOperandsOptions &options;
  int64_t numKept = 0;
};

/// Whether what the copy reads stays as it is until the products after it, in the same block, have
/// read the tile. Of a tensor, no block of the kernel may write anything.
bool Planner::staysUntilRead(CopyOp copy, const Readers &readers) {
  Value root = getRoot(copy.getSource());
  if (!isOwnBuffer(root))
    return false;
  if (getSpace(root) == Space::Global)
    return isNeverWritten(root);
  Operation *last = copy;
  for (const Reader &reader : readers.list)
    if (reader.gemm->getBlock() == copy->getBlock() && last->isBeforeInBlock(reader.gemm))
      last = reader.gemm;
  for (Operation *op = copy; op != last; op = op->getNextNode())
    if (mayWrite(op->getNextNode(), root))
      return false;
  return true;
}

/// Whether a product that reads its operand as the tile has it may as well read what was copied: it
/// does so once in an iteration. Of a tensor, B is read again for every few rows of A. That pays for
/// a copy if they are many, if B's own rows are, which may lie such that they take each other's place
/// in the first cache, or if vectors are short: a pass then reads only a line of each row.
bool Planner::isReadOnce(CopyOp copy, const Reader &reader) {
  GemmOp gemm = reader.gemm;
  bool isCheap = !reader.isRight || getSpace(getRoot(copy.getSource())) != Space::Global ||
                 (options.vectorWidth >= 16 && gemm.getExtents().m <= kMaxRowsOverTensor &&
                  gemm.getExtents().k <= kMaxDepthOverTensor);
  return isCheap && gemm->getBlock() == copy->getBlock();
}

/// Whether the only product that reads the tile had better pack it by panels: B, if each panel serves
/// many rows, and A, if there is one panel and its elements must be converted.
bool Planner::isByPanels(CopyOp copy, const Readers &readers) {
  if (readers.list.size() != 1 || !readers.areAll || !staysUntilRead(copy, readers) ||
      !getDirectMatrix(copy.getSource(), copy.getDest(), copy))
    return false;
  const Reader &reader = readers.list.front();
  GemmOp gemm = reader.gemm;
  OperandForm form = reader.getForm();
  if (gemm->getBlock() != copy->getBlock() || form.isForDots || form.isTransposed ||
      !isa<FloatType>(form.sumType))
    return false;
  GemmOp::Extents extents = gemm.getExtents();
  int64_t bytes = getStorageBytes(form.sumType), width = options.vectorWidth * 4 / bytes;
  int64_t columns = getPanelVectors(options.vectorWidth) * width;
  if (!reader.isRight)
    return !reader.isInPlace() && extents.n <= columns && extents.k % width == 0;
  return extents.n % width == 0 && extents.m >= kMinRowsOverPanel &&
         extents.k * columns * bytes <= kMaxPanelBytes &&
         getSpace(getRoot(copy.getSource())) == Space::Global;
}

/// Whether nothing needs the tile: all products read operands that are packed from what is copied,
/// or, where that `stays` as it is, read it themselves.
bool Planner::isDirect(CopyOp copy, const Readers &readers, bool stays) {
  auto needsTile = [&](const Reader &reader) {
    return reader.isInPlace() && !(stays && isReadOnce(copy, reader));
  };
  return readers.areAll && !readers.list.empty() && llvm::none_of(readers.list, needsTile) &&
         getDirectMatrix(copy.getSource(), copy.getDest(), copy).has_value();
}

/// Whether the copy, which alone fills its tile, may find there what it would write. Worth it where
/// the part does not change from iteration to iteration of a loop, nor from each block to the next.
bool Planner::isKept(CopyOp copy) {
  if (numKept == kMaxKept)
    return false;
  llvm::DenseSet<Value> changing = {kernel.getBlockIds()[0]};
  for (Operation *outer = copy->getParentOp(); outer != kernel; outer = outer->getParentOp())
    if (!hasOneIteration(outer))
      for (Region &region : outer->getRegions())
        changing.insert_range(region.getArguments());
  if (dependsOn(copy.getSource(), changing) ||
      !getDirectMatrix(copy.getSource(), copy.getDest(), copy))
    return false;
  StaticView source = StaticView::get(copy.getSource(), copy);
  return isNeverWritten(source.root) && !llvm::is_contained(source.steps, ShapedType::kDynamic);
}

/// Products share an operand that they read in the same form.
void Planner::assignOperands(CopyOp copy, const Readers &readers, bool byPanels) {
  SmallVector<OperandPlan> plans;
  // What is packed comes first, since the smallest magnitude is found on the way.
  for (bool isInPlace : {false, true})
    for (const Reader &reader : readers.list) {
      if (reader.isInPlace() != isInPlace)
        continue;
      OperandForm form = reader.getForm();
      form.isByPanels = byPanels;
      auto *same = llvm::find_if(
          plans, [&](const OperandPlan &plan) { return plan.form.isSameMatrix(form); });
      if (same == plans.end()) {
        plans.push_back({ids.take(), form});
        same = plans.end() - 1;
      }
      setPlanNumber(reader.gemm, reader.isRight ? kPreparedBAttr : kPreparedAAttr, same->id);
    }
  auto attributes = llvm::map_to_vector(
      plans, [&](const OperandPlan &plan) { return plan.toAttribute(copy.getContext()); });
  copy->setAttr(kPreparesAttr, ArrayAttr::get(copy.getContext(), attributes));
}

void Planner::explain(CopyOp copy) {
  bool isDirect = copy->hasAttr(kDirectAttr), isKept = copy->hasAttr(kKeptAttr);
  SmallVector<OperandPlan> plans = getOperandPlans(copy);
  bool isByPanels = !plans.empty() && plans.front().form.isByPanels;
  int64_t numPacked = llvm::count_if(plans, [&](const OperandPlan &plan) {
    return isByPanels || !plan.form.isInPlace(copy.getDest().getType().getElementType());
  });
  if (!isDirect && !isKept && numPacked == 0)
    return;
  StringRef tile = getName(copy.getDest()), source = getName(copy.getSource());
  std::string text;
  llvm::raw_string_ostream os(text);
  if (isDirect && numPacked == 0)
    os << "gemms read '" << source << "' itself: '" << tile << "' is never filled";
  else if (isByPanels)
    os << "packed by the gemm panel by panel from '" << source << "': '" << tile
       << "' is never filled";
  else if (isDirect)
    os << "packed for gemms straight from '" << source << "': '" << tile << "' is never filled";
  else if (numPacked != 0)
    os << "packed once for the gemms that read '" << tile << "'";
  else
    os << "copied for gemms";
  if (isKept)
    os << "; kept for the next block of a worker";
  InFlightDiagnostic remark = copy.emitRemark(text);
  describeRemark(remark, "operand", tile,
                 {{"packed", numPacked}, {"direct", int64_t(isDirect)}, {"kept", int64_t(isKept)}});
}

void Planner::plan(CopyOp copy) {
  Readers readers = Readers::find(copy);
  if (readers.list.empty())
    return;
  bool direct = isDirect(copy, readers, staysUntilRead(copy, readers));
  bool isWork = !direct || llvm::any_of(readers.list, [](const Reader &reader) {
    return reader.getForm().isForDots || !reader.isInPlace();
  });
  if (isWork && isKept(copy)) {
    setPlanNumber(copy, kKeptAttr, numKept++);
    direct = isDirect(copy, readers, /*stays=*/false); // later blocks find no tensor in place
  }
  bool byPanels = !copy->hasAttr(kKeptAttr) && isByPanels(copy, readers);
  if (direct || byPanels)
    copy->setAttr(kDirectAttr, UnitAttr::get(copy.getContext()));
  assignOperands(copy, readers, byPanels);
  explain(copy);
}

/// Whether the operands lie in whole vectors of words.
bool consistsOfWords(GemmOp op, const PlanCpuOperandsOptions &options) {
  GemmOp::Extents extents = op.getExtents();
  int64_t width = options.vectorWidth,
          wordSize = 32 / getStorageBits(op.getA().getType().getElementType());
  return extents.k % wordSize == 0 && extents.n % width == 0 &&
         (!op.getTransposeA() || extents.m % width == 0);
}

bool multipliesBytes(GemmOp op) {
  Type a = op.getA().getType().getElementType(), b = op.getB().getType().getElementType(),
       sum = op.getC().getType().getElementType();
  return a.isInteger(8) && b.isInteger(8) && isa<IntegerType>(sum) &&
         sum.getIntOrFloatBitWidth() <= 32;
}

bool multipliesBf16(GemmOp op) {
  Type a = op.getA().getType().getElementType(), b = op.getB().getType().getElementType(),
       sum = op.getC().getType().getElementType();
  return a.isBF16() && b.isBF16() && isa<FloatType>(sum) && !isa<Float64Type>(sum);
}

/// Whether the host's matrix unit multiplies these types, and the extents fit.
bool usesMatrixUnit(GemmOp op, const PlanCpuOperandsOptions &options) {
  bool hasTiles =
      (options.int8Tiles && multipliesBytes(op)) || (options.bf16Tiles && multipliesBf16(op));
  return hasTiles && consistsOfWords(op, options) && UnitTiles::get(op).has_value();
}

/// Whether the host has dot products for these types, and the extents fit.
bool usesDots(GemmOp op, const PlanCpuOperandsOptions &options) {
  bool areUnsigned = op.getA().getType().getElementType().isUnsignedInteger() &&
                     op.getB().getType().getElementType().isUnsignedInteger();
  bool hasBytes = !areUnsigned || options.vectorWidth < 16; // AVX2 takes bytes as pairs of int16
  bool hasDots = (options.int8Dots && multipliesBytes(op) && hasBytes) ||
                 (options.bf16Dots && multipliesBf16(op));
  return hasDots && consistsOfWords(op, options);
}

/// Marks a product that the host computes by instructions for narrow elements.
void planInstructions(GemmOp op, const PlanCpuOperandsOptions &options) {
  bool isOnUnit = hasStaticShapes(op) && usesMatrixUnit(op, options);
  if (!isOnUnit && !(hasStaticShapes(op) && usesDots(op, options)))
    return;
  op->setAttr(kDotsAttr, UnitAttr::get(op.getContext()));
  if (isOnUnit)
    op->setAttr(kMatrixUnitAttr, UnitAttr::get(op.getContext()));
  StringRef unit = isOnUnit ? "the matrix unit" : "dot products";
  InFlightDiagnostic remark = op.emitRemark("multiplied by ") << unit << " of the host";
  describeRemark(remark, "gemm", tile::getName(op.getC()), {{"unit", unit}});
}

struct PlanCpuOperandsPass : tilewright::impl::PlanCpuOperandsBase<PlanCpuOperandsPass> {
  using Base::Base;

  void runOnOperation() override {
    PlanCpuOperandsOptions options{disjoint, vectorWidth, bf16Dots, int8Dots, bf16Tiles, int8Tiles};
    PlanIds ids(getOperation());
    getOperation()->walk([&](GemmOp op) { planInstructions(op, options); });
    getOperation()->walk([&](KernelOp kernel) {
      Planner planner(kernel, ids, options);
      kernel.walk<WalkOrder::PreOrder>([&](CopyOp copy) { planner.plan(copy); });
    });
  }
};

} // namespace
