"""Names that TVM gives to operators (`T.FloorMod(a, b)`), and small names of TileLang."""

from __future__ import annotations

from typing import Any

from tilewright.frontend import trace
from tilewright.language import scalars
from tilewright.language.barriers import Barriers, alloc_barrier, sync_threads
from tilewright.support.errors import LanguageError


def Add(a: Any, b: Any) -> Any:
    """a + b."""
    return a + b


def Sub(a: Any, b: Any) -> Any:
    """a - b."""
    return a - b


def Mul(a: Any, b: Any) -> Any:
    """a * b."""
    return a * b


def Div(a: Any, b: Any) -> Any:
    """`T.truncdiv`."""
    return scalars.truncdiv(a, b)


def Mod(a: Any, b: Any) -> Any:
    """`T.truncmod`."""
    return scalars.truncmod(a, b)


def FloorDiv(a: Any, b: Any) -> Any:
    """a // b."""
    return scalars.floordiv(a, b)


def FloorMod(a: Any, b: Any) -> Any:
    """a % b."""
    return scalars.floormod(a, b)


def Min(a: Any, b: Any) -> Any:
    """`T.min`."""
    return scalars.min(a, b)


def Max(a: Any, b: Any) -> Any:
    """`T.max`."""
    return scalars.max(a, b)


def EQ(a: Any, b: Any) -> Any:
    """a == b."""
    return a == b


def NE(a: Any, b: Any) -> Any:
    """a != b."""
    return a != b


def LT(a: Any, b: Any) -> Any:
    """a < b."""
    return a < b


def LE(a: Any, b: Any) -> Any:
    """a <= b."""
    return a <= b


def GT(a: Any, b: Any) -> Any:
    """a > b."""
    return a > b


def GE(a: Any, b: Any) -> Any:
    """a >= b."""
    return a >= b


def fmul(a: Any, b: Any) -> Any:
    """a * b."""
    return a * b


def fabs(x: Any, span: Any = None) -> Any:
    """`T.abs`."""
    return scalars.abs(x)


def cdiv(a: Any, b: Any) -> Any:
    """`T.ceildiv`."""
    return scalars.ceildiv(a, b)


def likely(condition: Any, span: Any = None) -> Any:
    """The condition itself."""
    return condition


def index_to_coordinates(index: Any, shape: Any) -> list[Any]:
    """The indices of element number `index` of a tile of this shape, row by row."""
    found = []
    for extent in reversed(list(shape)):
        found.append(index % extent)
        index = index // extent
    return found[::-1]


def alloc_cluster_barrier(arrive_count: int | list[int]) -> Barriers:
    """As `T.alloc_barrier`; only the threads of the block itself can arrive."""
    return alloc_barrier(arrive_count)


def tvm_storage_sync(scope: str, *arguments: Any) -> None:
    """As `T.sync_threads`."""
    if scope not in ("shared", "shared.dyn", "warp"):
        raise LanguageError(f"'T.tvm_storage_sync' of '{scope}' is not supported yet")
    sync_threads(*arguments)


def annotate_pass_configs(configs: dict[Any, Any]) -> None:
    """Hint: how TileLang's passes should work. No configuration changes what a kernel means."""
    trace.require("T.annotate_pass_configs")


def annotate_compile_flags(flags: Any) -> None:
    """Hint: flags for a CUDA compiler, which is not used."""
    trace.require("T.annotate_compile_flags")
