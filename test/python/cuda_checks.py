"""What must hold of kernels on a GPU. `test_cuda.py` runs each function in a process of its own, in
which a stand-in takes the place of NVIDIA's driver."""

from __future__ import annotations

import ctypes
import os
import sys
import types

import numpy as np
import tilewright
import tilewright.language as T

driver = ctypes.CDLL(os.environ.get("TILEWRIGHT_TEST_DRIVER"))


class GpuArray:
    """An array in memory of a GPU, as CuPy and Numba show theirs."""

    def __init__(self, values, skip=0, device=0, read_only=False, stream=None):
        context = ctypes.c_void_p()
        tilewright.device.gpus()  # starts the driver
        assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 100 + device) == 0
        assert driver.cuCtxPushCurrent_v2(context) == 0
        base = ctypes.c_ulonglong()
        assert driver.cuMemAlloc_v2(ctypes.byref(base), ctypes.c_size_t(values.nbytes + skip)) == 0
        self.address = base.value + skip
        self.values = values
        target = ctypes.c_ulonglong(self.address)
        source = ctypes.c_void_p(values.ctypes.data)
        assert driver.cuMemcpyHtoD_v2(target, source, ctypes.c_size_t(values.nbytes)) == 0
        driver.cuCtxPopCurrent_v2(ctypes.byref(context))
        self.__cuda_array_interface__ = dict(
            shape=values.shape,
            typestr=values.dtype.str,
            data=(self.address, read_only),
            version=3,
            stream=stream,
        )

    def get(self, waits=True):
        """The values; before anybody has waited, what memory holds."""
        found = np.empty_like(self.values)
        if not waits:
            ctypes.memmove(found.ctypes.data, self.address - (1 << 62), found.nbytes)
            return found
        target, source = ctypes.c_void_p(found.ctypes.data), ctypes.c_ulonglong(self.address)
        assert driver.cuMemcpyDtoH_v2(target, source, ctypes.c_size_t(found.nbytes)) == 0
        return found


def doubler(n=None, dtype="float32", **options):
    n = T.dynamic("n") if n is None else n

    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, 128), threads=32) as block:
            for i in T.Parallel(128):
                B[block * 128 + i] = A[block * 128 + i] * 2

    return tilewright.compile(main, **options)


def message_of(call):
    try:
        call()
    except tilewright.TilewrightError as error:
        return str(error)
    raise AssertionError("nothing was refused")


def a_gpu_runs_kernels_where_nothing_else_is_asked_for() -> None:
    """Arrays of the host are copied there and back; what is only read is not written."""
    kernel = doubler(300)
    assert kernel.placement.device == "cuda:0" and kernel.placement.arch == "sm_80"
    a, b = np.arange(300, dtype=np.float32), np.zeros(300, np.float32)
    a.setflags(write=False)
    kernel(a, b)
    np.testing.assert_array_equal(b, 2 * a)
    assert kernel.get_kernel_source() == kernel.ptx and ".target sm_80" in kernel.ptx
    assert any(r.kind == "access" and r.data["arch"] == "sm_80" for r in kernel.remarks)
    assert doubler(4, device="cpu").placement.device == "cpu"
    assert doubler(4, target="sm_80").placement.device == "cuda:0"
    assert doubler(4, target="sm_90").placement.device == "vgpu:sm_90"


def which_gpu_and_which_code() -> None:
    a, b = np.arange(300, dtype=np.float32), np.zeros(300, np.float32)
    for device, version in {"cuda": "sm_86", "cuda:1": "sm_90a", "cuda:2": "sm_120"}.items():
        kernel = doubler(300, device=device)
        assert f".target {version}" in kernel.ptx
        b[:] = 0
        kernel(a, b)
        np.testing.assert_array_equal(b, 2 * a)
    assert "is on cuda:1" in message_of(lambda: kernel(a, GpuArray(b, device=1)))
    assert "has 4 GPU" in message_of(lambda: doubler(4, device="cuda:4"))
    assert "compute capability 7.5" in message_of(lambda: doubler(4, device="cuda:3"))
    assert "has 4 GPU" in message_of(lambda: doubler(4, device="cuda:x"))


def blocks_start_in_clusters() -> None:
    """What the code requires, a plain launch does."""

    @T.prim_func
    def main(A: T.Tensor((8, 32), "float32")):
        with T.ClusterKernel(8, cluster_dims=4, threads=32) as block:
            for i in T.Parallel(32):
                A[block, i] = T.block_rank_in_cluster()

    kernel = tilewright.compile(main, device="cuda")
    a = np.full((8, 32), -1, np.float32)
    kernel(a)
    np.testing.assert_array_equal(a[:, 0], [0, 1, 2, 3, 0, 1, 2, 3])
    assert ".reqnctapercluster 4, 1, 1" in kernel.ptx


def launches_overlap_where_the_kernel_waits_itself() -> None:
    """T.pdl_sync in front of all that touches memory, and not elsewhere."""

    def make(early: bool):
        @T.prim_func
        def main(A: T.Tensor((256,), "float32"), B: T.Tensor((256,), "float32")):
            with T.Kernel(2, threads=128) as block:
                tile = T.alloc_shared((128,), "float32")
                if early:
                    T.copy(A[block * 128], tile)
                T.pdl_sync()
                if not early:
                    T.copy(A[block * 128], tile)
                T.pdl_trigger()
                for i in T.Parallel(128):
                    B[block * 128 + i] = 2 * tile[i]

        return tilewright.compile(main, device="cuda")

    for early, count in ((False, 2), (True, 0)):
        kernel = make(early)
        a, b, c = (GpuArray(np.full(256, x, np.float32), stream=7) for x in (3, 0, 0))
        before = driver.fakeCudaCountOverlapping()
        kernel(a, b)
        kernel(b, c)
        assert driver.fakeCudaCountOverlapping() - before == count
        assert (c.get() == 12).all()
        said = " ".join(str(remark) for remark in kernel.remarks)
        assert ("'A' before T.pdl_sync" in said) == early


def without_a_gpu_the_cpu_runs_the_kernel(reason: str) -> None:
    kernel = doubler(300)
    assert kernel.placement.device == "cpu"
    assert reason in message_of(lambda: doubler(4, device="cuda"))
    [remark] = [r for r in doubler(4, target="cuda").remarks if r.kind == "device"]
    assert reason in remark.message and "the CPU runs the kernel" in remark.message


def calls_like_the_one_before() -> None:
    """What was checked once is compared: addresses, streams and values are those of each call."""
    kernel = doubler(device="cuda")
    count = driver.fakeCudaCountPending
    count.argtypes, count.restype = [ctypes.c_void_p], ctypes.c_size_t
    for call, (stream, n) in enumerate([(None, 300), (None, 300), (7, 300), (8, 300), (7, 40)]):
        values = np.arange(n, dtype=np.float32) + call
        a, b = (GpuArray(each, stream=stream) for each in (values, np.zeros_like(values)))
        kernel(a, b)
        assert count(stream or 0) == 1
        np.testing.assert_array_equal(b.get(), 2 * values)
    ones = np.ones(300, np.float32)
    assert "is read-only" in message_of(lambda: kernel(a, GpuArray(ones, read_only=True)))
    halves = GpuArray(np.ones(300, np.float16))
    assert "float16" in message_of(lambda: kernel(halves, GpuArray(ones)))
    strided = GpuArray(np.ones(600, np.float32))
    strided.__cuda_array_interface__.update(shape=(300,), strides=(8,))
    assert "contiguous" in message_of(lambda: kernel(strided, GpuArray(ones)))


def tensors_of_torch_on_the_gpu() -> None:
    """torch without a GPU has no such tensors, so a class of the same name and methods stands for
    them. The kernel runs on torch's current stream."""
    streams = {0: 5}
    torch = types.ModuleType("torch")
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: streams[device])
    torch.cuda = types.SimpleNamespace(
        current_stream=lambda device: types.SimpleNamespace(cuda_stream=streams[device.index])
    )
    sys.modules["torch"] = torch

    class Tensor:
        is_cpu, is_cuda, is_nested = False, True, False
        layout, device = "torch.strided", types.SimpleNamespace(type="cuda", index=0)

        def __init__(self, values, step=1):
            self.memory, self.step = GpuArray(values), step
            self.dtype, self.shape, self.ndim = values.dtype, values.shape, values.ndim

        def data_ptr(self):
            return self.memory.address

        def stride(self):
            return (self.step,)

        def is_contiguous(self):
            return self.step == 1

        def is_neg(self):
            return False

        def get_device(self):
            return self.device.index

    Tensor.__module__ = "torch"
    kernel = doubler(300, device="cuda")
    count = driver.fakeCudaCountPending
    count.argtypes, count.restype = [ctypes.c_void_p], ctypes.c_size_t
    for call in range(4):
        streams[0] = 5 + call // 2
        a = Tensor(np.arange(300, dtype=np.float32) + call)
        b = Tensor(np.zeros(300, np.float32))
        kernel(a, b)
        assert count(streams[0]) == 1 and count(0) == 0
        np.testing.assert_array_equal(b.memory.get(), 2 * a.memory.values)
    assert "contiguous" in message_of(lambda: kernel(Tensor(a.memory.values, step=2), b))


def arrays_on_the_gpu_are_used_where_they_are() -> None:
    """The call does not wait: the kernel is behind other work of its stream."""
    kernel = doubler()
    a, b = (GpuArray(np.full(256, x, np.float32), stream=7) for x in (3, 0))
    kernel(a, b)
    assert (b.get(waits=False) == 0).all()
    tilewright.device.synchronize()
    assert (b.get(waits=False) == 6).all()
    host = np.zeros(256, np.float32)
    kernel(a, host)  # both kinds in one call
    assert (host == 6).all()
    narrow = GpuArray(np.zeros(256, np.float64))
    assert "expected dtype float32" in message_of(lambda: kernel(a, narrow))
    locked = GpuArray(np.zeros(256, np.float32), read_only=True)
    assert "read-only" in message_of(lambda: kernel(a, locked))
    assert "is on a GPU" in message_of(lambda: doubler(256, device="cpu")(a, host))


def code_fits_the_alignment_of_each_call() -> None:
    """16-byte accesses are for tensors that begin at multiples of 16 bytes."""
    kernel = doubler(256)
    values = np.arange(256, dtype=np.float32)
    for skip in (0, 4, 8, 16):
        a, b = GpuArray(values, skip=skip), GpuArray(np.zeros(256, np.float32))
        kernel(a, b)
        np.testing.assert_array_equal(b.get(), 2 * values)
    odd = GpuArray(values, skip=2)
    assert "not aligned to the 4 bytes" in message_of(lambda: kernel(odd, b))


def tensors_that_share_memory_share_it_on_the_gpu() -> None:
    """Each turn reads what the one before wrote, through another argument."""

    @T.prim_func
    def main(A: T.Tensor((64, 32), "float32"), B: T.Tensor((64, 32), "float32")):
        with T.Kernel(1, threads=64):
            tile = T.alloc_shared((16, 32), "float32")
            for k in T.Pipelined(4, num_stages=2):
                T.copy(A[k * 16, 0], tile)
                for i, j in T.Parallel(16, 32):
                    B[k * 16 + i, j] = tile[i, j] + 1

    memory = np.zeros((80, 32), np.float32)
    tilewright.compile(main)(memory[:64], memory[16:])
    np.testing.assert_array_equal(memory[64:], 4)


def numbers_workspaces_and_empty_launches() -> None:
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "int32"), x: T.float32, y: T.int64, B: T.Tensor((n,), "float32")):
        between = T.alloc_global((n,), "float32")
        with T.Kernel(T.ceildiv(n, 64), threads=64) as block:
            for i in T.Parallel(64):
                between[block * 64 + i] = A[block * 64 + i] * x
        with T.Kernel(T.ceildiv(n, 64), threads=64) as block:
            for i in T.Parallel(64):
                B[block * 64 + i] = between[block * 64 + i] + y // 2**38

    kernel = tilewright.compile(main)
    for size in (0, 1, 100, 256):
        a, b = np.arange(size, dtype=np.int32), np.zeros(size, np.float32)
        kernel(a, 0.5, -(2**40), b)
        np.testing.assert_array_equal(b, a * 0.5 - 4)


def a_product_with_much_shared_memory_and_its_profiler() -> None:
    @tilewright.jit(out_idx=[2])
    def matmul(size, block):
        @T.prim_func
        def main(
            A: T.Tensor((size, size), "float16"),
            B: T.Tensor((size, size), "float16"),
            C: T.Tensor((size, size), "float32"),
        ):
            with T.Kernel(size // block, size // block, threads=128) as (bx, by):
                a = T.alloc_shared((block, 64), "float16")
                b = T.alloc_shared((64, block), "float16")
                c = T.alloc_fragment((block, block), "float32")
                T.clear(c)
                for k in T.Pipelined(size // 64, num_stages=3):
                    T.copy(A[by * block, k * 64], a)
                    T.copy(B[k * 64, bx * block], b)
                    T.gemm(a, b, c)
                T.copy(c, C[by * block, bx * block])

        return main

    kernel = matmul(128, 128)
    assert kernel.summary()["kernels"][0]["gpu"]["shared_bytes"] > 48 * 1024
    profiler = kernel.get_profiler()
    profiler.assert_allclose(lambda a, b: a.astype(np.float32) @ b.astype(np.float32))
    assert profiler.do_bench(n_warmup=1, n_repeat=2) > 0


def printing_and_failing() -> None:
    @T.prim_func
    def main(A: T.Tensor((32,), "int32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                T.device_assert(A[i] != 7)
            T.print(A[3], msg="fourth")

    kernel = tilewright.compile(main)
    kernel(np.full(32, 5, np.int32))
    message = message_of(lambda: kernel(np.arange(32, dtype=np.int32)))
    assert "running a kernel: " in message and "CUDA_ERROR_ASSERT" in message


def errors_of_the_driver_are_told_in_its_words() -> None:
    @T.prim_func
    def main(A: T.Tensor((2**33,), "int8")):
        with T.Kernel(1, threads=32):
            A[0] = 1

    big = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), (2**33,), (1,), writeable=True)
    message = message_of(lambda: tilewright.compile(main)(big))
    assert "allocating memory of the GPU" in message and "OUT_OF_MEMORY" in message


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
