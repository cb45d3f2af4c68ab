"""Every public name has a docstring with an example, and it runs where the reference says so."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import tilewright.language as T
from docs_pages import language, python_api, support
from docs_pages.docstrings import parts_of
from docs_pages.support import run

#: Names that programs for TVM pass on to others, and which mean nothing alone.
WITHOUT_EXAMPLE = {
    "address_of", "attr", "comm_reducer", "dtype", "dtypes", "make_tensor", "make_tensor_from_addr",
    "ptr", "tvm_access_ptr", "tvm_thread_allreduce", "type_annotation",
}  # fmt: skip


@cache
def different_examples() -> dict[str, str]:
    """By name; of equal programs only the first."""
    first = {program: name for name, program in reversed(support.examples().items())}
    return {name: program for program, name in first.items()}


@pytest.mark.parametrize("name", sorted(different_examples()))
def test_example_of_the_language_runs(name: str) -> None:
    assert not any("interp" in refusing for refusing in support.table().get(name, {}).values())
    run(support.examples()[name], "interp")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(support.examples()))
def test_example_of_the_language_runs_where_the_reference_says_so(name: str) -> None:
    """On all engines and architectures; scripts/language_support.py writes what is refused."""
    assert support.refusals(support.examples()[name]) == support.table().get(name, {})


def test_the_table_of_support_has_names_of_the_language() -> None:
    assert set(support.table()) <= set(support.examples())
    refusing = {d for reasons in support.table().values() for ds in reasons.values() for d in ds}
    assert refusing <= set(support.devices())


LARGE = """import tilewright.language as T

@T.prim_func
def main(A: T.Tensor((256, 128), "float32"), B: T.Tensor((256, 128), "float32")):
    with T.Kernel(1, threads=128):
        s = T.alloc_shared((256, 128), "float32")
        T.copy(A, s)
        for i, j in T.Parallel(256, 128):
            B[i, j] = s[255 - i, j]
"""


def test_a_refusal_is_seen_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "devices", lambda: ("interp", "cpu", "vgpu:sm_80", "vgpu:sm_86"))
    ((reason, refusing),) = support.refusals(LARGE).items()
    assert refusing == ["vgpu:sm_86"]
    monkeypatch.setattr(support, "table", lambda: {"copy": {reason: refusing}})
    assert language.engines_of("copy") == (
        f"the interpreter, the CPU and GPUs of sm_80; refused by vgpu:sm_86: {reason}"
    )
    assert language.engines_of("exp") == "the interpreter, the CPU and GPUs of sm_80 to sm_86"


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
