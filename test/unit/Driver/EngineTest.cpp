//===- EngineTest.cpp - the same programs on every engine, without Python ---------------------===//

#include "EngineTestSupport.h"

#include "llvm/ADT/APFloat.h"
#include <numeric>

using namespace tilewright;
using namespace tilewright::driver;
using runtime::CallArgument;

namespace tilewright::driver {

INSTANTIATE_TEST_SUITE_P(Devices, EachEngine,
                         testing::Values("interp", "cpu", "vgpu:sm_80", "vgpu:sm_90", "cuda:0"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

TEST_P(EachEngine, AddsVectors) {
  std::vector<float> a(64), b(64), c(64, -1), expected(64);
  std::iota(a.begin(), a.end(), 0);
  std::iota(b.begin(), b.end(), 100);
  for (int i = 0; i < 64; ++i)
    expected[i] = a[i] + b[i];
  std::shared_ptr<Executable> program = parseProgram(kAdd);
  RunResult result =
      call(*getKernel(*program, GetParam()), {makeView(a), makeView(b), makeView(c)});
  EXPECT_EQ(c, expected);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_FALSE(result.stopped);
}

static std::vector<uint16_t> toHalf(llvm::ArrayRef<float> numbers) {
  std::vector<uint16_t> halves;
  for (float number : numbers) {
    llvm::APFloat value(number);
    bool losesInfo = false;
    value.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    halves.push_back(value.bitcastToAPInt().getZExtValue());
  }
  return halves;
}

TEST_P(EachEngine, MultipliesMatrices) {
  std::vector<float> a(32 * 32), b(32 * 32), c(32 * 32, -1), expected(32 * 32);
  for (int i = 0; i < 32 * 32; ++i)
    a[i] = i % 7 - 3, b[i] = i % 5 - 2;
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j)
      for (int k = 0; k < 32; ++k)
        expected[i * 32 + j] += a[i * 32 + k] * b[k * 32 + j];
  std::vector<uint16_t> halfA = toHalf(a), halfB = toHalf(b);
  std::shared_ptr<Executable> program = parseProgram(kGemm);
  RunResult result = call(*getKernel(*program, GetParam()),
                          {makeView(halfA, {32, 32}, "float16"),
                           makeView(halfB, {32, 32}, "float16"), makeView(c, {32, 32}, "float32")});
  EXPECT_EQ(c, expected);
  EXPECT_TRUE(result.findings.empty());
}

/// The symbol's value comes from the tensors, and the same arguments serve for other data.
TEST_P(EachEngine, TakesEachShape) {
  std::shared_ptr<Executable> program = parseProgram(kScale);
  std::shared_ptr<CompiledKernel> kernel = getKernel(*program, GetParam());
  for (int64_t n : {0, 1, 48, 50, 64}) {
    std::vector<float> a(n), b(n, -1), expected(n);
    for (int64_t i = 0; i < n; ++i)
      a[i] = i, expected[i] = 3 * i;
    RunResult result = call(*kernel, {makeView(a), makeView(b), 3.0});
    for (const Finding &finding : result.findings) // of the iterations outside the tensors
      EXPECT_EQ(finding.severity, interp::Severity::Note) << n << ": " << finding.message;
    EXPECT_EQ(b, expected) << n;
  }
}

TEST_P(EachEngine, ExchangesDataAndNumbers) {
  std::shared_ptr<Executable> program = parseProgram(kScale);
  std::shared_ptr<CompiledKernel> kernel = getKernel(*program, GetParam());
  std::vector<float> a{1, 2, 3}, b(3), other(3);
  llvm::Expected<BoundArguments> bound = kernel->bind({makeView(a), makeView(b), 2.0});
  ASSERT_TRUE(bool(bound));
  BoundArguments again = *bound;
  again.setData(1, reinterpret_cast<uintptr_t>(other.data()));
  ASSERT_FALSE(again.setNumber(2, 10.0));
  EXPECT_EQ(getError(kernel->run(again)), "none");
  EXPECT_EQ(getError(kernel->run(*bound)), "none");
  EXPECT_EQ(b, (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(other, (std::vector<float>{10, 20, 30}));
  EXPECT_EQ(llvm::toString(again.setNumber(0, 1.0)),
            "parameter 'A': expected a tensor of shape (n,), got a number");
}

TEST_P(EachEngine, RefusesWrongArguments) {
  std::shared_ptr<Executable> program = parseProgram(kAdd);
  std::shared_ptr<CompiledKernel> kernel = getKernel(*program, GetParam());
  std::vector<float> a(64), tooLong(65);
  std::vector<int32_t> integers(64);
  EXPECT_EQ(getError(kernel->bind({makeView(a), makeView(a)})),
            "'add' takes 3 arguments (A, B, C), got 2");
  EXPECT_EQ(getError(kernel->bind({makeView(a), makeView(integers), makeView(a)})),
            "parameter 'B': expected dtype float32, got int32");
  EXPECT_EQ(getError(kernel->bind({makeView(a), makeView(a), makeView(tooLong)})),
            "parameter 'C': expected shape (64,), got (65,) (dimension 0 should be 64)");
}

TEST_P(EachEngine, RefusesArgumentsOfAnotherKernel) {
  std::shared_ptr<Executable> add = parseProgram(kAdd), other = parseProgram(kAdd);
  std::vector<float> a(64), b(64), c(64);
  llvm::Expected<BoundArguments> bound =
      getKernel(*other, GetParam())->bind({makeView(a), makeView(b), makeView(c)});
  ASSERT_TRUE(bool(bound));
  EXPECT_EQ(getError(getKernel(*add, GetParam())->run(*bound)),
            "these arguments were bound for another kernel");
}

/// Both checking engines report a race in the same form, at the same line and element.
TEST(FindingsTest, AreTheSameOnCheckingEngines) {
  for (const char *device : {"interp", "vgpu:sm_80", "vgpu:sm_90"}) {
    std::vector<int32_t> a(64), b(64);
    std::iota(a.begin(), a.end(), 0);
    a[40] = 3; // which block 0 writes too
    std::shared_ptr<Executable> program = parseProgram(kScatter);
    RunResult result = call(*getKernel(*program, device), {makeView(a), makeView(b)});
    ASSERT_EQ(result.findings.size(), 1u) << device;
    const Finding &finding = result.findings.front();
    EXPECT_EQ(finding.severity, interp::Severity::Finding) << device;
    EXPECT_EQ(finding.kind, "race") << device;
    EXPECT_EQ(finding.file, "scatter.py") << device;
    EXPECT_EQ(finding.line, 4) << device;
    EXPECT_EQ(finding.buffer, "B") << device;
    EXPECT_EQ(finding.index, (llvm::SmallVector<int64_t>{3})) << device;
    EXPECT_EQ(toString(finding), "scatter.py:4: error: " + finding.message + " [race]");
  }
}

/// A note is merged with its like and is no defect.
TEST(FindingsTest, CountWhatRepeats) {
  std::vector<int32_t> a(64, 70), b(64); // outside B: dropped, and noted
  std::shared_ptr<Executable> program = parseProgram(kScatter);
  RunResult result = call(*getKernel(*program, "interp"), {makeView(a), makeView(b)});
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings.front().severity, interp::Severity::Note);
  EXPECT_EQ(result.findings.front().kind, "out_of_bounds");
  EXPECT_EQ(result.findings.front().count, 64u);
}

TEST(EngineTest, CountersAndRadiiComeWithTheResult) {
  std::vector<float> a(64, 1), b(64, 2), c(64);
  std::shared_ptr<Executable> program = parseProgram(kAdd);
  std::vector<CallArgument> arguments{makeView(a), makeView(b), makeView(c)};
  RunResult gpu = call(*getKernel(*program, "vgpu:sm_80"), arguments);
  ASSERT_EQ(gpu.launches.size(), 1u);
  EXPECT_TRUE(gpu.launches.front().isComplete);
  RunOptions options;
  options.bounds = true;
  RunResult reference = call(*getKernel(*program, "interp"), arguments, options);
  EXPECT_GT(reference.steps, 64u);
  EXPECT_EQ(reference.radii.size(), 3u);
}

TEST(EngineTest, EndsARunThatItsCallerGivesUp) {
  std::vector<float> a(1 << 20, 1), b(1 << 20);
  std::shared_ptr<Executable> program = parseProgram(kScale);
  RunOptions options;
  options.poll = [](const runtime::Progress &) { return false; };
  RunResult result = call(*getKernel(*program, "interp"), {makeView(a), makeView(b), 2.0}, options);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(b.back(), 0);
}

TEST(EngineTest, NamesTheDevicesThereAre) {
  EXPECT_EQ(getError(Engine::get("tpu")),
            "device 'tpu' does not exist; use 'cpu', 'interp', 'vgpu:sm_80' or 'cuda:0'");
  EXPECT_EQ(getError(Engine::get("cpu:1")),
            "device 'cpu:1' does not exist; use 'cpu', 'interp', 'vgpu:sm_80' or 'cuda:0'");
  EXPECT_EQ(getError(Engine::get("vgpu:sm_12")),
            "unknown architecture 'sm_12'; known are " + getArchNames().str());
  EXPECT_EQ(getError(Engine::get("cuda:first")),
            "'cuda:first' names no GPU; the first one is 'cuda:0'");
  EXPECT_EQ(getError(Engine::get("cuda:3")), "there is no GPU 3; the driver finds 3");
  EXPECT_EQ(getError(Engine::get("cuda:1")),
            "the GPU 'virtual GPU 1' has compute capability 7.5; GPU code is for 8.0 and above");
}

TEST(EngineTest, ProgramsThatDoNotParseAreErrorsAtALine) {
  llvm::Expected<std::shared_ptr<Executable>> program = Executable::parse("func.func @f( {");
  ASSERT_FALSE(bool(program));
  frontend::UserError report = takeReport(program.takeError());
  ASSERT_TRUE(report.position.has_value());
  EXPECT_EQ(report.position->line, 1);
}

} // namespace tilewright::driver
