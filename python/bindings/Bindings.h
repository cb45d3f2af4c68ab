//===- Bindings.h - shared declarations of the Python extension ---------------------*- C++ -*-===//
//
// Thin: it converts Python objects to the Frontend's values and back, and decides nothing.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PYTHON_BINDINGS_BINDINGS_H
#define TILEWRIGHT_PYTHON_BINDINGS_BINDINGS_H

#include "Gil.h"
#include "tilewright/Driver/Executable.h"
#include "tilewright/Frontend/Trace.h"
#include "tilewright/Runtime/Arguments.h"
#include "tilewright/Support/Interrupts.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace vgpu {
struct LaunchResult;
} // namespace vgpu

namespace tilewright::bindings {
namespace nb = nanobind;
using namespace tilewright::frontend;

/// A Python number, symbolic size, element, variable or run-time scalar; nothing for other objects.
std::optional<Operand> tryOperand(nb::handle object);
/// The same; throws UserError naming `what` for other objects.
Operand toOperand(nb::handle object, llvm::StringRef what);
std::vector<Operand> toOperands(nb::handle sequence, llvm::StringRef what);
/// An int or a symbolic size.
IndexExpr toExtent(nb::handle object, llvm::StringRef what);
std::vector<IndexExpr> toShape(nb::handle sequence, llvm::StringRef what);
TileOperand toTile(nb::handle object, llvm::StringRef what);
Buffer toBuffer(nb::handle object, llvm::StringRef what);
std::vector<Subscript> toSubscripts(nb::handle index, unsigned rank);

/// Python's view: constants become ints.
nb::object fromIndexExpr(const IndexExpr &expr);
nb::object fromExtent(const Extent &extent);
nb::list fromScalars(const std::vector<Scalar> &scalars);
mlir::DictionaryAttr toAttributes(mlir::MLIRContext *context, nb::handle dictionary);

/// A number, or a tensor as (address, shape, strides in elements, dtype name, writable, on a GPU).
runtime::CallArgument toCallArgument(nb::handle object);
std::vector<runtime::CallArgument> toCallArguments(nb::list objects);

/// The value; an error is the caller's.
template <typename T> T unwrap(llvm::Expected<T> value) {
  if (!value)
    throw driver::takeReport(value.takeError());
  return std::move(*value);
}

/// What a compilation shows, (pass or phase, text) in order. It is told from a thread that Python
/// does not know.
struct Dumps {
  std::vector<std::pair<std::string, std::string>> texts;

  auto getListener() {
    return [this](llvm::StringRef name, llvm::StringRef text) {
      texts.emplace_back(name.str(), text.str());
    };
  }
  nb::list toList() const {
    nb::list list;
    for (const auto &[name, text] : texts)
      list.append(nb::make_tuple(name, text));
    return list;
  }
};

/// Decisions as [(file, line, kind, buffer, message, data as JSON)].
nb::list toList(llvm::ArrayRef<driver::Decision> decisions);

/// What a compilation left: {phases: [(name, ms)], kernels, remarks, from_cache}.
nb::dict fromArtifact(const driver::CompiledArtifact &artifact);

/// Findings and counters of a launch as JSON text.
std::string describeLaunch(const vgpu::LaunchResult &result);

void bindValues(nb::module_ &module);
void bindVgpu(nb::module_ &module);
void bindLayouts(nb::module_ &module);
void bindTraces(nb::module_ &module);
void bindPrograms(nb::module_ &module);
void bindKernels(nb::module_ &module, nb::class_<driver::Executable> &program);
void bindCache(nb::module_ &module);
void bindCuda(nb::module_ &module);
void bindExports(nb::module_ &module);
void bindTools(nb::module_ &module);

/// Looks for signals (Ctrl-C) while a run goes on without the GIL.
class SignalWatch {
public:
  bool goesOn() {
    if (isOfEndingThread)
      return true;
    WithGil lock;
    if (!raised && PyErr_CheckSignals() != 0)
      raised.emplace();
    return !raised;
  }
  bool hasRaised() const { return raised.has_value(); }
  /// The exception of the signal's handler, if there was one.
  void rethrow() {
    if (raised)
      throw std::move(*raised);
  }

private:
  const bool isOfEndingThread = isPythonEnding(); ///< It keeps the GIL: see Gil.h.
  std::optional<nb::python_error> raised;
};

inline llvm::Error takeError(llvm::Error &result) { return std::move(result); }
template <typename ValueT> llvm::Error takeError(llvm::Expected<ValueT> &result) {
  return result.takeError();
}

/// What `compile` gives, an llvm::Error or llvm::Expected, without the GIL. The exception of a signal's
/// handler (Ctrl-C) ends the compilation and is thrown.
template <typename CompileT> auto compileWithoutGil(CompileT compile) {
  SignalWatch signals;
  auto goesOn = [&] { return signals.goesOn(); };
  auto result = [&] {
    WithoutGil others;
    InterruptScope scope(goesOn);
    return compile();
  }();
  if (signals.hasRaised())
    llvm::consumeError(takeError(result));
  signals.rethrow();
  return result;
}

/// The Python class TraceError, for translators.
nb::object &traceErrorClass();

} // namespace tilewright::bindings

#endif // TILEWRIGHT_PYTHON_BINDINGS_BINDINGS_H
