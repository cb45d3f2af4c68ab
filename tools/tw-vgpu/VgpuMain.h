//===- VgpuMain.h - the program tw-vgpu as a function -------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_TOOLS_TW_VGPU_VGPUMAIN_H
#define TILEWRIGHT_TOOLS_TW_VGPU_VGPUMAIN_H

namespace tilewright::tools {

/// Runs tw-vgpu with these arguments; its exit status.
int runVgpu(int argc, char **argv);

} // namespace tilewright::tools

#endif // TILEWRIGHT_TOOLS_TW_VGPU_VGPUMAIN_H
