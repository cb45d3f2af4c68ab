//===- BoundArguments.h - the checked arguments of a call ---------------------------*- C++ -*-===//
//
// What every engine takes. Binding checks the caller's tensors and numbers against the parameters
// (Runtime/Arguments.h) and finds the values of shape symbols. A kernel is called with equal shapes
// again and again: such a call copies the arguments of the one before and changes addresses and
// numbers, which needs no second check and no allocation.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_BOUNDARGUMENTS_H
#define TILEWRIGHT_DRIVER_BOUNDARGUMENTS_H

#include "tilewright/Runtime/Arguments.h"
#include "tilewright/Tile/CallFacts.h"

#include <memory>

namespace tilewright::driver {

/// What binding and the facts about calls need to know of a function, found once.
struct Signature {
  explicit Signature(mlir::func::FuncOp function);

  mlir::func::FuncOp function;
  rt::Signature form; ///< As the check of calls sees it.
};

class BoundArguments {
public:
  using Tensor = rt::Binding::Tensor;

  /// Checks `arguments`, one for each parameter. The error names the parameter.
  static llvm::Expected<BoundArguments> bind(std::shared_ptr<const Signature> signature,
                                             llvm::ArrayRef<runtime::CallArgument> arguments);

  /// Exchanges the data of a tensor for others of the same shape, dtype and device.
  void setData(unsigned position, uintptr_t address) { slots[position] = address; }
  /// Exchanges a number; it is checked as `bind` does.
  llvm::Error setNumber(unsigned position, const runtime::CallArgument &number);

  const Signature &getSignature() const { return *form->signature; }
  /// One for each argument of the function: the address of a tensor, the bits of a number.
  llvm::ArrayRef<uint64_t> getSlots() const { return slots; }
  /// The same as signed numbers, for formulas of the function's integer arguments.
  llvm::ArrayRef<int64_t> getNumbers() const {
    return {reinterpret_cast<const int64_t *>(slots.data()), slots.size()};
  }
  llvm::ArrayRef<Tensor> getTensors() const { return form->tensors; }
  /// The same as a launch on a GPU takes it.
  rt::Binding getBinding() const;
  /// Tensors with their shapes, and numbers; one for each argument of the function.
  std::vector<runtime::BoundArgument> getArguments() const;

  /// Whether a tensor that is written shares bytes with another one.
  bool haveOverlap() const;
  /// What code for this call may rely on, alignment aside: that is a question of where the tensors
  /// lie when the code runs.
  CallFacts getFacts() const;

private:
  /// What calls with equal shapes have in common.
  struct Form {
    std::shared_ptr<const Signature> signature;
    std::vector<runtime::BoundArgument> arguments; ///< With the data and numbers of the first call.
    llvm::SmallVector<Tensor, 8> tensors;
  };
  explicit BoundArguments(std::shared_ptr<const Form> form);

  std::shared_ptr<const Form> form;
  llvm::SmallVector<uint64_t, 12> slots;
};

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_BOUNDARGUMENTS_H
