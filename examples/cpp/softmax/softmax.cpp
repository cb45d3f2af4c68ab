// Softmax from C++, with a tensor type of the program's own.
#include "softmax.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> data = std::vector<float>(size_t(shape[0] * shape[1]));
  DLTensor view() {
    return {data.data(),
            {kDLCPU, 0},
            int32_t(shape.size()),
            {kDLFloat, 32, 1},
            shape.data(),
            nullptr,
            0};
  }
};

int main() {
  Tensor x{{100, 256}}, y{{100, 256}};
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] = std::sin(float(i)) * 5;
  DLTensor in = x.view(), out = y.view();
  tw_error error;
  if (softmax(&in, &out, nullptr, &error) != TW_OK) {
    std::fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  double worst = 0;
  for (int row = 0; row < 100; ++row) {
    double sum = 0;
    for (int j = 0; j < 256; ++j)
      sum += std::exp(double(x.data[row * 256 + j]));
    for (int j = 0; j < 256; ++j)
      worst = std::max(
          worst, std::abs(std::exp(double(x.data[row * 256 + j])) / sum - y.data[row * 256 + j]));
  }
  std::printf("largest error below 1e-6: %s\n", worst < 1e-6 ? "yes" : "no");
  return worst >= 1e-6;
}
