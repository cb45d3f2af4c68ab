// Four kernels in C++ (tilewright/builder.h), the twins of examples/matmul.py, examples/softmax.py and
// examples/seed.
#include <cmath>
#include <tilewright/builder.h>

namespace kernels {

using namespace tw::lang;
using tw::DType;

inline tw::Result<tw::Program> matmul(Value M, Value N, Value K, int64_t blockM, int64_t blockN,
                                      int64_t blockK, int64_t stages) {
  return build("main", [&] {
    Buffer A = tensor("A", {M, K}, DType::Float16), B = tensor("B", {K, N}, DType::Float16),
           C = tensor("C", {M, N}, DType::Float16);
    kernel({ceildiv(N, blockN), ceildiv(M, blockM)}, 128, [&](Value bx, Value by) {
      Buffer a = alloc_shared({blockM, blockK}, DType::Float16, "A_shared");
      Buffer b = alloc_shared({blockK, blockN}, DType::Float16, "B_shared");
      Buffer c = alloc_fragment({blockM, blockN}, DType::Float32, "C_local");
      clear(c);
      pipelined(ceildiv(K, blockK), {.num_stages = stages}, [&](Value k) {
        copy(A(by * blockM, k * blockK), a);
        copy(B(k * blockK, bx * blockN), b);
        gemm(a, b, c);
      });
      copy(c, C(by * blockM, bx * blockN));
    });
  });
}

inline tw::Result<tw::Program> softmax(int64_t rows, int64_t columns, int64_t block) {
  return build("main", [&] {
    DType dtype = DType::Float32;
    Buffer X = tensor("X", {rows, columns}, dtype), Y = tensor("Y", {rows, columns}, dtype);
    kernel({ceildiv(rows, block)}, 128, [&](Value bx) {
      Buffer x = alloc_fragment({block, columns}, dtype, "x");
      Buffer largest = alloc_fragment({block}, dtype, "largest");
      Buffer total = alloc_fragment({block}, dtype, "total");
      copy(X(bx * block, 0), x);
      reduce_max(x, largest, {.dim = 1});
      parallel({block, columns}, [&](Value i, Value j) { x(i, j) = exp(x(i, j) - largest(i)); });
      reduce_sum(x, total, {.dim = 1});
      parallel({block, columns}, [&](Value i, Value j) { x(i, j) = x(i, j) / total(i); });
      copy(x, Y(bx * block, 0));
    });
  });
}

inline tw::Result<tw::Program> attention_forward(int64_t batch, int64_t heads, int64_t length,
                                                 int64_t dim, int64_t groups, int64_t block) {
  DType dtype = DType::Float16, wide = DType::Float32;
  double scale = std::pow(1.0 / double(dim), 0.5) * 1.44269504; // log2(e)
  auto body = [&] {
    Shape rows = {batch, heads, length, dim}, shared = {batch, heads / groups, length, dim};
    Buffer Q = tensor("Q", rows, dtype), K = tensor("K", shared, dtype),
           V = tensor("V", shared, dtype), Out = tensor("Out", rows, dtype),
           lse = tensor("lse", {batch, heads, length}, wide);
    kernel({ceildiv(length, block), heads, batch}, 128, [&](Value bx, Value by, Value bz) {
      Buffer q = alloc_shared({block, dim}, dtype, "q"), k = alloc_shared({block, dim}, dtype, "k"),
             v = alloc_shared({block, dim}, dtype, "v");
      Buffer scores = alloc_fragment({block, block}, wide, "scores");
      Buffer weights = alloc_fragment({block, block}, dtype, "weights");
      Buffer out = alloc_fragment({block, dim}, wide, "out");
      auto column = [&](const char *name) { return alloc_fragment({block}, wide, name); };
      Buffer largest = column("largest"), before = column("before"), shrink = column("shrink"),
             sum = column("row_sum"), total = column("total");

      copy(Q(bz, by, range(bx * block, (bx + 1) * block), all), q);
      clear(out);
      clear(total);
      fill(largest, -infinity(wide));
      pipelined(bx + 1, {.num_stages = 1}, [&](Value step) {
        copy(K(bz, floordiv(by, groups), range(step * block, (step + 1) * block), all), k);
        clear(scores);
        gemm(q, k, scores, {.transpose_b = true});
        parallel({block, block}, [&](Value i, Value j) {
          scores(i, j) = if_then_else(bx * block + i >= step * block + j, scores(i, j) * scale,
                                      -infinity(wide));
        });
        copy(largest, before);
        reduce_max(scores, largest, {.dim = 1, .clear = false});
        parallel({block}, [&](Value i) { shrink(i) = exp2(before(i) - largest(i)); });
        parallel({block, block},
                 [&](Value i, Value j) { scores(i, j) = exp2(scores(i, j) - largest(i)); });
        reduce_sum(scores, sum, {.dim = 1});
        parallel({block}, [&](Value i) { total(i) = total(i) * shrink(i) + sum(i); });
        parallel({block, dim}, [&](Value i, Value j) { out(i, j) = out(i, j) * shrink(i); });
        copy(scores, weights);
        copy(V(bz, floordiv(by, groups), range(step * block, (step + 1) * block), all), v);
        gemm(weights, v, out);
      });
      parallel({block, dim}, [&](Value i, Value j) { out(i, j) = out(i, j) / total(i); });
      copy(out, Out(bz, by, range(bx * block, (bx + 1) * block), all));
      parallel({block}, [&](Value i) { total(i) = log2(total(i)) + largest(i); });
      copy(total, lse(bz, by, range(bx * block, (bx + 1) * block)));
    });
  };
  return build("forward", body, {.fast_math = true});
}

/// The layout of dQ: neighbours of an 8 x 8 fragment lie together.
inline Layout reordered(const Buffer &tensor) {
  return layout(tensor.shape(), [](Value b, Value h, Value l, Value d) {
    return std::vector<Value>{
        b, h, floordiv(l, 8), floordiv(d, 8), d % 2, 4 * (l % 8) + floordiv(d % 8, 2)};
  });
}

inline tw::Result<tw::Program> attention_backward(int64_t batch, int64_t heads, int64_t length,
                                                  int64_t dim, int64_t groups) {
  DType dtype = DType::Float16, wide = DType::Float32;
  int64_t M = 64, N = 32;
  double factor = std::pow(1.0 / double(dim), 0.5), scale = factor * 1.44269504;
  auto body = [&] {
    Shape rows = {batch, heads, length, dim}, shared = {batch, heads / groups, length, dim},
          line = {batch, heads, length};
    Buffer Q = tensor("Q", rows, dtype), K = tensor("K", shared, dtype),
           V = tensor("V", shared, dtype), dO = tensor("dO", rows, dtype),
           lse = tensor("lse", line, wide), Delta = tensor("Delta", line, wide),
           dQ = tensor("dQ", rows, wide), dK = tensor("dK", shared, wide),
           dV = tensor("dV", shared, wide);
    kernel({heads, ceildiv(length, M), batch}, 128, [&](Value bx, Value by, Value bz) {
      Buffer K_shared = alloc_shared({M, dim}, dtype, "K_shared");
      Buffer dsT_shared = alloc_shared({M, N}, dtype, "dsT_shared");
      Buffer q = alloc_shared({N, dim}, dtype, "q");
      Buffer V_shared = alloc_shared({M, dim}, dtype, "V_shared");
      Buffer qkT = alloc_fragment({M, N}, wide, "qkT"), dsT = alloc_fragment({M, N}, wide, "dsT");
      Buffer qkT_cast = alloc_fragment({M, N}, dtype, "qkT_cast");
      Buffer dsT_cast = alloc_fragment({M, N}, dtype, "dsT_cast");
      Buffer lse_shared = alloc_shared({N}, wide, "lse_shared");
      Buffer delta = alloc_shared({N}, wide, "delta");
      Buffer grad = alloc_shared({N, dim}, dtype, "do");
      Buffer dv = alloc_fragment({M, dim}, wide, "dv"), dk = alloc_fragment({M, dim}, wide, "dk"),
             dq = alloc_fragment({N, dim}, wide, "dq");
      Buffer dv_shared = alloc_shared({M, dim}, wide, "dv_shared");
      Buffer dk_shared = alloc_shared({M, dim}, wide, "dk_shared");
      annotate_layout(dQ, reordered(dQ));
      for (const Buffer &tile : {K_shared, dv_shared, dk_shared})
        annotate_layout(tile, swizzled_layout(tile));
      copy(K(bz, floordiv(bx, groups), range(by * M, (by + 1) * M), all), K_shared);
      copy(V(bz, floordiv(bx, groups), range(by * M, (by + 1) * M), all), V_shared);
      clear(dv);
      clear(dk);
      GemmOptions rowwise = {.policy = GemmPolicy::FullRow};
      GemmOptions transposed = {.transpose_b = true, .policy = GemmPolicy::FullRow};
      pipelined(floordiv(by * M, N), ceildiv(length, N), {.num_stages = 1}, [&](Value k) {
        copy(Q(bz, bx, range(k * N, (k + 1) * N), all), q);
        clear(qkT);
        gemm(K_shared, q, qkT, transposed);
        copy(lse(bz, bx, range(k * N, (k + 1) * N)), lse_shared);
        parallel({M, N},
                 [&](Value i, Value j) { qkT(i, j) = exp2(qkT(i, j) * scale - lse_shared(j)); });
        parallel({M, N}, [&](Value i, Value j) {
          qkT(i, j) = if_then_else(by * M + i <= k * N + j, qkT(i, j), 0);
        });
        copy(dO(bz, bx, range(k * N, (k + 1) * N), all), grad);
        clear(dsT);
        gemm(V_shared, grad, dsT, transposed);
        copy(qkT, qkT_cast);
        gemm(qkT_cast, grad, dv, rowwise);
        copy(Delta(bz, bx, range(k * N, (k + 1) * N)), delta);
        parallel({M, N}, [&](Value i, Value j) {
          dsT_cast(i, j) = qkT(i, j) * (dsT(i, j) - delta(j)) * factor;
        });
        gemm(dsT_cast, q, dk, rowwise);
        copy(dsT_cast, dsT_shared);
        clear(dq);
        gemm(dsT_shared, K_shared, dq, {.transpose_a = true});
        atomic_add(dQ(bz, bx, range(k * N, (k + 1) * N), all), dq);
      });
      copy(dv, dv_shared);
      atomic_add(dV(bz, floordiv(bx, groups), range(by * M, (by + 1) * M), all), dv_shared);
      copy(dk, dk_shared);
      atomic_add(dK(bz, floordiv(bx, groups), range(by * M, (by + 1) * M), all), dk_shared);
    });
  };
  return build("flash_bwd", body, {.fast_math = true});
}

} // namespace kernels
