//===- Trace.cpp - life of a trace: positions, parameters, errors, closing -------------------===//

#include "KeepTiles.h"
#include "SinkArrays.h"
#include "TraceImpl.h"
#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Frontend/Diagnostics.h"
#include "tilewright/Layout/LinearSymbol.h"
#include "tilewright/Tile/Strides.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include <atomic>
#include <mutex>

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------------------------===//

namespace {
/// Names of shape symbols, numbered in order of first use.
struct SymbolNames {
  std::mutex mutex;
  llvm::StringMap<unsigned> numbers;
  std::vector<std::string> names;
};
} // namespace

static SymbolNames &symbolNames() {
  static SymbolNames instance;
  return instance;
}

unsigned internSymbol(StringRef name) {
  SymbolNames &table = symbolNames();
  std::lock_guard lock(table.mutex);
  auto [it, isNew] = table.numbers.try_emplace(name, table.names.size());
  if (isNew)
    table.names.push_back(name.str());
  return it->second;
}

std::string getSymbolName(unsigned symbol) {
  SymbolNames &table = symbolNames();
  std::lock_guard lock(table.mutex);
  return symbol < table.names.size() ? table.names[symbol] : "s" + std::to_string(symbol);
}

//===----------------------------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------------------------===//

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<tile::TileDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect>();
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

std::unique_ptr<Program> Program::withFastMath(bool isAllowed) const {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  if (failed(writeBytecodeToFile(getModule(), os)))
    return nullptr;
  std::shared_ptr<MLIRContext> own = makeContext();
  OwningOpRef<ModuleOp> read = parseSourceString<ModuleOp>(bytes, ParserConfig(own.get()));
  if (!read)
    return nullptr;
  auto copy = std::make_unique<Program>(own, std::move(read));
  func::FuncOp function = copy->getFunction();
  if (isAllowed)
    function->setAttr("tile.fast_math", UnitAttr::get(own.get()));
  else
    function->removeAttr("tile.fast_math");
  return copy;
}

std::string Program::getText(bool withLocations) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  if (withLocations)
    flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/true);
  ModuleOp(*module).print(os, flags);
  return text;
}

static thread_local Trace *activeTrace = nullptr;

Trace *Trace::currentOrNull() { return activeTrace; }

Trace &Trace::current() {
  if (!activeTrace)
    throw UserError("a kernel expression is used outside a kernel");
  return *activeTrace;
}

void Trace::activate() { activeTrace = this; }
void Trace::deactivate() {
  if (activeTrace == this)
    activeTrace = nullptr;
}

static Location makeLocation(MLIRContext *context, const SourcePosition &position) {
  return FileLineColLoc::get(context, position.file, position.line, position.column);
}

Trace::Trace(StringRef name, const SourcePosition &position)
    : context(makeContext()), builder(context.get()),
      currentLocation(makeLocation(context.get(), position)) {
  static std::atomic<uint64_t> nextId{1};
  id = nextId++;
  module = ModuleOp::create(currentLocation);
  builder.setInsertionPointToEnd(module->getBody());
  function = create<func::FuncOp>(name, builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  create<func::ReturnOp>();
  builder.setInsertionPoint(function.front().getTerminator());
}

Trace::~Trace() { deactivate(); }

void Trace::locate(const SourcePosition &position) {
  Location here = makeLocation(context.get(), position);
  currentLocation = callStack.empty() ? here : Location(CallSiteLoc::get(here, callStack.back()));
}

void Trace::pushCall() { callStack.push_back(currentLocation); }

void Trace::popCall() {
  currentLocation = callStack.back();
  callStack.pop_back();
}

//===----------------------------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------------------------===//

void Trace::fail(const Twine &message) const {
  UserError error(message.str());
  error.position = toPosition(currentLocation);
  throw error;
}

void Trace::checkOwn(uint64_t traceId) const {
  if (traceId != id)
    fail("a value of another kernel is used here; values live only while their kernel is traced");
}

void Trace::requireKernel(StringRef what) const {
  for (const Frame &frame : frames)
    if (frame.kind == "kernel")
      return;
  fail(what + " stands inside 'with T.Kernel(...)'");
}

void Trace::verifyOrThrow(Operation *op, bool recursively) {
  DiagnosticCapture capture(context.get());
  if (failed(mlir::verify(op, recursively)))
    throw capture.takeError();
}

//===----------------------------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------------------------===//

std::optional<int64_t> Buffer::getStaticExtent(unsigned dim) const {
  if (auto *expr = std::get_if<IndexExpr>(&shape[dim]))
    return expr->getConstant();
  return std::nullopt;
}

MemRefType Trace::bufferType(ArrayRef<IndexExpr> shape, Type dtype, tile::Space space) {
  if (isa<IndexType>(dtype))
    fail("a buffer cannot have dtype 'index'");
  SmallVector<int64_t> extents;
  for (const IndexExpr &extent : shape)
    extents.push_back(extent.getConstant().value_or(ShapedType::kDynamic));
  return tile::makeBufferType(extents, dtype, space);
}

static std::vector<Extent> toExtents(ArrayRef<IndexExpr> shape) {
  return std::vector<Extent>(shape.begin(), shape.end());
}

Buffer Trace::paramTensor(StringRef name, ArrayRef<IndexExpr> shape, Type dtype,
                          ArrayRef<IndexExpr> strides) {
  constexpr int64_t kMaxElements = int64_t(1) << 48;
  int64_t elements = 1;
  for (const IndexExpr &extent : shape) {
    std::optional<int64_t> constant = extent.getConstant();
    if (constant && *constant < 0)
      fail("parameter '" + name + "': extent " + Twine(*constant) + " is negative");
    if (constant && *constant > 0 &&
        (llvm::MulOverflow(elements, *constant, elements) || elements > kMaxElements))
      fail("parameter '" + name + "': the tensor is too large");
  }
  MemRefType type = bufferType(shape, dtype, tile::Space::Global);
  unsigned position = parameterShapes.size();
  DictionaryAttr attributes =
      builder.getDictionaryAttr(builder.getNamedAttr(tile::kNameAttr, builder.getStringAttr(name)));
  if (failed(function.insertArgument(position, type, attributes, location())))
    fail("parameter '" + name + "' could not be added");
  Value argument = function.getArgument(position);
  parameterShapes.emplace_back(argument, shape.vec());
  if (!strides.empty())
    parameterStrides.emplace_back(argument, strides.vec());
  return {argument, dtype, toExtents(shape), false, id};
}

Scalar Trace::paramScalar(StringRef name, Type dtype) {
  DictionaryAttr attributes =
      builder.getDictionaryAttr({builder.getNamedAttr(tile::kNameAttr, builder.getStringAttr(name)),
                                 builder.getNamedAttr(tile::kDTypeAttr, TypeAttr::get(dtype))});
  unsigned position = parameterShapes.size();
  if (failed(function.insertArgument(position, tile::getScalarType(dtype), attributes, location())))
    fail("parameter '" + name + "' could not be added");
  Value argument = function.getArgument(position);
  parameterShapes.emplace_back(argument, std::vector<IndexExpr>());
  return wrap(argument, dtype);
}

Value Trace::symbolValue(unsigned symbol) {
  for (auto [number, value] : symbols)
    if (number == symbol)
      return value;
  DictionaryAttr attributes = builder.getDictionaryAttr(
      builder.getNamedAttr(tile::kSymbolAttr, builder.getStringAttr(getSymbolName(symbol))));
  unsigned position = function.getNumArguments();
  if (failed(function.insertArgument(position, builder.getIndexType(), attributes, location())))
    fail("symbol '" + getSymbolName(symbol) + "' could not be added");
  symbols.emplace_back(symbol, function.getArgument(position));
  return symbols.back().second;
}

tile::ShapeAttr Trace::makeShapeAttr(ArrayRef<IndexExpr> extents) {
  SmallVector<StringAttr> names;
  SmallVector<IndexExpr> localSymbols;
  for (auto [position, symbol] : llvm::enumerate(symbols)) {
    names.push_back(builder.getStringAttr(getSymbolName(symbol.first)));
    if (localSymbols.size() <= symbol.first)
      localSymbols.resize(symbol.first + 1);
    localSymbols[symbol.first] = IndexExpr::symbol(position);
  }
  SmallVector<IndexExpr> local;
  for (const IndexExpr &extent : extents)
    local.push_back(extent.substitute({}, localSymbols));
  return tile::ShapeAttr::get(context.get(), names, Layout::get({}, local, names.size()));
}

Buffer Trace::allocGlobal(StringRef name, ArrayRef<IndexExpr> shape, Type dtype) {
  MemRefType type = bufferType(shape, dtype, tile::Space::Global);
  SmallVector<Value> dynamicExtents;
  // A workspace belongs to the launch: it stands before the kernel that names it.
  OpBuilder::InsertionGuard guard(builder);
  for (const Frame &frame : frames)
    if (frame.kind == "kernel") {
      builder.setInsertionPoint(frame.op);
      break;
    }
  for (const IndexExpr &extent : shape)
    if (!extent.getConstant())
      dynamicExtents.push_back(materializeIndexExpr(extent));
  auto op = verified(create<tile::AllocOp>(type, builder.getStringAttr(name), dynamicExtents,
                                           tile::ReduceKindAttr()));
  return {op.getBuffer(), dtype, toExtents(shape), false, id};
}

//===----------------------------------------------------------------------------------------===//
// Closing
//===----------------------------------------------------------------------------------------===//

/// Erases reads and pure operations that nothing uses: the traces of values that Python dropped.
static void eraseDeadOps(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops)) // uses before definitions, inner ops before outer
    if (isOpTriviallyDead(op))
      op->erase();
}

std::unique_ptr<Program> Trace::finish(bool fastMath) {
  if (!frames.empty())
    fail("a '" + frames.back().kind + "' region is still open");
  // Every symbol must be found from the shape or the strides of an argument.
  for (auto *list : {&parameterShapes, &parameterStrides})
    for (auto &[argument, extents] : *list)
      for (const IndexExpr &extent : extents)
        if (!extent.getConstant())
          materializeIndexExpr(extent);
  eraseDeadOps(function);
  sinkArrays(function);
  keepTiles(function);
  std::vector<bool> bound(symbols.size(), false);
  auto note = [&](Value argument, ArrayRef<IndexExpr> extents, StringRef name) {
    tile::ShapeAttr attribute = makeShapeAttr(extents);
    for (const IndexExpr &extent : attribute.getExtents())
      if (std::optional<LinearSymbol> symbol = getLinearSymbol(extent);
          symbol && (name == tile::kShapeAttr || extent.getKind() == IndexExpr::Kind::Symbol))
        bound[symbol->position] = true;
    function.setArgAttr(cast<BlockArgument>(argument).getArgNumber(), name, attribute);
  };
  for (auto &[argument, shape] : parameterShapes)
    if (isa<MemRefType>(argument.getType()))
      note(argument, shape, tile::kShapeAttr);
  for (auto &[argument, strides] : parameterStrides)
    note(argument, strides, tile::kStridesAttr);
  for (auto [position, isBound] : llvm::enumerate(bound))
    if (!isBound)
      fail("shape symbol '" + getSymbolName(symbols[position].first) +
           "' is neither an extent nor a stride of any parameter, so that no call can give its "
           "value");
  if (fastMath)
    function->setAttr("tile.fast_math", builder.getUnitAttr());
  verifyOrThrow(*module, /*recursively=*/true);
  deactivate();
  return std::make_unique<Program>(std::move(context), std::move(module));
}

} // namespace tilewright::frontend
