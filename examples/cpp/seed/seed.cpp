// Flash attention's backward pass, compared with the textbook's formulas in double. The kernel stores dQ in a layout of
// its own: this is the kernel whose atomic additions into that layout were once miscompiled elsewhere.
#include "flash_attention_backward.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int kHeads = 2, kLength = 128, kDim = 64; // both heads share the keys
constexpr double kScale = 0.125, kLog2E = 1.44269504;
using Half = _Float16;

template <typename T> struct Tensor {
  std::vector<int64_t> shape;
  std::vector<T> data;
  explicit Tensor(std::vector<int64_t> extents) : shape(std::move(extents)) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    data.resize(size_t(count));
  }
  DLTensor view() {
    return {data.data(),
            {kDLCPU, 0},
            int32_t(shape.size()),
            {kDLFloat, 8 * sizeof(T), 1},
            shape.data(),
            nullptr,
            0};
  }
  T *row(int head, int position) { return &data[size_t((head * kLength + position) * kDim)]; }
};

/// What is expected, of one head; keys and values gather both.
struct Expected {
  std::vector<double> dQ = std::vector<double>(kHeads * kLength * kDim),
                      dK = std::vector<double>(kLength * kDim), dV = dK;
};

static double dot(const Half *a, const Half *b) {
  double sum = 0;
  for (int d = 0; d < kDim; ++d)
    sum += double(a[d]) * double(b[d]);
  return sum;
}

static Expected compute(Tensor<Half> &Q, Tensor<Half> &K, Tensor<Half> &V, Tensor<Half> &dO,
                        Tensor<float> &lse, Tensor<float> &delta) {
  Expected expected;
  for (int head = 0; head < kHeads; ++head)
    for (int i = 0; i < kLength; ++i) {
      std::vector<double> p(size_t(i + 1)), dp(p.size());
      double total = 0, mean = 0;
      for (int j = 0; j <= i; ++j)
        total += p[size_t(j)] = std::exp(dot(Q.row(head, i), K.row(0, j)) * kScale);
      for (int j = 0; j <= i; ++j) {
        p[size_t(j)] /= total;
        dp[size_t(j)] = dot(dO.row(head, i), V.row(0, j));
        mean += p[size_t(j)] * dp[size_t(j)];
      }
      lse.data[size_t(head * kLength + i)] = float(std::log(total) * kLog2E);
      delta.data[size_t(head * kLength + i)] = float(mean);
      for (int j = 0; j <= i; ++j)
        for (int d = 0; d < kDim; ++d) {
          double ds = p[size_t(j)] * (dp[size_t(j)] - mean) * kScale;
          expected.dQ[size_t((head * kLength + i) * kDim + d)] += ds * double(K.row(0, j)[d]);
          expected.dK[size_t(j * kDim + d)] += ds * double(Q.row(head, i)[d]);
          expected.dV[size_t(j * kDim + d)] += p[size_t(j)] * double(dO.row(head, i)[d]);
        }
    }
  return expected;
}

/// Where the kernel stores element (head, l, d) of dQ.
static size_t positionOfDq(int head, int l, int d) {
  int block = ((head * (kLength / 8) + l / 8) * (kDim / 8) + d / 8) * 2 + d % 2;
  return size_t(block * 32 + 4 * (l % 8) + d % 8 / 2);
}

int main() {
  Tensor<Half> Q({1, kHeads, kLength, kDim}), K({1, 1, kLength, kDim}), V = K, dO = Q;
  Tensor<float> lse({1, kHeads, kLength}), delta = lse, dQ({1, kHeads, kLength, kDim}),
                                           dK({1, 1, kLength, kDim}), dV = dK;
  unsigned state = 1;
  for (Tensor<Half> *tensor : {&Q, &K, &V, &dO})
    for (Half &value : tensor->data)
      value = Half(float((state = state * 1664525u + 1013904223u) >> 16) / 32768.0f - 1.0f);
  Expected expected = compute(Q, K, V, dO, lse, delta);
  DLTensor views[] = {Q.view(),     K.view(),  V.view(),  dO.view(), lse.view(),
                      delta.view(), dQ.view(), dK.view(), dV.view()};
  tw_error error;
  if (flash_bwd(&views[0], &views[1], &views[2], &views[3], &views[4], &views[5], &views[6],
                &views[7], &views[8], nullptr, &error) != TW_OK) {
    std::fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  double worst = 0, largest = 0;
  auto compare = [&](double wanted, double got) {
    worst = std::max(worst, std::abs(wanted - got));
    largest = std::max(largest, std::abs(wanted));
  };
  for (int head = 0; head < kHeads; ++head)
    for (int l = 0; l < kLength; ++l)
      for (int d = 0; d < kDim; ++d)
        compare(expected.dQ[size_t((head * kLength + l) * kDim + d)],
                dQ.data[positionOfDq(head, l, d)]);
  for (size_t i = 0; i < expected.dK.size(); ++i) {
    compare(expected.dK[i], dK.data[i]);
    compare(expected.dV[i], dV.data[i]);
  }
  std::printf("largest error, relative to the largest value, below 0.002: %s\n",
              worst < 0.002 * largest ? "yes" : "no");
  return worst >= 0.002 * largest;
}
