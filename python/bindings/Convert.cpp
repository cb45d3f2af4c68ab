//===- Convert.cpp - Python objects to the Frontend's values and back ------------------------===//

#include "Bindings.h"

using namespace tilewright;
using namespace tilewright::bindings;

namespace {

std::string typeName(nb::handle object) {
  return nb::cast<std::string>(object.type().attr("__name__"));
}

std::optional<Literal> tryLiteral(nb::handle object) {
  PyObject *raw = object.ptr();
  if (PyBool_Check(raw))
    return Literal::ofBool(raw == Py_True);
  if (PyFloat_Check(raw))
    return Literal::ofFloat(PyFloat_AS_DOUBLE(raw));
  bool isInteger = PyLong_Check(raw) || (PyIndex_Check(raw) && nb::hasattr(object, "dtype"));
  if (isInteger) {
    nb::object integer = nb::steal(PyNumber_Index(raw));
    if (!integer.is_valid())
      throw nb::python_error();
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
    if (!overflow)
      return Literal::ofInt(value);
    unsigned long long wide = overflow > 0 ? PyLong_AsUnsignedLongLong(integer.ptr()) : 0;
    if (overflow < 0 || PyErr_Occurred()) {
      PyErr_Clear();
      throw UserError("the number " + nb::cast<std::string>(nb::str(object)) +
                      " does not fit 64 bits");
    }
    return Literal::ofUnsigned(wide);
  }
  // numpy scalars: float32(1.5), bool_(True)
  if (nb::hasattr(object, "dtype") && nb::hasattr(object, "item") && nb::hasattr(object, "ndim") &&
      nb::cast<int>(object.attr("ndim")) == 0)
    return tryLiteral(object.attr("item")());
  return std::nullopt;
}

} // namespace

std::optional<Operand> tilewright::bindings::tryOperand(nb::handle object) {
  if (nb::isinstance<Scalar>(object))
    return nb::cast<Scalar>(object);
  if (nb::isinstance<Element>(object))
    return nb::cast<Element>(object);
  if (nb::isinstance<Variable>(object))
    return nb::cast<Variable>(object);
  if (nb::isinstance<IndexExpr>(object))
    return nb::cast<IndexExpr>(object);
  if (std::optional<Literal> literal = tryLiteral(object))
    return *literal;
  return std::nullopt;
}

Operand tilewright::bindings::toOperand(nb::handle object, llvm::StringRef what) {
  if (std::optional<Operand> operand = tryOperand(object))
    return *operand;
  if (nb::isinstance<Buffer>(object))
    throw UserError(
        (what + ": expected a scalar, got a whole tile; index it, or write a 'T.Parallel' loop")
            .str());
  throw UserError(
      (what + ": expected a number or a kernel value, got a Python '" + typeName(object) + "'")
          .str());
}

std::vector<Operand> tilewright::bindings::toOperands(nb::handle sequence, llvm::StringRef what) {
  std::vector<Operand> operands;
  for (nb::handle item : sequence)
    operands.push_back(toOperand(item, what));
  return operands;
}

IndexExpr tilewright::bindings::toExtent(nb::handle object, llvm::StringRef what) {
  if (nb::isinstance<IndexExpr>(object))
    return nb::cast<IndexExpr>(object);
  std::optional<Literal> literal = tryLiteral(object);
  if (literal && literal->kind == Literal::Kind::Int && !literal->isUnsigned64)
    return IndexExpr(literal->integer);
  if (literal)
    throw UserError(
        (what + ": expected an integer extent, got " + nb::cast<std::string>(nb::repr(object)))
            .str());
  if (nb::isinstance<Scalar>(object) || nb::isinstance<Element>(object) ||
      nb::isinstance<Variable>(object))
    throw UserError((what +
                     ": the extent is only known when the kernel runs; a tile needs constants, "
                     "a tensor 'T.dynamic' symbols")
                        .str());
  throw UserError(
      (what + ": expected an integer extent, got a Python '" + typeName(object) + "'").str());
}

std::vector<IndexExpr> tilewright::bindings::toShape(nb::handle sequence, llvm::StringRef what) {
  std::vector<IndexExpr> shape;
  if (PyTuple_Check(sequence.ptr()) || PyList_Check(sequence.ptr())) {
    for (nb::handle item : sequence)
      shape.push_back(toExtent(item, what));
    return shape;
  }
  shape.push_back(toExtent(sequence, what)); // a bare extent is a vector
  return shape;
}

TileOperand tilewright::bindings::toTile(nb::handle object, llvm::StringRef what) {
  if (nb::isinstance<Buffer>(object))
    return nb::cast<Buffer>(object);
  if (nb::isinstance<Element>(object))
    return nb::cast<Element>(object);
  throw UserError(
      (what + ": expected a buffer or a part of one, got a Python '" + typeName(object) + "'")
          .str());
}

Buffer tilewright::bindings::toBuffer(nb::handle object, llvm::StringRef what) {
  if (nb::isinstance<Buffer>(object))
    return nb::cast<Buffer>(object);
  if (nb::isinstance<Element>(object))
    throw UserError(
        (what + ": expected a buffer, got one element of it; use slices for a part").str());
  throw UserError((what + ": expected a buffer, got a Python '" + typeName(object) + "'").str());
}

std::vector<Subscript> tilewright::bindings::toSubscripts(nb::handle index, unsigned rank) {
  std::vector<nb::object> items;
  if (PyTuple_Check(index.ptr()))
    for (nb::handle item : index)
      items.push_back(nb::borrow(item));
  else
    items.push_back(nb::borrow(index));
  std::vector<Subscript> entries;
  for (const nb::object &item : items) {
    if (item.ptr() == Py_Ellipsis) {
      for (size_t i = items.size() - 1; i < rank; ++i)
        entries.push_back(Slice{});
      continue;
    }
    if (PySlice_Check(item.ptr())) {
      auto bound = [&](const char *name) -> std::optional<Operand> {
        nb::object value = item.attr(name);
        if (value.is_none())
          return std::nullopt;
        return toOperand(value, "slice");
      };
      entries.push_back(Slice{bound("start"), bound("stop"), bound("step")});
      continue;
    }
    entries.push_back(toOperand(item, "index"));
  }
  return entries;
}

nb::object tilewright::bindings::fromIndexExpr(const IndexExpr &expr) {
  if (std::optional<int64_t> constant = expr.getConstant())
    return nb::int_(*constant);
  return nb::cast(expr);
}

nb::object tilewright::bindings::fromExtent(const Extent &extent) {
  if (auto *expr = std::get_if<IndexExpr>(&extent))
    return fromIndexExpr(*expr);
  return nb::cast(std::get<Scalar>(extent));
}

nb::list tilewright::bindings::fromScalars(const std::vector<Scalar> &scalars) {
  nb::list list;
  for (const Scalar &scalar : scalars)
    list.append(nb::cast(scalar));
  return list;
}

mlir::DictionaryAttr tilewright::bindings::toAttributes(mlir::MLIRContext *context,
                                                        nb::handle object) {
  mlir::Builder builder(context);
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  for (auto [key, value] : nb::cast<nb::dict>(object)) {
    if (value.is_none())
      continue;
    std::string name = nb::cast<std::string>(nb::str(key));
    mlir::Attribute attribute;
    if (PyBool_Check(value.ptr()))
      attribute = builder.getBoolAttr(value.ptr() == Py_True);
    else if (PyLong_Check(value.ptr()))
      attribute = builder.getI64IntegerAttr(nb::cast<int64_t>(value));
    else if (PyFloat_Check(value.ptr()))
      attribute = builder.getF64FloatAttr(nb::cast<double>(value));
    else
      attribute = builder.getStringAttr(nb::cast<std::string>(nb::str(value)));
    attributes.push_back(builder.getNamedAttr(name, attribute));
  }
  return builder.getDictionaryAttr(attributes);
}
