//===- Tools.cpp - tw-opt and tw-vgpu in Python, and what tw doctor asks -----------------------===//

#include "Bindings.h"
#include "tw-opt/OptMain.h"
#include "tw-vgpu/VgpuMain.h"
#include "vgpu/HostCpu.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

using namespace tilewright;
using namespace tilewright::bindings;

/// The exit status of a tool. Nothing else happens in the process, so the GIL stays with it.
static int runTool(const std::string &name, std::vector<std::string> arguments) {
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  int status = name == "tw-opt" ? tools::runOpt(count, pointers.data())
                                : tools::runVgpu(count, pointers.data());
  llvm::outs().flush();
  return status;
}

/// {llvm: its version, processor: LLVM's name of it, vgpu_problem: why the virtual GPU cannot run}
static nb::dict getHostFacts() {
  nb::dict facts;
  const char *problem = vgpu::whyHostCannotRun();
  facts["llvm"] = LLVM_VERSION_STRING;
  facts["processor"] = llvm::sys::getHostCPUName().str();
  facts["vgpu_problem"] = problem ? problem : "";
  return facts;
}

void tilewright::bindings::bindTools(nb::module_ &module) {
  module.def("run_tool", &runTool);
  module.def("host_facts", &getHostFacts);
}
