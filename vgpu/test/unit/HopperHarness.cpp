//===- HopperHarness.cpp - kernels around mbarriers, bulk copies and wgmma --------------------===//
#include "HopperHarness.h"
#include <gtest/gtest.h>

namespace vgpu::test {

std::string hopperKernel(const std::string &params, const std::string &body) {
  return ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(" + params +
         ") {\n  .reg .pred %p<16>;\n  .reg .b16 %h<16>;\n  .reg .b32 %r<300>;\n"
         "  .reg .b64 %rd<32>;\n  .shared .align 1024 .b8 tile[16384];\n"
         "  .shared .align 8 .b64 bar[16];\n" +
         body + "\n  ret;\n}\n";
}

LaunchResult runHopper(const std::string &text, unsigned threads,
                       llvm::ArrayRef<Argument> arguments) {
  auto module = parsePtx(text, "k.ptx");
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError()) << "\n" << text;
    return {};
  }
  LaunchConfig config;
  config.entry = "k";
  config.arch = "sm_90a";
  config.block.x = threads;
  auto result = launch(**module, config, arguments);
  if (!result) {
    ADD_FAILURE() << llvm::toString(result.takeError());
    return {};
  }
  return std::move(*result);
}

std::vector<std::string> kindsOf(const LaunchResult &result) {
  std::vector<std::string> kinds;
  for (const Finding &finding : result.findings)
    if (!finding.isNote)
      kinds.push_back(findingKindName(finding.kind).str());
  return kinds;
}

std::string textOf(const LaunchResult &result) {
  std::string text;
  for (const Finding &finding : result.findings)
    text += finding.text() + "\n";
  return text;
}

std::string loadError(const std::string &body) {
  auto module = parsePtx(hopperKernel("", body), "k.ptx");
  return module ? "" : llvm::toString(module.takeError());
}

} // namespace vgpu::test
