"""The language of tile kernels, used as `import tilewright.language as T`.

    @T.prim_func
    def add_one(A: T.Tensor((1024,), "float32"), B: T.Tensor((1024,), "float32")):
        with T.Kernel(T.ceildiv(1024, 256), threads=128) as bx:
            for i in T.Parallel(256):
                B[bx * 256 + i] = A[bx * 256 + i] + 1.0

Names and arguments are TileLang's. A name TileLang has and Tilewright has not raises an error that
says so at the user's line.
"""

from __future__ import annotations

import sys as _sys
from inspect import isfunction as _isfunction
from typing import Any

from tilewright._core import core as _core
from tilewright.frontend import trace as _trace
from tilewright.frontend import vocabulary as _vocabulary
from tilewright.frontend.functions import PrimFunc as _PrimFunc
from tilewright.frontend.functions import trace_prim_func as _trace_prim_func
from tilewright.frontend.macro import Macro as _Macro
from tilewright.frontend.macro import Ref
from tilewright.frontend.twins import enclosing_locals as _enclosing_locals
from tilewright.language import names as _names
from tilewright.language.addresses import make_tensor, make_tensor_from_addr, ptr
from tilewright.language.allocation import (
    alloc_buffer,
    alloc_fragment,
    alloc_global,
    alloc_local,
    alloc_reducer,
    alloc_shared,
    alloc_var,
)
from tilewright.language.annotations import (
    annotate_layout,
    annotate_safe_value,
    assume,
    device_assert,
    print,
)
from tilewright.language.asynchronous import (
    annotate_consumer_reg_alloc,
    annotate_producer_reg_dealloc,
    async_copy,
    cp_async_barrier_noinc,
    dec_max_nreg,
    fence_proxy_async,
    inc_max_nreg,
    ptx_commit_group,
    ptx_cp_async,
    ptx_wait_group,
    set_max_nreg,
    tma_copy,
    tma_store_arrive,
    tma_store_wait,
    wait_wgmma,
    warpgroup_arrive,
    warpgroup_commit_batch,
    warpgroup_fence_operand,
    warpgroup_wait,
    wgmma_gemm,
)
from tilewright.language.atomics import (
    atomic_add,
    atomic_addx2,
    atomic_addx4,
    atomic_and,
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_store,
    atomic_xor,
)
from tilewright.language.barriers import (
    alloc_barrier,
    barrier_arrive,
    barrier_wait,
    mbarrier_arrive,
    mbarrier_arrive_expect_tx,
    mbarrier_expect_tx,
    mbarrier_wait_parity,
    named_barrier_arrive,
    sync_threads,
)
from tilewright.language.branches import (
    And,
    Else,
    If,
    Not,
    Or,
    Then,
    While,
    break_loop,
    continue_loop,
    loop_break,
    thread_return,
)
from tilewright.language.clusters import (
    ClusterKernel,
    PersistentTileScheduler,
    block_rank_in_cluster,
    cluster_arrive,
    cluster_arrive_relaxed,
    cluster_sync,
    cluster_wait,
    copy_cluster,
)
from tilewright.language.composed import all_of, any_of, cummax, dp4a, transpose
from tilewright.language.eager import const, empty
from tilewright.language.emitters import (
    TensorCoreIntrinEmitter,
    get_swizzle_layout,
    make_mma_swizzle_layout,
)
from tilewright.language.exchange import (
    shfl_down,
    shfl_sync,
    shfl_up,
    shfl_xor,
    tvm_warp_shuffle,
    tvm_warp_shuffle_down,
    tvm_warp_shuffle_up,
    warp_reduce_bitand,
    warp_reduce_bitor,
    warp_reduce_max,
    warp_reduce_min,
    warp_reduce_sum,
)
from tilewright.language.extern import call_extern, call_pure_extern
from tilewright.language.kernel import (
    Kernel,
    annotate_l2_hit_ratio,
    annotate_min_blocks_per_sm,
    annotate_restrict_buffers,
    disable_warp_group_reg_alloc,
    no_set_max_nreg,
    pdl_sync,
    pdl_trigger,
    sync_grid,
    use_swizzle,
)
from tilewright.language.loops import (
    Parallel,
    Persistent,
    Pipelined,
    Serial,
    Unroll,
    grid,
    parallel,
    serial,
    unroll,
    vectorized,
)
from tilewright.language.more_math import (
    acos,
    acosh,
    asin,
    asinh,
    atanh,
    clz,
    copysign,
    fast_rcp,
    hypot,
    ldexp,
    nextafter,
)
from tilewright.language.more_math import ffs as __ffs
from tilewright.language.nodes import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    Div,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mod,
    Mul,
    Sub,
    alloc_cluster_barrier,
    annotate_compile_flags,
    annotate_pass_configs,
    cdiv,
    fabs,
    fmul,
    index_to_coordinates,
    likely,
    tvm_storage_sync,
)
from tilewright.language.pointers import access_ptr, address_of, tvm_access_ptr, type_annotation
from tilewright.language.ramps import Ramp
from tilewright.language.random import rng_init, rng_rand, rng_rand_float
from tilewright.language.rounding import (
    fma,
    ieee_add,
    ieee_fdiv,
    ieee_fmaf,
    ieee_frcp,
    ieee_frsqrt,
    ieee_fsqrt,
    ieee_mul,
    ieee_sub,
)
from tilewright.language.scalars import (
    Cast,
    Select,
    __ldg,
    abs,
    align_up,
    atan,
    atan2,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    cast,
    ceil,
    ceildiv,
    clamp,
    cos,
    cosh,
    dynamic,
    erf,
    exp,
    exp2,
    exp10,
    floor,
    floordiv,
    floormod,
    fmod,
    if_then_else,
    infinity,
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    log2,
    log10,
    max,
    max_value,
    min,
    min_value,
    nearbyint,
    popcount,
    pow,
    round,
    rsqrt,
    shift_left,
    shift_right,
    sigmoid,
    sin,
    sinh,
    sqrt,
    symbolic,
    tan,
    tanh,
    trunc,
    truncdiv,
    truncmod,
)
from tilewright.language.sparse import gemm_sp, tcgen05_gemm_sp, wgmma_gemm_sp
from tilewright.language.tensor import (
    Buffer,
    FragmentBuffer,
    LocalBuffer,
    SharedBuffer,
    StridedTensor,
    Tensor,
)
from tilewright.language.tensor import Storage as _Storage
from tilewright.language.tensor_memory import (
    alloc_tmem,
    deallocate_tmem,
    tcgen05_after_thread_sync,
    tcgen05_before_thread_sync,
    tcgen05_gemm,
    tcgen05_mma_arrive,
)
from tilewright.language.threads import (
    get_block_binding,
    get_block_bindings,
    get_block_extent,
    get_block_extents,
    get_lane_idx,
    get_thread_binding,
    get_thread_bindings,
    get_thread_extent,
    get_thread_extents,
    get_warp_group_idx,
    get_warp_idx,
    get_warp_idx_sync,
    sync_warp,
    thread_binding,
    ws,
)
from tilewright.language.tiles import (
    GemmWarpPolicy,
    c2d_im2col,
    clear,
    copy,
    cumsum,
    fill,
    finalize_reducer,
    gemm,
    im2col,
    reduce_absmax,
    reduce_abssum,
    reduce_bitand,
    reduce_bitor,
    reduce_bitxor,
    reduce_max,
    reduce_min,
    reduce_sum,
    reducer_init,
    reducer_update,
    reshape,
    view,
)
from tilewright.language.tvm_reduce import attr, comm_reducer, evaluate, tvm_thread_allreduce
from tilewright.language.value_kinds import (
    BufferLoad,
    FloatImm,
    IntImm,
    PrimExpr,
    StringImm,
    Var,
)
from tilewright.language.vectors import VECTOR_TYPES as _VECTOR_TYPES
from tilewright.language.vectors import (
    Broadcast,
    abs2,
    add2,
    fma2,
    ldg32,
    ldg64,
    ldg128,
    ldg256,
    lds32,
    lds64,
    lds128,
    max2,
    min2,
    mul2,
    reinterpret,
    stg32,
    stg64,
    stg128,
    stg256,
    sts32,
    sts64,
    sts128,
    sub2,
)
from tilewright.language.votes import (
    activemask,
    all_sync,
    any_sync,
    ballot,
    ballot_sync,
    match_all_sync,
    match_any_sync,
    shuffle_elect,
    syncthreads_and,
    syncthreads_count,
    syncthreads_or,
)
from tilewright.support.errors import LanguageError as _LanguageError
from tilewright.support.errors import UnknownNameError as _UnknownNameError
from tilewright.support.errors import reporting as _reporting
from tilewright.support.errors import unknown_name as _unknown_name
from tilewright.support.not_part import NotPart as _NotPart
from tilewright.types import dtypes
from tilewright.types.dtypes import canonical as _canonical
from tilewright.types.dtypes import dtype
from tilewright.types.layout import Fragment, Layout

__tracebackhide__ = True  # pytest shows the user's frames

# Element types, first-class: T.float16, T.int32, …
bool = dtypes.EXPORTED["bool"]
int8 = dtypes.EXPORTED["int8"]
int16 = dtypes.EXPORTED["int16"]
int32 = dtypes.EXPORTED["int32"]
int64 = dtypes.EXPORTED["int64"]
uint8 = dtypes.EXPORTED["uint8"]
uint16 = dtypes.EXPORTED["uint16"]
uint32 = dtypes.EXPORTED["uint32"]
uint64 = dtypes.EXPORTED["uint64"]
float16 = dtypes.EXPORTED["float16"]
bfloat16 = dtypes.EXPORTED["bfloat16"]
float32 = dtypes.EXPORTED["float32"]
float64 = dtypes.EXPORTED["float64"]
tfloat32 = dtypes.EXPORTED["tfloat32"]
float8_e4m3fn = dtypes.EXPORTED["float8_e4m3fn"]
float8_e4m3 = dtypes.EXPORTED["float8_e4m3"]
float8_e5m2 = dtypes.EXPORTED["float8_e5m2"]
fp8 = dtypes.EXPORTED["fp8"]
int = dtypes.EXPORTED["int"]
uint = dtypes.EXPORTED["uint"]
short = dtypes.EXPORTED["short"]
long = dtypes.EXPORTED["long"]
half = dtypes.EXPORTED["half"]
float = dtypes.EXPORTED["float"]
double = dtypes.EXPORTED["double"]

# What kernels may ask of values and buffers while they are traced.
_core.Buffer.dtype = property(lambda self: _canonical(self.dtype_name), doc="The element type.")
_core.Buffer.data = property(_Storage, doc="Its memory, for `T.Tensor(shape, dtype, A.data)`.")
_core.Buffer.scope = property(lambda self: self.scope_name, doc="Where the buffer lives.")
for _class in (_core.Expr, _core.Element, _core.Var, _core.IndexExpr):
    _class.astype = lambda self, dtype, span=None: cast(self, dtype)
for _class in (_core.Expr, _core.Element, _core.Var):
    _class.dtype = property(
        lambda self: self.dtype_name if self.dtype_name == "index" else _canonical(self.dtype_name),
        doc="The type of the value.",
    )


def prim_func(function: Any = None, **options: Any) -> Any:
    """Traces a function into a program: one host function that launches its kernels.

    Parameters are annotated: `A: T.Tensor((M, N), dtype)` or a scalar `n: T.int32`. Annotations and
    free names are evaluated in the enclosing scope. The function is rewritten from its source:
    `if`, `for`, `while`, `and`, `or`, `not` and assignments on kernel values build the program,
    everything else runs as Python while tracing.

    Example:
        @T.prim_func
        def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=64):
                T.copy(A, B)
    """
    if function is None:
        return lambda decorated: prim_func(decorated, **options)
    return _prim_func(function, _enclosing_locals())


@_reporting
def _prim_func(function: Any, enclosing: dict[str, Any]) -> _PrimFunc:
    return _trace_prim_func(function, enclosing)


def macro(function: Any = None, **options: Any) -> Any:
    """Makes a function that is inlined into the kernel at each call, with names of its own.

    Tiles pass by reference, scalars by value; a parameter annotated `T.Ref` takes a variable or an
    element and may be assigned. A macro may return a value, but not from inside run-time control
    flow.

    Example:
        @T.macro
        def relu(x):
            for i, j in T.Parallel(64, 64):
                x[i, j] = T.max(x[i, j], 0)

        @T.prim_func
        def main(A: T.Tensor((64, 64), "float32")):
            with T.Kernel(1, threads=128):
                relu(A)
    """
    if function is None:
        return lambda decorated: macro(decorated, **options)
    if not _isfunction(function):
        raise _LanguageError(f"'T.macro' expects a function, got {_trace.describe(function)}")
    return _Macro(function, _enclosing_locals())


def range(*bounds: Any) -> Any:
    """As `T.serial`.

    Example:
        for k in T.range(4):
            for j in T.Parallel(64):
                B[k, j] = A[k, j]
    """
    return serial(*bounds)


# Names with two underscores request the approximate instruction; the compiler decides.
_FAST = {
    "__exp": exp, "__exp2": exp2, "__exp10": exp10, "__log": log, "__log2": log2, "__log10": log10,
    "__sin": sin, "__cos": cos, "__tan": tan, "__tanh": tanh,
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _FAST:
        return _FAST[name]
    if name in dtypes.NAMED:
        return dtypes.NAMED[name]
    if name in _VECTOR_TYPES:
        return _VECTOR_TYPES[name]
    if name in _names.MODULES:
        return _sys.modules[__name__]
    if name in _names.EARLIER:
        from tilewright.language.earlier import NAMES

        return NAMES[name]
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    row = _names.table().get(name)
    if row is not None and row.is_dtype:
        return _NotPart(f"T.{name}", row.note)
    if row is not None:
        error = _UnknownNameError(_names.refusal(row))
    else:
        from tilewright.support.suggest import hint_for

        # Types that are everyday words are never meant by a slip: `T.sort` is not `T.short`.
        known = [other for other in __all__ if other not in ("half", "long", "short")]
        hint = _names.ELSEWHERE.get(name) or hint_for(name, known, "T.")
        error = _UnknownNameError(f"the language has no 'T.{name}'", hint=hint)
    if _trace.active() is None:
        raise _unknown_name(error.message) from None
    raise error


__all__ = [
    "EQ",
    "GE",
    "GT",
    "LE",
    "LT",
    "NE",
    "Add",
    "And",
    "Broadcast",
    "Buffer",
    "BufferLoad",
    "Cast",
    "ClusterKernel",
    "Div",
    "Else",
    "FloatImm",
    "FloorDiv",
    "FloorMod",
    "Fragment",
    "FragmentBuffer",
    "GemmWarpPolicy",
    "If",
    "IntImm",
    "Kernel",
    "Layout",
    "LocalBuffer",
    "Max",
    "Min",
    "Mod",
    "Mul",
    "Not",
    "Or",
    "Parallel",
    "Persistent",
    "PersistentTileScheduler",
    "Pipelined",
    "PrimExpr",
    "Ramp",
    "Ref",
    "Select",
    "Serial",
    "SharedBuffer",
    "StridedTensor",
    "StringImm",
    "Sub",
    "Tensor",
    "TensorCoreIntrinEmitter",
    "Then",
    "Unroll",
    "Var",
    "While",
    "__ffs",
    "__ldg",
    "abs",
    "abs2",
    "access_ptr",
    "acos",
    "acosh",
    "activemask",
    "add2",
    "address_of",
    "align_up",
    "all_of",
    "all_sync",
    "alloc_barrier",
    "alloc_buffer",
    "alloc_cluster_barrier",
    "alloc_fragment",
    "alloc_global",
    "alloc_local",
    "alloc_reducer",
    "alloc_shared",
    "alloc_tmem",
    "alloc_var",
    "annotate_compile_flags",
    "annotate_consumer_reg_alloc",
    "annotate_l2_hit_ratio",
    "annotate_layout",
    "annotate_min_blocks_per_sm",
    "annotate_pass_configs",
    "annotate_producer_reg_dealloc",
    "annotate_restrict_buffers",
    "annotate_safe_value",
    "any_of",
    "any_sync",
    "asin",
    "asinh",
    "assume",
    "async_copy",
    "atan",
    "atan2",
    "atanh",
    "atomic_add",
    "atomic_addx2",
    "atomic_addx4",
    "atomic_and",
    "atomic_load",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_store",
    "atomic_xor",
    "attr",
    "ballot",
    "ballot_sync",
    "barrier_arrive",
    "barrier_wait",
    "bfloat16",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "block_rank_in_cluster",
    "bool",
    "break_loop",
    "c2d_im2col",
    "call_extern",
    "call_pure_extern",
    "cast",
    "cdiv",
    "ceil",
    "ceildiv",
    "clamp",
    "clear",
    "cluster_arrive",
    "cluster_arrive_relaxed",
    "cluster_sync",
    "cluster_wait",
    "clz",
    "comm_reducer",
    "const",
    "continue_loop",
    "copy",
    "copy_cluster",
    "copysign",
    "cos",
    "cosh",
    "cp_async_barrier_noinc",
    "cummax",
    "cumsum",
    "deallocate_tmem",
    "dec_max_nreg",
    "device_assert",
    "disable_warp_group_reg_alloc",
    "double",
    "dp4a",
    "dtype",
    "dtypes",
    "dynamic",
    "empty",
    "erf",
    "evaluate",
    "exp",
    "exp2",
    "exp10",
    "fabs",
    "fast_rcp",
    "fence_proxy_async",
    "fill",
    "finalize_reducer",
    "float",
    "float8_e4m3",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "float32",
    "float64",
    "floor",
    "floordiv",
    "floormod",
    "fma",
    "fma2",
    "fmod",
    "fmul",
    "fp8",
    "gemm",
    "gemm_sp",
    "get_block_binding",
    "get_block_bindings",
    "get_block_extent",
    "get_block_extents",
    "get_lane_idx",
    "get_swizzle_layout",
    "get_thread_binding",
    "get_thread_bindings",
    "get_thread_extent",
    "get_thread_extents",
    "get_warp_group_idx",
    "get_warp_idx",
    "get_warp_idx_sync",
    "grid",
    "half",
    "hypot",
    "ieee_add",
    "ieee_fdiv",
    "ieee_fmaf",
    "ieee_frcp",
    "ieee_frsqrt",
    "ieee_fsqrt",
    "ieee_mul",
    "ieee_sub",
    "if_then_else",
    "im2col",
    "inc_max_nreg",
    "index_to_coordinates",
    "infinity",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "isfinite",
    "isinf",
    "isnan",
    "ldexp",
    "ldg32",
    "ldg64",
    "ldg128",
    "ldg256",
    "lds32",
    "lds64",
    "lds128",
    "likely",
    "log",
    "log1p",
    "log2",
    "log10",
    "long",
    "loop_break",
    "macro",
    "make_mma_swizzle_layout",
    "make_tensor",
    "make_tensor_from_addr",
    "match_all_sync",
    "match_any_sync",
    "max",
    "max2",
    "max_value",
    "mbarrier_arrive",
    "mbarrier_arrive_expect_tx",
    "mbarrier_expect_tx",
    "mbarrier_wait_parity",
    "min",
    "min2",
    "min_value",
    "mul2",
    "named_barrier_arrive",
    "nearbyint",
    "nextafter",
    "no_set_max_nreg",
    "parallel",
    "pdl_sync",
    "pdl_trigger",
    "popcount",
    "pow",
    "prim_func",
    "print",
    "ptr",
    "ptx_commit_group",
    "ptx_cp_async",
    "ptx_wait_group",
    "range",
    "reduce_absmax",
    "reduce_abssum",
    "reduce_bitand",
    "reduce_bitor",
    "reduce_bitxor",
    "reduce_max",
    "reduce_min",
    "reduce_sum",
    "reducer_init",
    "reducer_update",
    "reinterpret",
    "reshape",
    "rng_init",
    "rng_rand",
    "rng_rand_float",
    "round",
    "rsqrt",
    "serial",
    "set_max_nreg",
    "shfl_down",
    "shfl_sync",
    "shfl_up",
    "shfl_xor",
    "shift_left",
    "shift_right",
    "short",
    "shuffle_elect",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "stg32",
    "stg64",
    "stg128",
    "stg256",
    "sts32",
    "sts64",
    "sts128",
    "sub2",
    "symbolic",
    "sync_grid",
    "sync_threads",
    "sync_warp",
    "syncthreads_and",
    "syncthreads_count",
    "syncthreads_or",
    "tan",
    "tanh",
    "tcgen05_after_thread_sync",
    "tcgen05_before_thread_sync",
    "tcgen05_gemm",
    "tcgen05_gemm_sp",
    "tcgen05_mma_arrive",
    "tfloat32",
    "thread_binding",
    "thread_return",
    "tma_copy",
    "tma_store_arrive",
    "tma_store_wait",
    "transpose",
    "trunc",
    "truncdiv",
    "truncmod",
    "tvm_access_ptr",
    "tvm_storage_sync",
    "tvm_thread_allreduce",
    "tvm_warp_shuffle",
    "tvm_warp_shuffle_down",
    "tvm_warp_shuffle_up",
    "type_annotation",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unroll",
    "use_swizzle",
    "vectorized",
    "view",
    "wait_wgmma",
    "warp_reduce_bitand",
    "warp_reduce_bitor",
    "warp_reduce_max",
    "warp_reduce_min",
    "warp_reduce_sum",
    "warpgroup_arrive",
    "warpgroup_commit_batch",
    "warpgroup_fence_operand",
    "warpgroup_wait",
    "wgmma_gemm",
    "wgmma_gemm_sp",
    "ws",
]

_vocabulary.set_language(_sys.modules[__name__], __all__)
