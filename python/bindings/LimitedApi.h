//===- LimitedApi.h - Python's calls where the stable ABI holds ---------------------*- C++ -*-===//
//
// The wheel for Python 3.12 and later is compiled with Py_LIMITED_API, which has no macros that look
// inside an object. These are the functions that the bindings call instead.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PYTHON_BINDINGS_LIMITEDAPI_H
#define TILEWRIGHT_PYTHON_BINDINGS_LIMITEDAPI_H

#include <nanobind/nanobind.h>

#ifdef Py_LIMITED_API
#include <dlfcn.h>

#define PyFloat_AS_DOUBLE PyFloat_AsDouble
#define PyTuple_GET_SIZE PyTuple_Size
#define PyTuple_GET_ITEM PyTuple_GetItem
#define PyObject_CallMethodNoArgs(object, name) PyObject_CallMethodObjArgs(object, name, nullptr)

namespace tilewright::bindings {
/// Whether the interpreter is shutting down. Public, and then stable, from Python 3.13 on; in 3.12 the
/// function has an underscore. So it is looked up by name.
inline bool isInterpreterFinalizing() {
  static const auto function = [] {
    void *found = dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
    return reinterpret_cast<int (*)()>(found ? found : dlsym(RTLD_DEFAULT, "_Py_IsFinalizing"));
  }();
  return function && function() != 0;
}
} // namespace tilewright::bindings

#else

namespace tilewright::bindings {
inline bool isInterpreterFinalizing() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}
} // namespace tilewright::bindings

#endif // Py_LIMITED_API
#endif // TILEWRIGHT_PYTHON_BINDINGS_LIMITEDAPI_H
