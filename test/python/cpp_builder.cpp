// What tilewright/builder.h promises; test_cpp_builder.py builds and runs it.
// usage: cpp_builder run | cpp_builder KERNEL, which prints its tile IR
#include "cpp_kernels.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#define CHECK(condition)                                                                           \
  if (!(condition)) {                                                                              \
    std::printf("line %d: %s\n", __LINE__, #condition);                                            \
    std::exit(1);                                                                                  \
  }

using namespace tw::lang;
using tw::DType;

static tw::Kernel compiled(const tw::Result<tw::Program> &program, const tw::Device &device) {
  if (!program)
    std::printf("%s\n", program.error().str().c_str());
  CHECK(program);
  tw::Result<tw::Kernel> kernel = tw::Compiler().compile(*program, device);
  if (!kernel)
    std::printf("%s\n", kernel.error().str().c_str());
  CHECK(kernel);
  return *kernel;
}

static void softmaxRuns(const tw::Device &device) {
  tw::Tensor x = tw::Tensor::zeros(DType::Float32, {6, 64}), y = x.clone();
  for (size_t i = 0; i < x.size(); ++i)
    x.as<float>()[i] = std::sin(float(i)) * 5;
  tw::Result<tw::RunReport> run = compiled(kernels::softmax(6, 64, 4), device)(x, y);
  CHECK(run);
  for (const tw::Finding &finding : run->findings) // notes: the last block reaches beyond the rows
    CHECK(finding.severity == tw::Finding::Severity::Note);
  for (int row = 0; row < 6; ++row) {
    double sum = 0;
    for (int j = 0; j < 64; ++j)
      sum += std::exp(double(x.as<float>()[row * 64 + j]));
    for (int j = 0; j < 64; ++j)
      CHECK(std::abs(std::exp(double(x.as<float>()[row * 64 + j])) / sum -
                     y.as<float>()[row * 64 + j]) < 1e-6);
  }
}

/// Ones, as float16.
static tw::Tensor ones(int64_t rows, int64_t columns) {
  tw::Tensor tensor = tw::Tensor::zeros(DType::Float16, {rows, columns});
  auto *bits = static_cast<uint16_t *>(tensor.data());
  std::fill(bits, bits + tensor.size(), uint16_t(0x3c00));
  return tensor;
}

static void matmulRuns() {
  Value n = dynamic("n");
  tw::Kernel kernel =
      compiled(kernels::matmul(dynamic("m"), n, 64, 64, 64, 32, 2), tw::Device::cpu());
  tw::Tensor c = tw::Tensor::zeros(DType::Float16, {70, 90});
  CHECK(kernel(ones(70, 64), ones(64, 90), c));
  for (size_t i = 0; i < c.size(); ++i)
    CHECK(static_cast<uint16_t *>(c.data())[i] == 0x5400); // 64
}

/// A branch, a variable, a serial loop, a function as a macro, a scalar parameter.
static void controlFlowRuns() {
  auto program = build("sums", [] {
    Buffer A = tensor("A", {8, 16}, DType::Int32), B = tensor("B", {8}, DType::Int32);
    Value limit = scalar("limit", DType::Int32);
    kernel({8}, 32, [&](Value row) {
      Variable sum = alloc_var(DType::Int32, 0, "sum");
      auto add = [&](Value value) {
        when(value < limit, [&] { sum += value; }, [&] { sum = sum - 1; });
      };
      serial(16, [&](Value k) { add(A(row, k)); });
      B(row) = sum;
    });
  });
  tw::Tensor a = tw::Tensor::zeros(DType::Int32, {8, 16}), b = tw::Tensor::zeros(DType::Int32, {8});
  for (int i = 0; i < 128; ++i)
    a.as<int32_t>()[i] = i % 16;
  for (const char *device : {"cpu", "interp", "vgpu:sm_80"}) {
    CHECK(compiled(program, tw::Device(device))(a, b, 10));
    CHECK(b.as<int32_t>()[5] == 45 - 6);
  }
}

static tw::Error refused(const std::function<void()> &body) {
  tw::Result<tw::Program> program = build("wrong", body);
  CHECK(!program);
  CHECK(program.error().location.file.find("cpp_builder.cpp") != std::string::npos);
  return program.error();
}

static void mistakesAreValues() {
  int line = 0;
  auto in = [](const std::function<void(Buffer, Buffer)> &body) {
    return refused([&] {
      Buffer A = tensor("A", {64, 64}, DType::Float32), B = tensor("B", {32, 64}, DType::Float32);
      kernel({1}, 64, [&](Value) { body(A, B); });
    });
  };
  tw::Error error = in([&](Buffer a, Buffer b) {
    line = __LINE__ + 1;
    copy(a, b);
    gemm(a, a, a); // nothing happens after the first mistake
  });
  CHECK(error.location.line == line);
  CHECK(error.message.find("'T.copy'") != std::string::npos);
  error = in([&](Buffer a, Buffer) { // at an operator's line
    parallel({64}, [&](Value i) {
      line = __LINE__ + 1;
      a(i, 0) = a(i, 0) & 1;
    });
  });
  CHECK(error.location.line == line);
  Value escaped;
  error = in([&](Buffer a, Buffer) {
    parallel({64}, [&](Value i) { escaped = i; });
    line = __LINE__ + 1;
    a(escaped, 0) = 1.0;
  });
  CHECK(error.location.line == line);
  CHECK(error.message.find("outside") != std::string::npos);
  CHECK(in([&](Buffer a, Buffer) { a(escaped, 0) = 1.0; }).message.find("another kernel") !=
        std::string::npos);
  CHECK(in([](Buffer a, Buffer) { a(Value(), 0) = 1.0; }).message.find("empty") !=
        std::string::npos);
  CHECK(in([](Buffer a, Buffer) { a(0, 0, 0) = 1.0; }).message ==
        "'A' has 2 dimensions, got 3 indices");
  in([](Buffer a, Buffer b) { gemm(a, b, a); });
  in([](Buffer a, Buffer) { copy(a, Buffer()); });
  in([](Buffer a, Buffer) { reduce_sum(a, a, {.dim = 7}); });
  in([](Buffer, Buffer) { alloc_shared({dynamic("n")}, DType::Float32); });
  in([](Buffer, Buffer) { alloc_shared({}, DType::Float32); });
  in([](Buffer, Buffer) { alloc_shared({-3}, DType::Float32); });
  in([](Buffer, Buffer) { parallel({4, 4}, [](Value) {}); });
  in([](Buffer, Buffer) { parallel({}, [] {}); });
  in([](Buffer, Buffer) { tensor("late", {4}, DType::Float32); });
  in([](Buffer, Buffer) { kernel({1}, 64, [](Value) {}); });
  in([](Buffer a, Buffer) {
    annotate_layout(a, layout({64, 64}, [](Value i, Value j) {
                      return std::vector<Value>{i, j * dynamic("n")};
                    }));
  });
  in([](Buffer a, Buffer) { a(0, 0) = apply("nothing", a(0, 0)); });
  in([](Buffer a, Buffer) { pipelined(a(0, 0), {}, [](Value) {}); });
  in([](Buffer, Buffer) { infinity(DType::Int32); });
  refused([] { kernel({1}, 0, [](Value) {}); });
  refused([] { kernel({1, 1, 1, 1}, 64, [](Value, Value, Value, Value) {}); });
  refused([] { parallel({4}, [](Value) {}); });
  refused([] { tensor("A", {-1}, DType::Float32); });
  CHECK(!build("no name", [] {}));
  clear(Buffer()); // outside: the next program tells
  CHECK(build("next", [] {}).error().message.find("outside 'build'") != std::string::npos);
}

static void exceptionsPassThrough() {
  bool caught = false;
  try {
    (void)build("throws", [] { kernel({1}, 64, [](Value) { throw std::runtime_error("mine"); }); });
  } catch (const std::runtime_error &) {
    caught = true;
  }
  CHECK(caught);
  softmaxRuns(tw::Device::cpu()); // and the thread is fit for the next program
}

static void remarksHaveLines() {
  tw::Kernel kernel = compiled(kernels::softmax(8, 64, 4), tw::Device::virtual_gpu("sm_80"));
  CHECK(kernel.ptx());
  bool hasLine = false;
  for (const tw::Remark &remark : kernel.remarks())
    hasLine |= remark.location.file.ends_with("cpp_kernels.h") && remark.location.line > 0;
  CHECK(hasLine);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  if (!std::strcmp(argv[1], "run")) {
    for (const char *device : {"cpu", "interp", "vgpu:sm_80"})
      softmaxRuns(tw::Device(device));
    matmulRuns();
    controlFlowRuns();
    mistakesAreValues();
    exceptionsPassThrough();
    remarksHaveLines();
    std::printf("good\n");
    return 0;
  }
  std::string name = argv[1];
  tw::Result<tw::Program> program =
      name == "matmul"    ? kernels::matmul(256, 256, 128, 128, 128, 32, 3)
      : name == "dynamic" ? kernels::matmul(dynamic("m"), dynamic("n"), dynamic("k"), 64, 64, 32, 2)
      : name == "softmax" ? kernels::softmax(30, 256, 4)
      : name == "forward" ? kernels::attention_forward(1, 4, 256, 64, 2, 64)
                          : kernels::attention_backward(1, 4, 256, 64, 2);
  if (!program)
    std::printf("%s\n", program.error().str().c_str());
  CHECK(program);
  std::printf("%s", program->text().c_str());
}
