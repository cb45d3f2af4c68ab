"""`T.Ramp` names several elements by one index; `T.atomic_addx2` gives what it found in them."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run


@ON_ALL
def test_a_ramp_gathers_and_scatters(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=32):
            tx = T.get_thread_binding()
            pair = T.Ramp(tx * 2, 1, 2)
            B[pair] = T.fma2(A[pair], A[pair], T.Broadcast(T.float32(1.0), 2))

    a = np.arange(64, dtype=np.float32)
    b = np.zeros(64, np.float32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, a * a + 1)


@ON_ALL
def test_negative_lanes_of_a_ramp_count_from_the_end(device: str) -> None:
    """TileLang's issue 2554: the sign of the lanes is known only at run time."""

    @T.prim_func
    def main(A: T.Tensor((16,), "float32"), B: T.Tensor((4, 4), "float32")):
        with T.Kernel(1, threads=1):
            for t in T.serial(4):
                B[t, T.Ramp(0, 1, 4)] = A[T.Ramp(t - 2, 1, 4)]

    a = np.arange(16, dtype=np.float32)
    b = np.zeros((4, 4), np.float32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, [[14, 15, 0, 1], [15, 0, 1, 2], [0, 1, 2, 3], [1, 2, 3, 4]])


@ON_ALL
def test_a_ramp_stores_one_scalar_in_all_lanes(device: str) -> None:
    @T.prim_func
    def main(B: T.Tensor((2, 12), "int32")):
        with T.Kernel(2, threads=1) as bx:
            B[bx, T.Ramp(bx, 3, 4)] = bx + 7

    b = np.zeros((2, 12), np.int32)
    run(main, device, b)
    np.testing.assert_array_equal(b, [[7, 0, 0] * 4, [0, 8, 0] * 4])


@ON_ALL
def test_adding_to_neighbours_gives_what_was_there(device: str) -> None:
    @T.prim_func
    def main(
        D: T.Tensor((8,), "float32"), V: T.Tensor((8,), "float32"), P: T.Tensor((8,), "float32")
    ):
        with T.Kernel(1, threads=1):
            P[0:2] = T.atomic_addx2(D[0:2], V[0:2], return_prev=True)
            P[2:4] = T.atomic_addx2(D[T.Ramp(2, 1, 2)], V[T.Ramp(2, 1, 2)], return_prev=True)
            P[4:8] = T.atomic_addx4(D[4], V[4], return_prev=True)

    d = np.arange(8, dtype=np.float32)
    v, p = np.full(8, 10, np.float32), np.zeros(8, np.float32)
    kernel = tilewright.compile(main, device=device)
    kernel(d, v, p)
    np.testing.assert_array_equal(p, np.arange(8))
    np.testing.assert_array_equal(d, np.arange(8) + 10)


def test_a_ramp_of_no_lanes_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match=r"'T.Ramp' has a number of lanes"):

        @T.prim_func
        def main(A: T.Tensor((16,), "float32")):
            with T.Kernel(1, threads=1):
                A[T.Ramp(0, 1, 0)] = 1.0


def test_values_and_ramps_of_different_lanes_are_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="2 lanes is stored by a 'T.Ramp' of 4"):

        @T.prim_func
        def main(A: T.Tensor((16,), "float32")):
            with T.Kernel(1, threads=1):
                A[T.Ramp(0, 1, 4)] = A[T.Ramp(4, 1, 2)]
