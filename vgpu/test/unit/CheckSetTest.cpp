//===- CheckSetTest.cpp - every check can be switched off -------------------------------------===//
#include "vgpu/LaunchFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace vgpu;

namespace {

/// The kinds of findings and notes on a file of test/ptx, whose launch is in a comment of it.
std::vector<std::string> kindsOn(llvm::StringRef name, const CheckSet &checks) {
  auto buffer = llvm::MemoryBuffer::getFile(llvm::Twine(VGPU_TEST_PTX_DIR) + "/" + name + ".ptx");
  if (!buffer) {
    ADD_FAILURE() << "no file " << name.str();
    return {};
  }
  llvm::StringRef text = (*buffer)->getBuffer();
  llvm::StringRef launchText = text.split("// launch: ").second.split('\n').first;
  auto module = parsePtx(text, name);
  auto file = parseLaunchFile(launchText, "");
  file->config.checks = checks;
  auto result = launch(**module, file->config, file->arguments);
  std::vector<std::string> kinds;
  for (const Finding &finding : result->findings)
    kinds.push_back((finding.isNote ? "note " : "") + findingKindName(finding.kind).str());
  return kinds;
}

TEST(CheckSet, EachCheckReportsAloneAndIsSilentWhenOff) {
  struct Row {
    llvm::StringLiteral file, check, kind;
  };
  constexpr Row rows[] = {
      {"shared-race", "shared_race", "race"},
      {"global-race", "global_race", "race"},
      {"uninitialized", "uninitialized", "uninitialized"},
      {"barrier-divergence", "barrier_divergence", "barrier_divergence"},
      {"divergent-collective", "barrier_divergence", "divergent_collective"},
      {"async-not-waited", "async", "async_not_waited"},
      {"async-overwrite", "async", "async_overwrite"},
      {"out-of-bounds", "memory_fault", "out_of_bounds"},
      {"out-of-bounds-shared", "memory_fault", "out_of_bounds"},
      {"misaligned", "memory_fault", "misaligned"},
      {"division-by-zero", "arithmetic", "note division_by_zero"},
  };
  for (const Row &row : rows) {
    CheckSet alone = llvm::cantFail(CheckSet::parse(row.check));
    EXPECT_EQ(kindsOn(row.file, alone), std::vector<std::string>{row.kind.str()}) << row.file.str();
    EXPECT_TRUE(kindsOn(row.file, CheckSet::none()).empty()) << row.file.str();
  }
}

TEST(CheckSet, WhatEndsALaunchIsAlwaysReported) {
  EXPECT_EQ(kindsOn("deadlock", CheckSet::none()), std::vector<std::string>{"deadlock"});
  EXPECT_EQ(kindsOn("step-limit", CheckSet::none()), std::vector<std::string>{"step_limit"});
}

TEST(CheckSet, NamesAreChecked) {
  EXPECT_EQ(llvm::toString(CheckSet::parse("shared_race,luck").takeError()),
            "unknown check 'luck': expected all, none, race, shared_race, global_race, "
            "uninitialized, barrier_divergence, async, proxy_fence, memory_fault or arithmetic");
}

} // namespace
