//===- FakeCuda.cpp - the CUDA driver's functions, on the virtual GPU ------------------------===//
//
// Lets the code that drives a GPU be tested without one. As strict as a GPU where that finds
// mistakes: its addresses are none of the host, kernels run when somebody waits and not before, a
// finding of the virtual GPU is an error that stays. A stream can be captured in a graph; what would
// wait for other work is refused meanwhile, as the driver does.
//
// TILEWRIGHT_FAKE_GPUS lists the compute capabilities of its devices: "8.0,9.0".
// TILEWRIGHT_FAKE_OLD=1 makes it a driver that has no tensor maps and no memory of streams.
// TILEWRIGHT_FAKE_IDLE=1 makes launches do nothing: what is left of a call is our own side of it.
//
//===----------------------------------------------------------------------------------------===//

#include "vgpu/Vgpu.h"

#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <map>

namespace {

using Address = unsigned long long;
constexpr Address kTag = Address(1) << 62; ///< No address of the host has this bit.

enum Code {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  InvalidDevice = 101,
  InvalidContext = 201,
  InvalidPtx = 218,
  NotFound = 500,
  NotReady = 600,
  Assert = 710,
  LaunchFailed = 719,
  NotSupported = 801,
  CaptureUnsupported = 900
};

struct Device {
  int number = 0, major = 8, minor = 0;
  std::string getArch() const { return "sm_" + std::to_string(major) + std::to_string(minor); }
  size_t getMaxSharedBytes() const {
    bool isSmall = major == 12 || (major == 8 && (minor == 6 || minor == 9));
    return size_t(isSmall ? 99 : major >= 9 ? 227 : 163) * 1024;
  }
};
struct Allocation {
  uint8_t *host;
  size_t bytes;
  Device *device;
};
struct Module {
  std::unique_ptr<vgpu::Module> code;
  Device *device;
};
struct Function {
  Module *module;
  std::string name;
  size_t maxSharedBytes = 48 * 1024;
};
/// As cuda.h has it: `number` says whether a launch may start while the one before it runs.
struct LaunchAttribute {
  int id, padding;
  union {
    char bytes[64];
    int number;
  } value;
};
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};
constexpr int kProgrammaticStreamSerialization = 6;

/// Work of a stream: a launch, or with no function the end of an allocation.
struct Work {
  Function *function = nullptr;
  vgpu::LaunchConfig config;
  std::vector<vgpu::Argument> arguments;
  Address freed = 0;
};
struct Graph {
  std::vector<Work> work;
};

std::vector<Device> devices;
std::map<Address, Allocation> allocations;         ///< By the first address.
std::map<void *, std::vector<Work>> pending;       ///< By stream.
std::map<void *, std::unique_ptr<Graph>> captured; ///< The streams that are captured.
std::vector<std::unique_ptr<Graph>> graphs;
std::vector<std::unique_ptr<Module>> modules;
std::vector<std::unique_ptr<Function>> functions;
std::vector<Device *> current; ///< The context of a device is its address here.
int sticky = Success;
bool hasSaidNotReady = false;
size_t numOverlapping = 0; ///< Launches that may start while the one before them runs.

Allocation *findAllocation(Address address, size_t &offset) {
  auto it = allocations.upper_bound(address);
  if (it == allocations.begin())
    return nullptr;
  --it;
  offset = address - it->first;
  return offset < it->second.bytes ? &it->second : nullptr;
}

bool isIdle() {
  static const bool isSet = std::getenv("TILEWRIGHT_FAKE_IDLE") != nullptr;
  return isSet;
}

bool isOld() { return std::getenv("TILEWRIGHT_FAKE_OLD") != nullptr; }

/// The kernel has no other way to tell that its memory is gone than to find something else in it.
void release(Address address, bool isForGood) {
  Allocation &allocation = allocations.at(address);
  std::memset(allocation.host, 0xa5, allocation.bytes);
  if (!isForGood)
    return;
  std::free(allocation.host);
  allocations.erase(address);
}

void run(Work &launch) {
  llvm::Expected<vgpu::LaunchResult> result =
      vgpu::launch(*launch.function->module->code, launch.config, launch.arguments);
  if (!result) {
    fprintf(stderr, "%s\n", llvm::toString(result.takeError()).c_str());
    sticky = LaunchFailed;
    return;
  }
  fputs(result->output.c_str(), stdout);
  fflush(stdout);
  for (const vgpu::Finding &finding : result->findings)
    if (!finding.isNote) {
      fprintf(stderr, "%s\n", finding.text().c_str());
      sticky = finding.kind == vgpu::FindingKind::Assertion ? Assert : LaunchFailed;
    }
}

/// Runs what waits on a stream, or with none on all of them.
int runPending(void *const *stream = nullptr) {
  for (auto &[key, launches] : pending) {
    if (stream && key != *stream)
      continue;
    for (Work &work : launches)
      if (!work.function)
        release(work.freed, /*isForGood=*/true);
      else if (sticky == Success)
        run(work);
    launches.clear();
  }
  return sticky;
}

/// Where work of a stream goes: to the stream, or to the graph that captures it.
std::vector<Work> &getQueue(void *stream) {
  auto it = captured.find(stream);
  return it == captured.end() ? pending[stream] : it->second->work;
}

} // namespace

extern "C" {

int cuInit(unsigned) {
  const char *listed = std::getenv("TILEWRIGHT_FAKE_GPUS");
  llvm::SmallVector<llvm::StringRef> capabilities;
  llvm::StringRef(listed ? listed : "8.0").split(capabilities, ',', -1, /*KeepEmpty=*/false);
  devices.clear();
  for (llvm::StringRef capability : capabilities) {
    Device device;
    device.number = int(devices.size());
    auto [major, minor] = capability.split('.');
    if (major.getAsInteger(10, device.major) || minor.getAsInteger(10, device.minor))
      return InvalidValue;
    devices.push_back(device);
  }
  return Success;
}

int cuGetErrorName(int code, const char **name) {
  static const std::map<int, const char *> names = {{InvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                    {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                    {InvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
                                                    {InvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
                                                    {InvalidPtx, "CUDA_ERROR_INVALID_PTX"},
                                                    {NotFound, "CUDA_ERROR_NOT_FOUND"},
                                                    {Assert, "CUDA_ERROR_ASSERT"},
                                                    {LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"}};
  auto it = names.find(code);
  *name = it == names.end() ? nullptr : it->second;
  return *name ? Success : InvalidValue;
}

int cuGetErrorString(int code, const char **text) {
  *text = code == LaunchFailed ? "unspecified launch failure" : nullptr;
  return *text ? Success : InvalidValue;
}

int cuDeviceGetCount(int *count) {
  *count = int(devices.size());
  return Success;
}

int cuDeviceGet(int *device, int ordinal) {
  *device = 100 + ordinal; // a handle is not a number
  return size_t(ordinal) < devices.size() ? Success : InvalidDevice;
}

int cuDeviceGetName(char *name, int bytes, int device) {
  snprintf(name, bytes, "virtual GPU %d", device - 100);
  return Success;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  const Device &found = devices.at(device - 100);
  *value = attribute == 75    ? found.major
           : attribute == 76  ? found.minor
           : attribute == 115 ? !isOld()
                              : 1;
  return Success;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &devices.at(device - 100);
  return Success;
}

int cuCtxPushCurrent_v2(void *context) {
  current.push_back(static_cast<Device *>(context));
  return Success;
}

int cuCtxPopCurrent_v2(void **context) {
  if (current.empty())
    return InvalidContext;
  *context = current.back();
  current.pop_back();
  return Success;
}

int cuCtxSynchronize(void) {
  if (!captured.empty())
    return CaptureUnsupported;
  return current.empty() ? int(InvalidContext) : runPending();
}

static int allocate(Address *address, size_t bytes) {
  if (current.empty())
    return InvalidContext;
  if (bytes == 0)
    return InvalidValue;
  if (bytes > (size_t(1) << 32))
    return OutOfMemory;
  size_t rounded = llvm::alignTo(bytes, 256);
  auto *host = static_cast<uint8_t *>(std::aligned_alloc(256, rounded));
  std::memset(host, 0xa5, rounded);
  *address = reinterpret_cast<Address>(host) | kTag;
  allocations[*address] = {host, bytes, current.back()};
  return Success;
}

int cuMemAlloc_v2(Address *address, size_t bytes) {
  return captured.empty() ? allocate(address, bytes) : int(CaptureUnsupported);
}

int cuMemAllocAsync(Address *address, size_t bytes, void *) { return allocate(address, bytes); }

int cuMemFreeAsync(Address address, void *stream) {
  if (!allocations.count(address))
    return InvalidValue;
  Work work;
  work.freed = address;
  getQueue(stream).push_back(std::move(work));
  return Success;
}

int cuMemFree_v2(Address address) {
  if (!captured.empty())
    return CaptureUnsupported;
  int code = runPending();
  auto it = allocations.find(address);
  if (it == allocations.end())
    return InvalidValue;
  std::free(it->second.host);
  allocations.erase(it);
  return code;
}

int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) {
  size_t offset = 0;
  Allocation *allocation = findAllocation(to, offset);
  if (!allocation || offset + bytes > allocation->bytes)
    return InvalidValue;
  if (!captured.empty())
    return CaptureUnsupported;
  int code = runPending();
  std::memcpy(allocation->host + offset, from, bytes);
  return code;
}

int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) {
  size_t offset = 0;
  Allocation *allocation = findAllocation(from, offset);
  if (!allocation || offset + bytes > allocation->bytes)
    return InvalidValue;
  if (!captured.empty())
    return CaptureUnsupported;
  int code = runPending();
  std::memcpy(to, allocation->host + offset, bytes);
  return code;
}

int cuPointerGetAttribute(void *value, int attribute, Address address) {
  size_t offset = 0;
  Allocation *allocation = findAllocation(address, offset);
  if (!allocation || attribute != 9)
    return InvalidValue;
  *static_cast<int *>(value) = allocation->device->number;
  return Success;
}

int cuModuleLoadDataEx(void **module, const void *text, unsigned numOptions, int *options,
                       void **values) {
  if (current.empty())
    return InvalidContext;
  auto code = vgpu::parsePtx(static_cast<const char *>(text), "kernel.ptx");
  if (!code) {
    std::string words = llvm::toString(code.takeError());
    char *log = nullptr;
    size_t bytes = 0;
    for (unsigned i = 0; i < numOptions; ++i) {
      log = options[i] == 5 ? static_cast<char *>(values[i]) : log;
      bytes = options[i] == 6 ? reinterpret_cast<size_t>(values[i]) : bytes;
    }
    if (log)
      snprintf(log, bytes, "%s", words.c_str());
    return InvalidPtx;
  }
  modules.push_back(std::make_unique<Module>());
  modules.back()->code = std::move(*code);
  modules.back()->device = current.back();
  *module = modules.back().get();
  return Success;
}

int cuModuleUnload(void *module) {
  int code = runPending();
  llvm::erase_if(functions, [&](auto &function) { return function->module == module; });
  llvm::erase_if(modules, [&](auto &loaded) { return loaded.get() == module; });
  return code;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
  auto *loaded = static_cast<Module *>(module);
  if (!loaded->code->findKernel(name))
    return NotFound;
  functions.push_back(std::make_unique<Function>());
  functions.back()->module = loaded;
  functions.back()->name = name;
  *function = functions.back().get();
  return Success;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
  auto *found = static_cast<Function *>(function);
  if (attribute != 8 || size_t(value) > found->module->device->getMaxSharedBytes())
    return InvalidValue;
  found->maxSharedBytes = value;
  return Success;
}

int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                   unsigned blockY, unsigned blockZ, unsigned sharedBytes, void *stream,
                   void **parameters, void **) {
  auto *found = static_cast<Function *>(function);
  if (current.empty() || current.back() != found->module->device)
    return InvalidContext;
  if (sticky != Success)
    return sticky;
  if (sharedBytes > found->maxSharedBytes || gridX == 0 || gridY == 0 || gridZ == 0)
    return InvalidValue;
  if (isIdle())
    return Success;
  Work launch;
  launch.function = found;
  launch.config.entry = found->name;
  launch.config.grid = {gridX, gridY, gridZ};
  launch.config.block = {blockX, blockY, blockZ};
  launch.config.dynamicSharedBytes = sharedBytes;
  launch.config.arch = found->module->device->getArch();
  if (llvm::StringRef target = found->module->code->ptx().target; target.ends_with("a"))
    launch.config.arch = target.str(); // the same GPU with what only it has
  for (auto [position, parameter] :
       llvm::enumerate(found->module->code->findKernel(found->name)->params)) {
    auto *bytes = static_cast<const uint8_t *>(parameters[position]);
    Address address = 0;
    std::memcpy(&address, bytes, std::min<size_t>(parameter.sizeBytes, sizeof(address)));
    size_t offset = 0;
    Allocation *allocation =
        parameter.sizeBytes == 8 && (address & kTag) ? findAllocation(address, offset) : nullptr;
    vgpu::TensorMap map;
    bool isMap = parameter.sizeBytes == vgpu::tensorMapBytes && vgpu::TensorMap::decode(bytes, map);
    if (isMap)
      allocation = findAllocation(map.address, offset);
    if (isMap && !allocation)
      return InvalidValue;
    if (allocation) {
      launch.arguments.push_back(
          isMap ? vgpu::Argument::tensorMap(map, allocation->host, allocation->bytes)
                : vgpu::Argument::buffer(allocation->host, allocation->bytes));
      launch.arguments.back().offsetBytes = offset;
    } else {
      launch.arguments.push_back(vgpu::Argument::raw({bytes, parameter.sizeBytes}));
    }
  }
  getQueue(stream).push_back(std::move(launch));
  hasSaidNotReady = false;
  return Success;
}

/// Runs one launch after another all the same, and counts what would be allowed to overlap.
int cuLaunchKernelEx(const LaunchConfig *config, void *function, void **parameters, void **extra) {
  if (isOld())
    return NotSupported;
  bool overlaps = false;
  for (unsigned i = 0; i < config->numAttributes; ++i) {
    if (config->attributes[i].id != kProgrammaticStreamSerialization)
      return InvalidValue;
    overlaps |= config->attributes[i].value.number != 0;
  }
  int code = cuLaunchKernel(function, config->gridX, config->gridY, config->gridZ, config->blockX,
                            config->blockY, config->blockZ, config->sharedBytes, config->stream,
                            parameters, extra);
  numOverlapping += code == Success && overlaps;
  return code;
}

int cuTensorMapEncodeTiled(void *encoded, int type, unsigned rank, void *address,
                           const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                           const uint32_t *steps, int interleave, int swizzle, int promotion,
                           int fill) {
  using vgpu::ptx::Type;
  static constexpr Type types[] = {Type::U8,  Type::U16, Type::U32, Type::S32, Type::U64,
                                   Type::S64, Type::F16, Type::F32, Type::F64, Type::BF16};
  if (isOld())
    return NotSupported;
  if (size_t(type) >= std::size(types) || rank < 1 || rank > 5 || interleave != 0 ||
      unsigned(swizzle) > 3 || unsigned(promotion) > 3 || unsigned(fill) > 1 ||
      reinterpret_cast<uintptr_t>(encoded) % 64)
    return InvalidValue;
  vgpu::TensorMap map;
  map.address = reinterpret_cast<Address>(address);
  map.type = types[type];
  map.swizzle = vgpu::Swizzle(swizzle);
  map.fillsNan = fill;
  map.extents.assign(extents, extents + rank);
  map.strideBytes.assign(strides, strides + rank - 1);
  map.box.assign(box, box + rank);
  map.elementStrides.assign(steps, steps + rank);
  for (unsigned i = 0; i < rank; ++i)
    if (map.extents[i] != extents[i]) // does not fit
      return InvalidValue;
  if (llvm::errorToBool(map.check()))
    return InvalidValue;
  auto bytes = map.encode();
  std::memcpy(encoded, bytes.data(), bytes.size());
  return Success;
}

int cuStreamBeginCapture_v2(void *stream, int) {
  if (!pending[stream].empty())
    runPending(&stream);
  captured[stream] = std::make_unique<Graph>();
  return Success;
}

int cuStreamEndCapture(void *stream, void **graph) {
  auto it = captured.find(stream);
  if (it == captured.end())
    return InvalidValue;
  *graph = it->second.get();
  graphs.push_back(std::move(it->second));
  captured.erase(it);
  return Success;
}

int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
  *executable = graph;
  return Success;
}

/// Runs at once. The memory that the graph allocates is its own, and lost at the end of each run.
int cuGraphLaunch(void *executable, void *stream) {
  runPending(&stream);
  for (Work &work : static_cast<Graph *>(executable)->work)
    if (!work.function)
      release(work.freed, /*isForGood=*/false);
    else if (sticky == Success)
      run(work);
  return sticky;
}

int cuStreamQuery(void *stream) {
  if (captured.count(stream))
    return CaptureUnsupported;
  if (!pending[stream].empty() && !std::exchange(hasSaidNotReady, true))
    return NotReady;
  return runPending(&stream);
}

/// For tests: how much work of a stream waits, how many allocations live, and how many launches so far
/// may overlap with the one before.
size_t fakeCudaCountPending(void *stream) { return pending[stream].size(); }
size_t fakeCudaCountAllocations() { return allocations.size(); }
size_t fakeCudaCountOverlapping() { return numOverlapping; }

} // extern "C"
