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

/// Whether a torch tensor's bytes are its values, in rows, in this machine's memory or in that of a GPU.
bool isPlainTensor(nb::handle tensor, bool onGpu) {
  static PyObject *isCpu = intern("is_cpu"), *isCuda = intern("is_cuda"),
                  *isContiguous = intern("is_contiguous"), *isNeg = intern("is_neg");
  return isTrue(getAttribute(tensor, onGpu ? isCuda : isCpu)) &&
         isTrue(callMethod(tensor, isContiguous)) && isFalse(callMethod(tensor, isNeg));
}

/// The number of a torch tensor's GPU; -1 if it has none.
int getDevice(nb::handle tensor) {
  static PyObject *name = intern("get_device");
  nb::object number = callMethod(tensor, name);
  long device = number.is_valid() ? PyLong_AsLong(number.ptr()) : -1;
  if (device < 0)
    PyErr_Clear();
  return int(device);
}

/// torch's current stream of a GPU.
std::optional<uintptr_t> getTorchStream(int device) {
  static PyObject *get = [] {
    nb::object found = nb::module_::import_("torch").attr("_C");
    return getAttribute(found, intern("_cuda_getCurrentRawStream")).release().ptr();
  }();
  nb::object number = nb::steal(PyLong_FromLong(device));
  PyObject *stream = get ? PyObject_CallFunctionObjArgs(get, number.ptr(), nullptr) : nullptr;
  nb::object held = nb::steal(stream);
  uintptr_t address = stream ? PyLong_AsUnsignedLongLong(stream) : 0;
  if (!PyErr_Occurred() && stream)
    return address;
  PyErr_Clear();
  return std::nullopt;
}

/// What an object says of its data on a GPU.
nb::dict getGpuInterface(nb::handle object) {
  static PyObject *name = intern("__cuda_array_interface__");
  nb::object interface = getAttribute(object, name);
  return interface.is_valid() && PyDict_CheckExact(interface.ptr())
             ? nb::borrow<nb::dict>(interface)
             : nb::dict();
}

/// None where there is no such entry.
nb::handle getEntry(const nb::dict &interface, PyObject *name) {
  PyObject *value = PyDict_GetItemWithError(interface.ptr(), name);
  if (!value)
    PyErr_Clear();
  return value ? value : Py_None;
}

/// Where contiguous data of a GPU begin, and whether they may be written.
std::optional<std::pair<uintptr_t, bool>> readGpuData(const nb::dict &interface) {
  static PyObject *data = intern("data"), *strides = intern("strides");
  nb::handle pair = getEntry(interface, data);
  if (!getEntry(interface, strides).is_none() || !PyTuple_CheckExact(pair.ptr()) ||
      PyTuple_GET_SIZE(pair.ptr()) != 2)
    return std::nullopt;
  PyObject *address = PyTuple_GET_ITEM(pair.ptr(), 0), *readOnly = PyTuple_GET_ITEM(pair.ptr(), 1);
  if (!PyLong_CheckExact(address) || !PyBool_Check(readOnly))
    return std::nullopt;
  uintptr_t begin = PyLong_AsUnsignedLongLong(address);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return std::nullopt;
  }
  return std::pair(begin, readOnly != Py_True);
}

/// Whether a tuple has these extents.
bool hasShape(nb::handle extents, llvm::ArrayRef<int64_t> shape) {
  if (!extents.is_valid() || !PyTuple_Check(extents.ptr()) ||
      PyTuple_GET_SIZE(extents.ptr()) != Py_ssize_t(shape.size()))
    return false;
  for (auto [position, extent] : llvm::enumerate(shape))
    if (PyLong_AsLongLong(PyTuple_GET_ITEM(extents.ptr(), position)) != extent) {
      PyErr_Clear();
      return false;
    }
  return true;
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

std::optional<KnownArgument> KnownArgument::ofGpuArray(nb::handle object, nb::dict interface) {
  static PyObject *shapeName = intern("shape"), *typeName = intern("typestr");
  KnownArgument known;
  known.kind = Kind::GpuArray;
  known.type = Py_TYPE(object.ptr());
  known.dtype = nb::borrow(getEntry(interface, typeName));
  nb::handle extents = getEntry(interface, shapeName);
  auto data = readGpuData(interface);
  if (!data || !PyUnicode_CheckExact(known.dtype.ptr()) || !PyTuple_CheckExact(extents.ptr()))
    return std::nullopt;
  known.isWritable = data->second;
  for (nb::handle extent : nb::borrow<nb::tuple>(extents))
    known.shape.push_back(nb::cast<int64_t>(extent));
  return known;
}

std::optional<uintptr_t> KnownArgument::matchGpuArray(nb::handle object) const {
  static PyObject *shapeName = intern("shape"), *typeName = intern("typestr");
  nb::dict interface = getGpuInterface(object);
  nb::handle name = getEntry(interface, typeName);
  auto data = readGpuData(interface);
  bool isSame = data && data->second == isWritable && PyUnicode_CheckExact(name.ptr()) &&
                PyUnicode_Compare(name.ptr(), dtype.ptr()) == 0 &&
                hasShape(getEntry(interface, shapeName), shape);
  return isSame ? std::optional(data->first) : std::nullopt;
}

std::optional<uintptr_t> KnownArgument::findStream(nb::handle object) const {
  static PyObject *name = intern("stream");
  if (kind == Kind::GpuTensor)
    return getTorchStream(device);
  nb::handle stream = getEntry(getGpuInterface(object), name);
  if (stream.is_none())
    return 0;
  uintptr_t address = PyLong_Check(stream.ptr()) ? PyLong_AsUnsignedLongLong(stream.ptr()) : 0;
  bool isKnown = PyLong_Check(stream.ptr()) && !PyErr_Occurred();
  PyErr_Clear();
  return isKnown ? std::optional(address) : std::nullopt;
}

std::optional<KnownArgument> KnownArgument::ofTensor(nb::handle object) {
  static PyObject *shapeName = intern("shape");
  KnownArgument known;
  known.type = Py_TYPE(object.ptr());
  bool isOfTorch = isTorch(object);
  auto *arrayType = reinterpret_cast<PyTypeObject *>(getArrayType().ptr());
  if (!isOfTorch && !PyType_IsSubtype(known.type, arrayType))
    if (nb::dict interface = getGpuInterface(object); interface.size())
      return ofGpuArray(object, interface);
  known.dtype = getDType(object);
  if (!known.dtype.is_valid())
    return std::nullopt;
  if (isOfTorch) {
    bool onGpu = !isPlainTensor(object, /*onGpu=*/false); // main memory may call itself "cuda"
    known.kind = onGpu ? Kind::GpuTensor : Kind::Tensor;
    known.device = onGpu ? getDevice(object) : 0;
    nb::object extents = getAttribute(object, shapeName);
    if ((onGpu && (!isPlainTensor(object, true) || known.device < 0)) || !extents.is_valid() ||
        !PyTuple_Check(extents.ptr()))
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
  if (Py_TYPE(object.ptr()) != type)
    return std::nullopt;
  if (kind == Kind::GpuArray)
    return matchGpuArray(object);
  if (getDType(object).ptr() != dtype.ptr())
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
  bool onGpu = kind == Kind::GpuTensor;
  if (!hasShape(getAttribute(object, shapeName), shape) || !isPlainTensor(object, onGpu) ||
      (onGpu && getDevice(object) != device))
    return std::nullopt;
  nb::object address = callMethod(object, addressName);
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
std::optional<driver::BoundArguments> KnownCalls::match(const Call &known, nb::tuple arguments,
                                                        Stream &stream) {
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
      if (argument.isOnGpu() && !stream && !(stream = argument.findStream(object)))
        return std::nullopt;
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
bool KnownCalls::makeOutputs(const Call &known, driver::BoundArguments &bound, nb::list &outputs,
                             Stream &stream) {
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
    if (read->isOnGpu() && !stream && !(stream = read->findStream(made)))
      return false;
  }
  return true;
}

std::optional<driver::BoundArguments> KnownCalls::find(nb::tuple arguments, nb::list &outputs,
                                                       uintptr_t &stream) {
  for (auto it = calls.begin(); it != calls.end(); ++it) {
    Stream found;
    std::optional<driver::BoundArguments> bound = match(*it, arguments, found);
    if (!bound)
      continue;
    std::rotate(calls.begin(), it, it + 1);
    if (!makeOutputs(calls.front(), *bound, outputs, found))
      return std::nullopt;
    stream = found.value_or(0);
    return bound;
  }
  return std::nullopt;
}
