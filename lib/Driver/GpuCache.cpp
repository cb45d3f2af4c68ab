//===- GpuCache.cpp - compiled GPU code, kept on disk -----------------------------------------===//

#include "tilewright/Driver/GpuCache.h"
#include "tilewright/Runtime/DiskCache.h"
#include "tilewright/Support/BuildId.h"

#include "llvm/Support/JSON.h"
#include <chrono>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::driver;
using runtime::DiskCache;
namespace json = llvm::json;

static std::string makeEntryName(ModuleOp module, const Arch &arch,
                                 const PipelineOptions &options) {
  std::string program;
  llvm::raw_string_ostream os(program);
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  module.print(os, flags);
  std::string calls = options.calls.getKey();
  return DiskCache::makeName("ptx", {getBuildId(), arch.name, calls, program});
}

//===----------------------------------------------------------------------------------------===//
// A compiled program as text
//===----------------------------------------------------------------------------------------===//

static std::string write(const GpuProgram &program) {
  json::Array kernels, remarks;
  for (const nvptx::KernelInfo &kernel : program.kernels) {
    json::Array tiles;
    for (const nvptx::SharedTile &tile : kernel.tiles)
      tiles.push_back(json::Object{{"name", tile.name},
                                   {"offset", tile.offset},
                                   {"bytes", tile.bytes},
                                   {"element_bytes", tile.elementBytes},
                                   {"shape", json::Array(tile.shape)},
                                   {"layout", tile.layout}});
    kernels.push_back(json::Object{{"name", kernel.name},
                                   {"threads", kernel.numThreads},
                                   {"shared_bytes", kernel.sharedBytes},
                                   {"tiles", std::move(tiles)}});
  }
  for (const Decision &decision : program.decisions)
    remarks.push_back(toJSON(decision));
  json::Value all = json::Object{
      {"ptx", program.ptx}, {"kernels", std::move(kernels)}, {"decisions", std::move(remarks)}};
  std::string text;
  llvm::raw_string_ostream(text) << all;
  return text;
}

static bool fromJSON(const json::Value &value, nvptx::SharedTile &tile, json::Path path);
static bool fromJSON(const json::Value &value, nvptx::KernelInfo &kernel, json::Path path);

template <typename T>
static bool mapAll(const json::Value &value, StringRef name, std::vector<T> &out, json::Path path) {
  const json::Object *object = value.getAsObject();
  const json::Array *array = object ? object->getArray(name) : nullptr;
  if (!array)
    return false;
  for (const auto &[position, element] : llvm::enumerate(*array))
    if (!fromJSON(element, out.emplace_back(), path.field(name).index(position)))
      return false;
  return true;
}

static bool fromJSON(const json::Value &value, nvptx::SharedTile &tile, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", tile.name) && map.map("offset", tile.offset) &&
         map.map("bytes", tile.bytes) && map.map("element_bytes", tile.elementBytes) &&
         map.map("shape", tile.shape) && map.map("layout", tile.layout);
}

static bool fromJSON(const json::Value &value, nvptx::KernelInfo &kernel, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", kernel.name) && map.map("threads", kernel.numThreads) &&
         map.map("shared_bytes", kernel.sharedBytes) && mapAll(value, "tiles", kernel.tiles, path);
}

/// Nothing where the text is not what `write` makes; its checksum was right, so that this is an
/// entry of another kind.
std::optional<GpuProgram> tilewright::driver::parseGpuProgram(StringRef text) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  json::Path::Root root("compiled program");
  json::Path path(root);
  GpuProgram program;
  json::ObjectMapper map(*value, path);
  if (!map || !map.map("ptx", program.ptx) || !mapAll(*value, "kernels", program.kernels, path) ||
      !mapAll(*value, "decisions", program.decisions, path))
    return std::nullopt;
  return program;
}

//===----------------------------------------------------------------------------------------===//
// The store
//===----------------------------------------------------------------------------------------===//

FailureOr<GpuProgram> tilewright::driver::compileForGpuOrLoad(ModuleOp module, const Arch &arch,
                                                              const PipelineOptions &options) {
  if (!options.dumpAfter.empty() || options.checkPlans)
    return compileForGpu(module, arch, options);
  auto start = std::chrono::steady_clock::now();
  std::shared_ptr<DiskCache> cache = DiskCache::getShared();
  std::string name = makeEntryName(module, arch, options);
  if (std::optional<std::string> found = cache->lookup(name))
    if (std::optional<GpuProgram> program = parseGpuProgram(*found)) {
      std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
      program->phases.push_back({"load from the cache", taken.count()});
      return std::move(*program);
    }
  FailureOr<GpuProgram> program = compileForGpu(module, arch, options);
  if (succeeded(program))
    cache->store(name, write(*program));
  return program;
}
