//===- ArtifactTest.cpp - compiled code in memory and on disk ---------------------------------===//

#include "EngineTestSupport.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>

using namespace tilewright;
using namespace tilewright::driver;

static CompiledArtifact makeArtifact() {
  CompiledArtifact artifact;
  artifact.code = std::string("\x7f"
                              "ELF\n\0\n",
                              7);
  nvptx::KernelInfo kernel;
  kernel.name = "main_kernel";
  kernel.numThreads = 128;
  kernel.sharedBytes = 4096;
  kernel.tiles.push_back({"a", 128, 2048, 2, {32, 32}, "(i, j) -> (i, j)"});
  artifact.kernels.push_back(kernel);
  artifact.launches = LaunchFormulas(parseProgram(R"(
    func.func @f(%n: index) {
      %two = arith.constant 2 : index
      %twice = arith.muli %n, %two : index
      %w = tile.alloc "w"(%n) : memref<?x3xi32, #tile.space<global>>
      tile.kernel (%x, %y) in (%twice, %two) threads [32] {
        %one = arith.constant 1 : i32
        %first = arith.constant 0 : index
        %old = tile.atomic_element add %one, %w[%first, %first] : memref<?x3xi32, #tile.space<global>>
      }
      return
    })")
                                         ->getProgram()
                                         ->getFunction());
  Decision decision;
  decision.file = "main.py";
  decision.line = 3;
  decision.kind = "access";
  decision.data["width"] = 4;
  artifact.decisions.push_back(decision);
  return artifact;
}

TEST(ArtifactTest, AnEntryHoldsTheWholeArtifact) {
  CompiledArtifact artifact = makeArtifact();
  std::optional<CompiledArtifact> read = parseArtifact(writeArtifact(artifact));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->code, artifact.code);
  ASSERT_EQ(read->kernels.size(), 1u);
  EXPECT_EQ(read->kernels.front().name, "main_kernel");
  EXPECT_EQ(read->kernels.front().numThreads, 128);
  EXPECT_EQ(read->kernels.front().sharedBytes, 4096);
  ASSERT_EQ(read->kernels.front().tiles.size(), 1u);
  EXPECT_EQ(read->kernels.front().tiles.front().shape, (std::vector<int64_t>{32, 32}));
  EXPECT_EQ(read->kernels.front().tiles.front().layout, "(i, j) -> (i, j)");
  std::vector<int64_t> numbers = {5};
  auto grids = *read->launches.describe().evaluateGrids(numbers);
  ASSERT_EQ(grids.size(), 1u);
  EXPECT_EQ(grids.front(), (LaunchFormulas::Grid{10, 2, 1}));
  ASSERT_EQ(read->launches.getWorkspaces().size(), 1u);
  EXPECT_EQ(read->launches.getWorkspaces().front().name, "w");
  EXPECT_TRUE(read->launches.getWorkspaces().front().isUpdated);
  EXPECT_EQ(read->launches.describe().evaluateWorkspaces(numbers)->front(), 60);
  ASSERT_EQ(read->decisions.size(), 1u);
  EXPECT_EQ(read->decisions.front().file, "main.py");
  EXPECT_EQ(read->decisions.front().data.getInteger("width"), 4);
  EXPECT_FALSE(read->fromCache); // whoever loads it says so
}

TEST(ArtifactTest, OtherEntriesAreNone) {
  std::string entry = writeArtifact(makeArtifact());
  for (llvm::StringRef text :
       {"", "\n", "{}\ncode", "[]\ncode", "{\"kernels\": 3, \"decisions\": []}\n",
        "{\"kernels\": [{\"name\": 1}], \"decisions\": []}\n"})
    EXPECT_FALSE(parseArtifact(text).has_value()) << text.str();
  EXPECT_FALSE(parseArtifact(llvm::StringRef(entry).drop_front()).has_value());
}

namespace {
/// A store of its own while a test runs.
class CachedTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tw-driver-test", folder));
    setenv("TILEWRIGHT_CACHE", "1", 1);
    setenv("TILEWRIGHT_CACHE_DIR", folder.c_str(), 1);
  }
  void TearDown() override {
    setenv("TILEWRIGHT_CACHE", "0", 1);
    unsetenv("TILEWRIGHT_CACHE_DIR");
    llvm::sys::fs::remove_directories(folder);
  }
  /// The code of a program that no process knows yet.
  std::shared_ptr<const CompiledArtifact> compile(const char *device) {
    std::shared_ptr<Executable> program = parseProgram(kAdd);
    llvm::Expected<std::shared_ptr<const CompiledArtifact>> code =
        getKernel(*program, device)->getCode();
    EXPECT_TRUE(bool(code));
    return *code;
  }
  unsigned countEntries() {
    std::error_code error;
    unsigned count = 0;
    for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end && !error;
         it.increment(error))
      ++count;
    return count;
  }
  llvm::SmallString<128> folder;
};
} // namespace

TEST_F(CachedTest, TheNextProgramFindsItsCode) {
  for (const char *device : {"cpu", "vgpu:sm_80"}) {
    SCOPED_TRACE(device);
    std::shared_ptr<const CompiledArtifact> first = compile(device), second = compile(device);
    EXPECT_FALSE(first->fromCache);
    EXPECT_TRUE(second->fromCache);
    EXPECT_EQ(second->code, first->code);
    EXPECT_EQ(second->kernels.size(), first->kernels.size());
    EXPECT_EQ(second->decisions.size(), first->decisions.size());
    EXPECT_EQ(second->phases.size(), 1u);
  }
  EXPECT_EQ(countEntries(), 2u);
}

/// An entry that is whole and yet no code of this machine is compiled again, and replaced.
TEST_F(CachedTest, CodeThatDoesNotLinkIsCompiledAgain) {
  std::shared_ptr<Executable> program = parseProgram(kAdd);
  auto lock = llvm::cantFail(program->getProgram()->lock());
  unsigned asked = 0;
  auto refuseFirst = [&](const CompiledArtifact &) -> llvm::Error {
    return ++asked == 1 ? llvm::createStringError("no") : llvm::Error::success();
  };
  EXPECT_EQ(getError(compileOrLoad(program->getProgram(), lock, /*arch=*/nullptr, {})), "none");
  llvm::Expected<CompiledArtifact> again =
      compileOrLoad(program->getProgram(), lock, /*arch=*/nullptr, {}, refuseFirst);
  ASSERT_TRUE(bool(again));
  EXPECT_EQ(asked, 2u);
  EXPECT_FALSE(again->fromCache);
}

TEST_F(CachedTest, ShownCodeIsCompiledAndNotKept) {
  std::shared_ptr<Executable> program = parseProgram(kAdd);
  std::vector<std::string> shown;
  PipelineOptions options;
  options.dumpAfter = {"tile-infer-layouts", "host", "ptx"};
  options.afterPass = [&](llvm::StringRef stage, llvm::StringRef) { shown.push_back(stage.str()); };
  EXPECT_EQ(getError(program->compileShown("vgpu:sm_80", options)), "none");
  EXPECT_EQ(getError(program->compileShown("cpu", options)), "none");
  EXPECT_EQ(shown, (std::vector<std::string>{"tile-infer-layouts", "host"}));
  EXPECT_EQ(countEntries(), 0u);
}
