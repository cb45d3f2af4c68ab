//===- EngineTestSupport.cpp - programs as text, and tensors for them -------------------------===//

#include "EngineTestSupport.h"

#include <cstdlib>

namespace tilewright::driver {

namespace {
/// Nothing is kept on disk unless a test says so, and the stand-in is the driver of GPUs.
class Surroundings : public testing::Environment {
public:
  void SetUp() override {
    setenv("TILEWRIGHT_CACHE", "0", 1);
    setenv("TILEWRIGHT_LIBCUDA", TW_FAKE_CUDA, 1);
    setenv("TILEWRIGHT_FAKE_GPUS", "8.0,7.5,9.0", 1);
  }
};
[[maybe_unused]] testing::Environment *const surroundings =
    testing::AddGlobalTestEnvironment(new Surroundings);
} // namespace

const char *const kAdd = R"mlir(
#global = #tile.space<global>
func.func @add(%A: memref<64xf32, #global> {tile.name = "A"},
               %B: memref<64xf32, #global> {tile.name = "B"},
               %C: memref<64xf32, #global> {tile.name = "C"}) {
  %c2 = arith.constant 2 : index
  tile.kernel (%block) in (%c2) threads [32] {
    tile.parallel (%i) in (32) {
      %c32 = arith.constant 32 : index
      %first = arith.muli %block, %c32 : index
      %at = arith.addi %first, %i : index
      %a = tile.load %A[%at] : memref<64xf32, #global>
      %b = tile.load %B[%at] : memref<64xf32, #global>
      %sum = arith.addf %a, %b : f32
      tile.store %sum, %C[%at] : memref<64xf32, #global>
    }
  }
  return
}
)mlir";

const char *const kScale = R"mlir(
#global = #tile.space<global>
func.func @scale(%A: memref<?xf32, #global> {tile.name = "A",
                                             tile.shape = #tile.shape<"()[n] -> (n)">},
                 %B: memref<?xf32, #global> {tile.name = "B",
                                             tile.shape = #tile.shape<"()[n] -> (n)">},
                 %factor: f32 {tile.dtype = f32, tile.name = "factor"},
                 %n: index {tile.symbol = "n"}) {
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %up = arith.addi %n, %c31 : index
  %blocks = tile.floordiv %up, %c32 : index
  tile.kernel (%block) in (%blocks) threads [32] {
    tile.parallel (%i) in (32) {
      %first = arith.muli %block, %c32 : index
      %at = arith.addi %first, %i : index
      %a = tile.load %A[%at] : memref<?xf32, #global>
      %scaled = arith.mulf %a, %factor : f32
      tile.store %scaled, %B[%at] : memref<?xf32, #global>
    }
  }
  return
}
)mlir";

const char *const kGemm = R"mlir(
#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
func.func @gemm(%A: memref<32x32xf16, #global> {tile.name = "A"},
                %B: memref<32x32xf16, #global> {tile.name = "B"},
                %C: memref<32x32xf32, #global> {tile.name = "C"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%block) in (%c1) threads [128] {
    %a = tile.alloc "a" : memref<32x16xf16, #shared>
    %b = tile.alloc "b" : memref<16x32xf16, #shared>
    %c = tile.alloc "c" : memref<32x32xf32, #fragment>
    %zero = arith.constant 0.0 : f32
    tile.fill %zero, %c : f32, memref<32x32xf32, #fragment>
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    tile.pipelined %k = %c0 to %c2 stages 2 {
      %c16 = arith.constant 16 : index
      %at = arith.muli %k, %c16 : index
      %left = tile.slice %A[0, %at] [32, 16] [1, 1] : memref<32x32xf16, #global> to memref<32x16xf16, #global>
      tile.copy %left, %a : memref<32x16xf16, #global> to memref<32x16xf16, #shared>
      %right = tile.slice %B[%at, 0] [16, 32] [1, 1] : memref<32x32xf16, #global> to memref<16x32xf16, #global>
      tile.copy %right, %b : memref<16x32xf16, #global> to memref<16x32xf16, #shared>
      tile.gemm %a, %b, %c : memref<32x16xf16, #shared>, memref<16x32xf16, #shared>, memref<32x32xf32, #fragment>
    }
    tile.copy %c, %C : memref<32x32xf32, #fragment> to memref<32x32xf32, #global>
  }
  return
}
)mlir";

const char *const kScatter = R"mlir(
#global = #tile.space<global>
func.func @scatter(%A: memref<64xi32, #global> {tile.name = "A"},
                   %B: memref<64xi32, #global> {tile.name = "B"}) {
  %c2 = arith.constant 2 : index
  tile.kernel (%block) in (%c2) threads [32] {
    tile.parallel (%i) in (32) {
      %c32 = arith.constant 32 : index
      %first = arith.muli %block, %c32 : index
      %at = arith.addi %first, %i : index
      %number = tile.load %A[%at] : memref<64xi32, #global> loc("scatter.py":4:9)
      %to = tile.cast %number from i32 to index
      %value = tile.cast %block from index to i32
      tile.store %value, %B[%to] : memref<64xi32, #global> loc("scatter.py":4:9)
    }
  }
  return
}
)mlir";

const char *const kTwoStatements = R"mlir(
#global = #tile.space<global>
func.func @two(%A: memref<64xi32, #global> {tile.name = "A"},
               %B: memref<64xi32, #global> {tile.name = "B"},
               %C: memref<64xi32, #global> {tile.name = "C"}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%block) in (%c1) threads [64] {
    tile.parallel (%i) in (64) {
      %a = tile.load %A[%i] : memref<64xi32, #global>
      %one = arith.constant 1 : i32
      %next = arith.addi %a, %one : i32
      tile.store %next, %B[%i] : memref<64xi32, #global>
    }
    tile.parallel (%i) in (64) {
      %c63 = arith.constant 63 : index
      %mirrored = arith.subi %c63, %i : index
      %a = tile.load %A[%mirrored] : memref<64xi32, #global>
      tile.store %a, %C[%i] : memref<64xi32, #global>
    }
  }
  return
}
)mlir";

std::shared_ptr<Executable> parseProgram(const char *text) {
  llvm::Expected<std::shared_ptr<Executable>> program = Executable::parse(text);
  if (!program) {
    ADD_FAILURE() << llvm::toString(program.takeError());
    abort();
  }
  if (llvm::Error error = (*program)->check())
    ADD_FAILURE() << llvm::toString(std::move(error));
  return std::move(*program);
}

std::shared_ptr<CompiledKernel> getKernel(Executable &program, const std::string &device) {
  llvm::Expected<std::shared_ptr<CompiledKernel>> kernel = program.getKernel(device);
  if (!kernel) {
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    abort();
  }
  return std::move(*kernel);
}

RunResult call(CompiledKernel &kernel, llvm::ArrayRef<runtime::CallArgument> arguments,
               const RunOptions &options) {
  llvm::Expected<BoundArguments> bound = kernel.bind(arguments);
  if (!bound) {
    ADD_FAILURE() << llvm::toString(bound.takeError());
    return {};
  }
  llvm::Expected<RunResult> result = kernel.run(*bound, options);
  if (!result) {
    ADD_FAILURE() << llvm::toString(result.takeError());
    return {};
  }
  return std::move(*result);
}

} // namespace tilewright::driver
