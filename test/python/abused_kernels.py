"""Kernels that are plausible and mostly wrong: each family draws one mistake from a list.

`CASES` maps a name to a function that builds the kernel. Whether a case is legal is not said here:
the compiler must either compile it or refuse it in the user's terms (test_abuse.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tilewright.language as T

CASES: dict[str, Callable[[], Any]] = {}


def family(*variants: tuple) -> Callable:
    """Adds `build(*variant)` for each variant to the cases."""

    def register(build: Callable) -> Callable:
        for variant in variants:
            words = [str(part).replace(" ", "") for part in variant]
            CASES["-".join([build.__name__, *words])] = lambda variant=variant: build(*variant)
        return build

    return register


def each(values: Iterable) -> list[tuple]:
    """Variants of one parameter."""
    return [(value,) for value in values]


@family(*each([0, -1, 1, 7, 31, 33, 48, 96, 1000, 1024, 1025, 2**31, 1.5, (), (8, 0), (64, 32)]))
def threads(count: Any):
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=count):
            a = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            total = T.alloc_fragment((64,), "float32")
            T.copy(A, a)
            T.clear(c)
            T.gemm(a, a, c, transpose_B=True)
            T.reduce_sum(c, total, dim=1)
            for i, j in T.Parallel(64, 64):
                c[i, j] = c[i, j] - total[i]
            T.copy(c, C)

    return main


@family(*each([(0, 1), (-1,), (2**31,), (1, 1, 1, 1), (2**40, 2), (65536, 65536, 65536)]))
def grid(extents: tuple):
    @T.prim_func
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(*extents, threads=32):
            for i in T.Parallel(64):
                A[i] = A[i] + 1.0

    return main


@family(
    ((2**31,), "int8"), ((2**20, 2**20), "float16"), ((0, 4), "float32"), ((-3,), "float32"),
    ((), "float32"), ((163 * 1024 + 1,), "int8"), ((3, 5, 7, 11, 13), "bool"), ((64, 64), "float7"),
    ((1,), "float64"), ((227 * 1024,), "uint8"),
)  # fmt: skip
def shared_tile(shape: tuple, dtype: str):
    @T.prim_func
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            tile = T.alloc_shared(shape, dtype)
            T.fill(tile, 1)
            for i in T.Parallel(64):
                A[i] = 2.0

    return main


@family(((2**20,), "float32"), ((4096, 64), "float16"), ((1, 1), "int64"), ((2**31, 2), "int8"),
        ((17, 19), "bool"))  # fmt: skip
def fragment(shape: tuple, dtype: str):
    @T.prim_func
    def main(A: T.Tensor((64,), dtype)):
        with T.Kernel(1, threads=64):
            tile = T.alloc_fragment(shape, dtype)
            T.clear(tile)
            for i in T.Parallel(64):
                A[i] = A[i]

    return main


@family(
    (64, 64, 32, 32, 128), (64, 64, 32, 16, 128), (64, 64, 8, 8, 128), (16, 8, 16, 16, 1024),
    (1, 1, 1, 1, 32), (17, 23, 5, 5, 96), (64, 64, 32, 32, 33), (512, 512, 512, 512, 256),
)  # fmt: skip
def gemm_extents(m: int, n: int, k: int, k_of_b: int, count: int):
    @T.prim_func
    def main(C: T.Tensor((m, n), "float32")):
        with T.Kernel(1, threads=count):
            a = T.alloc_shared((m, k), "float16")
            b = T.alloc_shared((k_of_b, n), "float16")
            c = T.alloc_fragment((m, n), "float32")
            T.fill(a, 1)
            T.fill(b, 1)
            T.clear(c)
            T.gemm(a, b, c)
            T.copy(c, C)

    return main


@family(
    ("float16", "bfloat16", "float32"), ("int8", "int8", "float32"), ("float64",) * 3,
    ("bool", "bool", "int32"), ("float8_e4m3fn", "float8_e5m2", "float16"), ("int64",) * 3,
    ("float16", "float16", "int32"), ("uint8", "int8", "int32"), ("float32", "float32", "float16"),
    ("tfloat32", "tfloat32", "float64"),
)  # fmt: skip
def gemm_dtypes(of_a: str, of_b: str, of_c: str):
    @T.prim_func
    def main(C: T.Tensor((32, 32), of_c)):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((32, 32), of_a)
            b = T.alloc_shared((32, 32), of_b)
            c = T.alloc_fragment((32, 32), of_c)
            T.clear(a)
            T.clear(b)
            T.clear(c)
            T.gemm(a, b, c, policy=T.GemmWarpPolicy.FullCol)
            T.copy(c, C)

    return main


@family(*each(["rank", "slice", "global", "self", "transposed", "policy", "pack"]))
def gemm_operands(mistake: str):
    @T.prim_func
    def main(A: T.Tensor((32, 32), "float16"), C: T.Tensor((32, 32), "float32")):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((2, 32, 32), "float16")
            c = T.alloc_fragment((32, 32), "float32")
            T.clear(a)
            T.clear(c)
            if mistake == "rank":
                T.gemm(a, a, c)
            elif mistake == "slice":
                T.gemm(a[0, 0:16, :], a[1, :, :], c[0:16, :])
            elif mistake == "global":
                T.gemm(A, A, C)
            elif mistake == "self":
                T.gemm(a[0, :, :], a[0, :, :], a[0, :, :])
            elif mistake == "transposed":
                T.gemm(a[0, :, 0:16], a[0, :, 0:8], c, transpose_A=True)
            elif mistake == "policy":
                T.gemm(a[0, :, :], a[1, :, :], c, policy=7)
            else:
                T.gemm(a[0, :, :], a[1, :, :], c, k_pack=0)
            T.copy(c, C)

    return main


@family(*each([-1, 0, 1, 2, 7, 1000, 2**40, 1.5, "2"]))
def stages(count: Any):
    @T.prim_func
    def main(A: T.Tensor((64, 4096), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(64, num_stages=count):
                T.copy(A[0, k * 64], a)
                T.gemm(a, a, c, transpose_B=True)
            T.copy(c, C)

    return main


@family(([0, 1], [0, 0]), ([1, 0], [0, 1]), ([0, 0], [0, 0]), ([0], [0]), ([0, 1], [-1, 5]),
        ([0, 1], [9, 0]))  # fmt: skip
def schedule(order: list, stage: list):
    @T.prim_func
    def main(A: T.Tensor((1024,), "float32"), B: T.Tensor((1024,), "float32")):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((64,), "float32")
            for k in T.Pipelined(16, num_stages=2, order=order, stage=stage):
                T.copy(A[k * 64], a)
                T.copy(a, B[k * 64])

    return main


@family(((64, 64), (32, 64)), ((64,), (64, 1)), ((64, 64), (4096,)), ((2, 3, 4), (4, 3, 2)),
        ((64,), (65,)), ((1,), (1, 1, 1)))  # fmt: skip
def copy_extents(source: tuple, target: tuple):
    @T.prim_func
    def main(A: T.Tensor(source, "float32"), B: T.Tensor(target, "float16")):
        with T.Kernel(1, threads=64):
            tile = T.alloc_shared(source, "float32")
            T.copy(A, tile)
            T.copy(tile, B)

    return main


@family(*each(["wide", "beyond", "negative", "step", "empty", "reversed", "data", "overlap"]))
def regions(mistake: str):
    @T.prim_func
    def main(A: T.Tensor((64, 64), "int32"), B: T.Tensor((64, 64), "int32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((64, 64), "int32")
            f = T.alloc_fragment((64, 64), "int32")
            T.copy(A, s)
            T.copy(A, f)
            if mistake == "wide":
                T.copy(s[0:65, :], B)
            elif mistake == "beyond":
                T.copy(A[63, 63], s[62:64, 62:64])
            elif mistake == "negative":
                T.copy(s[-1, :], B[0, :])
            elif mistake == "step":
                T.copy(s[0:64:3, :], B[0:22, :])
            elif mistake == "empty":
                T.copy(s[5:5, :], B[0:0, :])
            elif mistake == "reversed":
                T.copy(s[9:5, :], B[0:4, :])
            elif mistake == "data":
                T.copy(s[A[0, 0], :], f[A[1, 1], :])
            else:
                T.copy(s[0:32, :], s[16:48, :])

    return main


@family(
    ("fragment", "float32", "add"), ("shared", "bool", "add"), ("shared", "int8", "xor"),
    ("global", "float8_e4m3fn", "max"), ("shared", "float64", "and"), ("view", "float16", "add"),
    ("narrow", "int8", "add"), ("wide", "int64", "max"), ("var", "int32", "add"),
)  # fmt: skip
def atomics(where: str, dtype: str, kind: str):
    @T.prim_func
    def main(A: T.Tensor((65,), dtype)):
        with T.Kernel(1, threads=64):
            update = getattr(T, f"atomic_{kind}")
            s = T.alloc_shared((65,), dtype)
            f = T.alloc_fragment((65,), dtype)
            n = T.alloc_var("int32", init=0)
            T.clear(s)
            for i in T.Parallel(65):
                if where == "fragment":
                    update(f[i], 1)
                elif where == "shared":
                    update(s[i], 1)
                elif where == "global":
                    update(A[i], 1)
                elif where == "view":
                    update(T.view(s, (5, 13), "bfloat16")[0, i % 13], 1)
                elif where == "narrow":
                    update(T.view(s, (13, 5), "uint8")[0, i % 5], 1)
                elif where == "wide":
                    update(T.view(s, (130,), "int32")[i], 1)
                else:
                    update(n, 1)
            T.copy(s, A)

    return main


@family(
    ((64, 32), 0, (32,)), ((64, 32), 2, (64,)), ((64, 32), -3, (64,)), ((64, 32), 1, (32,)),
    ((64, 32), 1, (64, 1)), ((64,), 0, (1,)), ((1, 1), 0, (1,)), ((7, 1000), 1, (7,)),
)  # fmt: skip
def reductions(shape: tuple, dim: int, result: tuple):
    @T.prim_func
    def main(A: T.Tensor(shape, "float32"), B: T.Tensor(result, "float32")):
        with T.Kernel(1, threads=96):
            f = T.alloc_fragment(shape, "float32")
            out = T.alloc_fragment(result, "float32")
            T.copy(A, f)
            T.reduce_max(f, out, dim=dim)
            T.cumsum(f, dim=dim)
            T.copy(out, B)

    return main


@family(*each(["gemm", "reduce", "copy", "cumsum", "alloc", "kernel", "print", "pipelined",
               "parallel", "atomic", "while", "annotate"]))  # fmt: skip
def inside_parallel(statement: str):
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((64, 64), "float32")
            f = T.alloc_fragment((64, 64), "float32")
            m = T.alloc_fragment((64,), "float32")
            T.copy(A, s)
            T.copy(A, f)
            for i in T.Parallel(64):
                if B[i] > 0.0:
                    if statement == "gemm":
                        T.gemm(s, s, f)
                    elif statement == "reduce":
                        T.reduce_sum(f, m, dim=1)
                    elif statement == "copy":
                        T.copy(s[i, :], A[i, :])
                    elif statement == "cumsum":
                        T.cumsum(s)
                    elif statement == "alloc":
                        t = T.alloc_shared((4,), "float32")
                        t[0] = 1.0
                    elif statement == "kernel":
                        with T.Kernel(1):
                            T.clear(s)
                    elif statement == "print":
                        T.print(s)
                    elif statement == "pipelined":
                        for k in T.Pipelined(4, num_stages=2):
                            T.copy(A[k, 0:64], s[k, :])
                    elif statement == "parallel":
                        for j in T.Parallel(64):
                            s[i, j] = B[j]
                    elif statement == "atomic":
                        T.atomic_add(A[i, 0:64], s[i, :])
                    elif statement == "while":
                        while B[i] > 0.0:
                            B[i] = B[i] - 1.0
                    else:
                        T.annotate_layout({s: T.Layout((64, 64), lambda i, j: [j, i])})

    return main


LAYOUTS: dict[str, Callable[[Any, Any, Any], dict]] = {
    "fragment-on-shared": lambda s, f, A: {s: T.Fragment((64, 64), lambda i, j: (i, j))},
    "layout-on-fragment": lambda s, f, A: {f: T.Layout((64, 64), lambda i, j: [j, i])},
    "collision": lambda s, f, A: {s: T.Layout((64, 64), lambda i, j: [i // 2, j])},
    "fragment-collision": lambda s, f, A: {f: T.Fragment((64, 64), lambda i, j: (i, j // 2))},
    "rank": lambda s, f, A: {s: T.Layout((64,), lambda i: [i])},
    "shape": lambda s, f, A: {f: T.Fragment((64, 32), lambda i, j: (i, j))},
    "threads": lambda s, f, A: {f: T.Fragment((64, 64), lambda i, j: (64 * i + j, 0))},
    "negative-thread": lambda s, f, A: {f: T.Fragment((64, 64), lambda i, j: (i - 5, j))},
    "negative-slot": lambda s, f, A: {f: T.Fragment((64, 64), lambda i, j: (i, j - 70))},
    "huge": lambda s, f, A: {s: T.Layout((64, 64), lambda i, j: [i * 2**30, j])},
    "overflow": lambda s, f, A: {s: T.Layout((64, 64), lambda i, j: [i * 2**62, j])},
    "holes": lambda s, f, A: {s: T.Layout((64, 64), lambda i, j: [i * 65 + j])},
    "far-slot": lambda s, f, A: {f: T.Fragment((64, 64), lambda i, j: (i, j * 2**20))},
    "replicas": lambda s, f, A: {f: T.Fragment((64, 64), lambda i, j, r: (i, j), replicate=2)},
    "not-an-accumulator": lambda s, f, A: {f: T.Fragment((64, 64), lambda i, j: (i, j))},
    "number": lambda s, f, A: {s: 5},
    "element": lambda s, f, A: {A: lambda i: [i]},
    "divides-by-zero": lambda s, f, A: {s: lambda i, j: [i // 0, j]},
}


@family(*each(LAYOUTS))
def layouts(kind: str):
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16")):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((64, 64), "float16")
            f = T.alloc_fragment((64, 64), "float32")
            T.annotate_layout(LAYOUTS[kind](s, f, A))
            T.copy(A, s)
            T.clear(f)
            T.gemm(s, s, f)
            T.copy(f, A)

    return main


@family(((64,), "float64"), ((32, 4), "int8"), ((128,), "float16"), ((0,), "int32"),
        ((7,), "uint16"))  # fmt: skip
def views(shape: tuple, dtype: str):
    @T.prim_func
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((64,), "float32")
            T.clear(s)
            T.fill(T.view(s, shape, dtype), 1)
            T.copy(s, A)

    return main


@family(*each(["index", "store", "rank", "var", "wide", "loop", "fragment-loop"]))
def indices(mistake: str):
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((64, 64), "float32")
            f = T.alloc_fragment((64,), "float32")
            n = T.alloc_var("int32", init=3)
            T.clear(s)
            T.clear(f)
            if mistake == "index":
                A[0, 0] = s[64, 0]
            elif mistake == "store":
                s[-1, -1] = A[0, 0]
            elif mistake == "rank":
                A[0] = s[0, 0]
            elif mistake == "var":
                f[n] = 1.0
            elif mistake == "wide":
                A[2**40, 2**62] = 1.0
            elif mistake == "loop":
                for i in T.serial(65):
                    A[0, 0] = s[i, 0]
            else:
                for i in T.serial(0, n):
                    f[i] = f[i] + 1.0

    return main


@family(*each([[65], [0, 64], [2**20, 2**20], [1] * 6, [-1], [2**31]]))
def parallel_extents(extents: list):
    @T.prim_func
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            if len(extents) == 1:
                for i in T.Parallel(*extents):
                    A[i] = 1.0
            elif len(extents) == 2:
                for i, j in T.Parallel(*extents):
                    A[i * 64 + j] = 1.0
            else:
                for i, j, k, m, n, o in T.Parallel(*extents):
                    A[i + j + k + m + n + o] = 1.0

    return main
