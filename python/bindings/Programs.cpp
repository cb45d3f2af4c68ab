//===- Programs.cpp - Program in Python: text, summary, checks, code --------------------------===//

#include "Bindings.h"
#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Layout/Notation.h"
#include "tilewright/Tile/Strides.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <nanobind/stl/shared_ptr.h>

using namespace tilewright;
using namespace tilewright::bindings;
using driver::Executable;

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

nb::list getParams(const Executable &self) {
  mlir::func::FuncOp function = self.getProgram()->getFunction();
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

nb::dict getSummary(const Executable &self) {
  mlir::func::FuncOp function = self.getProgram()->getFunction();
  nb::list kernels;
  function.walk([&](tile::KernelOp kernel) {
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
  summary["name"] = function.getName().str();
  summary["kernels"] = kernels;
  summary["params"] = getParams(self);
  return summary;
}

/// Runs the checks; gives the IR after each pass in the list as (pass, text).
nb::list check(const Executable &self, const std::vector<std::string> &dumpAfter) {
  Dumps dumps;
  driver::PipelineOptions options;
  options.dumpAfter = dumpAfter;
  options.afterPass = dumps.getListener();
  llvm::Error error = compileWithoutGil([&] { return self.check(options); });
  if (error)
    throw driver::takeReport(std::move(error));
  return dumps.toList();
}

/// Compiles for a GPU: what `fromArtifact` gives, and {ptx, dumps}. The code is for calls in which
/// 16 divides the shape symbols `divisible`.
nb::dict compileGpu(Executable &self, const std::string &arch,
                    const std::vector<std::string> &dumpAfter,
                    const std::vector<std::string> &divisible) {
  Dumps dumps;
  driver::PipelineOptions options;
  options.dumpAfter = dumpAfter;
  options.afterPass = dumps.getListener();
  auto artifact = compileWithoutGil([&] { return self.getGpuCode(arch, divisible, options); });
  std::shared_ptr<const driver::CompiledArtifact> code = unwrap(std::move(artifact));
  nb::dict result = fromArtifact(*code);
  result["ptx"] = code->code;
  result["dumps"] = dumps.toList();
  return result;
}

/// Compiles for a GPU and gives what was decided on the way: [(stage, JSON)] with all passes,
/// "plan" and "threads" (Driver/Description.h).
nb::list describeGpu(Executable &self, const std::string &arch,
                     const std::vector<std::string> &divisible) {
  Dumps dumps;
  driver::PipelineOptions options;
  options.dumpAfter = driver::PassNames::get().gpu;
  options.dumpAfter.insert(options.dumpAfter.end(), {"plan", "threads"});
  options.isDescribed = true;
  options.afterPass = dumps.getListener();
  auto artifact = compileWithoutGil([&] { return self.getGpuCode(arch, divisible, options); });
  unwrap(std::move(artifact));
  return dumps.toList();
}

/// What a multiprocessor of each architecture has.
nb::dict listArchs(const std::vector<std::string> &names) {
  nb::dict all;
  for (const std::string &name : names) {
    const Arch *arch = findArch(name);
    if (!arch)
      continue;
    nb::dict entry;
    entry["max_shared_bytes"] = arch->maxSharedBytes;
    entry["max_threads"] = arch->maxThreads;
    entry["shared_bytes_per_processor"] = arch->sharedBytesPerProcessor;
    entry["threads_per_processor"] = arch->threadsPerProcessor;
    entry["blocks_per_processor"] = arch->blocksPerProcessor;
    entry["registers_per_processor"] = kRegistersPerProcessor;
    all[name.c_str()] = entry;
  }
  return all;
}

/// Compiles for the CPU, keeping nothing: what `fromArtifact` gives, {dumps: [(pass, text)]}, and
/// the texts of the stages after the passes: {host, llvm, asm}.
nb::dict compileCpu(const Executable &self, std::vector<std::string> dumpAfter) {
  Dumps dumps;
  driver::PipelineOptions options;
  options.dumpAfter = std::move(dumpAfter);
  options.dumpAfter.insert(options.dumpAfter.end(), {"host", "llvm", "asm"});
  options.afterPass = dumps.getListener();
  auto artifact =
      compileWithoutGil([&]() -> llvm::Expected<std::shared_ptr<const driver::CompiledArtifact>> {
        return self.compileShown("cpu", options);
      });
  nb::dict result = fromArtifact(*unwrap(std::move(artifact)));
  for (const auto &[stage, text] : dumps.texts)
    result[stage.c_str()] = text;
  result["dumps"] = dumps.toList();
  return result;
}

/// None if no element of the tensor lies at this offset of its memory.
nb::object getLogicalIndex(const Executable &self, unsigned argument,
                           const std::vector<int64_t> &shape, int64_t offset) {
  auto index = interp::findLogicalIndex(self.getProgram()->getFunction(), argument, shape, offset);
  return index ? nb::cast(std::vector<int64_t>(index->begin(), index->end())) : nb::none();
}

} // namespace

runtime::CallArgument tilewright::bindings::toCallArgument(nb::handle object) {
  if (PyBool_Check(object.ptr()))
    return object.ptr() == Py_True;
  if (PyLong_Check(object.ptr())) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    if (!overflow)
      return int64_t(value);
    unsigned long long wide = overflow > 0 ? PyLong_AsUnsignedLongLong(object.ptr()) : 0;
    if (overflow < 0 || PyErr_Occurred()) {
      PyErr_Clear();
      throw UserError("the number " + nb::cast<std::string>(nb::str(object)) +
                      " does not fit 64 bits");
    }
    return uint64_t(wide);
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

std::vector<runtime::CallArgument> tilewright::bindings::toCallArguments(nb::list objects) {
  std::vector<runtime::CallArgument> arguments;
  for (nb::handle object : objects)
    arguments.push_back(toCallArgument(object));
  return arguments;
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
  module.def("arch_limits", &listArchs, nb::arg("names"),
             "What a multiprocessor of each of these architectures has.");
  module.def(
      "parse_program", [](const std::string &text) { return unwrap(Executable::parse(text)); },
      nb::arg("text"), "A program from its tile IR.");
  nb::class_<Executable> program(module, "Program", "Verified tile IR of one prim_func.");
  program
      .def(
          "text",
          [](const Executable &self, bool locations) {
            return unwrap(compileWithoutGil([&] { return self.getText(locations); }));
          },
          nb::arg("locations") = false)
      .def("summary", &getSummary)
      .def_prop_ro("params", &getParams)
      .def("check", &check, nb::arg("dump_after") = std::vector<std::string>())
      .def("compile_gpu", &compileGpu, nb::arg("arch"),
           nb::arg("dump_after") = std::vector<std::string>(),
           nb::arg("divisible") = std::vector<std::string>())
      .def("describe_gpu", &describeGpu, nb::arg("arch"),
           nb::arg("divisible") = std::vector<std::string>())
      .def("compile_cpu", &compileCpu, nb::arg("dump_after") = std::vector<std::string>())
      .def(
          "with_setting",
          [](const Executable &self, const std::string &name, bool isSet) {
            auto copy = compileWithoutGil([&] { return self.withSetting("tile." + name, isSet); });
            return unwrap(std::move(copy));
          },
          nb::arg("name"), nb::arg("is_set"),
          "A copy of the program that has a setting (fast_math, no_bulk, no_roles) or not.")
      .def(
          "has_setting",
          [](const Executable &self, const std::string &name) {
            return self.getProgram()->getFunction()->hasAttr("tile." + name);
          },
          nb::arg("name"))
      .def("logical_index", &getLogicalIndex, nb::arg("argument"), nb::arg("shape"),
           nb::arg("offset"),
           "The index of the element at an offset of a tensor's memory, or None.")
      .def("check_arguments", [](const Executable &self, nb::list args) {
        if (llvm::Error error = self.checkArguments(toCallArguments(args)))
          throw driver::takeReport(std::move(error));
      });
  bindKernels(module, program);
}
