//===- Report.cpp - findings about instructions and memory of a launch ------------------------===//
#include "vgpu/Machine/Report.h"
#include "llvm/Support/FormatVariadic.h"

using vgpu::ptx::Space;

namespace vgpu {

std::string sourceOf(const Program &program, const Inst &inst) {
  const std::vector<std::string> &files = program.module->sourceFiles;
  if (inst.loc.file == 0 || inst.loc.file >= files.size())
    return "";
  return files[inst.loc.file] + ":" + std::to_string(inst.loc.line);
}

AccessSite siteOf(const Warp &warp, const Inst &inst, unsigned lane) {
  AccessSite site;
  site.isKnown = true;
  site.ptxLine = inst.line;
  site.source = sourceOf(*warp.launch->program, inst);
  site.block = warp.block->coords;
  site.linearThread = warp.index * warpSize + lane;
  site.thread = warp.block->threadCoords(site.linearThread);
  return site;
}

void report(Warp &warp, const Inst &inst, unsigned lane, FindingKind kind,
            const std::string &message, bool isNote, const TouchedMemory &memory, Decided decided) {
  if (!warp.launch->config.checks.wants(kind))
    return;
  Finding finding;
  finding.kind = kind;
  finding.isNote = isNote;
  finding.message = message;
  finding.site = siteOf(warp, inst, lane);
  finding.memory = memory;
  finding.decided = decided;
  warp.launch->findings->report(std::move(finding));
}

std::string describeAddress(const Warp &warp, Space space, uint64_t address) {
  if (space != Space::Global)
    return llvm::formatv("{0}+{1:x}", ptx::spaceName(space), address);
  if (const Allocation *below = warp.launch->memory->nearest(address))
    return llvm::formatv("'{0}'+{1}", below->name, address - below->address);
  return llvm::formatv("global {0:x}", address);
}

TouchedMemory touchedAt(const Warp &warp, Space space, uint64_t address, uint32_t bytes,
                        llvm::StringRef access) {
  TouchedMemory memory;
  memory.space = ptx::spaceName(space).str();
  memory.offset = address;
  memory.bytes = bytes;
  memory.access = access.str();
  if (space == Space::Global)
    if (const Allocation *below = warp.launch->memory->nearest(address)) {
      memory.name = below->name;
      memory.offset = address - below->address;
    }
  return memory;
}

} // namespace vgpu
