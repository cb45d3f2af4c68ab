"""`T.call_extern` of functions that CUDA has: each is one of the language.

A function that only exists in CUDA source text (`T.import_source`, TileLang's templates) is refused
by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from inspect import signature
from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.externs import ExternCall
from tilewright.frontend.trace import dtype_of, is_scalar
from tilewright.language import barriers, exchange, more_math, rounding, scalars, threads, votes
from tilewright.language.more_math import constant
from tilewright.support.errors import LanguageError, caller_location
from tilewright.types.dtypes import is_dtype


def _rounded(dtype: str, mode: str | None = None) -> Callable[[Any], Any]:
    return lambda x: scalars.cast(x, dtype, round=mode)


def _bits(dtype: str, source: str) -> Callable[[Any], Any]:
    return lambda x: scalars.reinterpret(scalars.cast(x, source), dtype)


def _whole(dtype: str, function: Any) -> Callable[[Any], Any]:
    """A float as an integer, after `function` has made it whole."""
    return lambda x: scalars.cast(function(more_math.as_float(x, "T.call_extern")), dtype)


def _in(dtype: str, function: Any) -> Callable[..., Any]:
    """`function` of arguments that have this type."""
    return lambda *args: function(*(scalars.cast(arg, dtype) for arg in args))


def _mulhi(dtype: str, wide: str) -> Callable[[Any, Any], Any]:
    def high(a: Any, b: Any) -> Any:
        a, b = (scalars.cast(scalars.cast(x, dtype), wide) for x in (a, b))
        return scalars.cast((a * b) >> constant(32, wide), dtype)

    return high


def _brev(dtype: str) -> Callable[[Any], Any]:
    def reverse(x: Any) -> Any:
        bits = 32 if dtype == "uint32" else 64
        x = scalars.cast(x, dtype)
        width = bits // 2
        while width:
            mask = sum(((1 << width) - 1) << at for at in range(0, bits, 2 * width))
            step, ones = constant(width, dtype), constant(mask, dtype)
            x = ((x >> step) & ones) | ((x & ones) << step)
            width //= 2
        return x

    return reverse


def _swapped(vote: Callable[..., Any]) -> Callable[..., Any]:
    """CUDA's functions of warps take the mask first."""
    return lambda mask, value: vote(value, mask)


def _shuffle(shuffle: Callable[..., Any]) -> Callable[..., Any]:
    return lambda mask, value, lane, width=32: shuffle(value, lane, width)


_MATH = {
    "exp": scalars.exp, "exp2": scalars.exp2, "exp10": scalars.exp10, "log": scalars.log,
    "log2": scalars.log2, "log10": scalars.log10, "log1p": scalars.log1p, "sqrt": scalars.sqrt,
    "rsqrt": scalars.rsqrt, "sin": scalars.sin, "cos": scalars.cos, "tan": scalars.tan,
    "sinh": scalars.sinh, "cosh": scalars.cosh, "tanh": scalars.tanh, "atan": scalars.atan,
    "asin": more_math.asin, "acos": more_math.acos, "asinh": more_math.asinh,
    "acosh": more_math.acosh, "atanh": more_math.atanh, "erf": scalars.erf,
    "floor": scalars.floor, "ceil": scalars.ceil, "trunc": scalars.trunc, "rint": scalars.round,
    "nearbyint": scalars.round, "fabs": scalars.abs, "fmax": scalars.max, "fmin": scalars.min,
    "pow": scalars.pow, "fmod": scalars.fmod, "atan2": scalars.atan2, "hypot": more_math.hypot,
    "copysign": more_math.copysign, "ldexp": more_math.ldexp, "nextafter": more_math.nextafter,
    "fma": rounding.fma,
}  # fmt: skip

_TABLE: dict[str, Callable[..., Any]] = {
    "__match_any_sync": _swapped(votes.match_any_sync),
    "__match_all_sync": _swapped(votes.match_all_sync),
    "__any_sync": _swapped(votes.any_sync),
    "__all_sync": _swapped(votes.all_sync),
    "__ballot_sync": lambda mask, p: scalars.cast(votes.ballot_sync(p, mask), "uint32"),
    "__activemask": lambda: scalars.cast(votes.activemask(), "uint32"),
    "__shfl_sync": _shuffle(exchange.shfl_sync),
    "__shfl_xor_sync": _shuffle(exchange.shfl_xor),
    "__shfl_up_sync": _shuffle(exchange.shfl_up),
    "__shfl_down_sync": _shuffle(exchange.shfl_down),
    "__syncthreads": barriers.sync_threads,
    "__syncwarp": threads.sync_warp,
    "__syncthreads_count": votes.syncthreads_count,
    "__syncthreads_and": votes.syncthreads_and,
    "__syncthreads_or": votes.syncthreads_or,
    "__popc": lambda x: scalars.cast(scalars.popcount(scalars.cast(x, "uint32")), "int32"),
    "__popcll": lambda x: scalars.cast(scalars.popcount(scalars.cast(x, "uint64")), "int32"),
    "__clz": lambda x: more_math.clz(scalars.cast(x, "int32")),
    "__clzll": lambda x: more_math.clz(scalars.cast(x, "int64")),
    "__ffs": lambda x: more_math.ffs(scalars.cast(x, "int32")),
    "__ffsll": lambda x: more_math.ffs(scalars.cast(x, "int64")),
    "__brev": _brev("uint32"),
    "__brevll": _brev("uint64"),
    "__mulhi": _mulhi("int32", "int64"),
    "__umulhi": _mulhi("uint32", "uint64"),
    "__half2float": _rounded("float32"),
    "__bfloat162float": _rounded("float32"),
    "__float2half": _rounded("float16"),
    "__float2bfloat16": _rounded("bfloat16"),
    "__float_as_int": _bits("int32", "float32"),
    "__float_as_uint": _bits("uint32", "float32"),
    "__int_as_float": _bits("float32", "int32"),
    "__uint_as_float": _bits("float32", "uint32"),
    "__half_as_short": _bits("int16", "float16"),
    "__half_as_ushort": _bits("uint16", "float16"),
    "__short_as_half": _bits("float16", "int16"),
    "__ushort_as_half": _bits("float16", "uint16"),
    "__bfloat16_as_short": _bits("int16", "bfloat16"),
    "__bfloat16_as_ushort": _bits("uint16", "bfloat16"),
    "__short_as_bfloat16": _bits("bfloat16", "int16"),
    "__ushort_as_bfloat16": _bits("bfloat16", "uint16"),
    "max": scalars.max,
    "min": scalars.min,
    "abs": scalars.abs,
    "__frsqrt_rn": _in("float32", rounding.ieee_frsqrt),
    "__saturatef": lambda x: scalars.clamp(scalars.cast(x, "float32"), 0.0, 1.0),
}

# Names that follow a rule: expf and __expf, __float2half_rz, __float2int_rd, __fadd_ru.
for _name, _function in _MATH.items():
    _TABLE[_name] = _in("float64", _function) if _name != "ldexp" else _function
    _TABLE[f"{_name}f"] = _in("float32", _function) if _name != "ldexp" else _function
for _name in ("exp", "exp10", "log", "log2", "log10", "sin", "cos", "tan", "tanh", "pow"):
    _TABLE[f"__{_name}f"] = _in("float32", _MATH[_name])
_TABLE["__fdividef"] = _in("float32", rounding.ieee_fdiv)
for _mode, _ours in (("rn", "rn"), ("rz", "rz"), ("ru", "rp"), ("rd", "rm")):
    _TABLE[f"__float2half_{_mode}"] = _rounded("float16", _ours)
    _TABLE[f"__float2bfloat16_{_mode}"] = _rounded("bfloat16", _ours)
    _TABLE[f"__double2float_{_mode}"] = _rounded("float32", _ours)
    _TABLE[f"__int2float_{_mode}"] = _rounded("float32", _ours)
    _TABLE[f"__uint2float_{_mode}"] = _rounded("float32", _ours)
    _to_whole = {
        "rn": scalars.round, "rz": scalars.trunc, "ru": scalars.ceil, "rd": scalars.floor
    }[_mode]  # fmt: skip
    _TABLE[f"__float2int_{_mode}"] = _whole("int32", _to_whole)
    _TABLE[f"__float2uint_{_mode}"] = _whole("uint32", _to_whole)
    _TABLE[f"__float2ll_{_mode}"] = _whole("int64", _to_whole)
    for _name, _function in (
        ("fadd", rounding.ieee_add), ("fsub", rounding.ieee_sub), ("fmul", rounding.ieee_mul),
        ("fdiv", rounding.ieee_fdiv), ("fmaf", rounding.ieee_fmaf), ("frcp", rounding.ieee_frcp),
        ("fsqrt", rounding.ieee_fsqrt),
    ):  # fmt: skip
        _TABLE[f"__{_name}_{_mode}"] = lambda *args, function=_function, mode=_mode: function(
            *(scalars.cast(arg, "float32") for arg in args), mode
        )


def hint_for(name: str) -> str:
    """What to use instead of a function that is not known."""
    close = get_close_matches(name, _TABLE, n=1, cutoff=0.8)
    return f"did you mean '{close[0]}'?" if close else "write it in the language"


def call_extern(*arguments: Any, dtype: Any = None) -> Any:
    """`T.call_extern(dtype, "__float2half_rz", x)`: a function of CUDA by its name.

    The result has the type `dtype`. Only functions that CUDA itself has are known. A call of
    another one that gives nothing (`"handle"`) stands for something that the program puts in its
    place, or removes, before it compiles the function (`tvm.tirx.stmt_functor.ir_transform`).

    Example:
        B[i, j] = T.call_extern("float32", "sinf", A[i, j])
    """
    rest = list(arguments)
    if dtype is None:
        dtype = rest.pop(0) if rest else None
    name = rest.pop(0) if rest else None
    if not isinstance(name, str) or (dtype not in ("handle", "void", "") and not is_dtype(dtype)):
        raise LanguageError("'T.call_extern' takes a dtype, the name of a function and arguments")
    function = _TABLE.get(name.removeprefix("::"))
    if function is None and dtype in ("handle", "void", "") and trace.active() is not None:
        call = ExternCall(name, tuple(rest), caller_location())
        trace.require("T.call_extern").externs.append(call)
        return None
    if function is None:
        raise LanguageError(
            f"'T.call_extern': the function '{name}' is not supported: functions in CUDA source "
            "text cannot run here",
            hint=hint_for(name),
        )
    try:
        signature(function).bind(*rest)
    except TypeError as error:
        raise LanguageError(f"'T.call_extern' of '{name}': {error}") from None
    result = function(*rest)
    if not is_scalar(result) or not is_dtype(dtype):
        return result
    return result if dtype_of(result) == str(dtype) else scalars.cast(result, dtype)


def call_pure_extern(*arguments: Any, dtype: Any = None) -> Any:
    """As `T.call_extern`.

    Example:
        B[i, j] = T.call_pure_extern("float32", "sinf", A[i, j])
    """
    return call_extern(*arguments, dtype=dtype)
