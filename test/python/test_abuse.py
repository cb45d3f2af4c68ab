"""Malformed but plausible kernels: each compiles, or is refused in the user's terms.

Nothing may crash, hang, trip an assertion, or show words of the compiler's own. A crash ends the
test run; what was running is then in the trace that `faulthandler` prints.
"""

from __future__ import annotations

import faulthandler
import re
from collections.abc import Iterator

import abused_kernels
import pytest
import tilewright

SECONDS = 60

#: What no user should have to read: types and values of the IR, C++, assertions, Python internals.
INTERNAL = re.compile(
    r"internal error|our bug|memref<|'tile\.|tile\.\w+ op|builtin\.|arith\.|#tile|%\d|\bmlir\b|"
    r"::|Assertion|Traceback|std_|nanobind|_tilewright_core|incompatible function arguments"
)


@pytest.fixture(autouse=True)
def watch() -> Iterator[None]:
    """Ends the process where one kernel takes for ever."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def test_there_are_enough_cases() -> None:
    assert len(abused_kernels.CASES) >= 100


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", abused_kernels.CASES)
def test_compiles_or_is_refused(name: str, arch: str) -> None:
    try:
        tilewright.compile(abused_kernels.CASES[name](), target=arch)
    except tilewright.TilewrightError as error:
        print(error)
        assert error.kind == "error"
        assert error.location is not None, "a refusal without a line"
        assert error.location.file == abused_kernels.__file__
        assert error.location.line > 0
        assert not INTERNAL.search(str(error)), str(error)
