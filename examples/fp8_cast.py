"""Per-token cast to fp8: each row is scaled by its largest magnitude and rounded to 8 bits.

usage: python examples/fp8_cast.py, or tw run examples/fp8_cast.py --device vgpu:sm_90a
"""

import ml_dtypes
import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[1, 2])
def fp8_cast(tokens, hidden, group=64, block=16, dtype="float8_e4m3fn"):
    @T.prim_func
    def main(
        X: T.Tensor((tokens, hidden), "float32"),
        Y: T.Tensor((tokens, hidden), dtype),
        Scale: T.Tensor((tokens, T.ceildiv(hidden, group)), "float32"),
    ):
        with T.Kernel(T.ceildiv(tokens, block), T.ceildiv(hidden, group), threads=128) as (bx, by):
            x = T.alloc_fragment((block, group), "float32")
            y = T.alloc_fragment((block, group), dtype)
            scale = T.alloc_fragment((block,), "float32")
            T.copy(X[bx * block, by * group], x)
            T.reduce_absmax(x, scale, dim=1)
            for i in T.Parallel(block):
                scale[i] = T.max(scale[i], 1e-4) / 448.0
            for i, j in T.Parallel(block, group):
                y[i, j] = T.cast(x[i, j] / scale[i], dtype)
            for i in T.Parallel(block):
                if bx * block + i < tokens:
                    Scale[bx * block + i, by] = scale[i]
            T.copy(y, Y[bx * block, by * group])

    return main


def main():
    x = np.random.default_rng(0).standard_normal((50, 128)).astype(np.float32)
    y, scale = fp8_cast(*x.shape)(x)
    groups = x.reshape(50, 2, 64)
    expected = np.maximum(np.abs(groups).max(-1), np.float32(1e-4)) / np.float32(448)
    rounded = (groups / expected[..., None]).astype(ml_dtypes.float8_e4m3fn).reshape(x.shape)
    assert np.array_equal(scale, expected)
    assert (y.view(np.uint8) == rounded.view(np.uint8)).all()
    print("equal")


if __name__ == "__main__":
    main()
