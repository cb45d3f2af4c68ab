// What CUDA's device runtime provides: printf, assert, malloc and free. nvcc turns them into calls
// of vprintf, __assertfail, malloc and free.
#include <cassert>
#include <cstdio>

/// One line a thread, with every width of argument.
extern "C" __global__ void print_values(int *done, long long big, double real) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  printf("%d: %5.2f|%-4u|%c %s %lld %x%%\n", i, real * i, 7u + i, 'a' + i, i ? "more" : "first",
         big, 255);
  done[i] = i + 1;
}

/// Element n - 1 of the array must be below the bound; the others are checked, too.
extern "C" __global__ void assert_below(const int *values, int bound, int *done) {
  assert(values[threadIdx.x] < bound);
  done[threadIdx.x] = 1;
}

/// A list of each thread on the heap, summed and given back.
extern "C" __global__ void heap_sums(int *sums, int length) {
  int *list = static_cast<int *>(malloc(length * sizeof(int)));
  for (int i = 0; i < length; ++i)
    list[i] = i * threadIdx.x;
  int sum = 0;
  for (int i = 0; i < length; ++i)
    sum += list[i];
  sums[threadIdx.x] = sum;
  free(list);
}
