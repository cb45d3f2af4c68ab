"""`kernel.verify(*args)`: the interpreter and the virtual GPU, side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tilewright.arguments import convert_argument
from tilewright.vgpu import read_launch


@dataclass
class Verification:
    """What a comparison saw; true if both engines agree and no check found anything."""

    arch: str
    differences: list[str] = field(default_factory=list)
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
        return "\n".join(lines + self.differences + self.findings)


def _compare(result: Verification, name: str, got: Any, want: Any, radii: Any) -> None:
    import numpy as np

    got, want = got.ravel(), want.ravel()
    result.compared += got.size
    if got.dtype.kind in "iub":
        wrong = got != want
    else:
        difference = np.abs(got.astype(np.float64) - want.astype(np.float64))
        radius = np.asarray(radii, np.float64)
        undecided = np.isinf(radius)
        result.undecided += int(undecided.sum())
        same = (got == want) | (np.isnan(got) & np.isnan(want)) | undecided
        wrong = ~same & ~(difference <= 2 * radius)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        result.differences.append(
            f"'{name}' element {first} of memory: the interpreter gives {want[first]!r}, the "
            f"virtual GPU {got[first]!r}; {int(wrong.sum())} elements differ"
        )


def verify(kernel: Any, args: tuple[Any, ...], arch: str) -> Verification:
    """Runs copies of `args` on both engines and compares every tensor."""
    import numpy as np

    result = Verification(arch)
    runs = {}
    for device, options in (("interp", {"bounds": True}), (f"vgpu:{arch}", {})):
        copies = [np.array(a) if getattr(a, "ndim", 0) else a for a in args]
        converted = [
            convert_argument(value, parameter)
            for value, parameter in zip(copies, kernel.params, strict=True)
        ]
        runs[device] = (copies, kernel.program.run(device, converted, options))
    expected, reference = runs["interp"]
    got, checked = runs[f"vgpu:{arch}"]
    for launch in map(read_launch, checked["launches"]):
        result.findings += [str(finding) for finding in launch.findings]
        result.counters.append(launch.counters)
    for position, parameter in enumerate(kernel.params):
        if parameter["kind"] == "tensor":
            radii = reference["radii"].get(position, 0.0)
            _compare(result, parameter["name"], got[position], expected[position], radii)
    return result
