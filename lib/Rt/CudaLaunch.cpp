//===- CudaLaunch.cpp - launch a compiled function on a GPU -----------------------------------===//

#include "tilewright/Rt/CudaLaunch.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tilewright::rt {

//===----------------------------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------------------------===//

GpuMemory::~GpuMemory() {
  for (CudaAddress address : allocations)
    driver.free(address);
}

Result<CudaAddress> GpuMemory::allocate(size_t bytes) {
  Result<CudaAddress> address = driver.allocate(bytes);
  if (address)
    allocations.push_back(*address);
  return address;
}

/// Copies each stretch of the host's memory that tensors cover, once.
MaybeFailure GpuTensors::copyToGpu(const Binding &binding) {
  std::vector<std::pair<uint64_t, uint64_t>> stretches;
  for (const Binding::Tensor &tensor : binding.tensors)
    if (!tensor.isOnGpu) {
      uint64_t begin = binding.slots[tensor.position];
      stretches.emplace_back(begin, begin + tensor.bytes);
    }
  std::ranges::sort(stretches);
  for (auto [begin, end] : stretches) {
    if (!copies.empty() && begin < copies.back().end)
      copies.back().end = std::max(copies.back().end, end);
    else
      copies.push_back({begin, end, 0});
  }
  for (Copy &copy : copies) {
    Result<CudaAddress> address = memory.allocate(copy.end - copy.begin);
    if (!address)
      return address.takeFailure();
    copy.address = *address;
    if (MaybeFailure failure = driver.copyToGpu(
            copy.address, reinterpret_cast<const void *>(copy.begin), copy.end - copy.begin))
      return failure;
  }
  // A copy may be on its way when the driver returns, and other streams do not wait for it.
  return copies.empty() ? MaybeFailure() : driver.wait();
}

Result<GpuTensors> GpuTensors::place(CudaDriver &driver, int device, const Signature &signature,
                                     const Binding &binding) {
  GpuTensors tensors(driver);
  if (MaybeFailure failure = tensors.copyToGpu(binding))
    return *failure;
  tensors.addresses.assign(binding.slots.size(), 0);
  for (const Binding::Tensor &tensor : binding.tensors) {
    auto refuse = [&](const std::string &why) {
      return Failure{"parameter '" + signature.parameters[tensor.position].name + "': " + why};
    };
    CudaAddress address = tensors.find(tensor, binding.slots[tensor.position]);
    if (tensor.isOnGpu && tensor.bytes) {
      Result<int> owner = driver.findDevice(address);
      if (!owner)
        return refuse(owner.getFailure().message);
      if (*owner != device)
        return refuse("the tensor is on cuda:" + std::to_string(*owner) +
                      ", this kernel runs on cuda:" + std::to_string(device));
    }
    if (address % tensor.elementBytes)
      return refuse("its data is not aligned to the " + std::to_string(tensor.elementBytes) +
                    " bytes of an element");
    tensors.addresses[tensor.position] = address;
  }
  return tensors;
}

CudaAddress GpuTensors::find(const Binding::Tensor &tensor, uint64_t slot) const {
  if (tensor.isOnGpu)
    return slot;
  // A tensor of no bytes may lie at the end of a stretch.
  auto copy = std::ranges::find_if(copies, [&](const Copy &copy) {
    return slot >= copy.begin && slot + tensor.bytes <= copy.end;
  });
  return copy->address + (slot - copy->begin);
}

int64_t GpuTensors::getAlignment() const {
  CudaAddress all = 16; // more makes no access wider
  for (CudaAddress address : addresses)
    all |= address;
  return int64_t(all & -all);
}

MaybeFailure GpuTensors::bringBack(const Binding &binding) {
  for (const Binding::Tensor &tensor : binding.tensors)
    if (!tensor.isOnGpu && tensor.isWritten)
      if (MaybeFailure failure =
              driver.copyFromGpu(reinterpret_cast<void *>(binding.slots[tensor.position]),
                                 addresses[tensor.position], tensor.bytes))
        return failure;
  return std::nullopt;
}

//===----------------------------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------------------------===//

Result<std::shared_ptr<CudaModule>> CudaModule::load(CudaDriver &driver, int device,
                                                     const char *image,
                                                     std::vector<GpuKernel> kernels) {
  std::shared_ptr<CudaModule> loaded(new CudaModule(driver, device, std::move(kernels)));
  Result<void *> module = driver.loadModule(image);
  if (!module)
    return module.takeFailure();
  loaded->module = *module;
  for (const GpuKernel &kernel : loaded->kernels) {
    Result<void *> handle = driver.getKernel(*module, kernel.name, kernel.sharedBytes);
    if (!handle)
      return handle.takeFailure();
    loaded->handles.push_back(*handle);
  }
  return loaded;
}

CudaModule::~CudaModule() {
  if (!module)
    return;
  // Else the driver has ended, and the module with it.
  if (Result<CudaScope> scope = CudaScope::enter(driver, device))
    driver.unloadModule(module);
}

/// Waits until a stream is empty; false if `poll` gave it up.
static Result<bool> wait(CudaDriver &driver, void *stream, const FunctionRef<bool()> *poll) {
  using namespace std::chrono;
  auto start = steady_clock::now(), lastPoll = start;
  while (true) {
    Result<bool> isDone = driver.isDone(stream);
    if (!isDone || *isDone)
      return isDone;
    auto now = steady_clock::now();
    if (now - start > milliseconds(1)) // a short kernel is waited for without sleep
      std::this_thread::sleep_for(microseconds(50));
    if (now - lastPoll > milliseconds(50)) {
      if (poll && !(*poll)())
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
  Result<CudaAddress> allocate(size_t bytes) {
    if (!isOnStream)
      return memory.allocate(bytes);
    Result<CudaAddress> address = driver.allocateOnStream(bytes, stream);
    if (address)
      onStream.push_back(*address);
    return address;
  }

private:
  CudaDriver &driver;
  void *stream;
  GpuMemory &memory;
  bool isOnStream;
  std::vector<CudaAddress> onStream;
};
} // namespace

MaybeFailure CudaModule::launch(std::span<const LaunchFormulas::Grid> grids,
                                std::span<void *const> parameters, const TensorMapCache::Maps *maps,
                                void *stream) const {
  std::vector<void *> all;
  for (size_t position = 0; position < kernels.size(); ++position) {
    const LaunchFormulas::Grid &grid = grids[position];
    if (std::ranges::find(grid, 0) != grid.end()) // an empty grid runs nothing
      continue;
    all.assign(parameters.begin(), parameters.end());
    if (maps)
      for (const EncodedTensorMap &map : (*maps)[position])
        all.push_back(const_cast<uint8_t *>(map.bytes.data())); // the driver copies it
    CudaDriver::Launch launch;
    launch.kernel = handles[position];
    launch.grid = {unsigned(grid[0]), unsigned(grid[1]), unsigned(grid[2])};
    launch.numThreads = kernels[position].numThreads;
    launch.sharedBytes = kernels[position].sharedBytes;
    launch.stream = stream;
    launch.overlapsLaunch = kernels[position].overlapsLaunch;
    if (MaybeFailure failure = driver.launch(launch, all))
      return failure;
  }
  return std::nullopt;
}

Result<bool> CudaModule::run(const LaunchFormulas &formulas, const Signature &signature,
                             const Binding &binding, GpuTensors &tensors, void *stream,
                             const FunctionRef<bool()> *poll) const {
  std::span<const int64_t> numbers = binding.getNumbers();
  Result<std::vector<LaunchFormulas::Grid>> grids = formulas.evaluateGrids(numbers);
  if (!grids)
    return grids.takeFailure();
  if (grids->size() != kernels.size())
    return Failure{"the code has " + std::to_string(kernels.size()) + " kernels, the function " +
                   std::to_string(grids->size())};
  Result<std::vector<int64_t>> sizes = formulas.evaluateWorkspaces(numbers);
  if (!sizes)
    return sizes.takeFailure();
  std::vector<uint64_t> values(tensors.getAddresses().begin(), tensors.getAddresses().end());
  size_t numArguments = values.size();
  Workspaces workspaces(driver, device, stream, tensors.getMemory());
  for (int64_t bytes : *sizes) {
    Result<CudaAddress> address = workspaces.allocate(bytes);
    if (!address)
      return address.takeFailure();
    values.push_back(*address);
  }
  std::shared_ptr<const TensorMapCache::Maps> encoded;
  if (!maps.isEmpty()) {
    encoded = maps.get({values, numbers}, [&](const TensorMap &map) { return driver.encode(map); });
    if (!encoded)
      return false;
  }
  std::vector<void *> parameters;
  auto tensor = binding.tensors.begin();
  for (size_t position = 0; position < values.size(); ++position) {
    bool isTensor = tensor != binding.tensors.end() && tensor->position == position;
    tensor += isTensor;
    if (!isTensor && position < numArguments)
      values[position] = packNumber(signature, position, binding.slots[position]).bits;
    parameters.push_back(&values[position]);
  }
  if (MaybeFailure failure = launch(*grids, parameters, encoded.get(), stream))
    return *failure;
  if (tensors.getMemory().isEmpty())
    return true;
  Result<bool> isDone = wait(driver, stream, poll);
  if (!isDone)
    return isDone;
  if (!*isDone) { // nothing can end a kernel, so its memory stays
    tensors.getMemory().abandon();
    return true;
  }
  if (MaybeFailure failure = tensors.bringBack(binding))
    return *failure;
  return true;
}

} // namespace tilewright::rt
