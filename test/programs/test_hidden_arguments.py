"""A scalar may take the name of a tensor argument, up to the end of the loop, as in TileLang."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run


@ON_ALL
def test_an_argument_is_a_tensor_again_in_the_next_iteration(device: str) -> None:
    @T.prim_func
    def main(
        x: T.Tensor((4, 32), "float32"),
        scale: T.Tensor((4,), "float32"),
        inverse: T.Tensor((4, 32), "float32"),
    ):
        with T.Kernel(1, threads=32):
            tile = T.alloc_fragment((32,), "float32")
            for k in T.serial(4):
                for i in T.Parallel(32):
                    tile[i] = x[k, i] * scale[k]
                for i in T.Parallel(32):
                    if i < 24:
                        scale, offset = tile[i] + 1.0, tile[i]
                        inverse[k, i] = scale * 2.0 + offset
                for i in T.Parallel(32):
                    if i >= 24:
                        inverse[k, i] = scale[k]

    x = np.random.default_rng(1).integers(0, 9, (4, 32)).astype(np.float32)
    scale = np.array([1, 2, 4, 8], np.float32)
    result = np.zeros_like(x)
    run(main, device, x, scale, result)
    tile = x * scale[:, None]
    expected = np.where(np.arange(32) < 24, (tile + 1) * 2 + tile, scale[:, None])
    np.testing.assert_array_equal(result, expected)


def test_a_hidden_argument_has_no_value_after_its_branch() -> None:
    with pytest.raises(
        tilewright.TilewrightError, match="'x' is a run-time value .* after one branch"
    ):

        @T.prim_func
        def main(x: T.Tensor((8,), "float32"), n: T.int32):
            with T.Kernel(1, threads=32):
                if n > 3:
                    x = T.float32(n)
                    T.device_assert(x > 0.0)
                x[0] = 1.0


def test_what_is_not_read_again_is_a_store_without_an_index() -> None:
    with pytest.raises(tilewright.TilewrightError, match="'x' is an argument .* store into it"):

        @T.prim_func
        def main(x: T.Tensor((8,), "float32"), n: T.int32):
            with T.Kernel(1, threads=32):
                x = x[0] + n


def test_a_tile_does_not_hide_an_argument() -> None:
    with pytest.raises(tilewright.TilewrightError, match="'y' is an argument .* store into it"):

        @T.prim_func
        def main(x: T.Tensor((8,), "float32"), y: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=32):
                tile = T.alloc_fragment((8,), "float32")
                T.copy(x, tile)
                y = tile
                y[0] = 1.0
