"""Functions of CUDA by name, pointers, and barriers by number."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run


@ON_ALL
def test_conversion_toward_zero(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((256,), "float32"), B: T.Tensor((256,), "float16")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(256):
                B[i] = T.call_extern(T.float16, "__float2half_rz", A[i])

    a = (np.random.default_rng(1).standard_normal(256) * 1000).astype(np.float32)
    b = np.zeros(256, np.float16)
    run(main, device, a, b)
    nearest = a.astype(np.float16)
    beyond = np.abs(nearest.astype(np.float32)) > np.abs(a)
    expected = np.where(beyond, np.nextafter(nearest, np.float16(0)), nearest)
    np.testing.assert_array_equal(b, expected)


@ON_ALL
def test_lanes_with_the_same_value(device: str) -> None:
    @T.prim_func
    def main(
        A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "uint32"), C: T.Tensor((64,), "uint32")
    ):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            B[tx] = T.call_extern("uint32", "__match_any_sync", 0xFFFFFFFF, A[tx])
            C[tx] = T.match_all_sync(A[tx] // 8)

    a = np.random.default_rng(2).integers(0, 5, 64).astype(np.int32)
    a[40] = 9
    b, c = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    run(main, device, a, b, c)
    for thread in range(64):
        first = thread // 32 * 32
        same = [n for n in range(32) if a[first + n] == a[thread]]
        assert b[thread] == sum(1 << n for n in same)
    assert (c[:32] == 0xFFFFFFFF).all() and (c[32:] == 0).all()


@ON_ALL
def test_integer_functions(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "uint32"), B: T.Tensor((4, 64), "uint32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(64):
                B[0, i] = T.call_extern("uint32", "__brev", A[i])
                B[1, i] = T.call_extern("uint32", "__umulhi", A[i], 0x9E3779B9)
                B[2, i] = T.call_extern("uint32", "__popc", A[i])
                B[3, i] = T.call_extern("uint32", "__clz", A[i])

    a = np.random.default_rng(3).integers(0, 2**32, 64, np.uint32)
    b = np.zeros((4, 64), np.uint32)
    run(main, device, a, b)
    for n, x in enumerate(a.tolist()):
        assert b[:, n].tolist() == [
            int(f"{x:032b}"[::-1], 2), x * 0x9E3779B9 >> 32, x.bit_count(), 32 - x.bit_length()
        ]  # fmt: skip


def test_function_in_cuda_text_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="the function 'my_function' is not"):

        @T.prim_func
        def main(A: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=64):
                for i in T.Parallel(64):
                    A[i] = T.call_extern("float32", "my_function", A[i])


@ON_ALL
def test_copy_between_pointers_with_a_predicate(device: str) -> None:
    """Where the predicate does not hold, zeros are written."""

    @T.prim_func
    def main(A: T.Tensor((8, 20), "float16"), B: T.Tensor((8, 32), "float16")):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((8, 32), "float16")
            for i, j in T.Parallel(8, 8):
                T.ptx_cp_async(
                    T.tvm_access_ptr(T.type_annotation("float16"), s.data, i * 32 + j * 4, 4, 2),
                    T.tvm_access_ptr(T.type_annotation("float16"), A.data, i * 20 + j * 4, 4, 1),
                    4,
                    predicate=T.And(i < 7, j * 4 + 4 <= 20),
                )
            T.ptx_commit_group()
            T.ptx_wait_group(0)
            T.copy(s, B)

    a = np.random.default_rng(4).standard_normal((8, 20)).astype(np.float16)
    b = np.ones((8, 32), np.float16)
    run(main, device, a, b)
    expected = np.zeros((8, 32), np.float16)
    expected[:7, :20] = a[:7]
    np.testing.assert_array_equal(b, expected)


@ON_ALL
def test_barriers_by_number_order_roles(device: str) -> None:
    """The role that stands first in the text waits for the other one, twice a trip."""

    @T.prim_func
    def main(A: T.Tensor((4, 32), "int32"), B: T.Tensor((4, 32), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            s = T.alloc_shared((32,), "int32")
            if tx < 32:
                for k in T.serial(4):
                    T.sync_threads(1, 64)
                    B[k, tx] = s[31 - tx] + 1
                    T.named_barrier_arrive(2, 64)
            else:
                for k in T.serial(4):
                    s[tx - 32] = A[k, tx - 32]
                    T.named_barrier_arrive(1, 64)
                    T.sync_threads(2, 64)

    a = np.random.default_rng(5).integers(0, 99, (4, 32)).astype(np.int32)
    b = np.zeros((4, 32), np.int32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, a[:, ::-1] + 1)


@ON_ALL
def test_fragment_of_threads_alone(device: str) -> None:
    """Slots are inferred; a placement changes no value."""

    @T.prim_func
    def main(A: T.Tensor((32, 12), "float32"), B: T.Tensor((32, 12), "float32")):
        with T.Kernel(1, threads=64):
            f = T.alloc_fragment((32, 12), "float32")
            T.annotate_layout(
                {f: T.Fragment((32, 12), forward_thread_fn=lambda i, j: i * 2 + j % 2)}
            )
            T.copy(A, f)
            for i, j in T.Parallel(32, 12):
                f[i, j] = f[i, j] * 2.0
            T.copy(f, B)

    a = np.random.default_rng(6).standard_normal((32, 12)).astype(np.float32)
    b = np.zeros_like(a)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, a * 2)


def test_fragment_whose_slots_are_not_digits_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="cannot be inferred"):
        T.Fragment((8, 8), forward_thread_fn=lambda i, j: i + j)
