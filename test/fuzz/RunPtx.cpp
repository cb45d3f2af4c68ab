//===- RunPtx.cpp - any text that the PTX parser accepts, executed ----------------------------===//
//
// Foreign PTX may be wrong in every way: it must end with findings or an error, never with a crash
// of the host, and without taking time or memory out of proportion. Each kernel runs on two small
// blocks, with all checks; what is a pointer's size is a pointer to a small buffer.
//
//   ptx-run-fuzz corpus/ vgpu/test/ptx -max_total_time=60
//
//===----------------------------------------------------------------------------------------===//

#include "vgpu/Vgpu.h"

#include "llvm/Support/raw_ostream.h"

static void run(const vgpu::Module &module, const vgpu::Program &program) {
  std::vector<uint64_t> buffer(128);
  std::vector<vgpu::Argument> arguments;
  for (const vgpu::ParamInfo &param : program.params)
    if (param.sizeBytes == 8)
      arguments.push_back(vgpu::Argument::buffer(buffer.data(), 8 * buffer.size()));
    else
      arguments.push_back(vgpu::Argument::raw(std::vector<uint8_t>(param.sizeBytes, 3)));
  vgpu::LaunchConfig config;
  config.entry = program.name;
  config.grid.x = 2;
  config.block.x = 33; // a warp, and one with a single thread
  config.arch = "sm_90";
  config.numThreads = 1;
  config.stepLimit = 1 << 15;
  const auto &required = program.entry->requiredThreads;
  if (required[0])
    config.block = {required[0], required[1], required[2]};
  // Launches that a GPU would refuse are errors.
  llvm::Expected<vgpu::LaunchResult> result = vgpu::launch(module, config, arguments);
  if (!result)
    return llvm::consumeError(result.takeError());
  for (const vgpu::Finding &finding : result->findings)
    (void)finding.text();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  auto module = vgpu::parsePtx(text, "fuzz.ptx");
  if (!module) {
    llvm::consumeError(module.takeError());
    return 0;
  }
  for (const auto &program : (*module)->kernels())
    run(**module, *program);
  return 0;
}
