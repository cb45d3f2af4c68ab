"""Which engines and architectures support a name of the language: where its example runs.

docs/reference/support.tsv has what is refused; scripts/language_support.py writes it.
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from docs_pages import language
from docs_pages.docstrings import parts_of, program_of

TABLE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "support.tsv"
HEAD = "name\tdevices that refuse it\treason\n"


@cache
def devices() -> tuple[str, ...]:
    """The engines, and the virtual GPU of each architecture."""
    from tilewright.runtime.device import DEVICES

    return DEVICES


@cache
def examples() -> dict[str, str]:
    """By name, programs; of an element type one that copies and adds numbers of it."""
    found: dict[str, str] = {}
    for family in language.FAMILIES:
        for name, thing in language.names_of(family).items():
            example = type_example(name) if family == "types" else parts_of(thing)[1]
            if example:
                found[name] = program_of(example)
    return found


def type_example(name: str) -> str:
    """A part of a kernel that keeps and copies numbers of a type; empty for what is no type."""
    import tilewright.language as T
    from tilewright import dtypes

    if not isinstance(getattr(T, name), dtypes.dtype):
        return ""
    return (
        "@T.prim_func\n"
        f"def main(A: T.Tensor((64,), T.{name}), B: T.Tensor((64,), T.{name})):\n"
        "    with T.Kernel(1, threads=64):\n"
        f"        s = T.alloc_shared((64,), T.{name})\n"
        "        T.copy(A, s)\n"
        "        T.copy(s, B)\n"
    )


def run(program: str, device: str) -> None:
    """Runs a program on arrays of ones; a finding is an error."""
    import numpy as np
    import tilewright

    before = os.environ.get("TILEWRIGHT_DEVICE")
    os.environ["TILEWRIGHT_DEVICE"] = device
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "example.py")
            file.write_text(program, encoding="utf-8")
            namespace: dict[str, Any] = {"__name__": "example"}
            exec(compile(program, str(file), "exec"), namespace)
            if "main" not in namespace:  # an eager kernel
                namespace["double"](np.ones((64, 64), np.float32))
                return
            kernel = tilewright.compile(namespace["main"])
            kernel(*[ones(parameter) for parameter in kernel.params])
    finally:
        if before is None:
            del os.environ["TILEWRIGHT_DEVICE"]
        else:
            os.environ["TILEWRIGHT_DEVICE"] = before


def ones(parameter: dict[str, Any]) -> Any:
    """An argument for a parameter; symbols are 100."""
    import numpy as np
    from tilewright.types.dtypes import canonical

    shape = [extent if isinstance(extent, int) else 100 for extent in parameter["shape"]]
    return np.ones(shape, canonical(parameter["dtype"]).as_numpy())


def refusals(program: str) -> dict[str, list[str]]:
    """The devices that refuse a program, by what they say."""
    from tilewright.support.errors import TilewrightError

    found: dict[str, list[str]] = defaultdict(list)
    for device in devices():
        try:
            run(program, device)
        except TilewrightError as error:
            found[error.message.split("\n")[0].replace("\t", " ")].append(device)
    return dict(found)


def text_of(table: dict[str, dict[str, list[str]]]) -> str:
    """The file: a head, and for each refusal name, devices, reason."""
    return HEAD + "".join(
        f"{name}\t{' '.join(refusing)}\t{reason}\n"
        for name, reasons in sorted(table.items())
        for reason, refusing in reasons.items()
    )


@cache
def table() -> dict[str, dict[str, list[str]]]:
    """The file as data."""
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for line in TABLE.read_text(encoding="utf-8").removeprefix(HEAD).splitlines():
        name, refusing, reason = line.split("\t")
        found[name][reason] = refusing.split()
    return dict(found)
