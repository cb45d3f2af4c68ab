//===- BoundArguments.cpp - the checked arguments of a call -----------------------------------===//

#include "tilewright/Driver/BoundArguments.h"
#include "tilewright/Driver/Launches.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using tilewright::runtime::BoundArgument;
using tilewright::runtime::BoundTensor;
using tilewright::runtime::CallArgument;

namespace tilewright::driver {

//===----------------------------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------------------------===//

Signature::Signature(func::FuncOp function)
    : function(function), form(runtime::describeSignature(function)) {}

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
  auto bound = runtime::bindArguments(signature->function, signature->form, arguments);
  if (!bound)
    return bound.takeError();
  auto form = std::make_shared<Form>();
  for (auto [position, argument] : llvm::enumerate(*bound))
    if (auto *tensor = std::get_if<BoundTensor>(&argument)) {
      const rt::Parameter &parameter = signature->form.parameters[position];
      form->tensors.push_back({unsigned(position), parameter.isUsed ? getBytes(*tensor) : 0,
                               parameter.elementBytes, parameter.isUsed && parameter.isWritten,
                               tensor->isOnGpu});
    }
  form->arguments = std::move(*bound);
  form->signature = std::move(signature);
  return BoundArguments(std::move(form));
}

llvm::Error BoundArguments::setNumber(unsigned position, const CallArgument &number) {
  auto bound = runtime::bindScalar(getSignature().form.parameters[position], number);
  if (!bound)
    return bound.takeError();
  slots[position] = toSlot(*bound);
  return llvm::Error::success();
}

rt::Binding BoundArguments::getBinding() const {
  rt::Binding binding;
  binding.slots.assign(slots.begin(), slots.end());
  binding.tensors.assign(getTensors().begin(), getTensors().end());
  ArrayRef<int64_t> symbols = getNumbers().drop_front(getSignature().form.parameters.size());
  binding.symbols.assign(symbols.begin(), symbols.end());
  return binding;
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

bool BoundArguments::haveOverlap() const { return rt::haveOverlap(getTensors(), slots); }

CallFacts BoundArguments::getFacts() const {
  CallFacts facts;
  facts.disjointArguments = !haveOverlap();
  const rt::Signature &signature = getSignature().form;
  for (unsigned symbol = 0; symbol < signature.numSymbolArguments; ++symbol)
    if (signature.symbols[symbol].isStride &&
        int64_t(slots[signature.parameters.size() + symbol]) % CallFacts::kDivisor == 0)
      facts.divisibleSymbols.push_back(signature.symbols[symbol].name);
  return facts;
}

} // namespace tilewright::driver
