//===- CudaDriver.cpp - NVIDIA's driver, loaded where it is installed ------------------------===//

#include "tilewright/Runtime/CudaDriver.h"
#include "tilewright/Support/Environment.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>

using namespace tilewright;
using namespace tilewright::runtime;
using llvm::Twine;

namespace {
// Of the driver's header, which is not on users' machines.
enum DeviceAttribute { kCapabilityMajor = 75, kCapabilityMinor = 76, kMemoryPoolsSupported = 115 };
enum PointerAttribute { kDeviceOrdinal = 9 };
enum FunctionAttribute { kMaxDynamicSharedBytes = 8 };
enum JitOption { kErrorLog = 5, kErrorLogBytes = 6 };
enum Code { kSuccess = 0, kNotReady = 600 };
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

/// Those that older drivers lack: stream-ordered memory came with 11.2, tensor maps with 12.0.
#define TW_CUDA_NEW_FUNCTIONS(FUNCTION)                                                            \
  FUNCTION(cuMemAllocAsync, CudaAddress *, size_t, void *)                                         \
  FUNCTION(cuMemFreeAsync, CudaAddress, void *)                                                    \
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

llvm::Expected<CudaDriver &> CudaDriver::get() {
  // Kept for good, as contexts are: the driver has ended before destructors of this process run.
  static CudaDriver *driver = nullptr;
  static std::string problem;
  static std::once_flag once;
  std::call_once(once, [] {
    std::string named = environment::getText(environment::Variable::Libcuda).str();
    auto found = std::unique_ptr<CudaDriver>(new CudaDriver);
    llvm::Error error = found->load(named.empty() ? "libcuda.so.1" : named.c_str());
    if (!error)
      error = found->findDevices();
    if (error)
      problem = llvm::toString(std::move(error));
    else
      driver = found.release();
  });
  if (!driver)
    return llvm::createStringError(problem);
  return *driver;
}

llvm::Error CudaDriver::load(const char *library) {
  if (llvm::StringRef(library) == "none")
    return llvm::createStringError("TILEWRIGHT_LIBCUDA hides the GPUs");
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return llvm::createStringError("there is no CUDA driver: " + Twine(dlerror()));
  functions = std::make_shared<Functions>();
  std::string missing;
#define TW_FIND(name, ...)                                                                         \
  functions->name = reinterpret_cast<int (*)(__VA_ARGS__)>(dlsym(handle, #name));                  \
  if (!functions->name)                                                                            \
    missing = #name;
  TW_CUDA_FUNCTIONS(TW_FIND)
  if (!missing.empty())
    return llvm::createStringError("the CUDA driver '" + Twine(library) + "' has no '" + missing +
                                   "'");
  TW_CUDA_NEW_FUNCTIONS(TW_FIND)
#undef TW_FIND
  return llvm::Error::success();
}

llvm::Error CudaDriver::findDevices() {
  if (llvm::Error error = check(functions->cuInit(0), "starting the CUDA driver"))
    return error;
  int count = 0;
  if (llvm::Error error = check(functions->cuDeviceGetCount(&count), "counting GPUs"))
    return error;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int device = 0;
    char name[256] = "";
    CudaDeviceInfo info;
    for (int code : {functions->cuDeviceGet(&device, ordinal),
                     functions->cuDeviceGetName(name, sizeof(name), device),
                     functions->cuDeviceGetAttribute(&info.major, kCapabilityMajor, device),
                     functions->cuDeviceGetAttribute(&info.minor, kCapabilityMinor, device)})
      if (llvm::Error error = check(code, "reading a GPU's properties"))
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
    return llvm::createStringError("the CUDA driver finds no GPU");
  contexts.resize(devices.size());
  return llvm::Error::success();
}

llvm::Error CudaDriver::check(int code, const char *what) {
  if (code == kSuccess)
    return llvm::Error::success();
  const char *name = nullptr, *text = nullptr;
  functions->cuGetErrorName(code, &name);
  functions->cuGetErrorString(code, &text);
  return llvm::createStringError(Twine(what) + ": " + (text ? text : "unknown error") + " (" +
                                 (name ? name : "code " + std::to_string(code)) + ")");
}

llvm::Expected<void *> CudaDriver::getContext(int device) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  void *&context = contexts[device];
  int handle = 0;
  if (context)
    return context;
  if (llvm::Error error = check(functions->cuDeviceGet(&handle, device), "opening a GPU"))
    return error;
  if (llvm::Error error =
          check(functions->cuDevicePrimaryCtxRetain(&context, handle), "opening a GPU"))
    return error;
  return context;
}

llvm::Expected<CudaScope> CudaScope::enter(CudaDriver &driver, int device) {
  if (device < 0 || size_t(device) >= driver.devices.size())
    return llvm::createStringError("there is no GPU " + Twine(device) + "; the driver finds " +
                                   Twine(driver.devices.size()));
  llvm::Expected<void *> context = driver.getContext(device);
  if (!context)
    return context.takeError();
  if (llvm::Error error =
          driver.check(driver.functions->cuCtxPushCurrent_v2(*context), "choosing a GPU"))
    return error;
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

llvm::Expected<CudaAddress> CudaDriver::allocate(size_t bytes) {
  CudaAddress address = 0; // the driver refuses to allocate nothing
  if (llvm::Error error = check(functions->cuMemAlloc_v2(&address, std::max<size_t>(bytes, 1)),
                                "allocating memory of the GPU"))
    return error;
  return address;
}

void CudaDriver::free(CudaAddress address) { functions->cuMemFree_v2(address); }

llvm::Expected<CudaAddress> CudaDriver::allocateOnStream(size_t bytes, void *stream) {
  CudaAddress address = 0;
  if (llvm::Error error =
          check(functions->cuMemAllocAsync(&address, std::max<size_t>(bytes, 1), stream),
                "allocating memory of the GPU"))
    return error;
  return address;
}

void CudaDriver::freeOnStream(CudaAddress address, void *stream) {
  functions->cuMemFreeAsync(address, stream);
}

llvm::Error CudaDriver::copyToGpu(CudaAddress to, const void *from, size_t bytes) {
  return bytes ? check(functions->cuMemcpyHtoD_v2(to, from, bytes), "copying to the GPU")
               : llvm::Error::success();
}

llvm::Error CudaDriver::copyFromGpu(void *to, CudaAddress from, size_t bytes) {
  return bytes ? check(functions->cuMemcpyDtoH_v2(to, from, bytes), "copying from the GPU")
               : llvm::Error::success();
}

llvm::Expected<int> CudaDriver::findDevice(CudaAddress address) {
  int device = -1;
  if (llvm::Error error = check(functions->cuPointerGetAttribute(&device, kDeviceOrdinal, address),
                                "asking whose memory an address is"))
    return error;
  return device;
}

/// A number of bytes as the driver counts it: 0, `first`, 2 * first, … are 0, 1, 2, ….
static int toDriverEnum(unsigned bytes, unsigned first) {
  return bytes ? 1 + int(llvm::Log2_32(bytes / first)) : 0;
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

llvm::Expected<void *> CudaDriver::loadModule(const std::string &ptx) {
  std::array<char, 4096> log{};
  std::array<int, 2> options{kErrorLog, kErrorLogBytes};
  std::array<void *, 2> values{log.data(), reinterpret_cast<void *>(log.size())};
  void *module = nullptr;
  int code = functions->cuModuleLoadDataEx(&module, ptx.c_str(), options.size(), options.data(),
                                           values.data());
  if (llvm::Error error = check(code, "compiling PTX for the GPU")) {
    llvm::StringRef words = llvm::StringRef(log.data(), strnlen(log.data(), log.size())).trim();
    return words.empty() ? std::move(error)
                         : llvm::createStringError(llvm::toString(std::move(error)) + "\n" + words);
  }
  return module;
}

void CudaDriver::unloadModule(void *module) { functions->cuModuleUnload(module); }

llvm::Expected<void *> CudaDriver::getKernel(void *module, const std::string &name,
                                             unsigned sharedBytes) {
  void *kernel = nullptr;
  if (llvm::Error error =
          check(functions->cuModuleGetFunction(&kernel, module, name.c_str()), "finding a kernel"))
    return error;
  if (llvm::Error error =
          check(functions->cuFuncSetAttribute(kernel, kMaxDynamicSharedBytes, int(sharedBytes)),
                "requesting shared memory"))
    return llvm::createStringError(llvm::toString(std::move(error)) + ": kernel '" + name +
                                   "' wants " + Twine(sharedBytes) + " bytes");
  return kernel;
}

llvm::Error CudaDriver::launch(const Launch &launch, llvm::MutableArrayRef<void *> parameters) {
  auto [x, y, z] = launch.grid;
  return check(functions->cuLaunchKernel(launch.kernel, x, y, z, launch.numThreads, 1, 1,
                                         launch.sharedBytes, launch.stream, parameters.data(),
                                         /*extra=*/nullptr),
               "launching a kernel");
}

llvm::Expected<bool> CudaDriver::isDone(void *stream) {
  int code = functions->cuStreamQuery(stream);
  if (code == kNotReady)
    return false;
  if (llvm::Error error = check(code, "running a kernel"))
    return error;
  return true;
}

llvm::Error CudaDriver::wait() { return check(functions->cuCtxSynchronize(), "waiting for a GPU"); }

llvm::Error CudaDriver::synchronize() {
  for (size_t device = 0; device < devices.size(); ++device) {
    if (!contexts[device])
      continue;
    llvm::Expected<CudaScope> scope = CudaScope::enter(*this, int(device));
    if (!scope)
      return scope.takeError();
    if (llvm::Error error = wait())
      return error;
  }
  return llvm::Error::success();
}
