//===- Vgpu.cpp - the virtual GPU in Python --------------------------------------------------===//

#include "vgpu/Vgpu.h"
#include "Bindings.h"
#include "KnownCalls.h"

using namespace tilewright;
using namespace tilewright::bindings;

namespace {

/// (type, shape, strides in bytes, box, swizzle, oob_fill), the innermost dimension last.
vgpu::TensorMap toTensorMap(nb::tuple fields) {
  vgpu::TensorMap map;
  std::string type = nb::cast<std::string>(fields[0]);
  std::optional<vgpu::ptx::Type> parsed = vgpu::ptx::parseType(type);
  if (!parsed)
    throw UserError("tensor map: unknown element type '" + type + "'");
  map.type = *parsed;
  auto reversed = [&](size_t field) {
    std::vector<uint64_t> values = nb::cast<std::vector<uint64_t>>(fields[field]);
    return std::vector<uint64_t>(values.rbegin(), values.rend());
  };
  for (uint64_t extent : reversed(1))
    map.extents.push_back(static_cast<uint32_t>(extent));
  map.strideBytes = reversed(2);
  if (!map.strideBytes.empty()) {
    if (map.strideBytes[0] != map.elementBytes())
      throw UserError("tensor map: the innermost dimension has a stride of " +
                      std::to_string(map.strideBytes[0]) + " bytes, but its elements of " +
                      std::to_string(map.elementBytes()) +
                      " must lie side by side; permute the dimensions, or copy the array");
    map.strideBytes.erase(map.strideBytes.begin());
  }
  for (uint64_t extent : reversed(3))
    map.box.push_back(static_cast<uint32_t>(extent));
  map.swizzle = unwrap(vgpu::parseSwizzle(nb::cast<std::string>(fields[4])));
  std::string fill = nb::cast<std::string>(fields[5]);
  if (fill != "zeros" && fill != "nan")
    throw UserError("tensor map: oob_fill must be 'zeros' or 'nan', got '" + fill + "'");
  map.fillsNan = fill == "nan";
  if (nb::len(fields) > 6) { // im2col: the box is (pixels, channels)
    if (map.box.size() != 2)
      throw UserError("tensor map: in im2col mode the box is (pixels, channels)");
    auto corner = [&](size_t field) {
      std::vector<int32_t> values = nb::cast<std::vector<int32_t>>(fields[field]);
      return std::vector<int32_t>(values.rbegin(), values.rend());
    };
    map.column = vgpu::PixelColumn{corner(6), corner(7), map.box[1]};
    map.box.assign(map.extents.size(), 1);
    map.box[0] = static_cast<uint32_t>(reversed(3)[0]);
  }
  return map;
}

/// (pointer, bytes, name) is memory of the host, (pointer, bytes, name, map, pointer to its element
/// 0) a tensor map in it; a bytes object is passed by value.
vgpu::Argument toArgument(nb::handle object) {
  if (nb::isinstance<nb::bytes>(object)) {
    nb::bytes bytes = nb::cast<nb::bytes>(object);
    return vgpu::Argument::raw({static_cast<const uint8_t *>(bytes.data()), bytes.size()});
  }
  nb::tuple fields = nb::cast<nb::tuple>(object);
  void *host = reinterpret_cast<void *>(nb::cast<uintptr_t>(fields[0]));
  uint64_t sizeBytes = nb::cast<uint64_t>(fields[1]);
  std::string name = nb::cast<std::string>(fields[2]);
  if (fields.size() > 3) {
    vgpu::Argument argument = vgpu::Argument::tensorMap(toTensorMap(nb::cast<nb::tuple>(fields[3])),
                                                        host, sizeBytes, name);
    argument.offsetBytes = nb::cast<uintptr_t>(fields[4]) - reinterpret_cast<uintptr_t>(host);
    return argument;
  }
  return vgpu::Argument::buffer(host, sizeBytes, name);
}

/// Findings and counters as JSON text; Python reads it. `arrays` are the caller's objects, whose
/// memory `args` name.
std::string launch(const vgpu::Module &module, const std::string &entry,
                   const std::vector<uint32_t> &grid, const std::vector<uint32_t> &block,
                   const std::vector<uint32_t> &cluster, const std::string &mode, nb::list args,
                   nb::list arrays, uint32_t sharedBytes, const std::string &arch,
                   const std::string &checks, bool countMemory, unsigned numThreads,
                   uint64_t stepLimit, double timeLimitSeconds) {
  vgpu::LaunchConfig config;
  config.entry = entry;
  config.grid = {grid.at(0), grid.at(1), grid.at(2)};
  config.block = {block.at(0), block.at(1), block.at(2)};
  if (!cluster.empty())
    config.cluster = {cluster.at(0), cluster.at(1), cluster.at(2)};
  config.asyncTime = unwrap(vgpu::parseAsyncTime(mode));
  config.dynamicSharedBytes = sharedBytes;
  config.arch = arch;
  config.checks = unwrap(vgpu::CheckSet::parse(checks));
  config.countMemory = countMemory;
  config.numThreads = numThreads;
  if (stepLimit)
    config.stepLimit = stepLimit;
  config.timeLimitSeconds = timeLimitSeconds;
  std::vector<vgpu::Argument> arguments;
  for (nb::handle arg : args)
    arguments.push_back(toArgument(arg));
  PinnedArrays pinned(arrays);
  SignalWatch signals;
  config.poll = [&] { return signals.goesOn(); };
  llvm::Expected<vgpu::LaunchResult> result = [&] {
    WithoutGil others;
    return vgpu::launch(module, config, arguments);
  }();
  signals.rethrow();
  return describeLaunch(unwrap(std::move(result)));
}

/// The instructions of a kernel: (PTX line, source file, source line, opcode, class).
nb::list listInstructions(const vgpu::Module &module) {
  nb::list list;
  for (const auto &program : module.kernels()) {
    const std::vector<std::string> &files = program->module->sourceFiles;
    for (const vgpu::Inst &inst : program->code) {
      if (!inst.source)
        continue;
      bool isKnown = inst.loc.file != 0 && inst.loc.file < files.size();
      list.append(nb::make_tuple(inst.line, isKnown ? files[inst.loc.file] : std::string(),
                                 isKnown ? inst.loc.line : 0, inst.source->opcode,
                                 vgpu::instClassName(inst.instClass).str()));
    }
  }
  return list;
}

} // namespace

std::string tilewright::bindings::describeLaunch(const vgpu::LaunchResult &result) {
  llvm::json::Array findings;
  for (const vgpu::Finding &finding : result.findings) {
    llvm::json::Value entry = finding.toJson();
    entry.getAsObject()->try_emplace("text", finding.text());
    entry.getAsObject()->try_emplace("note", finding.isNote);
    findings.push_back(std::move(entry));
  }
  llvm::json::Object answer{{"findings", std::move(findings)},
                            {"counters", result.counters.toJson()},
                            {"output", llvm::json::fixUTF8(result.output)},
                            {"complete", result.isComplete}};
  if (result.lastWrite)
    answer["last_write"] = result.lastWrite->toJson();
  if (result.trace)
    answer["trace"] = *result.trace;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(answer));
  return text;
}

void tilewright::bindings::bindVgpu(nb::module_ &module) {
  nb::class_<vgpu::Module>(module, "VgpuModule", "PTX loaded by the virtual GPU.")
      .def("launch", &launch)
      .def("instructions", &listInstructions);
  module.def(
      "vgpu_load",
      [](const std::string &ptx, const std::string &name) {
        return unwrap(vgpu::parsePtx(ptx, name)).release();
      },
      nb::rv_policy::take_ownership);
}
