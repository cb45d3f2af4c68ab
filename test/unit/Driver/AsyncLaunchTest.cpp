//===- AsyncLaunchTest.cpp - launches on a GPU wait for nothing -------------------------------===//

#include "EngineTestSupport.h"
#include "tilewright/Rt/CudaLaunch.h"

#include <dlfcn.h>
#include <numeric>

using namespace tilewright;
using namespace tilewright::driver;
using rt::CudaAddress;
using rt::CudaDriver;
using rt::CudaScope;

namespace {

/// B = 2 (A + 1), through a workspace.
const char *const kChain = R"mlir(
#global = #tile.space<global>
func.func @chain(%A: memref<64xf32, #global> {tile.name = "A"},
                 %B: memref<64xf32, #global> {tile.name = "B"}) {
  %c1 = arith.constant 1 : index
  %w = tile.alloc "w" : memref<64xf32, #global>
  tile.kernel (%block) in (%c1) threads [64] {
    tile.parallel (%i) in (64) {
      %one = arith.constant 1.0 : f32
      %a = tile.load %A[%i] : memref<64xf32, #global>
      %sum = arith.addf %a, %one : f32
      tile.store %sum, %w[%i] : memref<64xf32, #global>
    }
  }
  tile.kernel (%block) in (%c1) threads [64] {
    tile.parallel (%i) in (64) {
      %a = tile.load %w[%i] : memref<64xf32, #global>
      %sum = arith.addf %a, %a : f32
      tile.store %sum, %B[%i] : memref<64xf32, #global>
    }
  }
  return
}
)mlir";

/// A function of the stand-in that only tests need.
template <typename FunctionT> FunctionT *find(const char *name) {
  void *handle = dlopen(TW_FAKE_CUDA, RTLD_NOW | RTLD_NOLOAD);
  void *symbol = handle ? dlsym(handle, name) : nullptr;
  EXPECT_TRUE(symbol) << name;
  return reinterpret_cast<FunctionT *>(symbol);
}

/// The chain with tensors on the stand-in's first GPU.
class AsyncLaunchTest : public testing::Test {
protected:
  void SetUp() override {
    Result<CudaScope> entered = CudaScope::enter(driver, 0);
    ASSERT_TRUE(bool(entered));
    scope.emplace(std::move(*entered));
    for (CudaAddress *address : {&gpuA, &gpuB})
      *address = *memory.allocate(256);
    write(0);
    kernel = getKernel(*program, "cuda:0");
  }
  /// Sets A to first, first + 1, ….
  void write(float first) {
    std::vector<float> a(64);
    std::iota(a.begin(), a.end(), first);
    EXPECT_FALSE(driver.copyToGpu(gpuA, a.data(), 256));
  }
  std::vector<float> read() {
    std::vector<float> b(64);
    EXPECT_FALSE(driver.copyFromGpu(b.data(), gpuB, 256));
    return b;
  }
  static std::vector<float> expect(float first) {
    std::vector<float> b(64);
    for (int i = 0; i < 64; ++i)
      b[i] = 2 * (first + i + 1);
    return b;
  }
  void launch() {
    std::vector<float> shape(64);
    runtime::TensorView a = makeView(shape), b = makeView(shape);
    a.data = reinterpret_cast<void *>(gpuA);
    b.data = reinterpret_cast<void *>(gpuB);
    a.isOnGpu = b.isOnGpu = true;
    RunOptions options;
    options.stream = stream;
    options.poll = [](const runtime::Progress &) {
      ADD_FAILURE() << "a launch waits";
      return true;
    };
    call(*kernel, {a, b}, options);
  }

  CudaDriver &driver = **CudaDriver::get();
  std::optional<CudaScope> scope;
  rt::GpuMemory memory{driver};
  CudaAddress gpuA = 0, gpuB = 0;
  void *stream = reinterpret_cast<void *>(16);
  std::shared_ptr<Executable> program = parseProgram(kChain);
  std::shared_ptr<CompiledKernel> kernel;
};

TEST_F(AsyncLaunchTest, AWorkspaceIsMemoryOfTheStream) {
  auto *countPending = find<size_t(void *)>("fakeCudaCountPending");
  auto *countAllocations = find<size_t()>("fakeCudaCountAllocations");
  size_t before = countAllocations();
  launch();
  EXPECT_EQ(countPending(stream), 3u); // two kernels and the end of the workspace
  EXPECT_EQ(countAllocations(), before + 1);
  launch();
  EXPECT_EQ(countPending(stream), 6u);
  EXPECT_EQ(read(), expect(0));
  EXPECT_EQ(countPending(stream), 0u);
  EXPECT_EQ(countAllocations(), before);
}

TEST_F(AsyncLaunchTest, AGraphCapturesLaunchesWithWorkspaces) {
  launch(); // has the code compiled and loaded
  EXPECT_EQ(read(), expect(0));
  ASSERT_EQ(find<int(void *, int)>("cuStreamBeginCapture_v2")(stream, 0), 0);
  launch();
  void *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(find<int(void *, void **)>("cuStreamEndCapture")(stream, &graph), 0);
  auto *instantiate = find<int(void **, void *, unsigned long long)>("cuGraphInstantiateWithFlags");
  ASSERT_EQ(instantiate(&executable, graph, 0), 0);
  EXPECT_EQ(read(), expect(0)); // what is captured does not run
  for (float first : {10.0f, 20.0f}) {
    write(first);
    ASSERT_EQ(find<int(void *, void *)>("cuGraphLaunch")(executable, stream), 0);
    EXPECT_EQ(read(), expect(first));
  }
}

} // namespace
