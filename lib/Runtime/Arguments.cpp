//===- Arguments.cpp - checks what a caller passes before anything runs ----------------------===//

#include "tilewright/Runtime/Arguments.h"
#include "tilewright/Layout/LinearSymbol.h"
#include "tilewright/Layout/Notation.h"
#include "tilewright/Support/Limits.h"
#include "tilewright/Tile/Strides.h"
#include "tilewright/Tile/Tile.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;

namespace tilewright::runtime {

namespace {

/// Where a symbol's value was found, for messages about a second value.
struct SymbolValue {
  int64_t value;
  std::string from; // 'A' dimension 0
};

class Binder {
public:
  Binder(func::FuncOp function, ArrayRef<CallArgument> arguments)
      : function(function), arguments(arguments) {}

  llvm::Expected<std::vector<BoundArgument>> run();
  llvm::Expected<BoundArgument> runOnScalar(unsigned position, const CallArgument &argument) {
    bound.resize(function.getNumArguments());
    if (llvm::Error error = bindScalar(position, argument))
      return error;
    return bound[position];
  }

private:
  llvm::Error bindTensor(unsigned position, const TensorView &view);
  llvm::Error bindScalar(unsigned position, const CallArgument &argument);
  llvm::Error bindSymbols(unsigned position, const TensorView &view);
  llvm::Error bindSymbols(unsigned position, const TensorView &view, tile::ShapeAttr formulas,
                          ArrayRef<int64_t> values, StringRef what);
  void solveSymbols(unsigned position, const TensorView &view);
  llvm::Error bindSymbolArguments(unsigned first);
  llvm::Error checkStrides(unsigned position, const TensorView &view);
  bool isUsed(unsigned position) { return !function.getArgument(position).use_empty(); }
  void bindUnused(unsigned position, const TensorView &view);
  llvm::Error checkExtents(unsigned position, const TensorView &view);
  llvm::Error checkLayouts();
  llvm::Error checkWritable();
  llvm::Error refuse(unsigned position, const Twine &message) {
    return llvm::createStringError("parameter '" + name(position) + "': " + message);
  }
  std::string name(unsigned position) {
    auto attribute = function.getArgAttrOfType<StringAttr>(position, tile::kNameAttr);
    return attribute ? attribute.str() : std::to_string(position);
  }
  tile::ShapeAttr shapeOf(unsigned position) {
    return function.getArgAttrOfType<tile::ShapeAttr>(position, tile::kShapeAttr);
  }
  std::string describeExpected(unsigned position);

  func::FuncOp function;
  ArrayRef<CallArgument> arguments;
  std::map<std::string, SymbolValue> symbols;
  std::vector<BoundArgument> bound;
};

} // namespace

static bool isTensor(const CallArgument &argument) {
  return std::holds_alternative<TensorView>(argument);
}

static std::string list(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "(";
  llvm::interleaveComma(values, os);
  os << (values.size() == 1 ? ",)" : ")");
  return text;
}

/// `(n, 128)`: the shape as the user declared it.
std::string Binder::describeExpected(unsigned position) {
  auto type = cast<MemRefType>(function.getArgumentTypes()[position]);
  tile::ShapeAttr shape = shapeOf(position);
  if (!shape)
    return list(type.getShape());
  IndexNames names;
  for (StringAttr symbol : shape.getSymbols())
    names.symbols.push_back(symbol.str());
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "(";
  llvm::interleaveComma(shape.getExtents(), os,
                        [&](const IndexExpr &extent) { printIndexExpr(os, extent, names); });
  os << (shape.getExtents().size() == 1 ? ",)" : ")");
  return text;
}

/// Symbols that are a whole extent or stride take its value; a second value must be the same.
llvm::Error Binder::bindSymbols(unsigned position, const TensorView &view, tile::ShapeAttr formulas,
                                ArrayRef<int64_t> values, StringRef what) {
  // Nothing of a tensor that the kernel does not use is checked: it may be left out or not fit.
  if (!formulas || formulas.getExtents().size() != values.size())
    return llvm::Error::success();
  for (auto [dim, formula] : llvm::enumerate(formulas.getExtents())) {
    if (formula.getKind() != IndexExpr::Kind::Symbol)
      continue;
    std::string symbol = formulas.getSymbols()[formula.getPosition()].str();
    if (what == "dimension" && values[dim] > kLargestExtent)
      return refuse(position, what + " " + Twine(dim) + ": " + Twine(values[dim]) +
                                  " elements are more than a run-time extent can have (2^40)");
    std::string from = "'" + name(position) + "' " + what.str() + " " + std::to_string(dim);
    auto [it, isNew] = symbols.try_emplace(symbol, SymbolValue{values[dim], from});
    bool isFree = what == "stride" && view.shape[dim] <= 1; // the stride of one element is nothing
    if (!isNew && it->second.value != values[dim] && isUsed(position) && !isFree)
      return refuse(position, what + " " + Twine(dim) + ": expected " + symbol + " = " +
                                  Twine(it->second.value) + " (from " + it->second.from +
                                  "), got " + Twine(values[dim]) + " in " +
                                  (what == "stride" ? "strides " : "shape ") + list(values));
  }
  return llvm::Error::success();
}

llvm::Error Binder::bindSymbols(unsigned position, const TensorView &view) {
  if (llvm::Error error = bindSymbols(position, view, shapeOf(position), view.shape, "dimension"))
    return error;
  auto strides = function.getArgAttrOfType<tile::ShapeAttr>(position, tile::kStridesAttr);
  return bindSymbols(position, view, strides, view.strides, "stride");
}

/// Symbols that no whole extent gives take their value from a formula such as `n + 1`.
void Binder::solveSymbols(unsigned position, const TensorView &view) {
  tile::ShapeAttr formulas = shapeOf(position);
  if (!formulas || formulas.getExtents().size() != view.shape.size())
    return;
  for (auto [dim, formula] : llvm::enumerate(formulas.getExtents())) {
    std::optional<LinearSymbol> linear = getLinearSymbol(formula);
    std::optional<int64_t> value = linear ? linear->solve(view.shape[dim]) : std::nullopt;
    if (!value || *value < 0)
      continue; // checkExtents says what does not fit
    std::string symbol = formulas.getSymbols()[linear->position].str();
    std::string from = "'" + name(position) + "' dimension " + std::to_string(dim);
    symbols.try_emplace(symbol, SymbolValue{*value, from});
  }
}

/// A tensor that nothing reads or writes: no memory is needed for it.
void Binder::bindUnused(unsigned position, const TensorView &view) {
  auto type = cast<MemRefType>(function.getArgumentTypes()[position]);
  bound[position] = BoundTensor{nullptr, SmallVector<int64_t>(type.getRank(), 0),
                                type.getElementType(), view.isOnGpu};
}

/// The strides of a tensor that is declared with some.
llvm::Error Binder::checkStrides(unsigned position, const TensorView &view) {
  auto strides = function.getArgAttrOfType<tile::ShapeAttr>(position, tile::kStridesAttr);
  if (!strides || llvm::is_contained(view.shape, 0))
    return llvm::Error::success();
  SmallVector<int64_t> values;
  for (StringAttr symbol : strides.getSymbols())
    values.push_back(symbols.count(symbol.str()) ? symbols.at(symbol.str()).value : 0);
  for (auto [dim, stride] : llvm::enumerate(strides.getExtents())) {
    std::optional<int64_t> expected = stride.evaluate({}, values);
    if (view.shape[dim] != 1 && expected != view.strides[dim])
      return refuse(position, "stride " + Twine(dim) + ": expected " +
                                  (expected ? std::to_string(*expected) : "a number of 64 bits") +
                                  ", got " + Twine(view.strides[dim]) + " in strides " +
                                  list(view.strides) + " for shape " + list(view.shape));
  }
  return llvm::Error::success();
}

llvm::Error Binder::checkExtents(unsigned position, const TensorView &view) {
  auto type = cast<MemRefType>(function.getArgumentTypes()[position]);
  tile::ShapeAttr shape = shapeOf(position);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t expected = type.getDimSize(dim);
    if (ShapedType::isDynamic(expected) && shape) {
      SmallVector<int64_t> values;
      for (StringAttr symbol : shape.getSymbols())
        values.push_back(symbols.count(symbol.str()) ? symbols.at(symbol.str()).value : 0);
      std::optional<int64_t> computed = shape.getExtents()[dim].evaluate({}, values);
      if (!computed)
        return refuse(position, "dimension " + Twine(dim) + " is too large to compute");
      expected = *computed;
    }
    if (!ShapedType::isDynamic(expected) && view.shape[dim] != expected)
      return refuse(position, "expected shape " + describeExpected(position) + ", got " +
                                  list(view.shape) + " (dimension " + Twine(dim) + " should be " +
                                  Twine(expected) + ")");
  }
  return llvm::Error::success();
}

llvm::Error Binder::bindTensor(unsigned position, const TensorView &view) {
  auto type = dyn_cast<MemRefType>(function.getArgumentTypes()[position]);
  if (!type)
    return refuse(position, "expected a number, got a tensor of shape " + list(view.shape));
  if (!view.data && view.shape.empty() && view.dtype.empty())
    return refuse(position, "the kernel uses it, expected a tensor, got None");
  std::string dtype = tile::describeElementType(type.getElementType());
  // Storage of tfloat32 is float32; of bool one byte.
  bool sameStorage = view.dtype == dtype || (dtype == "tfloat32" && view.dtype == "float32");
  if (!sameStorage)
    return refuse(position, "expected dtype " + dtype + ", got " + view.dtype);
  if (int64_t(view.shape.size()) != type.getRank())
    return refuse(position, "expected rank " + Twine(type.getRank()) + ", shape " +
                                describeExpected(position) + ", got rank " +
                                Twine(view.shape.size()) + ", shape " + list(view.shape));
  // An array without elements, and a dimension of extent 1, may have any stride.
  bool isEmpty = llvm::is_contained(view.shape, 0);
  int64_t expected = 1;
  for (size_t dim = view.shape.size(); dim-- > 0 && !isEmpty;) {
    if (view.shape[dim] != 1 && view.strides[dim] != expected && !view.isPacked)
      return refuse(position, "expected a contiguous (row-major) tensor, got strides " +
                                  list(view.strides) + " for shape " + list(view.shape) +
                                  "; pass a contiguous copy");
    expected *= view.shape[dim];
  }
  if (!view.data && !isEmpty)
    return refuse(position, "the tensor has no data");
  bound[position] =
      BoundTensor{view.data, llvm::to_vector(view.shape), type.getElementType(), view.isOnGpu};
  return llvm::Error::success();
}

llvm::Error Binder::bindScalar(unsigned position, const CallArgument &argument) {
  Type type = function.getArgumentTypes()[position];
  if (isa<MemRefType>(type))
    return refuse(position,
                  "expected a tensor of shape " + describeExpected(position) + ", got a number");
  Type dtype = type;
  if (auto attribute = function.getArgAttrOfType<TypeAttr>(position, tile::kDTypeAttr))
    dtype = attribute.getValue();
  if (isa<FloatType>(dtype)) {
    bound[position] = std::visit(
        [](const auto &value) -> double {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, TensorView>)
            return 0;
          else
            return double(value);
        },
        argument);
    return llvm::Error::success();
  }
  int64_t value;
  auto *wide = std::get_if<uint64_t>(&argument);
  if (auto *boolean = std::get_if<bool>(&argument))
    value = *boolean;
  else if (auto *integer = std::get_if<int64_t>(&argument))
    value = *integer;
  else if (wide)
    value = int64_t(*wide);
  else
    return refuse(position, "expected " + tile::describeElementType(dtype) + ", got a float");
  unsigned width = isa<IndexType>(dtype) ? 64 : dtype.getIntOrFloatBitWidth();
  bool fits = width == 1                  ? value == 0 || value == 1
              : dtype.isUnsignedInteger() ? wide || value >= 0
                                          : !wide && llvm::isIntN(width, value);
  if (!fits || (dtype.isUnsignedInteger() && !llvm::isUIntN(width, uint64_t(value))))
    return refuse(position, "the number " + (wide ? Twine(*wide) : Twine(value)) +
                                " does not fit " + tile::describeElementType(dtype));
  bound[position] = value;
  return llvm::Error::success();
}

/// How many elements of memory a layout spans at a launch. Compiled code has the extents that do
/// not depend on the launch (`i % 8` has 8) in its strides, also where the tensor at hand needs
/// fewer.
static std::optional<int64_t> countPositions(const Layout &layout, ArrayRef<int64_t> shape) {
  Layout actual = Layout::get(shape, layout.getOutputs(), layout.getNumSymbols());
  int64_t positions = 1;
  for (auto [compiled, needed] : llvm::zip_equal(layout.getOutputShape(), actual.getOutputShape()))
    if (needed == kDynamic || llvm::MulOverflow(positions, std::max(compiled, needed), positions))
      return std::nullopt;
  return positions;
}

/// A layout annotated on a tensor may reach positions that the array does not have.
llvm::Error Binder::checkLayouts() {
  llvm::Error error = llvm::Error::success();
  function.walk([&](tile::AnnotateLayoutOp op) {
    auto argument = dyn_cast<BlockArgument>(op.getBuffer());
    auto layout = dyn_cast<tile::LayoutAttr>(op.getLayout());
    if (!argument || !layout || argument.getOwner() != &function.front())
      return WalkResult::advance();
    const auto &tensor = std::get<BoundTensor>(bound[argument.getArgNumber()]);
    int64_t elements = 1;
    for (int64_t extent : tensor.shape)
      elements *= extent;
    const Layout &map = layout.getLayout();
    std::optional<int64_t> positions = countPositions(map, tensor.shape);
    if (elements == 0 || !positions || *positions <= elements)
      return WalkResult::advance();
    error = llvm::joinErrors(
        std::move(error),
        refuse(argument.getArgNumber(), "its layout " + map.str() + " needs " + Twine(*positions) +
                                            " elements, the tensor has " + Twine(elements)));
    return WalkResult::interrupt();
  });
  return error;
}

/// A tensor that the function may write needs memory that can be written.
llvm::Error Binder::checkWritable() {
  for (auto [position, argument] : llvm::enumerate(arguments)) {
    auto *view = std::get_if<TensorView>(&argument);
    if (view && !view->isWritable && tile::mayWrite(function, function.getArgument(position)))
      return refuse(position, "the kernel writes it, got a read-only tensor; pass a writable copy");
  }
  return llvm::Error::success();
}

/// The values of symbols, in the arguments from `first` on.
llvm::Error Binder::bindSymbolArguments(unsigned first) {
  for (unsigned i = first; i < function.getNumArguments(); ++i) {
    auto symbol = function.getArgAttrOfType<StringAttr>(i, tile::kSymbolAttr);
    auto it = symbol ? symbols.find(symbol.str()) : symbols.end();
    if (it == symbols.end() && isUsed(i))
      return llvm::createStringError(
          "the shape symbol '" + (symbol ? symbol.str() : std::to_string(i)) +
          "' has no value: the kernel uses it, and the tensors that would give it are None");
    bound[i] = it == symbols.end() ? 0 : it->second.value;
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<BoundArgument>> Binder::run() {
  unsigned numParameters = 0;
  while (numParameters < function.getNumArguments() &&
         !function.getArgAttr(numParameters, tile::kSymbolAttr))
    ++numParameters;
  if (arguments.size() != numParameters) {
    std::string names;
    for (unsigned i = 0; i < numParameters; ++i)
      names += (i ? ", " : "") + name(i);
    return llvm::createStringError("'" + function.getName() + "' takes " + Twine(numParameters) +
                                   " arguments (" + names + "), got " + Twine(arguments.size()));
  }
  bound.resize(function.getNumArguments());
  for (auto [position, argument] : llvm::enumerate(arguments)) {
    auto *view = std::get_if<TensorView>(&argument);
    if (view && isa<MemRefType>(function.getArgumentTypes()[position]) && !isUsed(position)) {
      bindUnused(position, *view);
      continue;
    }
    if (llvm::Error error = view ? bindTensor(position, *view) : bindScalar(position, argument))
      return std::move(error);
  }
  for (bool used : {true, false}) // a tensor that is used says what a symbol is
    for (auto [position, argument] : llvm::enumerate(arguments))
      if (isTensor(argument) && isUsed(position) == used)
        if (llvm::Error error = bindSymbols(position, std::get<TensorView>(argument)))
          return std::move(error);
  for (auto [position, argument] : llvm::enumerate(arguments))
    if (isTensor(argument) && isUsed(position))
      solveSymbols(position, std::get<TensorView>(argument));
  for (auto [position, argument] : llvm::enumerate(arguments))
    if (isTensor(argument) && isUsed(position))
      if (llvm::Error error =
              llvm::joinErrors(checkExtents(position, std::get<TensorView>(argument)),
                               checkStrides(position, std::get<TensorView>(argument))))
        return std::move(error);
  if (llvm::Error error = bindSymbolArguments(numParameters))
    return std::move(error);
  if (llvm::Error error = checkLayouts())
    return std::move(error);
  if (llvm::Error error = checkWritable())
    return std::move(error);
  return std::move(bound);
}

llvm::Expected<std::vector<BoundArgument>> bindArguments(func::FuncOp function,
                                                         ArrayRef<CallArgument> arguments) {
  return Binder(function, arguments).run();
}

llvm::Expected<BoundArgument> bindScalar(func::FuncOp function, unsigned position,
                                         const CallArgument &argument) {
  return Binder(function, {}).runOnScalar(position, argument);
}

} // namespace tilewright::runtime
