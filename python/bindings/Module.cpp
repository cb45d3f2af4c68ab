//===- Module.cpp - the Python extension `_tilewright_core` ----------------------------------===//

#include "Bindings.h"

#include "llvm/Support/JSON.h"

using namespace tilewright;
using namespace tilewright::bindings;

nb::object &tilewright::bindings::traceErrorClass() {
  static nb::object cls;
  return cls;
}

static nb::object toPython(const SourcePosition &position) {
  return nb::make_tuple(position.file, position.line, position.column);
}

static const char *nameReason(UserError::Reason reason) {
  switch (reason) {
  case UserError::Reason::Program:
    return "program";
  case UserError::Reason::Number:
    return "number";
  case UserError::Reason::Decision:
    return "decision";
  case UserError::Reason::Internal:
    return "internal";
  }
  llvm_unreachable("all reasons have a name");
}

/// UserError becomes TraceError with .message, .reason, .location and .notes.
static void raiseTraceError(const UserError &error) {
  nb::object &cls = traceErrorClass();
  bool isInternal = error.reason == UserError::Reason::Internal;
  // A message may quote a text byte by byte, such as a token of PTX: Python takes whole characters.
  std::string message = llvm::json::fixUTF8(error.message);
  nb::object instance = cls((isInternal ? "internal error: " : "") + message);
  nb::list notes;
  for (const UserError::Note &note : error.notes)
    notes.append(
        nb::make_tuple(note.position.file, note.position.line, note.position.column, note.text));
  instance.attr("message") = message;
  instance.attr("reason") = nameReason(error.reason);
  instance.attr("location") = error.position ? toPython(*error.position) : nb::none();
  instance.attr("notes") = notes;
  PyErr_SetObject(cls.ptr(), instance.ptr());
}

NB_MODULE(_tilewright_core, module) {
  module.doc() = "Tilewright's compiler, as the Python package `tilewright` calls it.";
  traceErrorClass() = nb::steal(PyErr_NewExceptionWithDoc(
      "_tilewright_core.TraceError", "A mistake in the user's program.", nullptr, nullptr));
  module.attr("TraceError") = traceErrorClass();
  module.attr("InternalError") = nb::steal(PyErr_NewExceptionWithDoc(
      "_tilewright_core.InternalError", "A defect of Tilewright.", nullptr, nullptr));
  nb::register_exception_translator([](const std::exception_ptr &pointer, void *) {
    try {
      std::rethrow_exception(pointer);
    } catch (const UserError &error) {
      raiseTraceError(error);
    }
  });
  // Kernel objects live in module globals until the interpreter is gone; that is no leak.
  nb::set_leak_warnings(false);
  watchProcessEnd();
  bindValues(module);
  bindLayouts(module);
  bindPrograms(module);
  bindCache(module);
  bindCuda(module);
  bindTraces(module);
  bindVgpu(module);
  bindExports(module);
  bindTools(module);
}
