"""Every name of TileLang 0.1.15's `T`, in a table: what Tilewright has, and what to use instead.

`tilelang_names.tsv` has a line for each: the name, its status and a note. The statuses are
- `yes`: it has its meaning on every engine;
- `no effect`: it is accepted; what it requests is the compiler's choice, or always so;
- `name only`: a dtype that a program may name, but not store or compute with;
- `refused`: using it is an error, which shows the note.

`scripts/tilelang_names.py --fix` brings the statuses up to date, and a test keeps them true.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).with_name("tilelang_names.tsv")
STATUSES = ("yes", "no effect", "name only", "refused")

#: Modules of TileLang's that programs name to reach a function (`T.builtin.sync_threads()`): each
#: stands for the whole language.
MODULES = frozenset(
    "atomic builtin common copy_op customize experimental fill_op frame gemm_op logical loop "
    "math_intrinsics meta overrides proxy reduce_op scan_op symbolics tile_schedule tir utils "
    "warp_specialize".split()
)

#: Names of earlier TileLang versions (earlier.py).
EARLIER = frozenset("create_list_of_mbarrier dyn gemm_sp_v2 gemm_v1 gemm_v2 get_mbarrier".split())

#: Names of Triton, numpy, torch and CUDA that are not TileLang's either, and what the language has
#: for them.
ELSEWHERE = {
    "load": "read an element as 'A[i, j]', or a tile by T.copy",
    "store": "write an element as 'A[i, j] = x', or a tile by T.copy",
    "program_id": "'with T.Kernel(blocks) as bx' names the block",
    "num_programs": "use T.get_block_extent, or the extents that T.Kernel got",
    "arange": "'for i in T.Parallel(n)' gives the indices",
    "dot": "use T.gemm",
    "matmul": "use T.gemm",
    "zeros": "use T.alloc_fragment and T.clear",
    "full": "use T.alloc_fragment and T.fill",
    "where": "use T.if_then_else",
    "maximum": "use T.max",
    "minimum": "use T.min",
    "sum": "use T.reduce_sum",
    "debug_barrier": "use T.sync_threads",
    "syncthreads": "use T.sync_threads",
    "static_range": "use T.unroll",
    "make_block_ptr": "T.copy takes a region, as in 'A[i:i + 64, :]'",
    "alloc_register": "use T.alloc_fragment",
    "alloc_registers": "use T.alloc_fragment",
    "barrier": "use T.sync_threads",
    "clip": "use T.clamp",
    "inf": "use T.infinity(dtype)",
    "prange": "use T.Parallel",
    "relu": "use T.max(x, 0)",
    "softmax": "write it with T.reduce_max, T.exp and T.reduce_sum",
    "to": "use T.cast(x, dtype)",
    "astype": "use T.cast(x, dtype)",
    "select": "use T.if_then_else",
    "silu": "write it as x * T.sigmoid(x)",
    "swish": "write it as x * T.sigmoid(x)",
    "gelu": "write it with T.erf or T.tanh",
    "sort": "nothing sorts a tile; examples/top_k.py picks its largest elements",
    "mean": "use T.reduce_sum and divide by the extent",
}

_DTYPE = re.compile(r"(bfloat|t?float|u?int)\d+\w*")


class Name(NamedTuple):
    """A line of the table."""

    name: str
    status: str
    note: str

    @property
    def is_dtype(self) -> bool:
        """Whether the name is an element type; those stand in tables and default arguments of
        programs that never use them, so that only their use is an error."""
        return _DTYPE.fullmatch(self.name) is not None


@cache
def table() -> dict[str, Name]:
    """The table, read on first use: only an unknown name, a test or the docs need it."""
    rows = (line.split("\t") for line in TABLE.read_text().splitlines())
    return {row[0]: Name(row[0], row[1], row[2] if len(row) > 2 else "") for row in rows}


def refusal(name: Name) -> str:
    """The message for a name that Tilewright does not have."""
    note = f": {name.note}" if name.note else ""
    return f"'T.{name.name}' is not supported yet{note}"
