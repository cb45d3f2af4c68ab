//===- CudaGpu.h - launch a compiled function on a GPU ------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_CUDAGPU_H
#define TILEWRIGHT_DRIVER_CUDAGPU_H

#include "tilewright/Driver/BoundArguments.h"
#include "tilewright/Driver/CompiledArtifact.h"
#include "tilewright/Driver/Launches.h"
#include "tilewright/Driver/TensorMaps.h"
#include "tilewright/Runtime/CudaDriver.h"

namespace tilewright::driver {

/// Memory of a GPU that a call has for itself. All of it ends with the call.
class GpuMemory {
public:
  explicit GpuMemory(runtime::CudaDriver &driver) : driver(driver) {}
  GpuMemory(GpuMemory &&) = default;
  ~GpuMemory();
  llvm::Expected<runtime::CudaAddress> allocate(size_t bytes);
  /// Leaves the memory allocated, for a kernel whose end is no longer waited for.
  void abandon() { allocations.clear(); }
  bool isEmpty() const { return allocations.empty(); }

private:
  runtime::CudaDriver &driver;
  std::vector<runtime::CudaAddress> allocations;
};

/// The tensors of one call in memory of a GPU. Those of the host are copied there; what shares
/// memory there does so here.
class GpuTensors {
public:
  /// Within a CudaScope. An argument that lives on another GPU is an error that names it.
  static llvm::Expected<GpuTensors> place(runtime::CudaDriver &driver, int device,
                                          mlir::func::FuncOp function,
                                          llvm::ArrayRef<runtime::BoundArgument> arguments);
  /// One for each argument; 0 for numbers.
  llvm::ArrayRef<runtime::CudaAddress> getAddresses() const { return addresses; }
  /// The power of two, up to 16, that divides all addresses.
  int64_t getAlignment() const;
  /// Copies back what the function may have written.
  llvm::Error bringBack(llvm::ArrayRef<bool> isWritten,
                        llvm::ArrayRef<runtime::BoundArgument> arguments);
  GpuMemory &getMemory() { return memory; }

private:
  explicit GpuTensors(runtime::CudaDriver &driver) : driver(driver), memory(driver) {}
  llvm::Error copyToGpu(llvm::ArrayRef<runtime::BoundArgument> arguments);
  runtime::CudaAddress find(const runtime::BoundTensor &tensor) const;

  /// A stretch of the host's memory and its copy.
  struct Copy {
    uint8_t *begin, *end;
    runtime::CudaAddress address;
  };
  runtime::CudaDriver &driver;
  GpuMemory memory;
  std::vector<Copy> copies;
  std::vector<runtime::CudaAddress> addresses;
};

/// A function compiled for a GPU and loaded by it.
class CudaModule {
public:
  /// Within a CudaScope of the GPU that will run it.
  static llvm::Expected<std::unique_ptr<CudaModule>>
  load(runtime::CudaDriver &driver, int device, std::shared_ptr<const CompiledArtifact> artifact);
  ~CudaModule();
  /// Launches all kernels on a stream, within a CudaScope. They go on after the call returns, as is
  /// usual for a GPU; memory of their own is allocated and freed by the stream. Waits only if there
  /// are copies of the host's tensors to bring back, or if the driver is too old for memory of
  /// streams. `poll` is asked now and then while it waits; false gives the wait up.
  ///
  /// Gives false, with nothing launched, if a tensor map of the code cannot be made for this call.
  llvm::Expected<bool> run(const BoundArguments &bound,
                           llvm::ArrayRef<runtime::BoundArgument> arguments, GpuTensors &tensors,
                           void *stream, llvm::function_ref<bool()> poll) const;
  const std::shared_ptr<const CompiledArtifact> &getArtifact() const { return artifact; }

private:
  CudaModule(runtime::CudaDriver &driver, int device,
             std::shared_ptr<const CompiledArtifact> artifact)
      : driver(driver), device(device), artifact(std::move(artifact)),
        maps(this->artifact->kernels) {}
  llvm::Error launch(llvm::ArrayRef<LaunchFormulas::Grid> grids, llvm::ArrayRef<void *> parameters,
                     const TensorMapCache::Maps *maps, void *stream) const;

  runtime::CudaDriver &driver;
  int device;
  void *module = nullptr;
  std::shared_ptr<const CompiledArtifact> artifact;
  std::vector<void *> handles; ///< One for each kernel.
  mutable TensorMapCache maps;
};

/// The architecture whose PTX runs best on a GPU; an error names what ours is for.
llvm::Expected<const Arch *> findArch(const runtime::CudaDeviceInfo &device);

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_CUDAGPU_H
