//===- Vgpu.cpp - the virtual GPU in Python --------------------------------------------------===//

#include "vgpu/Vgpu.h"
#include "Bindings.h"

using namespace tilewright;
using namespace tilewright::bindings;

namespace {

/// (pointer, bytes, name) is memory of the host; a bytes object is passed by value.
vgpu::Argument toArgument(nb::handle object) {
  if (nb::isinstance<nb::bytes>(object)) {
    nb::bytes bytes = nb::cast<nb::bytes>(object);
    return vgpu::Argument::raw({static_cast<const uint8_t *>(bytes.data()), bytes.size()});
  }
  nb::tuple fields = nb::cast<nb::tuple>(object);
  return vgpu::Argument::buffer(reinterpret_cast<void *>(nb::cast<uintptr_t>(fields[0])),
                                nb::cast<uint64_t>(fields[1]), nb::cast<std::string>(fields[2]));
}

template <typename T> T unwrap(llvm::Expected<T> value) {
  if (!value)
    throw UserError(llvm::toString(value.takeError()));
  return std::move(*value);
}

/// Findings and counters as JSON text; Python reads it.
std::string launch(const vgpu::Module &module, const std::string &entry,
                   const std::vector<uint32_t> &grid, const std::vector<uint32_t> &block,
                   nb::list args, uint32_t sharedBytes, const std::string &arch,
                   const std::string &checks, bool countMemory, unsigned numThreads) {
  vgpu::LaunchConfig config;
  config.entry = entry;
  config.grid = {grid.at(0), grid.at(1), grid.at(2)};
  config.block = {block.at(0), block.at(1), block.at(2)};
  config.dynamicSharedBytes = sharedBytes;
  config.arch = arch;
  config.checks = unwrap(vgpu::CheckSet::parse(checks));
  config.countMemory = countMemory;
  config.numThreads = numThreads;
  std::vector<vgpu::Argument> arguments;
  for (nb::handle arg : args)
    arguments.push_back(toArgument(arg));
  llvm::Expected<vgpu::LaunchResult> result = [&] {
    nb::gil_scoped_release release;
    return vgpu::launch(module, config, arguments);
  }();
  return describeLaunch(unwrap(std::move(result)));
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
                            {"complete", result.isComplete}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(answer));
  return text;
}

void tilewright::bindings::bindVgpu(nb::module_ &module) {
  nb::class_<vgpu::Module>(module, "VgpuModule", "PTX loaded by the virtual GPU.")
      .def("launch", &launch);
  module.def(
      "vgpu_load",
      [](const std::string &ptx, const std::string &name) {
        return unwrap(vgpu::parsePtx(ptx, name)).release();
      },
      nb::rv_policy::take_ownership);
}
