//===- Interp.cpp - binds arguments and runs a function ---------------------------------------===//

#include "Machine.h"
#include "llvm/ADT/STLExtras.h"
#include <new>
#include <stdexcept>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

namespace {

/// Checks the arguments against the function's parameters and puts them into their slots.
class Binder {
public:
  Binder(func::FuncOp function, llvm::ArrayRef<Argument> arguments, Machine &machine)
      : function(function), arguments(arguments), machine(machine) {}

  llvm::Error bind() {
    if (arguments.size() != function.getNumArguments())
      return llvm::createStringError("expected " + llvm::Twine(function.getNumArguments()) +
                                     " arguments, got " + llvm::Twine(arguments.size()));
    // Scalars first: the shapes of tensors are expressions of them.
    for (unsigned position = 0; position < arguments.size(); ++position)
      if (!isTensor(position))
        if (llvm::Error error = bindScalar(position))
          return error;
    for (unsigned position = 0; position < arguments.size(); ++position)
      if (isTensor(position))
        if (llvm::Error error = bindTensor(position))
          return error;
    return llvm::Error::success();
  }

private:
  bool isTensor(unsigned position) {
    return isa<MemRefType>(function.getArgument(position).getType());
  }
  Slot slotOf(unsigned position) { return machine.program.argumentSlots[position]; }

  /// `argument 2 ('K')`
  std::string describe(unsigned position) {
    std::string text = "argument " + std::to_string(position);
    for (StringRef attribute : {StringRef(tile::kNameAttr), StringRef(tile::kSymbolAttr)})
      if (auto name = function.getArgAttrOfType<StringAttr>(position, attribute))
        return text + " ('" + name.getValue().str() + "')";
    return text;
  }
  llvm::Error refuse(unsigned position, const llvm::Twine &why) {
    return llvm::createStringError(describe(position) + ": " + why);
  }

  llvm::Error bindScalar(unsigned position);
  llvm::Error bindTensor(unsigned position);
  llvm::Expected<SmallVector<int64_t>> getShape(unsigned position, const TensorArgument &tensor);

  func::FuncOp function;
  llvm::ArrayRef<Argument> arguments;
  Machine &machine;
};

} // namespace

llvm::Error Binder::bindScalar(unsigned position) {
  Format format = getFormat(function.getArgument(position).getType());
  Scalar value;
  if (const auto *integer = std::get_if<int64_t>(&arguments[position])) {
    value = Scalar::ofInteger(*integer);
    value = isFloat(format) ? convert(value, Format::I64, format)
                            : Scalar::ofInteger(wrap(*integer, getBits(format)));
  } else if (const auto *real = std::get_if<double>(&arguments[position])) {
    if (!isFloat(format))
      return refuse(position, "expected an integer, got a float");
    value = convert(Scalar::ofReal(*real), Format::F64, format);
  } else {
    return refuse(position, "expected a scalar, got a tensor");
  }
  machine.values[slotOf(position)] = value;
  return llvm::Error::success();
}

llvm::Expected<SmallVector<int64_t>> Binder::getShape(unsigned position,
                                                      const TensorArgument &tensor) {
  auto type = cast<MemRefType>(function.getArgument(position).getType());
  if (type.hasStaticShape())
    return SmallVector<int64_t>(type.getShape());
  auto attribute = function.getArgAttrOfType<tile::ShapeAttr>(position, tile::kShapeAttr);
  if (!attribute) {
    if (tensor.shape.size() != static_cast<size_t>(type.getRank()))
      return refuse(position, "expected rank " + llvm::Twine(type.getRank()) + ", got " +
                                  llvm::Twine(tensor.shape.size()));
    return SmallVector<int64_t>(tensor.shape);
  }
  SmallVector<int64_t> symbols, shape;
  for (StringAttr symbol : attribute.getSymbols())
    for (unsigned other = 0; other < arguments.size(); ++other)
      if (function.getArgAttr(other, tile::kSymbolAttr) == symbol)
        symbols.push_back(machine.values[slotOf(other)].integer);
  for (const IndexExpr &extent : attribute.getExtents()) {
    std::optional<int64_t> value = evaluate(extent, symbols, symbols);
    if (!value || *value < 0)
      return refuse(position, "its shape has an extent that is negative or too large");
    shape.push_back(*value);
  }
  return shape;
}

llvm::Error Binder::bindTensor(unsigned position) {
  const auto *tensor = std::get_if<TensorArgument>(&arguments[position]);
  if (!tensor)
    return refuse(position, "expected a tensor, got a scalar");
  if (function.getArgument(position).use_empty())
    return llvm::Error::success(); // it may be left out
  auto type = cast<MemRefType>(function.getArgument(position).getType());
  if (tensor->elementType && tensor->elementType != type.getElementType())
    return refuse(position, "expected " + tile::describeElementType(type.getElementType()) +
                                ", got " + tile::describeElementType(tensor->elementType));
  llvm::Expected<SmallVector<int64_t>> shape = getShape(position, *tensor);
  if (!shape)
    return shape.takeError();
  Storage &storage = machine.addStorage(function.getArgument(position));
  storage.shape.assign(shape->begin(), shape->end());
  storage.physicalElements = countElements(tensor->shape);
  if (storage.physicalElements < countElements(storage.shape))
    return refuse(position,
                  "expected " + inParentheses(*shape) + ", got " + inParentheses(tensor->shape));
  storage.bytes = static_cast<uint8_t *>(tensor->data);
  if (machine.options.bounds)
    storage.radius = ShadowArray<double>(storage.countGranules());
  if (machine.options.check && tensor->isUnwritten)
    storage.markUnwritten();
  machine.views[slotOf(position)] = View::whole(storage, storage.format, storage.shape);
  return llvm::Error::success();
}

/// The radii of a tensor's elements, of its own element type, in memory order.
static std::vector<double> collectRadii(const Storage &storage) {
  std::vector<double> radii(storage.physicalElements);
  int64_t granules = getBytes(storage.format) / storage.granuleBytes;
  for (int64_t element = 0; element < storage.physicalElements; ++element) {
    double radius = storage.radius[element * granules];
    radii[element] = radius < 0 ? kUndecided : radius; // written through a wider view
  }
  return radii;
}

static llvm::Expected<Result> runOrThrow(func::FuncOp function, llvm::ArrayRef<Argument> arguments,
                                         const Options &options) {
  llvm::Expected<Program> program = resolve(function, options);
  if (!program)
    return program.takeError();
  Machine machine(*program, options);
  if (llvm::Error error = Binder(function, arguments, machine).bind())
    return error;
  machine.run(program->bodies.front());

  Result result;
  result.findings = machine.findings.take();
  result.stopped = machine.stopped;
  result.steps = machine.steps;
  if (options.bounds)
    for (unsigned position = 0; position < arguments.size(); ++position)
      if (Value argument = function.getArgument(position);
          isa<MemRefType>(argument.getType()) && !argument.use_empty())
        result.radii.push_back(
            {position, collectRadii(*machine.views[program->argumentSlots[position]].storage)});
  return result;
}

llvm::Expected<Result> tilewright::interp::run(func::FuncOp function,
                                               llvm::ArrayRef<Argument> arguments,
                                               const Options &options) {
  try {
    return runOrThrow(function, arguments, options);
  } catch (const std::bad_alloc &) {
    return llvm::createStringError("the interpreter ran out of memory");
  } catch (const std::length_error &) {
    return llvm::createStringError("the interpreter ran out of memory");
  }
}
