"""Products whose left operand is sparse: of each four numbers along k, two are kept.

`A_sparse` holds the two in a row, and 4 bits of `E` say where they stood: bits 1:0 the place of the
first, bits 3:2 that of the second. Of 32-bit numbers one of two is kept, and the 4 bits name its
halves: 0b0100 is the first, 0b1110 the second. An integer of `E` has as many groups of 4 bits as
fit, the lowest first.

The operand is expanded to a tile of its own and multiplied as every other.
"""

from __future__ import annotations

from typing import Any

from tilewright.frontend.trace import TraceState, describe, dtype_of
from tilewright.language import scalars
from tilewright.language.composed import _extents, _parallel
from tilewright.language.kernel import _in_kernel
from tilewright.language.tiles import GemmWarpPolicy, gemm
from tilewright.support.errors import LanguageError
from tilewright.types import dtypes

_BITS_PER_GROUP = 4


def group_of(a_dtype: Any) -> tuple[int, int]:
    """How many numbers are kept of how many."""
    return (1, 2) if dtypes.dtype(a_dtype).bits == 32 else (2, 4)


def elements_per_word(a_dtype: Any, meta_dtype: Any) -> int:
    """How many numbers of the expanded operand one integer of the metadata is about."""
    return dtypes.dtype(meta_dtype).bits // _BITS_PER_GROUP * group_of(a_dtype)[1]


def _in_shared(state: TraceState, tile: Any, name: str, extents: list[int], dtype: str) -> Any:
    """The tile where any thread can read any element of it."""
    if tile.scope_name != "fragment":
        return tile
    copy = state.core.alloc(name, extents, dtype, "shared")
    state.core.copy(tile, copy, {})
    return copy


def _expand(what: str, A: Any, E: Any, transpose_A: bool, transpose_E: bool) -> Any:
    """A tile with all numbers of A, (M, K)."""
    state = _in_kernel(what)
    a_extents, e_extents = _extents(A, what, "A_sparse"), _extents(E, what, "E")
    if len(a_extents) != 2 or len(e_extents) != 2:
        raise LanguageError(
            f"'{what}': A_sparse and E must be matrices, got {describe(A)} and {describe(E)}"
        )
    a_dtype, e_dtype = dtype_of(A[0, 0]), dtype_of(E[0, 0])
    if not dtypes.dtype(e_dtype).is_integer():
        raise LanguageError(f"'{what}': E must have an integer dtype, got {e_dtype}")
    rows, packed = reversed(a_extents) if transpose_A else a_extents
    e_rows, words = reversed(e_extents) if transpose_E else e_extents
    kept, group = group_of(a_dtype)
    per_word = elements_per_word(a_dtype, e_dtype)
    k_extent = packed // kept * group
    if e_rows != rows or words * per_word != k_extent:
        raise LanguageError(
            f"'{what}': {rows} x {packed} of {a_dtype} in A_sparse are {rows} x {k_extent} numbers "
            f"and need {rows} x {k_extent / per_word:g} of {e_dtype} in E, got {e_rows} x {words}"
        )
    A = _in_shared(state, A, "packed", a_extents, a_dtype)
    E = _in_shared(state, E, "places", e_extents, e_dtype)
    expanded = state.core.alloc("expanded", [rows, k_extent], a_dtype, "shared")
    with _parallel(state, [rows, k_extent]) as (i, k):
        word = k // per_word
        places = E[(word, i) if transpose_E else (i, word)].load()
        places = scalars.cast(
            places >> (k // group % (per_word // group) * _BITS_PER_GROUP), "int32"
        )

        def number(n: int) -> Any:
            at = k // group * kept + n
            return A[(at, i) if transpose_A else (i, at)].load()

        here = k % group
        if kept == 1:
            value = scalars.if_then_else((places & 3) // 2 == here, number(0), 0)
        else:
            second = scalars.if_then_else((places >> 2 & 3) == here, number(1), 0)
            value = scalars.if_then_else((places & 3) == here, number(0), second)
        expanded[i, k] = value
    return expanded


def gemm_sp(
    A_sparse: Any,
    E: Any,
    B: Any,
    C: Any,
    transpose_A: bool = False,
    transpose_E: bool = False,
    transpose_B: bool = False,
    policy: GemmWarpPolicy = GemmWarpPolicy.Square,
    clear_accum: Any = False,
    k_pack: int = 1,
    wg_wait: int = 0,
    annotations: dict[str, Any] | None = None,
) -> None:
    """C += A @ op(B), where A_sparse holds two of each four numbers of A along k, and E says which.

    A_sparse is (M, K / 2), or (K / 2, M) with `transpose_A`; E is (M, K / n), or (K / n, M) with
    `transpose_E`: 4 bits for each group of four numbers, the place of the first in the low two
    bits. Of 32-bit numbers one of two is kept.

    Example:
        a = T.alloc_shared((64, 32), "float16")
        e = T.alloc_shared((64, 4), "int16")
        b = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(H[0:64, 0:32], a)
        T.copy(H, b)
        T.fill(e, 0x4444)
        T.gemm_sp(a, e, b, c, clear_accum=True)
        T.copy(c, B)
    """
    expanded = _expand("T.gemm_sp", A_sparse, E, transpose_A, transpose_E)
    gemm(expanded, B, C, False, transpose_B, policy, clear_accum, k_pack)


def tcgen05_gemm_sp(
    A_sparse: Any,
    E: Any,
    B: Any,
    C: Any,
    transpose_A: bool = False,
    transpose_E: bool = False,
    transpose_B: bool = False,
    policy: GemmWarpPolicy = GemmWarpPolicy.Square,
    clear_accum: Any = False,
    annotations: dict[str, Any] | None = None,
) -> None:
    """`T.gemm_sp`.

    Example:
        a = T.alloc_shared((64, 32), "float16")
        e = T.alloc_shared((64, 4), "int16")
        b = T.alloc_shared((64, 64), "float16")
        c = T.alloc_tmem((64, 64), "float32")
        r = T.alloc_fragment((64, 64), "float32")
        T.copy(H[0:64, 0:32], a)
        T.copy(H, b)
        T.fill(e, 0x4444)
        T.tcgen05_gemm_sp(a, e, b, c, clear_accum=True)
        T.copy(c, r)
        T.copy(r, B)
    """
    expanded = _expand("T.tcgen05_gemm_sp", A_sparse, E, transpose_A, transpose_E)
    gemm(expanded, B, C, False, transpose_B, policy, clear_accum)


def wgmma_gemm_sp(
    A_sparse: Any,
    E: Any,
    B: Any,
    C: Any,
    transpose_A: bool = False,
    transpose_E: bool = False,
    transpose_B: bool = False,
    policy: GemmWarpPolicy = GemmWarpPolicy.Square,
    clear_accum: Any = False,
    annotations: dict[str, Any] | None = None,
) -> None:
    """`T.gemm_sp`.

    Example:
        a = T.alloc_shared((64, 32), "float16")
        e = T.alloc_shared((64, 4), "int16")
        b = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(H[0:64, 0:32], a)
        T.copy(H, b)
        T.fill(e, 0x4444)
        T.wgmma_gemm_sp(a, e, b, c, clear_accum=True)
        T.copy(c, B)
    """
    expanded = _expand("T.wgmma_gemm_sp", A_sparse, E, transpose_A, transpose_E)
    gemm(expanded, B, C, False, transpose_B, policy, clear_accum)
