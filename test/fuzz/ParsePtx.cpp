//===- ParsePtx.cpp - any text given to the PTX parser and decoder ----------------------------===//
//
// Malformed PTX must be refused with a message that names a line, never with a crash, and without
// taking memory out of proportion. What is accepted has a program for each kernel, or a reason why
// not.
//
//   ptx-fuzz corpus/ vgpu/test/ptx vgpu/test/third_party/ptx -max_total_time=60
//
//===----------------------------------------------------------------------------------------===//

#include "vgpu/Vgpu.h"

#include "llvm/Support/raw_ostream.h"

[[noreturn]] static void complain(llvm::StringRef what, llvm::StringRef text) {
  llvm::errs() << "ptx-fuzz: " << what << "\n" << text << "\n";
  abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  auto module = vgpu::parsePtx(text, "fuzz.ptx");
  if (!module) {
    std::string message = llvm::toString(module.takeError());
    if (!llvm::StringRef(message).starts_with("fuzz.ptx:"))
      complain("an error without its line: " + message, text);
    return 0;
  }
  for (const auto &function : (*module)->ptx().functions)
    if (function->isEntry && function->hasBody && !(*module)->findKernel(function->name) &&
        (*module)->whyUnsupported(function->name).empty())
      complain("kernel '" + function->name + "' is lost", text);
  return 0;
}
