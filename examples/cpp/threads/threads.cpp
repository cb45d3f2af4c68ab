// Calls from several threads at once: each has tensors of its own, and a shape of its own.
#include "threads.h"
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
  std::atomic<int> wrong = 0;
  auto work = [&](int64_t rows) {
    std::vector<float> x(size_t(rows * 128), 0.5f), s(size_t(rows), 0);
    int64_t shape[] = {rows, 128};
    DLTensor X{x.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0}, S = X;
    S.data = s.data();
    S.ndim = 1;
    for (int call = 0; call < 100; ++call) {
      tw_error error;
      if (row_sums(&X, &S, nullptr, &error) != TW_OK)
        ++wrong;
      for (float sum : s)
        wrong += sum != 64;
    }
  };
  std::vector<std::thread> threads;
  for (int64_t rows : {1, 7, 20, 33})
    threads.emplace_back(work, rows);
  for (std::thread &thread : threads)
    thread.join();
  std::printf("wrong results: %d\n", wrong.load());
  return wrong != 0;
}
