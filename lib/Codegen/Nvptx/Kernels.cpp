//===- Kernels.cpp - the function of a kernel ------------------------------------------------===//

#include "Lowerings.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Layout/RuntimeExtents.h"
#include "tilewright/Tile/Teams.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

static constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;
/// As plan-shared-memory has it.
static constexpr int64_t kScratchAlignment = 16;
static constexpr StringLiteral kArenaName = "tilewright_shared";

/// Alignment of tensors, and which of them are constant while the kernel runs: LLVM reads those by
/// ld.global.nc. Tensors that the kernel writes are not said to be alone, since LLVM would take
/// that for leave to move their reads across barriers.
static void describeParameters(Thread &t) {
  ImplicitLocOpBuilder &b = t.b;
  llvm::DenseSet<Value> written;
  std::optional<SmallVector<Effect>> effects = getEffects(t.kernel);
  for (const Effect &effect : effects.value_or(SmallVector<Effect>()))
    if (effect.kind != EffectKind::Read)
      written.insert(effect.root);
  // A kernel that waits for the launch in front of it runs while that one writes.
  bool runsBesideOthers = false;
  t.kernel.walk([&](HintOp hint) { runsBesideOthers |= hint.getName() == "pdl_sync"; });
  for (BlockArgument argument : t.function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      continue;
    unsigned position = argument.getArgNumber();
    int64_t bytes = std::max(getStorageBytes(type.getElementType()), t.calls.argumentAlignment);
    t.thread.setArgAttr(position, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(bytes));
    if (!effects || written.contains(argument) || !t.calls.disjointArguments || runsBesideOthers)
      continue;
    t.thread.setArgAttr(position, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    t.thread.setArgAttr(position, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  }
}

/// Gives the pointers of the workspaces (`T.alloc_global`), by allocation.
static llvm::DenseMap<Value, Value> beginFunction(Thread &t) {
  ImplicitLocOpBuilder &b = t.b;
  MLIRContext *context = b.getContext();
  auto globalPointer = LLVM::LLVMPointerType::get(context, kGlobalSpace);
  SmallVector<Type> parameters;
  for (Type type : t.function.getArgumentTypes())
    parameters.push_back(isa<MemRefType>(type) ? Type(globalPointer) : getRegisterType(type));
  SmallVector<AllocOp> allocations(t.function.getOps<AllocOp>());
  parameters.append(allocations.size(), globalPointer);
  auto maps = t.kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr);
  parameters.append(maps ? maps.size() : 0, LLVM::LLVMPointerType::get(context));
  b.setInsertionPointToEnd(t.module.getBody());
  t.thread = LLVM::LLVMFuncOp::create(
      b, t.name, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), parameters));
  t.thread->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  int64_t numThreads = t.kernel.getNumThreads();
  if (auto extra = t.kernel->getAttrOfType<IntegerAttr>(kExtraThreadsAttr)) {
    t.meeting = numThreads;
    numThreads += extra.getInt();
  }
  // setmaxnreg moves registers that ptxas must know to be there. Else a block with a producer takes
  // the registers of whole groups of four warps.
  bool hasExactRegisters = t.kernel->hasAttr(kRegistersAttr) && t.arch.hasWgmma;
  t.thread->setAttr(hasExactRegisters ? NVVM::NVVMDialect::getReqntidAttrName()
                                      : NVVM::NVVMDialect::getMaxntidAttrName(),
                    b.getDenseI32ArrayAttr({int32_t(
                        t.meeting ? llvm::alignTo(numThreads, 4 * kWarpSize) : numThreads)}));
  int64_t blocks = analysis::getWantedBlocks(t.kernel); // on a processor
  if (hasExactRegisters || blocks > 1)
    t.thread->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      b.getI32IntegerAttr(int32_t(blocks)));
  if (SmallVector<int64_t> cluster = getCluster(t.kernel); !cluster.empty())
    t.thread->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                      b.getDenseI32ArrayAttr(SmallVector<int32_t>(cluster.begin(), cluster.end())));
  Block *entry = t.thread.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  describeParameters(t);
  for (auto [old, argument] : llvm::zip_first(t.function.getArguments(), entry->getArguments())) {
    if (isa<IndexType>(old.getType()))
      t.define(old, arith::IndexCastOp::create(b, b.getIndexType(), argument));
    else if (!isa<MemRefType>(old.getType()))
      t.define(old, fromStorage(t, argument, old.getType()));
  }
  for (auto [old, argument] : llvm::zip_first(t.function.getArguments(), entry->getArguments()))
    if (isa<MemRefType>(old.getType()))
      t.addGlobal(old, argument);
  llvm::DenseMap<Value, Value> workspaces;
  unsigned next = t.function.getNumArguments();
  for (AllocOp alloc : allocations)
    workspaces[alloc.getBuffer()] = entry->getArgument(next++);
  // Tensor maps come as 128 bytes each, which the kernel only passes on.
  for (; next < entry->getNumArguments(); ++next) {
    t.thread.setArgAttr(next, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), 128)));
    t.thread.setArgAttr(next, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
    t.thread.setArgAttr(next, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
    t.maps.push_back(entry->getArgument(next));
  }

  auto special = [&](auto op) -> Value {
    return arith::IndexCastUIOp::create(b, b.getIndexType(), op.getResult());
  };
  auto below = [&](int64_t count) { return LLVM::ConstantRangeAttr::get(context, 32, 0, count); };
  Type i32 = b.getI32Type();
  t.threadId = special(NVVM::ThreadIdXOp::create(b, i32, below(numThreads)));
  for (auto [position, id] : llvm::enumerate(t.kernel.getBlockIds())) {
    std::optional<int64_t> extent = getConstantIntValue(t.kernel.getGrid()[position]);
    bool isKnown = extent && *extent > 0 && *extent <= kMaxGrid[position];
    LLVM::ConstantRangeAttr range = below(isKnown ? *extent : kMaxGrid[position]);
    t.define(id, position == 0   ? special(NVVM::BlockIdXOp::create(b, i32, range))
                 : position == 1 ? special(NVVM::BlockIdYOp::create(b, i32, range))
                                 : special(NVVM::BlockIdZOp::create(b, i32, range)));
  }

  auto sharedPointer = LLVM::LLVMPointerType::get(context, kSharedSpace);
  if (!t.module.lookupSymbol(kArenaName)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(t.module.getBody());
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
                           LLVM::Linkage::External, kArenaName, Attribute(), /*alignment=*/1024,
                           kSharedSpace);
  }
  t.arena = LLVM::AddressOfOp::create(b, sharedPointer, kArenaName);
  return workspaces;
}

/// `T.use_swizzle`: blocks that run at the same time read tiles near each other. The grid is walked
/// in panels of so many rows (or columns) of blocks, each panel across its short side first and
/// every second panel backwards. A renumbering of blocks: each still runs once.
static void rasterise(Thread &t, UseSwizzleOp op) {
  ImplicitLocOpBuilder &b = t.b;
  Value idX = t.kernel.getBlockIds()[0], idY = t.kernel.getBlockIds()[1];
  bool byRow = op.getOrder() == RasterOrder::Row;
  Value longId = byRow ? idX : idY, shortId = byRow ? idY : idX;
  Value longExtent = t.mapped(t.kernel.getGrid()[byRow ? 0 : 1]),
        shortExtent = t.mapped(t.kernel.getGrid()[byRow ? 1 : 0]);
  Value x = t.mapped(idX), y = t.mapped(idY), extentX = t.mapped(t.kernel.getGrid()[0]);
  auto mul = [&](Value a, Value c) -> Value { return b.createOrFold<arith::MulIOp>(a, c); };
  auto add = [&](Value a, Value c) -> Value { return b.createOrFold<arith::AddIOp>(a, c); };
  auto sub = [&](Value a, Value c) -> Value { return b.createOrFold<arith::SubIOp>(a, c); };
  auto div = [&](Value a, Value c) -> Value { return b.createOrFold<arith::DivUIOp>(a, c); };
  auto rem = [&](Value a, Value c) -> Value { return b.createOrFold<arith::RemUIOp>(a, c); };
  Value panel = t.index(op.getPanelSize());
  Value number = add(mul(y, extentX), x);
  Value panelBlocks = mul(panel, longExtent);
  Value panelNumber = div(number, panelBlocks), inPanel = rem(number, panelBlocks);
  // The last panel may be thinner.
  Value start = mul(panelNumber, panel);
  Value thickness = b.createOrFold<arith::MinUIOp>(panel, sub(shortExtent, start));
  Value along = div(inPanel, thickness), across = rem(inPanel, thickness);
  Value isBackward = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne,
                                                   rem(panelNumber, t.index(2)), t.index(0));
  Value backward = sub(sub(longExtent, t.index(1)), along);
  t.define(longId, b.createOrFold<arith::SelectOp>(isBackward, backward, along));
  t.define(shortId, add(start, across));
}

/// Addresses are formulas of what a launch brings; refuses buffers that have none.
static LogicalResult checkAddresses(Thread &t) {
  auto check = [&](Operation *op) {
    if (auto note = dyn_cast<AnnotateLayoutOp>(op))
      if (auto layout = dyn_cast<LayoutAttr>(note.getLayout());
          layout && getSpace(note.getBuffer()) == Space::Global &&
          !getRuntimeOffset(layout.getLayout())) {
        unsupported(op) << "the strides of the layout " << layout.getLayout().str()
                        << " do not follow from the extents that a launch brings";
        return WalkResult::interrupt();
      }
    if (auto view = dyn_cast<ViewOp>(op);
        view && !view.getResult().getType().hasStaticShape() && !op->hasAttr(kShapeAttr)) {
      unsupported(op) << "a view of run-time shape without 'tile.shape'";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  };
  return failure(t.function.walk(check).wasInterrupted());
}

/// The program's threads run the kernel, those after them a role.
static LogicalResult lowerRoles(Thread &t) {
  ImplicitLocOpBuilder &b = t.b;
  Block &body = t.kernel.getBody().front();
  auto roles = body.getOps<RoleOp>();
  if (roles.empty() || !getTeamRoles(t.kernel).empty())
    return lowerBlock(t, body);
  // Shared tiles are known to both.
  for (AllocOp alloc : body.getOps<AllocOp>())
    if (getSpace(alloc.getBuffer()) == Space::Shared)
      t.addTile(alloc);
  Value limit = t.constant(b.getI32IntegerAttr(int32_t(t.kernel.getNumThreads() / kWarpSize)));
  Value isExtra = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, warpNumber(t), limit);
  auto branch = scf::IfOp::create(b, isExtra, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  if (failed(lowerRole(t, *roles.begin())))
    return failure();
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  if (auto registers = t.kernel->getAttrOfType<IntegerAttr>(kRegistersAttr))
    NVVM::SetMaxRegisterOp::create(b, registers.getInt(), NVVM::SetMaxRegisterAction::increase);
  return lowerBlock(t, body);
}

LogicalResult lowerKernel(Thread &t) {
  ImplicitLocOpBuilder &b = t.b;
  if (failed(checkAddresses(t)))
    return failure();
  int64_t scratch = 0;
  t.kernel.walk([&](TileEffectsOpInterface op) {
    scratch = std::max(scratch, analysis::getScratchBytes(op, getNumThreads(op)));
  });
  if (int64_t roles = getTeamRoles(t.kernel).size()) { // each has an area of its own
    t.roleScratch = llvm::alignTo(scratch, kScratchAlignment);
    scratch = roles * t.roleScratch;
  }
  if (auto total = t.kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttr))
    t.scratchOffset = total.getInt() - scratch;
  llvm::DenseMap<Value, Value> workspaces = beginFunction(t);
  // Host scalars that the kernel uses are computed by each thread.
  for (Operation &op : t.function.front()) {
    if (&op == t.kernel.getOperation())
      break;
    if (auto alloc = dyn_cast<AllocOp>(op))
      t.addGlobal(alloc.getBuffer(), workspaces.lookup(alloc.getBuffer()));
    else if (!isa<KernelOp>(op) && failed(lowerOp(t, &op)))
      return failure();
  }
  auto swizzles = t.kernel.getBody().front().getOps<UseSwizzleOp>();
  if (!swizzles.empty() && t.kernel.getGrid().size() >= 2)
    rasterise(t, *swizzles.begin());
  // A producer does not meet the program's threads later: its first copy may go to bytes that were
  // cleared.
  bool hasCleared = clearTiles(t), hasBarriers = initBarriers(t);
  bool isTogether = sharesMemory(t.kernel);
  if (isTogether)
    meetCluster(t); // other blocks write and arrive here
  else if (hasCleared || hasBarriers)
    NVVM::Barrier0Op::create(b); // of all roles
  if (failed(lowerRoles(t)))
    return failure();
  if (arrivesAtBlocks(t.kernel))
    meetCluster(t); // a block stays until then
  LLVM::ReturnOp::create(b, ValueRange());
  return success();
}

} // namespace tilewright::nvptx
