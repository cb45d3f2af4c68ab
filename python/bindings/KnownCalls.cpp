//===- KnownCalls.cpp - calls like one that was checked before --------------------------------===//

#include "KnownCalls.h"

using namespace tilewright;
using namespace tilewright::bindings;

namespace {

/// What numpy's `__array_struct__` gives: the array interface protocol for C.
struct ArrayInterface {
  int two;
  int rank;
  char kind;
  int itemBytes;
  int flags;
  Py_intptr_t *shape;
  Py_intptr_t *strides;
  void *data;
  PyObject *description;
};
constexpr int kContiguous = 0x1, kNativeOrder = 0x200, kWritable = 0x400;

/// Names of attributes, made once.
PyObject *intern(const char *name) { return PyUnicode_InternFromString(name); }

nb::object getAttribute(nb::handle object, PyObject *name) {
  PyObject *value = PyObject_GetAttr(object.ptr(), name);
  if (!value)
    PyErr_Clear();
  return nb::steal(value);
}

nb::object callMethod(nb::handle object, PyObject *name) {
  PyObject *value = PyObject_CallMethodNoArgs(object.ptr(), name);
  if (!value)
    PyErr_Clear();
  return nb::steal(value);
}

nb::object getDType(nb::handle object) {
  static PyObject *name = intern("dtype");
  return getAttribute(object, name);
}

/// numpy.ndarray.
nb::handle getArrayType() {
  static PyObject *type = nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  return type;
}

/// What numpy itself says of an array, by a property of numpy.ndarray. A class of the user's may say
/// anything of its instances.
nb::object askNumpy(nb::handle object, PyObject *property) {
  static auto get =
      reinterpret_cast<descrgetfunc>(PyType_GetSlot(Py_TYPE(property), Py_tp_descr_get));
  PyObject *value =
      get(property, object.ptr(), reinterpret_cast<PyObject *>(Py_TYPE(object.ptr())));
  if (!value)
    PyErr_Clear(); // no array
  return nb::steal(value);
}

PyObject *getArrayProperty(const char *name) {
  return nb::object(getArrayType().attr(name)).release().ptr();
}

/// The capsule keeps the interface alive.
std::pair<nb::object, ArrayInterface *> readArray(nb::handle object) {
  static PyObject *interface = getArrayProperty("__array_struct__");
  nb::object capsule = askNumpy(object, interface);
  if (!capsule.is_valid())
    return {nb::object(), nullptr};
  auto *array = static_cast<ArrayInterface *>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (!array || array->two != 2) {
    PyErr_Clear();
    return {nb::object(), nullptr};
  }
  return {capsule, array};
}

bool isTrue(const nb::object &value) { return value.is_valid() && value.ptr() == Py_True; }
bool isFalse(const nb::object &value) { return value.is_valid() && value.ptr() == Py_False; }

/// Whether a torch tensor's bytes are its values, in rows, in this machine's memory.
bool isPlainTensor(nb::handle tensor) {
  static PyObject *isCpu = intern("is_cpu"), *isContiguous = intern("is_contiguous"),
                  *isNeg = intern("is_neg");
  return isTrue(getAttribute(tensor, isCpu)) && isTrue(callMethod(tensor, isContiguous)) &&
         isFalse(callMethod(tensor, isNeg));
}

bool isTorch(nb::handle object) {
  static PyObject *module = intern("__module__"), *address = intern("data_ptr");
  nb::object name = getAttribute(object.type(), module);
  return name.is_valid() && PyUnicode_Check(name.ptr()) &&
         llvm::StringRef(nb::cast<std::string>(name)).starts_with("torch") &&
         PyObject_HasAttr(object.ptr(), address);
}

} // namespace

std::optional<KnownArgument> KnownArgument::ofNumber(nb::handle object) {
  if (!PyLong_CheckExact(object.ptr()) && !PyFloat_CheckExact(object.ptr()))
    return std::nullopt; // an array without dimensions is read in Python
  KnownArgument known;
  known.kind = Kind::Number;
  return known;
}

std::optional<KnownArgument> KnownArgument::ofTensor(nb::handle object) {
  static PyObject *shapeName = intern("shape");
  KnownArgument known;
  known.type = Py_TYPE(object.ptr());
  known.dtype = getDType(object);
  if (!known.dtype.is_valid())
    return std::nullopt;
  if (isTorch(object)) {
    known.kind = Kind::Tensor;
    nb::object extents = getAttribute(object, shapeName);
    if (!isPlainTensor(object) || !extents.is_valid() || !PyTuple_Check(extents.ptr()))
      return std::nullopt;
    for (nb::handle extent : nb::borrow<nb::tuple>(extents))
      known.shape.push_back(nb::cast<int64_t>(extent));
    return known;
  }
  known.kind = Kind::Array;
  auto [capsule, array] = readArray(object);
  if (!array || !(array->flags & kContiguous) || !(array->flags & kNativeOrder))
    return std::nullopt;
  known.isWritable = array->flags & kWritable;
  known.itemBytes = array->itemBytes;
  known.shape.append(array->shape, array->shape + array->rank);
  return known;
}

KnownArgument KnownArgument::output(nb::object make) {
  KnownArgument known;
  known.kind = Kind::Output;
  known.make = std::move(make);
  return known;
}

std::optional<uintptr_t> KnownArgument::match(nb::handle object) const {
  static PyObject *shapeName = intern("shape"), *addressName = intern("data_ptr");
  if (Py_TYPE(object.ptr()) != type || getDType(object).ptr() != dtype.ptr())
    return std::nullopt;
  if (kind == Kind::Array) {
    auto [capsule, array] = readArray(object);
    int wanted = kContiguous | kNativeOrder | (isWritable ? kWritable : 0);
    if (!array || (array->flags & (kContiguous | kNativeOrder | kWritable)) != wanted ||
        array->itemBytes != itemBytes ||
        !llvm::equal(shape, llvm::ArrayRef(array->shape, array->rank)))
      return std::nullopt;
    return reinterpret_cast<uintptr_t>(array->data);
  }
  nb::object extents = getAttribute(object, shapeName);
  if (!extents.is_valid() || PyTuple_GET_SIZE(extents.ptr()) != Py_ssize_t(shape.size()))
    return std::nullopt;
  for (auto [position, extent] : llvm::enumerate(shape))
    if (PyLong_AsLongLong(PyTuple_GET_ITEM(extents.ptr(), position)) != extent)
      return std::nullopt;
  nb::object address = isPlainTensor(object) ? callMethod(object, addressName) : nb::object();
  if (!address.is_valid())
    return std::nullopt;
  return static_cast<uintptr_t>(PyLong_AsUnsignedLongLong(address.ptr()));
}

/// An array, and the arrays that it is a view of.
void PinnedArrays::pin(nb::handle object) {
  static PyObject *base = getArrayProperty("base");
  if (PyLong_CheckExact(object.ptr()) || PyFloat_CheckExact(object.ptr()))
    return;
  auto *arrayType = reinterpret_cast<PyTypeObject *>(getArrayType().ptr());
  for (nb::object array = nb::borrow(object);
       array.is_valid() && PyType_IsSubtype(Py_TYPE(array.ptr()), arrayType);
       array = askNumpy(array, base)) {
    nb::object reference = nb::steal(PyWeakref_NewRef(array.ptr(), nullptr));
    if (reference.is_valid())
      references.push_back(std::move(reference));
    else
      PyErr_Clear();
  }
}

//===----------------------------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------------------------===//

void KnownCalls::remember(driver::BoundArguments bound, nb::list values, nb::list makers) {
  constexpr size_t most = 8;
  Call call{{}, std::move(bound)};
  mlir::func::FuncOp function = call.bound.getSignature().function;
  for (auto [type, value, maker] : llvm::zip(function.getArgumentTypes(), values, makers)) {
    std::optional<KnownArgument> argument;
    if (!maker.is_none())
      argument = KnownArgument::output(nb::borrow(maker));
    else
      argument = llvm::isa<mlir::MemRefType>(type) ? KnownArgument::ofTensor(value)
                                                   : KnownArgument::ofNumber(value);
    if (!argument)
      return;
    call.arguments.push_back(std::move(*argument));
  }
  if (calls.size() == most)
    calls.pop_back();
  calls.insert(calls.begin(), std::move(call));
}

/// The arguments of a call like `known`; nothing if `arguments` are not.
std::optional<driver::BoundArguments> KnownCalls::match(const Call &known, nb::tuple arguments) {
  Py_ssize_t next = 0, given = PyTuple_GET_SIZE(arguments.ptr());
  driver::BoundArguments bound = known.bound;
  for (auto [position, argument] : llvm::enumerate(known.arguments)) {
    if (argument.isOutput())
      continue;
    if (next == given)
      return std::nullopt;
    nb::handle object = PyTuple_GET_ITEM(arguments.ptr(), next++);
    if (!argument.isNumber()) {
      std::optional<uintptr_t> address = argument.match(object);
      if (!address)
        return std::nullopt;
      bound.setData(position, *address);
      continue;
    }
    if (!PyLong_CheckExact(object.ptr()) && !PyFloat_CheckExact(object.ptr()))
      return std::nullopt;
    if (llvm::Error error = bound.setNumber(position, toCallArgument(object)))
      throw driver::takeReport(std::move(error));
  }
  if (next != given)
    return std::nullopt;
  return bound;
}

/// Allocating may let other threads run, and they may change the list of calls; so all that is
/// needed of `known` is taken first.
bool KnownCalls::makeOutputs(const Call &known, driver::BoundArguments &bound, nb::list &outputs) {
  llvm::SmallVector<std::pair<size_t, KnownArgument>> wanted;
  for (auto [position, argument] : llvm::enumerate(known.arguments))
    if (argument.isOutput())
      wanted.push_back({position, argument});
  for (const auto &[position, argument] : wanted) {
    nb::object made = argument.makeOutput();
    std::optional<KnownArgument> read = KnownArgument::ofTensor(made);
    std::optional<uintptr_t> address = read ? read->match(made) : std::nullopt;
    if (!address)
      return false;
    bound.setData(position, *address);
    outputs.append(made);
  }
  return true;
}

std::optional<driver::BoundArguments> KnownCalls::find(nb::tuple arguments, nb::list &outputs) {
  for (auto it = calls.begin(); it != calls.end(); ++it) {
    std::optional<driver::BoundArguments> bound = match(*it, arguments);
    if (!bound)
      continue;
    std::rotate(calls.begin(), it, it + 1);
    if (!makeOutputs(calls.front(), *bound, outputs))
      return std::nullopt;
    return bound;
  }
  return std::nullopt;
}
