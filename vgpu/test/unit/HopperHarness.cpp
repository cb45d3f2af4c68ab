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

/// The memory of all arguments.
static std::vector<uint8_t> contentsOf(llvm::ArrayRef<Argument> arguments) {
  std::vector<uint8_t> bytes;
  for (const Argument &argument : arguments)
    if (const auto *host = static_cast<const uint8_t *>(argument.host))
      bytes.insert(bytes.end(), host, host + argument.sizeBytes);
  return bytes;
}
static void setContents(llvm::ArrayRef<Argument> arguments, const std::vector<uint8_t> &bytes) {
  const uint8_t *from = bytes.data();
  for (const Argument &argument : arguments)
    if (argument.host) {
      std::memcpy(argument.host, from, argument.sizeBytes);
      from += argument.sizeBytes;
    }
}

static LaunchResult runOnce(const Module &module, const LaunchConfig &config,
                            llvm::ArrayRef<Argument> arguments) {
  auto result = launch(module, config, arguments);
  if (result)
    return std::move(*result);
  ADD_FAILURE() << llvm::toString(result.takeError());
  return {};
}

static std::unique_ptr<Module> load(const std::string &text) {
  auto module = parsePtx(text, "k.ptx");
  if (module)
    return std::move(*module);
  ADD_FAILURE() << llvm::toString(module.takeError()) << "\n" << text;
  return nullptr;
}

LaunchResult runHopper(const std::string &text, unsigned threads,
                       llvm::ArrayRef<Argument> arguments, Dim3 grid, std::optional<Dim3> cluster) {
  std::unique_ptr<Module> module = load(text);
  if (!module)
    return {};
  LaunchConfig config;
  config.entry = "k";
  config.arch = "sm_90a";
  config.grid = grid;
  config.block.x = threads;
  config.cluster = cluster;
  std::vector<uint8_t> before = contentsOf(arguments);
  config.asyncTime = AsyncTime::Late;
  LaunchResult late = runOnce(*module, config, arguments);
  std::vector<uint8_t> lateBytes = contentsOf(arguments);
  setContents(arguments, before);
  config.asyncTime = AsyncTime::Early;
  LaunchResult result = runOnce(*module, config, arguments);
  if (result.isClean()) {
    EXPECT_TRUE(late.isClean()) << "in late mode: " << textOf(late);
    EXPECT_TRUE(lateBytes == contentsOf(arguments)) << "late mode leaves other bytes";
  }
  return result;
}

void runUnchecked(const std::string &text, unsigned threads, llvm::ArrayRef<Argument> arguments,
                  AsyncTime time) {
  std::unique_ptr<Module> module = load(text);
  if (!module)
    return;
  LaunchConfig config;
  config.entry = "k";
  config.arch = "sm_90a";
  config.block.x = threads;
  config.checks = CheckSet::none();
  config.asyncTime = time;
  runOnce(*module, config, arguments);
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
