/* C = 2 A B for shapes that the library was not compiled for, and a call that is refused. */
#include "gemm.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { M = 50, N = 70, K = 90 };
static float a[M * K], b[K * N], c[M * N];

static DLTensor matrix(float *data, int64_t *shape) {
  DLTensor tensor = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  return tensor;
}

int main(void) {
  int64_t shapeA[] = {M, K}, shapeB[] = {K, N}, shapeC[] = {M, N};
  DLTensor A = matrix(a, shapeA), B = matrix(b, shapeB), C = matrix(c, shapeC);
  tw_error error;
  double worst = 0;
  int i, j, k;
  for (i = 0; i < M * K; ++i)
    a[i] = (float)(i * 7 % 5 - 2);
  for (i = 0; i < K * N; ++i)
    b[i] = (float)(i * 3 % 7 - 3);
  if (gemm(&A, &B, &C, 2.0f, NULL, &error) != TW_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (i = 0; i < M; ++i)
    for (j = 0; j < N; ++j) {
      double sum = 0;
      for (k = 0; k < K; ++k)
        sum += a[i * K + k] * b[k * N + j];
      worst = fmax(worst, fabs(2 * sum - c[i * N + j]));
    }
  printf("largest error: %g\n", worst);
  shapeB[0] = K - 1; /* does not fit A */
  if (gemm(&A, &B, &C, 2.0f, NULL, &error) == TW_BAD_ARGUMENT)
    printf("refused: %s\n", error.message);
  return worst > 0 || strlen(error.message) == 0;
}
