//===- Values.cpp - Expr, Element, Var, IndexExpr and Buffer in Python -----------------------===//

#include "Bindings.h"
#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Layout/Notation.h"

using namespace tilewright;
using namespace tilewright::bindings;

namespace {

nb::object notImplemented() { return nb::borrow(Py_NotImplemented); }

nb::object traceBinary(BinaryKind kind, const Operand &self, nb::handle other, bool reflected) {
  std::optional<Operand> operand = tryOperand(other);
  if (!operand)
    return nb::isinstance<Buffer>(other) ? (toOperand(other, "expression"), nb::none())
                                         : notImplemented();
  Trace &trace = Trace::current();
  return nb::cast(reflected ? trace.arithmetic.binary(kind, *operand, self)
                            : trace.arithmetic.binary(kind, self, *operand));
}

struct Operator {
  const char *name;
  const char *reflectedName; // null: none
  BinaryKind kind;
};
constexpr Operator kOperators[] = {
    {"__add__", "__radd__", BinaryKind::Add},
    {"__sub__", "__rsub__", BinaryKind::Sub},
    {"__mul__", "__rmul__", BinaryKind::Mul},
    {"__truediv__", "__rtruediv__", BinaryKind::Div},
    {"__floordiv__", "__rfloordiv__", BinaryKind::FloorDiv},
    {"__mod__", "__rmod__", BinaryKind::FloorMod},
    {"__pow__", "__rpow__", BinaryKind::Pow},
    {"__lshift__", "__rlshift__", BinaryKind::Shl},
    {"__rshift__", "__rrshift__", BinaryKind::Shr},
    {"__and__", "__rand__", BinaryKind::And},
    {"__or__", "__ror__", BinaryKind::Or},
    {"__xor__", "__rxor__", BinaryKind::Xor},
    {"__lt__", nullptr, BinaryKind::Lt},
    {"__le__", nullptr, BinaryKind::Le},
    {"__gt__", nullptr, BinaryKind::Gt},
    {"__ge__", nullptr, BinaryKind::Ge},
    {"__eq__", nullptr, BinaryKind::Eq},
    {"__ne__", nullptr, BinaryKind::Ne},
};

/// What every scalar-like class has in common: operators that build operations, and clear errors
/// where Python needs a value that is only known when the kernel runs.
template <typename T> void defineScalarProtocol(nb::class_<T> &cls) {
  for (const Operator &op : kOperators) {
    cls.def(
        op.name,
        [kind = op.kind](const T &self, nb::object other) {
          return traceBinary(kind, self, other, false);
        },
        nb::is_operator());
    if (op.reflectedName)
      cls.def(
          op.reflectedName,
          [kind = op.kind](const T &self, nb::object other) {
            return traceBinary(kind, self, other, true);
          },
          nb::is_operator());
  }
  cls.def("__neg__",
          [](const T &self) { return Trace::current().arithmetic.unary(UnaryKind::Neg, self); });
  cls.def("__pos__", [](const T &self) { return Trace::current().scalars.materialize(self); });
  cls.def("__abs__",
          [](const T &self) { return Trace::current().arithmetic.unary(UnaryKind::Abs, self); });
  cls.def("__invert__",
          [](const T &self) { return Trace::current().arithmetic.unary(UnaryKind::BitNot, self); });
  cls.def("__bool__", [](const T &) -> bool {
    throw UserError("this value is only known when the kernel runs, so Python cannot decide on it; "
                    "inside a kernel use 'if', 'and', 'or', 'T.if_then_else' directly on it",
                    UserError::Reason::Decision);
  });
  cls.def("__index__", [](const T &) -> int64_t {
    throw UserError("this value is only known when the kernel runs, Python cannot use it as an "
                    "integer; loop over a Python list, or put the values "
                    "into a tile",
                    UserError::Reason::Number);
  });
  cls.def("__iter__", [](const T &) -> nb::object {
    throw UserError("a scalar of the kernel is not iterable");
  });
  cls.def("__hash__", [](nb::handle self) { return size_t(self.ptr()) >> 4; });
  cls.attr("__array_ufunc__") = nb::none(); // a numpy scalar on the left asks the right side
}

/// The element type of a scalar-like object, by the language's name.
template <typename T> std::string dtypeOf(const T &value) {
  if constexpr (std::is_same_v<T, Scalar>)
    return getDTypeName(value.dtype);
  else if constexpr (std::is_same_v<T, Element>)
    return getDTypeName(value.buffer.dtype);
  else
    return getDTypeName(value.cell.dtype);
}

void bindScalars(nb::module_ &module) {
  nb::class_<Scalar> expr(module, "Expr", "A scalar that is known when the kernel runs.");
  defineScalarProtocol(expr);
  expr.def_prop_ro("dtype_name", &dtypeOf<Scalar>);
  expr.def("__repr__",
           [](const Scalar &self) { return "<kernel value of dtype " + dtypeOf(self) + ">"; });

  nb::class_<Element> element(module, "Element", "One element of a buffer, read where it is used.");
  defineScalarProtocol(element);
  element.def_prop_ro("dtype_name", &dtypeOf<Element>);
  element.def_prop_ro("buffer", [](const Element &self) { return self.buffer; });
  element.def_prop_ro("indices", [](const Element &self) {
    return std::vector<Scalar>(self.indices.begin(), self.indices.end());
  });
  element.def("load", [](const Element &self) { return Trace::current().scalars.read(self); });
  element.def("store", [](const Element &self, nb::object value) {
    Trace::current().buffers.store(self, toOperand(value, "stored value"));
  });
  element.def("run", [](const Element &self, int64_t count) {
    return Trace::current().buffers.runOf(self, count);
  });
  element.def("__repr__", [](const Element &self) {
    return "<element of '" + tile::getName(self.buffer.value).str() + "'>";
  });

  nb::class_<Variable> variable(module, "Var", "A scalar variable; reading it loads it.");
  defineScalarProtocol(variable);
  variable.def_prop_ro("dtype_name", &dtypeOf<Variable>);
  variable.def("load", [](const Variable &self) { return Trace::current().scalars.read(self); });
  variable.def("rename", [](const Variable &self, const std::string &name) {
    Trace::current().buffers.rename(self.cell, name);
  });
  variable.def("store", [](const Variable &self, nb::object value) {
    Trace::current().variables.assign(self, toOperand(value, "assigned value"));
  });
}

//===----------------------------------------------------------------------------------------===//
// IndexExpr
//===----------------------------------------------------------------------------------------===//

/// An int or IndexExpr keeps the expression symbolic; anything else makes it a value of the trace.
nb::object indexBinary(IndexExpr::Kind symbolic, BinaryKind traced, const IndexExpr &self,
                       nb::handle other, bool reflected) {
  bool isNumpyInteger = PyIndex_Check(other.ptr()) && nb::hasattr(other, "item");
  bool isInteger = (PyLong_Check(other.ptr()) && !PyBool_Check(other.ptr())) || isNumpyInteger;
  if (isInteger || nb::isinstance<IndexExpr>(other)) {
    IndexExpr operand = toExtent(other, "size");
    return fromIndexExpr(reflected ? IndexExpr::binary(symbolic, operand, self)
                                   : IndexExpr::binary(symbolic, self, operand));
  }
  return traceBinary(traced, self, other, reflected);
}

/// `i & 56`, `i << 2` or `i >> 3` of an index of a layout: the arithmetic on integers that it is. A
/// mask must have its bits side by side, as those of swizzles do.
std::optional<IndexExpr> asArithmetic(BinaryKind kind, const IndexExpr &index, nb::handle other) {
  using K = IndexExpr::Kind;
  if (index.getNumDims() == 0 || !PyLong_Check(other.ptr()) || PyBool_Check(other.ptr()))
    return std::nullopt;
  std::optional<int64_t> number = toExtent(other, "number of bits").getConstant();
  if (!number || *number < 0 || *number > INT32_MAX)
    return std::nullopt;
  if (kind == BinaryKind::And) {
    if (*number == 0)
      return IndexExpr(0);
    IndexExpr low(*number & -*number);
    int64_t run = *number / (*number & -*number);
    if ((run & (run + 1)) != 0)
      return std::nullopt;
    IndexExpr shifted = IndexExpr::binary(K::FloorDiv, index, low);
    return IndexExpr::binary(K::Mul, IndexExpr::binary(K::Mod, shifted, IndexExpr(run + 1)), low);
  }
  if (*number > 30 || (kind != BinaryKind::Shl && kind != BinaryKind::Shr))
    return std::nullopt;
  K arithmetic = kind == BinaryKind::Shl ? K::Mul : K::FloorDiv;
  return IndexExpr::binary(arithmetic, index, IndexExpr(int64_t(1) << *number));
}

/// An operator that has no symbolic form of its own.
nb::object indexBits(BinaryKind kind, const IndexExpr &self, nb::handle other, bool reflected) {
  if (!reflected || kind == BinaryKind::And)
    if (std::optional<IndexExpr> found = asArithmetic(kind, self, other))
      return fromIndexExpr(*found);
  return traceBinary(kind, self, other, reflected);
}

nb::object indexCompare(BinaryKind kind, const IndexExpr &self, nb::handle other) {
  bool isEquality = kind == BinaryKind::Eq || kind == BinaryKind::Ne;
  if (isEquality && nb::isinstance<IndexExpr>(other) && nb::cast<IndexExpr>(other) == self)
    return nb::bool_(kind == BinaryKind::Eq);
  if (isEquality && !tryOperand(other))
    return notImplemented();
  if (Trace::currentOrNull())
    return traceBinary(kind, self, other, false);
  if (isEquality)
    return nb::bool_(kind == BinaryKind::Ne);
  throw UserError("a symbolic size has no value outside a kernel");
}

std::string printSymbolic(const IndexExpr &expr) {
  IndexNames names = IndexNames::defaults(expr.getNumDims());
  for (unsigned symbol = 0; symbol < expr.getNumSymbols(); ++symbol)
    names.symbols.push_back(getSymbolName(symbol));
  return toString(expr, names);
}

void bindIndexExpr(nb::module_ &module) {
  using K = IndexExpr::Kind;
  using B = BinaryKind;
  struct Pair {
    const char *name, *reflectedName;
    K symbolic;
    B traced;
  };
  constexpr Pair pairs[] = {{"__add__", "__radd__", K::Add, B::Add},
                            {"__sub__", "__rsub__", K::Sub, B::Sub},
                            {"__mul__", "__rmul__", K::Mul, B::Mul},
                            {"__floordiv__", "__rfloordiv__", K::FloorDiv, B::FloorDiv},
                            {"__mod__", "__rmod__", K::Mod, B::FloorMod},
                            {"__xor__", "__rxor__", K::Xor, B::Xor}};
  nb::class_<IndexExpr> cls(
      module, "IndexExpr", "A symbolic integer: a shape symbol, a layout index, or a sum of such.");
  cls.def_static("symbol",
                 [](const std::string &name) { return IndexExpr::symbol(internSymbol(name)); });
  cls.def_static("dim", [](unsigned position) { return IndexExpr::dim(position); });
  for (const Pair &pair : pairs) {
    cls.def(
        pair.name,
        [pair](const IndexExpr &self, nb::object other) {
          return indexBinary(pair.symbolic, pair.traced, self, other, false);
        },
        nb::is_operator());
    cls.def(
        pair.reflectedName,
        [pair](const IndexExpr &self, nb::object other) {
          return indexBinary(pair.symbolic, pair.traced, self, other, true);
        },
        nb::is_operator());
  }
  for (const Operator &op : kOperators) {
    bool isComparison = op.kind >= B::Lt && op.kind <= B::Ne;
    if (isComparison)
      cls.def(
          op.name,
          [kind = op.kind](const IndexExpr &self, nb::object other) {
            return indexCompare(kind, self, other);
          },
          nb::is_operator());
    bool isTracedOnly = op.kind == B::Div || op.kind == B::Pow || op.kind == B::Shl ||
                        op.kind == B::Shr || op.kind == B::And || op.kind == B::Or;
    if (!isTracedOnly)
      continue;
    cls.def(
        op.name,
        [kind = op.kind](const IndexExpr &self, nb::object other) {
          return indexBits(kind, self, other, false);
        },
        nb::is_operator());
    cls.def(
        op.reflectedName,
        [kind = op.kind](const IndexExpr &self, nb::object other) {
          return indexBits(kind, self, other, true);
        },
        nb::is_operator());
  }
  cls.def("__neg__", [](const IndexExpr &self) { return fromIndexExpr(IndexExpr(0) - self); });
  cls.def("__pos__", [](const IndexExpr &self) { return self; });
  cls.def("min", [](const IndexExpr &self, nb::object other) {
    return fromIndexExpr(minOf(self, toExtent(other, "min")));
  });
  cls.def("max", [](const IndexExpr &self, nb::object other) {
    return fromIndexExpr(maxOf(self, toExtent(other, "max")));
  });
  cls.def("__bool__", [](const IndexExpr &) -> bool {
    throw UserError(
        "a symbolic size is only known when the kernel runs, so Python cannot decide on it",
        UserError::Reason::Decision);
  });
  cls.def("__index__", [](const IndexExpr &) -> int64_t {
    throw UserError(
        "a symbolic size is only known when the kernel runs, Python cannot use it as an integer",
        UserError::Reason::Number);
  });
  cls.def("__hash__", [](const IndexExpr &self) { return size_t(hash_value(self)); });
  cls.attr("__array_ufunc__") = nb::none();
  cls.def_prop_ro("dtype_name", [](const IndexExpr &) { return "index"; });
  cls.def("__repr__", &printSymbolic);
}

//===----------------------------------------------------------------------------------------===//
// Buffer
//===----------------------------------------------------------------------------------------===//

/// An index that names several elements (language/ramps.py); found where no other index fits.
nb::object findRamp(const nb::object &index) {
  if (!PyTuple_Check(index.ptr()))
    return nb::hasattr(index, "tw_gather") ? index : nb::object();
  for (nb::handle item : index)
    if (nb::hasattr(item, "tw_gather"))
      return nb::borrow(item);
  return {};
}

nb::object getItem(const Buffer &self, nb::object index) {
  std::vector<Subscript> subscripts;
  try {
    subscripts = toSubscripts(index, self.getRank());
  } catch (const UserError &) {
    if (nb::object ramp = findRamp(index))
      return ramp.attr("tw_gather")(self, index);
    throw;
  }
  std::variant<Buffer, Element> part = Trace::current().buffers.subscript(self, subscripts);
  if (auto *element = std::get_if<Element>(&part))
    return nb::cast(*element);
  return nb::cast(std::get<Buffer>(part));
}

void setItem(const Buffer &self, nb::object index, nb::object value) {
  Trace &trace = Trace::current();
  std::vector<Subscript> subscripts;
  try {
    subscripts = toSubscripts(index, self.getRank());
  } catch (const UserError &) {
    nb::object ramp = findRamp(index);
    if (!ramp)
      throw;
    ramp.attr("tw_scatter")(self, index, value);
    return;
  }
  std::variant<Buffer, Element> part = trace.buffers.subscript(self, subscripts);
  if (auto *element = std::get_if<Element>(&part))
    return trace.buffers.store(*element, toOperand(value, "stored value"));
  if (nb::isinstance<Buffer>(value))
    return trace.statements.copy(nb::cast<Buffer>(value), std::get<Buffer>(part), std::nullopt,
                                 nullptr, mlir::DictionaryAttr::get(trace.getContext()));
  trace.statements.fill(std::get<Buffer>(part), toOperand(value, "stored value"));
}

void bindBuffer(nb::module_ &module) {
  nb::class_<Buffer>(module, "Buffer", "A tensor, a tile, or a rectangular part of one.")
      .def_prop_ro("shape",
                   [](const Buffer &self) {
                     nb::list extents;
                     for (const Extent &extent : self.shape)
                       extents.append(fromExtent(extent));
                     return nb::tuple(extents);
                   })
      .def_prop_ro("ndim", &Buffer::getRank)
      .def_prop_ro("dtype_name", [](const Buffer &self) { return getDTypeName(self.dtype); })
      .def_prop_ro(
          "scope_name",
          [](const Buffer &self) { return tile::stringifySpace(tile::getSpace(self.value)).str(); })
      .def_prop_ro("name", [](const Buffer &self) { return tile::getName(self.value).str(); })
      .def_prop_ro("is_region", [](const Buffer &self) { return self.isRegion; })
      .def("rename", [](const Buffer &self,
                        const std::string &name) { Trace::current().buffers.rename(self, name); })
      .def("__getitem__", &getItem, nb::arg("index").none())
      .def("__setitem__", &setItem, nb::arg("index").none(), nb::arg("value").none())
      .def("__iter__",
           [](const Buffer &) -> nb::object {
             throw UserError("a buffer is not iterable; loop over its indices");
           })
      .def("__bool__",
           [](const Buffer &) -> bool {
             throw UserError("a whole tile has no truth value; index it");
           })
      .def("__repr__",
           [](const Buffer &self) { return "<buffer " + tile::describe(self.value) + ">"; });
}

} // namespace

void tilewright::bindings::bindValues(nb::module_ &module) {
  bindScalars(module);
  bindIndexExpr(module);
  bindBuffer(module);
}
