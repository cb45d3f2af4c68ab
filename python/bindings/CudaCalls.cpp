//===- CudaCalls.cpp - kernels on a GPU, from Python -----------------------------------------===//

#include "Bindings.h"
#include "tilewright/Driver/CudaGpu.h"

using namespace tilewright;
using namespace tilewright::bindings;

namespace {

runtime::CudaDriver &getDriver() {
  llvm::Expected<runtime::CudaDriver &> driver = runtime::CudaDriver::get();
  if (!driver)
    throw UserError(llvm::toString(driver.takeError()));
  return *driver;
}

/// The GPUs of this machine as [(name, architecture, or None and why there is no code for it)]; a
/// string that says why there is none.
nb::object getDevices() {
  llvm::Expected<runtime::CudaDriver &> driver = runtime::CudaDriver::get();
  if (!driver)
    return nb::str(llvm::toString(driver.takeError()).c_str());
  nb::list devices;
  for (const runtime::CudaDeviceInfo &info : driver->getDevices()) {
    llvm::Expected<const Arch *> arch = driver::findArch(info);
    nb::object name = arch ? nb::object(nb::str((*arch)->name.data())) : nb::none();
    std::string problem = arch ? "" : llvm::toString(arch.takeError());
    devices.append(nb::make_tuple(info.name, name, problem));
  }
  return devices;
}

} // namespace

nb::dict tilewright::bindings::runOnCuda(const Program &self, const std::string &device,
                                         nb::list args, nb::dict options) {
  runtime::CudaDriver &driver = getDriver();
  int ordinal = 0;
  if (llvm::StringRef(device).substr(device.find(':') + 1).getAsInteger(10, ordinal))
    throw UserError("'" + device + "' names no GPU; the first one is 'cuda:0'");
  runtime::CudaScope scope = unwrap(runtime::CudaScope::enter(driver, ordinal));
  const Arch *arch = unwrap(driver::findArch(driver.getDevices()[ordinal]));
  std::vector<runtime::BoundArgument> arguments = bind(self, args);
  driver::GpuTensors tensors =
      unwrap(driver::GpuTensors::place(driver, ordinal, self.getFunction(), arguments));
  driver::PipelineOptions pipeline = getGpuOptions();
  pipeline.calls = driver::readCallFacts(self.getFunction(), arguments);
  pipeline.calls.argumentAlignment = tensors.getAlignment();
  nb::dict answer;
  std::shared_ptr<void> &cached = self.getCompiled(device + " " + pipeline.calls.getKey());
  if (CompileLock lock(self); !cached) {
    driver::GpuProgram program = compileForCall(self, *arch, pipeline, answer);
    cached = std::shared_ptr<driver::CudaKernel>(
        unwrap(driver::CudaKernel::load(driver, ordinal, program)));
  }
  auto *kernel = static_cast<driver::CudaKernel *>(cached.get());
  auto stream = options.contains("stream") ? nb::cast<uintptr_t>(options["stream"]) : 0;
  auto start = std::chrono::steady_clock::now();
  SignalWatch signals;
  llvm::Error error = [&] {
    WithoutGil others;
    return kernel->run(self.getFunction(), arguments, std::move(tensors),
                       reinterpret_cast<void *>(stream), [&] { return signals.goesOn(); });
  }();
  signals.rethrow();
  if (error)
    throw UserError(llvm::toString(std::move(error)));
  answer["seconds"] = secondsSince(start);
  return answer;
}

void tilewright::bindings::bindCuda(nb::module_ &module) {
  module.def("cuda_devices", &getDevices,
             "The GPUs as [(name, architecture or None, why none)], or why there is no GPU.");
  module.def(
      "cuda_synchronize",
      [] {
        runtime::CudaDriver &driver = getDriver();
        llvm::Error error = [&] {
          WithoutGil others;
          return driver.synchronize();
        }();
        if (error)
          throw UserError(llvm::toString(std::move(error)));
      },
      "Waits for all kernels on all GPUs.");
}
