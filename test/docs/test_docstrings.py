"""Every public name has a docstring with an example that runs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from docs_pages import language, python_api
from docs_pages.docstrings import parts_of, program_of

#: Names that programs for TVM pass on to others, and which mean nothing alone.
WITHOUT_EXAMPLE = {
    "address_of", "attr", "comm_reducer", "dtype", "dtypes", "make_tensor", "make_tensor_from_addr",
    "ptr", "tvm_access_ptr", "tvm_thread_allreduce", "type_annotation",
}  # fmt: skip
ENGINES = ("interp", "cpu", "vgpu:sm_80", "vgpu:sm_90a")


@cache
def examples() -> dict[str, str]:
    """By name; of equal examples only the first."""
    found: dict[str, str] = {}
    for family in language.FAMILIES:
        for name, thing in language.names_of(family).items():
            example = parts_of(thing)[1] if family != "types" else ""
            if example and example not in found.values():
                found[name] = example
    return found


def run(name: str, folder: Path, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the example on arrays of ones; a finding is an error."""
    monkeypatch.setenv("TILEWRIGHT_DEVICE", device)
    text = program_of(examples()[name])
    file = folder / "example.py"
    file.write_text(text, encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": "example"}
    exec(compile(text, str(file), "exec"), namespace)
    if "main" not in namespace:  # an eager kernel
        namespace["double"](np.ones((64, 64), np.float32))
        return
    kernel = tilewright.compile(namespace["main"])
    kernel(*[np.ones([e if isinstance(e, int) else 100 for e in p["shape"]], p["dtype"])
             for p in kernel.params])  # fmt: skip


@pytest.mark.parametrize("name", examples())
def test_example_of_the_language_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(name, tmp_path, "interp", monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("device", ENGINES[1:])
@pytest.mark.parametrize("name", examples())
def test_example_of_the_language_runs_elsewhere(
    name: str, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(name, tmp_path, device, monkeypatch)


def test_every_name_of_the_language_has_a_docstring_and_an_example() -> None:
    names = {n: getattr(T, n) for n in T.__all__ if n not in language.names_of("types")}
    assert [n for n, thing in names.items() if not parts_of(thing)[0]] == []
    lacking = {n for n, thing in names.items() if not parts_of(thing)[1]}
    assert lacking - WITHOUT_EXAMPLE == set()


def test_every_part_of_the_python_api_has_a_docstring(tmp_path: Path) -> None:
    from importlib import import_module

    for module_name, names in python_api.API.items():
        for name in names:
            thing = getattr(import_module(module_name), name)
            assert parts_of(thing)[0], f"{module_name}.{name}"
    assert "**`.verify(" in python_api.page(tmp_path)
