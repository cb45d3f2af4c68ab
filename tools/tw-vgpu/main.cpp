//===- main.cpp - tw-vgpu: run a PTX file on the virtual GPU ----------------------------------===//

#include "tw-vgpu/VgpuMain.h"

#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  return tilewright::tools::runVgpu(argc, argv);
}
