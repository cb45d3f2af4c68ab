//===- EngineTestSupport.h - programs as text, and tensors for them -----------------*- C++ -*-===//

#ifndef TILEWRIGHT_TEST_UNIT_DRIVER_ENGINETESTSUPPORT_H
#define TILEWRIGHT_TEST_UNIT_DRIVER_ENGINETESTSUPPORT_H

#include "tilewright/Driver/Executable.h"

#include <gtest/gtest.h>

namespace tilewright::driver {

/// Two float32 tensors of 64 elements, A and B, are added to C by two blocks.
extern const char *const kAdd;
/// B[i] = A[i] * factor, of n elements.
extern const char *const kScale;
/// C = A B, 32 x 32, float16 to float32, pipelined.
extern const char *const kGemm;
/// B[A[i]] = block, by two blocks: a race at scatter.py:4 if A repeats a number.
extern const char *const kScatter;
/// B[i] = A[i] + 1, then C[i] = A[63 - i]: what B is decides what the second statement reads.
extern const char *const kTwoStatements;

/// A checked program.
std::shared_ptr<Executable> parseProgram(const char *text);

/// A dense tensor of the test.
template <typename T>
runtime::TensorView makeView(std::vector<T> &data, std::vector<int64_t> shape, std::string dtype) {
  runtime::TensorView view;
  view.data = data.data();
  view.strides.resize(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    view.strides[dim] = stride;
  view.shape = std::move(shape);
  view.dtype = std::move(dtype);
  return view;
}
inline runtime::TensorView makeView(std::vector<float> &data) {
  return makeView(data, {int64_t(data.size())}, "float32");
}
inline runtime::TensorView makeView(std::vector<int32_t> &data) {
  return makeView(data, {int64_t(data.size())}, "int32");
}

/// The kernel of a program on a device; the test ends if there is none.
std::shared_ptr<CompiledKernel> getKernel(Executable &program, const std::string &device);

/// Binds and runs. An error fails the test.
RunResult call(CompiledKernel &kernel, llvm::ArrayRef<runtime::CallArgument> arguments,
               const RunOptions &options = {});

/// The text of an error; "none" for a value.
template <typename T> std::string getError(llvm::Expected<T> value) {
  return value ? "none" : llvm::toString(value.takeError());
}

/// A test that runs on each engine by its device.
class EachEngine : public testing::TestWithParam<const char *> {};

} // namespace tilewright::driver

#endif // TILEWRIGHT_TEST_UNIT_DRIVER_ENGINETESTSUPPORT_H
