//===- Signature.cpp - the parameters and shape symbols of a traced function -----------------===//

#include "tilewright/Frontend/Signature.h"
#include "tilewright/Layout/LinearSymbol.h"
#include "tilewright/Tile/Strides.h"

#include "llvm/ADT/StringMap.h"
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

Value Signature::getSymbol(unsigned symbol) {
  for (const Symbol &known : symbols)
    if (known.number == symbol)
      return known.value;
  DictionaryAttr attributes = builder.getDictionaryAttr(
      builder.getNamedAttr(tile::kSymbolAttr, builder.getStringAttr(getSymbolName(symbol))));
  unsigned position = function.getNumArguments();
  if (failed(function.insertArgument(position, builder.getIndexType(), attributes,
                                     emitter.getLocation())))
    emitter.fail("symbol '" + getSymbolName(symbol) + "' could not be added");
  symbols.push_back({symbol, function.getArgument(position)});
  return symbols.back().value;
}

void Signature::addSymbolsOf(const IndexExpr &expr) {
  using K = IndexExpr::Kind;
  if (expr.getKind() == K::Symbol)
    getSymbol(expr.getPosition());
  if (expr.getKind() == K::Symbol || expr.getKind() == K::Constant || expr.getKind() == K::Dim)
    return;
  addSymbolsOf(expr.getLhs());
  addSymbolsOf(expr.getRhs());
}

tile::ShapeAttr Signature::makeShapeAttr(ArrayRef<IndexExpr> extents) {
  for (const IndexExpr &extent : extents)
    addSymbolsOf(extent);
  SmallVector<StringAttr> names;
  SmallVector<IndexExpr> localSymbols;
  for (auto [position, symbol] : llvm::enumerate(symbols)) {
    names.push_back(builder.getStringAttr(getSymbolName(symbol.number)));
    if (localSymbols.size() <= symbol.number)
      localSymbols.resize(symbol.number + 1);
    localSymbols[symbol.number] = IndexExpr::symbol(position);
  }
  SmallVector<IndexExpr> local;
  for (const IndexExpr &extent : extents)
    local.push_back(extent.substitute({}, localSymbols));
  return tile::ShapeAttr::get(emitter.getContext(), names, Layout::get({}, local, names.size()));
}

//===----------------------------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------------------------===//

std::optional<int64_t> Buffer::getStaticExtent(unsigned dim) const {
  if (auto *expr = std::get_if<IndexExpr>(&shape[dim]))
    return expr->getConstant();
  return std::nullopt;
}

MemRefType makeBufferType(const Emitter &emitter, ArrayRef<IndexExpr> shape, Type dtype,
                          tile::Space space) {
  if (isa<IndexType>(dtype))
    emitter.fail("a buffer cannot have dtype 'index'");
  SmallVector<int64_t> extents;
  for (const IndexExpr &extent : shape)
    extents.push_back(extent.getConstant().value_or(ShapedType::kDynamic));
  return tile::makeBufferType(extents, dtype, space);
}

Signature::Signature(Emitter &emitter, ModuleOp module, StringRef name)
    : emitter(emitter), builder(emitter.getBuilder()) {
  builder.setInsertionPointToEnd(module.getBody());
  function = emitter.create<func::FuncOp>(name, builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  builder.setInsertionPoint(emitter.create<func::ReturnOp>());
}

Value Signature::addParameter(StringRef name, Type type, DictionaryAttr attributes,
                              ArrayRef<IndexExpr> shape, ArrayRef<IndexExpr> strides) {
  unsigned position = parameters.size();
  if (failed(function.insertArgument(position, type, attributes, emitter.getLocation())))
    emitter.fail("parameter '" + name + "' could not be added");
  parameters.push_back({function.getArgument(position), shape.vec(), strides.vec()});
  return parameters.back().argument;
}

Buffer Signature::addTensor(StringRef name, ArrayRef<IndexExpr> shape, Type dtype,
                            ArrayRef<IndexExpr> strides) {
  constexpr int64_t kMaxElements = int64_t(1) << 48;
  int64_t elements = 1;
  for (const IndexExpr &extent : shape) {
    std::optional<int64_t> constant = extent.getConstant();
    if (constant && *constant < 0)
      emitter.fail("parameter '" + name + "': extent " + Twine(*constant) + " is negative");
    if (constant && *constant > 0 &&
        (llvm::MulOverflow(elements, *constant, elements) || elements > kMaxElements))
      emitter.fail("parameter '" + name + "': the tensor is too large");
  }
  MemRefType type = makeBufferType(emitter, shape, dtype, tile::Space::Global);
  DictionaryAttr attributes =
      builder.getDictionaryAttr(builder.getNamedAttr(tile::kNameAttr, builder.getStringAttr(name)));
  Value argument = addParameter(name, type, attributes, shape, strides);
  return {argument, dtype, std::vector<Extent>(shape.begin(), shape.end()), false, emitter.getId()};
}

Scalar Signature::addScalar(StringRef name, Type dtype) {
  DictionaryAttr attributes =
      builder.getDictionaryAttr({builder.getNamedAttr(tile::kNameAttr, builder.getStringAttr(name)),
                                 builder.getNamedAttr(tile::kDTypeAttr, TypeAttr::get(dtype))});
  return emitter.wrap(addParameter(name, tile::getScalarType(dtype), attributes, {}, {}), dtype);
}

void Signature::close() {
  for (auto list : {&Parameter::shape, &Parameter::strides})
    for (const Parameter &parameter : parameters)
      for (const IndexExpr &extent : parameter.*list)
        addSymbolsOf(extent);
  // A call finds a symbol from an extent such as 2 * n + 1, or from a stride that is the symbol.
  std::vector<bool> bound(symbols.size(), false);
  auto note = [&](BlockArgument argument, ArrayRef<IndexExpr> extents, StringRef name) {
    tile::ShapeAttr attribute = makeShapeAttr(extents);
    for (const IndexExpr &extent : attribute.getExtents())
      if (std::optional<LinearSymbol> symbol = getLinearSymbol(extent);
          symbol && (name == tile::kShapeAttr || (symbol->factor == 1 && symbol->constant == 0)))
        bound[symbol->position] = true;
    function.setArgAttr(argument.getArgNumber(), name, attribute);
  };
  for (const Parameter &parameter : parameters) {
    if (isa<MemRefType>(parameter.argument.getType()))
      note(parameter.argument, parameter.shape, tile::kShapeAttr);
    if (!parameter.strides.empty())
      note(parameter.argument, parameter.strides, tile::kStridesAttr);
  }
  for (auto [position, isBound] : llvm::enumerate(bound))
    if (!isBound)
      emitter.fail("shape symbol '" + getSymbolName(symbols[position].number) +
                   "' is neither an extent nor a stride of any parameter, so that no call can give "
                   "its value");
}

} // namespace tilewright::frontend
