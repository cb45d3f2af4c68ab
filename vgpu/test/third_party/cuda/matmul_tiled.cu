// f32 matrix products on FMA units: bounds-checked 16x16 tiles, and a register-blocked version with
// dynamic shared memory and two buffers.
extern "C" __global__ void matmul_tiled(int m, int n, int k, const float *a, const float *b,
                                        float *c) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float acc = 0;
  for (int k0 = 0; k0 < k; k0 += 16) {
    as[ty][tx] = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0.0f;
    bs[ty][tx] = col < n && k0 + ty < k ? b[(k0 + ty) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      acc += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  if (row < m && col < n)
    c[row * n + col] = acc;
}

// 64x64 tile, 16x16 threads, 4x4 results a thread, double-buffered: one barrier a step.
extern "C" __global__ void matmul_blocked(int n, int k, const float *__restrict__ a,
                                          const float *__restrict__ b, float *__restrict__ c) {
  extern __shared__ float4 dynamic[];
  float *smem = reinterpret_cast<float *>(dynamic);
  constexpr int kStep = 8, tile = 64, stage = 2 * kStep * tile;
  int t = threadIdx.y * 16 + threadIdx.x;
  int row0 = blockIdx.y * tile, col0 = blockIdx.x * tile;
  float acc[4][4] = {};
  auto load = [&](int k0, float *s) {
    for (int e = t; e < kStep * tile; e += 256) {
      s[(e % kStep) * tile + e / kStep] = a[(row0 + e / kStep) * k + k0 + e % kStep];
      s[kStep * tile + e] = b[(k0 + e / tile) * n + col0 + e % tile];
    }
  };
  load(0, smem);
  for (int k0 = 0, buf = 0; k0 < k; k0 += kStep, buf ^= 1) {
    __syncthreads();
    if (k0 + kStep < k)
      load(k0 + kStep, smem + (buf ^ 1) * stage);
    const float *as = smem + buf * stage, *bs = as + kStep * tile;
    for (int i = 0; i < kStep; ++i) {
      float4 av = *reinterpret_cast<const float4 *>(as + i * tile + threadIdx.y * 4);
      float4 bv = *reinterpret_cast<const float4 *>(bs + i * tile + threadIdx.x * 4);
      float x[4] = {av.x, av.y, av.z, av.w}, y[4] = {bv.x, bv.y, bv.z, bv.w};
      for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 4; ++s)
          acc[r][s] += x[r] * y[s];
    }
  }
  for (int r = 0; r < 4; ++r) {
    float4 v = make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
    *reinterpret_cast<float4 *>(c + (row0 + threadIdx.y * 4 + r) * n + col0 + threadIdx.x * 4) = v;
  }
}
