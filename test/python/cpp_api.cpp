// What tilewright/tilewright.h promises; test_cpp_api.py builds and runs it. usage: cpp_api FOLDER
#include <cstdio>
#include <cstdlib>
#include <tilewright/tilewright.h>

#define CHECK(condition)                                                                           \
  if (!(condition)) {                                                                              \
    std::printf("line %d: %s\n", __LINE__, #condition);                                            \
    std::exit(1);                                                                                  \
  }

static const char *const kProgram = R"mlir(
#global = #tile.space<global>
func.func @scale(%A: memref<64xf32, #global> {tile.name = "A"},
                 %B: memref<64xf32, #global> {tile.name = "B"},
                 %x: f32 {tile.name = "x", tile.dtype = f32}) {
  %c1 = arith.constant 1 : index
  tile.kernel (%block) in (%c1) threads [64] {
    tile.parallel (%i) in (64) {
      %a = tile.load %A[%i] : memref<64xf32, #global>
      %p = arith.mulf %a, %x : f32
      tile.store %p, %B[%i] : memref<64xf32, #global>
    }
  }
  return
}
)mlir";

static void runsOnEveryEngine(const tw::Compiler &compiler) {
  for (const char *device : {"cpu", "interp", "vgpu:sm_80", "vgpu:sm_90a"}) {
    tw::Result<tw::Kernel> kernel = compiler.compile(kProgram, tw::Device(device));
    CHECK(kernel);
    CHECK(kernel->name() == "scale" && kernel->device().name() == device);
    std::vector<float> a(64, 1.5f);
    tw::Tensor b = tw::Tensor::zeros(tw::DType::Float32, {64});
    tw::Result<tw::RunReport> run = (*kernel)(tw::Tensor::view(a.data(), {64}), b, 2.0);
    CHECK(run && run->findings.empty() && !run->stopped);
    for (float value : b.as<float>())
      CHECK(value == 3.0f);
    tw::Result<std::string> ptx = kernel->ptx();
    CHECK(ptx && (ptx->find(".target sm_") != std::string::npos) == (device[0] == 'v'));
    if (device[0] == 'v')
      CHECK(!kernel->remarks().empty() && !kernel->remarks().front().message.empty());
  }
}

static void verifies(const tw::Compiler &compiler) {
  tw::Result<tw::Kernel> kernel = compiler.compile(kProgram);
  CHECK(kernel);
  tw::Tensor a = tw::Tensor::zeros(tw::DType::Float32, {64}), b = a.clone();
  a.as<float>()[3] = 0.1f;
  tw::Argument arguments[] = {a, b, 0.3};
  tw::Device devices[] = {tw::Device::cpu(), tw::Device::virtual_gpu("sm_80")};
  tw::Result<tw::Verification> seen = kernel->verify(arguments, devices);
  CHECK(seen && bool(*seen));
  CHECK(seen->devices.size() == 3 && seen->devices[0] == "interp" && seen->compared == 128);
  CHECK(b.as<float>()[3] == 0.0f); // it ran on copies
}

static void errorsAreValues(const tw::Compiler &compiler) {
  tw::Result<tw::Kernel> wrong = compiler.compile("func.func @f( {");
  CHECK(!wrong && wrong.error().location.line == 1 && !wrong.error().message.empty());
  CHECK(wrong.error().str().find("error: ") != std::string::npos);
  CHECK(!compiler.compile(kProgram, tw::Device("tpu")));
  CHECK(compiler.compile(kProgram, tw::Device("vgpu:sm_1"))
            .error()
            .message.find("unknown architecture 'sm_1'") == 0);
  tw::Result<tw::Kernel> kernel = compiler.compile(kProgram);
  CHECK(kernel);
  tw::Tensor a = tw::Tensor::zeros(tw::DType::Float32, {32}),
             b = tw::Tensor::zeros(tw::DType::Int32, {64});
  CHECK((*kernel)(a, a, 1.0).error().message ==
        "parameter 'A': expected shape (64,), got (32,) (dimension 0 should be 64)");
  CHECK((*kernel)(b, b, 1.0).error().message == "parameter 'A': expected dtype float32, got int32");
  CHECK((*kernel)(b).error().message == "'scale' takes 3 arguments (A, B, x), got 1");
}

static void exportsAndLoads(const tw::Compiler &compiler, const std::string &folder) {
  tw::Result<tw::Kernel> kernel = compiler.compile(kProgram);
  CHECK(kernel);
  std::pair<std::string, tw::Kernel> kernels[] = {{"scale", *kernel}};
  CHECK(compiler.export_library(folder + "/made", kernels));
  CHECK(!compiler.export_library("/no/such/folder/made", kernels));
  CHECK(!tw::Library::open(folder + "/absent.so"));
  tw::Result<tw::Library> library = tw::Library::open(folder + "/given.so");
  CHECK(library);
  CHECK(library->names() == std::vector<std::string>{"scale"});
  tw::Tensor a = tw::Tensor::zeros(tw::DType::Float32, {64}), b = a.clone();
  a.as<float>()[7] = 4.0f;
  tw::Argument arguments[] = {a, b, 2.5};
  CHECK(library->call("scale", arguments));
  CHECK(b.as<float>()[7] == 10.0f);
  CHECK(library->call("other", arguments).error().message == "the library has no kernel 'other'");
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  tw::Compiler compiler;
  runsOnEveryEngine(compiler);
  verifies(compiler);
  errorsAreValues(compiler);
  exportsAndLoads(compiler, argv[1]);
  std::printf("good\n");
}
