"""Names that earlier TileLang versions had, for programs that were written for them.

`T.gemm_v2` and `T.gemm_sp_v2` are `T.gemm` and `T.gemm_sp` today, a list of barriers by number is
`T.alloc_barrier`, and `T.dyn["n"]` is `T.dynamic("n")`. None of them is in `T`'s own list of names.
"""

from __future__ import annotations

from typing import Any

from tilewright.language.barriers import Barrier, alloc_barrier, listed_barrier
from tilewright.language.kernel import _in_kernel
from tilewright.language.scalars import dynamic
from tilewright.language.sparse import gemm_sp
from tilewright.language.tiles import gemm
from tilewright.support.errors import LanguageError


def create_list_of_mbarrier(*arrive_counts: Any) -> None:
    """The barriers of a kernel, which statements name by their numbers."""
    state = _in_kernel("T.create_list_of_mbarrier")
    if state.barrier_list is not None:
        raise LanguageError("'T.create_list_of_mbarrier': the kernel has a list of barriers")
    counts = arrive_counts[0] if len(arrive_counts) == 1 else list(arrive_counts)
    state.barrier_list = alloc_barrier(counts)


def get_mbarrier(index: Any) -> Barrier:
    """A barrier of the kernel's list."""
    return listed_barrier(index, "T.get_mbarrier")


class _Dynamic:
    """`T.dyn["n"]`."""

    def __getitem__(self, item: Any) -> Any:
        name, dtype = (*item, "int32")[:2] if isinstance(item, tuple) else (item, "int32")
        return dynamic(name, dtype)


NAMES = {
    "create_list_of_mbarrier": create_list_of_mbarrier,
    "dyn": _Dynamic(),
    "gemm_sp_v2": gemm_sp,
    "gemm_v1": gemm,
    "gemm_v2": gemm,
    "get_mbarrier": get_mbarrier,
}
