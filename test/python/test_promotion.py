"""The types of expressions are TileLang's: each entry of a table probed on TileLang 0.1.15.

Where TileLang refuses an expression, or the type it gives does not hold its value, ours is stated
here (`ours`) and in docs/semantics.md.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilewright.language as T
from tilewright.frontend.trace import dtype_of

TABLE = json.loads((Path(__file__).parent / "data/promotion_tilelang_0.1.15.json").read_text())
FLOATS = ("float16", "bfloat16", "float32", "float64")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
DTYPES = (*FLOATS, *FLOAT8, *INTEGERS, "bool")

_CAST = re.compile(r"cast\((\w+)\)->(\w+)")
_TYPED = re.compile(r"T\.cast\((.*),(\w+)\)")


def probe(text: str, scope: dict[str, Any]) -> Any:
    """The value of an entry of the table."""
    if match := _CAST.fullmatch(text):
        return T.cast(scope[match[1]], match[2])
    if match := _TYPED.fullmatch(text):
        return T.cast(eval(match[1]), match[2])
    return eval(text, scope)


def dtypes_of(texts: list[str]) -> dict[str, str]:
    """The dtype that each expression has in a kernel; "refused" where it is an error."""
    found = {}

    def collect(tensors: list[Any], i: Any, n: Any) -> None:
        scope = {name: tensor[0] for name, tensor in zip(DTYPES, tensors, strict=True)}
        scope |= {name: getattr(T, name) for name in T.__all__ if name not in DTYPES}
        scope |= {"T": T, "np": np, "loopvar": i, "dynamic": n, "inf": np.inf, "nan": np.nan}
        scope["ite"] = lambda a, b: T.if_then_else(tensors[-1][0], a, b)
        for text in texts:
            try:
                found[text] = dtype_of(probe(text, dict(scope))).replace("index", "int32")
            except Exception:  # of the core, of Python, or a name that is not there
                found[text] = "refused"

    n = T.dynamic("n")
    declared = ", ".join(f't{k}: T.Tensor((n,), "{dtype}")' for k, dtype in enumerate(DTYPES))
    names = ", ".join(f"t{k}" for k in range(len(DTYPES)))
    source = (
        f"@T.prim_func\ndef main({declared}):\n    with T.Kernel(1, threads=32):\n"
        f"        for i in T.serial(4):\n            collect([{names}], i, n)\n"
    )
    from python_meaning import function_from_source

    function_from_source(source, "main", collect=collect, n=n)
    return found


def ours(text: str) -> str | None:
    """The dtype where it is not TileLang's."""
    name, _, rest = text.partition("(")
    first = rest.rstrip(")").split(",")[0]
    if name in ("exp", "exp2", "log", "sqrt", "rsqrt", "sin", "tanh", "sigmoid", "erf"):
        return None if first in FLOATS else "float32"
    if name in ("atan2", "hypot", "copysign") and first not in FLOATS:
        return "float32"
    operands = [part for part in re.split(r"[\s(),]+", text) if part in (*DTYPES, "True")]
    if operands in (["bool", "bool"], ["bool", "True"], ["True", "bool"]):
        keeps = re.search(r" [<&|^] |max|ite|cast", text)  # the result is a bool
        return None if keeps else "int32"
    if name == "fmod" and first == "bool":
        return "float32" if "2.0" in text else "int32"
    if name == "fmod" and first in INTEGERS and "2.0" in text:
        return "float32"
    if text == "clz(bool)":
        return "refused"
    if name in ("popcount", "clz") and first in (*FLOATS, *FLOAT8):
        return "refused"
    return None


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    return dtypes_of([text for texts in TABLE.values() for text in texts])


@pytest.mark.parametrize("wanted", sorted(TABLE))
def test_types_are_tilelangs(wanted: str, found: dict[str, str]) -> None:
    """A refusal of TileLang leaves the type to us; names that are not there yet say nothing."""
    differs = []
    for text in TABLE[wanted]:
        name = text.partition("(")[0]
        if wanted == "refused" or (name.isidentifier() and not hasattr(T, name) and name != "ite"):
            continue
        expected = ours(text) or wanted.split()[0]
        if found[text] != expected:
            differs.append(f"{text}: {found[text]}, expected {expected}")
    assert differs == []


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("bool + bool", "int32"),
        ("-bool", "int32"),
        ("-uint8", "uint8"),
        ("abs(int8)", "int8"),
        ("int8 / int8", "float32"),
        ("int64 / 2", "float32"),
        ("loopvar / 2", "float32"),
        ("float8_e4m3fn + float8_e5m2", "float32"),
        ("float16 // 2", "float16"),
        ("float16 % 2.5", "float32"),
        ("uint32 + -1", "uint32"),
        ("int8 & 255", "int8"),
        ("int8 << 300", "int8"),
        ("bool << 4", "int32"),
        ("uint64 + 2**63", "uint64"),
        ("pow(int8, -2)", "int32"),
        ("loopvar + True", "int32"),
    ],
)
def test_types_where_tilelang_refuses(text: str, dtype: str) -> None:
    assert dtypes_of([text]) == {text: dtype}
