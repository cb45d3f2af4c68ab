// Tile transposes through shared memory: padded, and with an xor swizzle instead of the padding.
extern "C" __global__ void transpose_padded(int rows, int cols, const float *__restrict__ in,
                                            float *__restrict__ out) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < cols && y + j < rows)
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < rows && y + j < cols)
      out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose_swizzled(int n, const unsigned short *in,
                                              unsigned short *out) {
  __shared__ unsigned short tile[32 * 32];
  int tx = threadIdx.x, ty = threadIdx.y;
  int base = blockIdx.y * 32 * n + blockIdx.x * 32;
  for (int j = ty; j < 32; j += blockDim.y)
    tile[j * 32 + (tx ^ j)] = in[base + j * n + tx];
  __syncthreads();
  int target = blockIdx.x * 32 * n + blockIdx.y * 32;
  for (int j = ty; j < 32; j += blockDim.y)
    out[target + j * n + tx] = tile[tx * 32 + (j ^ tx)];
}

// In place, one block a pair of tiles: reads both before it writes either.
extern "C" __global__ void transpose_in_place(int n, int *a) {
  __shared__ int upper[16][17], lower[16][17];
  if (blockIdx.x < blockIdx.y)
    return;
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int u = blockIdx.y * 16 + threadIdx.x, v = blockIdx.x * 16 + threadIdx.y;
  upper[threadIdx.y][threadIdx.x] = a[y * n + x];
  if (blockIdx.x != blockIdx.y)
    lower[threadIdx.y][threadIdx.x] = a[v * n + u];
  __syncthreads();
  a[v * n + u] = upper[threadIdx.x][threadIdx.y];
  if (blockIdx.x != blockIdx.y)
    a[y * n + x] = lower[threadIdx.x][threadIdx.y];
}
