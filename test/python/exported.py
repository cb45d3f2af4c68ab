"""Kernels that tests export, and exported libraries as ctypes sees them: what a C program does."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np
import tilewright
import tilewright.language as T


@tilewright.jit
def gemm(dtype="float16", block=32):
    """C = A @ B + bias, for shapes that a call gives."""
    M, N, K = T.dynamic("M, N, K")

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        C: T.Tensor((M, N), "float32"),
        bias: T.float32,
    ):
        with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
            a = T.alloc_shared((block, block), dtype)
            b = T.alloc_shared((block, block), dtype)
            c = T.alloc_fragment((block, block), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, block), num_stages=2):
                T.copy(A[by * block, k * block], a)
                T.copy(B[k * block, bx * block], b)
                T.gemm(a, b, c)
            for i, j in T.Parallel(block, block):
                c[i, j] = c[i, j] + bias
            T.copy(c, C[by * block, bx * block])

    return main


@tilewright.jit
def softmax(rows, columns, block=4):
    @T.prim_func
    def softmax(X: T.Tensor((rows, columns), "float32"), Y: T.Tensor((rows, columns), "float32")):
        with T.Kernel(T.ceildiv(rows, block), threads=128) as bx:
            x = T.alloc_fragment((block, columns), "float32")
            largest = T.alloc_fragment((block,), "float32")
            total = T.alloc_fragment((block,), "float32")
            T.copy(X[bx * block, 0], x)
            T.reduce_max(x, largest, dim=1)
            for i, j in T.Parallel(block, columns):
                x[i, j] = T.exp(x[i, j] - largest[i])
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(block, columns):
                x[i, j] = x[i, j] / total[i]
            T.copy(x, Y[bx * block, 0])

    return softmax


@tilewright.jit
def shift(n=64):
    """B[i] = A[i] + 1, or a failed assertion for the number 13."""

    @T.prim_func
    def shift(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), number: T.int32):
        with T.Kernel(1, threads=64):
            T.device_assert(number != 13, "thirteen")
            for i in T.Parallel(n):
                B[i] = A[i] + 1.0

    return shift


@tilewright.jit
def chain():
    """B = A * x + y // 2**38, through a workspace: two launches, and numbers of several types."""
    n = T.dynamic("n")

    @T.prim_func
    def chain(
        A: T.Tensor((n,), "int32"),
        x: T.float16,
        y: T.int64,
        up: T.bool,
        B: T.Tensor((n,), "float32"),
    ):
        between = T.alloc_global((n,), "float32")
        with T.Kernel(T.ceildiv(n, 64), threads=64) as block:
            for i in T.Parallel(64):
                between[block * 64 + i] = A[block * 64 + i] * T.cast(x, "float32")
        with T.Kernel(T.ceildiv(n, 64), threads=64) as block:
            for i in T.Parallel(64):
                B[block * 64 + i] = between[block * 64 + i] + y // 2**38 + T.if_then_else(up, 1, 0)

    return chain


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Error(ctypes.Structure):
    """tw_error."""

    _fields_ = [
        ("code", ctypes.c_int32),
        ("line", ctypes.c_int32),
        ("file", ctypes.c_char * 256),
        ("message", ctypes.c_char * 1024),
    ]


class Library(ctypes.Structure):
    """tw_library."""

    _fields_ = [
        ("abi", ctypes.c_uint32),
        ("num_entries", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("image", ctypes.c_void_p),
        ("image_bytes", ctypes.c_uint64),
        ("entries", ctypes.c_void_p),
        ("state", ctypes.c_void_p),
    ]


CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
#: Those of dtypes that numpy does not know (ml_dtypes).
NARROW_CODES = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}


def integers(values) -> Any:
    return (ctypes.c_int64 * len(values))(*values)


def code_of(dtype: np.dtype) -> int:
    """DLPack's number of a dtype's kind."""
    narrow = NARROW_CODES.get(dtype.name)
    return CODES[dtype.kind] if narrow is None else narrow


def tensor(
    array: np.ndarray, address: int | None = None, device: tuple[int, int] = (1, 0)
) -> Tensor:
    """An array as DLPack describes it, or memory of a GPU at an address."""
    strides = [stride // array.itemsize for stride in array.strides]
    made = Tensor(
        array.ctypes.data if address is None else address,
        Device(*device),
        array.ndim,
        DType(code_of(array.dtype), array.itemsize * 8, 1),
        integers(array.shape),
        integers(strides),
        0,
    )
    made.array = array  # keeps the memory
    return made


def runtime() -> ctypes.CDLL:
    from tilewright.runtime.export import runtime_folder

    return ctypes.CDLL(str(runtime_folder() / "lib" / "libtilewright_rt.so.0"))


class Exported:
    """A shared library that was exported."""

    def __init__(self, path: Path) -> None:
        self.handle = ctypes.CDLL(str(path))

    def call(self, name: str, *arguments: Any, stream: int | None = None) -> tuple[int, str]:
        """The code and the message of a call. Arrays become tensors, None a null pointer."""
        error = Error(line=-1)  # as a call before may have left it
        given = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                argument = tensor(argument)
            given.append(ctypes.byref(argument) if isinstance(argument, Tensor) else argument)
        function = getattr(self.handle, name)
        function.restype = ctypes.c_int32
        code = function(*given, ctypes.c_void_p(stream), ctypes.byref(error))
        assert code == error.code
        assert code or not error.line
        return code, error.message.decode()

    def library(self, name: str) -> Library:
        return Library.in_dll(self.handle, f"{name}_library")


class OnGpu:
    """An array in the memory of a GPU, whose driver TILEWRIGHT_LIBCUDA names; the array starts
    `skip` bytes after an aligned address."""

    def __init__(self, array: np.ndarray, skip: int = 0) -> None:
        driver = self.driver()
        driver.cuInit(0)
        context, base = ctypes.c_void_p(), ctypes.c_ulonglong()
        assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 100) == 0
        assert driver.cuCtxPushCurrent_v2(context) == 0
        size = ctypes.c_size_t(max(1, array.nbytes) + skip)
        assert driver.cuMemAlloc_v2(ctypes.byref(base), size) == 0
        self.array, self.base, self.address = array, base, base.value + skip
        source = ctypes.c_void_p(array.ctypes.data)
        copy = driver.cuMemcpyHtoD_v2
        assert copy(ctypes.c_ulonglong(self.address), source, ctypes.c_size_t(array.nbytes)) == 0
        self.tensor = tensor(array, self.address, (2, 0))

    @staticmethod
    def driver() -> ctypes.CDLL:
        return ctypes.CDLL(os.environ["TILEWRIGHT_LIBCUDA"])

    def get(self) -> np.ndarray:
        found = np.empty_like(self.array)
        target = ctypes.c_void_p(found.ctypes.data)
        copy = self.driver().cuMemcpyDtoH_v2
        assert copy(target, ctypes.c_ulonglong(self.address), ctypes.c_size_t(found.nbytes)) == 0
        return found

    def free(self) -> None:
        assert self.driver().cuMemFree_v2(self.base) == 0
