//===- Report.h - findings about instructions and memory of a launch ----------------------===//
#ifndef VGPU_MACHINE_REPORT_H
#define VGPU_MACHINE_REPORT_H

#include "vgpu/Events/FindingSink.h"
#include "vgpu/Machine/Block.h"
#include "vgpu/Machine/Launch.h"

namespace vgpu {

/// "file.py:12" of an instruction, or empty.
std::string sourceOf(const Program &program, const Inst &inst);
/// The site of an instruction executed by one lane.
AccessSite siteOf(const Warp &warp, const Inst &inst, unsigned lane);
/// Reports a finding without a second access, if the launch wants this kind.
void report(Warp &warp, const Inst &inst, unsigned lane, FindingKind kind,
            const std::string &message, bool isNote = false, const TouchedMemory &memory = {},
            Decided decided = Decided::Value);

/// "shared+0x440", "'y'+16": an address for messages.
std::string describeAddress(const Warp &warp, ptx::Space space, uint64_t address);

/// The same as data.
TouchedMemory touchedAt(const Warp &warp, ptx::Space space, uint64_t address, uint32_t bytes,
                        llvm::StringRef access);

} // namespace vgpu

#endif // VGPU_MACHINE_REPORT_H
