//===- Dialect.cpp - registration of the tile dialect --------------------------------------===//

#include "tilewright/Tile/CpuPlan.h"
#include "tilewright/Tile/Schedule.h"
#include "tilewright/Tile/Strides.h"
#include "tilewright/Tile/Teams.h"
#include "tilewright/Tile/ThreadLoops.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Tile/Turns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

#include "tilewright/Tile/TileDialect.cpp.inc"

void TileDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "tilewright/Tile/TileOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilewright/Tile/TurnOps.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

/// Arguments of the function must carry the symbols of `shape`.
static LogicalResult verifySymbols(Operation *op, FunctionOpInterface function, ShapeAttr shape,
                                   const Twine &what) {
  for (StringAttr symbol : shape.getSymbols()) {
    bool found = false;
    for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
      found |= function.getArgAttr(i, kSymbolAttr) == symbol;
    if (!found)
      return op->emitError() << what << " names symbol '" << symbol.getValue()
                             << "', which no argument carries";
  }
  return success();
}

/// `#tile.shape` must agree with the type of `what` and with the function's symbols.
static LogicalResult verifyShapeAttr(Operation *op, FunctionOpInterface function, ShapeAttr shape,
                                     Type bufferType, const Twine &what) {
  auto type = dyn_cast<MemRefType>(bufferType);
  if (!type || size_t(type.getRank()) != shape.getExtents().size())
    return op->emitError() << "'tile.shape' of " << what << " has " << shape.getExtents().size()
                           << " extents, its type is " << bufferType;
  for (auto [extent, expr] : llvm::zip_equal(type.getShape(), shape.getExtents())) {
    std::optional<int64_t> constant = expr.getConstant();
    if (ShapedType::isDynamic(extent) ? constant.has_value() : constant != extent)
      return op->emitError() << "'tile.shape' of " << what << " disagrees with its type " << type;
  }
  return verifySymbols(op, function, shape, "'tile.shape' of " + what);
}

/// Each map is of memory that the function has, with extents and strides of its symbols.
static LogicalResult verifyTensorMaps(Operation *op, ArrayAttr maps) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (!function || !maps || !isa<KernelOp>(op) || !llvm::all_of(maps, llvm::IsaPred<TensorMapAttr>))
    return op->emitError() << "'" << kTensorMapsAttr
                           << "' is a list of #tile.tensor_map of 'tile.kernel' in a function";
  auto workspaces = function.getOps<AllocOp>();
  int64_t numPointers =
      function.getNumArguments() + std::distance(workspaces.begin(), workspaces.end());
  for (auto map : maps.getAsRange<TensorMapAttr>()) {
    int64_t argument = map.getArgument();
    if (argument >= numPointers || (argument < function.getNumArguments() &&
                                    !isa<MemRefType>(function.getArgumentTypes()[argument])))
      return op->emitError() << "a tensor map is of argument " << argument
                             << ", which is no tensor or workspace of the function";
    for (ShapeAttr formulas : {map.getExtents(), map.getStrides()})
      if (failed(verifySymbols(op, function, formulas, "a tensor map")))
        return failure();
  }
  return success();
}

/// The extents of a cluster, or the dimensions of it along which something is shared.
static LogicalResult verifyCluster(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  bool isCluster = name == kClusterAttr;
  auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  auto isFine = [&](int64_t number) { return isCluster ? number > 0 : number >= 0 && number < 3; };
  if (isCluster) {
    if (isa<KernelOp>(op) && numbers && numbers.size() == 3 &&
        llvm::all_of(numbers.asArrayRef(), isFine))
      return success();
    return op->emitError() << "'" << name
                           << "' has the three extents of a cluster of 'tile.kernel'";
  }
  if (isa<ParallelOp, BarrierArriveOp, BarrierWaitOp>(op) && numbers && !numbers.empty() &&
      llvm::all_of(numbers.asArrayRef(), isFine))
    return success();
  return op->emitError() << "'" << name << "' lists dimensions of a cluster, from 0 to 2";
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  if (name == "tile.unroll" || name == "tile.vectorized") {
    if (isa<scf::ForOp>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a unit attribute of 'scf.for'";
  }
  if (name == kShapeAttr) {
    auto view = dyn_cast<ViewOp>(op);
    auto shape = dyn_cast<ShapeAttr>(attribute.getValue());
    auto function = op->getParentOfType<FunctionOpInterface>();
    if (!view || !shape || !function)
      return op->emitError() << "'" << name << "' is a #tile.shape of 'tile.view' in a function";
    return verifyShapeAttr(op, function, shape, view.getResult().getType(), "a view");
  }
  if (name == kPlacementAttr) {
    if (isa<AllocOp>(op) && isa<LayoutAttr, FragmentAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a layout or fragment of 'tile.alloc'";
  }
  if (name == kOffsetAttr) {
    if (isa<AllocOp, BarrierAllocOp>(op) && isa<IntegerAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a number of bytes of 'tile.alloc'";
  }
  if (name == kVersionsAttr) {
    if (isa<AllocOp>(op) && isa<IntegerAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a number of versions of 'tile.alloc'";
  }
  if (name == kSharedBytesAttr) {
    if (isa<KernelOp>(op) && isa<IntegerAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a number of bytes of 'tile.kernel'";
  }
  if (name == kDistributionAttr) {
    if (isa<ParallelOp>(op) && isa<FragmentAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a fragment of 'tile.parallel'";
  }
  if (name == kAccessAttr) {
    if (isa<LoadOp, StoreOp, AtomicElementOp, ReducerUpdateOp>(op) &&
        isa<AccessAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is the plan of an access to an element";
  }
  if (name == kAccessAAttr || name == kAccessBAttr) {
    if (isa<GemmOp>(op) && isa<AccessAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is the plan of an operand of 'tile.gemm'";
  }
  if (name == kExchangeAttr || name == kThreadLoopAttr) {
    if (isa<ParallelOp>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a unit attribute of 'tile.parallel'";
  }
  if (name == kWarpsAttr) {
    if (isa<GemmOp>(op) && isa<DenseI64ArrayAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is the warp grid of 'tile.gemm'";
  }
  if (name == kGroupsAttr) {
    if (isa<GemmOp>(op) && isa<DenseI64ArrayAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is the grid of warpgroups of 'tile.gemm'";
  }
  if (name == kOperandAAttr || name == kOperandBAttr) {
    if (isa<GemmOp>(op) && isa<OperandAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a #tile.operand of 'tile.gemm'";
  }
  if (name == kAsyncAttr || name == kSwappedAttr) {
    if (isa<GemmOp>(op) && isa<UnitAttr>(attribute.getValue()) && op->hasAttr(kGroupsAttr))
      return success();
    return op->emitError() << "'" << name << "' is a unit attribute of 'tile.gemm' with '"
                           << kGroupsAttr << "'";
  }
  if (name == kMatrixRowsAttr) {
    if (isa<StoreOp>(op) && isa<AccessAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is the plan of the rows of a 'tile.store'";
  }
  if (name == kAlignmentAttr) {
    if (isa<AllocOp>(op) && isa<IntegerAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a number of bytes of 'tile.alloc'";
  }
  if (name == kProxyFenceAttr) {
    auto text = dyn_cast<StringAttr>(attribute.getValue());
    if (isa<BarrierOp, BarrierArriveOp>(op) &&
        (isa<UnitAttr>(attribute.getValue()) || (text && text.getValue() == "all")))
      return success();
    return op->emitError()
           << "'" << name
           << "' is a unit attribute of 'tile.barrier' or 'tile.barrier_arrive', or \"all\"";
  }
  if (name == kAtArrivalAttr) {
    if (isa<CopyOp, ParallelOp, AsyncGroupOp>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name
                           << "' is a unit attribute of a copy or 'tile.async_group'";
  }
  if (name == kFirstThreadAttr || name == kMeetingAttr) {
    if (isa<RoleOp>(op) && isa<IntegerAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a number of 'tile.role'";
  }
  if (name == kBulkAttr) {
    if (isa<ParallelOp>(op) && isa<BulkAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is the #tile.bulk plan of 'tile.parallel'";
  }
  if (name == kSpanAttr) {
    if (isa<ParallelOp>(op) && isa<SpanAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is the #tile.span plan of 'tile.parallel'";
  }
  if (name == kNoBulkAttr) {
    if (isa<ParallelOp, func::FuncOp>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name
                           << "' is a unit attribute of 'tile.parallel' or of a function";
  }
  if (name == kNoRolesAttr) {
    if (isa<func::FuncOp>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a unit attribute of a function";
  }
  if (name == kExtraThreadsAttr) {
    if (isa<KernelOp>(op) && isa<IntegerAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a number of threads of 'tile.kernel'";
  }
  if (name == kRegistersAttr) {
    if (isa<KernelOp, RoleOp>(op) && isa<IntegerAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name
                           << "' is a number of registers of 'tile.kernel' or 'tile.role'";
  }
  if (name == kIterationCountAttr || name == kClearedAttr) {
    if (isa<AllocOp>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a unit attribute of 'tile.alloc'";
  }
  if (name == kSegmentsAttr) {
    if (isa<LoopLikeOpInterface>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a unit attribute of a loop";
  }
  if (name == kLeavesOpenAttr) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (branch && !branch.getElseRegion().empty() && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name
                           << "' is a unit attribute of an 'scf.if' with two branches";
  }
  if (name == kProductsReadAttr || name == kAtWaitAttr) {
    if (isa<BarrierArriveOp>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a unit attribute of 'tile.barrier_arrive'";
  }
  if (name == kOverlapsLaunchAttr) {
    if (isa<KernelOp>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a unit attribute of 'tile.kernel'";
  }
  if (name == kClusterAttr || name == kMulticastAttr)
    return verifyCluster(op, attribute);
  if (name == kClusterMaskAttr) {
    auto mask = dyn_cast<IntegerAttr>(attribute.getValue());
    if (isa<ParallelOp>(op) && mask && mask.getInt() > 0)
      return success();
    return op->emitError() << "'" << name << "' is a positive number of 'tile.parallel'";
  }
  if (name == kTensorMapsAttr)
    return verifyTensorMaps(op, dyn_cast<ArrayAttr>(attribute.getValue()));
  if (name == "tile.fast_math") {
    if (isa<func::FuncOp, ModuleOp>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a unit attribute of a function or module";
  }
  if (std::optional<LogicalResult> plan = verifyPlan(op, attribute))
    return *plan;
  return op->emitError() << "unknown attribute '" << name << "' of the tile dialect";
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned /*region*/,
                                                    unsigned argument, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (name == kShapeAttr) {
    auto shape = dyn_cast<ShapeAttr>(attribute.getValue());
    if (!function || !shape || argument >= function.getNumArguments())
      return op->emitError() << "'tile.shape' is a #tile.shape of a function's argument";
    return verifyShapeAttr(op, function, shape, function.getArgumentTypes()[argument],
                           "argument " + Twine(argument));
  }
  Type type = function && argument < function.getNumArguments()
                  ? function.getArgumentTypes()[argument]
                  : Type();
  if (name == kStridesAttr) {
    auto strides = dyn_cast<ShapeAttr>(attribute.getValue());
    auto buffer = dyn_cast_or_null<MemRefType>(type);
    if (strides && buffer && strides.getExtents().size() == size_t(buffer.getRank()))
      return success();
    return op->emitError() << "'" << name << "' is a #tile.shape with a stride for each dimension";
  }
  if (name == kNameAttr) {
    if (isa<StringAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "'" << name << "' is a string";
  }
  if (name == kSymbolAttr) {
    if (isa<StringAttr>(attribute.getValue()) && isa_and_present<IndexType>(type))
      return success();
    return op->emitError() << "'" << name << "' is a string on an argument of type index";
  }
  if (name == kDivisorAttr) {
    auto divisor = dyn_cast<IntegerAttr>(attribute.getValue());
    if (divisor && divisor.getType().isSignlessInteger(64) && divisor.getInt() > 0 && function &&
        function.getArgAttr(argument, kSymbolAttr))
      return success();
    return op->emitError() << "'" << name << "' is a positive i64 on a shape symbol";
  }
  if (name == kDTypeAttr) {
    auto dtype = dyn_cast<TypeAttr>(attribute.getValue());
    bool isScalar = dtype && (isElementType(dtype.getValue()) || isa<IndexType>(dtype.getValue()));
    if (isScalar && getScalarType(dtype.getValue()) == type)
      return success();
    return op->emitError() << "'" << name << "' of argument " << argument
                           << " is not an element type whose scalar has the argument's type";
  }
  return op->emitError() << "unknown argument attribute '" << name << "' of the tile dialect";
}
