//===- CudaDriver.h - NVIDIA's driver, loaded where it is installed -----------------*- C++ -*-===//
//
// The few functions of the CUDA driver that launching a kernel takes, found with dlopen: nothing
// here needs the toolkit, and a machine without a GPU only learns so when it asks. Names and
// numbers are those of the driver's documentation.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RT_CUDADRIVER_H
#define TILEWRIGHT_RT_CUDADRIVER_H

#include "tilewright/Support/Result.h"
#include "tilewright/Target/TensorMap.h"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilewright::rt {

/// One GPU of this machine.
struct CudaDeviceInfo {
  std::string name;
  int major = 0, minor = 0; ///< Of its compute capability.
  /// Memory can be allocated and freed in the order of a stream (`allocateOnStream`).
  bool hasStreamMemory = false;
};

/// An address in memory of a GPU.
using CudaAddress = unsigned long long;

/// The driver of this process. What it gives is for the GPU that a `CudaScope` has chosen.
class CudaDriver {
public:
  /// Loads the driver at the first call: libcuda.so.1, or the library that TILEWRIGHT_LIBCUDA
  /// names ("none" hides the GPUs). The error says why there is none.
  static Result<CudaDriver *> get();

  std::span<const CudaDeviceInfo> getDevices() const { return devices; }

  Result<CudaAddress> allocate(size_t bytes);
  void free(CudaAddress address);
  /// The same as work of a stream: what is launched on it in between may use the memory. Nothing
  /// waits, and a graph that captures the stream has both in it.
  Result<CudaAddress> allocateOnStream(size_t bytes, void *stream);
  void freeOnStream(CudaAddress address, void *stream);
  MaybeFailure copyToGpu(CudaAddress to, const void *from, size_t bytes);
  MaybeFailure copyFromGpu(void *to, CudaAddress from, size_t bytes);
  /// The number of the GPU that an address belongs to; an error for memory of the host.
  Result<int> findDevice(CudaAddress address);

  /// Encodes a tensor map; nothing if this driver has no tensor maps, or refuses this one.
  std::optional<EncodedTensorMap> encode(const TensorMap &map);

  /// Compiles PTX, a text that ends with 0, for the GPU, or loads a cubin. The error has the words of
  /// the driver's assembler.
  Result<void *> loadModule(const char *image);
  void unloadModule(void *module);
  /// A kernel of a module, ready to be launched with that much dynamic shared memory.
  Result<void *> getKernel(void *module, const std::string &name, unsigned sharedBytes);

  struct Launch {
    void *kernel = nullptr;
    std::array<unsigned, 3> grid{1, 1, 1};
    unsigned numThreads = 1, sharedBytes = 0;
    void *stream = nullptr;
    /// It may start while the launch before it on the stream still runs; older drivers ignore that.
    bool overlapsLaunch = false;
  };
  /// Each parameter is a pointer to its value. Does not wait for the kernel.
  MaybeFailure launch(const Launch &launch, std::span<void *> parameters);
  /// Whether all that was launched on a stream is over. An error of a kernel is told here.
  Result<bool> isDone(void *stream);
  /// Waits for all work of this process on the current GPU.
  MaybeFailure wait();
  /// The same for all GPUs that have run a kernel.
  MaybeFailure synchronize();

private:
  friend class CudaScope;
  struct Functions;
  CudaDriver() = default;
  MaybeFailure load(const char *library);
  MaybeFailure findDevices();
  MaybeFailure check(int code, const char *what);
  Result<void *> getContext(int device);

  std::shared_ptr<Functions> functions;
  std::vector<CudaDeviceInfo> devices;
  std::vector<void *> contexts; ///< The primary one of each device, or null.
};

/// Makes a GPU the current one of this thread, and the previous one again at its end.
class CudaScope {
public:
  static Result<CudaScope> enter(CudaDriver &driver, int device);
  CudaScope(CudaScope &&other) : driver(std::exchange(other.driver, nullptr)) {}
  ~CudaScope();

private:
  explicit CudaScope(CudaDriver &driver) : driver(&driver) {}
  CudaDriver *driver;
};

} // namespace tilewright::rt

#endif // TILEWRIGHT_RT_CUDADRIVER_H
