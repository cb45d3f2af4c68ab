//===- Ops.cpp - builders and text forms of the tile dialect's operations --------------------===//

#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

#include "tilewright/Tile/TileInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "tilewright/Tile/TileOps.cpp.inc"

/// Adds a region with one block of `numArgs` index arguments and a `tile.yield`.
static void addIndexRegion(OpBuilder &builder, OperationState &state, unsigned numArgs) {
  OpBuilder::InsertionGuard guard(builder);
  Region *region = state.addRegion();
  SmallVector<Type> types(numArgs, builder.getIndexType());
  SmallVector<Location> locs(numArgs, state.location);
  builder.createBlock(region, region->end(), types, locs);
  YieldOp::create(builder, state.location);
}

/// `(%i, %j) in (64, %n)`: region arguments and their extents, constant or not.
static ParseResult parseIteration(OpAsmParser &parser, OperationState &result,
                                  SmallVectorImpl<OpAsmParser::Argument> &args,
                                  SmallVectorImpl<int64_t> &staticExtents) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto parseExtent = [&]() -> ParseResult {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
    if (isOperand.has_value()) {
      staticExtents.push_back(ShapedType::kDynamic);
      operands.push_back(operand);
      return *isOperand;
    }
    return parser.parseInteger(staticExtents.emplace_back());
  };
  if (parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("in") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseExtent) ||
      parser.resolveOperands(operands, parser.getBuilder().getIndexType(), result.operands))
    return failure();
  for (OpAsmParser::Argument &arg : args)
    arg.type = parser.getBuilder().getIndexType();
  return success();
}

static ParseResult parseBody(OpAsmParser &parser, OperationState &result,
                             ArrayRef<OpAsmParser::Argument> args) {
  Region *region = result.addRegion();
  if (parser.parseRegion(*region, args))
    return failure();
  OpBuilder builder(parser.getContext());
  if (region->empty()) // `{}` without arguments
    region->emplaceBlock();
  if (region->front().empty() || !region->front().back().hasTrait<OpTrait::IsTerminator>()) {
    builder.setInsertionPointToEnd(&region->front());
    YieldOp::create(builder, result.location);
  }
  return success();
}

static void printArguments(OpAsmPrinter &printer, Region &region) {
  printer << " (";
  llvm::interleaveComma(region.getArguments(), printer,
                        [&](BlockArgument arg) { printer.printRegionArgument(arg, {}, true); });
  printer << ") in ";
}

static void printExtents(OpAsmPrinter &printer, ArrayRef<OpFoldResult> extents) {
  printer << "(";
  llvm::interleaveComma(extents, printer, [&](OpFoldResult extent) {
    if (auto value = dyn_cast<Value>(extent))
      printer << value;
    else
      printer << *getConstantIntValue(extent);
  });
  printer << ")";
}

static void printBody(OpAsmPrinter &printer, Region &region) {
  printer << " ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
}

//===----------------------------------------------------------------------------------------===//
// kernel
//===----------------------------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, ValueRange grid,
                     ArrayRef<int64_t> threads) {
  state.addOperands(grid);
  state.addAttribute(getThreadsAttrName(state.name), builder.getDenseI64ArrayAttr(threads));
  addIndexRegion(builder, state, grid.size());
}

int64_t KernelOp::getNumThreads() {
  int64_t product = 1;
  for (int64_t extent : getThreads())
    product *= extent;
  return product;
}

void KernelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  static constexpr StringLiteral names[] = {"bx", "by", "bz"};
  for (auto [arg, name] : llvm::zip(region.getArguments(), names))
    setName(arg, name);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<OpAsmParser::UnresolvedOperand> grid;
  SmallVector<int64_t> threads;
  auto parseThread = [&] { return parser.parseInteger(threads.emplace_back()); };
  if (parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("in") ||
      parser.parseOperandList(grid, OpAsmParser::Delimiter::Paren) ||
      parser.resolveOperands(grid, parser.getBuilder().getIndexType(), result.operands) ||
      parser.parseKeyword("threads") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseThread) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (OpAsmParser::Argument &arg : args)
    arg.type = parser.getBuilder().getIndexType();
  result.addAttribute(getThreadsAttrName(result.name),
                      parser.getBuilder().getDenseI64ArrayAttr(threads));
  return parseBody(parser, result, args);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printArguments(printer, getBody());
  printer << "(" << getGrid() << ") threads [";
  llvm::interleaveComma(getThreads(), printer);
  printer << "]";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getThreadsAttrName()});
  printBody(printer, getBody());
}

//===----------------------------------------------------------------------------------------===//
// parallel
//===----------------------------------------------------------------------------------------===//

void ParallelOp::build(OpBuilder &builder, OperationState &state, ArrayRef<OpFoldResult> extents) {
  SmallVector<int64_t> staticExtents;
  SmallVector<Value> dynamicExtents;
  dispatchIndexOpFoldResults(extents, dynamicExtents, staticExtents);
  state.addOperands(dynamicExtents);
  state.addAttribute(getStaticExtentsAttrName(state.name),
                     builder.getDenseI64ArrayAttr(staticExtents));
  addIndexRegion(builder, state, extents.size());
}

SmallVector<OpFoldResult> ParallelOp::getMixedExtents() {
  return getMixedValues(getStaticExtents(), getDynamicExtents(), getContext());
}

void ParallelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  static constexpr StringLiteral names[] = {"i", "j", "k", "l"};
  for (auto [arg, name] : llvm::zip(region.getArguments(), names))
    setName(arg, name);
}

ParseResult ParallelOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<int64_t> staticExtents;
  if (parseIteration(parser, result, args, staticExtents) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addAttribute(getStaticExtentsAttrName(result.name),
                      parser.getBuilder().getDenseI64ArrayAttr(staticExtents));
  return parseBody(parser, result, args);
}

void ParallelOp::print(OpAsmPrinter &printer) {
  printArguments(printer, getBody());
  printExtents(printer, getMixedExtents());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getStaticExtentsAttrName()});
  printBody(printer, getBody());
}

//===----------------------------------------------------------------------------------------===//
// pipelined
//===----------------------------------------------------------------------------------------===//

void PipelinedOp::build(OpBuilder &builder, OperationState &state, Value lower, Value upper,
                        int64_t numStages) {
  state.addOperands({lower, upper});
  state.addAttribute(getNumStagesAttrName(state.name), builder.getI64IntegerAttr(numStages));
  addIndexRegion(builder, state, 1);
}

SmallVector<Operation *> PipelinedOp::getStatements() {
  SmallVector<Operation *> statements;
  for (Operation &op : getBody().front().without_terminator())
    if (!isMemoryEffectFree(&op) && !isa<AllocOp, LoadOp>(op))
      statements.push_back(&op);
  return statements;
}

std::optional<SmallVector<Value>> PipelinedOp::getLoopInductionVars() {
  return SmallVector<Value>{getInductionVar()};
}
std::optional<SmallVector<OpFoldResult>> PipelinedOp::getLoopLowerBounds() {
  return SmallVector<OpFoldResult>{getLower()};
}
std::optional<SmallVector<OpFoldResult>> PipelinedOp::getLoopUpperBounds() {
  return SmallVector<OpFoldResult>{getUpper()};
}
std::optional<SmallVector<OpFoldResult>> PipelinedOp::getLoopSteps() {
  return SmallVector<OpFoldResult>{IntegerAttr::get(IndexType::get(getContext()), 1)};
}
SmallVector<Region *> PipelinedOp::getLoopRegions() { return {&getBody()}; }

void PipelinedOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  setName(region.getArgument(0), "k");
}

/// `order [0, 1]` into the attribute `name`.
static ParseResult parseOptionalList(OpAsmParser &parser, StringRef keyword, StringAttr name,
                                     OperationState &result) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  SmallVector<int64_t> values;
  auto parseValue = [&] { return parser.parseInteger(values.emplace_back()); };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseValue))
    return failure();
  result.addAttribute(name, parser.getBuilder().getDenseI64ArrayAttr(values));
  return success();
}

ParseResult PipelinedOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument arg;
  OpAsmParser::UnresolvedOperand lower, upper;
  int64_t numStages = 0;
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseArgument(arg) || parser.parseEqual() || parser.parseOperand(lower) ||
      parser.parseKeyword("to") || parser.parseOperand(upper) ||
      parser.resolveOperand(lower, index, result.operands) ||
      parser.resolveOperand(upper, index, result.operands) || parser.parseKeyword("stages") ||
      parser.parseInteger(numStages) ||
      parseOptionalList(parser, "order", getOrderAttrName(result.name), result) ||
      parseOptionalList(parser, "stage", getStageAttrName(result.name), result) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addAttribute(getNumStagesAttrName(result.name),
                      parser.getBuilder().getI64IntegerAttr(numStages));
  arg.type = index;
  return parseBody(parser, result, arg);
}

void PipelinedOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printRegionArgument(getInductionVar(), {}, /*omitType=*/true);
  printer << " = " << getLower() << " to " << getUpper() << " stages " << getNumStages();
  auto printList = [&](StringRef keyword, std::optional<ArrayRef<int64_t>> values) {
    if (!values)
      return;
    printer << " " << keyword << " [";
    llvm::interleaveComma(*values, printer);
    printer << "]";
  };
  printList("order", getOrder());
  printList("stage", getStage());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getNumStagesAttrName(), getOrderAttrName(), getStageAttrName()});
  printBody(printer, getBody());
}

void AsyncGroupOp::build(OpBuilder &builder, OperationState &state, Value iteration, Value upper,
                         Value full, Value version, Value empty) {
  state.addOperands({iteration, upper});
  for (Value optional : {full, version, empty})
    if (optional)
      state.addOperands(optional);
  state.getOrAddProperties<Properties>().operandSegmentSizes = {1, 1, full ? 1 : 0, version ? 1 : 0,
                                                                empty ? 1 : 0};
  addIndexRegion(builder, state, 0);
}

void BulkGroupOp::build(OpBuilder &builder, OperationState &state) {
  addIndexRegion(builder, state, 0);
}

void RoleOp::build(OpBuilder &builder, OperationState &state, StringRef name, int64_t threads) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.name = builder.getStringAttr(name);
  properties.threads = builder.getI64IntegerAttr(threads);
  addIndexRegion(builder, state, 0);
}

//===----------------------------------------------------------------------------------------===//
// Buffers and scalars
//===----------------------------------------------------------------------------------------===//

void AllocOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getBuffer(), getName()); }

void BarrierAllocOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getBarriers(), getName());
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Value source,
                    ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                    ArrayRef<OpFoldResult> steps, ArrayRef<int64_t> dropped) {
  SmallVector<int64_t> staticOffsets, staticSizes, staticSteps, shape;
  SmallVector<Value> dynamicOffsets, dynamicSizes, dynamicSteps;
  dispatchIndexOpFoldResults(offsets, dynamicOffsets, staticOffsets);
  dispatchIndexOpFoldResults(sizes, dynamicSizes, staticSizes);
  dispatchIndexOpFoldResults(steps, dynamicSteps, staticSteps);
  for (auto [dim, size] : llvm::enumerate(staticSizes))
    if (!llvm::is_contained(dropped, int64_t(dim)))
      shape.push_back(size);
  auto type = cast<MemRefType>(source.getType());
  state.addOperands(source);
  state.addOperands(dynamicOffsets);
  state.addOperands(dynamicSizes);
  state.addOperands(dynamicSteps);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.staticOffsets = builder.getDenseI64ArrayAttr(staticOffsets);
  properties.staticSizes = builder.getDenseI64ArrayAttr(staticSizes);
  properties.staticSteps = builder.getDenseI64ArrayAttr(staticSteps);
  properties.dropped = builder.getDenseI64ArrayAttr(dropped);
  llvm::copy(ArrayRef<int32_t>({1, int32_t(dynamicOffsets.size()), int32_t(dynamicSizes.size()),
                                int32_t(dynamicSteps.size())}),
             properties.operandSegmentSizes.begin());
  state.addTypes(makeBufferType(shape, type.getElementType(), getSpace(type)));
}

SmallVector<OpFoldResult> SliceOp::getMixedOffsets() {
  return getMixedValues(getStaticOffsets(), getOffsets(), getContext());
}
SmallVector<OpFoldResult> SliceOp::getMixedSizes() {
  return getMixedValues(getStaticSizes(), getSizes(), getContext());
}
SmallVector<OpFoldResult> SliceOp::getMixedSteps() {
  return getMixedValues(getStaticSteps(), getSteps(), getContext());
}

Value SliceOp::getViewSource() { return getSource(); }
Value ViewOp::getViewSource() { return getSource(); }

ParseResult CastOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand operand;
  Type from, to;
  SMLoc fromLoc, toLoc;
  if (parser.parseOperand(operand) || parser.parseKeyword("from") ||
      parser.getCurrentLocation(&fromLoc) || parser.parseType(from) || parser.parseKeyword("to") ||
      parser.getCurrentLocation(&toLoc) || parser.parseType(to))
    return failure();
  if (!isa<IndexType>(from) && !isElementType(from))
    return parser.emitError(fromLoc, "expected an element type");
  if (!isa<IndexType>(to) && !isElementType(to))
    return parser.emitError(toLoc, "expected an element type");
  if (succeeded(parser.parseOptionalKeyword("rounding"))) {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<Rounding> rounding = symbolizeRounding(keyword);
    if (!rounding)
      return parser.emitError(loc, "unknown rounding '") << keyword << "'";
    result.addAttribute(getRoundingAttrName(result.name),
                        RoundingAttr::get(parser.getContext(), *rounding));
  }
  if (succeeded(parser.parseOptionalKeyword("saturate")))
    result.addAttribute(getSaturateAttrName(result.name), parser.getBuilder().getUnitAttr());
  result.addAttribute(getFromAttrName(result.name), TypeAttr::get(from));
  result.addAttribute(getToAttrName(result.name), TypeAttr::get(to));
  result.addTypes(getScalarType(to));
  return failure(parser.parseOptionalAttrDict(result.attributes) ||
                 parser.resolveOperand(operand, getScalarType(from), result.operands));
}

void CastOp::print(OpAsmPrinter &printer) {
  printer << " " << getValue() << " from " << getFrom() << " to " << getTo();
  if (getRounding() != Rounding::NearestEven)
    printer << " rounding " << stringifyRounding(getRounding());
  if (getSaturate())
    printer << " saturate";
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {getFromAttrName(), getToAttrName(), getRoundingAttrName(), getSaturateAttrName()});
}
