"""The table of TileLang's names is true: what it says is there is, the rest says what to use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import tilewright
import tilewright.language as T
from tilewright import dtypes
from tilewright.language import names
from tilewright.support.not_part import NotPart

ROOT = Path(__file__).resolve().parents[2]
TABLE = names.table()


def test_every_name_has_a_row_and_every_row_a_status() -> None:
    """TileLang 0.1.15 has 728 public names, and eleven that begin with two underscores."""
    public = [name for name in TABLE if not name.startswith("__")]
    assert (len(public), len(TABLE) - len(public)) == (728, 11)
    assert {row.status for row in TABLE.values()} <= set(names.STATUSES)
    assert [row.name for row in TABLE.values() if row.status == "refused" and not row.note] == []


@pytest.mark.parametrize("status", ["yes", "no effect"])
def test_supported_names_are_there(status: str) -> None:
    for row in TABLE.values():
        if row.status == status:
            value = getattr(T, row.name)
            is_known = callable(value) or isinstance(value, ModuleType | dtypes.dtype)
            assert is_known and not isinstance(value, NotPart), row.name


def test_refused_names_say_what_to_use() -> None:
    for row in TABLE.values():
        if row.status != "refused":
            continue
        with pytest.raises(tilewright.TilewrightError) as caught:
            getattr(T, row.name)()  # of a dtype, only the use is an error
        assert row.note in str(caught.value), row.name


def test_named_dtypes_have_a_width_and_no_storage() -> None:
    for row in TABLE.values():
        if row.status == "name only":
            assert getattr(T, row.name).bits > 0
            with pytest.raises(tilewright.TilewrightError, match="not supported yet"):
                T.Tensor((4,), getattr(T, row.name))


def test_message_of_a_refused_name() -> None:
    """A row must not make the language suggest a name that looks like it."""
    with pytest.raises(tilewright.TilewrightError) as caught:
        T.gemm_blockscaled
    text = "'T.gemm_blockscaled' is not supported yet: scale the operands and use T.gemm"
    assert text in str(caught.value)
    assert "did you mean" not in str(caught.value)
    assert not hasattr(T, "gemm_blockscaled")


def test_name_that_tilelang_does_not_have_gets_a_suggestion() -> None:
    message = r"has no 'T\.aloc_shared'.*'T\.alloc_shared'"
    with pytest.raises(tilewright.TilewrightError, match=message):
        T.aloc_shared


def test_script_finds_nothing_to_fix() -> None:
    script = ROOT / "scripts" / "tilelang_names.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
