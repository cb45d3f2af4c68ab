"""`TensorCoreIntrinEmitter`: products of matrices in the memory of single threads.

A program that names the instructions (`ldmatrix`, `mma`) loads the rows of a warp into arrays of
its threads, multiplies these, and stores the results. Which element of the warp's tile a thread has
at a place of its array is what the instructions prescribe:

    of A   16 x k     row lane/4 + 8 (r % 2)    column (lane%4) v + e + 4 v (r / 2)
    of B   n x k      row lane/4 + 8 half       column (lane%4) v + e + 4 v r
    of C   16 x n     row lane/4 + 8 (r % 2)    column (lane%4) 2 + e + 8 half

for element `e` of register `r`, which holds v elements (2 of C), in a `half` of 8 rows or columns.

A product stages what the threads of a warp have in shared memory, and is a `T.gemm` of each warp
there: it has its meaning on every engine, with the instructions that the gemm picks.
"""

from __future__ import annotations

from math import prod
from typing import Any

from tilewright.frontend.tile_loops import SerialLoop
from tilewright.language.composed import _opened
from tilewright.language.kernel import _in_kernel
from tilewright.language.threads import linear_thread
from tilewright.language.tiles import gemm
from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import dtype as _dtype
from tilewright.types.layout import Layout

_LANES = 32
_NAME = "TensorCoreIntrinEmitter"


class TensorCoreIntrinEmitter:
    """Loads, multiplies and stores the tiles of warps: `block_row_warps` x `block_col_warps` warps
    have `warp_row_tiles` x `warp_col_tiles` results each.

    Example:
        warps = T.TensorCoreIntrinEmitter(
            accum_dtype="float32", b_transposed=True, block_row_warps=2, block_col_warps=2,
            warp_row_tiles=32, warp_col_tiles=32, chunk=64,
        )
        s = T.alloc_shared((64, 64), "float16")
        a = T.alloc_local((warps.warp_rows * warps.local_size_a,), "float16")
        b = T.alloc_local((warps.warp_cols * warps.local_size_b,), "float16")
        c = T.alloc_local((warps.warp_rows * warps.warp_cols * warps.local_size_out,), "float32")
        T.copy(H, s)
        T.clear(c)
        for k in T.serial(64 // warps.micro_size_k):
            warps.ldmatrix_a(a, s, k)
            warps.ldmatrix_b(b, s, k)
            warps.mma(a, b, c)
        warps.stmatrix(c, B)
    """

    M_DIM = 16
    WARP_SIZE = _LANES

    def __init__(
        self,
        a_dtype: Any = "float16",
        b_dtype: Any = "float16",
        accum_dtype: Any = "float16",
        a_transposed: bool = False,
        b_transposed: bool = False,
        block_row_warps: int = 2,
        block_col_warps: int = 2,
        warp_row_tiles: int = 8,
        warp_col_tiles: int = 8,
        chunk: int = 16,
        reduce_k: int = 1,
        num_elems_per_byte: int = 1,
        is_m_first: bool | None = False,
        thread_var: Any = None,
    ) -> None:
        self.a_dtype, self.b_dtype = _dtype(a_dtype), _dtype(b_dtype)
        self.accum_dtype = _dtype(accum_dtype)
        if self.a_dtype.bits != self.b_dtype.bits or self.a_dtype.bits > 32:
            raise LanguageError(
                f"'{_NAME}' multiplies elements of one width up to 32 bits, got {self.a_dtype} and "
                f"{self.b_dtype}",
                hint="use T.gemm",
            )
        if warp_row_tiles % 16 or warp_col_tiles % 8 or not warp_row_tiles or not warp_col_tiles:
            raise LanguageError(
                f"'{_NAME}': a warp has multiples of 16 x 8 results, got {warp_row_tiles} x "
                f"{warp_col_tiles}"
            )
        if num_elems_per_byte != 1:
            raise LanguageError(f"'{_NAME}' of packed elements is not supported")
        self.a_transposed, self.b_transposed = a_transposed, b_transposed
        self.block_row_warps, self.block_col_warps = block_row_warps, block_col_warps
        self.warp_row_tiles, self.warp_col_tiles = warp_row_tiles, warp_col_tiles
        self.chunk, self.reduce_k = chunk, reduce_k
        self.is_m_first, self.thread_var = bool(is_m_first), thread_var
        self.k_dim = self.micro_size_k = min(256 // self.a_dtype.bits, chunk)
        self.n_dim = self.micro_size_y = 8 if warp_col_tiles % 16 else 16
        self.micro_size_x = self.M_DIM
        self.warp_rows = self.mma_num_inst_m = warp_row_tiles // self.M_DIM
        self.warp_cols = self.mma_num_inst_n = warp_col_tiles // self.n_dim
        self.local_size_a = self.M_DIM * self.k_dim // _LANES
        self.local_size_b = self.n_dim * self.k_dim // _LANES
        self.local_size_out = self.M_DIM * self.n_dim // _LANES
        self.threads = _LANES * block_row_warps * block_col_warps * reduce_k

    # ---- Who has what ----

    def get_thread_binding(self) -> Any:
        """The number of the thread."""
        return linear_thread(_NAME) if self.thread_var is None else self.thread_var

    def extract_thread_binding(
        self, thread_id: Any, is_m_first: bool | None = None
    ) -> tuple[Any, Any, Any]:
        """The lane of a thread, and the column and row of its warp."""
        rows, columns = self.block_row_warps, self.block_col_warps
        lane, warp = thread_id % _LANES, thread_id // _LANES
        if self.is_m_first if is_m_first is None else is_m_first:
            return lane, warp % columns, warp // columns % rows
        return lane, warp // rows % columns, warp % rows

    def _of_operand(self, lane: Any, slot: int, has_halves: bool) -> tuple[Any, Any]:
        """The row and the position along k of an element of A (registers alternate between the
        halves of 8 rows) or B (each half has registers of its own)."""
        v = 32 // self.a_dtype.bits
        register, element = divmod(slot, v)
        if has_halves:
            half, along = register % 2, register // 2
        else:
            half, along = divmod(register, self.k_dim // (4 * v))
        return lane // 4 + 8 * half, lane % 4 * v + element + 4 * v * along

    @staticmethod
    def _of_result(lane: Any, slot: int) -> tuple[Any, Any]:
        half, rest = divmod(slot, 4)
        return lane // 4 + 8 * (rest // 2), lane % 4 * 2 + rest % 2 + 8 * half

    # ---- Statements ----

    def _load(self, what: str, local: Any, shared: Any, ki: Any, rk: Any, is_a: bool) -> None:
        state = _in_kernel(f"{_NAME}.{what}")
        lane, warp_n, warp_m = self.extract_thread_binding(self.get_thread_binding())
        warp, tiles = (warp_m, self.warp_row_tiles) if is_a else (warp_n, self.warp_col_tiles)
        count, step = (self.warp_rows, self.M_DIM) if is_a else (self.warp_cols, self.n_dim)
        size = self.local_size_a if is_a else self.local_size_b
        # B is (n, k) where it is transposed, A where it is not.
        has_k_first = self.a_transposed if is_a else not self.b_transposed
        outer = (0,) * (shared.ndim - 2)
        with _opened(state, SerialLoop(what, 0, count)) as i:
            for slot in range(size):
                row, along = self._of_operand(lane, slot, has_halves=is_a)
                at = warp * tiles + i * step + row
                k = rk * self.chunk + ki * self.k_dim + along
                source = shared[(*outer, k, at) if has_k_first else (*outer, at, k)]
                local[i * size + slot].store(source.load())

    def ldmatrix_a(self, A_local_buf: Any, A_shared_buf: Any, ki: Any, rk: Any = 0) -> None:
        """Loads step `ki` along k of the rows of each warp."""
        self._load("ldmatrix_a", A_local_buf, A_shared_buf, ki, rk, is_a=True)

    def ldmatrix_b(self, B_local_buf: Any, B_shared_buf: Any, ki: Any, rk: Any = 0) -> None:
        """Loads step `ki` along k of the columns of each warp."""
        self._load("ldmatrix_b", B_local_buf, B_shared_buf, ki, rk, is_a=False)

    def mma(self, A_local_buf: Any, B_local_buf: Any, C_local_buf: Any, k_inner: Any = 0) -> None:
        """C += A @ B, for all results of each warp."""
        counts = (self.warp_rows, self.warp_cols)
        self._multiply("mma", (A_local_buf, B_local_buf, C_local_buf), (0, 0), counts, k_inner)

    def mma_atom(
        self,
        A_local_buf: Any,
        B_local_buf: Any,
        C_local_buf: Any,
        inst_m_idx: Any,
        inst_n_idx: Any,
        k_inner: Any = 0,
    ) -> None:
        """C += A @ B, for the results of one instruction."""
        buffers, first = (A_local_buf, B_local_buf, C_local_buf), (inst_m_idx, inst_n_idx)
        self._multiply("mma_atom", buffers, first, (1, 1), k_inner)

    def _multiply(
        self,
        what: str,
        buffers: tuple[Any, Any, Any],
        first: tuple[Any, Any],
        counts: tuple[int, int],
        k_inner: Any,
    ) -> None:
        state = _in_kernel(f"{_NAME}.{what}")
        thread = self.get_thread_binding()
        lane, warp = thread % _LANES, thread // _LANES
        warps = prod(state.threads) // _LANES
        (rows, columns), k = counts, self.k_dim
        stages = [
            state.core.alloc(name, [warps, *extents], self._staged(kind), "shared")
            for name, extents, kind in (
                ("of_a", (rows * self.M_DIM, k), self.a_dtype),
                ("of_b", (columns * self.n_dim, k), self.b_dtype),
            )
        ]
        extents = [warps, rows * self.M_DIM, columns * self.n_dim]
        stages.append(state.core.alloc("of_c", extents, str(self.accum_dtype), "shared"))
        a, b, c = buffers
        for local, stage, at, count, step, size, total, is_a in (
            (a, stages[0], first[0], rows, self.M_DIM, self.local_size_a, self.warp_rows, True),
            (b, stages[1], first[1], columns, self.n_dim, self.local_size_b, self.warp_cols, False),
        ):
            # The steps along k of a fragment lie one after another; an array holds one of them.
            start = k_inner * total * size if local.scope_name == "fragment" else 0
            with _opened(state, SerialLoop(what, 0, count)) as i:
                for slot in range(size):
                    row, along = self._of_operand(lane, slot, has_halves=is_a)
                    value = local[start + (at + i) * size + slot].load()
                    stage[warp, i * step + row, along].store(value)

        def exchange(is_load: bool) -> None:
            with (
                _opened(state, SerialLoop(what, 0, rows)) as i,
                _opened(state, SerialLoop(what, 0, columns)) as j,
            ):
                atom = (first[0] + i) * self.warp_cols + first[1] + j
                for slot in range(self.local_size_out):
                    row, column = self._of_result(lane, slot)
                    own = c[atom * self.local_size_out + slot]
                    staged = stages[2][warp, i * self.M_DIM + row, j * self.n_dim + column]
                    (own, staged)[not is_load].store((staged, own)[not is_load].load())

        exchange(is_load=False)
        for number in range(warps):
            of_a, of_b, of_c = (stage[number, :, :] for stage in stages)
            gemm(of_a, of_b, of_c, transpose_B=True)
        exchange(is_load=True)

    @staticmethod
    def _staged(kind: _dtype) -> str:
        """The dtype in which the instructions take an operand: 32-bit floats are rounded."""
        return "tfloat32" if kind == "float32" else str(kind)

    def stmatrix(self, C_local_buf: Any, C_buf: Any, pid_m: Any = None, pid_n: Any = None) -> None:
        """Stores the results of all warps into a tile, or at a block's place in a tensor."""
        what = "stmatrix"
        state = _in_kernel(f"{_NAME}.{what}")
        if C_buf.ndim not in (2, 4):
            raise LanguageError(f"'{_NAME}.{what}': the destination has 2 or 4 dimensions")
        lane, warp_n, warp_m = self.extract_thread_binding(self.get_thread_binding())
        row_of_block = column_of_block = 0
        if pid_m is not None and pid_n is not None:
            row_of_block = pid_m * self.block_row_warps * self.warp_rows
            column_of_block = pid_n * self.block_col_warps * self.warp_cols
        with (
            _opened(state, SerialLoop(what, 0, self.warp_rows)) as i,
            _opened(state, SerialLoop(what, 0, self.warp_cols)) as j,
        ):
            for slot in range(self.local_size_out):
                row, column = self._of_result(lane, slot)
                m = row_of_block + warp_m * self.warp_rows + i
                n = column_of_block + warp_n * self.warp_cols + j
                index = (m, n, row, column)
                if C_buf.ndim == 2:
                    index = (m * self.M_DIM + row, n * self.n_dim + column)
                own = (i * self.warp_cols + j) * self.local_size_out + slot
                C_buf[index].store(C_local_buf[own].load())


# ---- Layouts ----


def get_swizzle_layout(
    row_idx: Any, col_idx: Any, row_size: int, dtype: Any, swizzle_bytes: int | None = None
) -> tuple[Any, Any, Any]:
    """Where an element of a row goes: the panel, the row, and the column in the panel, whose units
    of 16 bytes change places.

    Example:
        panel, row, column = T.get_swizzle_layout(1, 8, 64, "float16")  # 0, 1, 0
    """
    bits = _bits(dtype)
    panel = swizzle_bytes or min(128, bits * row_size // 8)
    unit, units = 128 // bits, panel // 16
    number = col_idx // unit
    moved = (number % units) ^ ((row_idx % 8) // (8 // units))
    return number // units, row_idx, moved * unit + col_idx % unit


def make_mma_swizzle_layout(shared_buf: Any, is_smooth: bool = False) -> Layout:
    """The swizzle of a tile in shared memory; none where rows are not whole units of 64 bytes.

    Example:
        s = T.alloc_shared((64, 64), "float16")
        T.annotate_layout({s: T.make_mma_swizzle_layout(s)})
        T.copy(H, s)
    """
    shape = list(shared_buf.shape)
    if is_smooth or shape[-1] * _bits(shared_buf.dtype) % 512:
        return Layout(shape, lambda *index: list(index))

    def move(*index: Any) -> list[Any]:
        return [*index[:-2], *get_swizzle_layout(*index[-2:], shape[-1], shared_buf.dtype)]

    return Layout(shape, move)


def _bits(kind: Any) -> int:
    return _dtype(kind).bits
