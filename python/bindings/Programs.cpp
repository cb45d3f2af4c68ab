//===- Programs.cpp - Program in Python: text, summary, checks, runs -------------------------===//

#include "Bindings.h"
#include "tilewright/Driver/GpuCache.h"
#include "tilewright/Driver/VirtualGpu.h"
#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Frontend/Diagnostics.h"
#include "tilewright/Interp/Interp.h"
#include "tilewright/Layout/Notation.h"
#include "tilewright/Support/Environment.h"
#include "tilewright/Support/Guarded.h"
#include "tilewright/Tile/Strides.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Parser/Parser.h"
#include <chrono>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

using namespace tilewright;
using namespace tilewright::bindings;

namespace {

/// An extent as a user would write it: a number or a formula of symbols.
nb::object describeExtent(tile::ShapeAttr shape, mlir::MemRefType type, unsigned dim) {
  if (!mlir::ShapedType::isDynamic(type.getDimSize(dim)))
    return nb::int_(type.getDimSize(dim));
  if (!shape)
    return nb::str("?");
  IndexNames names;
  for (mlir::StringAttr symbol : shape.getSymbols())
    names.symbols.push_back(symbol.str());
  return nb::str(toString(shape.getExtents()[dim], names).c_str());
}

nb::list getParams(const Program &self) {
  mlir::func::FuncOp function = self.getFunction();
  nb::list params;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (function.getArgAttr(i, tile::kSymbolAttr))
      continue;
    nb::dict param;
    auto name = function.getArgAttrOfType<mlir::StringAttr>(i, tile::kNameAttr);
    param["name"] = name ? name.str() : std::to_string(i);
    param["is_used"] = !function.getArgument(i).use_empty();
    mlir::Type type = function.getArgumentTypes()[i];
    if (auto memref = llvm::dyn_cast<mlir::MemRefType>(type)) {
      param["kind"] = "tensor";
      param["dtype"] = getDTypeName(memref.getElementType());
      nb::list shape;
      auto attribute = function.getArgAttrOfType<tile::ShapeAttr>(i, tile::kShapeAttr);
      for (int64_t dim = 0; dim < memref.getRank(); ++dim)
        shape.append(describeExtent(attribute, memref, dim));
      param["shape"] = shape;
      param["is_strided"] = bool(function.getArgAttr(i, tile::kStridesAttr));
      param["is_written"] = tile::mayWrite(function, function.getArgument(i));
    } else {
      param["kind"] = "scalar";
      auto dtype = function.getArgAttrOfType<mlir::TypeAttr>(i, tile::kDTypeAttr);
      param["dtype"] = getDTypeName(dtype ? dtype.getValue() : type);
      param["shape"] = nb::list();
    }
    params.append(param);
  }
  return params;
}

nb::dict describeTile(tile::AllocOp alloc) {
  mlir::MemRefType type = alloc.getBuffer().getType();
  nb::dict entry;
  entry["name"] = alloc.getName().str();
  entry["scope"] = tile::stringifySpace(tile::getSpace(type)).str();
  entry["shape"] = std::vector<int64_t>(type.getShape().begin(), type.getShape().end());
  entry["dtype"] = getDTypeName(type.getElementType());
  entry["bytes"] = type.hasStaticShape()
                       ? nb::object(nb::int_(type.getNumElements() *
                                             tile::getStorageBytes(type.getElementType())))
                       : nb::none();
  return entry;
}

nb::dict getSummary(const Program &self) {
  nb::list kernels;
  self.getFunction().walk([&](tile::KernelOp kernel) {
    nb::dict entry;
    nb::list grid, tiles;
    for (mlir::Value extent : kernel.getGrid()) {
      std::optional<int64_t> constant = mlir::getConstantIntValue(extent);
      grid.append(constant ? nb::object(nb::int_(*constant)) : nb::object(nb::str("?")));
    }
    kernel.walk([&](tile::AllocOp alloc) {
      if (alloc.getBuffer().getType().getRank() > 0)
        tiles.append(describeTile(alloc));
    });
    unsigned statements = 0;
    kernel.walk([&](tile::TileEffectsOpInterface) { ++statements; });
    entry["grid"] = grid;
    entry["threads"] = std::vector<int64_t>(kernel.getThreads().begin(), kernel.getThreads().end());
    entry["tiles"] = tiles;
    entry["statements"] = statements;
    kernels.append(entry);
  });
  nb::dict summary;
  summary["name"] = self.getFunction().getName().str();
  summary["kernels"] = kernels;
  summary["params"] = getParams(self);
  return summary;
}

/// Runs the checks; gives the IR after each pass asked for as (pass, text).
nb::list check(const Program &self, const std::vector<std::string> &dumpAfter) {
  Dumps dumps;
  driver::PipelineOptions options;
  options.dumpAfter = dumpAfter;
  options.afterPass = dumps.getListener();
  CompileLock lock(self);
  mlir::ModuleOp module = self.getModule();
  DiagnosticCapture capture(module.getContext());
  if (mlir::failed(driver::checkProgram(module, options)))
    throw capture.takeError();
  return dumps.toList();
}

bool hasSymbol(mlir::func::FuncOp function, llvm::StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto symbol = function.getArgAttrOfType<mlir::StringAttr>(i, tile::kSymbolAttr);
        symbol && symbol.getValue() == name)
      return true;
  return false;
}

/// What lies where in the shared memory of a kernel.
nb::list describeSharedTiles(const nvptx::KernelInfo &info) {
  nb::list tiles;
  for (const nvptx::SharedTile &tile : info.tiles) {
    nb::dict entry;
    entry["name"] = tile.name;
    entry["offset"] = tile.offset;
    entry["bytes"] = tile.bytes;
    entry["element_bytes"] = tile.elementBytes;
    entry["shape"] = tile.shape;
    entry["layout"] = tile.layout;
    tiles.append(entry);
  }
  return tiles;
}

/// Compiles for a GPU: {ptx, kernels, remarks, dumps, phases: [(name, ms)]}. The code is for calls
/// in which 16 divides the shape symbols `divisible`.
nb::dict compileGpu(const Program &self, const std::string &archName,
                    const std::vector<std::string> &dumpAfter,
                    const std::vector<std::string> &divisible) {
  const Arch *arch = findArch(archName);
  if (!arch)
    throw UserError("unknown architecture '" + archName + "'; known are " + getArchNames().str());
  Dumps dumps;
  driver::PipelineOptions options = getGpuOptions();
  for (const std::string &symbol : divisible)
    if (!hasSymbol(self.getFunction(), symbol))
      throw UserError("no shape of a parameter of '" + self.getFunction().getName().str() +
                      "' has a symbol '" + symbol + "'");
  options.calls.divisibleSymbols = divisible;
  options.dumpAfter = dumpAfter;
  options.afterPass = dumps.getListener();
  CompileLock lock(self);
  mlir::ModuleOp module = self.getModule();
  DiagnosticCapture capture(module.getContext());
  mlir::FailureOr<driver::GpuProgram> program = [&] {
    std::optional<WithoutGil> others;
    if (dumpAfter.empty()) // dumps are Python's
      others.emplace();
    return driver::compileForGpuOrLoad(module, *arch, options);
  }();
  if (mlir::failed(program))
    throw capture.takeError();
  nb::list kernels;
  for (const nvptx::KernelInfo &info : program->kernels) {
    nb::dict kernel;
    kernel["name"] = info.name;
    kernel["threads"] = info.numThreads;
    kernel["shared_bytes"] = info.sharedBytes;
    kernel["tiles"] = describeSharedTiles(info);
    kernels.append(kernel);
  }
  nb::list phases;
  for (const PhaseTime &phase : program->phases)
    phases.append(nb::make_tuple(phase.name, phase.milliseconds));
  nb::dict result;
  result["ptx"] = program->ptx;
  result["phases"] = phases;
  result["kernels"] = kernels;
  result["remarks"] = toList(program->decisions);
  result["dumps"] = dumps.toList();
  return result;
}

nb::dict fromFinding(const interp::Finding &finding) {
  nb::dict entry;
  entry["severity"] = interp::getName(finding.severity).str();
  entry["kind"] = interp::getName(finding.kind).str();
  entry["message"] = finding.message;
  entry["file"] = finding.file;
  entry["line"] = finding.line;
  entry["column"] = finding.column;
  entry["buffer"] = finding.buffer;
  entry["index"] = std::vector<int64_t>(finding.index.begin(), finding.index.end());
  entry["block"] = std::vector<int64_t>(finding.block.begin(), finding.block.end());
  entry["count"] = finding.count;
  entry["text"] = interp::toString(finding);
  return entry;
}

nb::dict runOnInterpreter(const Program &self, nb::list args, nb::dict options) {
  std::vector<interp::Argument> arguments;
  for (const runtime::BoundArgument &argument : bind(self, args)) {
    if (auto *tensor = std::get_if<runtime::BoundTensor>(&argument))
      arguments.push_back(interp::TensorArgument{tensor->data, tensor->shape, tensor->elementType});
    else if (auto *integer = std::get_if<int64_t>(&argument))
      arguments.push_back(*integer);
    else
      arguments.push_back(std::get<double>(argument));
  }
  if (options.contains("unwritten")) // positions of tensors
    for (size_t position : nb::cast<std::vector<size_t>>(options["unwritten"]))
      std::get<interp::TensorArgument>(arguments.at(position)).isUnwritten = true;
  interp::Options interpOptions;
  auto flag = [&](const char *name, bool fallback) {
    return options.contains(name) ? nb::cast<bool>(options[name]) : fallback;
  };
  interpOptions.check = flag("check", true);
  interpOptions.bounds = flag("bounds", false);
  if (options.contains("thread_order"))
    interpOptions.threadOrder = nb::cast<uint64_t>(options["thread_order"]);
  std::string output; // of T.print
  llvm::raw_string_ostream outputStream(output);
  interpOptions.output = &outputStream;
  CompileLock lock(self);
  auto start = std::chrono::steady_clock::now();
  SignalWatch signals;
  interpOptions.poll = [&] { return signals.goesOn(); };
  // Radii are those of the form without threads.
  mlir::OwningOpRef<mlir::ModuleOp> spread;
  if (interpOptions.bounds)
    spread = driver::spreadThreads(self.getModule());
  llvm::Expected<interp::Result> result = [&] {
    WithoutGil others;
    mlir::func::FuncOp function =
        spread ? *spread->getOps<mlir::func::FuncOp>().begin() : self.getFunction();
    return interp::run(function, arguments, interpOptions);
  }();
  signals.rethrow();
  if (!result)
    throw UserError(llvm::toString(result.takeError()));
  nb::dict answer;
  nb::list findings;
  for (const interp::Finding &finding : result->findings)
    findings.append(fromFinding(finding));
  nb::dict radii;
  for (const interp::TensorRadii &tensor : result->radii)
    radii[nb::int_(tensor.argument)] = tensor.radii;
  answer["findings"] = findings;
  answer["stopped"] = result->stopped;
  answer["steps"] = result->steps;
  answer["radii"] = radii;
  answer["output"] = output;
  answer["seconds"] = secondsSince(start);
  return answer;
}

/// Compiles once for each architecture and kind of call, and launches on the virtual GPU:
/// {launches, tiles, output, stopped, seconds}, a launch being JSON text and its tiles what lies in
/// shared memory; and if it compiled, {divisible:
/// the shape symbols that the code takes for multiples of 16, remarks}.
nb::dict runOnVirtualGpu(const Program &self, const std::string &device, nb::list args,
                         nb::dict options) {
  std::string archName = device.substr(device.find(':') + 1);
  const Arch *arch = findArch(archName);
  if (!arch)
    throw UserError("unknown architecture '" + archName + "'; known are " + getArchNames().str());
  std::vector<runtime::BoundArgument> arguments = bind(self, args);
  driver::PipelineOptions pipeline = getGpuOptions();
  pipeline.calls = driver::readCallFacts(self.getFunction(), arguments);
  nb::dict answer;
  // PTX that the caller has edited runs in place of ours, and is not kept.
  std::shared_ptr<void> edited;
  bool isEdited = options.contains("ptx");
  std::shared_ptr<void> &cached =
      isEdited ? edited : self.getCompiled(device + " " + pipeline.calls.getKey());
  if (CompileLock lock(self); !cached) {
    driver::GpuProgram program = compileForCall(self, *arch, pipeline, answer);
    if (isEdited)
      program.ptx = nb::cast<std::string>(options["ptx"]);
    cached = std::shared_ptr<driver::VirtualGpuKernel>(
        unwrap(driver::VirtualGpuKernel::load(program, archName)));
  }
  auto *kernel = static_cast<driver::VirtualGpuKernel *>(cached.get());
  std::string checks =
      options.contains("checks") ? nb::cast<std::string>(options["checks"]) : "all";
  std::optional<vgpu::WatchedBytes> watch;
  if (options.contains("watch")) { // (argument, offset in bytes, bytes)
    auto [argument, offset, bytes] =
        nb::cast<std::tuple<unsigned, uint64_t, uint64_t>>(options["watch"]);
    watch = {argument, offset, bytes};
  }
  auto start = std::chrono::steady_clock::now();
  SignalWatch signals;
  llvm::Expected<driver::VirtualGpuRun> result = [&] {
    WithoutGil others;
    return kernel->run(self.getFunction(), arguments, checks, watch,
                       [&] { return signals.goesOn(); });
  }();
  signals.rethrow();
  if (!result)
    throw UserError(llvm::toString(result.takeError()));
  nb::list launches, tiles;
  for (const nvptx::KernelInfo *info : result->launched)
    tiles.append(describeSharedTiles(*info));
  bool stopped = false;
  std::string output; // of T.print
  for (const vgpu::LaunchResult &launch : result->launches) {
    output += launch.output;
    launches.append(nb::str(describeLaunch(launch).c_str()));
    stopped |= !launch.isComplete;
  }
  answer["launches"] = launches;
  answer["tiles"] = tiles;
  answer["output"] = llvm::json::fixUTF8(output);
  answer["stopped"] = stopped;
  answer["seconds"] = secondsSince(start);
  return answer;
}

/// None if no element of the tensor lies at this place of its memory.
nb::object getLogicalIndex(const Program &self, unsigned argument,
                           const std::vector<int64_t> &shape, int64_t place) {
  auto index = interp::findLogicalIndex(self.getFunction(), argument, shape, place);
  return index ? nb::cast(std::vector<int64_t>(index->begin(), index->end())) : nb::none();
}

nb::dict run(const Program &self, const std::string &device, nb::list args, nb::dict options) {
  if (device == "interp")
    return runOnInterpreter(self, args, options);
  if (device == "cpu")
    return runOnCpu(self, args, options);
  if (llvm::StringRef(device).starts_with("vgpu:"))
    return runOnVirtualGpu(self, device, args, options);
  if (llvm::StringRef(device).starts_with("cuda:"))
    return runOnCuda(self, device, args, options);
  throw UserError("device '" + device +
                  "' does not exist; use 'cpu', 'interp', 'vgpu:sm_80' or 'cuda:0'");
}

/// A program from its text (`kernel.ir()`), perhaps edited.
std::unique_ptr<Program> parseProgram(const std::string &text) {
  std::unique_ptr<mlir::MLIRContext> context = frontend::makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    DiagnosticCapture capture(context.get());
    std::optional<std::string> stop =
        runGuarded([&] { module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get()); });
    if (stop) {
      (void)context.release(); // the thread that stopped stands in it
      throw UserError("the text does not parse: " + *stop);
    }
    if (!module)
      throw capture.takeError();
  }
  if (module->getOps<mlir::func::FuncOp>().empty())
    throw UserError("the text has no function");
  return std::make_unique<Program>(std::move(context), std::move(module));
}

} // namespace

static bool isSwitchedOn(environment::Variable variable) {
  return unwrap(environment::readSwitch(variable, false));
}

driver::PipelineOptions tilewright::bindings::getGpuOptions() {
  if (llvm::Error error = environment::check())
    throw UserError(llvm::toString(std::move(error)));
  driver::PipelineOptions options;
  options.checkPlans =
      isSwitchedOn(environment::Variable::Check) || isSwitchedOn(environment::Variable::CheckPlans);
  return options;
}

driver::GpuProgram tilewright::bindings::compileForCall(const Program &self, const Arch &arch,
                                                        const driver::PipelineOptions &options,
                                                        nb::dict answer) {
  DiagnosticCapture capture(self.getModule().getContext());
  mlir::FailureOr<driver::GpuProgram> program =
      driver::compileForGpuOrLoad(self.getModule(), arch, options);
  if (mlir::failed(program))
    throw capture.takeError();
  answer["divisible"] = options.calls.divisibleSymbols;
  answer["remarks"] = toList(program->decisions);
  return std::move(*program);
}

runtime::CallArgument tilewright::bindings::toCallArgument(nb::handle object) {
  if (PyBool_Check(object.ptr()))
    return object.ptr() == Py_True;
  if (PyLong_Check(object.ptr())) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    if (overflow)
      throw UserError("the number " + nb::cast<std::string>(nb::str(object)) +
                      " does not fit 64 bits");
    return int64_t(value);
  }
  if (PyFloat_Check(object.ptr()))
    return nb::cast<double>(object);
  runtime::TensorView view;
  if (object.is_none())
    return view; // for a tensor that the kernel does not use
  nb::tuple fields = nb::cast<nb::tuple>(object);
  view.data = reinterpret_cast<void *>(nb::cast<uintptr_t>(fields[0]));
  view.shape = nb::cast<std::vector<int64_t>>(fields[1]);
  view.strides = nb::cast<std::vector<int64_t>>(fields[2]);
  view.dtype = nb::cast<std::string>(fields[3]);
  view.isWritable = nb::cast<bool>(fields[4]);
  view.isOnGpu = nb::cast<bool>(fields[5]);
  view.isPacked = fields.size() > 6;
  return view;
}

std::vector<runtime::BoundArgument> tilewright::bindings::bind(const Program &self, nb::list args) {
  std::vector<runtime::CallArgument> arguments;
  for (nb::handle arg : args)
    arguments.push_back(toCallArgument(arg));
  auto bound = runtime::bindArguments(self.getFunction(), arguments);
  if (!bound)
    throw UserError(llvm::toString(bound.takeError()));
  return std::move(*bound);
}

nb::list tilewright::bindings::toList(llvm::ArrayRef<driver::Decision> decisions) {
  nb::list list;
  for (const driver::Decision &decision : decisions) {
    std::string data;
    llvm::raw_string_ostream(data) << llvm::json::Value(llvm::json::Object(decision.data));
    list.append(nb::make_tuple(decision.file, decision.line, decision.kind, decision.buffer,
                               decision.message, data));
  }
  return list;
}

void tilewright::bindings::bindPrograms(nb::module_ &module) {
  module.def(
      "pass_names",
      [] {
        driver::PassNames names = driver::PassNames::get();
        nb::dict all;
        all["check"] = names.check;
        all["cpu"] = names.cpu;
        all["gpu"] = names.gpu;
        return all;
      },
      "The passes of each pipeline, in order.");
  module.def("parse_program", &parseProgram, nb::arg("text"), "A program from its tile IR.");
  nb::class_<Program>(module, "Program", "Verified tile IR of one prim_func.")
      .def("text", &Program::getText, nb::arg("locations") = false)
      .def("summary", &getSummary)
      .def_prop_ro("params", &getParams)
      .def("check", &check, nb::arg("dump_after") = std::vector<std::string>())
      .def("compile_gpu", &compileGpu, nb::arg("arch"),
           nb::arg("dump_after") = std::vector<std::string>(),
           nb::arg("divisible") = std::vector<std::string>())
      .def("compile_cpu", &compileCpu, nb::arg("dump_after") = std::vector<std::string>())
      .def(
          "with_fast_math",
          [](const Program &self, bool allowed) {
            CompileLock lock(self);
            std::unique_ptr<Program> copy = self.withFastMath(allowed);
            if (!copy)
              throw UserError("internal error: the program cannot be copied");
            return copy.release();
          },
          nb::rv_policy::take_ownership, nb::arg("allowed"),
          "A copy of the program with fast math allowed or not.")
      .def("logical_index", &getLogicalIndex, nb::arg("argument"), nb::arg("shape"),
           nb::arg("place"), "The index of the element at a place of a tensor's memory, or None.")
      .def("check_arguments", [](const Program &self, nb::list args) { bind(self, args); })
      .def("run", &run, nb::arg("device"), nb::arg("args"), nb::arg("options") = nb::dict());
}
