"""`kernel.verify(*args)`: the interpreter and the virtual GPU, side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tilewright.arguments import convert_argument
from tilewright.vgpu import read_launch


@dataclass(frozen=True)
class Difference:
    """The first element of a tensor on which the engines differ."""

    tensor: str
    index: tuple[int, ...] | None  # logical; None for memory that belongs to no element
    place: int  # in memory, counted in elements
    expected: Any  # the interpreter's value
    got: Any  # the virtual GPU's
    count: int  # elements of the tensor that differ
    writer: dict[str, Any] | None = None  # source, ptx_line, block and thread of the last write

    def __str__(self) -> str:
        where = f"'{self.tensor}'[{', '.join(map(str, self.index))}]" if self.index else (
            f"'{self.tensor}', place {self.place} of its memory, which is no element"
        )  # fmt: skip
        text = f"{where}: the interpreter gives {self.expected}, the virtual GPU {self.got}"
        if self.writer is None:
            text += ", where no thread has written it"
        else:
            line = f"ptx:{self.writer['ptx_line']}"
            source = self.writer["source"]
            place = f"{source} ({line})" if source else line
            block, thread = (tuple(self.writer[key]) for key in ("block", "thread"))
            text += f", written by {place}, block {block}, thread {thread}"
        return text + (f"; {self.count} elements differ" if self.count > 1 else "")


@dataclass
class Verification:
    """What a comparison saw; true if both engines agree and no check found anything."""

    arch: str
    differences: list[Difference] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    compared: int = 0
    undecided: int = 0
    counters: list[dict[str, Any]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.differences and not self.findings

    def __str__(self) -> str:
        verdict = "agree" if self else "DIFFER"
        lines = [
            f"interpreter and vgpu:{self.arch} {verdict}: {self.compared} values compared, "
            f"{self.undecided} undecided"
        ]
        return "\n".join(lines + [str(d) for d in self.differences] + self.findings)


class _Verifier:
    """One comparison: each engine runs on copies of the arguments."""

    def __init__(self, kernel: Any, args: tuple[Any, ...], arch: str, ptx: str | None):
        self.kernel, self.args = kernel, args
        self.device = f"vgpu:{arch}"
        self.gpu_options = {} if ptx is None else {"ptx": ptx}
        self.result = Verification(arch)

    def run(self) -> Verification:
        expected, reference = self._launch("interp", {"bounds": True})
        got, checked = self._launch(self.device, self.gpu_options)
        for launch in map(read_launch, checked["launches"]):
            self.result.findings += [str(finding) for finding in launch.findings]
            self.result.counters.append(launch.counters)
        for position, parameter in enumerate(self.kernel.params):
            if parameter["kind"] == "tensor":
                radii = reference["radii"].get(position, 0.0)
                self._compare(position, got[position], expected[position], radii)
        return self.result

    def _launch(self, device: str, options: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        import numpy as np

        copies = [np.array(a) if getattr(a, "ndim", 0) else a for a in self.args]
        converted = [
            convert_argument(value, parameter)
            for value, parameter in zip(copies, self.kernel.params, strict=True)
        ]
        return copies, self.kernel.program.run(device, converted, options)

    def _compare(self, position: int, got: Any, want: Any, radii: Any) -> None:
        import numpy as np

        shape, got, want = got.shape, got.ravel(), want.ravel()
        self.result.compared += got.size
        if got.dtype.kind in "iub":
            wrong = got != want
        else:
            difference = np.abs(got.astype(np.float64) - want.astype(np.float64))
            radius = np.asarray(radii, np.float64)
            undecided = np.isinf(radius)
            self.result.undecided += int(undecided.sum())
            same = (got == want) | (np.isnan(got) & np.isnan(want)) | undecided
            wrong = ~same & ~(difference <= 2 * radius)
        if not wrong.any():
            return
        index, place = self._first_element(position, shape, np.flatnonzero(wrong))
        self.result.differences.append(
            Difference(
                self.kernel.params[position]["name"], index, place, want[place], got[place],
                int(wrong.sum()), self._writer(position, place * got.itemsize, got.itemsize),
            )
        )  # fmt: skip

    def _first_element(
        self, position: int, shape: tuple[int, ...], places: Any
    ) -> tuple[tuple[int, ...] | None, int]:
        """Of the differing places the first in memory, with the index of what lies there."""
        index = self.kernel.program.logical_index(position, list(shape), int(places[0]))
        return (None if index is None else tuple(index)), int(places[0])

    def _writer(self, position: int, offset: int, size: int) -> dict[str, Any] | None:
        """Who wrote the bytes last: the virtual GPU runs once more and watches them."""
        options = {**self.gpu_options, "watch": (position, offset, size)}
        _, run = self._launch(self.device, options)
        writes = [launch.last_write for launch in map(read_launch, run["launches"])]
        return next((write for write in reversed(writes) if write), None)


def verify(kernel: Any, args: tuple[Any, ...], arch: str, ptx: str | None = None) -> Verification:
    """Runs copies of `args` on both engines and compares every tensor."""
    return _Verifier(kernel, args, arch, ptx).run()
