"""The virtual GPU: runs PTX text, ours or anyone's, on the CPU, and checks it as it runs.

result = tilewright.vgpu.launch(ptx, "saxpy", grid=4, block=256, args=[a, x, y, np.int32(n)])
assert not result.findings
"""

from __future__ import annotations

import json
import operator
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from numbers import Real
from typing import Any

from tilewright._core import core
from tilewright.support.errors import LanguageError, reporting


@dataclass(frozen=True)
class Finding:
    """One defect that a check saw, at the instruction where it showed."""

    kind: str
    message: str
    ptx_line: int
    source: str
    block: tuple[int, ...]
    thread: tuple[int, ...]
    data: dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return self.data["text"]


@dataclass(frozen=True)
class TensorMap:
    """A TMA descriptor (CUtensorMap) of a numpy array, for a kernel's tensor-map parameter.

    The kernel moves boxes of `box` elements; dimensions are in numpy's order, the innermost last.
    The array may be a view with strides, of permuted dimensions too, if the innermost one is dense:
    `TensorMap(x.transpose(1, 0, 2)[:, ::2], ...)`. It, or the array it is a view of, may also be
    passed as an ordinary argument of the same launch.
    """

    array: Any
    box: Sequence[int]
    swizzle: str = "none"  # "none", "32B", "64B" or "128B"
    oob_fill: str = "zeros"  # what loads give outside the array: "zeros" or "nan"
    #: Im2col mode, for an array of images, rows, columns (or less) and channels: the lower and the
    #: upper corner of the bounding box, ((-1, -1), (-1, -1)) for 3 x 3 filters with padding. The
    #: box then is (pixels, channels of each).
    corners: tuple[Sequence[int], Sequence[int]] | None = None


@dataclass(frozen=True)
class Result:
    """What a launch left besides the arrays it wrote."""

    findings: list[Finding]
    notes: list[Finding]
    counters: dict[str, Any]
    complete: bool
    output: str = ""  # what the kernel printed
    last_write: dict[str, Any] | None = None  # who wrote the bytes that were watched


def _finding(entry: dict[str, Any]) -> Finding:
    return Finding(
        entry.get("kind", ""),
        entry.get("message", ""),
        entry.get("ptx_line", 0),
        entry.get("source", ""),
        tuple(entry.get("block", ())),
        tuple(entry.get("thread", ())),
        entry,
    )


def read_launch(text: str) -> Result:
    """The result of a launch from the JSON text that the core gives."""
    data = json.loads(text)
    entries = [_finding(entry) for entry in data["findings"]]
    return Result(
        [entry for entry in entries if not entry.data["note"]],
        [entry for entry in entries if entry.data["note"]],
        data["counters"],
        data["complete"],
        data["output"],
        data.get("last_write"),
    )


def _number(value: Any, name: str, least: int, most: int) -> int:
    """`value` as an integer in a range, or an error that names it."""
    try:
        number = operator.index(None if isinstance(value, bool) else value)  # True is no number
    except TypeError:
        kind = type(value).__name__
        raise LanguageError(f"'{name}': expected an integer, got {kind} {value!r}") from None
    if not least <= number <= most:
        raise LanguageError(f"'{name}': expected a number from {least} to {most}, got {number}")
    return number


def _extents(value: int | Sequence[int], name: str) -> list[int]:
    extents = list(islice(value, 4)) if isinstance(value, Iterable) else [value]
    if isinstance(value, str | bytes) or not 1 <= len(extents) <= 3:
        raise LanguageError(f"'{name}': expected 1 to 3 extents, got {value!r}")
    return [_number(extent, name, 1, 2**31 - 1) for extent in extents] + [1] * (3 - len(extents))


def _seconds(value: float, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value < 1e9:
        raise LanguageError(f"'{name}': expected seconds, 0 for no limit, got {value!r}")
    return float(value)


# Element types of tensor maps by numpy's names; TMA moves other 8- and 16-bit types as integers.
_TENSOR_TYPES = {
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "int32": "s32",
    "uint64": "u64",
    "int64": "s64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
}


def _tensor_type(dtype: Any) -> str:
    return _TENSOR_TYPES.get(dtype.name) or {1: "u8", 2: "u16"}.get(dtype.itemsize, dtype.name)


def _numbers(values: Any, name: str, least: int, most: int) -> list[int]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise LanguageError(f"'{name}': expected a list of integers, got {values!r}")
    return [_number(value, name, least, most) for value in values]


def _array(value: Any, position: int) -> Any:
    """An array as numpy knows it: a class of the user's may say anything of its instances."""
    import numpy

    array = numpy.ndarray.view(value, numpy.ndarray)
    if array.dtype.hasobject:
        raise LanguageError(
            f"argument {position}: expected an array of numbers, got one of Python objects"
        )
    return array


def _memory(array: Any, position: int) -> tuple[int, int, str]:
    """Where an array lies; a view with strides lies in the array it is a view of."""
    if min(array.strides, default=0) < 0:
        raise LanguageError(f"argument {position}: a tensor map cannot have negative strides")
    while not array.flags.c_contiguous and _is_array(array.base):
        array = _array(array.base, position)
    extents = zip(array.shape, array.strides, strict=True)
    span = sum((extent - 1) * stride for extent, stride in extents) + array.itemsize
    if not array.flags.writeable or array.size == 0:
        raise LanguageError(f"argument {position}: a tensor map needs a writable array of elements")
    return (array.ctypes.data, span, f"argument {position}")


def _is_array(value: Any) -> bool:
    import numpy

    return issubclass(type(value), numpy.ndarray)


def _map_argument(value: TensorMap, position: int) -> Any:
    if not _is_array(value.array):
        kind = type(value.array).__name__
        raise LanguageError(f"argument {position}: a tensor map needs a numpy array, got {kind}")
    array = _array(value.array, position)
    name = f"argument {position}"
    corners = () if value.corners is None else value.corners
    if len(corners) not in (0, 2):
        raise LanguageError(f"'{name}.corners': expected two corners, got {len(corners)}")
    most = 2**32 - 1
    fields = (
        _tensor_type(array.dtype),
        _numbers(array.shape, f"{name}.shape", 0, most),
        list(array.strides),
        _numbers(value.box, f"{name}.box", 0, most),
        _text(value.swizzle, f"{name}.swizzle"),
        _text(value.oob_fill, f"{name}.oob_fill"),
        *(_numbers(corner, f"{name}.corners", -(2**31), 2**31 - 1) for corner in corners),
    )
    return (*_memory(array, position), fields, array.ctypes.data)


def _argument(value: Any, position: int) -> Any:
    """A numpy array is memory, updated in place; a numpy scalar is passed by value."""
    import numpy

    if isinstance(value, TensorMap):
        return _map_argument(value, position)
    if isinstance(value, numpy.generic):
        return value.tobytes()
    if _is_array(value):
        array = _array(value, position)
        if array.ndim == 0:
            return array.tobytes()
        if not array.flags.c_contiguous or not array.flags.writeable:
            raise ValueError(f"argument {position}: expected a contiguous, writable array")
        return (array.ctypes.data, array.nbytes, f"argument {position}")
    raise TypeError(
        f"argument {position}: expected a numpy array or a numpy scalar such as np.int32(3), "
        f"got {type(value).__name__}"
    )


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise LanguageError(f"'{name}': expected a text, got {type(value).__name__} {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise LanguageError(f"'{name}' is no text: {error}") from None
    return value


class Module:
    """PTX that is loaded once and launched many times."""

    @reporting
    def __init__(self, ptx: str, name: str = "<ptx>"):
        self._core = core.vgpu_load(_text(ptx, "ptx"), _text(name, "name"))

    @reporting
    def launch(
        self,
        entry: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any],
        shared_bytes: int = 0,
        arch: str = "sm_80",
        checks: str = "all",
        count_memory: bool = True,
        threads: int = 0,
        step_limit: int = 0,
        time_limit: float = 0,
        cluster: int | Sequence[int] | None = None,
        mode: str = "early",
    ) -> Result:
        """Runs one kernel; arrays in `args` are updated in place. What it prints goes to stdout.

        `checks` is "all", "none" or a comma-separated list of check names. Without `count_memory`
        the counters are those of instructions only. `threads` are the host's; 0 means all cores.
        A block that has executed `step_limit` warp instructions counts as endless; 0 means 2^34.
        A launch ends after `time_limit` seconds, with a finding; 0 means no limit. Threads that
        repeat the same states for ever are found without either. `cluster` has the blocks of a
        cluster. `mode` says when asynchronous copies and products take effect: "early", when they
        are issued, or "late", when they are waited for; a correct kernel cannot tell.
        """
        if isinstance(args, str | bytes) or not isinstance(args, Iterable):
            raise LanguageError(f"'args': expected a list of arguments, got {args!r}")
        values = list(args)
        arguments = [_argument(value, position) for position, value in enumerate(values)]
        arrays = [value.array if isinstance(value, TensorMap) else value for value in values]
        text = self._core.launch(
            _text(entry, "entry"), _extents(grid, "grid"), _extents(block, "block"),
            _extents(cluster, "cluster") if cluster is not None else [], _text(mode, "mode"),
            arguments, arrays, _number(shared_bytes, "shared_bytes", 0, 2**31 - 1),
            _text(arch, "arch"), _text(checks, "checks"), bool(count_memory),
            _number(threads, "threads", 0, 1024), _number(step_limit, "step_limit", 0, 2**63 - 1),
            _seconds(time_limit, "time_limit"),
        )  # fmt: skip
        result = read_launch(text)
        sys.stdout.write(result.output)
        return result


def launch(
    ptx: str,
    entry: str,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any],
    **options: Any,
) -> Result:
    """Loads `ptx` and runs one kernel of it; the options are those of `Module.launch`."""
    return Module(ptx).launch(entry, grid, block, args, **options)
