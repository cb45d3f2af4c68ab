//===- KnownCalls.h - calls like one that was checked before ------------------------*- C++ -*-===//
//
// A kernel is called with the same shapes again and again. What was checked once of an argument
// (its dtype, shape, strides, whether it can be written) is compared with the next call's argument
// directly, in well under a microsecond for each; only its address is new.
//
// Sound because all that `bindArguments` looks at is compared: the type of the object, the identity
// of its dtype (held, so that it stays the same object), every extent, that it is contiguous, and
// that it is as writable as the one before. Numbers are checked anew each time.
//
// Tensors of a GPU are torch's, or say of themselves where they are (`__cuda_array_interface__`). A call with such
// runs on the stream of the first one.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PYTHON_BINDINGS_KNOWNCALLS_H
#define TILEWRIGHT_PYTHON_BINDINGS_KNOWNCALLS_H

#include "Bindings.h"

namespace tilewright::bindings {

/// What is remembered of one argument.
class KnownArgument {
public:
  /// Of an object that the checks accepted for a tensor or a number; nothing if its kind is not one
  /// that can be read quickly.
  static std::optional<KnownArgument> ofTensor(nb::handle object);
  static std::optional<KnownArgument> ofNumber(nb::handle object);
  /// Of a parameter that the call allocates by calling `make`.
  static KnownArgument output(nb::object make);

  bool isOutput() const { return kind == Kind::Output; }
  bool isOnGpu() const { return kind == Kind::GpuArray || kind == Kind::GpuTensor; }
  bool isNumber() const { return kind == Kind::Number; }
  nb::object makeOutput() const {
    return runPython([&] { return nb::object(make()); });
  }

  /// The address of `object`'s data if it is as the one that was checked.
  std::optional<uintptr_t> match(nb::handle object) const;
  /// The stream on which a kernel waits for this object, which is on a GPU: torch's current one, or that which the
  /// object names. Nothing if it does not say.
  std::optional<uintptr_t> findStream(nb::handle object) const;

private:
  enum class Kind { Array, Tensor, Number, Output, GpuArray, GpuTensor };

  static std::optional<KnownArgument> ofGpuArray(nb::handle object, nb::dict interface);
  std::optional<uintptr_t> matchGpuArray(nb::handle object) const;

  Kind kind;
  PyTypeObject *type = nullptr;
  nb::object dtype, make;
  llvm::SmallVector<int64_t, 6> shape;
  bool isWritable = true;
  int itemBytes = 0; ///< Of an array, whose class may have a dtype of its own.
  int device = 0;    ///< Of torch's tensor on a GPU.
};

/// Keeps the arrays among a call's arguments from being resized while other threads run: numpy refuses
/// to resize an array that has a weak reference, whatever else it is told.
class PinnedArrays {
public:
  template <typename SequenceT> explicit PinnedArrays(const SequenceT &arguments) {
    for (nb::handle argument : arguments)
      pin(argument);
  }

private:
  void pin(nb::handle object);
  llvm::SmallVector<nb::object, 8> references;
};

/// Calls that went well: the last few of them, the latest first.
class KnownCalls {
public:
  /// `values` are the caller's objects in parameter order, `makers` a function for each that the
  /// call allocated, else None.
  void remember(driver::BoundArguments bound, nb::list values, nb::list makers);
  /// The bound arguments of a call like `arguments` (the parameters that are not outputs), with
  /// outputs made for it, and the stream of a GPU that it runs on (0: the default one); nothing if there was none
  /// like it.
  std::optional<driver::BoundArguments> find(nb::tuple arguments, nb::list &outputs,
                                             uintptr_t &stream);

private:
  struct Call {
    std::vector<KnownArgument> arguments; ///< One a parameter.
    driver::BoundArguments bound;
  };
  /// The stream is null until a tensor tells one.
  using Stream = std::optional<uintptr_t>;
  static std::optional<driver::BoundArguments> match(const Call &known, nb::tuple arguments,
                                                     Stream &stream);
  static bool makeOutputs(const Call &known, driver::BoundArguments &bound, nb::list &outputs,
                          Stream &stream);

  std::vector<Call> calls;
};

} // namespace tilewright::bindings

#endif // TILEWRIGHT_PYTHON_BINDINGS_KNOWNCALLS_H
