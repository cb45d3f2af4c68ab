//===- VariantsTest.cpp - which code a call runs, compiled once -------------------------------===//

#include "EngineTestSupport.h"

#include <numeric>

using namespace tilewright;
using namespace tilewright::driver;

/// B is A, so that the second statement reads what the first one wrote.
static void checkOverlap(CompiledKernel &kernel, bool isCompiled) {
  std::vector<int32_t> a(64), c(64, -1), expected(64);
  std::iota(a.begin(), a.end(), 0);
  for (int i = 0; i < 64; ++i)
    expected[i] = 64 - i;
  RunResult first = call(kernel, {makeView(a), makeView(a), makeView(c)});
  EXPECT_EQ(c, expected);
  EXPECT_TRUE(first.findings.empty());
  ASSERT_EQ(first.compiled != nullptr, isCompiled);
  if (isCompiled)
    EXPECT_FALSE(first.compiled->calls.disjointArguments);
  RunResult second = call(kernel, {makeView(a), makeView(a), makeView(c)});
  EXPECT_EQ(second.compiled, nullptr);
}

TEST(VariantsTest, OverlappingArgumentsHaveCodeOfTheirOwn) {
  for (const char *device : {"interp", "cpu", "vgpu:sm_80", "vgpu:sm_90", "cuda:0"}) {
    SCOPED_TRACE(device);
    std::shared_ptr<Executable> program = parseProgram(kTwoStatements);
    std::shared_ptr<CompiledKernel> kernel = getKernel(*program, device);
    std::vector<int32_t> a(64), b(64), c(64, -1);
    std::iota(a.begin(), a.end(), 0);
    EXPECT_EQ(call(*kernel, {makeView(a), makeView(b), makeView(c)}).compiled, nullptr);
    EXPECT_EQ(c[0], 63);
    checkOverlap(*kernel, /*isCompiled=*/device != std::string("interp"));
  }
}

TEST(VariantsTest, AnOverlapOnTheCpuIsRemarked) {
  std::shared_ptr<Executable> program = parseProgram(kTwoStatements);
  std::shared_ptr<CompiledKernel> kernel = getKernel(*program, "cpu");
  auto countOverlaps = [&] {
    return llvm::count_if(kernel->getDecisions(),
                          [](const Decision &decision) { return decision.kind == "overlap"; });
  };
  EXPECT_EQ(countOverlaps(), 0);
  checkOverlap(*kernel, /*isCompiled=*/true);
  EXPECT_EQ(countOverlaps(), 1);
}

TEST(VariantsTest, DivisibleShapesHaveWiderCode) {
  std::shared_ptr<Executable> program = parseProgram(kScale);
  std::shared_ptr<CompiledKernel> kernel = getKernel(*program, "vgpu:sm_80");
  std::vector<float> a(50), b(50), longA(64), longB(64);
  EXPECT_EQ(call(*kernel, {makeView(a), makeView(b), 2.0}).compiled, nullptr);
  RunResult divisible = call(*kernel, {makeView(longA), makeView(longB), 2.0});
  ASSERT_NE(divisible.compiled, nullptr);
  EXPECT_EQ(divisible.compiled->calls.divisibleSymbols, std::vector<std::string>{"n"});
  for (const Decision &decision : divisible.compiled->decisions)
    EXPECT_EQ(decision.data.getString("arch"), "sm_80");
  CallFacts calls;
  calls.divisibleSymbols = {"n"};
  llvm::Expected<std::shared_ptr<const CompiledArtifact>> code = kernel->getCode(calls);
  ASSERT_TRUE(bool(code));
  EXPECT_EQ(*code, divisible.compiled);
  calls.divisibleSymbols = {"m"};
  EXPECT_EQ(getError(kernel->getCode(calls)),
            "no shape of a parameter of 'scale' has a symbol 'm'");
}

/// The code that is shown is the code that runs: nothing is compiled a second time.
TEST(VariantsTest, EachEngineCompilesOnce) {
  for (const char *device : {"cpu", "vgpu:sm_80", "cuda:0"}) {
    SCOPED_TRACE(device);
    std::shared_ptr<Executable> program = parseProgram(kAdd);
    std::shared_ptr<CompiledKernel> kernel = getKernel(*program, device);
    EXPECT_EQ(kernel, getKernel(*program, device));
    llvm::Expected<std::shared_ptr<const CompiledArtifact>> code = kernel->getCode();
    ASSERT_TRUE(bool(code));
    EXPECT_FALSE((*code)->fromCache);
    EXPECT_FALSE((*code)->phases.empty());
    std::vector<float> a(64), b(64), c(64);
    EXPECT_EQ(call(*kernel, {makeView(a), makeView(b), makeView(c)}).compiled, nullptr);
    llvm::Expected<std::shared_ptr<const CompiledArtifact>> again = kernel->getCode();
    ASSERT_TRUE(bool(again));
    EXPECT_EQ(*again, *code);
  }
}

TEST(VariantsTest, PtxOfAnArchitectureIsThatOfItsKernel) {
  std::shared_ptr<Executable> program = parseProgram(kAdd);
  llvm::Expected<std::shared_ptr<const CompiledArtifact>> code =
      program->getGpuCode("sm_80", /*divisible=*/{});
  ASSERT_TRUE(bool(code));
  EXPECT_NE((*code)->code.find(".visible .entry add_kernel"), std::string::npos);
  llvm::Expected<std::shared_ptr<const CompiledArtifact>> own =
      getKernel(*program, "vgpu:sm_80")->getCode();
  ASSERT_TRUE(bool(own));
  EXPECT_EQ(*own, *code);
}

/// PTX that the caller has edited runs, and is not kept.
TEST(VariantsTest, EditedPtxRunsOnce) {
  std::shared_ptr<Executable> program = parseProgram(kAdd);
  std::shared_ptr<CompiledKernel> kernel = getKernel(*program, "vgpu:sm_80");
  llvm::Expected<std::shared_ptr<const CompiledArtifact>> code = kernel->getCode();
  ASSERT_TRUE(bool(code));
  RunOptions options;
  options.ptx = (*code)->code;
  for (size_t at = 0; (at = options.ptx->find("add.rn.f32", at)) != std::string::npos; ++at)
    options.ptx->replace(at, 10, "sub.rn.f32");
  ASSERT_NE(*options.ptx, (*code)->code);
  std::vector<float> a(64, 5), b(64, 3), c(64);
  std::vector<runtime::CallArgument> arguments{makeView(a), makeView(b), makeView(c)};
  call(*kernel, arguments, options);
  EXPECT_EQ(c, std::vector<float>(64, 2));
  call(*kernel, arguments);
  EXPECT_EQ(c, std::vector<float>(64, 8));
}

TEST(VariantsTest, DataThatIsNotAlignedToItsElementsIsRefused) {
  std::shared_ptr<Executable> program = parseProgram(kAdd);
  std::vector<float> a(65), b(64), c(64);
  runtime::TensorView odd = makeView(b);
  odd.data = reinterpret_cast<char *>(a.data()) + 2;
  std::shared_ptr<CompiledKernel> kernel = getKernel(*program, "cpu");
  llvm::Expected<BoundArguments> bound = kernel->bind({odd, makeView(b), makeView(c)});
  ASSERT_TRUE(bool(bound));
  EXPECT_EQ(getError(kernel->run(*bound)),
            "parameter 'A': its data is not aligned to the 4 bytes of an element; pass a copy");
}
