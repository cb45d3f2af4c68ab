//===- CudaDriver.cpp - NVIDIA's driver, loaded where it is installed ------------------------===//

#include "tilewright/Rt/CudaDriver.h"
#include "tilewright/Support/Environment.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>

using namespace tilewright;
using namespace tilewright::rt;

namespace {
// Of the driver's header, which is not on users' machines.
enum DeviceAttribute { kCapabilityMajor = 75, kCapabilityMinor = 76, kMemoryPoolsSupported = 115 };
enum PointerAttribute { kDeviceOrdinal = 9 };
enum FunctionAttribute { kMaxDynamicSharedBytes = 8 };
enum JitOption { kErrorLog = 5, kErrorLogBytes = 6 };
enum Code { kSuccess = 0, kNotReady = 600, kNotSupported = 801 };
enum LaunchAttributeId { kProgrammaticStreamSerialization = 6 };
struct LaunchAttribute {
  int id = 0;
  int padding = 0;
  union {
    char bytes[64];
    int number;
  } value{};
};
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};
} // namespace

/// The functions used, by the names of the library's symbols, with their parameters.
#define TW_CUDA_FUNCTIONS(FUNCTION)                                                                \
  FUNCTION(cuInit, unsigned)                                                                       \
  FUNCTION(cuGetErrorName, int, const char **)                                                     \
  FUNCTION(cuGetErrorString, int, const char **)                                                   \
  FUNCTION(cuDeviceGetCount, int *)                                                                \
  FUNCTION(cuDeviceGet, int *, int)                                                                \
  FUNCTION(cuDeviceGetName, char *, int, int)                                                      \
  FUNCTION(cuDeviceGetAttribute, int *, int, int)                                                  \
  FUNCTION(cuDevicePrimaryCtxRetain, void **, int)                                                 \
  FUNCTION(cuCtxPushCurrent_v2, void *)                                                            \
  FUNCTION(cuCtxPopCurrent_v2, void **)                                                            \
  FUNCTION(cuCtxSynchronize, void)                                                                 \
  FUNCTION(cuMemAlloc_v2, CudaAddress *, size_t)                                                   \
  FUNCTION(cuMemFree_v2, CudaAddress)                                                              \
  FUNCTION(cuMemcpyHtoD_v2, CudaAddress, const void *, size_t)                                     \
  FUNCTION(cuMemcpyDtoH_v2, void *, CudaAddress, size_t)                                           \
  FUNCTION(cuPointerGetAttribute, void *, int, CudaAddress)                                        \
  FUNCTION(cuModuleLoadDataEx, void **, const void *, unsigned, int *, void **)                    \
  FUNCTION(cuModuleUnload, void *)                                                                 \
  FUNCTION(cuModuleGetFunction, void **, void *, const char *)                                     \
  FUNCTION(cuFuncSetAttribute, void *, int, int)                                                   \
  FUNCTION(cuLaunchKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
           unsigned, void *, void **, void **)                                                     \
  FUNCTION(cuStreamQuery, void *)

/// Those that older drivers lack: stream-ordered memory came with 11.2, tensor maps and launches with
/// attributes with 12.0.
#define TW_CUDA_NEW_FUNCTIONS(FUNCTION)                                                            \
  FUNCTION(cuMemAllocAsync, CudaAddress *, size_t, void *)                                         \
  FUNCTION(cuMemFreeAsync, CudaAddress, void *)                                                    \
  FUNCTION(cuLaunchKernelEx, const LaunchConfig *, void *, void **, void **)                       \
  FUNCTION(cuTensorMapEncodeTiled, void *, int, unsigned, void *, const uint64_t *,                \
           const uint64_t *, const uint32_t *, const uint32_t *, int, int, int, int)

struct CudaDriver::Functions {
#define TW_DECLARE(name, ...) int (*name)(__VA_ARGS__) = nullptr;
  TW_CUDA_FUNCTIONS(TW_DECLARE)
  TW_CUDA_NEW_FUNCTIONS(TW_DECLARE)
#undef TW_DECLARE
};

//===----------------------------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------------------------===//

Result<CudaDriver *> CudaDriver::get() {
  // Kept for good, as contexts are: the driver has ended before destructors of this process run.
  static CudaDriver *driver = nullptr;
  static std::string problem;
  static std::once_flag once;
  std::call_once(once, [] {
    std::string named(environment::getText(environment::Variable::Libcuda));
    auto found = std::unique_ptr<CudaDriver>(new CudaDriver);
    MaybeFailure failure = found->load(named.empty() ? "libcuda.so.1" : named.c_str());
    if (!failure)
      failure = found->findDevices();
    if (failure)
      problem = std::move(failure->message);
    else
      driver = found.release();
  });
  if (!driver)
    return Failure{problem};
  return driver;
}

MaybeFailure CudaDriver::load(const char *library) {
  if (std::string_view(library) == "none")
    return Failure{"TILEWRIGHT_LIBCUDA hides the GPUs"};
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Failure{std::string("there is no CUDA driver: ") + dlerror()};
  functions = std::make_shared<Functions>();
  std::string missing;
#define TW_FIND(name, ...)                                                                         \
  functions->name = reinterpret_cast<int (*)(__VA_ARGS__)>(dlsym(handle, #name));                  \
  if (!functions->name)                                                                            \
    missing = #name;
  TW_CUDA_FUNCTIONS(TW_FIND)
  if (!missing.empty())
    return Failure{"the CUDA driver '" + std::string(library) + "' has no '" + missing + "'"};
  TW_CUDA_NEW_FUNCTIONS(TW_FIND)
#undef TW_FIND
  return MaybeFailure();
}

MaybeFailure CudaDriver::findDevices() {
  if (MaybeFailure error = check(functions->cuInit(0), "starting the CUDA driver"))
    return error;
  int count = 0;
  if (MaybeFailure error = check(functions->cuDeviceGetCount(&count), "counting GPUs"))
    return error;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int device = 0;
    char name[256] = "";
    CudaDeviceInfo info;
    for (int code : {functions->cuDeviceGet(&device, ordinal),
                     functions->cuDeviceGetName(name, sizeof(name), device),
                     functions->cuDeviceGetAttribute(&info.major, kCapabilityMajor, device),
                     functions->cuDeviceGetAttribute(&info.minor, kCapabilityMinor, device)})
      if (MaybeFailure error = check(code, "reading a GPU's properties"))
        return error;
    info.name = name;
    int hasPools = 0; // a driver that does not know the attribute has none
    info.hasStreamMemory =
        functions->cuMemAllocAsync && functions->cuMemFreeAsync &&
        functions->cuDeviceGetAttribute(&hasPools, kMemoryPoolsSupported, device) == kSuccess &&
        hasPools;
    devices.push_back(std::move(info));
  }
  if (devices.empty())
    return Failure{"the CUDA driver finds no GPU"};
  contexts.resize(devices.size());
  return MaybeFailure();
}

MaybeFailure CudaDriver::check(int code, const char *what) {
  if (code == kSuccess)
    return MaybeFailure();
  const char *name = nullptr, *text = nullptr;
  functions->cuGetErrorName(code, &name);
  functions->cuGetErrorString(code, &text);
  return Failure{std::string(what) + ": " + (text ? text : "unknown error") + " (" +
                 (name ? name : "code " + std::to_string(code)) + ")"};
}

Result<void *> CudaDriver::getContext(int device) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  void *&context = contexts[device];
  int handle = 0;
  if (context)
    return context;
  if (MaybeFailure error = check(functions->cuDeviceGet(&handle, device), "opening a GPU"))
    return *error;
  if (MaybeFailure error =
          check(functions->cuDevicePrimaryCtxRetain(&context, handle), "opening a GPU"))
    return *error;
  return context;
}

Result<CudaScope> CudaScope::enter(CudaDriver &driver, int device) {
  if (device < 0 || size_t(device) >= driver.devices.size())
    return Failure{"there is no GPU " + std::to_string(device) + "; the driver finds " +
                   std::to_string(driver.devices.size())};
  Result<void *> context = driver.getContext(device);
  if (!context)
    return context.takeFailure();
  if (MaybeFailure error =
          driver.check(driver.functions->cuCtxPushCurrent_v2(*context), "choosing a GPU"))
    return *error;
  return CudaScope(driver);
}

CudaScope::~CudaScope() {
  void *context = nullptr;
  if (driver)
    driver->functions->cuCtxPopCurrent_v2(&context);
}

//===----------------------------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------------------------===//

Result<CudaAddress> CudaDriver::allocate(size_t bytes) {
  CudaAddress address = 0; // the driver refuses to allocate nothing
  if (MaybeFailure error = check(functions->cuMemAlloc_v2(&address, std::max<size_t>(bytes, 1)),
                                 "allocating memory of the GPU"))
    return *error;
  return address;
}

void CudaDriver::free(CudaAddress address) { functions->cuMemFree_v2(address); }

Result<CudaAddress> CudaDriver::allocateOnStream(size_t bytes, void *stream) {
  CudaAddress address = 0;
  if (MaybeFailure error =
          check(functions->cuMemAllocAsync(&address, std::max<size_t>(bytes, 1), stream),
                "allocating memory of the GPU"))
    return *error;
  return address;
}

void CudaDriver::freeOnStream(CudaAddress address, void *stream) {
  functions->cuMemFreeAsync(address, stream);
}

MaybeFailure CudaDriver::copyToGpu(CudaAddress to, const void *from, size_t bytes) {
  return bytes ? check(functions->cuMemcpyHtoD_v2(to, from, bytes), "copying to the GPU")
               : MaybeFailure();
}

MaybeFailure CudaDriver::copyFromGpu(void *to, CudaAddress from, size_t bytes) {
  return bytes ? check(functions->cuMemcpyDtoH_v2(to, from, bytes), "copying from the GPU")
               : MaybeFailure();
}

Result<int> CudaDriver::findDevice(CudaAddress address) {
  int device = -1;
  if (MaybeFailure error = check(functions->cuPointerGetAttribute(&device, kDeviceOrdinal, address),
                                 "asking whose memory an address is"))
    return *error;
  return device;
}

/// A number of bytes as the driver counts it: 0, `first`, 2 * first, … are 0, 1, 2, ….
static int toDriverEnum(unsigned bytes, unsigned first) {
  return bytes ? 1 + std::bit_width(bytes / first) - 1 : 0;
}

std::optional<EncodedTensorMap> CudaDriver::encode(const TensorMap &map) {
  if (!functions->cuTensorMapEncodeTiled)
    return std::nullopt;
  EncodedTensorMap encoded;
  int code = functions->cuTensorMapEncodeTiled(
      encoded.bytes.data(), int(map.type), unsigned(map.box.size()),
      reinterpret_cast<void *>(map.address), map.extents.data(), map.strideBytes.data(),
      map.box.data(), map.steps.data(), /*interleave=*/0, toDriverEnum(map.swizzleBytes, 32),
      toDriverEnum(map.promotionBytes, 64), map.fillsNan);
  return code == kSuccess ? std::optional(encoded) : std::nullopt;
}

//===----------------------------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------------------------===//

Result<void *> CudaDriver::loadModule(const char *image) {
  std::array<char, 4096> log{};
  std::array<int, 2> options{kErrorLog, kErrorLogBytes};
  std::array<void *, 2> values{log.data(), reinterpret_cast<void *>(log.size())};
  void *module = nullptr;
  int code =
      functions->cuModuleLoadDataEx(&module, image, options.size(), options.data(), values.data());
  if (MaybeFailure failure = check(code, "compiling PTX for the GPU")) {
    std::string_view words(log.data(), strnlen(log.data(), log.size()));
    while (!words.empty() && std::isspace(static_cast<unsigned char>(words.back())))
      words.remove_suffix(1);
    while (!words.empty() && std::isspace(static_cast<unsigned char>(words.front())))
      words.remove_prefix(1);
    return words.empty() ? *failure : Failure{failure->message + "\n" + std::string(words)};
  }
  return module;
}

void CudaDriver::unloadModule(void *module) { functions->cuModuleUnload(module); }

Result<void *> CudaDriver::getKernel(void *module, const std::string &name, unsigned sharedBytes) {
  void *kernel = nullptr;
  if (MaybeFailure error =
          check(functions->cuModuleGetFunction(&kernel, module, name.c_str()), "finding a kernel"))
    return *error;
  if (MaybeFailure error =
          check(functions->cuFuncSetAttribute(kernel, kMaxDynamicSharedBytes, int(sharedBytes)),
                "requesting shared memory"))
    return Failure{error->message + ": kernel '" + name + "' wants " + std::to_string(sharedBytes) +
                   " bytes"};
  return kernel;
}

MaybeFailure CudaDriver::launch(const Launch &launch, std::span<void *> parameters) {
  auto [x, y, z] = launch.grid;
  if (launch.overlapsLaunch && functions->cuLaunchKernelEx) {
    LaunchAttribute attribute{kProgrammaticStreamSerialization};
    attribute.value.number = 1;
    LaunchConfig config{
        x, y, z, launch.numThreads, 1, 1, launch.sharedBytes, launch.stream, &attribute, 1};
    int code = functions->cuLaunchKernelEx(&config, launch.kernel, parameters.data(), nullptr);
    if (code != kNotSupported)
      return check(code, "launching a kernel");
  }
  return check(functions->cuLaunchKernel(launch.kernel, x, y, z, launch.numThreads, 1, 1,
                                         launch.sharedBytes, launch.stream, parameters.data(),
                                         /*extra=*/nullptr),
               "launching a kernel");
}

Result<bool> CudaDriver::isDone(void *stream) {
  int code = functions->cuStreamQuery(stream);
  if (code == kNotReady)
    return false;
  if (MaybeFailure error = check(code, "running a kernel"))
    return *error;
  return true;
}

MaybeFailure CudaDriver::wait() {
  return check(functions->cuCtxSynchronize(), "waiting for a GPU");
}

MaybeFailure CudaDriver::synchronize() {
  for (size_t device = 0; device < devices.size(); ++device) {
    if (!contexts[device])
      continue;
    Result<CudaScope> scope = CudaScope::enter(*this, int(device));
    if (!scope)
      return scope.takeFailure();
    if (MaybeFailure error = wait())
      return error;
  }
  return MaybeFailure();
}
