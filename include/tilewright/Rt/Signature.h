//===- Signature.h - what a caller may pass, and the check of a call ----------------*- C++ -*-===//
//
// The only code that compares a call with a function's parameters: count, kind, dtype, rank, shape,
// strides, layout size. It finds the values of shape symbols from the tensors. Every message names
// the parameter, what was expected and what came. Calls from Python and of exported libraries come
// here alike: a Signature says of a function what the check needs, without its IR
// (Runtime/Arguments.h makes one from IR, Rt/Image.h reads one from a library).
//
// Nothing is allocated for a call that is right, once a Binding has been used.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RT_SIGNATURE_H
#define TILEWRIGHT_RT_SIGNATURE_H

#include "tilewright/Rt/Formula.h"
#include "tilewright/Support/Result.h"

#include <string>
#include <string_view>

namespace tilewright::rt {

/// One extent or stride of a tensor, as a formula of the function's symbols.
struct Extent {
  Formula formula;
  std::string text; ///< As the user declared it.
  /// `factor * (symbol // divisor) + constant`, if it is that: a tensor that is given tells the
  /// symbol, a multiple of the divisor. Factor 0 if it is not.
  unsigned symbol = 0;
  int64_t factor = 0, constant = 0, divisor = 1;
  bool isKnown = true; ///< Else nothing is checked.

  /// The extent is the symbol itself.
  bool isSymbol() const { return factor == 1 && constant == 0 && divisor == 1; }
};

/// What a number or an element is.
enum class NumberClass : uint8_t { Float, Signed, Unsigned, Bool };

struct Parameter {
  std::string name;
  std::string dtype; ///< The language's name.
  NumberClass numberClass = NumberClass::Float;
  unsigned bits = 0;         ///< Of the number or an element, in computations.
  unsigned elementBytes = 0; ///< In memory.
  bool isTensor = false;
  bool isUsed = true;    ///< Else it may be left out, or not fit.
  bool isWritten = true; ///< Some statement may write or update it.

  // Of a tensor.
  std::vector<Extent> extents;
  std::string shapeText;       ///< `(n, 128)`
  std::vector<Extent> strides; ///< Empty if it is declared without.
  /// How many elements of memory its layout spans, as a formula whose dims are the extents of the
  /// tensor, and the layout in words; none without a layout.
  std::optional<Formula> positions;
  std::string layoutText;
};

/// A symbol of shapes; its value is an argument of the function, after the parameters.
struct Symbol {
  std::string name;
  bool isUsed = true;
  /// Whether its divisibility can widen an access: it is part of a stride, or the extent of the
  /// dimension in which memory runs.
  bool isStride = false;
};

struct Signature {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Symbol> symbols; ///< Those that are arguments, in their order, come first.
  unsigned numSymbolArguments = 0;

  size_t getNumArguments() const { return parameters.size() + numSymbolArguments; }
};

/// What a caller passes for one parameter. The memory that it points to is the caller's.
struct Argument {
  enum class Kind : uint8_t { Tensor, Bool, Signed, Unsigned, Real };
  Kind kind = Kind::Tensor;
  // Of a tensor.
  bool isWritable = true;
  bool isOnGpu = false; ///< The data lie in memory of a GPU.
  bool isPacked =
      false; ///< The data are a dense copy; the strides are those of the caller's tensor.
  void *data = nullptr;
  std::span<const int64_t> shape;
  /// They count elements; no strides at all are those of a dense tensor.
  std::span<const int64_t> strides;
  std::string_view dtype; ///< The language's name; empty for a tensor that is left out.
  // Of a number.
  int64_t integer = 0; ///< Also the bits of an unsigned one, and 0 or 1.
  double real = 0;

  static Argument makeInteger(Kind kind, int64_t value) {
    Argument argument;
    argument.kind = kind;
    argument.integer = value;
    return argument;
  }
  static Argument makeReal(double value) {
    Argument argument;
    argument.kind = Kind::Real;
    argument.real = value;
    return argument;
  }
  bool isLeftOut() const { return !data && shape.empty() && dtype.empty(); }
};

/// The arguments of a call after the check.
struct Binding {
  struct Tensor {
    unsigned position;
    int64_t bytes; ///< What it occupies; 0 for one that is not used.
    unsigned elementBytes;
    bool isWritten, isOnGpu;
  };
  /// One for each argument of the function: the address of a tensor, the bits of an integer or of
  /// a double.
  std::vector<uint64_t> slots;
  std::vector<Tensor> tensors;
  std::vector<int64_t> symbols; ///< Their values.

  /// The same as signed numbers, for formulas of the function's integer arguments.
  std::span<const int64_t> getNumbers() const {
    return {reinterpret_cast<const int64_t *>(slots.data()), slots.size()};
  }

private:
  friend class Binder;
  std::vector<bool> isFound;          ///< One for each symbol,
  std::vector<const char *> fromWhat; ///< and where its value is from: "dimension" or "stride"
  std::vector<std::pair<unsigned, unsigned>> from; ///< its parameter, and its dimension.
};

/// Checks `arguments`, one for each parameter, and finds the values of the symbols.
MaybeFailure bindArguments(const Signature &signature, std::span<const Argument> arguments,
                           Binding &binding);

/// Checks one parameter that is a number: its slot.
Result<uint64_t> bindNumber(const Parameter &parameter, const Argument &argument);

/// Elements must lie at multiples of their size; more is not assumed.
MaybeFailure checkAlignment(const Signature &signature, std::span<const Binding::Tensor> tensors,
                            std::span<const uint64_t> slots);

/// Whether a tensor that is written shares bytes with another one.
bool haveOverlap(std::span<const Binding::Tensor> tensors, std::span<const uint64_t> slots);

} // namespace tilewright::rt

#endif // TILEWRIGHT_RT_SIGNATURE_H
