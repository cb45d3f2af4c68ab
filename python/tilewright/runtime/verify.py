"""`kernel.verify()`: every engine and architecture, compared with the reference interpreter.

Each engine runs on copies of the arguments. Values agree when they differ by at most the error
radii that the interpreter carries for both runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tilewright.runtime.arguments import bind_symbols, convert_argument, is_torch
from tilewright.runtime.device import ARCHS, TYPICAL_ARCHS
from tilewright.runtime.made_up import make_inputs, symbols_of
from tilewright.runtime.packing import with_strides_of
from tilewright.support.errors import LanguageError, as_report
from tilewright.support.waiting import waiting
from tilewright.types.dtypes import canonical

__tracebackhide__ = True  # pytest shows the user's frames


@dataclass(frozen=True)
class Difference:
    """The first element of a tensor on which an engine differs from the interpreter."""

    tensor: str
    index: tuple[int, ...] | None  # logical; None for memory that belongs to no element
    offset: int  # in memory, counted in elements
    expected: Any  # the interpreter's value
    got: Any  # the other engine's
    count: int  # elements of the tensor that differ
    writer: dict[str, Any] | None = None  # source, ptx_line, block and thread of the last write
    engine: str = ""

    def __str__(self) -> str:
        where = f"'{self.tensor}'[{', '.join(map(str, self.index))}]" if self.index else (
            f"'{self.tensor}', offset {self.offset} of its memory, which is no element"
        )  # fmt: skip
        text = f"{where}: the interpreter gives {self.expected}, {self.engine} gives {self.got}"
        if self.writer is not None:
            line = f"ptx:{self.writer['ptx_line']}"
            source = self.writer["source"]
            location = f"{source} ({line})" if source else line
            block, thread = (tuple(self.writer[key]) for key in ("block", "thread"))
            text += f", written by {location}, block {block}, thread {thread}"
        elif self.engine.startswith("vgpu:"):
            text += ", where no thread has written it"
        return text + (f"; {self.count} elements differ" if self.count > 1 else "")


@dataclass
class Verification:
    """What a comparison saw; true if all engines agree and no check found anything."""

    kernel: str
    engines: list[str] = field(default_factory=list)  # that ran, the interpreter first
    differences: list[Difference] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)  # as `kernel.findings` has them
    notes: list[dict[str, Any]] = field(default_factory=list)  # the same, worth knowing
    refused: dict[str, str] = field(default_factory=dict)  # engines that cannot run it, and why
    made_up: dict[str, Any] | None = None  # sizes and numbers that were chosen; None: all given
    compared: int = 0  # values of one engine
    undecided: int = 0
    counters: list[dict[str, Any]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return len(self.engines) > 1 and not self.differences and not self.findings

    @property
    def headline(self) -> str:
        """The result in one line."""
        *most, last = self.engines or ["no engine"]
        engines = f"{', '.join(most)} and {last}" if most else last
        verdict = "agree" if self else "DIFFER"
        if self.findings and not self.differences:
            verdict = f"agree, but the checks found {len(self.findings)} defect(s)"
        elif len(self.engines) < 2:
            verdict = "alone ran: nothing to compare with"
        text = f"'{self.kernel}': {engines} {verdict}: {self.compared} values compared"
        if self.undecided:
            text += f", {self.undecided} undecided"
        if self.made_up is not None:
            chosen = ", ".join(f"{name} = {value}" for name, value in self.made_up.items())
            text += f" on made-up inputs ({chosen})" if chosen else " on made-up inputs"
        if self.refused:
            text += f"; refused by {', '.join(self.refused)}"
        return text

    def __str__(self) -> str:
        reasons = [f"{engine} refuses it: {text}" for engine, text in self.refused.items()]
        details = [str(d) for d in self.differences] + [f["text"] for f in self.findings]
        return "\n".join([self.headline, *reasons, *details])

    def _repr_html_(self) -> str:
        from tilewright.support.html import line, table

        rows = [
            (engine, "reference" if engine == "interp" else self._verdict_of(engine))
            for engine in self.engines
        ]
        rows += [(engine, f"refuses it: {text}") for engine, text in self.refused.items()]
        text = line(self.headline, "green" if self else "firebrick")
        text += table(("engine", "result"), rows)
        return text + "".join(line(finding["text"]) for finding in self.findings)

    def _verdict_of(self, engine: str) -> str:
        differences = [str(d) for d in self.differences if d.engine == engine]
        return "; ".join(differences) or "agrees"

    def __repr__(self) -> str:
        return f"<verification: {self.headline}>"


class _Verifier:
    """One comparison: each engine runs on copies of the arguments."""

    def __init__(self, kernel: Any, values: Sequence[Any], ptx: str | None) -> None:
        self.kernel, self.values = kernel, values
        self.gpu_options = {} if ptx is None else {"ptx": ptx}
        self.is_undefined = False  # the interpreter found a defect
        self.result = Verification(kernel.name)

    def run(self, engines: Sequence[str]) -> Verification:
        """Compares these engines with the interpreter."""
        expected, reference = self._launch(
            "interp", {"bounds": True, "unwritten": self.kernel.out_idx}
        )
        self.result.engines.append("interp")
        self._add_findings("interp", reference)
        if any(finding["severity"] == "error" for finding in self.result.findings):
            return self.result  # the program ends there
        self.is_undefined = bool(self.result.findings)
        for engine in engines:
            self._compare_engine(engine, expected, reference["radii"])
        return self.result

    def _compare_engine(self, engine: str, expected: list[Any], radii: dict[int, Any]) -> None:
        is_gpu = engine.startswith("vgpu:")
        try:
            if is_gpu and not self.gpu_options:
                self.kernel._compiled(engine.removeprefix("vgpu:"))
        except Exception as error:
            self.result.refused[engine] = _reason(error)
            return
        try:
            got, run = self._launch(engine, self.gpu_options if is_gpu else {})
        except Exception as error:
            self.result.findings.append(_failure(engine, error))
            return
        self.result.engines.append(engine)
        self._add_findings(engine, run)
        if self.is_undefined:
            return  # values that depend on a defect differ because of it
        self.result.compared = self.result.undecided = 0
        for position, parameter in enumerate(self.kernel.params):
            if parameter["kind"] == "tensor" and expected[position] is not None:
                radius = radii.get(position, 0.0)
                self._compare(engine, position, got[position], expected[position], radius)

    def _add_findings(self, engine: str, run: dict[str, Any]) -> None:
        for finding in run["findings"]:
            into = self.result.notes if finding["severity"] == "note" else self.result.findings
            same = [f for f in into if all(f[n] == finding[n] for n in ("file", "line", "kind"))]
            if not same:  # what another engine has said is said once
                into.append({**finding, "engine": engine})
        from tilewright.runtime.vgpu import read_launch

        self.result.counters += [read_launch(text).counters for text in run["launches"]]

    def _launch(self, engine: str, options: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        copies: dict[int, Any] = {}  # an argument that is given twice stays one
        values = [copies.setdefault(id(value), to_numpy(value)) for value in self.values]
        converted = [
            with_strides_of(original, convert_argument(value, parameter), parameter)
            for original, value, parameter in zip(
                self.values, values, self.kernel.params, strict=True
            )
        ]
        with waiting(f"verify '{self.kernel.name}' on {engine}"):
            return values, self.kernel.program.run(engine, converted, options)

    def _compare(self, engine: str, position: int, got: Any, want: Any, radii: Any) -> None:
        import numpy as np

        shape, got, want = got.shape, got.ravel(), want.ravel()
        self.result.compared += got.size
        if got.dtype.kind in "iub":
            wrong = got != want
        else:
            left, right = got.astype(np.float64), want.astype(np.float64)
            radius = np.asarray(radii, np.float64)
            undecided = np.isinf(radius)
            self.result.undecided += int(undecided.sum())
            same = (left == right) | (np.isnan(left) & np.isnan(right)) | undecided
            with np.errstate(invalid="ignore"):
                wrong = ~same & ~(np.abs(left - right) <= 2 * radius)
        if not wrong.any():
            return
        offset = int(np.flatnonzero(wrong)[0])
        index = self.kernel.program.logical_index(position, list(shape), offset)
        self.result.differences.append(
            Difference(
                self.kernel.params[position]["name"], None if index is None else tuple(index),
                offset, want[offset], got[offset], int(wrong.sum()),
                self._writer(engine, position, offset * got.itemsize, got.itemsize), engine,
            )
        )  # fmt: skip

    def _writer(self, engine: str, position: int, offset: int, size: int) -> dict[str, Any] | None:
        """Who wrote the bytes last: the virtual GPU runs once more and watches them."""
        if not engine.startswith("vgpu:"):
            return None
        from tilewright.runtime.vgpu import read_launch

        options = {**self.gpu_options, "watch": (position, offset, size)}
        _, run = self._launch(engine, options)
        writes = [launch.last_write for launch in map(read_launch, run["launches"])]
        return next((write for write in reversed(writes) if write), None)


def to_numpy(value: Any) -> Any:
    """A copy of an argument in main memory; numbers stay."""
    import numpy as np

    if is_torch(value):
        if not value.ndim:
            return value.item()
        import torch

        plain = value.detach().cpu().contiguous()
        kind = canonical(value.dtype).as_numpy()
        if kind.kind in "fiub" and kind.name in np.sctypeDict:  # numpy has it itself
            return plain.numpy().copy()
        carrier = {1: torch.uint8, 2: torch.int16}[plain.element_size()]
        return plain.view(carrier).numpy().copy().view(kind)
    if hasattr(value, "__cuda_array_interface__") and hasattr(value, "get"):
        return value.get()
    if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
        return np.array(np.from_dlpack(value))
    return np.array(value) if getattr(value, "ndim", 0) else value


def _reason(error: Exception) -> str:
    report = as_report(error)
    if report is None or report.kind == "internal error":
        raise error
    return report.message


def _failure(engine: str, error: Exception) -> dict[str, Any]:
    """An engine's run-time error as a finding; other errors propagate."""
    report = as_report(error)
    if report is None or report.kind == "internal error":
        raise error
    location = report.location
    return {
        "severity": "error", "kind": "error", "message": report.message, "count": 1,
        "file": location.file if location else "", "line": location.line if location else 0,
        "column": 0,
        "engine": engine, "text": f"{engine}: {report}",
    }  # fmt: skip


def _allocate(kernel: Any, values: list[Any]) -> list[Any]:
    """The arguments with the outputs that a call allocates: the same bytes for every engine."""
    import numpy as np

    from tilewright.runtime.arguments import output_maker

    converted = [
        None if position in kernel.out_idx else convert_argument(to_numpy(value), parameter)
        for position, (value, parameter) in enumerate(zip(values, kernel.params, strict=True))
    ]
    symbols = bind_symbols(kernel.params, converted)
    for position in kernel.out_idx:
        values[position] = output_maker(kernel.params[position], symbols, [np.zeros(1)])()
    return values


def _refuse_sizes(kernel: Any, kwargs: dict[str, Any]) -> None:
    """The error for `verify(n=100)` where `n` is a symbol of shapes."""
    symbols = set(symbols_of(kernel.params)) - {parameter["name"] for parameter in kernel.params}
    for name, value in kwargs.items():
        if name in symbols:
            raise LanguageError(
                f"'{name}' is no parameter of '{kernel.name}', but a symbol of its shapes",
                hint=f"pass sizes={{'{name}': {value}}}",
            )


def verify(
    kernel: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    arch: str | None = None,
    ptx: str | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Verification:
    """Runs copies of `args`, or made-up inputs, on the engines and compares every tensor."""
    made_up = None
    wanted = len(kernel.params) - len(kernel.out_idx)
    if not args and not kwargs and wanted:
        values, made_up = make_inputs(kernel.params, kernel.out_idx, sizes)
    elif sizes:
        raise LanguageError("'sizes' are for made-up inputs: pass them without arguments")
    else:
        _refuse_sizes(kernel, kwargs)
        values = kernel._arrange(args, kwargs)
        converted = [
            convert_argument(value, parameter, on_cuda=True)
            for position, (value, parameter) in enumerate(zip(values, kernel.params, strict=True))
            if position not in kernel.out_idx
        ]
        if not kernel.out_idx and not any(isinstance(v, tuple) and v[-1] for v in converted):
            kernel.program.check_arguments(converted)  # as a call would: it refuses strides
    if arch is None and ptx is not None:
        arch = kernel.placement.arch
    archs = {None: TYPICAL_ARCHS, "all": ARCHS}.get(arch, (arch,))
    engines = [*(["cpu"] if arch in (None, "all") else []), *(f"vgpu:{name}" for name in archs)]
    result = _Verifier(kernel, _allocate(kernel, values), ptx).run(engines)
    result.made_up = made_up
    return result


def verify_on(kernel: Any, call: list[Any] | None, engines: Sequence[str]) -> Verification:
    """The comparison on these engines, on the arguments of a call in parameter order (None for
    outputs), or on made-up ones."""
    made_up = None
    if call is None:
        call, made_up = make_inputs(kernel.params, kernel.out_idx)
    result = _Verifier(kernel, _allocate(kernel, list(call)), None).run(engines)
    result.made_up = made_up
    return result
