//===- CudaLaunch.h - launch a compiled function on a GPU ---------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_RT_CUDALAUNCH_H
#define TILEWRIGHT_RT_CUDALAUNCH_H

#include "tilewright/Rt/CudaDriver.h"
#include "tilewright/Rt/TensorMapCache.h"

namespace tilewright::rt {

/// Memory of a GPU that a call has for itself. All of it ends with the call.
class GpuMemory {
public:
  explicit GpuMemory(CudaDriver &driver) : driver(driver) {}
  GpuMemory(GpuMemory &&) = default;
  ~GpuMemory();
  Result<CudaAddress> allocate(size_t bytes);
  /// Leaves the memory allocated, for a kernel whose end is no longer waited for.
  void abandon() { allocations.clear(); }
  bool isEmpty() const { return allocations.empty(); }

private:
  CudaDriver &driver;
  std::vector<CudaAddress> allocations;
};

/// The tensors of one call in memory of a GPU. Those of the host are copied there; what shares
/// memory there does so here.
class GpuTensors {
public:
  /// Within a CudaScope. An argument that lives on another GPU is an error that names it.
  static Result<GpuTensors> place(CudaDriver &driver, int device, const Signature &signature,
                                  const Binding &binding);
  /// One for each argument; 0 for numbers.
  std::span<const CudaAddress> getAddresses() const { return addresses; }
  /// The power of two, up to 16, that divides all addresses.
  int64_t getAlignment() const;
  /// Copies back what the function may have written.
  MaybeFailure bringBack(const Binding &binding);
  GpuMemory &getMemory() { return memory; }

private:
  explicit GpuTensors(CudaDriver &driver) : driver(driver), memory(driver) {}
  MaybeFailure copyToGpu(const Binding &binding);
  CudaAddress find(const Binding::Tensor &tensor, uint64_t slot) const;

  /// A stretch of the host's memory and its copy.
  struct Copy {
    uint64_t begin, end;
    CudaAddress address;
  };
  CudaDriver &driver;
  GpuMemory memory;
  std::vector<Copy> copies;
  std::vector<CudaAddress> addresses;
};

/// A function compiled for a GPU and loaded by it.
class CudaModule {
public:
  /// PTX, a text that ends with 0, or a cubin. Within a CudaScope of the GPU that will run it.
  static Result<std::shared_ptr<CudaModule>> load(CudaDriver &driver, int device, const char *image,
                                                  std::vector<GpuKernel> kernels);
  ~CudaModule();
  CudaModule(const CudaModule &) = delete;
  /// Launches all kernels on a stream, within a CudaScope. They go on after the call returns, as is
  /// usual for a GPU; memory of their own is allocated and freed by the stream. Waits only if there
  /// are copies of the host's tensors to bring back, or if the driver is too old for memory of
  /// streams. `poll`, if there is one, is asked now and then while it waits; false gives the wait up.
  ///
  /// Gives false, with nothing launched, if a tensor map of the code cannot be made for this call.
  Result<bool> run(const LaunchFormulas &formulas, const Signature &signature,
                   const Binding &binding, GpuTensors &tensors, void *stream,
                   const FunctionRef<bool()> *poll) const;

private:
  CudaModule(CudaDriver &driver, int device, std::vector<GpuKernel> kernels)
      : driver(driver), device(device), kernels(std::move(kernels)), maps(this->kernels) {}
  MaybeFailure launch(std::span<const LaunchFormulas::Grid> grids,
                      std::span<void *const> parameters, const TensorMapCache::Maps *maps,
                      void *stream) const;

  CudaDriver &driver;
  int device;
  void *module = nullptr;
  std::vector<GpuKernel> kernels;
  std::vector<void *> handles; ///< One for each kernel.
  mutable TensorMapCache maps;
};

} // namespace tilewright::rt

#endif // TILEWRIGHT_RT_CUDALAUNCH_H
