//===- Arguments.cpp - checks what a caller passes before anything runs ----------------------===//

#include "tilewright/Runtime/Arguments.h"
#include "tilewright/Layout/LinearSymbol.h"
#include "tilewright/Layout/Notation.h"
#include "tilewright/Layout/RuntimeExtents.h"
#include "tilewright/Support/ToError.h"
#include "tilewright/Tile/Strides.h"
#include "tilewright/Tile/Tile.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright::runtime {

//===----------------------------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------------------------===//

static_assert(int(IndexExpr::Kind::Max) == int(rt::Formula::Op::Max) &&
                  int(IndexExpr::Kind::Add) == int(rt::Formula::Op::Add),
              "steps of formulas are numbered like kinds of expressions");

static void appendSteps(const IndexExpr &expr, ArrayRef<unsigned> symbols,
                        std::vector<rt::Formula::Step> &steps) {
  auto op = static_cast<rt::Formula::Op>(expr.getKind());
  if (std::optional<int64_t> constant = expr.getConstant()) {
    steps.push_back({op, *constant});
  } else if (expr.isBinary()) {
    appendSteps(expr.getLhs(), symbols, steps);
    appendSteps(expr.getRhs(), symbols, steps);
    steps.push_back({op});
  } else {
    unsigned position = expr.getPosition();
    bool isMapped = expr.getKind() == IndexExpr::Kind::Symbol && position < symbols.size();
    steps.push_back({op, isMapped ? symbols[position] : position});
  }
}

rt::Formula toFormula(const IndexExpr &expr, ArrayRef<unsigned> symbols) {
  std::vector<rt::Formula::Step> steps;
  appendSteps(expr, symbols, steps);
  return *rt::Formula::make(std::move(steps)); // expressions are less deep
}

//===----------------------------------------------------------------------------------------===//
// The description of a function
//===----------------------------------------------------------------------------------------===//

namespace {

class Describer {
public:
  explicit Describer(func::FuncOp function) : function(function) {}
  rt::Signature run();

private:
  rt::Parameter describe(unsigned position);
  void describeTensor(unsigned position, MemRefType type, rt::Parameter &parameter);
  void describeLayouts();
  std::vector<rt::Extent> describeExtents(tile::ShapeAttr formulas);
  SmallVector<unsigned> number(ArrayRef<StringAttr> names);
  void findStrideSymbols();
  tile::ShapeAttr shapeOf(unsigned position) {
    return function.getArgAttrOfType<tile::ShapeAttr>(position, tile::kShapeAttr);
  }

  func::FuncOp function;
  rt::Signature signature;
};

} // namespace

/// The symbols by their names, in the signature's numbering.
SmallVector<unsigned> Describer::number(ArrayRef<StringAttr> names) {
  SmallVector<unsigned> numbers;
  for (StringAttr name : names) {
    auto known = llvm::find_if(signature.symbols, [&](const rt::Symbol &symbol) {
      return symbol.name == name.getValue();
    });
    numbers.push_back(known - signature.symbols.begin());
    if (known == signature.symbols.end()) // no argument gets its value
      signature.symbols.push_back({name.str(), /*isUsed=*/false});
  }
  return numbers;
}

std::vector<rt::Extent> Describer::describeExtents(tile::ShapeAttr formulas) {
  IndexNames names;
  for (StringAttr symbol : formulas.getSymbols())
    names.symbols.push_back(symbol.str());
  SmallVector<unsigned> numbers = number(formulas.getSymbols());
  std::vector<rt::Extent> extents;
  for (const IndexExpr &expr : formulas.getExtents()) {
    rt::Extent &extent = extents.emplace_back();
    extent.formula = toFormula(expr, numbers);
    extent.text = toString(expr, names);
    if (std::optional<LinearSymbol> linear = getLinearSymbol(expr)) {
      extent.symbol = numbers[linear->position];
      extent.factor = linear->factor;
      extent.constant = linear->constant;
      extent.divisor = linear->divisor;
    }
  }
  return extents;
}

void Describer::describeTensor(unsigned position, MemRefType type, rt::Parameter &parameter) {
  tile::ShapeAttr shape = shapeOf(position);
  if (shape)
    parameter.extents = describeExtents(shape);
  parameter.extents.resize(type.getRank());
  for (auto [dim, extent] : llvm::enumerate(parameter.extents)) {
    int64_t size = type.getDimSize(dim);
    if (!ShapedType::isDynamic(size)) {
      extent.formula = rt::Formula(size);
      extent.text = shape ? extent.text : std::to_string(size);
    } else if (!shape) {
      extent.isKnown = false;
      extent.text = "?";
    }
  }
  auto texts = llvm::map_range(parameter.extents, [](rt::Extent &extent) { return extent.text; });
  parameter.shapeText = "(" + llvm::join(texts, ", ") + (type.getRank() == 1 ? ",)" : ")");
  if (auto strides = function.getArgAttrOfType<tile::ShapeAttr>(position, tile::kStridesAttr))
    parameter.strides = describeExtents(strides);
}

rt::Parameter Describer::describe(unsigned position) {
  rt::Parameter parameter;
  auto name = function.getArgAttrOfType<StringAttr>(position, tile::kNameAttr);
  parameter.name = name ? name.str() : std::to_string(position);
  Type type = function.getArgumentTypes()[position];
  parameter.isUsed = !function.getArgument(position).use_empty();
  if (auto memref = dyn_cast<MemRefType>(type)) {
    parameter.isTensor = true;
    parameter.isWritten = tile::mayWrite(function, function.getArgument(position));
    describeTensor(position, memref, parameter);
    type = memref.getElementType();
  } else if (auto dtype = function.getArgAttrOfType<TypeAttr>(position, tile::kDTypeAttr)) {
    type = dtype.getValue();
  }
  parameter.dtype = tile::describeElementType(type);
  parameter.bits = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  parameter.elementBytes = isa<IndexType>(type) ? 8 : tile::getStorageBytes(type);
  parameter.numberClass = isa<FloatType>(type)       ? rt::NumberClass::Float
                          : parameter.bits == 1      ? rt::NumberClass::Bool
                          : type.isUnsignedInteger() ? rt::NumberClass::Unsigned
                                                     : rt::NumberClass::Signed;
  return parameter;
}

/// The layouts annotated on the function's own tensors.
static void forLayouts(func::FuncOp function,
                       llvm::function_ref<void(unsigned position, const Layout &)> visit) {
  function.walk([&](tile::AnnotateLayoutOp op) {
    auto argument = dyn_cast<BlockArgument>(op.getBuffer());
    auto layout = dyn_cast<tile::LayoutAttr>(op.getLayout());
    if (argument && layout && argument.getOwner() == &function.front())
      visit(argument.getArgNumber(), layout.getLayout());
  });
}

/// How many elements of memory a layout spans, as a formula of the tensor's extents. Compiled code
/// has the extents that do not depend on the launch (`i % 8` has 8) in its strides, also where the
/// tensor at hand needs fewer.
static std::optional<IndexExpr> countPositions(const Layout &layout) {
  IndexExpr positions = 1;
  for (unsigned output = 0; output < layout.getOutputs().size(); ++output) {
    std::optional<IndexExpr> extent = getOutputExtent(layout, output);
    if (!extent)
      return std::nullopt;
    positions = positions * *extent;
  }
  return positions.isWithinLimits() ? std::optional(positions) : std::nullopt;
}

void Describer::describeLayouts() {
  forLayouts(function, [&](unsigned position, const Layout &layout) {
    rt::Parameter &parameter = signature.parameters[position];
    std::optional<IndexExpr> positions = countPositions(layout);
    if (!positions || parameter.positions)
      return;
    parameter.positions = toFormula(*positions);
    parameter.layoutText = layout.str();
  });
}

bool hasFormulasOfLayouts(func::FuncOp function) {
  bool hasAll = true;
  forLayouts(function,
             [&](unsigned, const Layout &layout) { hasAll &= countPositions(layout).has_value(); });
  return hasAll;
}

static void noteSymbols(const rt::Extent &extent, std::vector<rt::Symbol> &symbols) {
  for (const rt::Formula::Step &step : extent.formula.getSteps())
    if (step.op == rt::Formula::Op::Symbol)
      symbols[step.value].isStride = true;
}

/// The symbols whose divisibility can widen an access: those of strides and of the dimension in
/// which memory runs. A symbol that only counts the rows of tensors is neither.
void Describer::findStrideSymbols() {
  for (const rt::Parameter &parameter : signature.parameters)
    for (unsigned dim = parameter.extents.size() > 1; dim < parameter.extents.size(); ++dim)
      noteSymbols(parameter.extents[dim], signature.symbols);
}

rt::Signature Describer::run() {
  signature.name = function.getName().str();
  unsigned numParameters = 0;
  while (numParameters < function.getNumArguments() &&
         !function.getArgAttr(numParameters, tile::kSymbolAttr))
    ++numParameters;
  for (unsigned position = numParameters; position < function.getNumArguments(); ++position) {
    auto symbol = function.getArgAttrOfType<StringAttr>(position, tile::kSymbolAttr);
    signature.symbols.push_back({symbol ? symbol.str() : std::to_string(position),
                                 !function.getArgument(position).use_empty()});
  }
  signature.numSymbolArguments = signature.symbols.size();
  for (unsigned position = 0; position < numParameters; ++position)
    signature.parameters.push_back(describe(position));
  describeLayouts();
  findStrideSymbols();
  return std::move(signature);
}

rt::Signature describeSignature(func::FuncOp function) { return Describer(function).run(); }

//===----------------------------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------------------------===//

static rt::Argument toArgument(const CallArgument &argument) {
  using Kind = rt::Argument::Kind;
  if (auto *view = std::get_if<TensorView>(&argument)) {
    rt::Argument tensor;
    tensor.isWritable = view->isWritable;
    tensor.isOnGpu = view->isOnGpu;
    tensor.isPacked = view->isPacked;
    tensor.data = view->data;
    tensor.shape = view->shape;
    tensor.strides = view->strides;
    tensor.dtype = view->dtype;
    return tensor;
  }
  if (auto *boolean = std::get_if<bool>(&argument))
    return rt::Argument::makeInteger(Kind::Bool, *boolean);
  if (auto *integer = std::get_if<int64_t>(&argument))
    return rt::Argument::makeInteger(Kind::Signed, *integer);
  if (auto *wide = std::get_if<uint64_t>(&argument))
    return rt::Argument::makeInteger(Kind::Unsigned, int64_t(*wide));
  return rt::Argument::makeReal(std::get<double>(argument));
}

static BoundArgument toNumber(const rt::Parameter &parameter, uint64_t slot) {
  if (parameter.numberClass == rt::NumberClass::Float)
    return llvm::bit_cast<double>(slot);
  return int64_t(slot);
}

/// The check of layouts that have no formula, by their extents at this call.
static llvm::Error checkOtherLayouts(func::FuncOp function, const rt::Signature &signature,
                                     ArrayRef<BoundArgument> bound) {
  llvm::Error error = llvm::Error::success();
  forLayouts(function, [&](unsigned position, const Layout &layout) {
    if (countPositions(layout) || error)
      return;
    const auto &tensor = std::get<BoundTensor>(bound[position]);
    int64_t elements = 1, positions = 1;
    for (int64_t extent : tensor.shape)
      elements *= extent;
    Layout actual = Layout::get(tensor.shape, layout.getOutputs(), layout.getNumSymbols());
    for (auto [compiled, needed] :
         llvm::zip_equal(layout.getOutputShape(), actual.getOutputShape()))
      if (needed == kDynamic || llvm::MulOverflow(positions, std::max(compiled, needed), positions))
        return;
    if (elements != 0 && positions > elements)
      error = llvm::createStringError(
          "parameter '" + signature.parameters[position].name + "': its layout " + layout.str() +
          " needs " + Twine(positions) + " elements, the tensor has " + Twine(elements));
  });
  return error;
}

llvm::Expected<std::vector<BoundArgument>> bindArguments(func::FuncOp function,
                                                         const rt::Signature &signature,
                                                         ArrayRef<CallArgument> arguments) {
  std::vector<rt::Argument> given;
  for (const CallArgument &argument : arguments)
    given.push_back(toArgument(argument));
  rt::Binding binding;
  if (MaybeFailure failure = rt::bindArguments(signature, given, binding))
    return toError(*failure);
  std::vector<BoundArgument> bound;
  for (unsigned position = 0; position < signature.getNumArguments(); ++position) {
    if (position >= given.size()) {
      bound.push_back(int64_t(binding.slots[position]));
      continue;
    }
    const rt::Parameter &parameter = signature.parameters[position];
    auto type = dyn_cast<MemRefType>(function.getArgumentTypes()[position]);
    if (!type)
      bound.push_back(toNumber(parameter, binding.slots[position]));
    else if (parameter.isUsed)
      bound.push_back(BoundTensor{given[position].data, llvm::to_vector(given[position].shape),
                                  type.getElementType(), given[position].isOnGpu});
    else // no memory is needed for it
      bound.push_back(BoundTensor{nullptr, SmallVector<int64_t>(type.getRank(), 0),
                                  type.getElementType(), given[position].isOnGpu});
  }
  if (llvm::Error error = checkOtherLayouts(function, signature, bound))
    return error;
  return bound;
}

llvm::Expected<BoundArgument> bindScalar(const rt::Parameter &parameter,
                                         const CallArgument &argument) {
  Result<uint64_t> slot = rt::bindNumber(parameter, toArgument(argument));
  if (!slot)
    return toError(slot.getFailure());
  return toNumber(parameter, *slot);
}

} // namespace tilewright::runtime
