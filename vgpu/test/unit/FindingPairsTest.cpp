//===- FindingPairsTest.cpp - each check on a faulty kernel and on its repair -----------------===//
//
// A file of test/ptx carries its launch in a comment and marks the line of its one finding with `//
// FINDING kind`, or that of a note with `// NOTE kind`; its twin `-fixed` has no mark and must give
// no finding.
//
//===-----------------------------------------------------------------------------------===//
#include "vgpu/LaunchFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace vgpu;

namespace {

std::vector<std::string> ptxFiles() {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(VGPU_TEST_PTX_DIR, error), end; it != end && !error;
       it.increment(error))
    if (llvm::StringRef(it->path()).ends_with(".ptx"))
      files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

struct Expectation {
  uint32_t line = 0;
  std::string kind;
};

class FindingPairs : public testing::TestWithParam<std::string> {};

TEST_P(FindingPairs, ReportsExactlyWhatIsMarked) {
  auto buffer = llvm::MemoryBuffer::getFile(GetParam());
  ASSERT_TRUE(bool(buffer));
  llvm::StringRef text = (*buffer)->getBuffer();
  std::string launchText;
  std::vector<Expectation> expected, expectedNotes;
  llvm::SmallVector<llvm::StringRef, 64> lines;
  text.split(lines, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    llvm::StringRef line = lines[i];
    if (line.consume_front("// launch: "))
      launchText = line.str();
    size_t at = line.find("// FINDING ");
    if (at != llvm::StringRef::npos)
      expected.push_back({static_cast<uint32_t>(i + 1), line.substr(at + 11).trim().str()});
    at = line.find("// NOTE ");
    if (at != llvm::StringRef::npos)
      expectedNotes.push_back({static_cast<uint32_t>(i + 1), line.substr(at + 8).trim().str()});
  }
  auto module = parsePtx(text, llvm::sys::path::filename(GetParam()));
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  auto file = parseLaunchFile(launchText, "");
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  auto result = launch(**module, file->config, file->arguments);
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  std::vector<const Finding *> findings, notes;
  std::string all;
  for (const Finding &finding : result->findings) {
    all += finding.text() + "\n";
    (finding.isNote ? notes : findings).push_back(&finding);
  }
  ASSERT_EQ(findings.size(), expected.size()) << all;
  for (size_t i = 0; i < findings.size(); ++i) {
    EXPECT_EQ(findingKindName(findings[i]->kind), expected[i].kind) << all;
    EXPECT_EQ(findings[i]->site.ptxLine, expected[i].line) << all;
  }
  ASSERT_EQ(notes.size(), expectedNotes.size()) << all;
  for (size_t i = 0; i < notes.size(); ++i) {
    EXPECT_EQ(findingKindName(notes[i]->kind), expectedNotes[i].kind) << all;
    EXPECT_EQ(notes[i]->site.ptxLine, expectedNotes[i].line) << all;
  }
}

/// Several threads of the host change nothing: not the findings, not the counters, not the results.
TEST_P(FindingPairs, DoesNotDependOnTheHostsThreads) {
  auto buffer = llvm::MemoryBuffer::getFile(GetParam());
  ASSERT_TRUE(bool(buffer));
  llvm::StringRef text = (*buffer)->getBuffer();
  auto module = parsePtx(text, llvm::sys::path::filename(GetParam()));
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  auto outcome = [&](unsigned numThreads) {
    auto file = parseLaunchFile(text.split("// launch: ").second.split('\n').first, "");
    file->config.numThreads = numThreads;
    file->config.grid.x *= 5;
    auto result = launch(**module, file->config, file->arguments);
    std::string all = result->counters.text();
    for (const Finding &finding : result->findings)
      all += finding.text() + "\n";
    for (const LaunchArray &array : file->arrays)
      llvm::raw_string_ostream(all) << arrayToJson(array);
    return all;
  };
  std::string alone = outcome(1);
  for (unsigned round = 0; round < 4; ++round)
    EXPECT_EQ(outcome(3), alone);
}

/// When asynchronous operations take effect changes no finding.
TEST_P(FindingPairs, IsTheSameInLateMode) {
  auto buffer = llvm::MemoryBuffer::getFile(GetParam());
  ASSERT_TRUE(bool(buffer));
  llvm::StringRef text = (*buffer)->getBuffer();
  auto module = parsePtx(text, llvm::sys::path::filename(GetParam()));
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  auto outcome = [&](AsyncTime time) {
    auto file = parseLaunchFile(text.split("// launch: ").second.split('\n').first, "");
    file->config.asyncTime = time;
    auto result = launch(**module, file->config, file->arguments);
    std::string all;
    for (const Finding &finding : result->findings)
      all +=
          findingKindName(finding.kind).str() + " " + std::to_string(finding.site.ptxLine) + "\n";
    return all;
  };
  EXPECT_EQ(outcome(AsyncTime::Late), outcome(AsyncTime::Early));
}

INSTANTIATE_TEST_SUITE_P(Files, FindingPairs, testing::ValuesIn(ptxFiles()), [](const auto &info) {
  std::string name = llvm::sys::path::stem(info.param).str();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(FindingPairs, EveryFaultHasItsRepair) {
  std::vector<std::string> files = ptxFiles();
  ASSERT_FALSE(files.empty());
  for (const std::string &file : files) {
    llvm::StringRef stem = llvm::StringRef(file).drop_back(4);
    std::string twin =
        stem.ends_with("-fixed") ? stem.drop_back(6).str() + ".ptx" : stem.str() + "-fixed.ptx";
    EXPECT_TRUE(llvm::is_contained(files, twin)) << file << " has no twin";
  }
}

} // namespace
