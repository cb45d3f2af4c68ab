//===- Counters.cpp - counters as text and JSON -----------------------------------------------===//
#include "vgpu/Counters/Counters.h"
#include "llvm/Support/FormatVariadic.h"

namespace vgpu {

llvm::StringRef instClassName(InstClass instClass) {
  constexpr llvm::StringLiteral names[] = {
      "integer",      "float32", "float64",       "half",        "convert",      "move",
      "compare",      "special", "control",       "global_load", "global_store", "shared_load",
      "shared_store", "local",   "constant_load", "atomic",      "async_copy",   "matrix",
      "matrix_load",  "barrier", "warp_level",    "fence",       "other"};
  static_assert(std::size(names) == numInstClasses);
  return names[static_cast<unsigned>(instClass)];
}

std::string Counters::text() const {
  std::string text = llvm::formatv("warp instructions        {0}\n", totalWarpInstructions);
  for (unsigned i = 0; i < numInstClasses; ++i)
    if (warpInstructions[i])
      text += llvm::formatv("  {0,-22} {1}\n", instClassName(static_cast<InstClass>(i)),
                            warpInstructions[i]);
  text += llvm::formatv("tensor-core operations   {0}\n", tensorOperations);
  text += llvm::formatv("barrier waits            {0}\n", barrierWaits);
  if (!hasMemory)
    return text;
  text += llvm::formatv("global bytes             {0} read, {1} written\n", globalBytesRead,
                        globalBytesWritten);
  text += llvm::formatv("global sectors           {0} in {1} requests (ideal {2})\n", globalSectors,
                        globalRequests, globalSectorsIdeal);
  text += llvm::formatv("shared bytes             {0} read, {1} written\n", sharedBytesRead,
                        sharedBytesWritten);
  text += llvm::formatv("shared wavefronts        {0} (ideal {1})\n", sharedWavefronts,
                        sharedWavefrontsIdeal);
  for (const SourceLineCounters &line : sourceLines) {
    if (line.sharedWavefronts)
      text += llvm::formatv("  {0}: {1} shared wavefronts, ideal {2}\n", line.source,
                            line.sharedWavefronts, line.sharedWavefrontsIdeal);
    if (line.globalRequests)
      text += llvm::formatv("  {0}: {1} global sectors in {2} requests, ideal {3}\n", line.source,
                            line.globalSectors, line.globalRequests, line.globalSectorsIdeal);
  }
  return text;
}

SourceLineCounters &SourceLineTable::operator[](const Inst &inst) {
  const std::vector<std::string> &files = program.module->sourceFiles;
  bool isKnown = inst.loc.file != 0 && inst.loc.file < files.size();
  auto key = isKnown ? std::make_pair(inst.loc.file, inst.loc.line) : std::make_pair(0u, inst.line);
  auto [it, isNew] = lines.try_emplace(key);
  if (isNew)
    it->second.source = (isKnown ? files[key.first] : "ptx") + ":" + std::to_string(key.second);
  return it->second;
}

std::vector<SourceLineCounters> SourceLineTable::take() {
  std::vector<SourceLineCounters> list;
  for (auto &entry : lines)
    list.push_back(std::move(entry.second));
  lines.clear();
  return list;
}

llvm::json::Value Counters::toJson() const {
  auto number = [](uint64_t value) { return llvm::json::Value(static_cast<int64_t>(value)); };
  llvm::json::Object classes;
  for (unsigned i = 0; i < numInstClasses; ++i)
    if (warpInstructions[i])
      classes[instClassName(static_cast<InstClass>(i))] = number(warpInstructions[i]);
  llvm::json::Object object{{"warp_instructions", number(totalWarpInstructions)},
                            {"by_class", std::move(classes)},
                            {"tensor_operations", number(tensorOperations)},
                            {"barrier_waits", number(barrierWaits)}};
  llvm::json::Array sources;
  for (const SourceLineCounters &line : sourceLines) {
    llvm::json::Object entry{{"source", line.source},
                             {"warp_instructions", number(line.warpInstructions)},
                             {"tensor_operations", number(line.tensorOperations)}};
    if (hasMemory) {
      entry["shared_wavefronts"] = number(line.sharedWavefronts);
      entry["shared_wavefronts_ideal"] = number(line.sharedWavefrontsIdeal);
      entry["global_requests"] = number(line.globalRequests);
      entry["global_sectors"] = number(line.globalSectors);
      entry["global_sectors_ideal"] = number(line.globalSectorsIdeal);
      entry["bytes"] = number(line.bytes);
    }
    sources.push_back(std::move(entry));
  }
  object["source_lines"] = std::move(sources);
  if (!hasMemory)
    return object;
  object["global_bytes_read"] = number(globalBytesRead);
  object["global_bytes_written"] = number(globalBytesWritten);
  object["global_requests"] = number(globalRequests);
  object["global_sectors"] = number(globalSectors);
  object["global_sectors_ideal"] = number(globalSectorsIdeal);
  object["shared_bytes_read"] = number(sharedBytesRead);
  object["shared_bytes_written"] = number(sharedBytesWritten);
  object["shared_wavefronts"] = number(sharedWavefronts);
  object["shared_wavefronts_ideal"] = number(sharedWavefrontsIdeal);
  llvm::json::Array list;
  for (const LineCounters &line : lines)
    list.push_back(
        llvm::json::Object{{"ptx_line", line.ptxLine},
                           {"source", line.source},
                           {"opcode", line.opcode},
                           {"executions", number(line.executions)},
                           {"shared_wavefronts", number(line.sharedWavefronts)},
                           {"shared_wavefronts_ideal", number(line.sharedWavefrontsIdeal)},
                           {"global_requests", number(line.globalRequests)},
                           {"global_sectors", number(line.globalSectors)},
                           {"global_sectors_ideal", number(line.globalSectorsIdeal)},
                           {"bytes", number(line.bytes)}});
  object["lines"] = std::move(list);
  return object;
}

} // namespace vgpu
