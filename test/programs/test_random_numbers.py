"""Random numbers: the generator against its definition, the same on every engine."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run


def philox(seed: int, sequence: int, position: int) -> int:
    """Number `position` of a sequence, in Python integers."""
    word = 0xFFFFFFFF
    counter = [position // 4 & word, position // 4 >> 32, sequence & word, sequence >> 32]
    key = [seed & word, seed >> 32]
    for _ in range(10):
        first, second = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [
            (second >> 32) ^ counter[1] ^ key[0], second & word,
            (first >> 32) ^ counter[3] ^ key[1], first & word,
        ]  # fmt: skip
        key = [key[0] + 0x9E3779B9 & word, key[1] + 0xBB67AE85 & word]
    return counter[position % 4]


def test_reference_has_the_known_answers() -> None:
    """Of the authors of the generator: counter and key zero."""
    assert [philox(0, 0, n) for n in range(4)] == [
        0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8
    ]  # fmt: skip


@ON_ALL
def test_numbers_of_threads(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((2, 32, 6), "uint32")):
        with T.Kernel(2, threads=32) as bx:
            tx = T.get_thread_binding()
            T.rng_init(0x123456789ABC, off=3)
            for k in T.serial(6):
                A[bx, tx, k] = T.rng_rand()

    a = np.zeros((2, 32, 6), np.uint32)
    run(main, device, a)
    for block, thread, k in np.ndindex(a.shape):
        assert a[block, thread, k] == philox(0x123456789ABC, block * 32 + thread, 3 + k)


@ON_ALL
def test_numbers_of_iterations(device: str) -> None:
    """No two draws of any loop are the same numbers."""

    @T.prim_func
    def main(A: T.Tensor((3, 2, 64), "float32"), B: T.Tensor((2, 64), "float32")):
        with T.Kernel(2, threads=32) as bx:
            T.rng_init(42)
            for k in T.serial(3):
                for i in T.Parallel(64):
                    A[k, bx, i] = T.rng_rand_float()
            for i in T.Parallel(64):
                B[bx, i] = T.rng_rand_float(dist="normal")

    a, b = np.zeros((3, 2, 64), np.float32), np.zeros((2, 64), np.float32)
    run(main, device, a, b)
    for k, block, i in np.ndindex(a.shape):
        number = philox(42, block * 32 + ((i + 1) << 32), k)
        assert a[k, block, i] == np.float32(np.float32(number) * np.float32(2**-32)) + np.float32(
            2**-33
        )
    assert len(np.unique(a)) == a.size
    assert abs(b.mean()) < 0.4 and 0.7 < b.std() < 1.3


def test_draw_without_a_seed_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="'T.rng_rand' before 'T.rng_init"):

        @T.prim_func
        def main(A: T.Tensor((64,), "uint32")):
            with T.Kernel(1, threads=64):
                for i in T.Parallel(64):
                    A[i] = T.rng_rand()


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
def test_the_index_of_the_only_thread_is_a_number(device: str) -> None:
    """A generator that starts at it belongs to the block, and T.Parallel may draw from it."""

    @T.prim_func
    def main(A: T.Tensor((2, 8), "uint32")):
        with T.Kernel(2, threads=1) as bx:
            tx = T.get_thread_binding()
            T.rng_init(7, 0, bx * 8 + tx * 8)
            for j in T.Parallel(8):
                A[bx, j] = T.rng_rand()

    a = np.zeros((2, 8), np.uint32)
    tilewright.compile(main, device=device)(a)
    again = np.zeros((2, 8), np.uint32)
    tilewright.compile(main, device="interp")(again)
    np.testing.assert_array_equal(a, again)
    assert len(np.unique(a)) == 16
