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
