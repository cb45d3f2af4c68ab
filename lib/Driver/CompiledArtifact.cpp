//===- CompiledArtifact.cpp - compiled code with what was decided about it --------------------===//

#include "tilewright/Driver/CompiledArtifact.h"
#include "Interruptible.h"
#include "tilewright/Codegen/Cpu/HostCode.h"
#include "tilewright/Driver/Pipeline.h"
#include "tilewright/Driver/ProgramError.h"
#include "tilewright/Frontend/Diagnostics.h"
#include "tilewright/Layout/Notation.h"
#include "tilewright/Runtime/DiskCache.h"
#include "tilewright/Support/BuildId.h"
#include "tilewright/Support/Forks.h"

#include "llvm/Support/JSON.h"

using namespace mlir;
using tilewright::runtime::DiskCache;
namespace json = llvm::json;

//===----------------------------------------------------------------------------------------===//
// An entry of the store
//===----------------------------------------------------------------------------------------===//

namespace tilewright::nvptx { // where the JSON library looks for them

static json::Value toJSON(const SharedTile &tile) {
  return json::Object{{"name", tile.name},
                      {"offset", tile.offset},
                      {"bytes", tile.bytes},
                      {"element_bytes", tile.elementBytes},
                      {"shape", json::Array(tile.shape)},
                      {"layout", tile.layout}};
}

using driver::nameArguments;

static json::Value toJSON(const TensorMapRecipe &map) {
  unsigned numArguments = 0;
  for (const std::vector<IndexExpr> *exprs : {&map.extents, &map.strideBytes})
    for (const IndexExpr &expr : *exprs)
      numArguments = std::max(numArguments, expr.getNumDims());
  auto print = [&](const std::vector<IndexExpr> &exprs) {
    json::Array texts;
    for (const IndexExpr &expr : exprs)
      texts.push_back(toString(expr, nameArguments(numArguments)));
    return texts;
  };
  return json::Object{{"argument", map.argument},          {"type", StringRef(getName(map.type))},
                      {"arguments", numArguments},         {"extents", print(map.extents)},
                      {"strides", print(map.strideBytes)}, {"box", json::Array(map.box)},
                      {"steps", json::Array(map.steps)},   {"swizzle", map.swizzleBytes},
                      {"fills_nan", map.fillsNan},         {"promotion", map.promotionBytes}};
}

static json::Value toJSON(const KernelInfo &kernel) {
  return json::Object{{"name", kernel.name},
                      {"threads", kernel.numThreads},
                      {"shared_bytes", kernel.sharedBytes},
                      {"overlaps_launch", kernel.overlapsLaunch},
                      {"tiles", json::Array(kernel.tiles)},
                      {"maps", json::Array(kernel.maps)}};
}

static bool fromJSON(const json::Value &value, SharedTile &tile, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", tile.name) && map.map("offset", tile.offset) &&
         map.map("bytes", tile.bytes) && map.map("element_bytes", tile.elementBytes) &&
         map.map("shape", tile.shape) && map.map("layout", tile.layout);
}

/// Formulas of `numArguments` arguments; false if a text is none.
static bool parseFormulas(ArrayRef<std::string> texts, const IndexNames &names,
                          std::vector<IndexExpr> &exprs, json::Path path) {
  for (const std::string &text : texts) {
    llvm::Expected<IndexExpr> expr = parseIndexExpr(text, names);
    if (!expr) {
      llvm::consumeError(expr.takeError());
      path.report("expected a formula");
      return false;
    }
    exprs.push_back(*expr);
  }
  return true;
}

static bool fromJSON(const json::Value &value, TensorMapRecipe &map, json::Path path) {
  json::ObjectMapper mapper(value, path);
  std::string type;
  std::vector<std::string> extents, strides;
  unsigned numArguments = 0;
  if (!mapper || !mapper.map("argument", map.argument) || !mapper.map("type", type) ||
      !mapper.map("arguments", numArguments) || !mapper.map("extents", extents) ||
      !mapper.map("strides", strides) || !mapper.map("box", map.box) ||
      !mapper.map("steps", map.steps) || !mapper.map("swizzle", map.swizzleBytes) ||
      !mapper.map("fills_nan", map.fillsNan) || !mapper.map("promotion", map.promotionBytes))
    return false;
  std::optional<TensorMapType> found = findTensorMapType(type);
  size_t rank = map.box.size();
  if (!found || numArguments > driver::kMaxArguments || rank < 1 || rank > TensorMap::kMaxRank ||
      map.steps.size() != rank || extents.size() != rank || strides.size() + 1 != rank) {
    path.report("expected a tensor map");
    return false;
  }
  map.type = *found;
  IndexNames names = nameArguments(numArguments);
  return parseFormulas(extents, names, map.extents, path.field("extents")) &&
         parseFormulas(strides, names, map.strideBytes, path.field("strides"));
}

static bool fromJSON(const json::Value &value, KernelInfo &kernel, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", kernel.name) && map.map("threads", kernel.numThreads) &&
         map.map("shared_bytes", kernel.sharedBytes) &&
         map.map("overlaps_launch", kernel.overlapsLaunch) && map.map("tiles", kernel.tiles) &&
         map.map("maps", kernel.maps);
}

} // namespace tilewright::nvptx

namespace tilewright::driver {

std::string writeArtifact(const CompiledArtifact &artifact) {
  json::Object head{{"kernels", json::Array(artifact.kernels)},
                    {"launches", toJSON(artifact.launches)},
                    {"decisions", json::Array(artifact.decisions)}};
  std::string entry;
  llvm::raw_string_ostream(entry) << json::Value(std::move(head)) << '\n' << artifact.code;
  return entry;
}

std::optional<CompiledArtifact> parseArtifact(StringRef entry) {
  auto [line, code] = entry.split('\n');
  llvm::Expected<json::Value> head = json::parse(line);
  if (!head) {
    llvm::consumeError(head.takeError());
    return std::nullopt;
  }
  CompiledArtifact artifact;
  json::Path::Root root("compiled code");
  json::ObjectMapper map(*head, root);
  if (!map || !map.map("kernels", artifact.kernels) || !map.map("launches", artifact.launches) ||
      !map.map("decisions", artifact.decisions))
    return std::nullopt;
  artifact.code = code.str();
  return artifact;
}

/// The name of the entry: everything that the code depends on.
static std::string makeEntryName(ModuleOp module, const Arch *arch,
                                 const PipelineOptions &options) {
  std::string program;
  llvm::raw_string_ostream os(program);
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  module.print(os, flags);
  std::string facts = options.calls.getKey();
  if (arch)
    return DiskCache::makeName("ptx", {getBuildId(), arch->name, facts, program});
  cpu::HostTarget host = options.host ? *options.host : cpu::HostTarget::detect();
  return DiskCache::makeName("cpu", {getBuildId(), host.cpu, host.features, host.getChoices(),
                                     facts, options.symbol, program});
}

//===----------------------------------------------------------------------------------------===//
// Compile or load
//===----------------------------------------------------------------------------------------===//

/// For a thread of its own.
static llvm::Expected<CompiledArtifact> compileHere(ModuleOp module, const Arch *arch,
                                                    const PipelineOptions &options) {
  if (!arch) {
    llvm::Expected<CompiledArtifact> artifact = compileForCpu(module, options);
    return artifact ? std::move(artifact) : toProgramError(artifact.takeError());
  }
  frontend::DiagnosticCapture capture(module.getContext());
  FailureOr<CompiledArtifact> artifact = compileForGpu(module, *arch, options);
  if (failed(artifact))
    return llvm::make_error<ProgramError>(capture.takeError());
  return std::move(*artifact);
}

namespace {
/// What a compilation owns while it runs.
struct Job {
  ~Job() {
    if (result && !*result) // the caller has left
      llvm::consumeError(result->takeError());
  }

  ProgramRef program;
  const Arch *arch;
  PipelineOptions options;
  std::optional<llvm::Expected<CompiledArtifact>> result;
};
} // namespace

static llvm::Expected<CompiledArtifact> compile(const ProgramRef &program,
                                                const frontend::Program::Lock &lock,
                                                const Arch *arch, const PipelineOptions &options) {
  std::shared_ptr<Job> job(new Job{program, arch, detachListener(options), std::nullopt});
  if (llvm::Error error = runInterruptibly(
          program, lock, Work::Compilation, arch ? arch->name : "cpu", options.calls, [job] {
            job->result.emplace(compileHere(job->program->getModule(), job->arch, job->options));
          }))
    return error;
  return std::move(*job->result);
}

/// The artifact of an entry, if there is one that `accept` takes.
static std::optional<CompiledArtifact> load(DiskCache &cache, StringRef name,
                                            const CallFacts &calls, AcceptArtifact accept) {
  PhaseClock clock;
  std::optional<std::string> entry = cache.lookup(name);
  std::optional<CompiledArtifact> artifact = entry ? parseArtifact(*entry) : std::nullopt;
  if (!artifact)
    return std::nullopt;
  artifact->calls = calls;
  artifact->fromCache = true;
  if (accept)
    if (llvm::Error error = accept(*artifact)) {
      llvm::consumeError(std::move(error)); // compiled anew, and the entry with it
      return std::nullopt;
    }
  artifact->phases.push_back(clock.finish("load from the cache"));
  return artifact;
}

llvm::Expected<CompiledArtifact> compileOrLoad(const ProgramRef &program,
                                               const frontend::Program::Lock &lock,
                                               const Arch *arch, const PipelineOptions &options,
                                               AcceptArtifact accept) {
  bool mayLoad = options.dumpAfter.empty() && !(arch && options.checkPlans);
  std::shared_ptr<DiskCache> cache;
  std::string name;
  if (mayLoad) {
    NoFork noFork;
    cache = DiskCache::getShared();
    name = makeEntryName(program->getModule(), arch, options);
    if (std::optional<CompiledArtifact> found = load(*cache, name, options.calls, accept))
      return std::move(*found);
  }
  // No fork is held up here: the wait for the compilation looks for signals, and so for the GIL.
  llvm::Expected<CompiledArtifact> artifact = compile(program, lock, arch, options);
  if (!artifact)
    return artifact.takeError();
  NoFork noFork;
  if (accept)
    if (llvm::Error error = accept(*artifact))
      return toProgramError(std::move(error));
  if (mayLoad)
    cache->store(name, writeArtifact(*artifact));
  return artifact;
}

} // namespace tilewright::driver
