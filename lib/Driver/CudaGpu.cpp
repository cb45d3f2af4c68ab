//===- CudaGpu.cpp - launch a compiled function on a GPU -------------------------------------===//

#include "tilewright/Driver/CudaGpu.h"
#include "tilewright/Driver/Launches.h"
#include "tilewright/Tile/Tile.h"

#include <chrono>
#include <thread>

using namespace mlir;
using tilewright::runtime::BoundArgument;
using tilewright::runtime::BoundTensor;
using tilewright::runtime::CudaAddress;
using tilewright::runtime::CudaDriver;
using tilewright::runtime::CudaScope;

namespace tilewright::driver {

llvm::Expected<const Arch *> findArch(const runtime::CudaDeviceInfo &device) {
  // PTX for an architecture runs on all later ones.
  if (const Arch *arch = findNewestArch(10 * device.major + device.minor))
    return arch;
  return llvm::createStringError("the GPU '" + device.name + "' has compute capability " +
                                 Twine(device.major) + "." + Twine(device.minor) +
                                 "; GPU code is for 8.0 and above");
}

//===----------------------------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------------------------===//

GpuMemory::~GpuMemory() {
  for (CudaAddress address : allocations)
    driver.free(address);
}

llvm::Expected<CudaAddress> GpuMemory::allocate(size_t bytes) {
  llvm::Expected<CudaAddress> address = driver.allocate(bytes);
  if (address)
    allocations.push_back(*address);
  return address;
}

static uint8_t *getBegin(const BoundTensor &tensor) { return static_cast<uint8_t *>(tensor.data); }

/// Copies each stretch of the host's memory that tensors cover, once.
llvm::Error GpuTensors::copyToGpu(ArrayRef<BoundArgument> arguments) {
  SmallVector<std::pair<uint8_t *, uint8_t *>> stretches;
  for (const BoundArgument &argument : arguments)
    if (auto *tensor = std::get_if<BoundTensor>(&argument); tensor && !tensor->isOnGpu)
      stretches.emplace_back(getBegin(*tensor), getBegin(*tensor) + getBytes(*tensor));
  llvm::sort(stretches);
  for (auto [begin, end] : stretches) {
    if (!copies.empty() && begin < copies.back().end)
      copies.back().end = std::max(copies.back().end, end);
    else
      copies.push_back({begin, end, 0});
  }
  for (Copy &copy : copies) {
    llvm::Expected<CudaAddress> address = memory.allocate(copy.end - copy.begin);
    if (!address)
      return address.takeError();
    copy.address = *address;
    if (llvm::Error error = driver.copyToGpu(copy.address, copy.begin, copy.end - copy.begin))
      return error;
  }
  // A copy may be on its way when the driver returns, and other streams do not wait for it.
  return copies.empty() ? llvm::Error::success() : driver.wait();
}

llvm::Expected<GpuTensors> GpuTensors::place(CudaDriver &driver, int device, func::FuncOp function,
                                             ArrayRef<BoundArgument> arguments) {
  GpuTensors tensors(driver);
  if (llvm::Error error = tensors.copyToGpu(arguments))
    return error;
  for (auto [position, argument] : llvm::enumerate(arguments)) {
    auto *tensor = std::get_if<BoundTensor>(&argument);
    if (!tensor) {
      tensors.addresses.push_back(0);
      continue;
    }
    auto refuse = [&](const Twine &why) {
      auto name = function.getArgAttrOfType<StringAttr>(position, tile::kNameAttr);
      return llvm::createStringError("parameter '" + name.getValue() + "': " + why);
    };
    CudaAddress address = tensors.find(*tensor);
    if (tensor->isOnGpu && getBytes(*tensor)) {
      llvm::Expected<int> owner = driver.findDevice(address);
      if (!owner)
        return refuse(llvm::toString(owner.takeError()));
      if (*owner != device)
        return refuse("the tensor is on cuda:" + Twine(*owner) +
                      ", this kernel runs on cuda:" + Twine(device));
    }
    if (int64_t bytes = tile::getStorageBytes(tensor->elementType); address % bytes)
      return refuse("its data is not aligned to the " + Twine(bytes) + " bytes of an element");
    tensors.addresses.push_back(address);
  }
  return tensors;
}

CudaAddress GpuTensors::find(const BoundTensor &tensor) const {
  if (tensor.isOnGpu)
    return reinterpret_cast<CudaAddress>(tensor.data);
  // A tensor of no bytes may lie at the end of a stretch.
  auto copy = llvm::find_if(copies, [&](const Copy &copy) {
    return getBegin(tensor) >= copy.begin && getBegin(tensor) + getBytes(tensor) <= copy.end;
  });
  return copy->address + (getBegin(tensor) - copy->begin);
}

int64_t GpuTensors::getAlignment() const {
  CudaAddress all = CallFacts().argumentAlignment; // more makes no access wider
  for (CudaAddress address : addresses)
    all |= address;
  return int64_t(all & -all);
}

llvm::Error GpuTensors::bringBack(ArrayRef<bool> isWritten, ArrayRef<BoundArgument> arguments) {
  for (auto [position, argument] : llvm::enumerate(arguments)) {
    auto *tensor = std::get_if<BoundTensor>(&argument);
    if (!tensor || tensor->isOnGpu || !isWritten[position])
      continue;
    if (llvm::Error error =
            driver.copyFromGpu(tensor->data, addresses[position], getBytes(*tensor)))
      return error;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<CudaModule>>
CudaModule::load(CudaDriver &driver, int device, std::shared_ptr<const CompiledArtifact> artifact) {
  std::unique_ptr<CudaModule> kernel(new CudaModule(driver, device, std::move(artifact)));
  llvm::Expected<void *> module = driver.loadModule(kernel->artifact->code);
  if (!module)
    return module.takeError();
  kernel->module = *module;
  for (const nvptx::KernelInfo &info : kernel->artifact->kernels) {
    llvm::Expected<void *> handle = driver.getKernel(*module, info.name, info.sharedBytes);
    if (!handle)
      return handle.takeError();
    kernel->handles.push_back(*handle);
  }
  return kernel;
}

CudaModule::~CudaModule() {
  if (!module)
    return;
  llvm::Expected<CudaScope> scope = CudaScope::enter(driver, device);
  if (scope)
    driver.unloadModule(module);
  else // the driver has ended, and the module with it
    llvm::consumeError(scope.takeError());
}

/// Waits until a stream is empty; false if `poll` gave it up.
static llvm::Expected<bool> wait(CudaDriver &driver, void *stream,
                                 llvm::function_ref<bool()> poll) {
  using namespace std::chrono;
  auto start = steady_clock::now(), lastPoll = start;
  while (true) {
    llvm::Expected<bool> isDone = driver.isDone(stream);
    if (!isDone || *isDone)
      return isDone;
    auto now = steady_clock::now();
    if (now - start > milliseconds(1)) // a short kernel is waited for without sleep
      std::this_thread::sleep_for(microseconds(50));
    if (now - lastPoll > milliseconds(50)) {
      if (poll && !poll())
        return false;
      lastPoll = now;
    }
  }
}

namespace {
/// The memory that a function's workspaces have for one call: of the stream if the GPU can do that,
/// which nothing waits for, else of the call.
class Workspaces {
public:
  Workspaces(CudaDriver &driver, int device, void *stream, GpuMemory &memory)
      : driver(driver), stream(stream), memory(memory),
        isOnStream(driver.getDevices()[device].hasStreamMemory) {}
  Workspaces(const Workspaces &) = delete;
  ~Workspaces() {
    for (CudaAddress address : onStream)
      driver.freeOnStream(address, stream);
  }
  llvm::Expected<CudaAddress> allocate(size_t bytes) {
    if (!isOnStream)
      return memory.allocate(bytes);
    llvm::Expected<CudaAddress> address = driver.allocateOnStream(bytes, stream);
    if (address)
      onStream.push_back(*address);
    return address;
  }

private:
  CudaDriver &driver;
  void *stream;
  GpuMemory &memory;
  bool isOnStream;
  SmallVector<CudaAddress, 4> onStream;
};
} // namespace

llvm::Error CudaModule::launch(ArrayRef<LaunchFormulas::Grid> grids, ArrayRef<void *> parameters,
                               const TensorMapCache::Maps *maps, void *stream) const {
  SmallVector<void *> all;
  for (auto [position, info] : llvm::enumerate(artifact->kernels)) {
    const LaunchFormulas::Grid &grid = grids[position];
    if (llvm::is_contained(grid, 0)) // an empty grid runs nothing
      continue;
    all.assign(parameters.begin(), parameters.end());
    if (maps)
      for (const EncodedTensorMap &map : (*maps)[position])
        all.push_back(const_cast<uint8_t *>(map.bytes.data())); // the driver copies it
    CudaDriver::Launch launch;
    launch.kernel = handles[position];
    launch.grid = {unsigned(grid[0]), unsigned(grid[1]), unsigned(grid[2])};
    launch.numThreads = info.numThreads;
    launch.sharedBytes = info.sharedBytes;
    launch.stream = stream;
    if (llvm::Error error = driver.launch(launch, all))
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<bool> CudaModule::run(const BoundArguments &bound, ArrayRef<BoundArgument> arguments,
                                     GpuTensors &tensors, void *stream,
                                     llvm::function_ref<bool()> poll) const {
  const Signature &signature = bound.getSignature();
  func::FuncOp function = signature.function;
  ArrayRef<int64_t> values = bound.getNumbers();
  auto grids = artifact->launches.evaluateGrids(values);
  if (!grids)
    return grids.takeError();
  auto sizes = artifact->launches.evaluateWorkspaces(values);
  if (!sizes)
    return sizes.takeError();
  SmallVector<CudaAddress> pointers(tensors.getAddresses());
  Workspaces workspaces(driver, device, stream, tensors.getMemory());
  for (int64_t bytes : *sizes) {
    llvm::Expected<CudaAddress> address = workspaces.allocate(bytes);
    if (!address)
      return address.takeError();
    pointers.push_back(*address);
  }
  std::shared_ptr<const TensorMapCache::Maps> encoded;
  if (!maps.isEmpty()) {
    SmallVector<uint64_t> addresses(pointers.begin(), pointers.end());
    encoded =
        maps.get({addresses, values}, [&](const TensorMap &map) { return driver.encode(map); });
    if (!encoded)
      return false;
  }
  std::vector<std::vector<uint8_t>> numbers(arguments.size());
  SmallVector<void *> parameters;
  for (auto [position, pointer] : llvm::enumerate(pointers)) {
    bool isNumber =
        position < arguments.size() && !std::holds_alternative<BoundTensor>(arguments[position]);
    if (isNumber)
      numbers[position] = packNumber(function.getArgumentTypes()[position], arguments[position]);
    parameters.push_back(isNumber ? static_cast<void *>(numbers[position].data()) : &pointer);
  }
  if (llvm::Error error = launch(*grids, parameters, encoded.get(), stream))
    return error;
  if (tensors.getMemory().isEmpty())
    return true;
  llvm::Expected<bool> isDone = wait(driver, stream, poll);
  if (!isDone)
    return isDone.takeError();
  if (!*isDone) { // nothing can end a kernel, so its memory stays
    tensors.getMemory().abandon();
    return true;
  }
  if (llvm::Error error = tensors.bringBack(signature.isWritten, arguments))
    return error;
  return true;
}

} // namespace tilewright::driver
