//===- VirtualGpu.h - launch a compiled function on the virtual GPU -----------------*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_VIRTUALGPU_H
#define TILEWRIGHT_DRIVER_VIRTUALGPU_H

#include "tilewright/Driver/Pipeline.h"
#include "tilewright/Runtime/Arguments.h"

#include "vgpu/Vgpu.h"

namespace tilewright::driver {

/// What the launches of one function left, one entry a kernel.
struct VirtualGpuRun {
  std::vector<vgpu::LaunchResult> launches;
  std::vector<const nvptx::KernelInfo *> launched; ///< Beside them; the kernel owns these.
};

/// A function compiled for an architecture and loaded by the virtual GPU.
class VirtualGpuKernel {
public:
  static llvm::Expected<std::unique_ptr<VirtualGpuKernel>> load(const GpuProgram &program,
                                                                llvm::StringRef arch);
  /// Launches all kernels; tensors are updated in place. `checks` as in vgpu::CheckSet::parse,
  /// `watch` and `poll` as in vgpu::LaunchConfig.
  llvm::Expected<VirtualGpuRun> run(mlir::func::FuncOp function,
                                    llvm::ArrayRef<runtime::BoundArgument> arguments,
                                    llvm::StringRef checks,
                                    std::optional<vgpu::WatchedBytes> watch = {},
                                    std::function<bool()> poll = {}) const;

private:
  std::vector<nvptx::KernelInfo> kernels;
  std::string arch;
  std::unique_ptr<vgpu::Module> module;
};

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_VIRTUALGPU_H
