//===- BoundArguments.cpp - the checked arguments of a call -----------------------------------===//

#include "tilewright/Driver/BoundArguments.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Driver/Launches.h"
#include "tilewright/Tile/Tile.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using tilewright::runtime::BoundArgument;
using tilewright::runtime::BoundTensor;
using tilewright::runtime::CallArgument;

namespace tilewright::driver {

//===----------------------------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------------------------===//

SmallVector<bool> findWritten(func::FuncOp function) {
  SmallVector<bool> written(function.getNumArguments(), false);
  std::optional<SmallVector<tile::Effect>> effects = tile::getEffects(function);
  if (!effects)
    return SmallVector<bool>(function.getNumArguments(), true);
  for (const tile::Effect &effect : *effects)
    if (auto argument = dyn_cast<BlockArgument>(effect.root))
      if (effect.kind != tile::EffectKind::Read && argument.getOwner() == &function.front())
        written[argument.getArgNumber()] = true;
  return written;
}

static llvm::StringSet<> findStrideSymbols(func::FuncOp function) {
  llvm::StringSet<> names;
  for (unsigned position = 0; position < function.getNumArguments(); ++position)
    if (auto shape = function.getArgAttrOfType<tile::ShapeAttr>(position, tile::kShapeAttr)) {
      ArrayRef<IndexExpr> extents = shape.getExtents();
      SmallVector<unsigned> symbols;
      for (const IndexExpr &extent : extents.size() > 1 ? extents.drop_front() : extents)
        analysis::collectSymbols(extent, symbols);
      for (unsigned symbol : symbols)
        names.insert(shape.getSymbols()[symbol].getValue());
    }
  return names;
}

Signature::Signature(func::FuncOp function)
    : function(function), isWritten(findWritten(function)),
      strideSymbols(findStrideSymbols(function)) {}

//===----------------------------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------------------------===//

/// An argument as compiled code of the host takes it.
static uint64_t toSlot(const BoundArgument &argument) {
  if (auto *tensor = std::get_if<BoundTensor>(&argument))
    return reinterpret_cast<uintptr_t>(tensor->data);
  if (auto *integer = std::get_if<int64_t>(&argument))
    return static_cast<uint64_t>(*integer);
  return llvm::bit_cast<uint64_t>(std::get<double>(argument));
}

/// The argument `like` with the data or number of a slot.
static BoundArgument fromSlot(const BoundArgument &like, uint64_t slot) {
  if (auto *tensor = std::get_if<BoundTensor>(&like)) {
    BoundTensor other = *tensor;
    other.data = reinterpret_cast<void *>(slot);
    return other;
  }
  if (std::holds_alternative<int64_t>(like))
    return static_cast<int64_t>(slot);
  return llvm::bit_cast<double>(slot);
}

BoundArguments::BoundArguments(std::shared_ptr<const Form> form) : form(std::move(form)) {
  for (const BoundArgument &argument : this->form->arguments)
    slots.push_back(toSlot(argument));
}

llvm::Expected<BoundArguments> BoundArguments::bind(std::shared_ptr<const Signature> signature,
                                                    ArrayRef<CallArgument> arguments) {
  auto bound = runtime::bindArguments(signature->function, arguments);
  if (!bound)
    return bound.takeError();
  auto form = std::make_shared<Form>();
  for (auto [position, argument] : llvm::enumerate(*bound))
    if (auto *tensor = std::get_if<BoundTensor>(&argument))
      form->tensors.push_back({unsigned(position), getBytes(*tensor),
                               tile::getStorageBytes(tensor->elementType),
                               signature->isWritten[position]});
  form->arguments = std::move(*bound);
  form->signature = std::move(signature);
  return BoundArguments(std::move(form));
}

llvm::Error BoundArguments::setNumber(unsigned position, const CallArgument &number) {
  auto bound = runtime::bindScalar(getSignature().function, position, number);
  if (!bound)
    return bound.takeError();
  slots[position] = toSlot(*bound);
  return llvm::Error::success();
}

std::vector<BoundArgument> BoundArguments::getArguments() const {
  std::vector<BoundArgument> arguments;
  for (auto [like, slot] : llvm::zip_equal(form->arguments, slots))
    arguments.push_back(fromSlot(like, slot));
  return arguments;
}

//===----------------------------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------------------------===//

bool BoundArguments::haveOverlap() const {
  ArrayRef<Tensor> tensors = getTensors();
  for (const Tensor &tensor : tensors) {
    if (!tensor.isWritten)
      continue;
    uint64_t begin = slots[tensor.position], end = begin + tensor.bytes;
    for (const Tensor &other : tensors)
      if (&other != &tensor && begin < slots[other.position] + other.bytes &&
          slots[other.position] < end)
        return true;
  }
  return false;
}

CallFacts BoundArguments::getFacts() const {
  CallFacts facts;
  facts.disjointArguments = !haveOverlap();
  const Signature &signature = getSignature();
  func::FuncOp function = signature.function;
  for (auto [position, slot] : llvm::enumerate(slots)) {
    auto symbol = function.getArgAttrOfType<StringAttr>(position, tile::kSymbolAttr);
    if (symbol && signature.strideSymbols.contains(symbol.getValue()) &&
        int64_t(slot) % CallFacts::kDivisor == 0)
      facts.divisibleSymbols.push_back(symbol.str());
  }
  return facts;
}

} // namespace tilewright::driver
