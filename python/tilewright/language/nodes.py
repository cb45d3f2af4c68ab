"""Names that TVM gives to operators (`T.FloorMod(a, b)`), and small names of TileLang."""

from __future__ import annotations

from typing import Any

from tilewright.frontend import trace
from tilewright.language import scalars
from tilewright.language.barriers import Barriers, alloc_barrier, sync_threads
from tilewright.support.errors import LanguageError


def Add(a: Any, b: Any) -> Any:
    """a + b.

    Example:
        C[i, j] = T.Add(A[i, j], B[i, j])
    """
    return a + b


def Sub(a: Any, b: Any) -> Any:
    """a - b.

    Example:
        C[i, j] = T.Sub(A[i, j], B[i, j])
    """
    return a - b


def Mul(a: Any, b: Any) -> Any:
    """a * b.

    Example:
        C[i, j] = T.Mul(A[i, j], B[i, j])
    """
    return a * b


def Div(a: Any, b: Any) -> Any:
    """`T.truncdiv`.

    Example:
        M[i, j] = T.Div(N[i, j], 7)
    """
    return scalars.truncdiv(a, b)


def Mod(a: Any, b: Any) -> Any:
    """`T.truncmod`.

    Example:
        M[i, j] = T.Mod(N[i, j], 7)
    """
    return scalars.truncmod(a, b)


def FloorDiv(a: Any, b: Any) -> Any:
    """a // b.

    Example:
        M[i, j] = T.FloorDiv(N[i, j], 7)
    """
    return scalars.floordiv(a, b)


def FloorMod(a: Any, b: Any) -> Any:
    """a % b.

    Example:
        M[i, j] = T.FloorMod(N[i, j], 7)
    """
    return scalars.floormod(a, b)


def Min(a: Any, b: Any) -> Any:
    """`T.min`.

    Example:
        C[i, j] = T.Min(A[i, j], B[i, j])
    """
    return scalars.min(a, b)


def Max(a: Any, b: Any) -> Any:
    """`T.max`.

    Example:
        C[i, j] = T.Max(A[i, j], B[i, j])
    """
    return scalars.max(a, b)


def EQ(a: Any, b: Any) -> Any:
    """a == b.

    Example:
        B[i, j] = T.if_then_else(T.EQ(A[i, j], 0.0), 1.0, 0.0)
    """
    return a == b


def NE(a: Any, b: Any) -> Any:
    """a != b.

    Example:
        B[i, j] = T.if_then_else(T.NE(A[i, j], 0.0), 1.0, 0.0)
    """
    return a != b


def LT(a: Any, b: Any) -> Any:
    """a < b.

    Example:
        B[i, j] = T.if_then_else(T.LT(A[i, j], 0.0), 1.0, 0.0)
    """
    return a < b


def LE(a: Any, b: Any) -> Any:
    """a <= b.

    Example:
        B[i, j] = T.if_then_else(T.LE(A[i, j], 0.0), 1.0, 0.0)
    """
    return a <= b


def GT(a: Any, b: Any) -> Any:
    """a > b.

    Example:
        B[i, j] = T.if_then_else(T.GT(A[i, j], 0.0), 1.0, 0.0)
    """
    return a > b


def GE(a: Any, b: Any) -> Any:
    """a >= b.

    Example:
        B[i, j] = T.if_then_else(T.GE(A[i, j], 0.0), 1.0, 0.0)
    """
    return a >= b


def fmul(a: Any, b: Any) -> Any:
    """a * b.

    Example:
        C[i, j] = T.fmul(A[i, j], B[i, j])
    """
    return a * b


def fabs(x: Any, span: Any = None) -> Any:
    """`T.abs`.

    Example:
        B[i, j] = T.fabs(A[i, j])
    """
    return scalars.abs(x)


def cdiv(a: Any, b: Any) -> Any:
    """`T.ceildiv`.

    Example:
        for k in T.serial(T.cdiv(100, 32)):  # 4 iterations
            B[k, 0] = A[k, 0]
    """
    return scalars.ceildiv(a, b)


def likely(condition: Any, span: Any = None) -> Any:
    """The condition itself.

    Example:
        if T.likely(A[i, j] > 0):
            B[i, j] = A[i, j]
    """
    return condition


def index_to_coordinates(index: Any, shape: Any) -> list[Any]:
    """The indices of element number `index` of a tile of this shape, row by row.

    Example:
        x, y = T.index_to_coordinates(tx, (2, 64))
        B[x, y] = A[x, y]
    """
    found = []
    for extent in reversed(list(shape)):
        found.append(index % extent)
        index = index // extent
    return found[::-1]


def alloc_cluster_barrier(arrive_count: int | list[int]) -> Barriers:
    """As `T.alloc_barrier`; only the threads of the block itself can arrive.

    Example:
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((64, 64), "float32")
            ready = T.alloc_cluster_barrier(128)
            with T.ws(1):
                T.copy(A, x)
                T.barrier_arrive(ready)
            with T.ws(0):
                T.barrier_wait(ready, 0)
                T.copy(x, B)
    """
    return alloc_barrier(arrive_count)


def tvm_storage_sync(scope: str, *arguments: Any) -> None:
    """As `T.sync_threads`.

    Example:
        T.tvm_storage_sync("shared")
        T.copy(A, B)
    """
    if scope not in ("shared", "shared.dyn", "warp"):
        raise LanguageError(f"'T.tvm_storage_sync' of '{scope}' is not supported yet")
    sync_threads(*arguments)


def annotate_pass_configs(configs: dict[Any, Any]) -> None:
    """Hint: how TileLang's passes should work. No configuration changes what a kernel means.

    Example:
        T.annotate_pass_configs({"tl.enable_fast_math": False})
        T.copy(A, B)
    """
    trace.require("T.annotate_pass_configs")


def annotate_compile_flags(flags: Any) -> None:
    """Hint: flags for a CUDA compiler, which is not used.

    Example:
        T.annotate_compile_flags(["-O3"])
        T.copy(A, B)
    """
    trace.require("T.annotate_compile_flags")
