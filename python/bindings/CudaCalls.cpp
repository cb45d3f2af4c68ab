//===- CudaCalls.cpp - kernels on a GPU, from Python -----------------------------------------===//

#include "Bindings.h"
#include "tilewright/Driver/Launches.h"

using namespace tilewright;
using namespace tilewright::bindings;

namespace {

rt::CudaDriver &getDriver() {
  Result<rt::CudaDriver *> driver = rt::CudaDriver::get();
  if (!driver)
    throw UserError(driver.getFailure().message);
  return **driver;
}

/// The GPUs of this machine as [(name, architecture, or None and why there is no code for it)]; a
/// string that says why there is none.
nb::object getDevices() {
  Result<rt::CudaDriver *> driver = rt::CudaDriver::get();
  if (!driver)
    return nb::str(driver.getFailure().message.c_str());
  nb::list devices;
  for (const rt::CudaDeviceInfo &info : (*driver)->getDevices()) {
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
        rt::CudaDriver &driver = getDriver();
        MaybeFailure failure = [&] {
          WithoutGil others;
          return driver.synchronize();
        }();
        if (failure)
          throw UserError(failure->message);
      },
      "Waits for all kernels on all GPUs.");
}
