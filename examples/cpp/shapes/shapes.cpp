// One function for several shapes: a call runs the code of the first that fits.
#include "shapes.h"
#include <cstdio>
#include <numeric>
#include <vector>

static int transposeOf(int64_t rows, int64_t columns, tw_error &error) {
  std::vector<int32_t> a(size_t(rows * columns)), b(a.size());
  std::iota(a.begin(), a.end(), 0);
  int64_t shapeA[] = {rows, columns}, shapeB[] = {columns, rows};
  DLTensor A{a.data(), {kDLCPU, 0}, 2, {kDLInt, 32, 1}, shapeA, nullptr, 0}, B = A;
  B.data = b.data();
  B.shape = shapeB;
  if (int code = transpose(&A, &B, nullptr, &error))
    return code;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (b[size_t(j * rows + i)] != a[size_t(i * columns + j)])
        return -1;
  return TW_OK;
}

int main() {
  tw_error error;
  std::printf("%s has '%s'\n", shapes_library.name, tw_name(&shapes_library, 0));
  bool areGood = true;
  for (auto [rows, columns] : {std::pair(16, 16), {32, 48}, {7, 100}})
    areGood &= transposeOf(rows, columns, error) == TW_OK;
  std::printf("transposed: %s\n", areGood ? "yes" : "no");
  int code = transposeOf(5, 5, error);
  std::printf("code %d: %.60s...\n", code, error.message);
  return !(areGood && code == TW_BAD_ARGUMENT);
}
