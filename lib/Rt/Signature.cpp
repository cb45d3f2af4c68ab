//===- Signature.cpp - what a caller may pass, and the check of a call ------------------------===//

#include "tilewright/Rt/Signature.h"
#include "tilewright/Support/IndexMath.h"
#include "tilewright/Support/Limits.h"

#include <algorithm>
#include <bit>

namespace tilewright::rt {

static std::string list(std::span<const int64_t> values) {
  std::string text = "(";
  for (size_t position = 0; position < values.size(); ++position)
    text += (position ? ", " : "") + std::to_string(values[position]);
  return text + (values.size() == 1 ? ",)" : ")");
}

static Failure refuse(const Parameter &parameter, const std::string &message) {
  return {"parameter '" + parameter.name + "': " + message};
}

static bool isEmpty(const Argument &tensor) {
  return std::ranges::find(tensor.shape, 0) != tensor.shape.end();
}

/// One call. Its working memory is the binding's.
class Binder {
public:
  Binder(const Signature &signature, std::span<const Argument> arguments, Binding &binding)
      : signature(signature), arguments(arguments), binding(binding) {}

  MaybeFailure run();

private:
  MaybeFailure bindTensor(unsigned position);
  MaybeFailure bindSymbols(unsigned position);
  MaybeFailure bindSymbols(unsigned position, std::span<const Extent> formulas,
                           std::span<const int64_t> values, const char *what);
  void solveSymbols(unsigned position);
  MaybeFailure bindSymbolArguments();
  MaybeFailure checkExtents(unsigned position) const;
  MaybeFailure checkStrides(unsigned position) const;
  MaybeFailure checkLayout(unsigned position) const;
  MaybeFailure checkWritable(unsigned position) const;
  bool setSymbol(unsigned symbol, int64_t value, unsigned position, const char *what, unsigned dim);
  std::string describeSource(unsigned symbol) const;
  bool isUsedTensor(unsigned position) const {
    return arguments[position].kind == Argument::Kind::Tensor &&
           signature.parameters[position].isUsed;
  }
  template <typename F> MaybeFailure forUsedTensors(F check) {
    for (unsigned position = 0; position < arguments.size(); ++position)
      if (isUsedTensor(position))
        if (MaybeFailure failure = check(position))
          return failure;
    return std::nullopt;
  }

  const Signature &signature;
  std::span<const Argument> arguments;
  Binding &binding;
};

//===----------------------------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------------------------===//

/// Gives a symbol its value, if it has none yet; false if it has.
bool Binder::setSymbol(unsigned symbol, int64_t value, unsigned position, const char *what,
                       unsigned dim) {
  if (binding.isFound[symbol])
    return false;
  binding.isFound[symbol] = true;
  binding.symbols[symbol] = value;
  binding.fromWhat[symbol] = what;
  binding.from[symbol] = {position, dim};
  return true;
}

/// `'A' dimension 0`.
std::string Binder::describeSource(unsigned symbol) const {
  auto [position, dim] = binding.from[symbol];
  return "'" + signature.parameters[position].name + "' " + binding.fromWhat[symbol] + " " +
         std::to_string(dim);
}

/// Symbols that are a whole extent or stride take its value; a second value must be the same.
MaybeFailure Binder::bindSymbols(unsigned position, std::span<const Extent> formulas,
                                 std::span<const int64_t> values, const char *what) {
  const Parameter &parameter = signature.parameters[position];
  // Nothing of a tensor that the kernel does not use is checked: it may be left out or not fit.
  if (formulas.size() != values.size())
    return std::nullopt;
  bool isStride = std::string_view(what) == "stride";
  for (unsigned dim = 0; dim < formulas.size(); ++dim) {
    const Extent &extent = formulas[dim];
    if (!extent.isSymbol())
      continue;
    int64_t value = values[dim];
    auto place = [&] { return std::string(what) + " " + std::to_string(dim) + ": "; };
    if (!isStride && value > kLargestExtent)
      return refuse(parameter, place() + std::to_string(value) +
                                   " elements are more than a run-time extent can have (2^40)");
    if (setSymbol(extent.symbol, value, position, what, dim))
      continue;
    // The stride of one element is nothing.
    bool isFree = isStride && arguments[position].shape[dim] <= 1;
    int64_t known = binding.symbols[extent.symbol];
    if (known != value && parameter.isUsed && !isFree)
      return refuse(parameter, place() + "expected " + signature.symbols[extent.symbol].name +
                                   " = " + std::to_string(known) + " (from " +
                                   describeSource(extent.symbol) + "), got " +
                                   std::to_string(value) + " in " +
                                   (isStride ? "strides " : "shape ") + list(values));
  }
  return std::nullopt;
}

MaybeFailure Binder::bindSymbols(unsigned position) {
  const Parameter &parameter = signature.parameters[position];
  const Argument &tensor = arguments[position];
  if (MaybeFailure failure = bindSymbols(position, parameter.extents, tensor.shape, "dimension"))
    return failure;
  return bindSymbols(position, parameter.strides, tensor.strides, "stride");
}

/// The symbol of a formula such as `n + 1` or `n // 2`, where the formula has this value.
static std::optional<int64_t> solve(const Extent &extent, int64_t value) {
  std::optional<int64_t> rest = extent.factor ? checkedSub(value, extent.constant) : std::nullopt;
  if (!rest || (extent.factor == -1 && *rest == INT64_MIN) || *rest % extent.factor != 0 ||
      *rest / extent.factor < 0)
    return std::nullopt; // checkExtents says what does not fit
  return checkedMul(*rest / extent.factor, extent.divisor);
}

/// Symbols that no whole extent gives take their value from a formula such as `n + 1`.
void Binder::solveSymbols(unsigned position) {
  const Parameter &parameter = signature.parameters[position];
  const Argument &tensor = arguments[position];
  if (parameter.extents.size() != tensor.shape.size())
    return;
  for (unsigned dim = 0; dim < tensor.shape.size(); ++dim) {
    const Extent &extent = parameter.extents[dim];
    if (std::optional<int64_t> value = solve(extent, tensor.shape[dim]))
      setSymbol(extent.symbol, *value, position, "dimension", dim);
  }
  for (unsigned dim = 0; dim < std::min(parameter.strides.size(), tensor.strides.size()); ++dim)
    if (std::optional<int64_t> value = solve(parameter.strides[dim], tensor.strides[dim]))
      setSymbol(parameter.strides[dim].symbol, *value, position, "stride", dim);
}

MaybeFailure Binder::bindSymbolArguments() {
  for (unsigned symbol = 0; symbol < signature.numSymbolArguments; ++symbol) {
    if (!binding.isFound[symbol] && signature.symbols[symbol].isUsed)
      return Failure{"the shape symbol '" + signature.symbols[symbol].name +
                     "' has no value: the kernel uses it, and the tensors that would give it are "
                     "None"};
    binding.slots[signature.parameters.size() + symbol] = uint64_t(binding.symbols[symbol]);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------------------------===//

MaybeFailure Binder::bindTensor(unsigned position) {
  const Parameter &parameter = signature.parameters[position];
  const Argument &tensor = arguments[position];
  if (!parameter.isTensor)
    return refuse(parameter, "expected a number, got a tensor of shape " + list(tensor.shape));
  if (!parameter.isUsed) { // no memory is needed for it
    binding.tensors.push_back({position, 0, parameter.elementBytes, false, tensor.isOnGpu});
    return std::nullopt;
  }
  if (tensor.isLeftOut())
    return refuse(parameter, "the kernel uses it, expected a tensor, got None");
  // Storage of tfloat32 is float32.
  if (tensor.dtype != parameter.dtype &&
      !(parameter.dtype == "tfloat32" && tensor.dtype == "float32"))
    return refuse(parameter,
                  "expected dtype " + parameter.dtype + ", got " + std::string(tensor.dtype));
  size_t rank = parameter.extents.size();
  if (tensor.shape.size() != rank)
    return refuse(parameter, "expected rank " + std::to_string(rank) + ", shape " +
                                 parameter.shapeText + ", got rank " +
                                 std::to_string(tensor.shape.size()) + ", shape " +
                                 list(tensor.shape));
  // An array without elements, and a dimension of extent 1, may have any stride.
  bool hasNothing = isEmpty(tensor);
  int64_t elements = 1;
  for (size_t dim = rank; dim-- > 0 && !hasNothing;) {
    if (tensor.shape[dim] < 0)
      return refuse(parameter, "a tensor has no extents below 0, got shape " + list(tensor.shape));
    if (!tensor.strides.empty() && tensor.shape[dim] != 1 && tensor.strides[dim] != elements &&
        !tensor.isPacked)
      return refuse(parameter, "expected a contiguous (row-major) tensor, got strides " +
                                   list(tensor.strides) + " for shape " + list(tensor.shape) +
                                   "; pass a contiguous copy");
    std::optional<int64_t> more = checkedMul(elements, tensor.shape[dim]);
    if (!more || !checkedMul(*more, parameter.elementBytes))
      return refuse(parameter, "no memory holds a tensor of shape " + list(tensor.shape));
    elements = *more;
  }
  if (!tensor.data && !hasNothing)
    return refuse(parameter, "the tensor has no data");
  binding.slots[position] = reinterpret_cast<uintptr_t>(tensor.data);
  binding.tensors.push_back({position, hasNothing ? 0 : elements * parameter.elementBytes,
                             parameter.elementBytes, parameter.isWritten, tensor.isOnGpu});
  return std::nullopt;
}

MaybeFailure Binder::checkExtents(unsigned position) const {
  const Parameter &parameter = signature.parameters[position];
  std::span<const int64_t> shape = arguments[position].shape;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    const Extent &extent = parameter.extents[dim];
    if (!extent.isKnown)
      continue;
    std::optional<int64_t> expected = extent.formula.evaluate({}, binding.symbols);
    if (!expected)
      return refuse(parameter, "dimension " + std::to_string(dim) + " is too large to compute");
    if (shape[dim] != *expected)
      return refuse(parameter, "expected shape " + parameter.shapeText + ", got " + list(shape) +
                                   " (dimension " + std::to_string(dim) + " should be " +
                                   std::to_string(*expected) + ")");
  }
  return std::nullopt;
}

/// The strides of a tensor that is declared with some.
MaybeFailure Binder::checkStrides(unsigned position) const {
  const Parameter &parameter = signature.parameters[position];
  const Argument &tensor = arguments[position];
  if (parameter.strides.empty() || tensor.strides.empty() || isEmpty(tensor))
    return std::nullopt;
  for (unsigned dim = 0; dim < parameter.strides.size(); ++dim) {
    std::optional<int64_t> expected = parameter.strides[dim].formula.evaluate({}, binding.symbols);
    if (tensor.shape[dim] != 1 && expected != tensor.strides[dim])
      return refuse(parameter, "stride " + std::to_string(dim) + ": expected " +
                                   (expected ? std::to_string(*expected) : "a number of 64 bits") +
                                   ", got " + std::to_string(tensor.strides[dim]) + " in strides " +
                                   list(tensor.strides) + " for shape " + list(tensor.shape));
  }
  return std::nullopt;
}

/// A layout annotated on a tensor may reach positions that the array does not have.
MaybeFailure Binder::checkLayout(unsigned position) const {
  const Parameter &parameter = signature.parameters[position];
  const Argument &tensor = arguments[position];
  if (!parameter.positions || isEmpty(tensor))
    return std::nullopt;
  int64_t elements = 1;
  for (int64_t extent : tensor.shape)
    elements *= extent;
  std::optional<int64_t> positions = parameter.positions->evaluate(tensor.shape);
  if (!positions || *positions <= elements)
    return std::nullopt;
  return refuse(parameter, "its layout " + parameter.layoutText + " needs " +
                               std::to_string(*positions) + " elements, the tensor has " +
                               std::to_string(elements));
}

/// A tensor that the function may write needs memory that can be written.
MaybeFailure Binder::checkWritable(unsigned position) const {
  const Parameter &parameter = signature.parameters[position];
  if (arguments[position].isWritable || !parameter.isWritten)
    return std::nullopt;
  return refuse(parameter, "the kernel writes it, got a read-only tensor; pass a writable copy");
}

//===----------------------------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------------------------===//

MaybeFailure Binder::run() {
  size_t numParameters = signature.parameters.size(), numSymbols = signature.symbols.size();
  if (arguments.size() != numParameters) {
    std::string names;
    for (const Parameter &parameter : signature.parameters)
      names += (names.empty() ? "" : ", ") + parameter.name;
    return Failure{"'" + signature.name + "' takes " + std::to_string(numParameters) +
                   " arguments (" + names + "), got " + std::to_string(arguments.size())};
  }
  binding.slots.assign(signature.getNumArguments(), 0);
  binding.tensors.clear();
  binding.symbols.assign(numSymbols, 0);
  binding.isFound.assign(numSymbols, false);
  binding.fromWhat.assign(numSymbols, nullptr);
  binding.from.resize(numSymbols);
  for (unsigned position = 0; position < numParameters; ++position) {
    if (arguments[position].kind == Argument::Kind::Tensor) {
      if (MaybeFailure failure = bindTensor(position))
        return failure;
      continue;
    }
    Result<uint64_t> slot = bindNumber(signature.parameters[position], arguments[position]);
    if (!slot)
      return slot.takeFailure();
    binding.slots[position] = *slot;
  }
  if (numSymbols)
    for (bool used : {true, false}) // a tensor that is used says what a symbol is
      for (unsigned position = 0; position < numParameters; ++position)
        if (arguments[position].kind == Argument::Kind::Tensor &&
            signature.parameters[position].isUsed == used)
          if (MaybeFailure failure = bindSymbols(position))
            return failure;
  auto check = [&](unsigned position) -> MaybeFailure {
    if (MaybeFailure failure = checkExtents(position))
      return failure;
    return checkStrides(position);
  };
  if (numSymbols)
    for (bool used : {true, false})
      for (unsigned position = 0; position < numParameters; ++position)
        if (arguments[position].kind == Argument::Kind::Tensor &&
            signature.parameters[position].isUsed == used)
          solveSymbols(position);
  if (MaybeFailure failure = forUsedTensors(check))
    return failure;
  if (MaybeFailure failure = bindSymbolArguments())
    return failure;
  if (MaybeFailure failure =
          forUsedTensors([&](unsigned position) { return checkLayout(position); }))
    return failure;
  return forUsedTensors([&](unsigned position) { return checkWritable(position); });
}

MaybeFailure bindArguments(const Signature &signature, std::span<const Argument> arguments,
                           Binding &binding) {
  return Binder(signature, arguments, binding).run();
}

/// Whether a number is one of the type.
static bool fits(const Parameter &parameter, const Argument &number) {
  bool isWide = number.kind == Argument::Kind::Unsigned;
  int64_t value = number.integer;
  unsigned bits = parameter.bits;
  switch (parameter.numberClass) {
  case NumberClass::Float:
    return true;
  case NumberClass::Bool:
    return value == 0 || value == 1;
  case NumberClass::Unsigned:
    return (isWide || value >= 0) && (bits >= 64 || uint64_t(value) >> bits == 0);
  case NumberClass::Signed:
    return !isWide && (bits >= 64 ||
                       (value >= -(int64_t(1) << (bits - 1)) && value < int64_t(1) << (bits - 1)));
  }
  return false;
}

Result<uint64_t> bindNumber(const Parameter &parameter, const Argument &argument) {
  using Kind = Argument::Kind;
  if (parameter.isTensor)
    return refuse(parameter,
                  "expected a tensor of shape " + parameter.shapeText + ", got a number");
  if (parameter.numberClass == NumberClass::Float) {
    double value = argument.kind == Kind::Real       ? argument.real
                   : argument.kind == Kind::Unsigned ? double(uint64_t(argument.integer))
                                                     : double(argument.integer);
    return std::bit_cast<uint64_t>(value);
  }
  if (argument.kind == Kind::Real)
    return refuse(parameter, "expected " + parameter.dtype + ", got a float");
  if (!fits(parameter, argument))
    return refuse(parameter,
                  "the number " +
                      (argument.kind == Kind::Unsigned ? std::to_string(uint64_t(argument.integer))
                                                       : std::to_string(argument.integer)) +
                      " does not fit " + parameter.dtype);
  return uint64_t(argument.integer);
}

MaybeFailure checkAlignment(const Signature &signature, std::span<const Binding::Tensor> tensors,
                            std::span<const uint64_t> slots) {
  for (const Binding::Tensor &tensor : tensors)
    if (tensor.bytes && slots[tensor.position] % tensor.elementBytes)
      return refuse(signature.parameters[tensor.position], "its data is not aligned to the " +
                                                               std::to_string(tensor.elementBytes) +
                                                               " bytes of an element; pass a copy");
  return std::nullopt;
}

bool haveOverlap(std::span<const Binding::Tensor> tensors, std::span<const uint64_t> slots) {
  for (const Binding::Tensor &tensor : tensors) {
    if (!tensor.isWritten)
      continue;
    uint64_t begin = slots[tensor.position], end = begin + tensor.bytes;
    for (const Binding::Tensor &other : tensors)
      if (&other != &tensor && begin < slots[other.position] + other.bytes &&
          slots[other.position] < end)
        return true;
  }
  return false;
}

} // namespace tilewright::rt
