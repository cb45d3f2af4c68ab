//===- Values.h - what a traced Python expression is --------------------------------*- C++ -*-===//
//
// While a kernel is traced, a Python name may hold a number (a Literal, which adopts the type of
// what it meets), a symbolic size (an IndexExpr, which belongs to no trace), or a run-time scalar:
// an SSA value with its element type, so that signedness is known. An Element is an address that is
// read where it is used; a Variable is a cell that can be assigned.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_VALUES_H
#define TILEWRIGHT_FRONTEND_VALUES_H

#include "tilewright/Layout/IndexExpr.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <exception>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tilewright::frontend {

/// A location in the user's file; `line` and `column` count from 1.
struct SourcePosition {
  std::string file;
  int64_t line = 0;
  int64_t column = 0;
};

/// A mistake in the user's program. `what()` is the message without its position.
class UserError : public std::exception {
public:
  /// What kind of mistake it is, for code that must tell them apart.
  enum class Reason {
    Program,  ///< Any mistake of the program.
    Number,   ///< Python needs a number that is only known when the kernel runs.
    Decision, ///< Python branches on a value that is only known when the kernel runs.
    Internal, ///< A mistake of ours.
  };
  struct Note {
    SourcePosition position;
    std::string text;
  };
  explicit UserError(std::string message, Reason reason = Reason::Program)
      : message(std::move(message)), reason(reason) {}
  const char *what() const noexcept override { return message.c_str(); }

  std::string message;
  Reason reason;
  std::optional<SourcePosition> position;
  std::vector<Note> notes;
};

/// A Python number.
struct Literal {
  enum class Kind { Bool, Int, Float } kind;
  int64_t integer = 0;
  bool isUnsigned64 = false; ///< `integer` holds the bits of a number above INT64_MAX.
  double real = 0;

  static Literal ofBool(bool value) { return {Kind::Bool, value, false, double(value)}; }
  static Literal ofInt(int64_t value) { return {Kind::Int, value, false, double(value)}; }
  static Literal ofUnsigned(uint64_t value) {
    return {Kind::Int, int64_t(value), value > uint64_t(INT64_MAX), double(value)};
  }
  static Literal ofFloat(double value) { return {Kind::Float, 0, false, value}; }
};

/// A run-time scalar: `dtype` is an element type or `index`.
struct Scalar {
  mlir::Value value;
  mlir::Type dtype;
  uint64_t traceId = 0;
};

/// An extent of a buffer: an expression of shape symbols, or a value of this trace.
using Extent = std::variant<IndexExpr, Scalar>;

/// A buffer or a rectangular region of one.
struct Buffer {
  mlir::Value value;
  mlir::Type dtype;
  std::vector<Extent> shape;
  bool isRegion = false;
  uint64_t traceId = 0;

  unsigned getRank() const { return shape.size(); }
  /// The extent as a number, if it is one.
  std::optional<int64_t> getStaticExtent(unsigned dim) const;
};

/// `buffer[i, j]`: read where it is used, written where it is assigned.
struct Element {
  Buffer buffer;
  std::vector<Scalar> indices; ///< All of dtype index.
};

/// A scalar variable: `T.alloc_var`, or a Python name that control flow assigns.
struct Variable {
  Buffer cell;
};

using Operand = std::variant<Literal, IndexExpr, Scalar, Element, Variable>;

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_VALUES_H
