//===- TensorMapTest.cpp - tensor maps from recipe to launch ----------------------------------===//

#include "EngineTestSupport.h"
#include "tilewright/Driver/Launches.h"
#include "tilewright/Rt/CudaLaunch.h"
#include "tilewright/Support/ToError.h"

#include <numeric>

using namespace tilewright;
using namespace tilewright::driver;
using rt::CudaDriver;
using rt::CudaScope;
using runtime::CallArgument;

namespace {

/// A of n x 16 float32, in boxes of 8 rows. Dim 2 is n.
nvptx::TensorMapRecipe makeRecipe() {
  nvptx::TensorMapRecipe recipe;
  recipe.argument = 0;
  recipe.type = TensorMapType::F32;
  recipe.extents = {16, IndexExpr::dim(2)};
  recipe.strideBytes = {64};
  recipe.box = {16, 8};
  recipe.steps = {1, 1};
  return recipe;
}

/// The numbers of a call.
struct Values {
  std::vector<uint64_t> addresses;
  std::vector<int64_t> numbers;
  operator rt::LaunchValues() const { return {addresses, numbers}; }
};

std::optional<TensorMap> evaluate(const nvptx::TensorMapRecipe &recipe, uint64_t address,
                                  int64_t n) {
  return rt::evaluateTensorMap(describeMap(recipe), Values{{address, 0, 0}, {0, 0, n}});
}

TEST(TensorMapTest, FormulasGetTheNumbersOfTheCall) {
  nvptx::TensorMapRecipe recipe = makeRecipe();
  recipe.strideBytes = {IndexExpr::dim(2) * 4};
  recipe.swizzleBytes = 64;
  recipe.promotionBytes = 128;
  std::optional<TensorMap> map = evaluate(recipe, 4096, 20);
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->address, 4096u);
  EXPECT_EQ(llvm::ArrayRef<uint64_t>(map->extents), llvm::ArrayRef<uint64_t>({16, 20}));
  EXPECT_EQ(llvm::ArrayRef<uint64_t>(map->strideBytes), llvm::ArrayRef<uint64_t>({80}));
  EXPECT_EQ(llvm::ArrayRef<uint32_t>(map->box), llvm::ArrayRef<uint32_t>({16, 8}));
  EXPECT_EQ(map->swizzleBytes, 64u);
  EXPECT_EQ(map->promotionBytes, 128u);
}

TEST(TensorMapTest, WhatTmaCannotDoIsNoMap) {
  nvptx::TensorMapRecipe recipe = makeRecipe();
  EXPECT_TRUE(evaluate(recipe, 16, 1).has_value());
  EXPECT_FALSE(evaluate(recipe, 8, 1).has_value());                       // a base of 8 bytes
  EXPECT_FALSE(evaluate(recipe, 16, 0).has_value());                      // no rows
  EXPECT_FALSE(evaluate(recipe, 16, (int64_t(1) << 30) + 1).has_value()); // too many
  EXPECT_TRUE(evaluate(recipe, 16, int64_t(1) << 30).has_value());
  recipe.strideBytes = {IndexExpr::dim(2) * 4};
  EXPECT_TRUE(evaluate(recipe, 16, 20).has_value());
  EXPECT_FALSE(evaluate(recipe, 16, 21).has_value()); // a stride of 84 bytes
  recipe.strideBytes = {IndexExpr::dim(2) * (int64_t(1) << 40)};
  EXPECT_FALSE(evaluate(recipe, 16, 1).has_value());
  EXPECT_FALSE(evaluate(recipe, 16, int64_t(1) << 40).has_value()); // beyond 64 bits
  recipe.strideBytes = {IndexExpr::dim(3)};                         // a damaged entry of the cache
  EXPECT_FALSE(evaluate(recipe, 16, 1).has_value());
}

//===----------------------------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------------------------===//

/// Counts what it encodes: the address, as bytes.
struct CountingEncoder {
  unsigned count = 0;
  std::optional<EncodedTensorMap> operator()(const TensorMap &map) {
    ++count;
    EncodedTensorMap encoded;
    std::memcpy(encoded.bytes.data(), &map.address, sizeof(map.address));
    return encoded;
  }
};

TEST(TensorMapCacheTest, EqualCallsAreEncodedOnce) {
  nvptx::KernelInfo first, second;
  second.maps = {makeRecipe(), makeRecipe()};
  second.maps[1].argument = 1;
  rt::TensorMapCache cache(describeKernels({first, second}));
  CountingEncoder encoder;
  auto get = [&](uint64_t a, uint64_t b, int64_t other, int64_t n) {
    return cache.get(Values{{a, b, 0}, {other, 0, n}}, encoder);
  };
  auto maps = get(16, 32, 0, 5);
  ASSERT_TRUE(maps);
  ASSERT_EQ(maps->size(), 2u);
  EXPECT_TRUE(maps->front().empty());
  ASSERT_EQ(maps->back().size(), 2u);
  EXPECT_EQ(maps->back()[1].bytes[0], 32);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(&maps->back()[1]) % TensorMap::kAlignment, 0u);
  EXPECT_EQ(get(16, 32, 0, 5), maps);
  EXPECT_EQ(get(16, 32, 7, 5), maps); // a number that no formula uses
  EXPECT_EQ(encoder.count, 2u);
  EXPECT_NE(get(16, 48, 0, 5), maps);
  EXPECT_NE(get(16, 32, 0, 6), maps);
  EXPECT_EQ(encoder.count, 6u);
  EXPECT_FALSE(get(16, 32, 0, 0)); // no map
  EXPECT_FALSE(get(16, 24, 0, 5));
  EXPECT_EQ(get(16, 32, 0, 5), maps);
}

TEST(TensorMapCacheTest, TheLeastRecentlyUsedEntriesGo) {
  nvptx::KernelInfo kernel;
  kernel.maps = {makeRecipe()};
  rt::TensorMapCache cache(describeKernels({kernel}));
  CountingEncoder encoder;
  auto get = [&](int64_t n) { return cache.get(Values{{16, 0, 0}, {0, 0, n}}, encoder); };
  for (int64_t n = 1; n <= 40; ++n) {
    get(n);
    get(1);
  }
  EXPECT_EQ(encoder.count, 40u); // that of 1 is always among the latest
  get(2);
  EXPECT_EQ(encoder.count, 41u);
}

TEST(TensorMapCacheTest, ADriverThatRefusesLeavesNothingBehind) {
  nvptx::KernelInfo kernel;
  kernel.maps = {makeRecipe()};
  rt::TensorMapCache cache(describeKernels({kernel}));
  auto refuse = [](const TensorMap &) -> std::optional<EncodedTensorMap> { return std::nullopt; };
  EXPECT_FALSE(cache.get(Values{{16, 0, 0}, {0, 0, 5}}, refuse));
  CountingEncoder encoder;
  EXPECT_TRUE(cache.get(Values{{16, 0, 0}, {0, 0, 5}}, encoder));
}

//===----------------------------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------------------------===//

/// C = A of n x 16 elements, for n up to 16, by bulk copies of 8 rows.
const char *const kCopy = R"mlir(
#global = #tile.space<global>
#shared = #tile.space<shared>
func.func @copy(%A: memref<?x16xf32, #global> {tile.name = "A",
                                               tile.shape = #tile.shape<"()[n] -> (n, 16)">},
                %C: memref<?x16xf32, #global> {tile.name = "C",
                                               tile.shape = #tile.shape<"()[n] -> (n, 16)">},
                %n: index {tile.symbol = "n"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  tile.kernel (%block) in (%c1) threads [32] {
    %tile = tile.alloc "tile" : memref<8x16xf32, #shared>
    tile.pipelined %k = %c0 to %c2 stages 2 {
      %row = arith.muli %k, %c8 : index
      %from = tile.slice %A[%row, 0] [8, 16] [1, 1] : memref<?x16xf32, #global> to memref<8x16xf32, #global>
      %to = tile.slice %C[%row, 0] [8, 16] [1, 1] : memref<?x16xf32, #global> to memref<8x16xf32, #global>
      tile.copy %from, %tile : memref<8x16xf32, #global> to memref<8x16xf32, #shared>
      tile.copy %tile, %to {disable_tma = true} : memref<8x16xf32, #shared> to memref<8x16xf32, #global>
    }
  }
  return
}
)mlir";

/// Copies up to 8 rows through the map, in place of that code.
const char *const kCopyPtx = R"ptx(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry copy_kernel(.param .u64 A, .param .u64 C, .param .u64 n,
                            .param .align 64 .b8 map[128]) {
  .reg .pred %p<3>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  .shared .align 1024 .b8 tile[512];
  .shared .align 8 .b64 bar;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 ret;
  mbarrier.init.shared.b64 [bar], 1;
  mov.u64 %rd0, map;
  cvta.param.u64 %rd0, %rd0;
  mov.u32 %r1, 0;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd0, {%r1, %r1}], [bar];
again:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra again;
  ld.param.u64 %rd1, [C];
  ld.param.u64 %rd2, [n];
  shl.b64 %rd2, %rd2, 6;
  cvt.u32.u64 %r2, %rd2;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], %r2;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
)ptx";

/// Rows as a swizzle of 64 bytes leaves them: chunk c of row r is chunk c ^ (r / 2 % 4) of the tile.
std::vector<float> swizzle(const std::vector<float> &rows) {
  std::vector<float> tile(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    size_t row = i / 16, chunk = i % 16 / 4;
    tile[row * 16 + (chunk ^ (row / 2 % 4)) * 4 + i % 4] = rows[i];
  }
  return tile;
}

TEST(TensorMapTest, TheArtifactHasTheMapsOfTheProgram) {
  std::shared_ptr<Executable> program = parseProgram(kCopy);
  llvm::Expected<std::shared_ptr<const CompiledArtifact>> code =
      getKernel(*program, "vgpu:sm_90a")->getCode();
  ASSERT_TRUE(bool(code));
  ASSERT_EQ((*code)->kernels.size(), 1u);
  std::optional<CompiledArtifact> read = parseArtifact(writeArtifact(**code));
  ASSERT_TRUE(read.has_value());
  for (const nvptx::KernelInfo &info : {(*code)->kernels.front(), read->kernels.front()}) {
    ASSERT_EQ(info.maps.size(), 1u);
    const nvptx::TensorMapRecipe &map = info.maps.front();
    EXPECT_EQ(map.argument, 0u);
    EXPECT_EQ(map.type, TensorMapType::F32);
    EXPECT_EQ(map.extents, (std::vector<IndexExpr>{16, IndexExpr::dim(2)}));
    EXPECT_EQ(map.strideBytes, (std::vector<IndexExpr>{64}));
    EXPECT_EQ(map.box, (std::vector<uint32_t>{16, 8}));
    EXPECT_EQ(map.steps, (std::vector<uint32_t>{1, 1}));
    EXPECT_EQ(map.swizzleBytes, 0u);
    EXPECT_FALSE(map.fillsNan);
  }
}

TEST(TensorMapTest, TheVirtualGpuMakesMapsForItsLaunches) {
  std::shared_ptr<Executable> program = parseProgram(kCopy);
  std::vector<float> a(5 * 16), c(5 * 16, -1);
  std::iota(a.begin(), a.end(), 1);
  RunOptions options;
  options.ptx = kCopyPtx;
  RunResult result =
      call(*getKernel(*program, "vgpu:sm_90a"),
           {makeView(a, {5, 16}, "float32"), makeView(c, {5, 16}, "float32")}, options);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(c, a);
}

/// The copy on the GPU of capability 9.0 of the stand-in, at an offset into memory of it.
struct CopyOnGpu {
  std::vector<float> a = std::vector<float>(5 * 16), c = std::vector<float>(5 * 16, -1);

  llvm::Expected<bool> run(int64_t rows, uint64_t offset) {
    std::iota(a.begin(), a.end(), 1);
    CudaDriver &driver = **CudaDriver::get();
    Result<CudaScope> scope = CudaScope::enter(driver, 2);
    if (!scope)
      return toError(scope.getFailure());
    std::shared_ptr<Executable> program = parseProgram(kCopy);
    nvptx::KernelInfo info;
    info.name = "copy_kernel";
    info.numThreads = 32;
    info.maps = {makeRecipe()};
    info.maps.front().swizzleBytes = 64;
    auto module = rt::CudaModule::load(driver, 2, kCopyPtx, describeKernels({info}));
    if (!module)
      return toError(module.getFailure());
    rt::GpuMemory memory(driver);
    Result<rt::CudaAddress> gpuA = memory.allocate(1024), gpuC = memory.allocate(1024);
    if (!gpuA || !gpuC)
      return toError(gpuA ? gpuC.getFailure() : gpuA.getFailure());
    EXPECT_FALSE(driver.copyToGpu(*gpuA + offset, a.data(), a.size() * 4));
    runtime::TensorView viewA = makeView(a, {rows, 16}, "float32");
    runtime::TensorView viewC = makeView(c, {rows, 16}, "float32");
    viewA.data = reinterpret_cast<void *>(*gpuA + offset);
    viewC.data = reinterpret_cast<void *>(*gpuC);
    viewA.isOnGpu = viewC.isOnGpu = true;
    auto bound = getKernel(*program, "cuda:2")->bind({viewA, viewC});
    if (!bound)
      return bound.takeError();
    mlir::func::FuncOp function = program->getProgram()->getFunction();
    const rt::Signature &signature = bound->getSignature().form;
    rt::Binding binding = bound->getBinding();
    auto tensors = rt::GpuTensors::place(driver, 2, signature, binding);
    if (!tensors)
      return toError(tensors.getFailure());
    Result<bool> hasRun =
        (*module)->run(LaunchFormulas(function).describe(), signature, binding, *tensors,
                       /*stream=*/nullptr, /*poll=*/nullptr);
    if (!hasRun)
      return toError(hasRun.getFailure());
    EXPECT_FALSE(driver.copyFromGpu(c.data(), *gpuC, c.size() * 4));
    return *hasRun;
  }
};

TEST(TensorMapTest, TheDriverEncodesMapsForItsLaunches) {
  for (uint64_t offset : {0, 16}) {
    CopyOnGpu copy;
    llvm::Expected<bool> hasRun = copy.run(5, offset);
    ASSERT_TRUE(bool(hasRun)) << llvm::toString(hasRun.takeError());
    EXPECT_TRUE(*hasRun);
    EXPECT_EQ(copy.c, swizzle(copy.a));
  }
}

/// A base of 4 bytes, no rows: nothing is launched, and the engine takes code without maps.
TEST(TensorMapTest, ACallWithoutMapsLaunchesNothing) {
  for (auto [rows, offset] : {std::pair(5, 4), std::pair(0, 0)}) {
    CopyOnGpu copy;
    llvm::Expected<bool> hasRun = copy.run(rows, offset);
    ASSERT_TRUE(bool(hasRun)) << llvm::toString(hasRun.takeError());
    EXPECT_FALSE(*hasRun);
    EXPECT_NE(copy.c, swizzle(copy.a));
  }
}

} // namespace
